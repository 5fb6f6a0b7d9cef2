"""Goes through all products of a category, page after page, as they are needed."""

import asyncio
import os

from software_directory import AsyncSoftwareDirectory


async def main() -> None:
    async with AsyncSoftwareDirectory(
        api_key=os.environ["DIRECTORY_API_KEY"], base_url=os.environ["DIRECTORY_URL"]
    ) as client:
        async for product in client.software.list(category="audit-management", sort="-rating"):
            print(product["name"], product["website"], product["rating"])


asyncio.run(main())
