"""Looks a term up."""

import os

from software_directory import SoftwareDirectory

with SoftwareDirectory(api_key=os.environ["DIRECTORY_API_KEY"], base_url=os.environ["DIRECTORY_URL"]) as client:
    page = client.glossary.list(q="capa", limit=3)
    for term in page.data:
        print(term["term"], term["definition"], sep=": ")
