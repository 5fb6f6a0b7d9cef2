"""Downloads an export: the document as it was validated, then its records, one a line."""

import json
import os

from software_directory import SoftwareDirectory

with SoftwareDirectory(api_key=os.environ["DIRECTORY_API_KEY"], base_url=os.environ["DIRECTORY_URL"]) as client:
    patient = client.with_options(timeout=300)
    content = patient.exports.download("demo")
    print("demo.json", len(content), "bytes")
    lines = patient.exports.download("demo", format="ndjson").splitlines()
    print(len(lines), "records, the first:", json.loads(lines[0])["name"])
