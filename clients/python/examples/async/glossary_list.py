"""Looks up a term."""

import asyncio

from software_directory import AsyncSoftwareDirectory


async def main() -> None:
    async with AsyncSoftwareDirectory() as client:
        page = await client.glossary.list(q="capa", limit=3)
        for term in page.data:
            print(term["term"], term["definition"], sep=": ")


asyncio.run(main())
