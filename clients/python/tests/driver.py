"""Drives the clients alike: the same call on the blocking one and on the asynchronous one, on asyncio and on Trio."""

from __future__ import annotations

import asyncio
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any, Callable, NamedTuple

import trio

from software_directory import AsyncPager, AsyncSoftwareDirectory, SoftwareDirectory

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Iterator

    from software_directory import Response


class Client(NamedTuple):
    """A client without the difference between blocking and not."""

    call: Callable[..., Any]
    """Call a method by its dotted name and return its value."""
    raw: Callable[..., Response]
    """Call it and return the response as it came."""
    collect: Callable[..., None]
    """Call it and go through its `items` or `pages`, appending to a list what comes."""


Driver = Callable[..., "AbstractContextManager[Client]"]


def _method(client: object, name: str) -> Any:
    resource, _, method = name.partition(".")
    return getattr(getattr(client, resource), method)


@contextmanager
def blocking(*, sleeps: list[float] | None = None, **settings: Any) -> Iterator[Client]:
    """Drive the blocking client; waits are noted in `sleeps` and not waited for."""
    with SoftwareDirectory(**settings) as client:
        client._caller.sleep = (sleeps if sleeps is not None else []).append

        def raw(name: str, *arguments: Any, **parameters: Any) -> Response:
            if name in {"software.get", "exports.download"}:
                _, response = _method(client, f"{name}_with_response")(*arguments, **parameters)
                return response  # type: ignore[no-any-return]
            return _method(client, name)(*arguments, **parameters).response  # type: ignore[no-any-return]

        def collect(into: list[Any], what: str, name: str, *arguments: Any, **parameters: Any) -> None:
            page = _method(client, name)(*arguments, **parameters)
            for each in page.pages() if what == "pages" else page:
                into.append(each)

        yield Client(lambda name, *a, **p: _method(client, name)(*a, **p), raw, collect)


def _asynchronous(run: Callable[..., Any]) -> Driver:
    @contextmanager
    def drive(*, sleeps: list[float] | None = None, **settings: Any) -> Iterator[Client]:
        noted = sleeps if sleeps is not None else []

        def within(work: Callable[[AsyncSoftwareDirectory], Awaitable[Any]]) -> Any:
            async def main() -> Any:
                async def sleep(seconds: float) -> None:
                    noted.append(seconds)

                async with AsyncSoftwareDirectory(**settings) as client:
                    client._caller.sleep = sleep
                    return await work(client)

            return run(main)

        def call(name: str, *arguments: Any, **parameters: Any) -> Any:
            async def work(client: AsyncSoftwareDirectory) -> Any:
                return await _method(client, name)(*arguments, **parameters)

            return within(work)

        def raw(name: str, *arguments: Any, **parameters: Any) -> Any:
            async def work(client: AsyncSoftwareDirectory) -> Any:
                if name in {"software.get", "exports.download"}:
                    _, response = await _method(client, f"{name}_with_response")(*arguments, **parameters)
                    return response
                return (await _method(client, name)(*arguments, **parameters)).response

            return within(work)

        def collect(into: list[Any], what: str, name: str, *arguments: Any, **parameters: Any) -> None:
            async def work(client: AsyncSoftwareDirectory) -> None:
                pager: AsyncPager[Any, Any] = _method(client, name)(*arguments, **parameters)
                source: AsyncIterator[Any] = pager.pages() if what == "pages" else pager.__aiter__()
                async for each in source:
                    into.append(each)

            within(work)

        # A wrong setting is refused at once, as by the blocking client.
        AsyncSoftwareDirectory(**settings)
        yield Client(call, raw, collect)

    return drive


DRIVERS: dict[str, Driver] = {
    "asyncio": _asynchronous(lambda main: asyncio.run(main())),
    "blocking": blocking,
    "trio": _asynchronous(trio.run),
}
