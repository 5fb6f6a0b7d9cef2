"""Requests and responses as values: how an operation becomes a URL and headers, and what came back."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, Union
from urllib.parse import quote, unquote

if TYPE_CHECKING:
    import httpx

ParameterValue = Union[str, int, float, date, Iterable[str], None]
"""A query parameter's value. `None` leaves the parameter out, and several strings repeat it."""

# The HTTP library sets these itself.
_RESERVED_HEADERS = {"connection", "content-length", "host", "transfer-encoding"}
_CONDITIONS = {"if-match", "if-modified-since", "if-none-match", "if-range", "if-unmodified-since", "range"}
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_HEADER_VALUE = re.compile(r"[\t\x20-\x7e]*")


@dataclass(frozen=True)
class Call:
    """One API operation with its parameters; independent of host and key."""

    path: str
    query: tuple[tuple[str, str], ...] = ()
    accept: str = "application/json"
    headers: tuple[tuple[str, str], ...] = ()
    """The caller's own headers."""
    is_raw: bool = False
    """Whether a 304 is returned like any other response."""
    is_download: bool = False
    """Whether the body may be large. If so, it isn't cached, and may take any amount of time in total."""

    def at_offset(self, offset: int) -> Call:
        """Return the same call for the page that starts at `offset`."""
        query = tuple(pair for pair in self.query if pair[0] != "offset")
        return replace(self, query=(*query, ("offset", str(offset))))

    @property
    def is_cacheable(self) -> bool:
        """Whether the response may come from the cache: not if the caller sends conditional headers."""
        return not self.is_download and not any(name.lower() in _CONDITIONS for name, _ in self.headers)


def call(
    template: str,
    *,
    id: str | None = None,
    query: Mapping[str, ParameterValue] | None = None,
    accept: str = "application/json",
    is_download: bool = False,
    extra_headers: Mapping[str, str] | None = None,
    extra_query: Mapping[str, ParameterValue] | None = None,
) -> Call:
    """Create a call from a path template, such as `/v1/software/{id}`, and its parameters."""
    path = template if id is None else template.replace("{id}", path_segment(id))
    pairs = query_pairs({**(query or {}), **(extra_query or {})})
    headers = checked_headers(extra_headers or {})
    return Call(path, tuple(pairs), accept, headers, is_download=is_download)


def raw_call(path: str, query: Mapping[str, ParameterValue] | None, extra_headers: Mapping[str, str] | None) -> Call:
    """Create a call from a path below the base URL, percent-encoding only what needs it."""
    if not isinstance(path, str) or not path.startswith("/"):
        raise ValueError("path must start with a slash, such as /v1/software")
    if "?" in path or "#" in path:
        raise ValueError("path must not contain a query or a fragment; pass the query separately")
    if any(unquote(segment) in {".", ".."} for segment in path.split("/")):
        raise ValueError("path must not contain '.' or '..' segments")
    encoded = quote(path, safe="/%:@!$&'()*+,;=")
    return Call(encoded, tuple(query_pairs(query or {})), "*/*", checked_headers(extra_headers or {}), is_raw=True)


def checked_headers(headers: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Return the caller's headers, except `Authorization`, since the key goes with every request.

    Invalid headers are rejected here, because the HTTP library would quote the value, which may be a secret.
    """
    for name, value in headers.items():
        if not isinstance(name, str) or not _HEADER_NAME.fullmatch(name):
            raise ValueError("extra_headers contains an invalid header name")
        if name.lower() in _RESERVED_HEADERS:
            raise ValueError(f"extra_headers must not contain {name.lower()}")
        if not isinstance(value, str) or not _HEADER_VALUE.fullmatch(value):
            raise ValueError(f"extra_headers: the value of {name} isn't a string of printable ASCII characters")
    return tuple((name, value) for name, value in headers.items() if name.lower() != "authorization")


def path_segment(id: str) -> str:
    """Encode an id, which may be any string, as one path segment."""
    if not isinstance(id, str) or not id:
        # An empty id would silently request the list instead.
        raise ValueError("id must be a non-empty string")
    if id in {".", ".."}:
        # HTTP libraries and proxies resolve these as relative path segments, encoded or not.
        raise ValueError("id must not be '.' or '..', which can't be sent in a path")
    return quote(id, safe="")


def query_pairs(query: Mapping[str, ParameterValue]) -> list[tuple[str, str]]:
    """Convert parameters to the API's format, in the order given."""
    pairs: list[tuple[str, str]] = []
    for name, value in query.items():
        if value is None:
            continue
        if isinstance(value, Iterable) and not isinstance(value, str):
            pairs.extend((name, _scalar(item)) for item in value)
        else:
            pairs.append((name, _scalar(value)))
    return pairs


def _scalar(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return value.date().isoformat()
    if isinstance(value, date):
        return value.isoformat()
    return str(value)


@dataclass(frozen=True)
class Request:
    """The request sent in one attempt."""

    url: str
    headers: dict[str, str] = field(repr=False)
    request_id: str
    timeout_seconds: float | None
    """The limit on each individual wait."""
    is_download: bool = False

    @property
    def total_seconds(self) -> float | None:
        """The limit on the whole attempt; `None` for a download, which takes longer the larger it is."""
        return None if self.is_download else self.timeout_seconds


@dataclass(frozen=True)
class Response:
    """A raw response: status, headers and the whole body.

    Pages have it as `response`, and so do errors if there was one.
    """

    status: int
    headers: httpx.Headers = field(repr=False)
    content: bytes = field(repr=False)
    request_id: str
    """The request's id in the server's log: as the server stated it, or else the one that was sent."""
    attempts: int = 1
    """How many attempts it took; 1 if there was no retry."""
    from_cache: bool = False
    """Whether the body comes from the cache, confirmed by a 304."""

    @property
    def text(self) -> str:
        """The body as text, UTF-8."""
        return self.content.decode("utf-8", errors="replace")

    def json(self) -> Any:
        """Decode the body as JSON."""
        return json.loads(self.content)
