"""The response cache: what it saves, what it caches and how much."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from software_directory import SoftwareDirectory
from software_directory._protocol.cache import Cache
from software_directory._protocol.messages import Request, Response

if TYPE_CHECKING:
    from driver import Driver

BODY = {"data": {"id": "a"}, "pagination": {"limit": 1, "offset": 0, "total": 0}}


class Tagged:
    """Responds with an ETag, and with 304 if the request has the current one."""

    def __init__(self, **headers: str) -> None:
        self.etag = '"1"'
        self.statuses: list[int] = []
        self.asked: list[str | None] = []
        self._headers = headers

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request.headers.get("If-None-Match"))
        status = 304 if self.asked[-1] == self.etag else 200
        self.statuses.append(status)
        headers = {"ETag": self.etag, "Content-Type": "application/json", "RateLimit": f"r={len(self.asked)}"}
        body = json.dumps({**BODY, "etag": self.etag}) if status == 200 else ""
        return httpx.Response(status, text=body, headers={**headers, **self._headers})


def client_over(server: Tagged, **options: Any) -> SoftwareDirectory:
    return SoftwareDirectory(
        api_key="key",
        base_url="http://a",
        transport=httpx.MockTransport(server),
        **{"cache_max_bytes": 10_000, **options},
    )


def test_a_repeated_call_is_served_from_the_cache(driver: Driver) -> None:
    server = Tagged()
    with driver(
        api_key="key", base_url="http://a", transport=httpx.MockTransport(server), cache_max_bytes=10_000
    ) as client:
        first = client.raw("software.get", "a")
        second = client.raw("software.get", "a")
        other = client.raw("software.get", "b")
        server.etag = '"2"'
        third = client.raw("software.get", "a")

    assert server.statuses == [200, 304, 200, 200]
    assert server.asked == [None, '"1"', None, '"1"']
    assert second.status == 200
    assert second.content == first.content
    assert second.headers["RateLimit"] == "r=2"
    assert second.headers["Content-Type"] == "application/json"
    assert [first.from_cache, second.from_cache, other.from_cache, third.from_cache] == [False, True, False, False]
    assert third.json()["etag"] == '"2"'


def test_a_record_from_the_cache_is_a_copy() -> None:
    with client_over(Tagged()) as client:
        client.software.get("a")["name"] = "changed"
        assert "name" not in client.software.get("a")


def test_the_cache_is_off_by_default() -> None:
    server = Tagged()
    with client_over(server, cache_max_bytes=0) as client:
        client.software.get("a")
        client.software.get("a")
    assert server.asked == [None, None]


def test_the_cache_is_shared_between_options() -> None:
    server = Tagged()
    with client_over(server) as client:
        client.software.get("a")
        client.with_options(timeout=1).software.get("a")
    assert server.statuses == [200, 304]


def test_downloads_are_not_cached() -> None:
    server = Tagged()
    with client_over(server) as client:
        assert client.exports.download("a") == client.exports.download("a")
    assert server.asked == [None, None]


def test_the_callers_own_if_none_match_bypasses_the_cache() -> None:
    server = Tagged()
    with client_over(server) as client:
        assert client.get("/v1/x").status == 200
        assert client.get("/v1/x").from_cache
        answer = client.get("/v1/x", extra_headers={"if-none-match": '"1"'})
    assert (answer.status, answer.from_cache) == (304, False)


def test_different_headers_are_cached_separately() -> None:
    server = Tagged()
    with client_over(server) as client:
        for language in ("de", "fr", "de"):
            client.software.get("a", extra_headers={"Accept-Language": language, "X-Request-Id": f"r-{language}"})
    assert server.statuses == [200, 200, 304]


@pytest.mark.parametrize("headers", [{"Cache-Control": "private, no-store"}, {"ETag": ""}])
def test_uncacheable_responses_are_not_cached(headers: dict[str, str]) -> None:
    server = Tagged(**headers)
    with client_over(server) as client:
        client.software.get("a")
        client.software.get("a")
    assert server.asked == [None, None]


def test_the_least_recently_used_is_evicted_first() -> None:
    cache = Cache(100)
    requests = {name: Request(f"http://a/{name}", {}, "id", None) for name in "abcd"}
    response = Response(200, httpx.Headers({"etag": "1"}), b"x" * 35, "id")
    for name in "abacd":
        if cache.get(requests[name]) is None:
            cache.put(requests[name], response)

    # Each response takes 40 bytes, so two fit. `a` was used after `b`, and `c` before `d`.
    assert [name for name in "abcd" if cache.get(requests[name])] == ["c", "d"]
    cache.put(requests["a"], Response(200, httpx.Headers({"etag": "1"}), b"x" * 101, "id"))
    assert cache.get(requests["a"]) is None
    assert cache._bytes == 80
    cache.put(requests["c"], Response(200, httpx.Headers({"etag": "1"}), b"", "id"))
    assert cache._bytes == 45


@pytest.mark.parametrize("size", [-1, 0.5, True])
def test_an_invalid_cache_size_is_rejected(size: Any) -> None:
    with pytest.raises(ValueError, match="cache_max_bytes must be a whole number, 0 or more"):
        client_over(Tagged(), cache_max_bytes=size)
