"""Carries calls out, blocking: the only place of the blocking client that sends and sleeps."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Callable, TypeVar

import httpx

from ._deadline import deadline_after, remaining_seconds
from ._protocol.exchange import Answer, Failure, Send, exchange, new_request_id
from ._protocol.outcome import page_of

if TYPE_CHECKING:
    from ._http import Open
    from ._protocol.exchange import Reply
    from ._protocol.messages import Call, Request, Response
    from ._protocol.settings import Settings

PageT = TypeVar("PageT")


class Caller:
    """Carries calls out; `open` sends a request and returns at the headers."""

    def __init__(self, settings: Settings, open: Open, sleep: Callable[[float], None] = time.sleep) -> None:
        self.settings = settings
        self.open = open
        self.sleep = sleep

    def send(self, call: Call) -> Response:
        """Return the response of a success; raise the error of anything else."""
        steps = exchange(self.settings, call, request_id=new_request_id())
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
            with deadline_after(request.timeout_seconds):
                response = self.open(request)
                try:
                    status, headers = response.status_code, response.headers
                    content = bytearray()
                    for chunk in response.iter_bytes():
                        content += chunk
                        remaining_seconds()
                finally:
                    response.close()
        except httpx.TimeoutException as cause:
            return Failure(cause, timed_out=True, status=status, headers=headers)
        except httpx.RequestError as cause:
            return Failure(cause, timed_out=False, status=status, headers=headers)
        return Answer(status, headers, bytes(content))
