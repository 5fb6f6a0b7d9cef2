"""Looks up a term."""

from software_directory import SoftwareDirectory

with SoftwareDirectory() as client:
    page = client.glossary.list(q="capa", limit=3)
    for term in page.data:
        print(term["term"], term["definition"], sep=": ")
