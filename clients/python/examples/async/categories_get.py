"""Fetches one category."""

import asyncio

from software_directory import AsyncSoftwareDirectory


async def main() -> None:
    async with AsyncSoftwareDirectory() as client:
        category = await client.categories.get("audit-management")
        print(category["name"], category["software_count"], "products")


asyncio.run(main())
