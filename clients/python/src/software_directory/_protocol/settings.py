"""A client's settings, checked once, so no later error has to quote the key."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, Callable, get_args
from urllib.parse import urlsplit

import httpx

from .generations import GenerationChange
from .retry import Retry

API_KEY_VARIABLE = "SOFTWARE_DIRECTORY_API_KEY"
BASE_URL_VARIABLE = "SOFTWARE_DIRECTORY_URL"

DEFAULT_TIMEOUT_SECONDS = 30.0
DEFAULT_MAX_RETRIES = 2
DEFAULT_MAX_RETRY_AFTER_SECONDS = 60.0
DEFAULT_MAX_CONNECTIONS = 100
OnRetry = Callable[[Retry], None]
DEFAULT_GENERATION_CHANGE: GenerationChange = "restart"


class Unchanged(Enum):
    """The type of `UNCHANGED`, which means that a setting wasn't passed. For some, `None` is a valid value."""

    TOKEN = 0


UNCHANGED = Unchanged.TOKEN


@dataclass(frozen=True)
class Settings:
    """A client's settings. Their `repr` leaves out the key."""

    api_key: str | None = field(repr=False)
    base_url: str
    timeout_seconds: float | None = DEFAULT_TIMEOUT_SECONDS
    max_retries: int = DEFAULT_MAX_RETRIES
    max_retry_after_seconds: float = DEFAULT_MAX_RETRY_AFTER_SECONDS
    max_connections: int = DEFAULT_MAX_CONNECTIONS
    generation_change: GenerationChange = DEFAULT_GENERATION_CHANGE
    cache_max_bytes: int = 0
    on_retry: OnRetry | None = None

    def __post_init__(self) -> None:
        """Reject invalid settings now rather than later, with a clear message."""
        _check_api_key(self.api_key)
        object.__setattr__(self, "base_url", _checked_base_url(self.base_url))
        _check_timeout(self.timeout_seconds)
        _check_whole("max_retries", self.max_retries, 0)
        _check_wait(self.max_retry_after_seconds)
        _check_whole("max_connections", self.max_connections, 1)
        _check_whole("cache_max_bytes", self.cache_max_bytes, 0)
        if self.on_retry is not None and not callable(self.on_retry):
            raise ValueError("on_retry must be a function")
        if self.generation_change not in get_args(GenerationChange):
            raise ValueError('generation_change must be "restart", "raise" or "ignore"')

    def changed(self, **changes: Any) -> Settings:
        """Return a copy with the given settings replaced."""
        return replace(self, **{name: value for name, value in changes.items() if value is not UNCHANGED})


def _check_api_key(api_key: object) -> None:
    # An HTTP library would quote an invalid header value, so the key is checked here first.
    if api_key is None:
        return
    if not isinstance(api_key, str) or not api_key:
        raise ValueError(
            "api_key is empty; pass the key that `software-directory keys create` printed, or none for a public API"
        )
    if not all("!" <= character <= "~" for character in api_key):
        raise ValueError("api_key contains a space, a line break or another character that keys never contain")


def _checked_base_url(base_url: object) -> str:
    if not isinstance(base_url, str) or not base_url:
        raise ValueError(
            "base_url is missing; pass the address of the directory, such as https://directory.example, "
            f"or set {BASE_URL_VARIABLE}"
        )
    try:
        parts = urlsplit(base_url)
        sound = parts.scheme.lower() in {"http", "https"} and bool(parts.hostname) and parts.port != 0
        httpx.URL(base_url)
    except (ValueError, httpx.InvalidURL):
        parts, sound = urlsplit(""), False
    if not sound:
        raise ValueError("base_url must be an absolute http or https address, such as https://directory.example")
    if "@" in parts.netloc:
        # The HTTP library would send these credentials instead of the key.
        raise ValueError("base_url must not contain a user name or password")
    if "?" in base_url or "#" in base_url:
        raise ValueError("base_url must not contain a query or a fragment")
    if any(character.isspace() for character in base_url):
        raise ValueError("base_url must not contain white space")
    return base_url.rstrip("/")


def _check_whole(name: str, value: object, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ValueError(f"{name} must be a whole number, {least} or more")


def _check_timeout(timeout: float | None) -> None:
    if timeout is not None and not (_is_number(timeout) and 0 < timeout < math.inf):
        raise ValueError("timeout must be a number of seconds above 0, or None for no limit")


def _check_wait(seconds: float) -> None:
    if not (_is_number(seconds) and 0 <= seconds < math.inf):
        raise ValueError("max_retry_after must be a number of seconds, 0 or more")


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
