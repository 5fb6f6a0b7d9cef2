"""The caller's own headers and parameters, and requests for any path."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import httpx
import pytest

from software_directory import AsyncSoftwareDirectory, NotFoundError, SoftwareDirectory
from software_directory._protocol.messages import raw_call
from virtual_time import RUNNERS

if TYPE_CHECKING:
    from collections.abc import Iterator

KEY = "sd_live_0123"


class Recorder:
    """Plays responses, repeating the last one forever, and records the requests."""

    def __init__(self, *responses: httpx.Response) -> None:
        self.requests: list[httpx.Request] = []
        self._responses = responses or (page(),)

    def __call__(self, request: httpx.Request) -> httpx.Response:
        response = self._responses[min(len(self.requests), len(self._responses) - 1)]
        self.requests.append(request)
        return response


def page(offset: int = 0, total: int = 1) -> httpx.Response:
    body = {"data": [{"id": "a"}], "pagination": {"limit": 1, "offset": offset, "total": total}}
    return httpx.Response(200, json=body)


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


@pytest.fixture
def client(recorder: Recorder) -> Iterator[SoftwareDirectory]:
    with over(recorder) as client:
        yield client


def over(recorder: Recorder) -> SoftwareDirectory:
    client = SoftwareDirectory(api_key=KEY, base_url="http://a/base", transport=httpx.MockTransport(recorder))
    client._caller.sleep = lambda _: None
    return client


def test_extras_are_sent_for_every_page() -> None:
    recorder = Recorder(page(0, 2), page(1, 2))
    with over(recorder) as client:
        items = list(client.software.list(limit=1, extra_headers={"X-Team": "7"}, extra_query={"beta": ["a", "b"]}))

    assert len(items) == 2
    for request in recorder.requests:
        assert request.headers["X-Team"] == "7"
        assert request.url.params.get_list("beta") == ["a", "b"]
    assert recorder.requests[1].url.params["offset"] == "1"


def test_an_extra_parameter_replaces_one_with_the_same_name(client: SoftwareDirectory, recorder: Recorder) -> None:
    client.search.products(q="audit", limit=5, extra_query={"limit": 7})

    assert str(recorder.requests[0].url) == "http://a/base/v1/search?q=audit&limit=7"


def test_an_extra_header_replaces_the_clients_own(client: SoftwareDirectory, recorder: Recorder) -> None:
    extra = {"x-request-id": "mine-1", "accept-encoding": "identity", "USER-AGENT": "mine"}
    answer = client.software.list(extra_headers=extra)

    (request,) = recorder.requests
    assert answer.response.request_id == "mine-1"
    for name, value in extra.items():
        assert request.headers.get_list(name) == [value]


@pytest.mark.parametrize("name", ["Host", "Content-Length", "two words", "", "x:"])
def test_an_invalid_header_is_rejected(name: str, client: SoftwareDirectory, recorder: Recorder) -> None:
    with pytest.raises(ValueError, match="extra_headers"):
        client.software.list(extra_headers={name: "1"})
    assert recorder.requests == []


@pytest.mark.parametrize("value", ["secret\r\nx: y", "secret\x00", "sécret", 7])
def test_a_rejected_value_is_not_quoted(value: Any, client: SoftwareDirectory) -> None:
    with pytest.raises(ValueError, match="the value of X-Team") as raised:
        client.software.list(extra_headers={"X-Team": value})
    assert "cret" not in str(raised.value)


def test_any_path_can_be_requested() -> None:
    recorder = Recorder(httpx.Response(503), httpx.Response(200, text="# TYPE up gauge", headers={"X-Kind": "text"}))
    with over(recorder) as client:
        answer = client.get(
            "/metrics/über", {"a": True, "b": None, "c": ["x", "y z"]}, extra_headers={"Accept": "text/plain"}
        )

    assert (answer.status, answer.text, answer.headers["X-Kind"], answer.attempts) == (
        200,
        "# TYPE up gauge",
        "text",
        2,
    )
    first, second = recorder.requests
    assert str(first.url) == "http://a/base/metrics/%C3%BCber?a=true&c=x&c=y%20z"
    assert first.headers["Accept"] == "text/plain"
    assert first.headers["Authorization"] == f"Bearer {KEY}"
    assert first.headers["X-Request-Id"] == second.headers["X-Request-Id"]


def test_a_304_is_a_response() -> None:
    recorder = Recorder(httpx.Response(304, headers={"ETag": '"1"'}))
    with over(recorder) as client:
        answer = client.get("/v1/software", extra_headers={"If-None-Match": '"1"'})

    assert (answer.status, answer.content, answer.headers["ETag"]) == (304, b"", '"1"')
    assert recorder.requests[0].headers["If-None-Match"] == '"1"'


def test_an_error_for_any_path_is_raised() -> None:
    with over(Recorder(httpx.Response(404))) as client, pytest.raises(NotFoundError):
        client.get("/v1/nothing")


@pytest.mark.parametrize("backend", sorted(RUNNERS))
def test_any_path_can_be_requested_asynchronously(backend: str) -> None:
    transport = httpx.MockTransport(Recorder(httpx.Response(304)))

    async def main() -> int:
        async with AsyncSoftwareDirectory(api_key=KEY, base_url="http://a", transport=transport) as client:
            return (await client.get("/v1/software", {"q": "x"}, extra_headers={"If-None-Match": "*"})).status

    assert RUNNERS[backend](main) == 304


@pytest.mark.parametrize(
    "path", ["", "v1", "http://elsewhere/", "/v1?q=x", "/v1#x", "/v1/../x", "/v1/%2E%2e", "/.", None]
)
def test_a_path_that_leads_elsewhere_is_rejected(path: Any, client: SoftwareDirectory, recorder: Recorder) -> None:
    with pytest.raises(ValueError, match="path must"):
        client.get(path)
    assert recorder.requests == []


def test_an_encoded_path_is_not_encoded_again() -> None:
    assert raw_call("/v1/software/a%2Fb c", None, None).path == "/v1/software/a%2Fb%20c"
