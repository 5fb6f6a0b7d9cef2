"""A steady load on a server over HTTP, with the outcome of each request."""

import collections
import http.client
import itertools
import random
import threading
import time
import urllib.parse

# How many requests are in progress at once.
CALLERS = 8
# A caller's pause after each request, needed because three nodes run on the same two processors.
PAUSE_SECONDS = 0.02
# How long after a fault requests may still fail.
GRACE_SECONDS = 2
# How many requests after the grace period it takes to reach a verdict.
ENOUGH = 400
# Longer than a server takes to respond to any request.
TIMEOUT_SECONDS = 20

Sample = collections.namedtuple("Sample", "begin seconds kind status detail")


class Requests:
    """Paths for four kinds of requests. No path repeats, because a cached response says nothing about the cluster."""

    def __init__(self, products, seed=0):
        self.ids = [product["id"] for product in products]
        self.words = sorted({word for product in products for word in product["name"].lower().split() if word.isalnum()})
        self.categories = sorted({of["id"] for product in products for of in product["categories"]})
        self.random, self.numbers, self.lock = random.Random(seed), itertools.count(), threading.Lock()

    def next(self):
        with self.lock:
            number, pick = next(self.numbers), self.random.choice
            words, page = f"{pick(self.words)} {pick(self.words)}", f"limit={1 + number % 40}&offset={number // 40 % 40}"
            kind = ("search", "lookup", "list", "facets")[number % 4]
            return kind, {
                "search": f"/v1/search?q={urllib.parse.quote(words)}&{page}",
                "lookup": f"/v1/software/{urllib.parse.quote(pick(self.ids), safe='')}",
                "list": f"/v1/software?category={urllib.parse.quote(pick(self.categories))}&{page}",
                "facets": f"/v1/search?q={urllib.parse.quote(words)}&facets=category&facets=tags&facets=rating&limit={1 + number % 40}",
            }[kind]


class Load:
    """Callers that send requests until the load is stopped."""

    def __init__(self, server, requests):
        (url, self.headers), self.requests = server, requests
        self.address = urllib.parse.urlsplit(url).netloc
        self.samples, self.is_over = [], threading.Event()
        self.callers = [threading.Thread(target=self.call, daemon=True) for _ in range(CALLERS)]
        for caller in self.callers:
            caller.start()

    def call(self):
        connection = http.client.HTTPConnection(self.address, timeout=TIMEOUT_SECONDS)
        while not self.is_over.is_set():
            kind, path = self.requests.next()
            begin = time.monotonic()
            try:
                connection.request("GET", path, headers=self.headers)
                response = connection.getresponse()
                body = response.read()
                status, detail = response.status, "" if response.status == 200 else body[:300].decode(errors="replace")
            except (OSError, http.client.HTTPException) as error:
                connection.close()
                status, detail = "none", repr(error)
            self.samples.append(Sample(begin, time.monotonic() - begin, kind, status, f"{path}: {detail}"))
            time.sleep(PAUSE_SECONDS)

    def until(self, count, after):
        """Waits until this many requests that started after this instant have finished."""
        while sum(sample.begin > after for sample in list(self.samples)) < count:
            time.sleep(0.05)

    def stop(self):
        self.is_over.set()
        for caller in self.callers:
            caller.join()

    def end(self, fault, begin, grace=GRACE_SECONDS):
        """Waits for enough requests after the grace period, prints the outcomes since the fault, and returns the requests that
        failed after the grace period."""
        self.until(ENOUGH, begin + grace)
        self.stop()
        early = [of for of in self.samples if of.begin < begin + grace and of.begin + of.seconds >= begin]
        later = [of for of in self.samples if of.begin >= begin + grace]
        print(f"{fault}:")
        for name, samples in ((f"first {grace} s", early), ("later", later)):
            if samples:
                print(f"    {name}: {summary(samples)}")
        failed = [of for of in later if of.status != 200]
        for sample in [*[of for of in early if of.status != 200][:3], *failed[:3]]:
            print(f"    {sample.kind} {sample.status} after {sample.seconds:.2f} s: {sample.detail}")
        return failed


def summary(samples):
    statuses = collections.Counter(of.status for of in samples)
    times = sorted(of.seconds for of in samples)
    longest = max(samples, key=lambda of: of.seconds)
    parts = [f"{len(samples)} requests", ", ".join(f"{count} x {status}" for status, count in statuses.most_common())]
    parts += [f"p50 {times[len(times) // 2] * 1000:.0f} ms, p99 {times[len(times) * 99 // 100] * 1000:.0f} ms"]
    return "; ".join([*parts, f"longest {longest.seconds * 1000:.0f} ms ({longest.kind})"])
