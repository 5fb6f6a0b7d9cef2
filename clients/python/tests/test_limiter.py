"""The limit on requests in flight. Waiting for a connection doesn't count towards a request's timeout."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import anyio
import httpx
import pytest

from software_directory import AsyncSoftwareDirectory, SoftwareDirectory
from virtual_time import RUNNERS

if TYPE_CHECKING:
    from collections.abc import Iterator


class Slow(httpx.AsyncBaseTransport):
    """Responds to each request after 20 seconds and counts the requests in flight."""

    def __init__(self) -> None:
        self.in_flight = 0
        self.most = 0
        self.requests = 0

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.requests += 1
        self.in_flight += 1
        self.most = max(self.most, self.in_flight)
        await anyio.sleep(20)
        self.in_flight -= 1
        return httpx.Response(200, json={"data": {"id": request.url.path}})


@pytest.mark.parametrize("backend", sorted(RUNNERS))
def test_concurrent_calls_all_succeed_however_long_they_queue(backend: str) -> None:
    transport = Slow()
    # The client is created outside any event loop.
    client = AsyncSoftwareDirectory(api_key="key", base_url="http://a", transport=transport)
    found: list[str] = []

    async def get(number: int) -> None:
        found.append((await client.software.get(str(number)))["id"])

    async def main() -> None:
        async with anyio.create_task_group() as tasks:
            for number in range(1500):
                tasks.start_soon(get, number)

    RUNNERS[backend](main)
    assert sorted(found) == sorted(f"/v1/software/{number}" for number in range(1500))
    # No attempt timed out, so each request was sent once.
    assert transport.requests == 1500
    assert transport.most == 100


def test_a_client_can_be_used_on_several_event_loops_in_turn() -> None:
    client = AsyncSoftwareDirectory(api_key="key", base_url="http://a", transport=Slow(), max_connections=1)

    async def main() -> None:
        async with anyio.create_task_group() as tasks:
            for letter in "abc":
                tasks.start_soon(client.software.get, letter)

    for backend in ("asyncio", "trio", "asyncio"):
        RUNNERS[backend](main)
    assert client._caller.limiter._free == 1


@pytest.mark.parametrize("backend", sorted(RUNNERS))
def test_a_waiting_call_is_cancelled_immediately(backend: str) -> None:
    transport = Slow()
    client = AsyncSoftwareDirectory(api_key="key", base_url="http://a", transport=transport, max_connections=1)

    async def main() -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.software.get, "first")
            await anyio.sleep(1)
            with anyio.move_on_after(1) as scope:
                await client.software.get("second")
            assert scope.cancelled_caught
            # Cancelled at the very moment it gets the slot.
            with anyio.move_on_after(18):
                await client.software.get("third")
        await client.software.get("fourth")

    RUNNERS[backend](main)
    assert client._caller.limiter._free == 1
    assert transport.in_flight <= 1


def test_threads_also_queue() -> None:
    class Counted(httpx.BaseTransport):
        def __init__(self) -> None:
            self.now = 0.0
            self.in_flight = 0
            self.most = 0

        def handle_request(self, request: httpx.Request) -> httpx.Response:
            self.in_flight += 1
            self.most = max(self.most, self.in_flight)

            def body() -> Iterator[bytes]:
                self.now += 20
                self.in_flight -= 1
                yield b'{"data": {}}'

            return httpx.Response(200, content=body(), request=request)

    transport = Counted()
    threads = 8
    together = threading.Barrier(threads)
    with (
        SoftwareDirectory(
            api_key="key", base_url="http://a", transport=transport, max_connections=1, max_retries=0
        ) as client,
        ThreadPoolExecutor(threads) as pool,
    ):
        client._caller.clock = lambda: transport.now

        def get(_: int) -> object:
            together.wait()
            return client.software.get("a")

        assert list(pool.map(get, range(threads))) == [{}] * threads
    assert transport.most == 1
    assert transport.now == 20 * threads


@pytest.mark.parametrize("max_connections", [0, -1, 1.5, True])
def test_an_invalid_limit_is_rejected(max_connections: int) -> None:
    with pytest.raises(ValueError, match="max_connections must be a whole number, 1 or more"):
        SoftwareDirectory(api_key="key", base_url="http://a", max_connections=max_connections)
