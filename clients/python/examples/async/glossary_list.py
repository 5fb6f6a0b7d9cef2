"""Looks a term up."""

import asyncio
import os

from software_directory import AsyncSoftwareDirectory


async def main() -> None:
    async with AsyncSoftwareDirectory(
        api_key=os.environ["DIRECTORY_API_KEY"], base_url=os.environ["DIRECTORY_URL"]
    ) as client:
        page = await client.glossary.list(q="capa", limit=3)
        for term in page.data:
            print(term["term"], term["definition"], sep=": ")


asyncio.run(main())
