"""The errors of the client.

    Exception
    └── ApiError                    status, code, request_id; retry_after_seconds where waiting helps
        ├── AuthenticationError     401: the key is missing, unknown or expired
        ├── PermissionDeniedError   403: the key may not do this
        ├── NotFoundError           404: there is no such product, export or route
        ├── GoneError               410: the changes since this generation aren't known, or not any more
        ├── RateLimitError          429: too many requests
        ├── InvalidRequestError     other 4xx: fix the request; `errors` names the parameters at fault
        ├── ServerError             5xx: the server could not answer, this time
        ├── ApiTimeoutError         no whole answer came in time (status 0, or the server's own 408)
        ├── ApiConnectionError      no connection, or one that broke (status 0)
        ├── GenerationChangedError  the data changed between two pages of an iteration
        └── InvalidResponseError    an answer that isn't the directory's: a sign-in page, broken JSON, a redirect

A wrong argument of the client itself (an empty id, a base URL without a scheme) is a `ValueError`, before anything is
sent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import httpx

if TYPE_CHECKING:
    from ._generated.models import ParameterProblem
    from ._protocol.messages import Response


BODY_BYTES = 64 * 1024
"""How much of the body of an error is read; the rest is a proxy's page."""


class ApiError(Exception):
    """A request that did not end in the expected response."""

    status: int
    """The HTTP status; 0 where no whole answer came."""
    code: str
    """A stable name of what went wrong: the server's, else one of the client's (`http_502`, `connection_error`, …)."""
    request_id: str
    """The request's id, to quote to the operator."""
    retry_after_seconds: int | None
    """The wait before the next attempt in seconds, if the response has it."""
    errors: list[ParameterProblem]
    """What is wrong with which parameter, where that is the trouble."""
    response: Response | None
    """The answer as it came, where one did."""
    attempts: int
    """How many attempts were made."""

    def __init__(
        self,
        message: str,
        *,
        status: int,
        code: str,
        request_id: str,
        retry_after_seconds: int | None = None,
        errors: list[ParameterProblem] | None = None,
        response: Response | None = None,
        attempts: int = 1,
    ) -> None:
        """Make an error; `message` is for people, the rest for programs."""
        super().__init__(message)
        self.message = message
        self.status = status
        self.code = code
        self.request_id = request_id
        self.retry_after_seconds = retry_after_seconds
        self.errors = errors if errors is not None else []
        self.response = response
        self.attempts = attempts

    @property
    def headers(self) -> httpx.Headers:
        """The headers of the answer; none where no whole answer came."""
        return self.response.headers if self.response is not None else httpx.Headers()

    @property
    def body(self) -> str:
        """The body of the answer as text, at most 64 KiB of it."""
        content = self.response.content if self.response is not None else b""
        return content[:BODY_BYTES].decode("utf-8", errors="replace")

    def __str__(self) -> str:
        """Say what happened, with all that a report to the operator needs."""
        status = f"status {self.status}, " if self.status else ""
        return f"{self.message} ({status}code {self.code}, request id {self.request_id})"

    def __repr__(self) -> str:
        """Name the kind and the members that programs look at."""
        name = type(self).__name__
        return f"{name}(status={self.status}, code={self.code!r}, request_id={self.request_id!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        """Survive a copy and the way between processes."""
        return (_restored, (type(self), self.message, {**self.__dict__}))


def _restored(kind: type[ApiError], message: str, members: dict[str, Any]) -> ApiError:
    error = kind.__new__(kind, message)
    Exception.__init__(error, message)
    error.__dict__.update(members)
    return error


class InvalidRequestError(ApiError):
    """The server refused the request as it is; the same one will be refused again."""


class AuthenticationError(ApiError):
    """The API key is missing, unknown or expired."""


class PermissionDeniedError(ApiError):
    """The API key is known but may not do this."""


class NotFoundError(ApiError):
    """There is no such product, export or route."""


class GoneError(ApiError):
    """The server doesn't have the changes since this generation, or not any more: begin again with the exports."""


class RateLimitError(ApiError):
    """The key has made too many requests; `retry_after_seconds` is the wait."""


class ServerError(ApiError):
    """The server, or something before it, could not answer this time."""


class ApiTimeoutError(ApiError):
    """No whole answer came within the timeout, or the server ended a request that took it too long (408)."""


class ApiConnectionError(ApiError):
    """No whole answer came: the connection could not be made, or broke."""


class GenerationChangedError(ApiError):
    """The directory's data changed between two pages of an iteration; `response` is the page of the newer data."""


class InvalidResponseError(ApiError):
    """An answer came that is no error and not the directory's: `base_url` may be wrong, or a proxy in the way."""
