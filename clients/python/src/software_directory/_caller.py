"""Carries calls out, blocking: the only place of the blocking client that sends and sleeps."""

from __future__ import annotations

import copy
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Callable, TypeVar

import httpx

from ._protocol.exchange import Answer, Failure, Send, exchange, new_request_id
from ._protocol.outcome import page_of

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from ._http import Open
    from ._protocol.cache import Cache
    from ._protocol.exchange import Reply
    from ._protocol.messages import Call, Request, Response
    from ._protocol.settings import Settings

PageT = TypeVar("PageT")


class Caller:
    """Carries calls out; `open` sends a request and returns at the headers, `limiter` bounds the requests in flight."""

    def __init__(self, settings: Settings, open: Open, limiter: AbstractContextManager[Any], cache: Cache) -> None:
        self.settings = settings
        self.open = open
        self.limiter = limiter
        self.cache = cache
        self.sleep: Callable[[float], None] = time.sleep
        self.clock: Callable[[], float] = time.monotonic

    def with_settings(self, settings: Settings) -> Caller:
        """Return a caller with other settings over the same connections."""
        other = copy.copy(self)
        other.settings = settings
        return other

    def send(self, call: Call) -> Response:
        """Return the response of a success; raise the error of anything else."""
        steps = exchange(self.settings, call, request_id=new_request_id(), cache=self.cache)
        step = next(steps)
        while True:
            reply: Reply = None
            if isinstance(step, Send):
                reply = self._attempt(step.request)
            else:
                self.sleep(step.seconds)
            try:
                step = steps.send(reply)
            except StopIteration as done:
                response: Response = done.value
                return response

    def page(self, make: Callable[[Caller, Call, Response, dict[str, Any]], PageT], call: Call) -> PageT:
        """Fetch a page of a list, which `make` makes of its response."""
        response = self.send(call)
        return make(self, call, response, page_of(response))

    def _attempt(self, request: Request) -> Answer | Failure:
        status: int | None = None
        headers: httpx.Headers | None = None
        try:
            with ExitStack() as opened:
                opened.enter_context(self.limiter)
                started = self.clock()
                response = self.open(request)
                opened.callback(response.close)
                status, headers = response.status_code, response.headers
                content = self._content(response, started, request.timeout_seconds)
        except httpx.TimeoutException as cause:
            return Failure(cause, timed_out=True, status=status, headers=headers)
        except httpx.RequestError as cause:
            return Failure(cause, timed_out=False, status=status, headers=headers)
        return Answer(status, headers, content)

    def _content(self, response: httpx.Response, started: float, timeout_seconds: float | None) -> bytes:
        # The HTTP library bounds each read. A body that trickles is stopped here, between two chunks.
        content = bytearray()
        for chunk in response.iter_bytes():
            content += chunk
            if timeout_seconds is not None and self.clock() - started > timeout_seconds:
                raise httpx.ReadTimeout("the time for the whole attempt is over")
        return bytes(content)
