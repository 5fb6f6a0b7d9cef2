"""Fetches one glossary term."""

from software_directory import SoftwareDirectory

with SoftwareDirectory() as client:
    term = client.glossary.get("capa")
    print(term["term"], term["definition"], sep=": ")
