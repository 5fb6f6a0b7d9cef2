"""Carries out calls: the only module in the blocking client that sends requests and sleeps."""

from __future__ import annotations

import copy
import time
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, Callable, TypeVar

import httpx

from ._downloads import Download
from ._errors import BODY_BYTES
from ._protocol.exchange import Answer, Failure, Send, exchange, new_request_id
from ._protocol.outcome import check_download, page_of
from ._reports import report_attempt, report_retry

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from ._http import Open
    from ._protocol.cache import Cache
    from ._protocol.exchange import Reply
    from ._protocol.messages import Call, Request, Response
    from ._protocol.settings import Settings

PageT = TypeVar("PageT")


class Caller:
    """Carries out calls. `open` sends a request and returns once headers arrive; `limiter` limits concurrency."""

    def __init__(self, settings: Settings, open: Open, limiter: AbstractContextManager[Any], cache: Cache) -> None:
        self.settings = settings
        self.open = open
        self.limiter = limiter
        self.cache = cache
        self.sleep: Callable[[float], None] = time.sleep
        self.clock: Callable[[], float] = time.monotonic

    def with_settings(self, settings: Settings) -> Caller:
        """Return a caller with different settings that uses the same connections."""
        other = copy.copy(self)
        other.settings = settings
        return other

    def send(self, call: Call) -> Response:
        """Return a successful response; raise an error for anything else."""
        return self._carry_out(call, self._attempt)

    @contextmanager
    def stream(self, call: Call) -> Iterator[Download]:
        """Send a call and leave a successful response's body unread. Retries end once the body begins."""
        download = Download(self.settings.api_key)
        download.response = self._carry_out(call, lambda request: self._attempt(request, download))
        with download.opened:
            check_download(download.response)
            yield download

    def page(self, make: Callable[[Caller, Call, Response, dict[str, Any]], PageT], call: Call) -> PageT:
        """Fetch a page of a list; `make` turns the response into a page."""
        response = self.send(call)
        return make(self, call, response, page_of(response))

    def _carry_out(self, call: Call, attempt: Callable[[Request], Answer | Failure]) -> Response:
        steps = exchange(self.settings, call, request_id=new_request_id(), cache=self.cache)
        step = next(steps)
        while True:
            reply: Reply = None
            if isinstance(step, Send):
                reply = attempt(step.request)
                report_attempt(self.settings, step.request, reply)
            else:
                report_retry(self.settings, step.retry)
                self.sleep(step.seconds)
            try:
                step = steps.send(reply)
            except StopIteration as done:
                response: Response = done.value
                return response

    def _attempt(self, request: Request, download: Download | None = None) -> Answer | Failure:
        status: int | None = None
        headers: httpx.Headers | None = None
        try:
            with ExitStack() as opened:
                opened.enter_context(self.limiter)
                started = self.clock()
                response = self.open(request)
                opened.callback(response.close)
                status, headers = response.status_code, response.headers
                if download is not None and response.is_success:
                    download.hold(request, response.iter_bytes(), opened.pop_all())
                    return Answer(status, headers, b"")
                content = self._content(response, request, started)
        except httpx.RequestError as cause:
            return Failure(cause, status=status, headers=headers)
        return Answer(status, headers, content)

    def _content(self, response: httpx.Response, request: Request, started: float) -> bytes:
        # The HTTP library limits each read. A body that trickles in is cut off here, between two
        # chunks.
        total = request.total_seconds if response.is_success else request.timeout_seconds
        content = bytearray()
        for chunk in response.iter_bytes():
            if response.is_success or len(content) < BODY_BYTES:
                content += chunk
            if total is not None and self.clock() - started > total:
                raise httpx.ReadTimeout("the attempt took too long")
        return bytes(content if response.is_success else content[:BODY_BYTES])
