#!/usr/bin/env python3
"""Asks the service and its baselines the same over HTTP, in one go, and prints how they compare: `make bench-http`.

    benches/http/run.py --server BINARY --baselines BINARY --export FILE [--rounds N] [--seconds N] [--only CASE,…]

One load thread of wrk, 16 connections and then 1; the servers take turns, and medians count. Every answer has to be a 200
(or a 304 where that is measured), and a sample is checked: a query drawn from a record has to find it.
Writes the table to FOLDER/bench-http.md too (--out, by default target/).
"""

import argparse
import collections
import http.client
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.parse

import baselines

HERE = pathlib.Path(__file__).resolve().parent
SAMPLE = 300
# So many keys take turns, each with the highest rate there is.
KEYS = 16
UNITS = {"us": 1e-3, "ms": 1.0, "s": 1e3}


def fail(text):
    sys.exit(f"error: {text}")


def need(command, install):
    if not shutil.which(command):
        fail(f"{command} is missing; install it with: {install}")


def wrk(url, connections, seconds, file, start, before, after="", key="", tagged=False):
    """Runs the load; answers requests a second, p50 and p99 in milliseconds, and answers that weren't 2xx or 3xx."""
    command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--latency", "-s", str(HERE / "load.lua"), url, "--"]
    command += [str(file), str(start), before, after, key] + (["tagged"] if tagged else [])
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    figures = dict(re.findall(r"^\s+(50|99)%\s+(\S+)$", done.stdout, re.M))
    def milliseconds(text):
        number, unit = re.fullmatch(r"([\d.]+)(us|ms|s|m)", text).groups()
        return float(number) * UNITS.get(unit, 60e3)
    rate = float(re.search(r"Requests/sec:\s+([\d.]+)", done.stdout)[1])
    bad = re.search(r"Non-2xx or 3xx responses: (\d+)", done.stdout)
    errors = re.search(r"Socket errors: (.*)", done.stdout)
    if errors and not re.fullmatch(r"connect 0, read 0, write 0, timeout \d+", errors[1]):
        fail(f"{url}: {errors[0]}")
    return {"rate": rate, "p50": milliseconds(figures["50"]), "p99": milliseconds(figures["99"]),
            "bad": int(bad[1]) if bad else 0}


class Server:
    """A server process whose first line on standard output tells its address."""

    def __init__(self, name, command, env=None, pattern=r"http://([\d.]+:\d+)"):
        self.name = name
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                        env={**os.environ, **(env or {})})
        line = self.process.stdout.readline()
        found = re.search(pattern, line)
        if not found:
            fail(f"{name} doesn't start: {' '.join(map(str, command))} said {line!r}")
        self.address = found[1]
        self.url = f"http://{self.address}"

    def get(self, path, headers=None):
        connection = http.client.HTTPConnection(self.address, timeout=60)
        connection.request("GET", path, headers=headers or {})
        response = connection.getresponse()
        body = response.read()
        connection.close()
        return response.status, response.headers, body

    def memory_mb(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status")
        if not status.exists():
            return None
        found = dict(re.findall(r"^(VmRSS|VmHWM):\s+(\d+) kB$", status.read_text(), re.M))
        return {name: int(kb) / 1024 for name, kb in found.items()}

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()


def serve(arguments, folder):
    """Our server with keys whose quotas are counted and, all together, never reached."""
    data, index, keys = folder / "data", folder / "index", folder / "keys.json"
    data.mkdir()
    shutil.copy(arguments.export, data)
    create = [arguments.server, "keys", "create", "--name", "bench", "--rate", "1000000/min", "--keys", keys]
    created = [subprocess.run(create, capture_output=True, text=True, check=True).stdout.strip() for _ in range(KEYS)]
    server = Server("ours", [arguments.server, "--data", data, "--index", index, "--keys", keys,
                             "--listen", "127.0.0.1:0"])
    server.key = ",".join(created)
    server.headers = {"Authorization": f"Bearer {created[0]}"}
    return server


def quoted(text):
    return urllib.parse.quote_plus(text)


def check_ours(server, folder):
    """A query drawn from a record finds it: among the first hundred, or there are more than these."""
    missed, lines = [], (folder / "checked.tsv").read_text().splitlines()[:SAMPLE]
    for line in lines:
        query, wanted = line.split("\t")
        status, _, body = server.get(f"/v1/search?limit=100&q={quoted(query)}", server.headers)
        answer = json.loads(body) if status == 200 else {"data": [], "pagination": {"total": 0}}
        found = any(hit["id"] == wanted for hit in answer["data"])
        if not found and answer["pagination"]["total"] <= 100:
            missed.append(query)
    return len(lines), missed


def check_tantivy(server, folder):
    missed, lines = [], (folder / "checked.tsv").read_text().splitlines()[:SAMPLE]
    for line in lines:
        query, wanted = line.split("\t")
        status, _, body = server.get(f"/search?q={quoted(query)}")
        answer = json.loads(body) if status == 200 else {"data": [], "total": 0}
        if answer["total"] <= 10 and not any(hit["id"] == wanted for hit in answer["data"]):
            missed.append(query)
    return len(lines), missed


def mean_size(server, paths):
    sizes = []
    for path in paths:
        status, _, body = server.get(path, server.headers)
        if status != 200:
            fail(f"{path} answers {status}")
        sizes.append(len(body))
    return round(statistics.mean(sizes))


def tag(server, ids, folder):
    """A file of ids, each with the entity tag of its answer."""
    lines = []
    for name in ids:
        _, headers, _ = server.get(f"/v1/software/{quoted(name)}", server.headers)
        lines.append(f"{name}\t{headers['etag']}")
    (folder / "tagged.txt").write_text("\n".join(lines))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", required=True)
    parser.add_argument("--baselines", required=True)
    parser.add_argument("--export", required=True)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=3)
    parser.add_argument("--only", default="", help="cases, with commas between them")
    parser.add_argument("--without", default="", help="datasette, postgresql, minisearch: what not to compare with")
    parser.add_argument("--out", default="target")
    arguments = parser.parse_args()
    need("wrk", "sudo apt-get install wrk   (macOS: brew install wrk)")
    if not pathlib.Path(arguments.export).is_file():
        fail(f"there is no export {arguments.export}; name its folder with `make bench-http MEASURE_DATA=…` and the file in it "
             "with MEASURE_EXPORT")
    with tempfile.TemporaryDirectory() as folder:
        run(arguments, pathlib.Path(folder))


def run(arguments, folder):
    folder.chmod(0o755)
    os.environ["MEASURE_DATA"] = str(pathlib.Path(arguments.export).parent)
    os.environ["MEASURE_EXPORT"] = pathlib.Path(arguments.export).name
    subprocess.run([arguments.baselines, "queries", folder], check=True)
    ours = serve(arguments, folder)
    tantivy = Server("bare tantivy", [arguments.baselines, "tantivy", "127.0.0.1:0"])
    servers = [ours, tantivy]
    wait_ready(ours)
    at_rest = ours.memory_mb()
    for name, check in [("ours", lambda: check_ours(ours, folder)), ("bare tantivy", lambda: check_tantivy(tantivy, folder))]:
        count, missed = check()
        print(f"answers of {name}: {count - len(missed)} of {count} queries find the record they were drawn from"
              + (f"; missed: {missed[:10]}" if missed else ""))
        if name == "ours" and missed:
            fail("a fast wrong answer is no answer")

    ids = (folder / "ids.txt").read_text().splitlines()
    queries = (folder / "distinct.txt").read_text().splitlines()
    tag(ours, ids[:5000], folder)
    lookup = "/v1/software/"
    page, search = "/v1/software?limit=20&offset=", "/v1/search?q="
    offsets = folder / "offsets.txt"
    offsets.write_text("\n".join(str(20 * (number * 7919 % 2900)) for number in range(20000)))

    axums = {}
    for what, paths in {
        "lookup": [lookup + quoted(name) for name in ids[:300]],
        "list": [f"{page}{offset}" for offset in offsets.read_text().splitlines()[:100]],
        "search": [search + quoted(query) for query in queries[:300]],
    }.items():
        size = mean_size(ours, paths)
        axums[what] = Server(f"bare axum, {size} bytes", [arguments.baselines, "axum", "127.0.0.1:0", str(size)])
        servers.append(axums[what])

    distinct, zipf = folder / "distinct.txt", folder / "zipf.txt"
    key = {"key": ours.key}
    cases = {
        "lookup": [(ours, folder / "ids.txt", lookup, key), (axums["lookup"], folder / "ids.txt", lookup, key)],
        "not-modified": [(ours, folder / "tagged.txt", lookup, {**key, "tagged": True}),
                         (axums["lookup"], folder / "tagged.txt", lookup, {**key, "tagged": True})],
        "list": [(ours, offsets, page, key), (axums["list"], offsets, page, key)],
        "search": [(ours, distinct, search, key), (tantivy, distinct, "/search?q=", {})],
        "search-zipf": [(ours, zipf, search, key), (axums["search"], zipf, search, key)],
        "facets-and-highlights": [
            (ours, distinct, search, {**key, "after": "&facets=category&facets=offering_type&facets=evidence_status"
                                                      "&facets=rating&highlight=true"}),
            (ours, distinct, search, key)],
    }
    others = []
    for name in ["datasette", "minisearch"]:
        if name not in arguments.without.split(","):
            server = baselines.START[name](Server, arguments.export, folder)
            servers.append(server)
            others.append(server)
            cases[name] = [(ours, distinct, search, key), (server, distinct, server.before, {"after": server.after})]
    chosen = [name for name in arguments.only.split(",") if name] or list(cases)
    results = {}
    try:
        for connections in [16, 1]:
            for case in chosen:
                results[case, connections] = measure(arguments, cases[case], connections)
        if "postgresql" not in arguments.without.split(",") and not arguments.only:
            results["postgresql", 16] = baselines.postgresql(arguments, folder, ours, wrk, distinct, search)
        report(arguments, results, at_rest, ours.memory_mb())
    finally:
        for server in servers:
            server.stop()


def wait_ready(server):
    deadline = time.monotonic() + 120
    while server.get("/readyz")[0] != 200:
        if time.monotonic() > deadline:
            fail("the server isn't ready after two minutes")
        time.sleep(0.05)


def measure(arguments, sides, connections):
    """Rounds in which the sides take turns, each going on in its file where it stopped; answers their medians."""
    rounds = collections.defaultdict(list)
    for number in range(arguments.rounds):
        for side, (server, file, before, options) in enumerate(sides):
            seen = wrk(server.url, connections, arguments.seconds, file, number * 40_000, before, **options)
            if seen["bad"] and server.name == "ours":
                fail(f"{seen['bad']} answers to {before} weren't 2xx or 3xx")
            rounds[side].append(seen)
    medians = []
    for side, (server, *_) in enumerate(sides):
        medians.append({"name": server.name, **{
            figure: statistics.median(seen[figure] for seen in rounds[side]) for figure in ["rate", "p50", "p99"]}})
    ratios = [mine["rate"] / other["rate"] for mine, other in zip(rounds[0], rounds[1])]
    return medians, statistics.median(ratios)


GOALS = {"lookup": 0.85, "not-modified": 1.0, "list": 0.7, "search": 1.0, "search-zipf": 0.6, "facets-and-highlights": 0.5}


def report(arguments, results, at_rest, after):
    lines = ["| case | connections | ours, requests/s | p50 ms | p99 ms | beside it | requests/s | p50 ms | p99 ms | ratio | goal |",
             "|---|---|---|---|---|---|---|---|---|---|---|"]
    for (case, connections), ((mine, other), ratio) in results.items():
        goal = GOALS.get(case) if connections == 16 else None
        name = other["name"] if other["name"] != "ours" else "ours, without them"
        met = "" if goal is None else f"{goal}" if ratio >= goal else f"{goal}, missed"
        lines.append(f"| {case} | {connections} | {mine['rate']:,.0f} | {mine['p50']:.2f} | {mine['p99']:.2f} | {name} "
                     f"| {other['rate']:,.0f} | {other['p50']:.2f} | {other['p99']:.2f} | {ratio:.2f} | {met} |")
    size = pathlib.Path(arguments.export).stat().st_size / 1e6
    lines += ["", f"{arguments.rounds} rounds of {arguments.seconds} s, one load thread, on {os.cpu_count()} cores; load of the "
              f"machine at the end {os.getloadavg()[1]:.1f}. Memory of ours: {at_rest['VmRSS']:.0f} MB at rest, "
              f"{after['VmRSS']:.0f} MB after the load, {after['VmHWM']:.0f} MB at most; the export has {size:.0f} MB."]
    text = "\n".join(lines) + "\n"
    print(text)
    out = pathlib.Path(arguments.out) / "bench-http.md"
    out.write_text(text)
    print(f"written to {out}")


if __name__ == "__main__":
    main()
