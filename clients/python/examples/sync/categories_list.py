"""Lists the categories and how many products each has."""

from software_directory import SoftwareDirectory

with SoftwareDirectory() as client:
    for category in client.categories.list():
        print(category["id"], category["software_count"])
