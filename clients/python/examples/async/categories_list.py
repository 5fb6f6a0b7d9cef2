"""Lists the categories and how many products each has."""

import asyncio

from software_directory import AsyncSoftwareDirectory


async def main() -> None:
    async with AsyncSoftwareDirectory() as client:
        async for category in client.categories.list():
            print(category["id"], category["software_count"])


asyncio.run(main())
