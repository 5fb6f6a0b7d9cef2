"""Lists the attributes that products can be filtered by."""

from software_directory import SoftwareDirectory

with SoftwareDirectory() as client:
    for attribute in client.attributes.list():
        print(attribute["property"], attribute["type"], attribute["software_count"])
