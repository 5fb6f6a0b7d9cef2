"""Downloads: their idle timeout, streaming, and writing to files."""

from __future__ import annotations

import asyncio
import gc
from functools import partial
from typing import TYPE_CHECKING, Any, Callable

import anyio
import httpx
import pytest

from software_directory import (
    ApiConnectionError,
    ApiTimeoutError,
    AsyncSoftwareDirectory,
    InvalidResponseError,
    NotFoundError,
    SoftwareDirectory,
)
from virtual_time import RUNNERS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

    from driver import Driver
    from stub import Stub

MIB = 1024 * 1024
JSON = {"content-type": "application/json"}
OPTIONS: dict[str, Any] = {"api_key": "key", "base_url": "http://a", "max_retries": 0}


class Slow(httpx.BaseTransport, httpx.AsyncBaseTransport):
    """Sends 40 MiB, one per second. The asynchronous version stalls after `stops_after` MiB."""

    def __init__(self, stops_after: int = 40, status: int = 200) -> None:
        self.now = 0.0
        self.sent = 0
        self._stops_after = stops_after
        self._status = status

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        def body() -> Iterator[bytes]:
            for _ in range(40):
                self.now += 1
                self.sent += 1
                yield b" " * MIB

        return self._response(body(), request)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        async def body() -> AsyncIterator[bytes]:
            for number in range(40):
                await anyio.sleep(1 if number < self._stops_after else 1000)
                yield b" " * MIB

        return self._response(body(), request)

    def _response(self, body: Any, request: httpx.Request) -> httpx.Response:
        headers = {**JSON, "Content-Length": str(40 * MIB)}
        return httpx.Response(self._status, headers=headers, content=body, request=request)


def blocking_client(transport: Slow) -> SoftwareDirectory:
    client = SoftwareDirectory(**OPTIONS, transport=transport)
    client._caller.clock = lambda: transport.now
    return client


def test_a_large_download_may_take_longer_than_the_timeout(tmp_path: Path) -> None:
    with blocking_client(Slow()) as client:
        assert len(client.exports.download("a")) == 40 * MIB
        with client.exports.stream("a") as download:
            assert sum(map(len, download)) == download.size_bytes == 40 * MIB
        assert client.exports.download_to("a", tmp_path / "a.json") == 40 * MIB
        with pytest.raises(ApiTimeoutError, match="No complete response arrived within 30 s"):
            client.get("/v1/exports/a")


@pytest.mark.parametrize("backend", sorted(RUNNERS))
def test_a_large_asynchronous_download_may_take_longer_than_the_timeout(backend: str) -> None:
    async def main() -> None:
        async with AsyncSoftwareDirectory(**OPTIONS, transport=Slow()) as client:
            assert len(await client.exports.download("a")) == 40 * MIB
            async with client.exports.stream("a") as download:
                assert sum([len(chunk) async for chunk in download]) == download.size_bytes == 40 * MIB
            with pytest.raises(ApiTimeoutError, match="No complete response arrived within 30 s"):
                await client.get("/v1/exports/a")

    RUNNERS[backend](main)


@pytest.mark.parametrize("backend", sorted(RUNNERS))
def test_a_stalled_download_times_out(backend: str) -> None:
    async def main() -> None:
        async with AsyncSoftwareDirectory(**OPTIONS, transport=Slow(stops_after=35)) as client:
            with pytest.raises(ApiTimeoutError, match="No data arrived within 30 s"):
                await client.exports.download("a")
        async with AsyncSoftwareDirectory(**OPTIONS, transport=Slow(stops_after=35)) as client:
            received = 0
            started = anyio.current_time()
            with pytest.raises(ApiTimeoutError, match="No data arrived within 30 s"):  # noqa: PT012
                async with client.exports.stream("a") as download:
                    async for chunk in download:
                        received += len(chunk)
            assert received == 35 * MIB
            assert anyio.current_time() - started == pytest.approx(65)

    RUNNERS[backend](main)


def test_an_endless_error_body_is_bounded_in_total() -> None:
    transport = Slow(status=500)
    with blocking_client(transport) as client, pytest.raises(Exception, match="http_500"):
        client.exports.download("a")
    assert transport.now == 31


def test_a_stall_is_a_timeout_on_every_driver(driver: Driver, stub: Stub) -> None:
    stalled = {"action": "hang_body", "status": 200, "headers": JSON, "json": {"name": "whole"}}
    base_url, script = stub.play([stalled, stalled])
    with driver(api_key="key", base_url=base_url, timeout=0.3, max_retries=0) as client:
        for make in (partial(client.call, "exports.download"), client.stream):
            with pytest.raises(ApiTimeoutError, match=r"within 0\.3 s"):
                make("a")
    script.over.set()


def test_a_body_is_read_only_as_it_is_consumed() -> None:
    transport = Slow()
    with blocking_client(transport) as client, client.exports.stream("a") as download:
        chunks = iter(download)
        assert len(next(chunks)) == MIB
        assert transport.sent == 1
        assert (download.response.status, download.response.content) == (200, b"")


def test_errors_before_the_body_are_retried(driver: Driver, stub: Stub) -> None:
    base_url, script = stub.play([{"status": 503}, {"status": 200, "headers": JSON, "text": "{}"}])
    sleeps: list[float] = []
    with driver(api_key="key", base_url=base_url, sleeps=sleeps) as client:
        assert client.stream("a") == (b"{}", 2)
    assert len(script.requests) == 2
    assert len(sleeps) == 1


def test_a_stream_that_is_cut_off_raises_an_error(driver: Driver, stub: Stub) -> None:
    base_url, script = stub.play([{"action": "cut_body", "status": 200, "headers": JSON, "text": "[1,2,3]"}])
    with driver(api_key="key", base_url=base_url) as client, pytest.raises(ApiConnectionError) as raised:
        client.stream("a")
    assert (raised.value.status, raised.value.attempts) == (0, 1)
    assert raised.value.request_id == script.requests[0].headers["x-request-id"]
    assert isinstance(raised.value.__cause__, httpx.RequestError)


def test_an_encoded_body_has_no_known_size() -> None:
    def answer(_: httpx.Request) -> httpx.Response:
        return httpx.Response(200, headers={**JSON, "Content-Encoding": "identity, gzip", "Content-Length": "7"})

    with (
        SoftwareDirectory(**OPTIONS, transport=httpx.MockTransport(answer)) as client,
        client.exports.stream("a") as download,
    ):
        assert download.size_bytes is None


def test_a_stream_holds_its_connection_until_the_end() -> None:
    with SoftwareDirectory(**OPTIONS, transport=Slow(), max_connections=1) as client:
        semaphore: Any = client._caller.limiter
        with client.exports.stream("a") as download:
            next(iter(download))
            assert not semaphore.acquire(blocking=False)
        for failing in (lambda _: httpx.Response(500), html):
            client._caller.open = failing
            with pytest.raises(Exception, match=r"http_500|invalid_response"):
                client.exports.download_to("a", "unused")
        assert semaphore.acquire(blocking=False)


def test_an_abandoned_stream_releases_its_connection() -> None:
    async def main() -> None:
        async with AsyncSoftwareDirectory(**OPTIONS, transport=Slow(), max_connections=1) as client:
            async with client.exports.stream("a") as download:
                async for _ in download:
                    break
            assert client._caller.limiter._free == 1
            task = asyncio.ensure_future(read(client))
            await asyncio.sleep(0.5)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert client._caller.limiter._free == 1
            gc.collect()

    async def read(client: AsyncSoftwareDirectory) -> None:
        async with client.exports.stream("a") as download:
            async for _ in download:
                pass

    RUNNERS["asyncio"](main)


def html(_: object) -> httpx.Response:
    return httpx.Response(200, headers={"content-type": "text/html"}, text="<h1>Sign in</h1>")


def to_file(driver: Driver, answer: Callable[[httpx.Request], httpx.Response], path: Path, **parameters: Any) -> Any:
    with driver(**OPTIONS, transport=httpx.MockTransport(answer)) as client:
        return client.call("exports.download_to", "a", path, **parameters)


def test_a_download_is_written_to_a_file_and_reports_progress(driver: Driver, tmp_path: Path) -> None:
    target = tmp_path / "a.json"
    target.write_text("before")
    progress: list[tuple[int, int | None]] = []

    size = to_file(
        driver,
        lambda _: httpx.Response(200, headers=JSON, text='{"name": "é"}'),
        target,
        on_progress=lambda *at: progress.append(at),
    )

    assert target.read_text("utf-8") == '{"name": "é"}'
    assert progress == [(14, 14)]
    assert size == 14
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]


def test_a_broken_download_leaves_the_target_as_it_was(driver: Driver, tmp_path: Path, stub: Stub) -> None:
    target = tmp_path / "a.json"
    target.write_text("before")
    base_url, _ = stub.play([{"action": "cut_body", "status": 200, "headers": JSON, "text": "[1,2,3]"}])

    with driver(api_key="key", base_url=base_url) as client, pytest.raises(ApiConnectionError):
        client.call("exports.download_to", "a", target)

    assert target.read_text() == "before"
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize(
    ("answer", "error"), [(lambda _: httpx.Response(404), NotFoundError), (html, InvalidResponseError)]
)
def test_an_error_creates_no_file(answer: Any, error: type[Exception], driver: Driver, tmp_path: Path) -> None:
    with pytest.raises(error):
        to_file(driver, answer, tmp_path / "a.json")
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_requested_if_the_file_is_unwritable(driver: Driver, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        to_file(driver, lambda _: pytest.fail("requested"), tmp_path / "missing" / "a.json")


# The HTTP library leaves some of its generators unfinished, and Trio warns about it.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_failing_hook_ends_the_download(driver: Driver, tmp_path: Path) -> None:
    def stop(*_: object) -> None:
        raise KeyError("stop")

    with pytest.raises(KeyError):
        to_file(driver, lambda _: httpx.Response(200, headers=JSON, text="{}"), tmp_path / "a.json", on_progress=stop)
    assert list(tmp_path.iterdir()) == []
