"""Event loops whose clock jumps to the next timer when there's nothing else to do, so no test waits."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Callable, TypeVar

import trio
import trio.testing

if TYPE_CHECKING:
    from collections.abc import Awaitable, Coroutine

T = TypeVar("T")


class _Loop(asyncio.SelectorEventLoop):
    _now = 0.0

    def time(self) -> float:
        return self._now

    def _run_once(self) -> None:
        loop: Any = self
        if not loop._ready and loop._scheduled:
            self._now = max(self._now, loop._scheduled[0]._when)
        super()._run_once()  # type: ignore[misc]


def run_asyncio(main: Callable[[], Coroutine[Any, Any, T]]) -> T:
    loop = _Loop()
    try:
        return loop.run_until_complete(main())
    finally:
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()


def run_trio(main: Callable[[], Awaitable[T]]) -> T:
    return trio.run(main, clock=trio.testing.MockClock(autojump_threshold=0))


RUNNERS: dict[str, Callable[..., Any]] = {"asyncio": run_asyncio, "trio": run_trio}
