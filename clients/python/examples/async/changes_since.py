"""Lists what changed since a generation, and prints the generation to continue from."""

import asyncio

from software_directory import AsyncSoftwareDirectory, GoneError


async def main() -> None:
    async with AsyncSoftwareDirectory() as client:
        # Without a generation there are no changes, only the current generation to start from.
        generation = (await client.changes.since()).to_generation
        async for change in client.changes.since(generation):
            print(change["change"], change["id"])
        print("up to date with", generation)

        try:
            await client.changes.since("a generation from last year")
        except GoneError:
            print("too old: download the exports")


asyncio.run(main())
