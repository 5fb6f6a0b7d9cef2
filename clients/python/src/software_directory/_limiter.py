"""The limit on requests in flight.

A request waits here for one of the client's connections before its timeout starts. In the HTTP library's own pool, the
wait would count towards the timeout, and requests in a burst would time out before they're sent.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import anyio

if TYPE_CHECKING:
    from types import TracebackType


class AsyncLimiter:
    """A first-in-first-out semaphore for the tasks of whichever event loop is running.

    anyio's own are bound to a loop or need a running one when created. A client can be created anywhere.
    """

    def __init__(self, slots: int) -> None:
        self._free = slots
        self._waiting: deque[anyio.Event] = deque()

    async def __aenter__(self) -> None:
        if self._free > 0:
            self._free -= 1
            return
        turn = anyio.Event()
        self._waiting.append(turn)
        try:
            await turn.wait()
        except BaseException:
            if turn.is_set():
                self._release()
            else:
                self._waiting.remove(turn)
            raise

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._release()

    def _release(self) -> None:
        # Hands the slot to the task that has waited longest, so the slot never becomes free in
        # between.
        if self._waiting:
            self._waiting.popleft().set()
        else:
            self._free += 1
