"""Shows a summary of a product's reviews, then the reviews themselves."""

from software_directory import SoftwareDirectory

with SoftwareDirectory() as client:
    page = client.reviews.list("demo-audit-owl", limit=1)
    print("mean", page.summary["average"], "of", page.summary["count"])
    for review in page:
        print(review["rating"], review["title"])
