"""Reads the reviews of a product and what they come to."""

import os

from software_directory import SoftwareDirectory

with SoftwareDirectory(api_key=os.environ["DIRECTORY_API_KEY"], base_url=os.environ["DIRECTORY_URL"]) as client:
    page = client.reviews.list("demo-audit-owl", limit=1)
    print("mean", page.summary["average"], "of", page.summary["count"])
    for review in page:
        print(review["rating"], review["title"])
