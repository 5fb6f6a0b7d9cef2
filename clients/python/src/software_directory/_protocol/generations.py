"""The generations of the directory that the pages of one iteration come from.

The server reloads its data while a list is iterated over. An offset counts in one generation only, so a page of another
one may repeat records or jump over some.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from .. import _errors as errors

if TYPE_CHECKING:
    from .messages import Response

GenerationChange = Literal["restart", "raise", "ignore"]
"""What an iteration does at a page of another generation than its first."""

MAX_RESTARTS = 3


class Iteration:
    """One iteration over the items or pages of a list."""

    def __init__(self, change: GenerationChange) -> None:
        self._change = change
        self._generation: str | None = None
        self._restarts = 0
        self._yielded: set[Any] = set()

    def check(self, response: Response) -> None:
        """Raise an error for a page of another generation: a page that was yielded can't be taken back."""
        if self._has_changed(response):
            raise self._error(response)

    def items(self, response: Response, data: list[Any]) -> list[Any] | None:
        """Return the items of a page that are to be yielded, or `None` where the iteration starts again."""
        if self._has_changed(response):
            if self._change == "raise" or self._restarts == MAX_RESTARTS:
                raise self._error(response)
            self._restarts += 1
            self._generation = None
            return None
        if self._restarts:
            data = [item for item in data if _id_of(item) is None or _id_of(item) not in self._yielded]
        if self._change == "restart":
            self._yielded.update(_id_of(item) for item in data)
        return data

    def _has_changed(self, response: Response) -> bool:
        generation: str | None = response.headers.get("x-generation")
        if generation is None or self._change == "ignore":
            return False
        if self._generation is None:
            self._generation = generation
        return generation != self._generation

    def _error(self, response: Response) -> errors.GenerationChangedError:
        return errors.GenerationChangedError(
            "The directory's data changed between two pages of the list; read the list again",
            status=response.status,
            code="generation_changed",
            request_id=response.request_id,
            response=response,
            attempts=response.attempts,
        )


def _id_of(item: Any) -> str | None:
    stated = item.get("id") if isinstance(item, dict) else None
    return stated if isinstance(stated, str) else None
