"""Goes through all products of a category, page after page, as they are needed."""

import asyncio

from software_directory import AsyncSoftwareDirectory


async def main() -> None:
    async with AsyncSoftwareDirectory() as client:
        async for product in client.software.list(category="audit-management", sort="-rating"):
            print(product["name"], product["website"], product["rating"])


asyncio.run(main())
