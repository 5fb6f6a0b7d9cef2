"""Runs each example as a reader would, against our own server."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from operations import OPERATIONS
from server import REPOSITORY

if TYPE_CHECKING:
    from server import Server

CLIENT = Path(__file__).parent.parent
EXAMPLES = CLIENT / "examples"

# What each example must print.
SHOWN = {
    "changes_since": "too old: download the exports",
    "attributes_list": "standards text ",
    "categories_get": "Audit management",
    "glossary_get": "CAPA: ",
    "software_similar": "GoAudits 0.",
    "software_history": "recorded since ",
    "suggest": "product goaudits GoAudits",
    "categories_list": "audit-management",
    "exports_download": "Hedgehog EHS Demo",
    "exports_list": "https://creativecommons.org/publicdomain/zero/1.0/",
    "glossary_list": "CAPA: ",
    "reviews_list": "mean",
    "search_products": "corrected: wrok to work",
    "software_get": "Audit Owl Demo",
    "software_list": "Audit Owl Demo",
}


@pytest.mark.parametrize("folder", ["async", "sync"])
def test_every_operation_has_an_example(folder: str) -> None:
    assert {path.stem for path in (EXAMPLES / folder).glob("*.py")} == {name.replace(".", "_") for name in OPERATIONS}


@pytest.mark.parametrize("folder", ["async", "sync"])
@pytest.mark.parametrize("name", sorted(SHOWN))
def test_example(folder: str, name: str, server: Server) -> None:
    done = run([str(EXAMPLES / folder / f"{name}.py")], server)

    assert done.stderr == ""
    assert SHOWN[name] in done.stdout


def test_the_readme_does_what_it_says(server: Server, tmp_path: Path) -> None:
    readme = (CLIENT / "README.md").read_text("utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", readme, flags=re.DOTALL | re.MULTILINE)
    assert blocks
    source = "\n".join([*blocks, "client.close()"])
    source = source.replace("sd_live_…", server.api_key).replace("https://directory.example", server.base_url)

    done = run(["-c", source], server, tmp_path)

    assert done.stderr == ""
    assert "Audit Owl Demo" in done.stdout
    assert (tmp_path / "demo.json").read_bytes() == (REPOSITORY / "demo" / "demo.json").read_bytes()


def run(arguments: list[str], server: Server, folder: Path = CLIENT) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "error", *arguments],
        cwd=folder,
        env={**server.environment, "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        text=True,
        check=False,
    )
