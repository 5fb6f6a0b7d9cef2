"""Servers to measure: started on a free port, put under load by wrk, observed from outside, and stopped."""

import http.client
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

HERE = pathlib.Path(__file__).resolve().parent
# How many keys requests rotate through.
KEYS = 16
UNITS = {"us": 1e-3, "ms": 1.0, "s": 1e3, "m": 60e3}


def fail(text):
    sys.exit(f"error: {text}")


def need(command, install):
    if not shutil.which(command):
        fail(f"{command} is missing; install it with: {install}")


def need_wrk():
    need("wrk", "sudo apt-get install wrk   (macOS: brew install wrk)")


def quoted(text):
    return urllib.parse.quote_plus(text)


class Server:
    """A server process that prints its address on standard output, or on the stream named by `tells`."""

    headers = {}
    version = ""

    def __init__(self, name, command, tells="stdout"):
        self.name, self.command, self.tells = name, command, tells
        self.start()

    def start(self):
        self.errors = tempfile.TemporaryFile("w+")
        streams = {"stdout": subprocess.DEVNULL, "stderr": self.errors, self.tells: subprocess.PIPE}
        self.process = subprocess.Popen(self.command, text=True, **streams)
        lines, said = getattr(self.process, self.tells), ""
        for line in lines:
            said += line
            if found := re.search(r"http://([\d.]+:\d+)", line):
                break
        else:
            self.errors.seek(0)
            fail(f"{self.name} didn't start: {' '.join(map(str, self.command))} said {(said + self.errors.read())[-2000:]!r}")
        # Drains the pipe so that further output doesn't block.
        threading.Thread(target=lines.read, daemon=True).start()
        self.address = found[1]
        self.url = f"http://{self.address}"

    def searched_by(self, before, answer, after="", checked_with=""):
        """Sets how it's searched: what comes before and after the query, what to add when results are checked, and what
        returns the ids and the total from a response's JSON."""
        self.before, self.after, self.answer, self.checked_with = before, after, answer, checked_with
        return self

    def get(self, path, headers=None):
        connection = http.client.HTTPConnection(self.address, timeout=60)
        connection.request("GET", path, headers=headers or {})
        response = connection.getresponse()
        body = response.read()
        connection.close()
        return response.status, response.headers, body

    def answers(self, queries):
        """The ids and the total that each query returns."""
        for query in queries:
            path = self.before + quoted(query) + self.after + self.checked_with
            status, _, body = self.get(path, self.headers)
            if status != 200:
                fail(f"{self.name} responds to {path} with {status}: {body[:300]!r}")
            yield self.answer(json.loads(body))

    def load(self, connections, seconds, file, start, before, after="", key="", tagged=False):
        """Runs the load. Returns requests per second, the server's CPU time per request in microseconds, p50 and p99 in milliseconds,
        and the number of responses that weren't 2xx or 3xx."""
        command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--latency", "-s", HERE / "load.lua", self.url, "--"]
        command += [file, str(start), before, after, key] + (["tagged"] if tagged else [])
        before_load = self.cpu_seconds()
        done = subprocess.run(command, capture_output=True, text=True)
        spent = self.cpu_seconds() - before_load
        if done.returncode != 0:
            fail(f"wrk failed on {self.name}: {done.stdout}{done.stderr}")
        figures = dict(re.findall(r"^\s+(50|99)%\s+(\S+)\s*$", done.stdout, re.M))
        if "50" not in figures:
            fail(f"{self.name} sent no response to {before} within {seconds} s")
        def milliseconds(text):
            number, unit = re.fullmatch(r"([\d.]+)(us|ms|s|m)", text).groups()
            return float(number) * UNITS[unit]
        rate = float(re.search(r"Requests/sec:\s+([\d.]+)", done.stdout)[1])
        requests = int(re.search(r"(\d+) requests in", done.stdout)[1])
        bad = re.search(r"Non-2xx or 3xx responses: (\d+)", done.stdout)
        errors = re.search(r"Socket errors: (.*)", done.stdout)
        if errors and not re.fullmatch(r"connect 0, read 0, write 0, timeout \d+", errors[1]):
            fail(f"{self.url}: {errors[0]}")
        return {"rate": rate, "cpu": 1e6 * spent / requests, "p50": milliseconds(figures["50"]), "p99": milliseconds(figures["99"]),
                "bad": int(bad[1]) if bad else 0}

    def cpu_seconds(self):
        """The CPU time that the process's current threads have used."""
        times = pathlib.Path(f"/proc/{self.process.pid}/task").glob("*/schedstat")
        return sum(int(time.read_text().split()[0]) for time in times) / 1e9

    def memory_mb(self):
        """The process's current and peak memory, in 10^6 bytes."""
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        found = dict(re.findall(r"^(VmRSS|VmHWM):\s+(\d+) kB$", status, re.M))
        return {name: int(kib) * 1024 / 1e6 for name, kib in found.items()}

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def create_keys(binary, file):
    """Creates keys. Their quotas are counted, but together they're too large to be used up."""
    command = [binary, "keys", "create", "--name", "bench", "--rate", "1000000/min", "--keys", file]
    return [subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip() for _ in range(KEYS)]


def ours(binary, folder, keys):
    """Our server, with the `data`, `index` and `keys.json` in a folder."""
    server = Server("ours", [binary, "--data", folder / "data", "--index", folder / "index", "--keys", folder / "keys.json",
                             "--listen", "127.0.0.1:0"])
    server.key = ",".join(keys)
    server.version = subprocess.run([binary, "--version"], capture_output=True, text=True, check=True).stdout.split()[-1]
    server.headers = {"Authorization": f"Bearer {keys[0]}"}
    return server.searched_by("/v1/search?q=", lambda answer: ([hit["id"] for hit in answer["data"]],
                                                               answer["pagination"]["total"]), checked_with="&limit=100")


def wait_ready(server, seconds, pause=0.05):
    deadline = time.monotonic() + seconds
    while (ready := server.get("/readyz"))[0] != 200:
        if server.process.poll() is not None or time.monotonic() > deadline:
            server.errors.seek(0)
            fail(f"the server isn't ready after {seconds} s: {ready[2].decode()} {server.errors.read()[-2000:]}")
        time.sleep(pause)


def draw_queries(baselines, corpus, folder):
    """Files of queries, drawn from an export or a folder of exports."""
    place = {"MEASURE_DATA": str(corpus.parent), "MEASURE_EXPORT": corpus.name}
    subprocess.run([baselines, "queries", folder], check=True, env={**os.environ, **place})


def check(server, folder, sample):
    """How many of the queries find the record they were drawn from, on the page or possibly among further hits; how many
    were sent; and those that don't find it."""
    lines = [line.split("\t") for line in (folder / "checked.tsv").read_text().splitlines()[:sample]]
    answers = zip(lines, server.answers([query for query, _ in lines]))
    missed = [query for (query, wanted), (ids, total) in answers if wanted not in ids and total <= len(ids)]
    return len(lines) - len(missed), len(lines), missed
