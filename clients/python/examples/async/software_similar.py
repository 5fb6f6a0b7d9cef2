"""Lists products similar to a given one, and what they have in common."""

import asyncio

from software_directory import AsyncSoftwareDirectory


async def main() -> None:
    async with AsyncSoftwareDirectory() as client:
        page = await client.software.similar("demo-audit-owl", limit=3)
        for product in page.data:
            print(product["name"], f"{product['score']:.2f}", product["shared"]["words"][:5])


asyncio.run(main())
