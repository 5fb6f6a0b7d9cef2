"""Carries calls out, asynchronously: the only place of the asynchronous client that sends and sleeps."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, Callable, TypeVar

import anyio
import httpx

from ._protocol.exchange import Answer, Failure, Send, exchange, new_request_id
from ._protocol.outcome import page_of

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from ._http import AsyncOpen
    from ._limiter import AsyncLimiter
    from ._protocol.cache import Cache
    from ._protocol.exchange import Reply
    from ._protocol.messages import Call, Request, Response
    from ._protocol.settings import Settings

PageT = TypeVar("PageT")


class AsyncCaller:
    """Carries calls out; `open` sends a request and returns at the headers, `limiter` bounds the requests in flight."""

    def __init__(self, settings: Settings, open: AsyncOpen, limiter: AsyncLimiter, cache: Cache) -> None:
        self.settings = settings
        self.open = open
        self.limiter = limiter
        self.cache = cache
        self.sleep: Callable[[float], Awaitable[None]] = anyio.sleep

    def with_settings(self, settings: Settings) -> AsyncCaller:
        """Return a caller with other settings over the same connections."""
        other = copy.copy(self)
        other.settings = settings
        return other

    async def send(self, call: Call) -> Response:
        """Return the response of a success; raise the error of anything else."""
        steps = exchange(self.settings, call, request_id=new_request_id(), cache=self.cache)
        step = next(steps)
        while True:
            reply: Reply = None
            if isinstance(step, Send):
                reply = await self._attempt(step.request)
            else:
                await self.sleep(step.seconds)
            try:
                step = steps.send(reply)
            except StopIteration as done:
                response: Response = done.value
                return response

    async def page(self, make: Callable[[AsyncCaller, Call, Response, dict[str, Any]], PageT], call: Call) -> PageT:
        """Fetch a page of a list, which `make` makes of its response."""
        response = await self.send(call)
        return make(self, call, response, page_of(response))

    async def _attempt(self, request: Request) -> Answer | Failure:
        status: int | None = None
        headers: httpx.Headers | None = None
        try:
            async with self.limiter:
                # The HTTP library bounds each read; this bounds the whole attempt, name lookup and body included.
                with anyio.fail_after(request.timeout_seconds):
                    response = await self.open(request)
                    try:
                        status, headers = response.status_code, response.headers
                        content = await response.aread()
                    finally:
                        await response.aclose()
        except (TimeoutError, httpx.TimeoutException) as cause:
            return Failure(cause, timed_out=True, status=status, headers=headers)
        except httpx.RequestError as cause:
            return Failure(cause, timed_out=False, status=status, headers=headers)
        return Answer(status, headers, content)
