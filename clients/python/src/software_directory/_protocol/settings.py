"""What a client is set up with, checked once so that no later failure has to quote the key."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import Enum
from urllib.parse import urlsplit

import httpx

DEFAULT_TIMEOUT_SECONDS = 30.0
DEFAULT_MAX_RETRIES = 2
DEFAULT_MAX_RETRY_AFTER_SECONDS = 60.0


class Unchanged(Enum):
    """The type of `UNCHANGED`: a setting that isn't given, where `None` means something."""

    TOKEN = 0


UNCHANGED = Unchanged.TOKEN


@dataclass(frozen=True)
class Settings:
    """A client's settings. The key is left out of every text that is made of them."""

    api_key: str = field(repr=False)
    base_url: str
    timeout_seconds: float | None = DEFAULT_TIMEOUT_SECONDS
    max_retries: int = DEFAULT_MAX_RETRIES
    max_retry_after_seconds: float = DEFAULT_MAX_RETRY_AFTER_SECONDS

    def __post_init__(self) -> None:
        """Refuse what could only fail later, and less clearly."""
        _check_api_key(self.api_key)
        object.__setattr__(self, "base_url", _checked_base_url(self.base_url))
        _check_timeout(self.timeout_seconds)
        if isinstance(self.max_retries, bool) or not isinstance(self.max_retries, int) or self.max_retries < 0:
            raise ValueError("max_retries must be a whole number from 0; 0 turns retries off")
        _check_wait(self.max_retry_after_seconds)

    def changed(
        self,
        timeout_seconds: float | Unchanged | None,
        max_retries: int | Unchanged,
        max_retry_after_seconds: float | Unchanged,
    ) -> Settings:
        """Return a copy in which what is given is replaced."""
        return Settings(
            self.api_key,
            self.base_url,
            self.timeout_seconds if isinstance(timeout_seconds, Unchanged) else timeout_seconds,
            self.max_retries if isinstance(max_retries, Unchanged) else max_retries,
            self.max_retry_after_seconds if isinstance(max_retry_after_seconds, Unchanged) else max_retry_after_seconds,
        )


def _check_api_key(api_key: object) -> None:
    # An HTTP library would quote a value that can't be a header's, so it is refused here, unquoted.
    if not isinstance(api_key, str) or not api_key:
        raise ValueError("api_key is missing; pass the key that `software-directory keys create` printed")
    if not all("!" <= character <= "~" for character in api_key):
        raise ValueError("api_key holds a space, a line break or another character that no key has")


def _checked_base_url(base_url: object) -> str:
    if not isinstance(base_url, str) or not base_url:
        raise ValueError("base_url is missing; pass the address of the directory, such as https://directory.example")
    try:
        parts = urlsplit(base_url)
        sound = parts.scheme.lower() in {"http", "https"} and bool(parts.hostname) and parts.port != 0
        httpx.URL(base_url)
    except (ValueError, httpx.InvalidURL):
        parts, sound = urlsplit(""), False
    if not sound:
        raise ValueError("base_url must be an absolute http or https address, such as https://directory.example")
    if "@" in parts.netloc:
        # The HTTP library would send them in place of the key.
        raise ValueError("base_url must not hold a user name or password")
    if "?" in base_url or "#" in base_url:
        raise ValueError("base_url must not hold a query or a fragment")
    if any(character.isspace() for character in base_url):
        raise ValueError("base_url must not hold white space")
    return base_url.rstrip("/")


def _check_timeout(timeout: float | None) -> None:
    if timeout is not None and not (_is_number(timeout) and 0 < timeout < math.inf):
        raise ValueError("timeout must be a number of seconds above 0, or None for no limit")


def _check_wait(seconds: float) -> None:
    if not (_is_number(seconds) and 0 <= seconds < math.inf):
        raise ValueError("max_retry_after must be a number of seconds from 0")


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
