"""What pages cost: CPU time relative to the API calls whose data they show, time to first byte, and bytes of the first
view."""

import http.client
import json
import re
import statistics
import time
import urllib.parse

from server import fail, quoted

# The limits: a page's CPU time relative to its API calls, both before compression; the time to the
# first byte of the home and product pages with Debian's export; the bytes and files of a first view.
MOST_CPU = 3.0
MOST_FIRST_BYTE_MS = 5.0
MOST_BYTES, MOST_FILES = 60_000, 12
FIXED_FACETS = ["category", "offering_type", "evidence_status", "rating"]
ACCEPT = {"Accept": "text/html"}


class Reader:
    """A persistent connection, with a session for pages and a key for the API."""

    def __init__(self, server):
        self.server = server
        connection = http.client.HTTPConnection(server.address, timeout=60)
        key = server.headers["Authorization"].removeprefix("Bearer ")
        connection.request("POST", "/sign-in", urllib.parse.urlencode({"key": key}))
        response = connection.getresponse()
        response.read()
        if response.status != 303:
            fail(f"signing in returned {response.status}")
        self.cookie = {**ACCEPT, "Cookie": response.headers["Set-Cookie"].split(";")[0]}
        self.connection = connection

    def get(self, path, **more):
        """Requests a path. Returns the headers, the body, and the milliseconds to the first byte."""
        headers = self.server.headers if path.startswith("/v1/") else self.cookie
        began = time.perf_counter()
        self.connection.request("GET", path, headers={**headers, **more})
        response = self.connection.getresponse()
        first_byte = 1000 * (time.perf_counter() - began)
        body = response.read()
        if response.status != 200:
            fail(f"{path} returned {response.status}")
        return response.headers, body, first_byte


def cases(reader, ids, queries):
    """For each name: how many pages there are, each page's path, and the API calls whose data it shows."""
    attributes = json.loads(reader.get("/v1/attributes")[1])["data"]
    built_in = ["standards", "deployment", "languages", "vendor", "tags"]
    names = [of["property"] for of in attributes]
    facets = FIXED_FACETS + [name if name in built_in else f"attribute.{name}" for name in names]

    def faceted(names):
        return "".join(f"&facets={quoted(name)}" for name in names)

    categories = [of["id"] for of in json.loads(reader.get("/v1/categories")[1])["data"] if of["software_count"]]
    found = {
        "home": (1, lambda at: "/", lambda at: [
            "/v1/categories", "/v1/search?sort=-evidence_checked_on&limit=5", "/v1/exports"]),
        "results": (len(queries), lambda at: f"/?q={quoted(queries[at])}", lambda at: [
            f"/v1/search?q={quoted(queries[at])}&highlight=true{faceted(facets)}"]),
        "results, cached": (20, lambda at: f"/?q={quoted(queries[-1 - at])}", lambda at: [
            f"/v1/search?q={quoted(queries[-1 - at])}&highlight=true{faceted(facets)}"]),
        "product": (len(ids), lambda at: f"/software/{quoted(ids[at])}", lambda at: [
            f"/v1/software/{quoted(ids[at])}", f"/v1/reviews/{quoted(ids[at])}?limit=10",
            f"/v1/software/{quoted(ids[at])}/similar?limit=5"]),
    }
    if categories:
        of_category = faceted(name for name in facets if name != "category")
        found["category"] = (len(categories), lambda at: f"/categories/{quoted(categories[at])}", lambda at: [
            f"/v1/categories/{quoted(categories[at])}", f"/v1/search?category={quoted(categories[at])}{of_category}"])
    return found


def cost_ms(reader, paths):
    began = reader.server.cpu_seconds()
    for path in paths:
        reader.get(path)
    return (reader.server.cpu_seconds() - began) * 1e3


def first_view(reader, path):
    """The number of bytes and files in a page and everything it loads, requested the way a browser does."""
    coded = {"Accept-Encoding": "gzip, zstd"}
    _, html, _ = reader.get(path)
    loaded = set(re.findall(r'(?:src|href)="([^"]*/assets/[^"]+)"', html.decode()))
    seen = [reader.get(at, **coded) for at in [path, *sorted(loaded)]]
    return sum(len(body) + len(str(headers)) for headers, body, _ in seen), len(seen)


def measure(server, ids, queries, rounds, count):
    """Lines of a table: the median round of `count` requests per side, with the page and the API taking turns. Each side sends
    distinct queries only once, so that no search is cached."""
    reader = Reader(server)
    lines = ["| page | CPU µs | its API calls, CPU µs | ratio | bound | first byte ms | first view, bytes | files |",
             "|---|---|---|---|---|---|---|---|"]
    for name, (number, page, calls) in cases(reader, ids, queries).items():
        if name == "results" and number < 2 * count * rounds + 40:
            fail(f"{number} queries are too few for {rounds} rounds of {count}")
        costs, next_query = [], 0
        for path in [page(0), *calls(0)]:
            reader.get(path)
        for round_number in range(rounds):
            cost = {}
            for side in ["page", "calls"][::-1 if round_number % 2 else 1]:
                places = [(next_query + step) % number for step in range(count)]
                next_query += count if name == "results" else 0
                paths = [page(at) for at in places] if side == "page" else [call for at in places for call in calls(at)]
                cost[side] = 1000 * cost_ms(reader, paths) / count
            costs.append(cost)
        ratio = statistics.median(cost["page"] / cost["calls"] for cost in costs)
        first_byte = statistics.median(reader.get(page(at % number))[2] for at in range(200))
        size, files = first_view(reader, page(0))
        missed = ratio > MOST_CPU or size > MOST_BYTES or files > MOST_FILES
        missed |= name in ["home", "product"] and first_byte > MOST_FIRST_BYTE_MS
        page_us, calls_us = (statistics.median(cost[side] for cost in costs) for side in ["page", "calls"])
        lines.append(f"| {name} | {page_us:.0f} | {calls_us:.0f} | {ratio:.2f} | {MOST_CPU:.0f}{', missed' if missed else ''} "
                     f"| {first_byte:.2f} | {size:,} | {files} |")
    return lines
