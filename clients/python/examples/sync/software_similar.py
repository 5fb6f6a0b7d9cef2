"""Lists products similar to a given one, and what they have in common."""

from software_directory import SoftwareDirectory

with SoftwareDirectory() as client:
    for product in client.software.similar("demo-audit-owl", limit=3).data:
        print(product["name"], f"{product['score']:.2f}", product["shared"]["words"][:5])
