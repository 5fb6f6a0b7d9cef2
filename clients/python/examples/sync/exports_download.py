"""Downloads an export: the validated document to a file, then its records, one per line."""

import json
import tempfile
from pathlib import Path

from software_directory import SoftwareDirectory

with (
    SoftwareDirectory() as client,
    tempfile.TemporaryDirectory() as folder,
):
    target = Path(folder) / "demo.json"
    client.exports.download_to(
        "demo", target, on_progress=lambda received, total: print(received, "of", total, "bytes", end="\r")
    )
    print("\ndemo.json:", json.loads(target.read_bytes())["license"])

    lines = client.exports.download("demo", format="ndjson").splitlines()
    print(len(lines), "records; the first is", json.loads(lines[0])["name"])
