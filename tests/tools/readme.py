#!/usr/bin/env python3
"""Runs the commands in README.md and docs/*.md and compares their output with what the documents show.

Each document gets a fresh copy of the checkout. The words after a fenced block's language, which readers never see, say
what to do with it:

    ```sh test            run with bash; must exit with 0
    ```sh test serve      start the server and keep it running for the blocks that follow
    ```json answer        the standard output of the previous block, compared as JSON
    ```text answer        the same, compared line by line

`…` in an answer matches anything. JSON: the string "…" matches any value, a last element "…" any further elements, a key
"…" any further members, and `…` inside a string any characters. Text: `…` inside a line matches any characters, and a line
with only `…` matches any lines.

`cargo run --release` and `software-directory` run the binary under test, and 127.0.0.1:8080 becomes the free port that the
server took. All other blocks are ignored. A document in docs/ may have no marked blocks, but the README and documents named
on the command line must have some.
"""

import argparse
import dataclasses
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

WRITTEN_ADDRESSES = ("127.0.0.1:8080", "localhost:8080")
ANY = "…"
BLOCK_SECONDS = 120
START_SECONDS = 120


class Failure(Exception):
    """A block didn't do what its document says."""


@dataclasses.dataclass
class Block:
    line: int
    language: str
    words: list
    text: str


def blocks(markdown):
    """All fenced blocks, each with the line of its opening fence."""
    found, fence = [], None
    for number, line in enumerate(markdown.splitlines(), 1):
        opening = re.match(r"\s{0,3}(`{3,}|~{3,})\s*(.*)$", line)
        if fence is None and opening:
            words = opening[2].split()
            fence = opening[1]
            current = Block(number, words[0] if words else "", words[1:], "")
        elif fence is not None and line.strip() == fence:
            found.append(current)
            fence = None
        elif fence is not None:
            current.text += line + "\n"
    if fence is not None:
        raise Failure(f"line {current.line}: the block is never closed")
    return found


def marked(all_blocks):
    """The blocks to run and the answers to compare. An unknown mark is an error: it's probably a typo."""
    chosen = []
    for block in all_blocks:
        kind = (block.language, *block.words)
        if kind in (("sh", "test"), ("sh", "test", "serve")):
            chosen.append(block)
        elif kind in (("json", "answer"), ("text", "answer")):
            if not chosen or chosen[-1].words == ["test", "serve"] or chosen[-1].words == ["answer"]:
                raise Failure(f"line {block.line}: an answer must follow the `sh test` block that prints it")
            chosen.append(block)
        elif block.words:
            raise Failure(f"line {block.line}: unknown mark `{' '.join(kind)}`; see tests/tools/readme.py")
    return chosen


def blocks_of(document):
    return marked(blocks(document.read_text(encoding="utf-8")))


def documents_of(root):
    """The README, and the documents that have marked blocks."""
    return [root / "README.md", *(document for document in sorted(root.glob("docs/*.md")) if blocks_of(document))]


def text_fits(written, actual):
    pattern = ".*".join(re.escape(part) for part in written.split(ANY))
    return re.fullmatch(pattern, actual, re.DOTALL) is not None


def json_difference(written, actual, pointer=""):
    """Describes the first difference, or returns None."""
    place = pointer or "the answer"
    if written == ANY:
        return None
    if isinstance(written, dict) and isinstance(actual, dict):
        open_ended = ANY in written
        keys = [key for key in written if key != ANY]
        for key in keys:
            if key not in actual:
                return f"{place} has no `{key}`"
            difference = json_difference(written[key], actual[key], f"{pointer}/{key}")
            if difference:
                return difference
        further = [key for key in actual if key not in written]
        return f"{place} also has `{further[0]}`" if further and not open_ended else None
    if isinstance(written, list) and isinstance(actual, list):
        open_ended = bool(written) and written[-1] == ANY
        elements = written[:-1] if open_ended else written
        if len(actual) < len(elements) or (len(actual) > len(elements) and not open_ended):
            return f"{place} has {len(actual)} elements, not {len(elements)}"
        for index, element in enumerate(elements):
            difference = json_difference(element, actual[index], f"{pointer}/{index}")
            if difference:
                return difference
        return None
    if isinstance(written, str) and isinstance(actual, str) and text_fits(written, actual):
        return None
    same = type(written) is type(actual) and written == actual
    return None if same else f"{place} is {json.dumps(actual, ensure_ascii=False)}, not {json.dumps(written, ensure_ascii=False)}"


def text_difference(written, actual):
    """Describes the difference, or returns None."""
    written, actual = written.strip("\n").split("\n"), actual.replace("\r\n", "\n").strip("\n").split("\n")

    def fits(w, a):
        while w < len(written):
            if written[w].strip() == ANY:
                return any(fits(w + 1, at) for at in range(a, len(actual) + 1))
            if a >= len(actual) or not text_fits(written[w], actual[a]):
                return False
            w, a = w + 1, a + 1
        return a == len(actual)

    return None if fits(0, 0) else "the output is:\n" + "\n".join("    " + line for line in actual)


def compare(block, output):
    if block.language == "text":
        return text_difference(block.text, output)
    try:
        written = json.loads(block.text)
    except ValueError as error:
        return f"the block is not JSON: {error}"
    try:
        actual = json.loads(output)
    except ValueError as error:
        return f"the output is not JSON: {error}\n{output}"
    return json_difference(written, actual)


def copy_of_checkout(root, folder):
    """Copies the files that git tracks or would add, so the folder looks like a fresh clone."""
    listed = subprocess.run(
        ["git", "-C", root, "ls-files", "--cached", "--others", "--exclude-standard", "-z"], capture_output=True, check=False
    )
    if listed.returncode == 0:
        for name in filter(None, os.fsdecode(listed.stdout).split("\0")):
            if (root / name).is_file():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(root / name, folder / name)
    else:
        left_out = shutil.ignore_patterns("target", "index", ".tools", ".git", "node_modules", "keys.json", "development-key", "sessions")
        shutil.copytree(root, folder, dirs_exist_ok=True, ignore=left_out)


def write_shims(folder, binary):
    """Makes `cargo run --release [-- …]` and `software-directory` run the binary under test."""
    folder.mkdir()
    real_cargo = shutil.which("cargo") or "cargo"
    shims = {
        "software-directory": 'exec "$BINARY_UNDER_TEST" "$@"\n',
        "cargo": (
            'if [ "${1-}" = run ] && [ "${2-}" = --release ]; then\n'
            '  shift 2; if [ "${1-}" = -- ]; then shift; fi\n'
            '  exec "$BINARY_UNDER_TEST" "$@"\n'
            f"fi\nexec '{real_cargo}' \"$@\"\n"
        ),
    }
    for name, text in shims.items():
        (folder / name).write_text("#!/bin/sh\n" + text)
        (folder / name).chmod(0o755)
    return {"BINARY_UNDER_TEST": str(binary), "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}


class Runner:
    """Runs blocks in a folder, with at most one server at a time."""

    def __init__(self, folder, environment):
        self.folder = folder
        own = {name: value for name, value in os.environ.items() if not name.startswith("SOFTWARE_DIRECTORY_")}
        self.environment = {**own, **environment, "SOFTWARE_DIRECTORY_LISTEN": "127.0.0.1:0"}
        self.address = None
        self.server = None
        self.readers = []

    def run(self, text):
        done = subprocess.Popen(
            ["bash", "-euo", "pipefail", "-c", self.readdressed(text)], cwd=self.folder, env=self.environment,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8",
            start_new_session=True,
        )
        try:
            output, errors = done.communicate(timeout=BLOCK_SECONDS)
        except subprocess.TimeoutExpired as expired:
            end(done)
            raise Failure(f"still running after {BLOCK_SECONDS} s") from expired
        if done.returncode != 0:
            raise Failure(f"exit code {done.returncode}\n{output}{errors}")
        return output

    def serve(self, text):
        if self.server is not None:
            raise Failure("a server is already running")
        self.server = subprocess.Popen(
            ["bash", "-euo", "pipefail", "-c", text], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8", start_new_session=True,
        )
        # Drain both pipes, so that the server never blocks on a full one.
        first, errors = [], []
        self.readers = [
            threading.Thread(target=collect, args=(stream, lines), daemon=True)
            for lines, stream in ((first, self.server.stdout), (errors, self.server.stderr))
        ]
        for reader in self.readers:
            reader.start()
        deadline = time.monotonic() + START_SECONDS
        while not first and self.readers[0].is_alive() and time.monotonic() < deadline:
            self.readers[0].join(0.05)
        address = re.search(r"https?://([\w.\[\]:-]+:\d+)", first[0]) if first else None
        if address is None:
            raise Failure(f"the server's first line doesn't contain an address: {first[:1]}\n{''.join(errors)}")
        self.address = address[1]
        self.environment["SOFTWARE_DIRECTORY_LISTEN"] = self.address
        while not self.is_ready():
            if self.server.poll() is not None or time.monotonic() > deadline:
                raise Failure(f"the server isn't ready\n{''.join(errors)}")
            time.sleep(0.05)

    def is_ready(self):
        try:
            opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
            with opener.open(f"http://{self.address}/readyz", timeout=3) as answer:
                return answer.status == 200
        except (urllib.error.URLError, OSError):
            return False

    def readdressed(self, text):
        for written in WRITTEN_ADDRESSES if self.address else ():
            text = text.replace(written, self.address)
        return text

    def close(self):
        if self.server is not None:
            end(self.server)
            for reader in self.readers:
                reader.join()
            self.server.stdout.close()
            self.server.stderr.close()


def collect(stream, lines):
    for line in stream:
        lines.append(line)


def end(process):
    """Stops a process and its children, which share a process group, and waits for them."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        deadline = time.monotonic() + 10
        try:
            os.killpg(process.pid, number)
            while time.monotonic() < deadline:
                process.poll()
                os.killpg(process.pid, 0)
                time.sleep(0.02)
        except ProcessLookupError:
            break
    process.wait()


def test(document, root, binary):
    """Runs the blocks until one fails. Returns how many commands ran and how many answers were compared."""
    chosen = blocks_of(document)
    if not any(block.language == "sh" for block in chosen):
        raise Failure(f"{document.name}: no block is marked `sh test`, so nothing would be tested")
    commands = answers = 0
    with tempfile.TemporaryDirectory(prefix="readme-") as temporary:
        folder = pathlib.Path(temporary) / "checkout"
        folder.mkdir()
        copy_of_checkout(root, folder)
        runner = Runner(folder, write_shims(pathlib.Path(temporary) / "bin", binary))
        output = ""
        try:
            for block in chosen:
                try:
                    if block.words == ["answer"]:
                        difference = compare(dataclasses.replace(block, text=runner.readdressed(block.text)), output)
                        if difference:
                            raise Failure(difference)
                        answers += 1
                    elif block.words == ["test", "serve"]:
                        runner.serve(block.text)
                        commands += 1
                    else:
                        output = runner.run(block.text)
                        commands += 1
                except Failure as failure:
                    raise Failure(f"{document.name}:{block.line}: {failure}") from failure
        finally:
            runner.close()
    return commands, answers


def main():
    root = pathlib.Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("documents", nargs="*", type=pathlib.Path, help="default: README.md and docs/*.md")
    parser.add_argument("--binary", type=pathlib.Path, required=True, help="the software-directory binary under test")
    options = parser.parse_args()
    commands = answers = 0
    try:
        if not options.binary.is_file():
            raise Failure(f"{options.binary} doesn't exist; build it with `cargo build`")
        documents = options.documents or documents_of(root)
        for document in documents:
            if not document.is_file():
                raise Failure(f"{document} doesn't exist")
            ran, compared = test(document, root, options.binary.resolve())
            commands, answers = commands + ran, answers + compared
    except Failure as failure:
        print(f"readme: {failure}", file=sys.stderr)
        return 1
    print(f"readme: ok. {len(documents)} documents, {commands} commands run, {answers} answers compared")
    return 0


if __name__ == "__main__":
    sys.exit(main())
