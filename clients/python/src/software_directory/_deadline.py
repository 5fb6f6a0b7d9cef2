"""A deadline for a whole blocking attempt: connecting, sending, headers and body together.

The HTTP library's timeouts bound each single read, so a server that sends a byte now and then could hold a caller for
ever. The asynchronous client is simply cancelled; a blocking one has to be told at every step how much time is left.
That is done beneath the library, in the network backend it lets one replace, so that headers that trickle are bounded
as well.

The system's name lookup is the one step that can't be told. With another transport there is no such place: there each
read is bounded, and the sum between two chunks of the body.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import httpcore
import httpx

if TYPE_CHECKING:
    import ssl
    from collections.abc import Iterable, Iterator

_deadline: ContextVar[float | None] = ContextVar("software_directory_deadline", default=None)


@contextmanager
def deadline_after(seconds: float | None) -> Iterator[None]:
    """Bound all reads and writes of this thread within the block."""
    token = _deadline.set(None if seconds is None else time.monotonic() + seconds)
    try:
        yield
    finally:
        _deadline.reset(token)


def remaining_seconds(at_most: float | None = None) -> float | None:
    """Return the time left, or `at_most` if that is shorter; raise the library's timeout if there is none."""
    deadline = _deadline.get()
    if deadline is None:
        return at_most
    remaining = deadline - time.monotonic()
    if remaining <= 0:
        raise httpx.ReadTimeout("the time for the whole attempt is over")
    return remaining if at_most is None else min(remaining, at_most)


class _DeadlineStream(httpcore.NetworkStream):
    def __init__(self, inner: httpcore.NetworkStream) -> None:
        self._inner = inner

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._inner.read(max_bytes, timeout=remaining_seconds(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._inner.write(buffer, timeout=remaining_seconds(timeout))

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        return _DeadlineStream(self._inner.start_tls(ssl_context, server_hostname, remaining_seconds(timeout)))

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)


class _DeadlineBackend(httpcore.NetworkBackend):
    def __init__(self) -> None:
        self._inner = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        return _DeadlineStream(
            self._inner.connect_tcp(host, port, remaining_seconds(timeout), local_address, socket_options)
        )


class _Body(httpx.SyncByteStream):
    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __iter__(self) -> Iterator[bytes]:
        with _translated():
            yield from self._stream

    def close(self) -> None:
        self._stream.close()


class DeadlineTransport(httpx.BaseTransport):
    """The library's own way to a server, but with deadlines."""

    def __init__(self, ssl_context: ssl.SSLContext) -> None:
        self._pool = httpcore.ConnectionPool(
            ssl_context=ssl_context,
            max_connections=100,
            max_keepalive_connections=20,
            keepalive_expiry=5.0,
            network_backend=_DeadlineBackend(),
        )

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        address = httpcore.URL(
            scheme=request.url.raw_scheme,
            host=request.url.raw_host,
            port=request.url.port,
            target=request.url.raw_path,
        )
        with _translated():
            response = self._pool.handle_request(
                httpcore.Request(request.method, address, headers=request.headers.raw, extensions=request.extensions)
            )
        return httpx.Response(
            response.status,
            headers=response.headers,
            stream=_Body(response.stream),
            extensions=response.extensions,
        )

    def close(self) -> None:
        self._pool.close()


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except httpcore.TimeoutException as error:
        raise httpx.ReadTimeout(str(error)) from error
    except httpcore.ConnectError as error:
        raise httpx.ConnectError(str(error)) from error
    except httpcore.NetworkError as error:
        raise httpx.NetworkError(str(error)) from error
    except (httpcore.ProtocolError, httpcore.UnsupportedProtocol, httpcore.ProxyError) as error:
        raise httpx.ProtocolError(str(error)) from error
