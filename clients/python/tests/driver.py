"""A common interface to the blocking client and to the asynchronous one, on asyncio and Trio."""

from __future__ import annotations

from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, Callable, NamedTuple

from anyio.from_thread import start_blocking_portal

from software_directory import AsyncSoftwareDirectory, SoftwareDirectory

if TYPE_CHECKING:
    from collections.abc import Awaitable, Iterator

    from software_directory import Response


class Client(NamedTuple):
    """A client, blocking or not."""

    call: Callable[..., Any]
    """Call a method by its dotted name and return its value."""
    raw: Callable[..., Response]
    """Call a method and return the raw response."""
    collect: Callable[..., None]
    """Call a method and append its `items`, its `pages` or the `next_page` to a list."""
    stream: Callable[..., Any]
    """Stream an export and return its bytes and its announced size."""


Driver = Callable[..., "AbstractContextManager[Client]"]

# Methods whose value isn't a page. A page has its own response.
WITH_RESPONSE = {"software.get", "categories.get", "glossary.get", "exports.download", "suggest"}


def _method(client: object, name: str) -> Any:
    found = client
    for part in name.split("."):
        found = getattr(found, part)
    return found


def _raw(call: Callable[..., Any], name: str, *arguments: Any, **parameters: Any) -> Response:
    if name in WITH_RESPONSE:
        return call(f"{name}_with_response", *arguments, **parameters)[1]  # type: ignore[no-any-return]
    value = call(name, *arguments, **parameters)
    return value if name == "get" else value.response  # type: ignore[no-any-return]


@contextmanager
def blocking(*, sleeps: list[float] | None = None, **settings: Any) -> Iterator[Client]:
    """Drive the blocking client. Waits are recorded in `sleeps` instead of being waited for."""
    with SoftwareDirectory(**settings) as client:
        client._caller.sleep = (sleeps if sleeps is not None else []).append

        def call(name: str, *arguments: Any, **parameters: Any) -> Any:
            return _method(client, name)(*arguments, **parameters)

        def collect(into: list[Any], what: str, name: str, *arguments: Any, **parameters: Any) -> None:
            page = call(name, *arguments, **parameters)
            for each in {"items": lambda: page, "pages": page.pages, "next_page": lambda: [page.next_page()]}[what]():
                into.append(each)

        def stream(*arguments: Any, **parameters: Any) -> tuple[bytes, int | None]:
            with client.exports.stream(*arguments, **parameters) as download:
                return b"".join(download), download.size_bytes

        yield Client(call, partial(_raw, call), collect, stream)


def _asynchronous(backend: str) -> Driver:
    @contextmanager
    def drive(*, sleeps: list[float] | None = None, **settings: Any) -> Iterator[Client]:
        noted = sleeps if sleeps is not None else []
        # Created outside the event loop that it's then used on.
        client = AsyncSoftwareDirectory(**settings)

        async def sleep(seconds: float) -> None:
            noted.append(seconds)

        client._caller.sleep = sleep

        async def awaited(value: Awaitable[Any]) -> Any:
            return await value

        async def through(into: list[Any], what: str, pager: Any) -> None:
            if what == "next_page":
                into.append(await (await pager).next_page())
                return
            async for each in {"items": lambda: pager, "pages": pager.pages}[what]():
                into.append(each)

        async def streamed(opening: Any) -> tuple[bytes, int | None]:
            async with opening as download:
                return b"".join([chunk async for chunk in download]), download.size_bytes

        with start_blocking_portal(backend) as portal:

            def call(name: str, *arguments: Any, **parameters: Any) -> Any:
                return portal.call(awaited, _method(client, name)(*arguments, **parameters))

            def collect(into: list[Any], what: str, name: str, *arguments: Any, **parameters: Any) -> None:
                pager = _method(client, name)(*arguments, **parameters)
                portal.call(through, into, what, pager)

            def stream(*arguments: Any, **parameters: Any) -> Any:
                return portal.call(streamed, client.exports.stream(*arguments, **parameters))

            try:
                yield Client(call, partial(_raw, call), collect, stream)
            finally:
                portal.call(client.aclose)

    return drive


DRIVERS: dict[str, Driver] = {"asyncio": _asynchronous("asyncio"), "blocking": blocking, "trio": _asynchronous("trio")}
