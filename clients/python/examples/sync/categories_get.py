"""Fetches one category."""

from software_directory import SoftwareDirectory

with SoftwareDirectory() as client:
    category = client.categories.get("audit-management")
    print(category["name"], category["software_count"], "products")
