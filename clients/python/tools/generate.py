"""Writes src/software_directory/_generated out of the server's OpenAPI document, or names what is stale.

generate.py DOCUMENT           writes the files
generate.py DOCUMENT --check   exits with 1, naming the files that differ, and writes nothing
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from models import models_source
from resources import async_resources_source, resources_source

PACKAGE = Path(__file__).parent.parent / "src" / "software_directory" / "_generated"
INIT = '"""Written by tools/generate.py out of the server\'s OpenAPI document; not to be edited."""\n'


def generated(document: dict[str, Any]) -> dict[str, str]:
    """Return the files by name."""
    sources = {
        "__init__.py": INIT,
        "models.py": models_source(document),
        "resources.py": resources_source(document),
        "async_resources.py": async_resources_source(document),
    }
    return {name: _formatted(name, source) for name, source in sources.items()}


def _formatted(name: str, source: str) -> str:
    ruff = Path(sys.executable).with_name("ruff")
    command = [str(ruff), "format", "--stdin-filename", str(PACKAGE / name), "-"]
    return subprocess.run(command, input=source, capture_output=True, text=True, check=True).stdout


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("document", type=Path)
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    stale = []
    for name, source in generated(json.loads(arguments.document.read_text("utf-8"))).items():
        path = PACKAGE / name
        if path.exists() and path.read_text("utf-8") == source:
            continue
        if arguments.check:
            stale.append(name)
        else:
            path.write_text(source, "utf-8")
    if stale:
        print(
            f"stale: {', '.join(stale)} in {PACKAGE}\nWrite them anew: python tools/generate.py {arguments.document}",
            file=sys.stderr,
        )
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
