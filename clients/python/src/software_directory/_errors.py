"""The client's errors.

    Exception
    └── ApiError                    status, code, request_id; retry_after_seconds if waiting helps
        ├── AuthenticationError     401: the key is missing, unknown or expired
        ├── PermissionDeniedError   403: the key doesn't permit this
        ├── NotFoundError           404: there is no such product, export or route
        ├── GoneError               410: the changes since this generation are no longer known, or never were
        ├── RateLimitError          429: too many requests
        ├── InvalidRequestError     other 4xx: fix the request; `errors` names the parameters at fault
        ├── ServerError             5xx: the server couldn't respond this time
        ├── ApiTimeoutError         no complete response in time (status 0, or the server's own 408)
        ├── ApiConnectionError      no connection, or one that broke (status 0)
        ├── GenerationChangedError  the data changed between two pages of an iteration
        └── InvalidResponseError    the response isn't from a directory: a sign-in page, broken JSON, a redirect

An invalid argument to the client itself (an empty id, a base URL without a scheme) raises `ValueError` before anything
is sent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import httpx

if TYPE_CHECKING:
    from ._generated.models import ParameterProblem
    from ._protocol.messages import Response


BODY_BYTES = 64 * 1024
"""How much of an error's body is read. Anything longer is a proxy's page."""


class ApiError(Exception):
    """A request that didn't get the expected response."""

    status: int
    """The HTTP status; 0 if there was no complete response."""
    code: str
    """A stable name for the error: the server's, or else the client's (`http_502`, `connection_error`, …)."""
    request_id: str
    """The request's id, to quote to the operator."""
    retry_after_seconds: int | None
    """Seconds to wait before the next attempt, if the response specifies it."""
    errors: list[ParameterProblem]
    """The invalid parameters and what's wrong with each, if that's the cause."""
    response: Response | None
    """The response, if there was one."""
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
        """Create an error; `message` is for people, the rest for programs."""
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
        """The response's headers; empty if there was no complete response."""
        return self.response.headers if self.response is not None else httpx.Headers()

    @property
    def body(self) -> str:
        """The response's body as text, at most 64 KiB of it."""
        content = self.response.content if self.response is not None else b""
        return content[:BODY_BYTES].decode("utf-8", errors="replace")

    def __str__(self) -> str:
        """Say what happened, with everything that a report to the operator needs."""
        status = f"status {self.status}, " if self.status else ""
        return f"{self.message} ({status}code {self.code}, request id {self.request_id})"

    def __repr__(self) -> str:
        """Show the class and the members that programs use."""
        name = type(self).__name__
        return f"{name}(status={self.status}, code={self.code!r}, request_id={self.request_id!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        """Support copying and pickling."""
        return (_restored, (type(self), self.message, {**self.__dict__}))


def _restored(kind: type[ApiError], message: str, members: dict[str, Any]) -> ApiError:
    error = kind.__new__(kind, message)
    Exception.__init__(error, message)
    error.__dict__.update(members)
    return error


class InvalidRequestError(ApiError):
    """The server rejected the request, and would reject the same request again."""


class AuthenticationError(ApiError):
    """The API key is missing, unknown or expired."""


class PermissionDeniedError(ApiError):
    """The API key is known, but doesn't permit this."""


class NotFoundError(ApiError):
    """There is no such product, export or route."""


class GoneError(ApiError):
    """The server no longer has the changes since this generation, or never had them: start again with the exports."""


class RateLimitError(ApiError):
    """The key has made too many requests; `retry_after_seconds` says how long to wait."""


class ServerError(ApiError):
    """The server, or a proxy in front of it, couldn't respond this time."""


class ApiTimeoutError(ApiError):
    """No complete response arrived within the timeout, or the server gave up on a slow request (408)."""


class ApiConnectionError(ApiError):
    """The connection couldn't be made, or broke before the response was complete."""


class GenerationChangedError(ApiError):
    """The directory's data changed between two pages of an iteration; `response` is the page with the newer data."""


class InvalidResponseError(ApiError):
    """A successful response that isn't from a directory: `base_url` may be wrong, or a proxy may be in the way."""
