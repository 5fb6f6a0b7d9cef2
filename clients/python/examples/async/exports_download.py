"""Downloads an export: the validated document to a file, then its records, one per line."""

import asyncio
import json
import tempfile
from pathlib import Path

from software_directory import AsyncSoftwareDirectory


async def main() -> None:
    async with AsyncSoftwareDirectory() as client:
        with tempfile.TemporaryDirectory() as folder:
            target = Path(folder) / "demo.json"
            await client.exports.download_to(
                "demo", target, on_progress=lambda received, total: print(received, "of", total, "bytes", end="\r")
            )
            print("\ndemo.json:", json.loads(target.read_bytes())["license"])

        lines = (await client.exports.download("demo", format="ndjson")).splitlines()
        print(len(lines), "records; the first is", json.loads(lines[0])["name"])


asyncio.run(main())
