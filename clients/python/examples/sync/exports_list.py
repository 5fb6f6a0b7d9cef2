"""Lists the exports that make up the directory, each with its licence, page by page."""

from software_directory import SoftwareDirectory

with SoftwareDirectory() as client:
    for page in client.exports.list(limit=1).pages():
        for export in page.data:
            print(export["id"], export["license"], export["size_bytes"])
