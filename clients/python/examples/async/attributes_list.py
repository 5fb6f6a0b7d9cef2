"""Lists the attributes that products can be filtered by."""

import asyncio

from software_directory import AsyncSoftwareDirectory


async def main() -> None:
    async with AsyncSoftwareDirectory() as client:
        async for attribute in client.attributes.list():
            print(attribute["property"], attribute["type"], attribute["software_count"])


asyncio.run(main())
