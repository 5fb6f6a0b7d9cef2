"""Goes through all products of a category, page after page, as they are needed."""

from software_directory import SoftwareDirectory

with SoftwareDirectory() as client:
    for product in client.software.list(category="audit-management", sort="-rating"):
        print(product["name"], product["website"], product["rating"])
