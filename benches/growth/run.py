#!/usr/bin/env python3
"""Measures how the service grows with its data: `make bench-growth`.

    benches/growth/run.py --server BINARY --baselines BINARY --export FILE [--sizes N,…] [--rounds N] [--seconds N]

For each number of records, generates a corpus from the export (corpus.py), serves it first without an index and then with
the existing one, and searches it over one connection with one wrk thread, using queries drawn from that same corpus. After
each size, writes a table to FOLDER/bench-growth.md and the curves to FOLDER/bench-growth.svg (--out, by default target/).
1,000,000 records need about 7 GB of memory and 5 GB of disk.
"""

import argparse
import math
import os
import pathlib
import statistics
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "server"))

import corpus
import plot
from server import check, create_keys, draw_queries, fail, need_wrk, ours, wait_ready

SIZES = "1000,10000,59204,1000000"
RESTARTS = 5
# Seconds after startup by which the content has been verified and memory has been released.
SETTLED = 5
# How many queries are checked, and what share of them may miss their record. The more words there
# are, the more often a shortened word happens to be another word.
SAMPLE = 300
MISSED_AT_MOST = 0.01


def ready(arguments, folder, keys):
    """Starts a server. Returns it and how many seconds it took to print its address, i.e. to be ready."""
    started = time.monotonic()
    server = ours(arguments.server, folder, keys)
    try:
        wait_ready(server, 60, pause=0.002)
    except BaseException:
        server.stop()
        raise
    return server, time.monotonic() - started


def restarts(arguments, folder, keys):
    """Restarts a server several times. Returns the median restart time, and the last server."""
    times = []
    while True:
        server, took = ready(arguments, folder, keys)
        times.append(took)
        if len(times) == RESTARTS:
            return server, statistics.median(times)
        server.stop()


def size_on_disk(folder):
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6


def measure(arguments, records, folder):
    """Measures a server with this many records. If there are none, it isn't searched."""
    folder.mkdir()
    row = {"records": records, "export_mb": corpus.write(arguments.export, records, folder / "data") / 1e6}
    if records:
        draw_queries(arguments.baselines, folder / "data", folder)
    keys = create_keys(arguments.server, folder / "keys.json")
    server, row["build_s"] = ready(arguments, folder, keys)
    try:
        time.sleep(SETTLED)
        memory = server.memory_mb()
        row |= {"built_mb": memory["VmRSS"], "peak_mb": memory["VmHWM"], "index_mb": size_on_disk(folder / "index")}
    finally:
        server.stop()
    server, row["restart_ms"] = restarts(arguments, folder, keys)
    row["restart_ms"] *= 1e3
    try:
        time.sleep(SETTLED)
        row["restarted_mb"] = server.memory_mb()["VmRSS"]
        if records:
            row |= search(arguments, server, folder)
            row["searched_mb"] = server.memory_mb()["VmRSS"]
    finally:
        server.stop()
    return row


def search(arguments, server, folder):
    found, asked, missed = check(server, folder, SAMPLE)
    print(f"{found} of {asked} queries find the record they were drawn from" + (f"; missed: {missed}" if missed else ""))
    if len(missed) > MISSED_AT_MOST * asked:
        fail("too many searches miss their record, and a fast answer doesn't count if it's wrong")
    load = [server.load(1, arguments.seconds, folder / "distinct.txt", number * 40_000, server.before, key=server.key)
            for number in range(arguments.rounds)]
    if bad := sum(seen["bad"] for seen in load):
        fail(f"{bad} responses weren't 2xx")
    return {figure: statistics.median(seen[figure] for seen in load) for figure in ["p50", "p99", "rate"]}


def report(arguments, empty, rows):
    lines = ["| records | export MB | build s | restart ms | above an empty server | memory MB after the build | peak "
             "| after a restart | after searches | index MB | search p50 ms | p99 ms | searches/s |", "|---" * 13 + "|"]
    for row in [empty, *rows]:
        cells = [f"{row['records']:,}", f"{row['export_mb']:,.1f}", f"{row['build_s']:,.2f}", f"{row['restart_ms']:,.0f}",
                 f"{row['restart_ms'] - empty['restart_ms']:,.0f}", f"{row['built_mb']:,.0f}", f"{row['peak_mb']:,.0f}",
                 f"{row['restarted_mb']:,.0f}"]
        cells += [f"{row['searched_mb']:,.0f}", f"{row['index_mb']:,.1f}", f"{row['p50']:.3f}", f"{row['p99']:.2f}",
                  f"{row['rate']:,.0f}"] if row["records"] else ["", f"{row['index_mb']:,.1f}", "", "", ""]
        lines.append(f"| {' | '.join(cells)} |")
    if len(rows) > 1:
        lines += ["", "| from | to | search p50 growth | √records growth | |", "|---|---|---|---|---|"]
    pairs = list(zip(rows, rows[1:])) + ([(rows[0], rows[-1])] if len(rows) > 2 else [])
    for less, more in pairs:
        grows, bound = more["p50"] / less["p50"], math.sqrt(more["records"] / less["records"])
        lines.append(f"| {less['records']:,} | {more['records']:,} | {grows:.2f} times | {bound:.2f} times "
                     f"| {'less' if grows < bound else 'more: missed'} |")
    lines += ["", f"{arguments.rounds} rounds of {arguments.seconds} s, one connection, medians; restarts: the median of {RESTARTS}; "
              f"on {os.cpu_count()} cores; machine load at the end {os.getloadavg()[1]:.1f}; "
              f"generated from {pathlib.Path(arguments.export).name}."]
    out = pathlib.Path(arguments.out)
    out.mkdir(parents=True, exist_ok=True)
    (out / "bench-growth.md").write_text("\n".join(lines) + "\n")
    (out / "bench-growth.svg").write_text(curves(empty, rows))
    return lines


def curves(empty, rows):
    def curve(label, figure):
        return plot.Curve(label, [(row["records"], row[figure]) for row in rows])

    root = [(row["records"], rows[0]["p50"] * math.sqrt(row["records"] / rows[0]["records"])) for row in rows]
    level = [(row["records"], empty["restart_ms"]) for row in rows]
    return plot.svg("Growth with the number of records", "records", [
        plot.Panel("Search over one connection, ms", [curve("p99", "p99"), curve("p50", "p50"),
                                                      plot.Curve("√records", root, is_reference=True)]),
        plot.Panel("Build until ready, s", [curve("build", "build_s")]),
        plot.Panel("Restart until ready, ms", [curve("restart", "restart_ms"),
                                               plot.Curve("empty server", level, is_reference=True)]),
        plot.Panel("Memory and disk, MB", [curve("at most", "peak_mb"), curve("at rest", "restarted_mb"),
                                           curve("index", "index_mb"),
                                           plot.Curve("export", [(row["records"], row["export_mb"]) for row in rows],
                                                      is_reference=True)]),
    ])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", required=True)
    parser.add_argument("--baselines", required=True)
    parser.add_argument("--export", required=True)
    parser.add_argument("--sizes", default=SIZES, help=f"comma-separated record counts (default: {SIZES})")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--out", default="target")
    arguments = parser.parse_args()
    sizes = sorted(int(size) for size in arguments.sizes.split(","))
    need_wrk()
    if not pathlib.Path(arguments.export).is_file():
        fail(f"there is no export {arguments.export}; name its folder with `make bench-growth MEASURE_DATA=…` and the file in it "
             "with MEASURE_EXPORT")
    with tempfile.TemporaryDirectory() as folder:
        empty = measure(arguments, 0, pathlib.Path(folder) / "empty")
    rows = []
    for size in sizes:
        # A separate folder for each size, because the larger ones take up gigabytes.
        with tempfile.TemporaryDirectory() as folder:
            rows.append(measure(arguments, size, pathlib.Path(folder) / "corpus"))
        lines = report(arguments, empty, rows)
        print(f"measuring {size:,} records", flush=True)
    print("\n".join(lines))
    print(f"\nwritten to {arguments.out}/bench-growth.md and .svg")


if __name__ == "__main__":
    main()
