"""A cache of responses by URL and ETag, bounded in bytes.

If a request's `If-None-Match` has the current ETag, the server responds with 304, which doesn't count against the
key's quota.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import replace
from typing import TYPE_CHECKING

import httpx

if TYPE_CHECKING:
    from .messages import Request, Response

# Headers that may differ between requests for the same response.
_NOT_IN_KEY = {"authorization", "user-agent", "x-request-id"}
# Headers of a 304 that describe its own, empty body.
_OF_THE_BODY = {"content-encoding", "content-length", "content-type", "transfer-encoding"}


class Cache:
    """An LRU cache of responses, shared between threads."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._bytes = 0
        self._kept: OrderedDict[object, Response] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, request: Request) -> Response | None:
        """Return the cached response for a request, and make it the most recently used."""
        key = _key(request)
        with self._lock:
            response = self._kept.get(key)
            if response is not None:
                self._kept.move_to_end(key)
            return response

    def put(self, request: Request, response: Response) -> None:
        """Cache a response that has an ETag, and evict the least recently used ones if the cache is too large."""
        key = _key(request)
        with self._lock:
            replaced = self._kept.pop(key, None)
            if replaced is not None:
                self._bytes -= _size(replaced)
            if "no-store" in response.headers.get("cache-control", "") or not response.headers.get("etag"):
                return
            if _size(response) > self._max_bytes:
                return
            self._kept[key] = response
            self._bytes += _size(response)
            while self._bytes > self._max_bytes:
                _, dropped = self._kept.popitem(last=False)
                self._bytes -= _size(dropped)


def conditional(request: Request, kept: Response) -> Request:
    """Return a request that gets a 304 as long as the cached response is current."""
    return replace(request, headers={**request.headers, "If-None-Match": kept.headers["etag"]})


def refreshed(kept: Response, not_modified: Response) -> Response:
    """Return the cached response with the headers from its 304: request id, quota, generation."""
    headers = httpx.Headers(kept.headers)
    headers.update([(name, value) for name, value in not_modified.headers.items() if name not in _OF_THE_BODY])
    return replace(not_modified, status=kept.status, headers=headers, content=kept.content, from_cache=True)


def _key(request: Request) -> object:
    headers = ((name.lower(), value) for name, value in request.headers.items())
    return request.url, tuple(sorted(pair for pair in headers if pair[0] not in _NOT_IN_KEY))


def _size(response: Response) -> int:
    return len(response.content) + sum(len(name) + len(value) for name, value in response.headers.raw)
