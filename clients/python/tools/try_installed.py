"""Runs an example against our own server, with the package as installed in this environment."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

CLIENT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(CLIENT / "tests"))

from server import Server


def main() -> None:
    server = Server.start()
    try:
        where = subprocess.run(
            [sys.executable, "-c", "import software_directory; print(software_directory.__file__)"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        if not where.startswith(sys.prefix):
            sys.exit(f"not the installed package: {where}")
        for example in ("sync/search_products.py", "async/categories_list.py"):
            subprocess.run(
                [sys.executable, "-W", "error", str(CLIENT / "examples" / example)],
                env=server.environment,
                stdout=subprocess.DEVNULL,
                check=True,
            )
    finally:
        server.stop()


if __name__ == "__main__":
    main()
