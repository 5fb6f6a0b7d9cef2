"""Faults in a three-node cluster while a server is under load: searches, lookups, lists and facets over HTTP.

    cluster.py --nodes 3 -- python3 tests/opensearch/faults.py --binary BINARY --data FOLDER [--only NAME]

No request that starts two seconds after a fault may fail while other nodes have a copy of each shard. If they don't, or no
node responds, requests get 503, `/readyz` says so, and everything recovers on its own.
"""

import argparse
import contextlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

from conformance import server
from load import Load, Requests
from serve import ask, check, control, wait

SHARDS = 3
NODES = 3
# A node takes a few seconds to start, or longer on a busy machine. After going silent, a node may hold
# a shard for an unfinished search until `search.default_keep_alive` (five minutes) expires, and the
# cluster gives up allocating the copy there after five attempts.
HEALTHY_SECONDS = 420
# Long enough for a node to stall several times.
STALL_SECONDS = 10
RAN, STALLED = 0.15, 0.35


class Cluster:
    """The nodes, contacted directly."""

    def __init__(self):
        self.urls = os.environ["OPENSEARCH_URLS"].split(",")

    def ask(self, path, body=None, method=None):
        """The response from the first node that answers."""
        error = None
        for url in self.urls:
            data = None if body is None else json.dumps(body).encode()
            request = urllib.request.Request(url + path, data, {"Content-Type": "application/json"}, method=method or ("PUT" if data else "GET"))
            try:
                with urllib.request.urlopen(request, timeout=5) as response:
                    return json.load(response)
            except OSError as failure:
                error = failure
        raise error

    def is_healthy(self):
        with contextlib.suppress(OSError):
            health = self.ask("/_cluster/health")
            return health["status"] == "green" and health["number_of_nodes"] == NODES
        return False

    def restore(self):
        """Starts and resumes the nodes, and waits until each shard has its copies."""
        for node in control("nodes"):
            control(f"{'continue' if node['pid'] else 'start'} {node['name']}")
        begun = time.monotonic()
        while not self.is_healthy():
            with contextlib.suppress(OSError):
                self.ask("/_cluster/reroute?retry_failed=true&metric=none", method="POST")
            if time.monotonic() - begun > HEALTHY_SECONDS:
                sys.exit(f"the cluster isn't healthy after {HEALTHY_SECONDS} s")
            time.sleep(1)

    def manager_and_other(self):
        """The names of the manager and of another node."""
        manager = self.ask("/_cat/cluster_manager?format=json")[0]["node"]
        return manager, next(node["name"] for node in control("nodes") if node["name"] != manager)

    def node_count(self):
        """The number of nodes, as reported by the nodes; None while they have no manager."""
        with contextlib.suppress(OSError):
            return self.ask("/_cluster/health?timeout=1s")["number_of_nodes"]
        return None

    def set_disk(self, watermark):
        """Sets how much space must be free on each node's disk; None for the value from the node's configuration."""
        names = ("flood_stage", "high", "low")
        settings = {f"cluster.routing.allocation.disk.watermark.{name}": watermark for name in names}
        self.ask("/_cluster/settings", {"transient": settings})


class Faults:
    """A server that uses a cluster, and faults in the cluster's nodes."""

    def __init__(self, cluster, served, reindex, other_data):
        self.cluster, self.served, self.reindex, self.other_data = cluster, served, reindex, other_data
        products = [ask(served, f"/v1/software?limit=100&offset={offset}")[2]["data"] for offset in (0, 100, 200, 300)]
        self.requests = Requests([product for page in products for product in page])

    def status(self, path):
        return ask(self.served, path)[0]

    def load(self):
        load = Load(self.served, self.requests)
        load.until(100, 0)
        return load

    def one_node(self, name, verb, of_manager):
        manager, other = self.cluster.manager_and_other()
        load, begin = self.load(), time.monotonic()
        control(f"{verb} {manager if of_manager else other}")
        while self.cluster.node_count() != NODES - 1:
            time.sleep(0.05)
        print(f"{name}: the cluster noticed after {time.monotonic() - begin:.1f} s")
        check(f"{name}: no later request fails", not load.end(name, begin))
        ready = ask(self.served, "/readyz")
        check(f"{name}: the server is ready", ready[0] == 200)
        load, begin = self.load(), time.monotonic()
        self.cluster.restore()
        check(f"{name}: no request fails while the node comes back", not load.end(f"{name}, the node comes back", begin, 0))

    def killed_node(self):
        self.one_node("kill -9 of a data node", "kill", of_manager=False)

    def killed_manager(self):
        self.one_node("kill -9 of the manager", "kill", of_manager=True)

    def stopped_node(self):
        self.one_node("SIGSTOP of a data node", "stop", of_manager=False)

    def stopped_manager(self):
        self.one_node("SIGSTOP of the manager", "stop", of_manager=True)

    def slow_node(self):
        """A node that keeps stalling is slow, but never silent for long."""
        name, (_, other) = "a slow node", self.cluster.manager_and_other()
        load, begin = self.load(), time.monotonic()
        while time.monotonic() - begin < STALL_SECONDS:
            control(f"stop {other}")
            time.sleep(STALLED)
            control(f"continue {other}")
            time.sleep(RAN)
        check(f"{name}: no later request fails", not load.end(name, begin))

    def all_nodes(self):
        for verb in ("kill", "stop"):
            name, load = f"{verb} of all nodes", self.load()
            generation = ask(self.served, "/v1/categories")[1]["X-Generation"]
            for node in control("nodes"):
                control(f"{verb} {node['name']}")
            # The query must contain a word from the directory, or the search would be answered from memory.
            word, path = self.requests.words[-1], f"/v1/software/{urllib.parse.quote(self.requests.ids[0], safe='')}"
            wait(f"{name}: a lookup returns 503", 10, lambda: self.status(path) == 503)
            wait(f"{name}: a server isn't ready", 10, lambda: self.status("/readyz") == 503)
            _, headers, body = ask(self.served, f"/v1/search?q={word}&limit=7")
            check(f"{name}: index_unavailable with Retry-After", body["code"] == "index_unavailable" and headers["Retry-After"])
            check(f"{name}: categories are served", self.status("/v1/categories") == 200)
            load.stop()
            others = [of for of in load.samples if of.status not in (200, 503)]
            check(f"{name}: requests return 200 or 503, longest {max(of.seconds for of in load.samples):.1f} s", not others)
            for node in control("nodes"):
                control(f"{'continue' if node['pid'] else 'start'} {node['name']}")
            wait(f"{name}: a server is ready again", HEALTHY_SECONDS, lambda: self.status("/readyz") == 200)
            wait(f"{name}: searches succeed", 60, lambda: self.status(f"/v1/search?q={word}&limit=9") == 200)
            check(f"{name}: the generation is the same", ask(self.served, "/v1/categories")[1]["X-Generation"] == generation)
            self.cluster.restore()

    def red_index(self):
        """Without replicas, a node that dies takes a shard with it."""
        name = "a red index"
        index = self.cluster.ask("/software-directory-state/_doc/published")["_source"]["index"]
        self.cluster.ask(f"/{index}/_settings", {"index": {"auto_expand_replicas": False, "number_of_replicas": 0}})
        shards = self.cluster.ask(f"/_cat/shards/{index}?format=json")
        manager, _ = self.cluster.manager_and_other()
        lost = next(shard["node"] for shard in shards if shard["node"] != manager and shard["state"] == "STARTED")
        control(f"kill {lost}")
        number = iter(range(1000))
        search = "/v1/search?q=red+{}"
        wait(f"{name}: searches return 503", 10, lambda: self.status(search.format(next(number))) == 503)
        status, headers, body = ask(self.served, search.format(next(number)))
        print(f"    {status} {body['code']}: {body['detail']}")
        check(f"{name}: index_unavailable with Retry-After", body["code"] == "index_unavailable" and headers["Retry-After"])
        found = [self.status(f"/v1/software/{urllib.parse.quote(id, safe='')}") for id in self.requests.ids[:60]]
        check(f"{name}: records return 200 or 503, never 404", set(found) == {200, 503})
        print(f"    /readyz: {ask(self.served, '/readyz')[2]}")
        control(f"start {lost}")
        wait(f"{name}: searches recover on their own", HEALTHY_SECONDS, lambda: self.status(search.format(next(number))) == 200)
        self.cluster.ask(f"/{index}/_settings", {"index": {"auto_expand_replicas": "0-1"}})
        self.cluster.restore()

    def full_disk(self):
        """A disk that's above the flood stage."""
        name, before = "a full disk", ask(self.served, "/v1/categories")[1]["X-Generation"]
        self.cluster.set_disk("100000gb")
        wait(f"{name}: the cluster blocks writes", 60, self.is_blocked)
        output = self.reindex(self.other_data, check=False)
        print(f"    exit code {output.returncode}: {output.stderr.strip()[-600:]}")
        check(f"{name}: the build fails, and the error mentions the disk", output.returncode == 1 and "disk is too full" in output.stderr)
        load, begin = self.load(), time.monotonic()
        check(f"{name}: the server keeps serving the published generation", not load.end(name, begin, 0))
        check(f"{name}: that's still the previous generation", ask(self.served, "/v1/categories")[1]["X-Generation"] == before)
        self.cluster.set_disk(None)
        wait(f"{name}: the cluster accepts documents again on its own", 120, lambda: not self.is_blocked())
        self.reindex(self.other_data)
        wait(f"{name}: the server serves the next build", 5, lambda: ask(self.served, "/v1/categories")[1]["X-Generation"] != before)

    def is_blocked(self):
        # The cluster unblocks individual indices before it unblocks creating indices.
        blocks = self.cluster.ask("/_cluster/state/blocks")["blocks"]
        return bool(blocks.get("global")) or any(index.startswith("software-directory-") for index in blocks.get("indices", {}))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--data", required=True)
    parser.add_argument("--only", help="run only the faults whose names contain this")
    arguments = parser.parse_args()
    cluster, engine = Cluster(), ["--engine", "opensearch", "--engine-url", os.environ["OPENSEARCH_URLS"]]
    with contextlib.ExitStack() as stack:
        index, other = (stack.enter_context(tempfile.TemporaryDirectory()) for _ in range(2))
        export = sorted(pathlib.Path(arguments.data).glob("*.json"))[0]
        (pathlib.Path(other) / export.name).write_bytes(export.read_bytes())

        def reindex(data, check=True):
            command = [arguments.binary, "--reindex", "--data", data, "--index", index, "--engine-shards", str(SHARDS), *engine]
            output = subprocess.run(command, capture_output=True, text=True)
            if check and output.returncode != 0:
                sys.exit(f"the fill failed with {output.returncode}: {output.stderr}")
            return output

        reindex(arguments.data)
        cluster.restore()
        served = stack.enter_context(server(arguments.binary, "--index", index, *engine))
        wait("a server is ready", 10, lambda: ask(served, "/readyz")[0] == 200)
        faults = Faults(cluster, served, reindex, other)
        for fault in (
            faults.killed_node, faults.killed_manager, faults.stopped_node, faults.stopped_manager, faults.slow_node,
            faults.all_nodes, faults.red_index, faults.full_disk,
        ):
            if not arguments.only or arguments.only in fault.__name__:
                cluster.restore()
                fault()


if __name__ == "__main__":
    main()
