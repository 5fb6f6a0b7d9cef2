"""Sends the binary requests that its OpenAPI document allows and some that it doesn't, and checks the responses against it.

    uv run --project tests/contract python tests/contract/check.py --binary FILE [--examples N] [--seeds N[,N…]]

Runs every check that Schemathesis has. The server serves the checkout's exports and tests/contract/odd.json, and must be
healthy at the end. Exit code 1 on any failure. A seed determines a run's requests.
"""

import argparse
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
CHECKOUT = HERE.parents[1]
START_SECONDS = 120


class Failure(Exception):
    """The service and its document disagree, or the test couldn't run."""


class Server:
    """The binary on a free port in its own folder, with a development key, whose quota never runs out."""

    def __init__(self, binary, folder):
        shutil.copytree(CHECKOUT / "data", folder / "data")
        shutil.copytree(CHECKOUT / "demo", folder / "demo")
        shutil.copy(HERE / "odd.json", folder / "data")
        environment = {name: value for name, value in os.environ.items() if not name.startswith("SOFTWARE_DIRECTORY_")}
        self.log = folder / "log"
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [binary, "--listen", "127.0.0.1:0"], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=log, text=True,
            )
        first = self.process.stdout.readline()
        if not first.startswith("Listening on "):
            raise Failure(f"the server didn't start: {first}{self.log.read_text()}")
        self.address = first.split()[-1]
        deadline = time.monotonic() + START_SECONDS
        while self.readiness() is None:
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise Failure(f"the server isn't ready: {self.log.read_text()}")
            time.sleep(0.05)
        self.key = (folder / "development-key").read_text().strip()

    def readiness(self):
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(f"{self.address}/readyz", timeout=5) as answer:
                return answer.read().decode()
        except (urllib.error.URLError, OSError):
            return None

    def finish(self):
        """Checks that the server is still healthy, stops it, and checks its log."""
        readiness = self.readiness()
        if readiness is None or '"ready"' not in readiness:
            raise Failure(f"the server is no longer ready: {readiness}\n{self.log.read_text()}")
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(timeout=30)
        errors = [line for line in self.log.read_text().splitlines() if "ERROR" in line or "panicked" in line]
        if code != 0 or errors:
            raise Failure("\n".join([f"the server exited with code {code}", *errors]))


def ask(server, seed, examples, folder):
    """Runs Schemathesis once. Returns the number of generated requests."""
    report = folder / f"report-{seed}.txt"
    with report.open("w") as output:
        done = subprocess.run(
            [
                shutil.which("schemathesis", path=pathlib.Path(sys.executable).parent), "--config-file",
                HERE / "schemathesis.toml", "run", f"{server.address}/openapi.json", "--header",
                f"Authorization: Bearer {server.key}", "--checks", "all", "--seed", str(seed), "--max-examples",
                str(examples), "--no-color",
            ],
            cwd=folder, env={**os.environ, "SCHEMATHESIS_HOOKS": "hooks", "PYTHONPATH": str(HERE), "NO_PROXY": "*"},
            stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, check=False,
        )
    text = report.read_text()
    if done.returncode != 0:
        raise Failure(f"seed {seed}, exit code {done.returncode}:\n{text}")
    generated = re.search(r"(\d+) generated, (\d+) passed", text)
    if generated is None:
        raise Failure(f"Schemathesis didn't report how many requests it sent:\n{text}")
    return int(generated[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--binary", type=pathlib.Path, required=True, help="the software-directory binary under test")
    parser.add_argument("--examples", type=int, default=100, help="the maximum number of requests per operation and phase")
    parser.add_argument("--seeds", default="1", help="comma-separated seeds; one run each")
    options = parser.parse_args()
    started = time.monotonic()
    try:
        if not options.binary.is_file():
            raise Failure(f"there is no binary {options.binary}; build it with `cargo build`")
        with tempfile.TemporaryDirectory(prefix="contract-") as temporary:
            folder = pathlib.Path(temporary)
            server = Server(options.binary.resolve(), folder)
            try:
                seeds = [int(seed) for seed in options.seeds.split(",")]
                generated = sum(ask(server, seed, options.examples, folder) for seed in seeds)
                server.finish()
            finally:
                server.process.kill()
                server.process.wait()
                server.process.stdout.close()
    except Failure as failure:
        print(f"contract: {failure}", file=sys.stderr)
        return 1
    print(f"contract: ok. {generated} requests, {len(seeds)} seeds, {time.monotonic() - started:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
