"""What the timeout bounds, on every transport.

The stub sends a byte every 50 ms, long before any single read would time out. A client without an overall deadline
would keep reading until the stub stops sending.
"""

from __future__ import annotations

import asyncio
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from driver import DRIVERS, Driver
from software_directory import ApiTimeoutError, AsyncSoftwareDirectory, SoftwareDirectory

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stub import Stub

TIMEOUT_SECONDS = 0.3
OPTIONS: dict[str, Any] = {"api_key": "key", "timeout": TIMEOUT_SECONDS, "max_retries": 0}


@pytest.mark.parametrize("action", ["hang", "hang_body", "trickle_body"])
def test_an_attempt_ends_within_its_timeout(action: str, driver: Driver, stub: Stub) -> None:
    with (
        hanging(stub, action) as base_url,
        driver(base_url=base_url, **OPTIONS) as client,
        pytest.raises(ApiTimeoutError, match=r"within 0\.3 s"),
    ):
        client.call("software.list")


@pytest.mark.parametrize("action", ["hang", "hang_body", "trickle_body"])
@pytest.mark.parametrize("way", ["proxy", "transport", "http_client"])
def test_the_timeout_bounds_every_transport(way: str, action: str, stub: Stub, monkeypatch: pytest.MonkeyPatch) -> None:
    with ExitStack() as closing:
        base_url = closing.enter_context(hanging(stub, action))
        brought: dict[str, Any] = {}
        if way == "proxy":
            address = httpx.URL(base_url)
            monkeypatch.setenv("http_proxy", f"http://{address.host}:{address.port}")
            base_url = f"http://directory.invalid{address.path}"
        elif way == "transport":
            brought["transport"] = httpx.HTTPTransport()
        else:
            brought["http_client"] = closing.enter_context(httpx.Client(timeout=None))
        client = closing.enter_context(SoftwareDirectory(base_url=base_url, **OPTIONS, **brought))
        with pytest.raises(ApiTimeoutError):
            client.software.list()


@pytest.mark.parametrize("name", ["asyncio", "trio"])
def test_trickling_headers_are_bounded_asynchronously(name: str, stub: Stub) -> None:
    with (
        hanging(stub, "trickle_head") as base_url,
        DRIVERS[name](base_url=base_url, **OPTIONS) as client,
        pytest.raises(ApiTimeoutError, match=r"within 0\.3 s"),
    ):
        client.call("software.list")


def test_a_blocking_body_is_checked_after_each_chunk() -> None:
    transport = Trickle(seconds_per_chunk=4)
    with SoftwareDirectory(
        api_key="key", base_url="http://a", timeout=10, max_retries=0, transport=transport
    ) as client:
        client._caller.clock = lambda: transport.now
        with pytest.raises(ApiTimeoutError, match="within 10 s"):
            client.software.list()

    # The deadline of 10 seconds was checked after 4, 8 and 12 seconds.
    assert transport.now == 12


def test_a_cancelled_call_releases_its_connection() -> None:
    class Held(httpx.AsyncBaseTransport):
        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            if request.url.path.endswith("held"):
                await asyncio.Event().wait()
            return httpx.Response(200, json={"data": {"id": "last"}})

    async def main() -> None:
        async with AsyncSoftwareDirectory(
            api_key="key", base_url="http://a", transport=Held(), max_connections=1
        ) as client:
            held = asyncio.ensure_future(client.software.get("held"))
            queued = asyncio.ensure_future(client.software.get("queued"))
            last = asyncio.ensure_future(client.software.get("last"))
            await asyncio.sleep(0)
            for task in (queued, held):
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
            assert (await last)["id"] == "last"
            assert client._caller.limiter._free == 1

    asyncio.run(main())


def test_without_a_timeout_a_slow_response_arrives(driver: Driver, stub: Stub) -> None:
    base_url, _ = stub.play([{"status": 200, "headers": {"content-type": "application/json"}, "json": {"data": {}}}])
    with driver(api_key="key", base_url=base_url, timeout=None) as client:
        assert client.call("software.get", "a") == {}


class Trickle(httpx.BaseTransport):
    """Responds with an endless body. Each chunk advances the transport's own clock by `seconds_per_chunk`."""

    def __init__(self, seconds_per_chunk: float) -> None:
        self.now = 0.0
        self._step = seconds_per_chunk

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        def chunks() -> Iterator[bytes]:
            while True:
                self.now += self._step
                yield b" "

        return httpx.Response(200, content=chunks(), request=request)


@contextmanager
def hanging(stub: Stub, action: str) -> Iterator[str]:
    """Play one response that never ends."""
    base_url, script = stub.play([{"action": action, "status": 200, "headers": {}, "json": {"data": []}}])
    try:
        yield base_url
    finally:
        script.over.set()
