#!/usr/bin/env python3
"""Edits an export while a separate process asks a few hundred requests a second, and says what callers saw of it.

    tests/tools/reload_under_load.py [--data FOLDER_OR_FILE] [--edits N] [--rate PER_SECOND] [--visible-within SECONDS]

The binary is $SOFTWARE_DIRECTORY_BIN, or the checkout's debug build. It serves a copy of the data; the largest export in
it is edited N times, then broken, then mended. Exit code 1 on any answer that isn't 2xx, an edit that isn't visible in
time, or a broken edit that health doesn't tell; 2 where the server doesn't start.
"""

import argparse
import http.client
import json
import multiprocessing
import os
import pathlib
import queue
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

CHECKOUT = pathlib.Path(__file__).resolve().parents[2]
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", CHECKOUT / "target"))
PATHS = ["/v1/software?limit=20", "/v1/search?q=management&limit=10", "/v1/categories", "/v1/glossary?limit=5"]
CONNECTIONS = 4


def connect(port):
    return http.client.HTTPConnection("127.0.0.1", port, timeout=30)


def get(connection, path, key):
    connection.request("GET", path, headers={"Authorization": f"Bearer {key}"})
    response = connection.getresponse()
    return response.status, response.read()


def load(port, key, rate, stop, results):
    """Asks at a steady rate over a few connections and hands over a latency and a status for each request."""
    seen, lock = [], threading.Lock()
    started = time.monotonic()

    def ask(number):
        connection, mine, turn = connect(port), [], number
        while not stop.is_set():
            due = started + turn / rate
            time.sleep(max(0.0, due - time.monotonic()))
            asked = time.monotonic()
            try:
                status, _ = get(connection, PATHS[turn % len(PATHS)], key)
            except (OSError, http.client.HTTPException) as error:
                status, connection = repr(error), connect(port)
            mine.append(((time.monotonic() - asked) * 1000, status))
            turn += CONNECTIONS
        with lock:
            seen.extend(mine)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(CONNECTIONS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    results.put((seen, time.monotonic() - started))


def replace(path, text):
    following = path.with_name(".next")
    following.write_text(text, encoding="utf-8")
    following.replace(path)


def until(condition, patience):
    """Seconds until a condition holds; None if it doesn't within patience."""
    started = time.monotonic()
    while time.monotonic() - started < patience:
        if condition():
            return time.monotonic() - started
        time.sleep(0.01)
    return None


def start(binary, folder, errors):
    # Beside a key file of its own the quota would count: the development key has none.
    command = [binary, "--data", folder / "data", "--index", folder / "index", "--listen", "127.0.0.1:0"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SOFTWARE_DIRECTORY_")}
    server = subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=errors, text=True)
    port = key = None
    for line in server.stdout:
        if line.startswith("Listening on "):
            port = int(line.strip().rsplit(":", 1)[1])
        if "#key=" in line:
            key = line.strip().split("#key=", 1)[1]
            return server, port, key
    server.wait()
    return server, None, None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=pathlib.Path, default=CHECKOUT / "data", help="data folder, or one export file")
    parser.add_argument("--edits", type=int, default=5, help="valid edits before the broken one")
    parser.add_argument("--rate", type=int, default=300, help="requests a second")
    parser.add_argument("--visible-within", type=float, default=2.0, metavar="SECONDS", help="for each edit")
    options = parser.parse_args()
    binary = os.environ.get("SOFTWARE_DIRECTORY_BIN", str(TARGET / "debug" / "software-directory"))
    if not shutil.which(binary):
        sys.exit(f"{binary} isn't there; make it with: cargo build")

    failures = []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "data").mkdir()
        for file in [options.data] if options.data.is_file() else sorted(options.data.glob("*.json")):
            shutil.copyfile(file, folder / "data" / file.name)
        edited = max((folder / "data").glob("*.json"), key=lambda path: path.stat().st_size)
        document = json.loads(edited.read_text(encoding="utf-8"))
        with open(folder / "stderr", "w+", encoding="utf-8") as errors:
            began = time.monotonic()
            server, port, key = start(binary, folder, errors)
            if port is None:
                errors.seek(0)
                print(f"the server didn't start:\n{errors.read()}", file=sys.stderr)
                return 2
            print(f"data          {edited.name}, {len(document['software'])} records, {edited.stat().st_size} bytes")
            print(f"start         {time.monotonic() - began:.2f} s")
            stop, results = multiprocessing.Event(), multiprocessing.Queue()
            loader = multiprocessing.Process(target=load, args=(port, key, options.rate, stop, results))
            loader.start()
            try:
                failures += edit(options, edited, document, port, key, errors)
            finally:
                stop.set()
                try:
                    seen, took = results.get(timeout=60)
                except queue.Empty:
                    seen, took = [], 0.0
                    failures.append("the load ended without a result")
                loader.join()
                server.send_signal(signal.SIGTERM)
                code = server.wait(timeout=60)
    if code != 0:
        failures.append(f"the server stopped with exit code {code}")
    bad = [status for _, status in seen if not (isinstance(status, int) and 200 <= status < 300)]
    if bad or not seen:
        failures.append(f"{len(bad)} of {len(seen)} answers were not 2xx: {sorted(set(map(str, bad)))[:5]}")
    latencies = sorted(latency for latency, _ in seen)
    if latencies:
        cuts = statistics.quantiles(latencies, n=100)
        print(f"requests      {len(seen)} in {took:.1f} s, {len(seen) / took:.0f} a second")
        print(f"not 2xx       {len(bad)}")
        print(f"latency       p50 {cuts[49]:.2f} ms, p99 {cuts[98]:.2f} ms, most {latencies[-1]:.2f} ms")
    for failure in failures:
        print(f"FAILED        {failure}")
    return 1 if failures else 0


def edit(options, path, document, port, key, errors):
    """Edits, breaks and mends the export; answers what went wrong."""
    failures, connection = [], connect(port)

    def visible(name):
        return lambda: get(connection, f"/v1/software/{name}", key)[0] == 200

    def health():
        return json.loads(get(connection, "/readyz", key)[1])

    def add(name):
        record = {"id": name, "name": name, "url": "https://added.example/", "evidence_status": "pending-review"}
        document["software"].append(record)
        replace(path, json.dumps(document, ensure_ascii=False))
        # Timed from here on: writing the file is the editor's time.
        took = until(visible(name), options.visible_within * 5)
        print(f"edit          {name} visible after {'never' if took is None else f'{took:.2f} s'}")
        if took is None or took > options.visible_within:
            failures.append(f"{name} wasn't visible within {options.visible_within} s")

    for number in range(1, options.edits + 1):
        add(f"reload-edit-{number}")
    replace(path, '{\n  "name": oops\n}')
    told = until(lambda: health()["status"] == "degraded", options.visible_within * 5)
    print(f"broken edit   told after {'never' if told is None else f'{told:.2f} s'}")
    if told is None:
        failures.append("health didn't tell of the broken edit")
    else:
        print(f"              {health()['reasons'][0]['detail']}")
    if not visible(f"reload-edit-{options.edits}")() and options.edits:
        failures.append("the last good generation wasn't served any more")
    errors.flush()
    if f"{path.name}:2:" not in pathlib.Path(errors.name).read_text(encoding="utf-8"):
        failures.append("standard error doesn't name line and column of the broken edit")
    add("reload-mended")
    if until(lambda: health()["status"] == "ready", options.visible_within * 5) is None:
        failures.append("health wasn't ready again after the mended edit")
    return failures


if __name__ == "__main__":
    sys.exit(main())
