"""Suggests products, categories and terms while a query is being typed."""

import asyncio

from software_directory import AsyncSoftwareDirectory


async def main() -> None:
    async with AsyncSoftwareDirectory() as client:
        suggestions = await client.suggest(q="goau", limit=3)
        for product in suggestions["software"]:
            print("product", product["id"], product["name"])
        for category in suggestions["categories"]:
            print("category", category["id"], category["name"])
        for term in suggestions["glossary"]:
            print("term", term["id"], term["term"])


asyncio.run(main())
