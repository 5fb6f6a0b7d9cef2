"""Fetches one glossary term."""

import asyncio

from software_directory import AsyncSoftwareDirectory


async def main() -> None:
    async with AsyncSoftwareDirectory() as client:
        term = await client.glossary.get("capa")
        print(term["term"], term["definition"], sep=": ")


asyncio.run(main())
