"""Lists the exports that make up the directory, each with its licence, page by page."""

import asyncio

from software_directory import AsyncSoftwareDirectory


async def main() -> None:
    async with AsyncSoftwareDirectory() as client:
        async for page in client.exports.list(limit=1).pages():
            for export in page.data:
                print(export["id"], export["license"], export["size_bytes"])


asyncio.run(main())
