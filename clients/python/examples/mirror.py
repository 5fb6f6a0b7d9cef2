"""Keeps a copy of the directory in a file: a line with its generation, then one line per product, sorted by id.

    python mirror.py FILE [SECONDS]

With SECONDS, it checks for changes again after each pause. The first time, it downloads the exports. Later it fetches
only the products that changed, or the exports again if many changed or the server no longer knows the copy's
generation. The file is replaced only once the new one is complete, so the mirror can be killed at any time.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

from software_directory import GenerationChangedError, GoneError, NotFoundError, Response, SoftwareDirectory, models

# Up to this many changed products are fetched one by one.
MAX_SINGLE = 100
# Members that are the same in an export and in the API.
KEPT = ("id", "name", "tagline", "vendor", "evidence_status", "evidence_checked_on")


class Copy(NamedTuple):
    generation: str
    products: dict[str, dict[str, Any]]


class Moved(Exception):  # noqa: N818
    """The directory changed while it was being copied."""


def keep(record: Any, website: str) -> dict[str, Any]:
    return {**{name: record.get(name) for name in KEPT}, "website": website}


def check(response: Response, generation: str) -> None:
    """Raise an error if a response is from a different generation than the copy in progress."""
    if response.headers.get("x-generation") != generation:
        raise Moved


def by_export(client: SoftwareDirectory) -> Copy:
    generation = client.changes.since().to_generation
    exports = client.exports.list(limit=100)
    check(exports.response, generation)
    products = {}
    for export in exports:
        document, response = client.exports.download_with_response(export["id"])
        check(response, generation)
        for record in json.loads(document).get("software", []):
            # Ids in a download don't have the export's prefix.
            product = {**record, "id": (export["id_prefix"] or "") + record["id"]}
            products[product["id"]] = keep(product, record["url"])
    return Copy(generation, products)


def by_record(client: SoftwareDirectory, copy: Copy, generation: str, changes: list[models.Change]) -> Copy:
    products = dict(copy.products)
    for change in changes:
        if change["change"] == "removed":
            products.pop(change["id"], None)
            continue
        record, response = client.software.get_with_response(change["id"])
        check(response, generation)
        products[record["id"]] = keep(record, record["website"])
    return Copy(generation, products)


def following(client: SoftwareDirectory, copy: Copy | None) -> tuple[Copy, str]:
    """Return the next copy and how it was made."""
    if copy is None:
        return by_export(client), "by export"
    try:
        first = client.changes.since(copy.generation)
        if first.pagination["total"] > MAX_SINGLE:
            return by_export(client), "by export"
        changes = [change for page in first.pages() for change in page.data]
    except GoneError:
        return by_export(client), "by export"
    return by_record(client, copy, first.to_generation, changes), "by record"


def read(file: Path) -> Copy | None:
    if not file.exists():
        return None
    head, *lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    return Copy(head["generation"], {line["id"]: line for line in lines})


def write(file: Path, copy: Copy) -> None:
    lines = [{"generation": copy.generation}, *(product for _, product in sorted(copy.products.items()))]
    part = file.with_name(f"{file.name}.part")
    part.write_text("".join(f"{json.dumps(line)}\n" for line in lines), "utf-8")
    part.replace(file)


def main(file: Path, seconds: float | None) -> None:
    # All parts of a copy must be from the same generation; otherwise, the copy is started again.
    with SoftwareDirectory(generation_change="raise") as client:
        copy = read(file)
        while True:
            try:
                newer, how = following(client, copy)
            except (Moved, GenerationChangedError, NotFoundError):
                # The directory changed meanwhile. Start again from the old copy.
                time.sleep(0.1)
                continue
            if copy is None or newer.generation != copy.generation:
                write(file, newer)
                print(f"{how}: {len(newer.products)} products from generation {newer.generation}", flush=True)
            copy = newer
            if seconds is None:
                return
            time.sleep(seconds)


if __name__ == "__main__":
    main(Path(sys.argv[1]), float(sys.argv[2]) if len(sys.argv) > 2 else None)
