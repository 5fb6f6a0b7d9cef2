"""When to retry, and after how long."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .._errors import ApiError

FIRST_DELAY_SECONDS = 0.5
LONGEST_DELAY_SECONDS = 8.0


@dataclass(frozen=True)
class Retry:
    """A failed attempt that will be retried. `on_retry` is called with it before the wait."""

    attempt: int
    """The number of the failed attempt, from 1."""
    wait_seconds: float
    error: ApiError
    request_id: str
    url: str


def is_worth_retrying(status: int) -> bool:
    """Return whether a retry may get a different response after this status."""
    # 501: the directory never offers this.
    return status in {408, 429} or (status >= 500 and status != HTTPStatus.NOT_IMPLEMENTED)


def delay_seconds(
    retry: int, retry_after_seconds: int | None, *, longest_retry_after_seconds: float, random: float
) -> float | None:
    """Return the wait before the given retry (1 is the first), or `None` if there should be no retry.

    There's none if `Retry-After` exceeds `longest_retry_after_seconds`, since retrying sooner would be pointless.

    `random` is a number from 0 to 1. `Retry-After` is obeyed exactly. Without it, the delay doubles each
    time, and half of it is random, so clients that failed together don't all retry together.
    """
    if retry_after_seconds is not None:
        return float(retry_after_seconds) if retry_after_seconds <= longest_retry_after_seconds else None
    # Without a limit on the exponent, the float would overflow.
    whole = min(FIRST_DELAY_SECONDS * 2.0 ** min(retry - 1, 30), LONGEST_DELAY_SECONDS)
    return whole * (1 - random / 2)


def retry_after_of(headers: Mapping[str, str], now: datetime) -> int | None:
    """Read `Retry-After`, in seconds or as an HTTP date, as whole seconds, rounded up.

    A date is compared with the response's own `Date`, if it has one, so a wrong local clock does no harm.
    """
    value = headers.get("retry-after", "").strip()
    if value.isascii() and value.isdigit():
        return int(value[:9])
    until = _http_date(value)
    if until is None:
        return None
    since = _http_date(headers.get("date", "")) or now
    return max(0, math.ceil((until - since).total_seconds()))


def _http_date(value: str) -> datetime | None:
    try:
        date = parsedate_to_datetime(value)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    # A date without a time zone is in UTC, like all HTTP dates.
    return date if date.tzinfo is not None else date.replace(tzinfo=timezone.utc)
