"""The timeout is for a whole attempt, wherever the time goes and whatever carries the request.

The stub sends a byte every 50 ms, long before any single read would be given up; a client without a deadline for the
whole would read on until the stub has enough of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable

import httpx
import pytest

from software_directory import ApiTimeoutError, SoftwareDirectory

if TYPE_CHECKING:
    from driver import Driver
    from stub import Stub

TIMEOUT_SECONDS = 0.3


@pytest.mark.parametrize("action", ["hang", "trickle_head", "trickle_body"])
def test_an_attempt_ends_in_time(action: str, driver: Driver, stub: Stub) -> None:
    base_url, script = stub.play([{"action": action, "status": 200, "headers": {"content-type": "application/json"}}])
    settings = {"api_key": "key", "base_url": base_url, "timeout": TIMEOUT_SECONDS, "max_retries": 0}
    with driver(**settings) as client, pytest.raises(ApiTimeoutError, match=r"within 0\.3 s"):
        client.call("software.list")
    script.over.set()


@pytest.mark.parametrize("action", ["hang", "hang_body", "trickle_body"])
@pytest.mark.parametrize(
    "brought",
    [lambda: {"transport": httpx.HTTPTransport()}, lambda: {"http_client": httpx.Client(timeout=None)}],
    ids=["transport", "http_client"],
)
def test_so_it_does_with_a_transport_of_the_caller(
    brought: Callable[[], dict[str, Any]], action: str, stub: Stub
) -> None:
    base_url, script = stub.play([{"action": action, "status": 200, "headers": {}, "json": {"data": []}}])
    arguments = brought()
    with (
        SoftwareDirectory(
            api_key="key", base_url=base_url, timeout=TIMEOUT_SECONDS, max_retries=0, **arguments
        ) as client,
        pytest.raises(ApiTimeoutError),
    ):
        client.software.list()
    script.over.set()
    if "http_client" in arguments:
        arguments["http_client"].close()


def test_without_a_timeout_a_slow_answer_comes(driver: Driver, stub: Stub) -> None:
    base_url, _ = stub.play([{"status": 200, "headers": {"content-type": "application/json"}, "json": {"data": {}}}])
    with driver(api_key="key", base_url=base_url, timeout=None) as client:
        assert client.call("software.get", "a") == {}
