"""Lists the categories and how many products each has."""

import asyncio
import os

from software_directory import AsyncSoftwareDirectory


async def main() -> None:
    async with AsyncSoftwareDirectory(
        api_key=os.environ["DIRECTORY_API_KEY"], base_url=os.environ["DIRECTORY_URL"]
    ) as client:
        async for category in client.categories.list():
            print(category["id"], category["software_count"])


asyncio.run(main())
