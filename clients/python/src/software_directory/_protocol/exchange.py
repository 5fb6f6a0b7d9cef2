"""One call from its first attempt to its last, as a generator that performs no I/O itself.

It yields the next step (`Send` or `Sleep`) and receives its outcome: an `Answer` or a `Failure`, or `None` after a
sleep. It returns a successful response, and raises an error for anything else. The two clients differ only in how they
carry out the steps.
"""

from __future__ import annotations

import random
import secrets
from collections.abc import Generator
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Callable, Optional, Union
from urllib.parse import quote

import httpx

from .. import _errors as errors
from .._version import __version__
from .cache import conditional, refreshed
from .messages import Call, Request, Response
from .outcome import error_of, request_id_of, without_key
from .retry import Retry, delay_seconds, is_worth_retrying, retry_after_of

if TYPE_CHECKING:
    from .cache import Cache
    from .settings import Settings


USER_AGENT = f"software-directory-python/{__version__}"


@dataclass(frozen=True)
class Send:
    """Make one attempt. The reply is an `Answer` or a `Failure`."""

    request: Request


@dataclass(frozen=True)
class Sleep:
    """Wait before a retry. The reply is `None`."""

    retry: Retry

    @property
    def seconds(self) -> float:
        """How long to wait."""
        return self.retry.wait_seconds


@dataclass(frozen=True)
class Answer:
    """A complete response, whatever its status."""

    status: int
    headers: httpx.Headers
    content: bytes


@dataclass(frozen=True)
class Failure:
    """There was no complete response."""

    cause: Exception
    status: int | None = None
    """The status, if at least that much of the response arrived."""
    headers: httpx.Headers | None = None

    @property
    def timed_out(self) -> bool:
        """Whether this was a timeout, as opposed to a connection error."""
        return isinstance(self.cause, (TimeoutError, httpx.TimeoutException))


Step = Union[Send, Sleep]
Reply = Optional[Union[Answer, Failure]]
Exchange = Generator[Step, Reply, Response]


def new_request_id() -> str:
    """Return a request id that the server will use as is: 32 hexadecimal digits."""
    return secrets.token_hex(16)


def _utc_now() -> datetime:
    return datetime.now(timezone.utc)


def exchange(
    settings: Settings,
    call: Call,
    *,
    request_id: str,
    cache: Cache | None = None,
    random: Callable[[], float] = random.random,
    now: Callable[[], datetime] = _utc_now,
) -> Exchange:
    """Carry out a call. All its attempts share one request id, so the server's log shows that they belong together."""
    plain = request = build_request(settings, call, request_id)
    cache = cache if call.is_cacheable else None
    kept = cache.get(plain) if cache is not None else None
    if kept is not None:
        request = conditional(plain, kept)
    attempt = 0
    while True:
        attempt += 1
        reply = yield Send(request)
        if reply is None:
            raise TypeError("the reply to a Send must be an Answer or a Failure")
        may_be_304 = call.is_raw or kept is not None
        outcome = _outcome_of(reply, request, attempt, settings, now, may_be_304=may_be_304)
        if isinstance(outcome, Response):
            if outcome.status == 304 and kept is not None:
                return refreshed(kept, outcome)
            if cache is not None and outcome.status == 200:
                cache.put(plain, outcome)
            return outcome
        wait = None
        if attempt <= settings.max_retries and (outcome.status == 0 or is_worth_retrying(outcome.status)):
            wait = delay_seconds(
                attempt,
                outcome.retry_after_seconds,
                longest_retry_after_seconds=settings.max_retry_after_seconds,
                random=random(),
            )
        if wait is None:
            raise outcome from presentable_cause(reply.cause if isinstance(reply, Failure) else None, settings.api_key)
        url = without_key(request.url, settings.api_key)
        yield Sleep(Retry(attempt, wait, outcome, request.request_id, url))


def _outcome_of(
    reply: Answer | Failure,
    request: Request,
    attempt: int,
    settings: Settings,
    now: Callable[[], datetime],
    *,
    may_be_304: bool,
) -> Response | errors.ApiError:
    if isinstance(reply, Failure):
        if reply.status is None or reply.headers is None or 200 <= reply.status < 300:
            return unanswered(reply, request, attempt, settings.api_key)
        # An error's status is enough, even without its body: a rejected key stays rejected,
        # however the connection ended.
        reply = Answer(reply.status, reply.headers, b"")
    response = Response(
        status=reply.status,
        headers=reply.headers,
        content=reply.content,
        request_id=request_id_of(reply.headers, request.request_id),
        attempts=attempt,
    )
    if 200 <= reply.status < 300 or (reply.status == 304 and may_be_304):
        return response
    retry_after_seconds = retry_after_of(reply.headers, now())
    return error_of(response, retry_after_seconds=retry_after_seconds, api_key=settings.api_key)


def unanswered(failure: Failure, request: Request, attempt: int, api_key: str | None) -> errors.ApiError:
    """Return the error for an attempt without a complete response."""
    kind: type[errors.ApiError] = errors.ApiConnectionError
    code = "connection_error"
    url = httpx.URL(request.url)
    server = f"{url.scheme}://{url.netloc.decode('ascii')}"
    cause = presentable_cause(failure.cause, api_key)
    message = f"The connection to {server} failed: {str(cause or '') or type(failure.cause).__name__}"
    if failure.timed_out:
        kind, code = errors.ApiTimeoutError, "timeout"
        within = "in time" if request.timeout_seconds is None else f"within {request.timeout_seconds:g} s"
        message = f"No {'data' if request.is_download else 'complete response'} arrived {within} from {server}"
    return kind(message, status=0, code=code, request_id=request.request_id, attempts=attempt)


def presentable_cause(cause: Exception | None, api_key: str | None) -> Exception | None:
    """Return the HTTP library's exception, unless its text contains the key, which the server may have echoed."""
    link: BaseException | None = cause
    while link is not None:
        if api_key and api_key in f"{link!r}{link}":
            return None
        link = link.__cause__ or link.__context__
    return cause


def build_request(settings: Settings, call: Call, request_id: str) -> Request:
    """Build the request for a call, with URL and key. `request_id` is used unless the call has its own."""
    query = "&".join(f"{quote(name, safe='')}={quote(value, safe='')}" for name, value in call.query)
    headers = {"Accept": call.accept, "User-Agent": USER_AGENT, "X-Request-Id": request_id}
    spelled = {name.lower(): name for name in headers}
    for name, value in call.headers:
        headers[spelled.setdefault(name.lower(), name)] = value
    if settings.api_key:
        headers["Authorization"] = f"Bearer {settings.api_key}"
    return Request(
        url=f"{settings.base_url}{call.path}{'?' if query else ''}{query}",
        headers=headers,
        request_id=headers["X-Request-Id"],
        timeout_seconds=settings.timeout_seconds,
        is_download=call.is_download,
    )
