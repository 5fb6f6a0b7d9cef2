"""Iterates over all products in a category, fetching pages as needed."""

import asyncio

from software_directory import AsyncSoftwareDirectory


async def main() -> None:
    async with AsyncSoftwareDirectory() as client:
        async for product in client.software.list(category="audit-management", sort="-rating"):
            print(product["name"], product["website"], product["rating"])


asyncio.run(main())
