"""The protocol on its own: delays, dates, paging and the steps of a call, without connecting or sleeping."""

from __future__ import annotations

import random
from datetime import date, datetime, timezone
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from software_directory import ApiConnectionError, ServerError
from software_directory._protocol.exchange import Answer, Failure, Send, Sleep, build_request, exchange
from software_directory._protocol.messages import call, path_segment, query_pairs
from software_directory._protocol.paging import next_offset
from software_directory._protocol.retry import delay_seconds, is_worth_retrying, retry_after_of
from software_directory._protocol.settings import Settings

if TYPE_CHECKING:
    from software_directory._protocol.exchange import Exchange

NOW = datetime(2026, 1, 31, 12, 0, 0, tzinfo=timezone.utc)
SETTINGS = Settings("key", "http://directory.example")


@pytest.mark.parametrize("status", range(200, 600))
def test_only_statuses_that_may_change_are_retried(status: int) -> None:
    assert is_worth_retrying(status) == (status in {408, 429} or (500 <= status <= 599 and status != 501))


@pytest.mark.parametrize(
    ("retry", "shortest", "longest"), [(1, 0.25, 0.5), (2, 0.5, 1), (4, 2, 4), (5, 4, 8), (6, 4, 8), (5000, 4, 8)]
)
def test_the_delay_doubles_up_to_eight_seconds_and_half_of_it_is_random(
    retry: int, shortest: float, longest: float
) -> None:
    assert delay_seconds(retry, None, longest_retry_after_seconds=60, random=1) == shortest
    assert delay_seconds(retry, None, longest_retry_after_seconds=60, random=0) == longest


def test_retry_after_is_obeyed_up_to_the_limit() -> None:
    assert delay_seconds(3, 60, longest_retry_after_seconds=60, random=0.5) == 60
    assert delay_seconds(1, 0, longest_retry_after_seconds=60, random=0.5) == 0
    assert delay_seconds(1, 61, longest_retry_after_seconds=60, random=0.5) is None


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"Retry-After": "7"}, 7),
        ({"Retry-After": " 7 "}, 7),
        ({"Retry-After": "\u0667"}, None),
        ({"Retry-After": "1e3"}, None),
        ({"Retry-After": ""}, None),
        ({"Retry-After": "9" * 5000}, 999_999_999),
        ({"Retry-After": "Sat, 31 Jan 2026 12:00:30 GMT"}, 30),
        ({"Retry-After": "Saturday, 31-Jan-26 12:00:30 GMT"}, 30),
        ({"Retry-After": "Sat Jan 31 12:00:30 2026"}, 30),
        ({"Retry-After": "Sat, 31 Jan 2026 11:00:00 GMT"}, 0),
        ({"Retry-After": "Sat, 31 Jan 2026 13:00:05 GMT", "Date": "Sat, 31 Jan 2026 13:00:00 GMT"}, 5),
        ({"Retry-After": "Sat, 31 Jan 2026 12:00:05 GMT", "Date": "nonsense"}, 5),
        ({"Retry-After": "Sat, 99 Jan 2026 12:00:30 GMT"}, None),
    ],
)
def test_retry_after_is_read_in_all_its_forms(headers: dict[str, str], seconds: int | None) -> None:
    assert retry_after_of(httpx.Headers({k: v.encode() for k, v in headers.items()}), NOW) == seconds  # type: ignore[arg-type]


def test_fractions_of_a_second_are_rounded_up() -> None:
    headers = httpx.Headers({"Retry-After": "Sat, 31 Jan 2026 12:00:30 GMT"})

    assert retry_after_of(headers, NOW.replace(microsecond=1)) == 30
    assert retry_after_of(headers, NOW.replace(second=1, microsecond=999_999)) == 29


def test_pages_cover_every_list_without_gaps_or_overlaps() -> None:
    source = random.Random(7)
    for _ in range(500):
        items = list(range(source.randint(0, 60)))
        first = source.randint(0, 10)
        walked: list[int] = []
        offset: int | None = first
        while offset is not None:
            # The server may send fewer items than the limit, but at least one if any are left.
            data = items[offset : offset + source.randint(1, 9)]
            walked += data
            offset = next_offset({"limit": 9, "offset": offset, "total": len(items)}, len(data))
        assert walked == items[first:]


def test_the_next_page_is_requested_with_the_same_filters() -> None:
    asked = call("/v1/software", query={"q": "x", "offset": 4, "category": ["a", "b"]})

    assert asked.at_offset(6).query == (("q", "x"), ("category", "a"), ("category", "b"), ("offset", "6"))


@pytest.mark.parametrize(
    ("value", "pairs"),
    [
        (None, []),
        (True, [("x", "true")]),
        (date(2026, 1, 31), [("x", "2026-01-31")]),
        (datetime(2026, 1, 31, 23, 59, tzinfo=timezone.utc), [("x", "2026-01-31")]),
        (("a", "b"), [("x", "a"), ("x", "b")]),
        ((name for name in "ab"), [("x", "a"), ("x", "b")]),
    ],
)
def test_parameters_are_formatted_for_the_server(value: Any, pairs: list[tuple[str, str]]) -> None:
    assert query_pairs({"x": value}) == pairs


@pytest.mark.parametrize("id", ["", ".", "..", None, 7])
def test_an_id_that_would_reach_another_route_is_rejected(id: Any) -> None:
    with pytest.raises(ValueError, match="id must"):
        path_segment(id)


def test_no_repr_shows_the_key() -> None:
    settings = Settings("sd_live_secret", "http://directory.example")
    request = build_request(settings, call("/v1/software"), "id")

    assert "sd_live_secret" in request.headers["Authorization"]
    assert "sd_live_secret" not in f"{settings!r}{request!r}"


@pytest.mark.parametrize("api_key", ["", "two words", "line\nbreak", "ключ", "tab\t"])
def test_a_rejected_key_is_not_quoted(api_key: Any) -> None:
    with pytest.raises(ValueError, match="api_key") as raised:
        Settings(api_key, "http://directory.example")

    assert not api_key or api_key not in str(raised.value)


@pytest.mark.parametrize(
    "change",
    [
        {"timeout_seconds": -1},
        {"timeout_seconds": float("nan")},
        {"timeout_seconds": "5"},
        {"max_retries": True},
        {"max_retry_after_seconds": -1},
        {"base_url": "http://"},
        {"base_url": "http://directory.example:port"},
        {"base_url": "http://directory.example:0"},
        {"base_url": "http://a b"},
        {"base_url": None},
    ],
)
def test_invalid_settings_are_rejected(change: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"timeout|max_retr|base_url"):
        Settings(**{"api_key": "key", "base_url": "http://directory.example", **change})


def steps() -> Exchange:
    return exchange(SETTINGS, call("/v1/software"), request_id="id", random=lambda: 0.0, now=lambda: NOW)


def answer(status: int, **headers: str) -> Answer:
    return Answer(status, httpx.Headers(headers), b"")


def test_a_call_sends_sleeps_and_resends() -> None:
    call = steps()
    first = next(call)
    assert isinstance(first, Send)
    sleep = call.send(answer(503))
    assert isinstance(sleep, Sleep)
    assert sleep.seconds == 0.5
    assert call.send(None) == first
    with pytest.raises(StopIteration) as done:
        call.send(answer(200))

    assert done.value.value.attempts == 2


def test_the_last_failure_is_raised_with_its_cause() -> None:
    call = steps()
    next(call)
    for _ in range(2):
        assert isinstance(call.send(answer(500)), Sleep)
        assert isinstance(call.send(None), Send)
    cause = httpx.ConnectError("refused")
    with pytest.raises(ApiConnectionError) as raised:
        call.send(Failure(cause))

    assert raised.value.__cause__ is cause
    assert raised.value.attempts == 3


def test_a_cause_that_quotes_the_key_is_omitted() -> None:
    call = exchange(
        Settings("sd_live_secret", "http://directory.example", max_retries=0), call_of_nothing(), request_id="id"
    )
    next(call)
    cause = httpx.RemoteProtocolError("illegal header line: Bearer sd_live_secret")
    with pytest.raises(ApiConnectionError) as raised:
        call.send(Failure(cause))

    assert raised.value.__cause__ is None


def test_a_truncated_body_does_not_hide_a_retryable_status() -> None:
    call = steps()
    next(call)
    for _ in range(2):
        assert isinstance(call.send(answer(503)), Sleep)
        call.send(None)
    with pytest.raises(ServerError) as raised:
        call.send(Failure(httpx.ReadError("cut"), status=503, headers=httpx.Headers()))

    assert raised.value.code == "http_503"


def call_of_nothing() -> Any:
    return call("/v1/software")
