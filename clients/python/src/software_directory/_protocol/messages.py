"""Requests and responses as values: how an operation becomes an address and headers, and what came back."""

from __future__ import annotations

import json
import platform
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, Union
from urllib.parse import quote

from .._version import __version__

if TYPE_CHECKING:
    import httpx

    from .settings import Settings

ParameterValue = Union[str, int, float, date, Iterable[str], None]
"""What a query parameter may be; `None` leaves it out, several strings repeat it."""

USER_AGENT = f"software-directory-python/{__version__} python/{platform.python_version()}"


@dataclass(frozen=True)
class Call:
    """One operation of the API with its parameters; independent of host and key."""

    path: str
    query: tuple[tuple[str, str], ...] = ()
    accept: str = "application/json"

    def at_offset(self, offset: int) -> Call:
        """Return the same call for the page that starts at `offset`."""
        query = tuple(pair for pair in self.query if pair[0] != "offset")
        return Call(self.path, (*query, ("offset", str(offset))), self.accept)


def call(
    template: str,
    *,
    id: str | None = None,
    query: Mapping[str, ParameterValue] | None = None,
    accept: str = "application/json",
) -> Call:
    """Make a call out of a path template such as `/v1/software/{id}` and its parameters."""
    path = template if id is None else template.replace("{id}", path_segment(id))
    return Call(path, tuple(query_pairs(query or {})), accept)


def path_segment(id: str) -> str:
    """Encode an id, which may be any text, as one segment of a path."""
    if not isinstance(id, str) or not id:
        # An empty one would silently ask for the list instead.
        raise ValueError("id must be a text of at least one character")
    if id in {".", ".."}:
        # HTTP libraries and proxies resolve them as steps within the path, encoded or not.
        raise ValueError("id must not be '.' or '..': no path can carry it")
    return quote(id, safe="")


def query_pairs(query: Mapping[str, ParameterValue]) -> list[tuple[str, str]]:
    """Write parameters as the API reads them, in the order given."""
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
    """What goes over the wire in one attempt."""

    url: str
    headers: dict[str, str] = field(repr=False)
    request_id: str
    timeout_seconds: float | None


def build_request(settings: Settings, call: Call, request_id: str) -> Request:
    """Address a call to the directory and sign it with the key."""
    query = "&".join(f"{quote(name, safe='')}={quote(value, safe='')}" for name, value in call.query)
    return Request(
        url=f"{settings.base_url}{call.path}{'?' if query else ''}{query}",
        headers={
            "Accept": call.accept,
            "Authorization": f"Bearer {settings.api_key}",
            "User-Agent": USER_AGENT,
            "X-Request-Id": request_id,
        },
        request_id=request_id,
        timeout_seconds=settings.timeout_seconds,
    )


@dataclass(frozen=True)
class Response:
    """An answer as it came: status, headers and the whole body.

    Results carry it as `response`, and so do errors for which there was one.
    """

    status: int
    headers: httpx.Headers = field(repr=False)
    content: bytes = field(repr=False)
    request_id: str
    """The request's id in the server's log: the server's word for it, else the one that was sent."""
    attempts: int = 1
    """How many attempts it took, 1 without a retry."""

    @property
    def text(self) -> str:
        """The body as text, UTF-8."""
        return self.content.decode("utf-8", errors="replace")

    def json(self) -> Any:
        """Decode the body as JSON."""
        return json.loads(self.content)
