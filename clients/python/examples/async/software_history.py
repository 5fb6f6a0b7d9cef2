"""Lists what changed in a product's record."""

import asyncio

from software_directory import AsyncSoftwareDirectory


async def main() -> None:
    async with AsyncSoftwareDirectory() as client:
        history = await client.software.history("demo-audit-owl")
        print("recorded since", history.since)
        async for entry in history:
            for change in entry["changes"]:
                print(entry["at"], change["property"], change.get("from"), "->", change.get("to"))


asyncio.run(main())
