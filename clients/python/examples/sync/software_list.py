"""Goes through all products of a category, page after page, as they are needed."""

import os

from software_directory import SoftwareDirectory

with SoftwareDirectory(api_key=os.environ["DIRECTORY_API_KEY"], base_url=os.environ["DIRECTORY_URL"]) as client:
    for product in client.software.list(category="audit-management", sort="-rating"):
        print(product["name"], product["website"], product["rating"])
