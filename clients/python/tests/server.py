"""Runs our own server for the tests, on a free port and with a development key."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).parents[3]


def binary() -> Path:
    """Return the server's binary: `SOFTWARE_DIRECTORY_BIN`, or else the one that `cargo build` built."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", REPOSITORY / "target"))
    path = Path(os.environ.get("SOFTWARE_DIRECTORY_BIN", target / "debug" / "software-directory"))
    if not path.is_file():
        raise FileNotFoundError(f"{path} is missing; build it with `cargo build`, or set SOFTWARE_DIRECTORY_BIN")
    return path


@dataclass
class Server:
    """A running server."""

    base_url: str
    api_key: str
    process: subprocess.Popen[str]
    folder: tempfile.TemporaryDirectory[str]

    @classmethod
    def start(cls, *options: str, data: Path | None = None) -> Server:
        """Start a server with a folder's exports (by default the repository's), and wait until its address is known."""
        folder = tempfile.TemporaryDirectory()
        if data is None:
            data = Path(folder.name, "data")
            for source in ("data", "demo"):
                shutil.copytree(REPOSITORY / source, data, dirs_exist_ok=True)
        process = subprocess.Popen(
            [
                str(binary()),
                *("--data", str(data), "--index", "none", "--listen", "127.0.0.1:0"),
                *options,
            ],
            cwd=folder.name,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        key = r"()" if "--keys" in options else r"[^$]*?Bearer (sd_dev_\w+)'"
        pattern = r"Listening on (http://\S+)" + key
        output = ""
        while not (match := re.search(pattern, output)):
            line = process.stdout.readline()
            if not line:
                _, complaint = process.communicate()
                raise RuntimeError(f"the server ended with {process.returncode}: {complaint}")
            output += line
        return cls(match.group(1), match.group(2), process, folder)

    @staticmethod
    def run(*arguments: str) -> str:
        """Run one of the binary's other commands and return what it prints."""
        return subprocess.run([str(binary()), *arguments], capture_output=True, text=True, check=True).stdout

    @property
    def environment(self) -> dict[str, str]:
        """The environment for a process that uses the server."""
        return {
            **os.environ,
            "SOFTWARE_DIRECTORY_URL": self.base_url,
            "SOFTWARE_DIRECTORY_API_KEY": self.api_key,
        }

    def stop(self) -> None:
        """Stop the server."""
        self.process.terminate()
        self.process.communicate()
        self.folder.cleanup()
