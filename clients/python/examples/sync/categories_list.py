"""Lists the categories and how many products each has."""

import os

from software_directory import SoftwareDirectory

with SoftwareDirectory(api_key=os.environ["DIRECTORY_API_KEY"], base_url=os.environ["DIRECTORY_URL"]) as client:
    for category in client.categories.list():
        print(category["id"], category["software_count"])
