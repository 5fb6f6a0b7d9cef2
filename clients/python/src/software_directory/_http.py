"""How a request reaches the HTTP library: over a transport, or over the caller's own client.

A transport is used directly, because the library's client would keep cookies and log each address. The caller's own
client keeps its headers, hooks and proxies, but not its credentials and redirects, so the key goes nowhere else.
"""

from __future__ import annotations

import ssl
from collections.abc import Awaitable
from typing import TYPE_CHECKING, Callable
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpx

if TYPE_CHECKING:
    from ._protocol.messages import Request

Open = Callable[["Request"], httpx.Response]
AsyncOpen = Callable[["Request"], Awaitable[httpx.Response]]

MAX_KEEPALIVE_CONNECTIONS = 20


def default_transport(base_url: str, max_connections: int) -> httpx.BaseTransport:
    """Return the transport for a blocking client whose caller didn't pass one."""
    return httpx.HTTPTransport(verify=_trust(base_url), proxy=_proxy_for(base_url), limits=_limits(max_connections))


def default_async_transport(base_url: str, max_connections: int) -> httpx.AsyncBaseTransport:
    """Return the transport for an asynchronous client whose caller didn't pass one."""
    return httpx.AsyncHTTPTransport(
        verify=_trust(base_url), proxy=_proxy_for(base_url), limits=_limits(max_connections)
    )


def over_transport(transport: httpx.BaseTransport) -> Open:
    """Send requests over a transport."""
    return lambda request: transport.handle_request(_bare(request))


def over_async_transport(transport: httpx.AsyncBaseTransport) -> AsyncOpen:
    """Send requests over an asynchronous transport."""
    return lambda request: transport.handle_async_request(_bare(request))


def over_client(client: httpx.Client) -> Open:
    """Send requests over the caller's own client."""

    def send(request: Request) -> httpx.Response:
        built = client.build_request("GET", request.url, headers=request.headers, timeout=request.timeout_seconds)
        return client.send(built, stream=True, auth=None, follow_redirects=False)

    return send


def over_async_client(client: httpx.AsyncClient) -> AsyncOpen:
    """Send requests over the caller's own asynchronous client."""

    async def send(request: Request) -> httpx.Response:
        built = client.build_request("GET", request.url, headers=request.headers, timeout=request.timeout_seconds)
        return await client.send(built, stream=True, auth=None, follow_redirects=False)

    return send


def _bare(request: Request) -> httpx.Request:
    headers = httpx.Headers({"Accept-Encoding": "gzip, deflate", "Connection": "keep-alive"})
    headers.update(request.headers)
    timeouts = dict.fromkeys(("connect", "read", "write", "pool"), request.timeout_seconds)
    return httpx.Request("GET", request.url, headers=headers, extensions={"timeout": timeouts})


def _limits(max_connections: int) -> httpx.Limits:
    return httpx.Limits(max_connections=max_connections, max_keepalive_connections=MAX_KEEPALIVE_CONNECTIONS)


def _trust(base_url: str) -> ssl.SSLContext:
    if urlsplit(base_url).scheme.lower() == "https":
        return httpx.create_ssl_context()
    # Loading the certificates takes longer than most requests. Without TLS an empty context is enough.
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def _proxy_for(base_url: str) -> str | None:
    # The client only ever talks to this address, so the proxy is chosen once.
    parts = urlsplit(base_url)
    proxies = getproxies()
    proxy = proxies.get(parts.scheme.lower()) or proxies.get("all")
    if not proxy or proxy_bypass(parts.hostname or ""):
        return None
    return proxy if "://" in proxy else f"http://{proxy}"
