"""Carries out calls: the only module in the asynchronous client that sends requests and sleeps."""

from __future__ import annotations

import copy
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any, Callable, TypeVar

import anyio
import httpx

from ._downloads import AsyncDownload
from ._errors import BODY_BYTES
from ._protocol.exchange import Answer, Failure, Send, exchange, new_request_id
from ._protocol.outcome import check_download, page_of
from ._reports import report_attempt, report_retry

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable

    from ._http import AsyncOpen
    from ._limiter import AsyncLimiter
    from ._protocol.cache import Cache
    from ._protocol.exchange import Reply
    from ._protocol.messages import Call, Request, Response
    from ._protocol.settings import Settings

PageT = TypeVar("PageT")


class AsyncCaller:
    """Carries out calls. `open` sends a request and returns once headers arrive; `limiter` limits concurrency."""

    def __init__(self, settings: Settings, open: AsyncOpen, limiter: AsyncLimiter, cache: Cache) -> None:
        self.settings = settings
        self.open = open
        self.limiter = limiter
        self.cache = cache
        self.sleep: Callable[[float], Awaitable[None]] = anyio.sleep

    def with_settings(self, settings: Settings) -> AsyncCaller:
        """Return a caller with different settings that uses the same connections."""
        other = copy.copy(self)
        other.settings = settings
        return other

    async def send(self, call: Call) -> Response:
        """Return a successful response; raise an error for anything else."""
        return await self._carry_out(call, self._attempt)

    @asynccontextmanager
    async def stream(self, call: Call) -> AsyncIterator[AsyncDownload]:
        """Send a call and leave a successful response's body unread. Retries end once the body begins."""
        download = AsyncDownload(self.settings.api_key)
        download.response = await self._carry_out(call, lambda request: self._attempt(request, download))
        async with download.opened:
            check_download(download.response)
            yield download

    async def page(self, make: Callable[[AsyncCaller, Call, Response, dict[str, Any]], PageT], call: Call) -> PageT:
        """Fetch a page of a list; `make` turns the response into a page."""
        response = await self.send(call)
        return make(self, call, response, page_of(response))

    async def _carry_out(self, call: Call, attempt: Callable[[Request], Awaitable[Answer | Failure]]) -> Response:
        steps = exchange(self.settings, call, request_id=new_request_id(), cache=self.cache)
        step = next(steps)
        while True:
            reply: Reply = None
            if isinstance(step, Send):
                reply = await attempt(step.request)
                report_attempt(self.settings, step.request, reply)
            else:
                report_retry(self.settings, step.retry)
                await self.sleep(step.seconds)
            try:
                step = steps.send(reply)
            except StopIteration as done:
                response: Response = done.value
                return response

    async def _attempt(self, request: Request, download: AsyncDownload | None = None) -> Answer | Failure:
        status: int | None = None
        headers: httpx.Headers | None = None
        try:
            async with AsyncExitStack() as opened:
                await opened.enter_async_context(self.limiter)
                # The HTTP library limits each read. This limits the whole attempt, including DNS
                # lookup and body.
                with anyio.fail_after(request.total_seconds):
                    with anyio.fail_after(request.timeout_seconds):
                        response = await self.open(request)
                        opened.push_async_callback(response.aclose)
                    status, headers = response.status_code, response.headers
                    chunks = _chunks(response, request)
                    if download is not None and response.is_success:
                        download.hold(request, chunks, opened.pop_all())
                        return Answer(status, headers, b"")
                    content = await _content(response, request, chunks)
        except (TimeoutError, httpx.RequestError) as cause:
            return Failure(cause, status=status, headers=headers)
        return Answer(status, headers, content)


async def _chunks(response: httpx.Response, request: Request) -> AsyncIterator[bytes]:
    chunks = response.aiter_bytes()
    while True:
        try:
            with anyio.fail_after(request.timeout_seconds):
                chunk = await chunks.__anext__()
        except StopAsyncIteration:
            return
        yield chunk


async def _content(response: httpx.Response, request: Request, chunks: AsyncIterator[bytes]) -> bytes:
    content = bytearray()
    with anyio.fail_after(None if response.is_success else request.timeout_seconds):
        async for chunk in chunks:
            if response.is_success or len(content) < BODY_BYTES:
                content += chunk
    return bytes(content if response.is_success else content[:BODY_BYTES])
