"""The clients as objects: settings, transports, connections, representations."""

from __future__ import annotations

import asyncio
import copy
import json
import pickle
from concurrent.futures import ThreadPoolExecutor
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import httpx
import pytest

import software_directory as sd
from operations import OPERATIONS
from software_directory import AsyncSoftwareDirectory, SoftwareDirectory

if TYPE_CHECKING:
    from stub import Stub

KEY = "sd_live_0123_secret"
PAGE = {"data": [{"id": "a"}], "pagination": {"limit": 20, "offset": 0, "total": 1}}


class Transport(httpx.BaseTransport):
    """Sends every request the same response and records what happens."""

    def __init__(self, status: int = 200, body: Any = PAGE, headers: dict[str, str] | None = None) -> None:
        self.requests: list[httpx.Request] = []
        self.closed = False
        self._answer = (status, body, headers)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        status, body, headers = self._answer
        return httpx.Response(status, json=body, headers=headers)

    def close(self) -> None:
        self.closed = True


class AsyncTransport(httpx.AsyncBaseTransport):
    """The asynchronous version of `Transport`."""

    def __init__(self) -> None:
        self.closed = False

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, json=PAGE, request=request)

    async def aclose(self) -> None:
        self.closed = True


def client_over(transport: httpx.BaseTransport, **settings: Any) -> SoftwareDirectory:
    return SoftwareDirectory(api_key=KEY, base_url="http://directory.example/base/", transport=transport, **settings)


def test_both_clients_have_all_operations() -> None:
    clients: list[Any] = [client_over(Transport()), AsyncSoftwareDirectory(api_key=KEY, base_url="http://a")]
    for client in clients:
        for operation in OPERATIONS:
            assert callable(attrgetter(operation)(client))


def test_a_transport_is_closed_with_the_client() -> None:
    transport = Transport()
    with client_over(transport) as client:
        assert [item["id"] for item in client.software.list()] == ["a"]
        assert not transport.closed
    assert transport.closed


def test_an_asynchronous_transport_is_closed_with_the_client() -> None:
    transport = AsyncTransport()

    async def main() -> None:
        async with AsyncSoftwareDirectory(api_key=KEY, base_url="http://a", transport=transport) as client:
            assert [item["id"] async for item in client.software.list()] == ["a"]
            assert [item["id"] async for item in await client.software.list()] == ["a"]
            assert not transport.closed

    asyncio.run(main())
    assert transport.closed


def test_an_http_client_keeps_its_headers_and_stays_open() -> None:
    transport = Transport()
    with httpx.Client(transport=transport, headers={"X-Gateway": "7"}) as http_client:
        with SoftwareDirectory(api_key=KEY, base_url="http://directory.example", http_client=http_client) as client:
            client.software.list()
        assert not http_client.is_closed

    (request,) = transport.requests
    assert request.headers["X-Gateway"] == "7"
    assert request.headers["Authorization"] == f"Bearer {KEY}"


def test_an_http_client_neither_replaces_the_key_nor_sends_it_elsewhere() -> None:
    transport = Transport(302, {}, {"Location": "http://elsewhere.example/"})
    with httpx.Client(transport=transport, auth=("user", "password"), follow_redirects=True) as http_client:
        client = SoftwareDirectory(api_key=KEY, base_url="http://directory.example", http_client=http_client)
        with pytest.raises(sd.InvalidResponseError, match="unexpected_redirect"):
            client.software.list()

    (request,) = transport.requests
    assert request.headers["Authorization"] == f"Bearer {KEY}"


def test_an_asynchronous_http_client_stays_open() -> None:
    async def main() -> None:
        async with httpx.AsyncClient(transport=AsyncTransport(), auth=("user", "password")) as http_client:
            async with AsyncSoftwareDirectory(api_key=KEY, base_url="http://a", http_client=http_client) as client:
                page = await client.software.list()
                assert page.response.status == 200
            assert not http_client.is_closed

    asyncio.run(main())


def test_a_transport_and_a_client_together_are_rejected() -> None:
    with httpx.Client(transport=Transport()) as http_client, pytest.raises(ValueError, match="not both"):
        client_over(Transport(), http_client=http_client)


def test_with_options_reuses_the_connections() -> None:
    transport = Transport(500)
    with client_over(transport, max_retries=0) as client:
        patient = client.with_options(timeout=None, max_retries=1, max_retry_after=0)
        patient._caller.sleep = lambda _: None
        with patient, pytest.raises(sd.ServerError) as raised:
            patient.software.list()
        assert raised.value.attempts == 2
        assert not transport.closed
        with pytest.raises(sd.ServerError) as raised:
            client.with_options(timeout=1).software.list()
        assert raised.value.attempts == 1
        with pytest.raises(ValueError, match="timeout"):
            client.with_options(timeout=0)

    timeouts = [request.extensions["timeout"]["read"] for request in transport.requests]
    assert timeouts == [None, None, 1]


def test_each_call_has_its_own_request_id() -> None:
    transport = Transport()
    with client_over(transport) as client:
        client.software.list()
        client.software.list()

    assert len({request.headers["X-Request-Id"] for request in transport.requests}) == 2


def test_the_client_identifies_itself() -> None:
    transport = Transport()
    with client_over(transport) as client:
        client.software.list()

    assert transport.requests[0].headers["User-Agent"] == f"software-directory-python/{sd.__version__}"


def test_a_client_can_be_shared_between_threads() -> None:
    transport = Transport()
    with client_over(transport) as client, ThreadPoolExecutor(8) as threads:
        pages = list(threads.map(lambda _: client.software.list(), range(64)))

    assert len({page.response.request_id for page in pages}) == 64


def test_no_repr_shows_the_key() -> None:
    with client_over(Transport()) as client:
        page = client.software.list()
        shown = [client, AsyncSoftwareDirectory(api_key=KEY, base_url="http://a"), page, page.response, client.software]
        assert KEY not in repr(shown)
    assert repr(client) == "SoftwareDirectory(base_url='http://directory.example/base')"
    assert repr(page) == "<Page offset=0 items=1>"


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda error: pickle.loads(pickle.dumps(error))])
def test_an_error_survives_copying(copied: Any) -> None:
    problem = {"code": "rate_limited", "detail": "Wait.", "request_id": "r-1", "retry_after_seconds": 4}
    with client_over(Transport(429, problem), max_retries=0) as client, pytest.raises(sd.RateLimitError) as raised:
        client.software.list()

    error = copied(raised.value)
    assert type(error) is sd.RateLimitError
    assert str(error) == str(raised.value) == "Wait. (status 429, code rate_limited, request id r-1)"
    assert repr(error) == "RateLimitError(status=429, code='rate_limited', request_id='r-1')"
    assert error.retry_after_seconds == 4
    assert error.response is not None
    assert error.response.json() == problem


def test_an_absurdly_nested_body_is_an_invalid_response() -> None:
    class Nested(httpx.BaseTransport):
        def handle_request(self, request: httpx.Request) -> httpx.Response:
            return httpx.Response(200, content=b"[" * 100_000, request=request)

    with client_over(Nested()) as client, pytest.raises(sd.InvalidResponseError):
        client.software.get("a")


def test_unknown_members_are_kept() -> None:
    body = {**PAGE, "data": [{"id": "a", "tomorrow": [1]}], "beside": {"x": 1}}
    with client_over(Transport(200, body)) as client:
        page = client.software.list()

    assert page.body == body
    assert json.dumps(list(page)) == '[{"id": "a", "tomorrow": [1]}]'


def test_the_proxy_from_the_environment_is_used(monkeypatch: pytest.MonkeyPatch, stub: Stub) -> None:
    base_url, script = stub.play([{"status": 200, "json": PAGE}])
    address = httpx.URL(base_url)
    monkeypatch.setenv("http_proxy", f"http://{address.host}:{address.port}")
    monkeypatch.setenv("no_proxy", "inside.invalid")
    for host in ("outside.invalid", "inside.invalid"):
        with SoftwareDirectory(api_key=KEY, base_url=f"http://{host}{address.path}", max_retries=0) as client:
            if host == "outside.invalid":
                assert client.software.list().data == PAGE["data"]
            else:
                with pytest.raises(sd.ApiConnectionError):
                    client.software.list()
    assert len(script.requests) == 1
