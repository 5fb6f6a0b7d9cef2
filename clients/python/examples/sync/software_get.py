"""Fetches one product."""

from software_directory import SoftwareDirectory

with SoftwareDirectory() as client:
    product = client.software.get("demo-audit-owl")
    print(product["name"], product["tagline"], sep=": ")
    for source in product["sources"]:
        print(" ", source["label"], source["url"])
    print("From", product["export"]["name"], product["export"]["license"])
