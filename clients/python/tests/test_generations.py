"""Iteration over a list whose data changes between two pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable

import httpx
import pytest

from software_directory import GenerationChangedError, SoftwareDirectory

if TYPE_CHECKING:
    from driver import Driver

OPTIONS: dict[str, Any] = {"api_key": "key", "base_url": "http://a"}


class Directory:
    """A list of records by generation; `generation_of` maps the number of a request to its generation."""

    def __init__(self, generation_of: Callable[[int], int], *lists: str, header: bool = True) -> None:
        self.offsets: list[int] = []
        self._generation_of = generation_of
        self._lists = lists
        self._header = header

    def __call__(self, request: httpx.Request) -> httpx.Response:
        generation = self._generation_of(len(self.offsets))
        records = self._lists[min(generation, len(self._lists) - 1)]
        offset, limit = int(request.url.params.get("offset", "0")), 2
        self.offsets.append(offset)
        return httpx.Response(
            200,
            headers={"X-Generation": f"g{generation}", "X-Request-Id": f"r{generation}"} if self._header else {},
            json={
                "data": [{"id": each} for each in records[offset : offset + limit]],
                "pagination": {"limit": limit, "offset": offset, "total": len(records)},
            },
        )


def collected(driver: Driver, directory: Directory, what: str = "items", **options: Any) -> list[Any]:
    found: list[Any] = []
    with driver(**OPTIONS, transport=httpx.MockTransport(directory), **options) as client:
        client.collect(found, what, "software.list")
    return found


def ids(items: list[Any]) -> str:
    return "".join(item["id"] for item in items)


def test_every_record_of_the_newest_generation_is_yielded_once(driver: Driver) -> None:
    # `x` is new at the front. Without a restart, `b` would be yielded twice and `x` never.
    directory = Directory(lambda request: min(request, 1), "abcd", "xabcd")

    assert ids(collected(driver, directory)) == "abxcd"
    assert directory.offsets == [0, 2, 0, 2, 4]


def test_a_record_that_moved_to_the_front_is_not_lost(driver: Driver) -> None:
    assert ids(collected(driver, Directory(lambda request: min(request, 1), "abcd", "dabc"))) == "abdc"


def test_a_restart_begins_at_the_requested_offset() -> None:
    directory = Directory(lambda request: min(request, 1), "abcdef", "abcdefg")
    with SoftwareDirectory(**OPTIONS, transport=httpx.MockTransport(directory)) as client:
        assert ids(list(client.software.list(offset=1))) == "bcdefg"
    assert directory.offsets == [1, 3, 1, 3, 5]


def test_iteration_gives_up_after_three_restarts(driver: Driver) -> None:
    found: list[Any] = []
    # Every second page is from a different generation than the first.
    directory = Directory(lambda request: request, "abcd")
    with (
        driver(**OPTIONS, transport=httpx.MockTransport(directory)) as client,
        pytest.raises(GenerationChangedError) as raised,
    ):
        client.collect(found, "items", "software.list")

    assert ids(found) == "ab"
    assert directory.offsets == [0, 2] * 4
    error = raised.value
    assert (error.status, error.code, error.request_id) == (200, "generation_changed", "r7")
    assert error.response is not None


@pytest.mark.parametrize("what", ["items", "pages"])
def test_raise_raises_an_error(what: str, driver: Driver) -> None:
    directory = Directory(lambda request: request, "abcd")
    with pytest.raises(GenerationChangedError):
        collected(driver, directory, what, generation_change="raise")
    assert directory.offsets == [0, 2]


def test_pages_are_never_read_again(driver: Driver) -> None:
    directory = Directory(lambda request: request, "abcd")
    with pytest.raises(GenerationChangedError):
        collected(driver, directory, "pages")
    assert directory.offsets == [0, 2]


@pytest.mark.parametrize("what", ["items", "pages"])
def test_ignore_continues(what: str, driver: Driver) -> None:
    directory = Directory(lambda request: request, "abcd", "xabcd")
    found = collected(driver, directory, what, generation_change="ignore")
    if what == "items":
        assert ids(found) == "abbcd"
    else:
        assert len(found) == 3


@pytest.mark.parametrize("what", ["items", "pages"])
def test_responses_without_the_header_are_not_compared(what: str, driver: Driver) -> None:
    assert collected(driver, Directory(lambda request: request, "abcd", header=False), what, generation_change="raise")


def test_next_page_does_not_compare_generations() -> None:
    directory = Directory(lambda request: request, "abcd")
    with SoftwareDirectory(**OPTIONS, transport=httpx.MockTransport(directory)) as client:
        page = client.software.list()
        following = page.next_page()
    assert following is not None
    assert ids(following.data) == "cd"


def test_records_without_an_id_are_all_yielded() -> None:
    responses = iter([("g0", "a"), ("g1", None), ("g1", None), ("g1", None)])

    def answer(request: httpx.Request) -> httpx.Response:
        generation, name = next(responses)
        offset = int(request.url.params.get("offset", "0"))
        body = {"data": [{"id": name, "n": offset}], "pagination": {"limit": 1, "offset": offset, "total": 2}}
        return httpx.Response(200, headers={"X-Generation": generation}, json=body)

    with SoftwareDirectory(**OPTIONS, transport=httpx.MockTransport(answer)) as client:
        assert [(item["id"], item.get("n")) for item in client.software.list()] == [("a", 0), (None, 0), (None, 1)]


def test_an_unknown_generation_change_is_rejected() -> None:
    with pytest.raises(ValueError, match="generation_change must be"):
        SoftwareDirectory(**OPTIONS, generation_change="restarts")  # type: ignore[arg-type]
