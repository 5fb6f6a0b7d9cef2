"""Logging and the retry hook."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from ._protocol.exchange import Failure
from ._protocol.outcome import without_key

if TYPE_CHECKING:
    from ._protocol.exchange import Answer
    from ._protocol.messages import Request
    from ._protocol.retry import Retry
    from ._protocol.settings import Settings

logger = logging.getLogger("software_directory")
logger.addHandler(logging.NullHandler())


def report_attempt(settings: Settings, request: Request, reply: Answer | Failure) -> None:
    """Log a request and its outcome."""
    if logger.isEnabledFor(logging.DEBUG):
        outcome = type(reply.cause).__name__ if isinstance(reply, Failure) else reply.status
        url = without_key(request.url, settings.api_key)
        logger.debug("GET %s: %s (request id %s)", url, outcome, request.request_id)


def report_retry(settings: Settings, retry: Retry) -> None:
    """Log a retry, and call the hook."""
    logger.info(
        "GET %s: attempt %d of %d failed (%s), retrying in %.2f s (request id %s)",
        retry.url,
        retry.attempt,
        settings.max_retries + 1,
        retry.error.code,
        retry.wait_seconds,
        retry.request_id,
    )
    if settings.on_retry is not None:
        settings.on_retry(retry)
