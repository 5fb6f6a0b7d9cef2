"""Where the next page starts."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .._generated.models import Pagination


def next_offset(pagination: Pagination, received: int) -> int | None:
    """Return the offset of the page after the one with `received` items, or `None` if that was the last.

    It counts the items received, not the requested limit, so no item is skipped. An empty page is always the last, so a
    wrong total can't cause an endless loop.
    """
    following = pagination["offset"] + received
    return following if received > 0 and following < pagination["total"] else None
