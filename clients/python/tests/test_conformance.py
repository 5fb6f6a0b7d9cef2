"""Runs the cases in clients/conformance/cases.json, which every client must pass."""

from __future__ import annotations

import json
import re
import socket
import traceback
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import software_directory as sd

if TYPE_CHECKING:
    from driver import Client, Driver
    from stub import Script, Stub

TABLE = json.loads((Path(__file__).parents[2] / "conformance" / "cases.json").read_text("utf-8"))

KINDS: dict[str, type[Exception]] = {
    "authentication": sd.AuthenticationError,
    "permission": sd.PermissionDeniedError,
    "not_found": sd.NotFoundError,
    "gone": sd.GoneError,
    "rate_limit": sd.RateLimitError,
    "invalid_request": sd.InvalidRequestError,
    "server": sd.ServerError,
    "timeout": sd.ApiTimeoutError,
    "connection": sd.ApiConnectionError,
    "invalid_response": sd.InvalidResponseError,
    "generation_changed": sd.GenerationChangedError,
    "usage": ValueError,
}

OPTIONS = {
    "timeout_seconds": "timeout",
    "max_retries": "max_retries",
    "max_retry_after_seconds": "max_retry_after",
    "generation_change": "generation_change",
    "cache_max_bytes": "cache_max_bytes",
}
# The members of a case. An unknown member is an error, because nothing would check it.
KNOWN = {
    "case": {"name", "client", "call", "calls", "responses", "expect"},
    "client": {"api_key", "base_url", "base_path", *OPTIONS},
    "call": {"operation", "id", "path", "parameters", "extra_headers", "extra_query", "consume"},
    "response": {"status", "headers", "json", "text", "action"},
    "expect": {
        "requests",
        "sleeps",
        "same_request_id",
        "result",
        "bytes",
        "items",
        "pages",
        "raw",
        "error",
        "retries",
        "size_bytes",
    },
    "request": {"path", "query", "headers"},
    "error": {
        "kind",
        "status",
        "code",
        "request_id",
        "retry_after_seconds",
        "errors",
        "message_contains",
        "message_lacks",
    },
}


@dataclass
class Outcome:
    """The result of a case's calls."""

    value: Any = None
    collected: list[Any] = field(default_factory=list)
    sleeps: list[float] = field(default_factory=list)
    retries: list[sd.Retry] = field(default_factory=list)
    error: Exception | None = None


@pytest.mark.parametrize("case", TABLE["cases"], ids=lambda case: case["name"])
def test_case(case: dict[str, Any], driver: Driver, stub: Stub) -> None:
    settings, expect = case.get("client", {}), case["expect"]
    api_key = settings.get("api_key", TABLE["api_key"])
    base_url, script = stub.play(case["responses"])
    literal = settings.get("base_url")
    if literal is not None:
        base_url = closed_port() if literal == "closed_port" else literal

    calls = case["calls"] if "calls" in case else [case["call"]]
    outcome = carry_out(calls, driver, api_key, base_url + settings.get("base_path", ""), settings)
    script.over.set()

    if "error" in expect:
        assert outcome.error is not None, "no error was raised"
        check_error(outcome.error, expect["error"], script, api_key)
    elif outcome.error is not None:
        raise outcome.error
    if "requests" in expect:
        check_requests(script, expect["requests"], api_key)
    if expect.get("same_request_id"):
        assert len({request.headers["x-request-id"] for request in script.requests}) == 1
    if "sleeps" in expect:
        assert len(outcome.sleeps) == len(expect["sleeps"])
        for actual, wanted in zip(outcome.sleeps, expect["sleeps"]):
            assert within(actual, wanted)
    if "retries" in expect:
        check_contains([plain_retry(retry) for retry in outcome.retries], expect["retries"])
    check_value(outcome, expect)


def carry_out(
    calls: list[dict[str, Any]], driver: Driver, api_key: str | None, base_url: str, settings: dict[str, Any]
) -> Outcome:
    outcome = Outcome()
    options = {OPTIONS[name]: settings[name] for name in OPTIONS if name in settings}
    try:
        with driver(
            api_key=api_key, base_url=base_url, sleeps=outcome.sleeps, on_retry=outcome.retries.append, **options
        ) as client:
            for call in calls:
                outcome.collected = []
                outcome.value = carry_out_one(client, call, outcome.collected)
    except (sd.ApiError, ValueError) as error:
        outcome.error = error
    return outcome


def carry_out_one(client: Client, call: dict[str, Any], collected: list[Any]) -> Any:
    operation, parameters = call["operation"], call.get("parameters", {})
    extras = {name: call[name] for name in ("extra_headers", "extra_query") if name in call}
    if operation == "get":
        return client.call(operation, call["path"], parameters, **extras)
    arguments = [operation, *([call["id"]] if "id" in call else [])]
    if operation == "exports.stream":
        return client.stream(*arguments[1:], **parameters, **extras)
    consume = call.get("consume")
    if consume is None or consume == "raw":
        made = client.raw if consume == "raw" else client.call
        return made(*arguments, **parameters, **extras)
    client.collect(collected, consume, *arguments, **parameters, **extras)
    return collected[0] if consume == "next_page" else None


def check_value(outcome: Outcome, expect: dict[str, Any]) -> None:
    if "result" in expect:
        check_contains(plain(outcome.value), expect["result"])
    if "bytes" in expect:
        content = outcome.value[0] if isinstance(outcome.value, tuple) else outcome.value
        assert content == expect["bytes"].encode()
    if "size_bytes" in expect:
        assert outcome.value[1] == expect["size_bytes"]
    if "items" in expect:
        check_contains(outcome.collected, expect["items"])
    if "pages" in expect:
        check_contains([plain(page) for page in outcome.collected], expect["pages"])
    if "raw" in expect:
        assert outcome.value.status == expect["raw"]["status"]
        for name, text in expect["raw"].get("headers", {}).items():
            assert outcome.value.headers[name] == text
        if "json" in expect["raw"]:
            check_contains(outcome.value.json(), expect["raw"]["json"])


def test_every_key_in_a_case_is_checked() -> None:
    for case in TABLE["cases"]:
        parts = [("case", case), ("client", case.get("client", {})), ("expect", case["expect"])]
        parts += [("call", call) for call in case.get("calls", [case.get("call")])]
        parts += [("response", response) for response in case["responses"]]
        parts += [("request", request) for request in case["expect"].get("requests", [])]
        parts += [("error", case["expect"].get("error", {}))]
        for kind, part in parts:
            assert set(part) <= KNOWN[kind], case["name"]


def check_error(error: Exception, wanted: dict[str, Any], script: Script, api_key: str | None) -> None:
    assert type(error) is KINDS[wanted["kind"]]
    text = str(error)
    if api_key:
        shown = "".join([text, repr(error), *traceback.format_exception(type(error), error, error.__traceback__)])
        assert api_key not in shown
    if isinstance(error, sd.ApiError):
        assert isinstance(error.status, int)
        assert error.code
        assert error.request_id
    for name in ("status", "code"):
        if name in wanted:
            assert getattr(error, name) == wanted[name]
    if "request_id" in wanted:
        sent = script.requests[-1].headers["x-request-id"] if wanted["request_id"] == "sent" else wanted["request_id"]
        assert getattr(error, "request_id", None) == sent
    if "retry_after_seconds" in wanted:
        assert within(getattr(error, "retry_after_seconds", None), wanted["retry_after_seconds"])
    if "errors" in wanted:
        check_contains(getattr(error, "errors", None), wanted["errors"])
    assert wanted.get("message_contains", "") in text
    if "message_lacks" in wanted:
        assert wanted["message_lacks"] not in text


def check_requests(script: Script, wanted: list[dict[str, Any]], api_key: str | None) -> None:
    assert len(script.requests) == len(wanted)
    for request, expected in zip(script.requests, wanted):
        assert request.method == "GET"
        assert request.headers.get("authorization") == (f"Bearer {api_key}" if api_key else None)
        assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", request.headers["x-request-id"])
        if "path" in expected:
            assert request.path == expected["path"]
        if "query" in expected:
            assert request.query == expected["query"]
        for name, value in expected.get("headers", {}).items():
            assert request.headers[name] == value


def check_contains(actual: Any, wanted: Any, at: str = "$") -> None:
    if isinstance(wanted, dict):
        assert isinstance(actual, dict), at
        for name, value in wanted.items():
            assert name in actual, f"{at}.{name}"
            check_contains(actual[name], value, f"{at}.{name}")
    elif isinstance(wanted, list):
        assert isinstance(actual, list), at
        assert len(actual) == len(wanted), at
        for index, (each, value) in enumerate(zip(actual, wanted)):
            check_contains(each, value, f"{at}[{index}]")
    else:
        assert (actual, type(actual)) == (wanted, type(wanted)), at


def plain_retry(retry: sd.Retry) -> dict[str, Any]:
    wait = int(retry.wait_seconds) if retry.wait_seconds.is_integer() else retry.wait_seconds
    return {"attempt": retry.attempt, "wait_seconds": wait, "status": retry.error.status, "code": retry.error.code}


def plain(value: Any) -> Any:
    # A page's members are what users read, so they take precedence over the body that they come from.
    if not hasattr(value, "pagination"):
        return value
    named = {name: getattr(value, name) for name in ("summary", "query", "facets") if name in value.body}
    return {**value.body, "data": value.data, "pagination": value.pagination, **named}


def within(actual: float | None, wanted: Any) -> bool:
    if isinstance(wanted, list):
        return actual is not None and wanted[0] <= actual <= wanted[1]
    return actual == wanted if wanted is not None else actual is None


def closed_port() -> str:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{listener.getsockname()[1]}"
