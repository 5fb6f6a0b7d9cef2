"""Searches with a typo, counts the hits per category, and shows how the query was understood."""

from software_directory import SoftwareDirectory

with SoftwareDirectory() as client:
    page = client.search.products(q="permit to wrok", facets=["category"], limit=5)
    print(page.pagination["total"], "hits")
    for hit in page.data:
        print(hit["name"], hit["score"])
    for word in page.query["corrected"]:
        print("corrected:", word["from"], "to", word["to"])
    for value in page.facets["category"]:
        print(value["label"], value["count"])
