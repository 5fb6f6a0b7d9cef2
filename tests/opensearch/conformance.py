"""Compares the APIs of two servers for the same directory, one with the embedded engine and one with a cluster.

    conformance.py --binary BINARY --data FOLDER [--queries FILE] [--limit N]

Takes the cluster's addresses from OPENSEARCH_URLS. Fills the cluster, starts both servers, and sends both the same
requests. The bodies must be equal, except for scores. Ranked hits may trade places if their scores differ by less than
half a percent. Records, their entity tags and downloads must be identical byte for byte.
"""

import argparse
import contextlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

TOLERANCE = 0.005
# The embedded engine reranks only this many hits.
RERANKED = 200
ATTRIBUTES = ("standards", "deployment", "languages", "vendor", "tags")
QUERIES = [
    "permit to work", "audit", "audits", "iso 9001", "iso9001", "lockout tagout", "saftey", "risk assesment", "ehs", "open source",
    "alternative to excel", "jira vs trello", "not windows", '"permit to work"', '"open source" -audit', "monitoring -prometheus",
    "pe", "p", "c++", ".net", "zürich", "document management system", "a the of", "qqqqqq", "calendar server self hosted",
    "kubernetes", "git hosting", "password manager", "backup tool", "time tracking software", "media player", "web server",
]


@contextlib.contextmanager
def server(binary, *arguments, log="warn", stderr=None):
    """Runs a server. Yields its address and the header with its key."""
    process = subprocess.Popen(
        [binary, "--listen", "127.0.0.1:0", "--log", log, *arguments], stdout=subprocess.PIPE, stderr=stderr, text=True
    )
    try:
        key = None
        for line in process.stdout:
            if found := re.search(r"Bearer (\S+)' '(http://[^/]+)/", line):
                key, url = found.groups()
                break
        if not key:
            sys.exit("a server didn't start")
        yield url, {"Authorization": f"Bearer {key}"}
    finally:
        process.terminate()
        process.wait()


def ask(server, path):
    url, headers = server
    for _ in range(30):
        try:
            with urllib.request.urlopen(urllib.request.Request(url + path, headers=headers), timeout=60) as response:
                return response.status, json.load(response)
        except urllib.error.HTTPError as error:
            body = json.load(error)
            if error.code == 429 or (error.code == 503 and body.get("code") == "overloaded"):
                time.sleep(int(error.headers.get("Retry-After", 1)))
                continue
            return error.code, body
    sys.exit(f"{path}: no answer")


def fetch(server, path, method="GET", **headers):
    """The status, the headers that must match, and the body's bytes."""
    url, key = server
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    request = urllib.request.Request(url + path, headers=key | headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            status, fields, body = response.status, response.headers, response.read()
    except urllib.error.HTTPError as error:
        # A problem document contains its request's id.
        status, fields, body = error.code, error.headers, b""
    names = ("etag", "content-length", "content-range", "content-encoding", "content-type", "content-disposition")
    return status, {name: fields[name] for name in names if status < 400}, body


def raw(score):
    """The score within a tier, and the tier."""
    tier, share = int(score), score % 1
    return tier, 10 * share / (1 - share)


def is_near(one, other):
    (tier, one), (other_tier, other) = raw(one), raw(other)
    return tier == other_tier and abs(one - other) <= TOLERANCE * max(one, other, 0.5 if tier == 4 else 0)


def without_scores(value):
    if isinstance(value, dict):
        drop = {"score", "request_id"}
        return {name: without_scores(of) for name, of in value.items() if name not in drop}
    return [without_scores(of) for of in value] if isinstance(value, list) else value


def difference(path, embedded, cluster):
    """Describes the difference: None if only scores differ, "near" if nearly equal hits have swapped places."""
    if embedded[0] != cluster[0]:
        return f"status {embedded[0]} and {cluster[0]}: {cluster[1]}"
    one, other = embedded[1], cluster[1]
    if without_scores(one) == without_scores(other):
        return None
    for name in one.keys() | other.keys():
        if name != "data" and without_scores(one.get(name)) != without_scores(other.get(name)):
            return f"{name}: {without_scores(one.get(name))} and {without_scores(other.get(name))}"
    hits, others = one["data"], other["data"]
    if path.startswith("/v1/suggest"):
        # Suggestions have no scores. Those with nearly equal ranks may swap places, and the last one
        # may differ.
        def by_id(data):
            return {kind: sorted(of, key=str) for kind, of in without_scores(data).items()}

        def but_last(data):
            return {kind: of[:-1] for kind, of in without_scores(data).items()}

        same = by_id(hits) == by_id(others) or but_last(hits) == but_last(others)
        return "near" if same else f"data: {hits} and {others}"
    if not isinstance(hits, list) or not hits or "score" not in hits[0]:
        return f"data: {str(hits)[:300]} and {str(others)[:300]}"
    if len(hits) != len(others):
        return f"{len(hits)} hits and {len(others)}"
    by_id = {hit["id"]: hit for hit in hits}
    for place, (hit, there) in enumerate(zip(hits, others)):
        if hit["id"] == there["id"]:
            if without_scores(hit) != without_scores(there):
                return f"hit {hit['id']}: {without_scores(hit)} and {without_scores(there)}"
            continue
        same = by_id.get(there["id"], there)
        if not is_near(hit["score"], same["score"]):
            return f"place {place}: {hit['id']} {hit['score']} and {there['id']} {same['score']}"
    return "near"


def raw_requests(ids, exports):
    """Requests whose responses are compared byte for byte: path, method and headers."""
    quote = urllib.parse.quote
    for id in ids:
        yield f"/v1/software/{quote(id, safe='')}", "GET", {}
    for id in exports:
        path = f"/v1/exports/{quote(id, safe='')}"
        for method, headers in [
            ("GET", {}), ("HEAD", {}), ("GET", {"accept_encoding": "zstd"}),
            *(
                ("GET", {"range": f"bytes={part}"} | encoding)
                for part in ("0-99", "100000-300000", "1048570-1048590", "-77", "99999999999-")
                for encoding in ({}, {"accept_encoding": "zstd"})
            ),
        ]:
            yield path, method, headers
        yield f"{path}?format=ndjson", "GET", {}


def compare_raw(one, other, ids, exports):
    """The numbers of equal and different responses."""
    equal = different = 0
    for path, method, headers in raw_requests(ids, exports):
        first, second = fetch(one, path, method, **headers), fetch(other, path, method, **headers)
        same = first == second
        if same and first[1].get("etag"):
            # An entity tag from one server must also be current on the other server.
            again = fetch(other, path, method, if_none_match=first[1]["etag"], **headers)
            same = again[0] == 304 and not again[2]
        equal, different = equal + same, different + (not same)
        if not same:
            print(f"{method} {path} {headers}\n    {first[:2]} {len(first[2])} bytes, and {second[:2]} {len(second[2])} bytes")
    return equal, different


def attribute_paths(values, queries):
    """Filters and facets for attributes that have these frequent values."""
    quote = urllib.parse.quote
    facets = counted("category", *values)
    for attribute, labels in values.items():
        some = [*labels[:3], *labels[-1:], "no such value"]
        for value in some:
            yield f"/v1/software?{attribute}={quote(value)}&limit=50"
            yield f"/v1/software?{attribute}={quote(value.upper())}&sort=rating"
            yield f"/v1/search?{attribute}={quote(value)}&{facets}"
            yield f"/v1/search?{attribute}={quote(value)}&{attribute}={quote(some[0])}&{facets}&offering_type=software"
        yield f"/v1/software?{attribute}={quote(','.join(labels[:2] or ['a', 'b']))}"
        yield f"/v1/software?{attribute}={quote(','.join([*labels[:1], 'no such value']))}"
        for query in queries[:20]:
            yield f"/v1/search?q={quote(query)}&{attribute}={quote(some[0])}&{facets}&limit=5"
    for query in queries:
        yield f"/v1/search?q={quote(query)}&{facets}&limit=5"


def counted(*names):
    """Parameters for facets."""
    return "&".join(f"facets={name}" for name in names)


def paths(queries, ids, categories, total):
    quote = urllib.parse.quote
    yield from ("/v1/software", "/v1/categories?limit=100", "/v1/glossary?limit=100", "/v1/exports", "/v1/search",
                f"/v1/search?{counted('category', 'offering_type', 'evidence_status', 'rating', *ATTRIBUTES)}",
                "/v1/software/no-such-product", "/v1/software/no-such-product/reviews")
    for sort in ("name", "rating", "review_count", "evidence_checked_on"):
        for offset in (0, 7, total // 2, max(total - 3, 0), total + 5, 19_990, 30_000):
            yield f"/v1/software?sort={sort}&limit=13&offset={offset}"
            yield f"/v1/software?sort={sort}&limit=13&offset={offset}&offering_type=software"
    for category in categories:
        yield f"/v1/software?category={quote(category)}&limit=50"
        yield f"/v1/search?category={quote(category)}&{counted('category', 'rating', 'tags')}"
    for id in ids:
        yield f"/v1/software/{quote(id, safe='')}"
        yield f"/v1/software/{quote(id, safe='')}/reviews"
        yield f"/v1/software/{quote(id, safe='')}/similar?limit=10"
    yield "/v1/software?" + "&".join(f"id={quote(id)}" for id in ids[:20])
    for query in queries:
        q = quote(query)
        yield f"/v1/search?q={q}"
        yield f"/v1/search?q={q}&highlight=true&limit=5&{counted('category', 'tags', 'vendor')}"
        yield f"/v1/search?q={q}&sort=rating&limit=10"
        yield f"/v1/search?q={q}&min_rating=4&{counted('rating', 'category')}"
        yield f"/v1/search?q={q}&limit=20&offset=20"
        yield f"/v1/search?q={q}&limit=5&offset=9990&sort=name"
        yield f"/v1/software?q={q}&limit=10"
        yield f"/v1/suggest?q={q}"
        if categories:
            yield f"/v1/search?q={q}&category={quote(categories[0])}&{counted('category', 'languages')}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--data", required=True)
    parser.add_argument("--queries", help="a file of additional queries, one per line")
    parser.add_argument("--skip-invalid", action="store_true", help="like the program's option")
    parser.add_argument("--shards", default="1", help="number of shards of the product index")
    parser.add_argument("--limit", type=int, default=200, help="maximum number of queries from the file")
    arguments = parser.parse_args()
    urls = os.environ.get("OPENSEARCH_URLS") or sys.exit("OPENSEARCH_URLS isn't set: run this with cluster.py")
    engine = ["--engine", "opensearch", "--engine-url", urls]
    queries = list(QUERIES)
    if arguments.queries:
        lines = pathlib.Path(arguments.queries).read_text().splitlines()
        queries += [line.split("\t")[-1] for line in lines if line.strip()][: arguments.limit]
    # A cluster doesn't rank by meaning.
    data = ["--data", arguments.data, "--meaning", "off", *(["--skip-invalid"] if arguments.skip_invalid else [])]
    subprocess.run([arguments.binary, "--reindex", *data, *engine, "--engine-shards", arguments.shards], check=True)
    with contextlib.ExitStack() as stack:
        folders = [stack.enter_context(tempfile.TemporaryDirectory()) for _ in range(2)]
        one = stack.enter_context(server(arguments.binary, *data, "--index", folders[0]))
        other = stack.enter_context(server(arguments.binary, "--index", folders[1], *engine))
        total = ask(one, "/v1/software?limit=1")[1]["pagination"]["total"]
        step = max(total // 12, 1)
        ids = [
            ask(one, f"/v1/software?limit=1&offset={offset}")[1]["data"][0]["id"] for offset in range(0, total, step)
        ]
        categories = [category["id"] for category in ask(one, "/v1/categories?limit=3")[1]["data"]]
        exports = [export["id"] for export in ask(one, "/v1/exports")[1]["data"]]
        found = ask(one, f"/v1/search?limit=1&{counted(*ATTRIBUTES)}")[1]["facets"]
        values = {name: [value["value"] for value in found[name]] for name in ATTRIBUTES}
        equal, different = compare_raw(one, other, ids, exports)
        counts = {"records_and_downloads": {"equal": equal, "different": different}}
        groups = {"api": paths(queries, ids, categories, total), "attributes": attribute_paths(values, queries)}
        for group, requests in groups.items():
            counts[group] = {"equal": 0, "near": 0, "different": 0}
            for path in requests:
                found = difference(path, ask(one, path), ask(other, path))
                counts[group]["equal" if found is None else "near" if found == "near" else "different"] += 1
                if found not in (None, "near"):
                    print(f"{path}\n    {found[:1500]}")
    print(json.dumps({"products": total, "shards": int(arguments.shards), **counts}))
    sys.exit(1 if any(group["different"] for group in counts.values()) else 0)


if __name__ == "__main__":
    main()
