"""Shows a summary of a product's reviews, then the reviews themselves."""

import asyncio

from software_directory import AsyncSoftwareDirectory


async def main() -> None:
    async with AsyncSoftwareDirectory() as client:
        page = await client.reviews.list("demo-audit-owl", limit=1)
        print("mean", page.summary["average"], "of", page.summary["count"])
        async for review in page:
            print(review["rating"], review["title"])


asyncio.run(main())
