"""Downloads an export: the document as it was validated, then its records, one a line."""

import asyncio
import json
import os

from software_directory import AsyncSoftwareDirectory


async def main() -> None:
    async with AsyncSoftwareDirectory(
        api_key=os.environ["DIRECTORY_API_KEY"], base_url=os.environ["DIRECTORY_URL"]
    ) as client:
        patient = client.with_options(timeout=300)
        content = await patient.exports.download("demo")
        print("demo.json", len(content), "bytes")
        lines = (await patient.exports.download("demo", format="ndjson")).splitlines()
        print(len(lines), "records, the first:", json.loads(lines[0])["name"])


asyncio.run(main())
