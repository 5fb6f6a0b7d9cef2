#!/usr/bin/env python3
"""Sends the service and its baselines the same requests over HTTP in one run, and prints the comparison: `make bench-http`.

    benches/server/run.py --server BINARY --baselines BINARY --export FILE [--rounds N] [--seconds N] [--only CASE,…]
                          [--against BINARY]

There's one wrk thread, with 16 connections and then 1; the servers take turns, and medians are reported. Every response must be a
200 (or a 304 if that's being measured), and a sample is checked: a query drawn from a record must find it.
Also writes the table to FOLDER/bench-http.md (--out, by default target/).
"""

import argparse
import collections
import contextlib
import json
import math
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import tempfile

import baselines
import pages
from server import Server, check, create_keys, draw_queries, fail, need_wrk, ours as start_ours, quoted, wait_ready

# How many queries are checked. Our server must find every query's record. The other servers may miss
# this share of them: they don't match parts of words, and PostgreSQL finds nothing if there are only
# stop words (which also costs it nothing). The table shows how many they found.
SAMPLE = 300
MISSED_AT_MOST = 0.2
OTHER_BUILD = "other build"
LOCK = pathlib.Path(__file__).resolve().parents[2] / "Cargo.lock"


def serve(binary, export, folder):
    (folder / "data").mkdir(parents=True)
    shutil.copy(export, folder / "data")
    return start_ours(binary, folder, create_keys(binary, folder / "keys.json"))


def mean_size(server, paths):
    sizes = []
    for path in paths:
        status, _, body = server.get(path, server.headers)
        if status != 200:
            fail(f"{path} returned {status}")
        sizes.append(len(body))
    return round(statistics.mean(sizes))


def tag(server, ids, folder):
    """A file of ids, each with the entity tag of its response."""
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
    parser.add_argument("--only", default="", help="comma-separated cases")
    parser.add_argument("--without", default="", help="comma-separated baselines to leave out: datasette, postgresql, minisearch")
    parser.add_argument("--against", metavar="BINARY", help="compare with another build of the server instead of the baselines")
    parser.add_argument("--out", default="target")
    arguments = parser.parse_args()
    known = [*GOALS, PAGES, *baselines.START]
    chosen = [name for name in arguments.only.split(",") if name] or (list(GOALS) if arguments.against else known)
    without = [name for name in arguments.without.split(",") if name]
    for name in chosen + without:
        if name not in known:
            fail(f"there is no case {name}; the cases are {', '.join(known)}")
    arguments.chosen = [name for name in chosen if name not in without]
    need_wrk()
    if not pathlib.Path(arguments.export).is_file():
        fail(f"there is no export {arguments.export}; name its folder with `make bench-http MEASURE_DATA=…` and the file in it "
             "with MEASURE_EXPORT")
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as servers:
        run(arguments, pathlib.Path(folder), servers)


def run(arguments, folder, servers):
    def keep(server):
        servers.callback(server.stop)
        return server

    # PostgreSQL runs as a different user.
    folder.chmod(0o755)
    draw_queries(arguments.baselines, pathlib.Path(arguments.export), folder)
    ids = (folder / "ids.txt").read_text().splitlines()
    queries = (folder / "distinct.txt").read_text().splitlines()
    # Start everything first, so that missing programs are reported before anything is measured.
    others = {name: keep(baselines.START[name](arguments.export, folder, queries))
              for name in arguments.chosen if name in baselines.START}
    ours = keep(serve(arguments.server, arguments.export, folder))
    os.environ["MEASURE_DATA"] = str(pathlib.Path(arguments.export).parent)
    os.environ["MEASURE_EXPORT"] = pathlib.Path(arguments.export).name
    tantivy = keep(Server("bare tantivy", [arguments.baselines, "tantivy", "127.0.0.1:0"])).searched_by(
        "/search?q=", lambda answer: ([hit["id"] for hit in answer["data"]], answer["total"]))
    tantivy.version = re.search(r'name = "tantivy"\nversion = "(.*)"', LOCK.read_text())[1]
    wait_ready(ours, 120)
    built = ours.memory_mb()
    checked = [check_answers(server, folder) for server in [ours, tantivy, *others.values()]]
    tag(ours, ids[:5000], folder)
    lookup = "/v1/software/"
    page, search = "/v1/software?limit=20&offset=", "/v1/search?q="
    offsets = folder / "offsets.txt"
    page_count = max(1, json.loads(ours.get("/v1/software?limit=1", ours.headers)[2])["pagination"]["total"] // 20)
    offsets.write_text("\n".join(str(20 * (number * 7919 % page_count)) for number in range(20000)))

    axums = {}
    for what, paths in {
        "lookup": [lookup + quoted(name) for name in ids[:300]],
        "list": [f"{page}{offset}" for offset in offsets.read_text().splitlines()[:100]],
        "search": [search + quoted(query) for query in queries[:300]],
    }.items():
        size = mean_size(ours, paths)
        axums[what] = keep(Server(f"bare axum, {size} bytes", [arguments.baselines, "axum", "127.0.0.1:0", str(size)]))

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
    both = [ours]
    if arguments.against:
        other = keep(serve(arguments.against, arguments.export, folder / "against"))
        other.name = OTHER_BUILD
        both.append(other)
        wait_ready(other, 120)
        tag(other, ids[:5000], folder / "against")
        for case, [(_, file, before, options), _] in cases.items():
            other_file = folder / "against" / file.name if options.get("tagged") else file
            cases[case][1] = (other, other_file, before, {**options, "key": other.key})
    for name, server in others.items():
        cases[name] = [(ours, distinct, search, key), (server, distinct, server.before, {"after": server.after})]
    results = {}
    for connections in [16, 1]:
        for case in arguments.chosen:
            if case == PAGES:
                continue
            for server in both:
                # Restarting empties the caches.
                server.stop()
                server.start()
                wait_ready(server, 120)
                if case == "search-zipf":
                    # Warm up, like a service that has been in use for a while: the first queries after
                    # startup cost as much as distinct ones.
                    ask_all(server, zipf, search, {"key": server.key}, arguments.seconds)
            results[case, connections] = measure(arguments, cases[case], connections, len(queries) // arguments.rounds)
    of_pages = []
    if PAGES in arguments.chosen:
        ours.stop()
        ours.start()
        wait_ready(ours, 120)
        of_pages = pages.measure(ours, ids, queries, arguments.rounds, 500)
    report(arguments, results, of_pages, checked, built, ours.memory_mb())


def ask_all(server, file, before, options, seconds):
    """Sends all queries in a file once."""
    asked, all_of_them = 0, len(file.read_text().splitlines())
    while asked < all_of_them:
        asked += int(server.load(16, seconds, file, asked, before, **options)["rate"] * seconds)


def check_answers(server, folder):
    """A row in the table of results. Fast results don't count if they're wrong."""
    found, asked, missed = check(server, folder, SAMPLE)
    if len(missed) > (0 if server.name == "ours" else MISSED_AT_MOST * asked):
        fail(f"{server.name}: {len(missed)} of {asked} queries don't find the record they were drawn from: {missed[:10]}")
    print(f"{server.name}: {found} of {asked} queries find the record they were drawn from"
          + (f"; missed: {missed[:5]}" if missed else ""))
    return f"| {server.name} | {found} of {asked} | {server.version} |"


def measure(arguments, sides, connections, lines):
    """Runs rounds in which the sides take turns, each round with this many lines of the file to itself. Returns the sides' medians,
    and the median of the rounds' ratios, because the machine's speed is rarely the same in the next round."""
    rounds = collections.defaultdict(list)
    for number in range(arguments.rounds):
        # The sides take turns going first.
        for side, (server, file, before, options) in list(enumerate(sides))[::-1 if number % 2 else 1]:
            seen = server.load(connections, arguments.seconds, file, number * lines, before, **options)
            if server.name in ("ours", OTHER_BUILD) and file.name == "distinct.txt" and seen["rate"] * arguments.seconds > lines:
                fail(f"{server.name} got more than {lines:,} queries per round, so some queries were repeated: use fewer --seconds "
                     "or --rounds")
            # Bare tantivy mistakes a few words for query syntax, so it may reject some queries.
            if seen["bad"] > (0 if server.name == "ours" else 0.01 * seen["rate"] * arguments.seconds):
                fail(f"{seen['bad']} responses from {server.name} to {before} weren't 2xx or 3xx")
            rounds[side].append(seen)
    medians = []
    for side, (server, *_) in enumerate(sides):
        medians.append({"name": server.name, **{
            figure: statistics.median(seen[figure] for seen in rounds[side]) for figure in ["rate", "cpu", "p50", "p99"]}})
    ratios = [mine["rate"] / other["rate"] for mine, other in zip(rounds[0], rounds[1])]
    return medians, statistics.median(ratios)


# This case compares pages with the API calls whose data they show, not servers.
PAGES = "pages"
GOALS = {"lookup": 0.85, "not-modified": 1.0, "list": 0.7, "search": 0.9, "search-zipf": 0.6, "facets-and-highlights": 0.5}


def cells(side):
    cpu = "" if math.isnan(side["cpu"]) else f"{side['cpu']:.1f}"
    return f"{side['rate']:,.0f} | {cpu} | {side['p50']:.2f} | {side['p99']:.2f}"


def report(arguments, results, of_pages, checked, built, after):
    lines = ["| case | connections | ours, requests/s | CPU µs per request | p50 ms | p99 ms "
             "| compared with | requests/s | CPU µs per request | p50 ms | p99 ms | ratio | goal |",
             "|---" * 13 + "|"]
    for (case, connections), ((mine, other), ratio) in results.items():
        goal = GOALS.get(case) if connections == 16 and not arguments.against else None
        name = other["name"] if other["name"] != "ours" else "ours, without them"
        met = "" if goal is None else f"{goal}" if ratio >= goal else f"{goal}, missed"
        lines.append(f"| {case} | {connections} | {cells(mine)} | {name} | {cells(other)} | {ratio:.2f} | {met} |")
    lines += ["", *of_pages, "", "| server | queries that find the record they were drawn from | version |", "|---|---|---|", *checked]
    size = pathlib.Path(arguments.export).stat().st_size / 1e6
    lines += ["", f"{arguments.rounds} rounds of {arguments.seconds} s, one load thread, on {os.cpu_count()} cores; "
              f"machine load at the end {os.getloadavg()[1]:.1f}. Memory of our server: {built['VmRSS']:.0f} MB after building ({built['VmHWM']:.0f} at most), "
              f"{after['VmRSS']:.0f} MB after a restart and the last load; the export is {size:.0f} MB."]
    text = "\n".join(lines) + "\n"
    print(text)
    out = pathlib.Path(arguments.out) / "bench-http.md"
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(text)
    print(f"written to {out}")


if __name__ == "__main__":
    main()
