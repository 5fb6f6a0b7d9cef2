"""The mirror example, while its server's exports change."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from server import Server
from software_directory import SoftwareDirectory

MIRROR = Path(__file__).parent.parent / "examples" / "mirror.py"


def product(number: int, tagline: str) -> dict[str, Any]:
    return {
        "id": f"p{number}",
        "name": f"Product {number}",
        "url": f"https://p{number}.example.org/",
        "evidence_status": "pending-review",
        "tagline": tagline,
    }


def products(count: int, tagline: str) -> list[dict[str, Any]]:
    return [product(number, tagline) for number in range(count)]


def edit(folder: Path, software: list[dict[str, Any]]) -> None:
    text = json.dumps({"name": "Mirrored", "license": "https://example.org/licence", "software": software})
    following = folder / "next"
    following.write_text(text, "utf-8")
    following.replace(folder / "data" / "mirrored.json")


def test_a_mirror_converges_while_exports_change_under_it(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    edit(tmp_path, products(10, "first"))
    server = Server.start("--max-removed", "100", data=tmp_path / "data")
    file = tmp_path / "copy.jsonl"
    mirror = subprocess.Popen(
        [sys.executable, "-W", "error", str(MIRROR), str(file), "0.05"],
        env=server.environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert mirror.stdout is not None
        assert mirror.stdout.readline().startswith("by export: 10 ")
        # One product is changed, one is removed, and one is added.
        edit(tmp_path, [product(0, "changed"), *products(9, "first")[1:], product(99, "new")])
        assert mirror.stdout.readline().startswith("by record: 10 ")
        edit(tmp_path, products(150, "mass"))
        assert mirror.stdout.readline().startswith("by export: 150 ")
        edit(tmp_path, products(149, "mass"))
        assert mirror.stdout.readline().startswith("by record: 149 ")
        # The mirror can be killed at any time, even while it's writing.
        mirror.kill()
        mirror.wait()

        copy = [json.loads(line) for line in file.read_text("utf-8").splitlines()[1:]]
        with SoftwareDirectory(api_key=server.api_key, base_url=server.base_url) as client:
            served: list[Any] = [client.software.get(item["id"]) for item in client.software.list(limit=100)]
        kept = [{name: record[name] for name in copy[0]} for record in served]
        assert copy == sorted(kept, key=lambda record: str(record["id"]))
    finally:
        mirror.kill()
        mirror.communicate()
        server.stop()
