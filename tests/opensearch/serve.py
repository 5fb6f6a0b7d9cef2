"""Servers on a cluster: they follow its generations, and cope with a missing cluster or missing indices.

    cluster.py -- python3 tests/opensearch/serve.py --binary BINARY --data FOLDER
"""

import argparse
import contextlib
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

from conformance import server

FOLLOWED_SECONDS = 2
# A node takes a few seconds to start.
RECOVERED_SECONDS = 120


def control(line):
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(os.environ["OPENSEARCH_CONTROL"])
        connection.sendall(line.encode() + b"\n")
        return json.loads(connection.makefile().readline())


def ask(server, path):
    """Status, headers and body."""
    url, headers = server
    try:
        with urllib.request.urlopen(urllib.request.Request(url + path, headers=headers), timeout=20) as response:
            return response.status, response.headers, json.load(response)
    except urllib.error.HTTPError as error:
        return error.code, error.headers, json.load(error)


def cluster(method, path):
    """Sends a request directly to a node, and returns the response."""
    url = f"{os.environ['OPENSEARCH_URLS'].split(',')[0]}/{path}"
    with urllib.request.urlopen(urllib.request.Request(url, method=method), timeout=60) as response:
        return json.load(response)


def wait(what, seconds, is_done):
    begun = time.monotonic()
    while not is_done():
        if time.monotonic() - begun > seconds:
            sys.exit(f"{what}: not within {seconds} s")
        time.sleep(0.05)
    print(f"{what}: after {time.monotonic() - begun:.1f} s")


def check(what, is_right):
    if not is_right:
        sys.exit(f"{what}: not so")
    print(f"{what}: yes")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--data", required=True)
    arguments = parser.parse_args()
    engine = ["--engine", "opensearch", "--engine-url", os.environ["OPENSEARCH_URLS"]]

    def reindex(data):
        subprocess.run([arguments.binary, "--reindex", "--data", data, *engine], check=True)

    with contextlib.ExitStack() as stack:
        index, data = (stack.enter_context(tempfile.TemporaryDirectory()) for _ in range(2))
        served = stack.enter_context(server(arguments.binary, "--index", index, *engine))

        def status(path):
            return ask(served, path)[0]

        def generation():
            return ask(served, "/v1/software?limit=1")[1].get("X-Generation")

        check("without a generation, the server isn't ready", status("/readyz") == 503)
        reindex(arguments.data)
        wait("the server has loaded the first generation", FOLLOWED_SECONDS, lambda: status("/readyz") == 200)
        files = sorted(pathlib.Path(arguments.data).glob("*.json"))[:-1]
        export = next(file for file in files if json.loads(file.read_text())["software"])
        record = f"/v1/software/{json.loads(export.read_text())['software'][0]['id']}"
        before, tag = generation(), ask(served, record)[1]["ETag"]
        for file in files:
            shutil.copy(file, data)
        reindex(data)
        wait("the server has switched to another generation", FOLLOWED_SECONDS, lambda: generation() != before)
        check("a record that didn't change has the same entity tag", ask(served, record)[1]["ETag"] == tag)

        after, nodes = generation(), [node["name"] if isinstance(node, dict) else node for node in control("nodes")]
        for node in nodes:
            control(f"kill {node}")
        path = "/v1/search?q=risk"
        wait("without the cluster, searches return 503", 5, lambda: status(path) == 503)
        _, headers, body = ask(served, path)
        check("the code is index_unavailable", body["code"] == "index_unavailable" and headers["Retry-After"] == "5")
        wait("without the cluster, the server isn't ready", 10, lambda: status("/readyz") == 503)
        check("a record also returns 503", status("/v1/software/demo-permit-penguin") == 503)
        check("a download also returns 503", status(f"/v1/exports/{export.stem}") == 503)
        check("categories are in memory", status("/v1/categories") == 200)
        for node in nodes:
            control(f"start {node}")
        wait("once the cluster is back, the server is ready again", RECOVERED_SECONDS, lambda: status("/readyz") == 200)
        wait("searches succeed again", 5, lambda: status(path) == 200)
        check("the generation is the same", generation() == after)

        def lose(what, indices, data):
            """Deletes indices and rebuilds them with the same command as before."""
            cluster("DELETE", indices)
            offset = iter(range(1, 100))
            check(f"{what}: a search returns 503", status(f"{path}&offset={next(offset)}") == 503)
            check(f"{what}: a record returns 503", status(record) == 503)
            wait(f"{what}: a server isn't ready", FOLLOWED_SECONDS, lambda: status("/readyz") == 503)
            wait(f"{what}: /readyz reports why", 5, lambda: "generation_lost" in ask(served, "/readyz")[2]["detail"])
            reindex(data)
            wait(f"{what}: the server is ready after --reindex", FOLLOWED_SECONDS, lambda: status("/readyz") == 200)
            check(f"{what}: searches succeed", status(f"{path}&offset={next(offset)}") == 200)
            check(f"{what}: the generation is the same", generation() == after)

        published = cluster("GET", "software-directory-state/_doc/published")["_source"]["index"]
        lose("the published index deleted", published, data)
        lose("all indices deleted", "software-directory-*", data)
        reindex(arguments.data)
        wait("a server follows a generation", FOLLOWED_SECONDS, lambda: generation() == before)
        published = cluster("GET", "software-directory-state/_doc/published")["_source"]
        reindex(data)
        wait("the server has switched to the previous generation", FOLLOWED_SECONDS, lambda: generation() == after)
        again = cluster("GET", "software-directory-state/_doc/published")["_source"]
        check("the index wasn't rebuilt", again["index"] == published["previous"])


if __name__ == "__main__":
    main()
