"""What a response means: a record or page if it succeeded, an error otherwise."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, cast

from .. import _errors as errors

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .._generated.models import ParameterProblem
    from .messages import Response

_BY_STATUS: dict[int, type[errors.ApiError]] = {
    401: errors.AuthenticationError,
    403: errors.PermissionDeniedError,
    404: errors.NotFoundError,
    408: errors.ApiTimeoutError,
    410: errors.GoneError,
    429: errors.RateLimitError,
}

HIDDEN = "[api key]"
"""What replaces the key in messages and bodies."""

_REQUEST_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


def request_id_of(headers: Mapping[str, str], sent: str) -> str:
    """Return the request id that the server stated, or the one that was sent if the response has no valid one."""
    stated = headers.get("x-request-id", "")
    return stated if _REQUEST_ID.fullmatch(stated) else sent


def record_of(response: Response) -> dict[str, Any]:
    """Return the record in a successful response that must contain one."""
    record = _object_in(response.content).get("data")
    if not isinstance(record, dict):
        raise _not_ours(response)
    return record


def page_of(response: Response) -> dict[str, Any]:
    """Return the body of a successful response that must be a page of a list, with `data` and `pagination`."""
    body = _object_in(response.content)
    pagination = body.get("pagination")
    if not (
        isinstance(body.get("data"), list)
        and isinstance(pagination, dict)
        and all(_is_whole(pagination.get(member)) for member in ("limit", "offset", "total"))
    ):
        raise _not_ours(response)
    return body


def check_download(response: Response) -> None:
    """Reject a successful response that isn't an export, such as a proxy's page."""
    media_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if not media_type.endswith("json"):
        raise _not_ours(response)


def download_of(response: Response) -> bytes:
    """Return the bytes of a successful response that must be an export."""
    check_download(response)
    return response.content


def error_of(response: Response, *, retry_after_seconds: int | None, api_key: str | None) -> errors.ApiError:
    """Create the error for an unsuccessful response, whether from the directory or a proxy.

    `retry_after_seconds` is the header's value, which takes precedence over the body's. The key is removed everywhere,
    since a server may echo what it was sent.
    """
    if response.status < 400:
        is_redirect = response.status >= 300 and response.status != 304
        return _not_ours(response, code="unexpected_redirect" if is_redirect else "invalid_response")
    problem = _hidden(_problem_in(response.content), api_key)
    # The key is removed from the body as well, because errors are shown and logged.
    if api_key:
        response = replace(response, content=response.content.replace(api_key.encode(), HIDDEN.encode()))
    message = _text(problem.get("detail")) or _text(problem.get("title")) or _unexplained(response.status)
    if retry_after_seconds is None and _is_whole(problem.get("retry_after_seconds")):
        retry_after_seconds = max(0, problem["retry_after_seconds"])
    return _kind_of(response.status)(
        message,
        status=response.status,
        code=_text(problem.get("code")) or f"http_{response.status}",
        request_id=_text(problem.get("request_id")) or response.request_id,
        retry_after_seconds=retry_after_seconds,
        errors=_parameter_problems(problem.get("errors")),
        response=response,
        attempts=response.attempts,
    )


def _kind_of(status: int) -> type[errors.ApiError]:
    return _BY_STATUS.get(status, errors.InvalidRequestError if status < 500 else errors.ServerError)


def _not_ours(response: Response, *, code: str = "invalid_response") -> errors.InvalidResponseError:
    return errors.InvalidResponseError(
        "The response isn't from a directory; check base_url and any proxy in between",
        status=response.status,
        code=code,
        request_id=response.request_id,
        response=response,
        attempts=response.attempts,
    )


def _object_in(content: bytes) -> dict[str, Any]:
    try:
        body = json.loads(content)
    except (ValueError, RecursionError):
        return {}
    return body if isinstance(body, dict) else {}


def _problem_in(content: bytes) -> dict[str, Any]:
    # Another service's JSON may have members with the same names. It only counts as our problem
    # document if the code is a string.
    body = _object_in(content)
    return body if isinstance(body.get("code"), str) else {}


def without_key(text: str, api_key: str | None) -> str:
    """Return the text with the key removed."""
    return text.replace(api_key, HIDDEN) if api_key else text


def _hidden(value: Any, api_key: str | None) -> Any:
    if isinstance(value, str):
        return without_key(value, api_key)
    if isinstance(value, list):
        return [_hidden(item, api_key) for item in value]
    if isinstance(value, dict):
        return {name: _hidden(member, api_key) for name, member in value.items()}
    return value


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _parameter_problems(value: object) -> list[ParameterProblem]:
    if not isinstance(value, list):
        return []
    return [cast("ParameterProblem", item) for item in value if isinstance(item, dict)]


def _unexplained(status: int) -> str:
    try:
        phrase = HTTPStatus(status).phrase
    except ValueError:
        phrase = "an unknown status"
    return f"The server responded with {status} ({phrase}), without an explanation"
