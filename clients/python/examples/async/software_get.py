"""Fetches one product."""

import asyncio

from software_directory import AsyncSoftwareDirectory


async def main() -> None:
    async with AsyncSoftwareDirectory() as client:
        product = await client.software.get("demo-audit-owl")
        print(product["name"], product["tagline"], sep=": ")
        for source in product["sources"]:
            print(" ", source["label"], source["url"])
        print("From", product["export"]["name"], product["export"]["license"])


asyncio.run(main())
