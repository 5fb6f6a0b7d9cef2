"""Iterates over all products in a category, fetching pages as needed."""

from software_directory import SoftwareDirectory

with SoftwareDirectory() as client:
    for product in client.software.list(category="audit-management", sort="-rating"):
        print(product["name"], product["website"], product["rating"])
