"""Suggests products, categories and terms while a query is being typed."""

from software_directory import SoftwareDirectory

with SoftwareDirectory() as client:
    suggestions = client.suggest(q="goau", limit=3)
    for product in suggestions["software"]:
        print("product", product["id"], product["name"])
    for category in suggestions["categories"]:
        print("category", category["id"], category["name"])
    for term in suggestions["glossary"]:
        print("term", term["id"], term["term"])
