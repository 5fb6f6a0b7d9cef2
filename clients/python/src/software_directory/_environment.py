"""Settings from the environment."""

from __future__ import annotations

import os

from ._protocol.settings import API_KEY_VARIABLE, BASE_URL_VARIABLE


def api_key_or_default(api_key: str | None) -> str | None:
    """Return the key that was passed, or else the one from the environment, if any."""
    return os.environ.get(API_KEY_VARIABLE) or None if api_key is None else api_key


def base_url_or_default(base_url: str | None) -> str:
    """Return the address that was passed, or else the one from the environment."""
    return os.environ.get(BASE_URL_VARIABLE, "") if base_url is None else base_url
