"""What the clients report besides results: the log, the retry hook, error messages, and missing settings."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import httpx
import pytest

import software_directory as sd
from software_directory import ApiError, AsyncSoftwareDirectory, Retry, ServerError, SoftwareDirectory

if TYPE_CHECKING:
    from driver import Driver

KEY = "sd_live_0123_secret"
OPTIONS: dict[str, Any] = {"api_key": KEY, "base_url": "http://a"}


def failing(times: int, status: int = 503, **answer: Any) -> httpx.MockTransport:
    """Fail the given number of times, then respond with a record."""
    failures = [httpx.Response(status, **answer) for _ in range(times)]
    return httpx.MockTransport(lambda _: failures.pop() if failures else httpx.Response(200, json={"data": {}}))


def test_the_hook_is_called_for_each_retry(driver: Driver) -> None:
    retries: list[Retry] = []
    sleeps: list[float] = []
    headers = {"Retry-After": "3", "X-Request-Id": "r-1"}
    transport = failing(2, headers=headers)
    with driver(**OPTIONS, transport=transport, sleeps=sleeps, on_retry=retries.append) as client:
        client.call("software.get", "a", extra_headers={"X-Request-Id": "mine"})

    assert [(retry.attempt, retry.wait_seconds) for retry in retries] == [(1, 3), (2, 3)]
    assert sleeps == [3, 3]
    for retry in retries:
        assert isinstance(retry.error, ServerError)
        assert retry.error.attempts == retry.attempt
        assert (retry.request_id, retry.url) == ("mine", "http://a/v1/software/a")


def test_the_hook_is_called_before_the_wait_and_can_end_the_call() -> None:
    class EnoughError(Exception):
        pass

    def stop(retry: Retry) -> None:
        raise EnoughError from retry.error

    with SoftwareDirectory(**OPTIONS, transport=failing(9), on_retry=stop) as client:
        client._caller.sleep = lambda _: pytest.fail("waited")
        with pytest.raises(EnoughError):
            client.categories.list()


def test_the_hook_can_be_changed_with_options() -> None:
    retries: list[Retry] = []
    with SoftwareDirectory(**OPTIONS, transport=failing(1)) as client:
        client._caller.sleep = lambda _: None
        client.with_options(on_retry=retries.append).software.get("a")
        assert client.with_options(on_retry=None)._caller.settings.on_retry is None
    assert len(retries) == 1
    with pytest.raises(ValueError, match="on_retry must be a function"):
        SoftwareDirectory(**OPTIONS, on_retry="print")  # type: ignore[arg-type]


def test_requests_and_retries_are_logged(driver: Driver, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, logger="software_directory")
    with driver(**OPTIONS, transport=failing(1, headers={"Retry-After": "3"})) as client:
        client.call("software.get", "a", extra_headers={"X-Request-Id": "mine"}, extra_query={"key": KEY})

    url = "http://a/v1/software/a?key=[api key]"
    assert [(record.levelname, record.getMessage()) for record in caplog.records if record.name.startswith("soft")] == [
        ("DEBUG", f"GET {url}: 503 (request id mine)"),
        ("INFO", f"GET {url}: attempt 1 of 3 failed (http_503), retrying in 3.00 s (request id mine)"),
        ("DEBUG", f"GET {url}: 200 (request id mine)"),
    ]


def test_a_broken_connection_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    def refuse(_: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused")

    caplog.set_level(logging.DEBUG, logger="software_directory")
    with (
        SoftwareDirectory(**OPTIONS, transport=httpx.MockTransport(refuse), max_retries=0) as client,
        pytest.raises(sd.ApiConnectionError),
    ):
        client.categories.list()
    assert "ConnectError" in caplog.text


def test_an_error_has_the_headers_and_body_of_its_response(driver: Driver) -> None:
    text = f"<h1>Bad gateway</h1> you sent Bearer {KEY}"
    transport = failing(1, 502, headers={"Server": "proxy", "Content-Type": "text/html"}, text=text)
    with driver(**OPTIONS, transport=transport, max_retries=0) as client, pytest.raises(ServerError) as raised:
        client.call("software.get", "a")

    error = raised.value
    assert error.headers["Server"] == "proxy"
    assert error.body == "<h1>Bad gateway</h1> you sent Bearer [api key]"


def test_a_key_named_like_a_problem_member_breaks_nothing() -> None:
    problem = {"code": "rate_limited", "detail": "Send no code.", "request_id": "r-1"}
    with (
        SoftwareDirectory(
            api_key="code", base_url="http://a", max_retries=0, transport=failing(1, 429, json=problem)
        ) as client,
        pytest.raises(sd.RateLimitError) as raised,
    ):
        client.categories.list()
    assert (raised.value.code, raised.value.message) == ("rate_limited", "Send no [api key].")
    assert "code" not in raised.value.body


def test_an_errors_body_is_bounded(driver: Driver) -> None:
    transport = failing(1, 500, content=b"x" * 200_000)
    with driver(**OPTIONS, transport=transport, max_retries=0) as client, pytest.raises(ServerError) as raised:
        client.call("software.get", "a")

    assert raised.value.body == "x" * 65_536
    assert raised.value.response is not None
    assert len(raised.value.response.content) == 65_536


def test_an_error_without_a_response_has_no_headers_or_body() -> None:
    error = ApiError("no", status=0, code="timeout", request_id="r")
    assert (dict(error.headers), error.body) == ({}, "")


@pytest.mark.parametrize("kind", [SoftwareDirectory, AsyncSoftwareDirectory])
def test_the_defaults_come_from_the_environment(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOFTWARE_DIRECTORY_API_KEY", KEY)
    monkeypatch.setenv("SOFTWARE_DIRECTORY_URL", "http://environment.example/")
    assert repr(kind()) == f"{kind.__name__}(base_url='http://environment.example')"
    assert kind()._caller.settings.api_key == KEY
    assert kind(api_key="other", base_url="http://b")._caller.settings.base_url == "http://b"
    # An argument takes precedence, even an invalid one.
    with pytest.raises(ValueError, match="api_key is empty"):
        kind(api_key="")

    monkeypatch.delenv("SOFTWARE_DIRECTORY_URL")
    with pytest.raises(ValueError, match=r"base_url is missing.* set SOFTWARE_DIRECTORY_URL"):
        kind()
    for clear in (lambda name: monkeypatch.setenv(name, ""), monkeypatch.delenv):
        clear("SOFTWARE_DIRECTORY_API_KEY")
        assert kind(base_url="http://b")._caller.settings.api_key is None
