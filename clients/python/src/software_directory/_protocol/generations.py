"""The generations of the directory that an iteration's pages come from.

The server may reload its data while a list is iterated over. An offset is valid in one generation only, so a page from
another one may repeat or skip records.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from .. import _errors as errors

if TYPE_CHECKING:
    from .messages import Response

GenerationChange = Literal["restart", "raise", "ignore"]
"""What an iteration does if a page is from a different generation than the first page."""

MAX_RESTARTS = 3


class Iteration:
    """One iteration over the items or pages of a list."""

    def __init__(self, change: GenerationChange) -> None:
        self._change = change
        self._generation: str | None = None
        self._restarts = 0
        self._yielded: set[Any] = set()

    def check(self, response: Response) -> None:
        """Raise an error if the page is from another generation, because a yielded page can't be taken back."""
        if self._has_changed(response):
            raise self._error(response)

    def items(self, response: Response, data: list[Any]) -> list[Any] | None:
        """Return the page's items to yield, or `None` if the iteration must start again."""
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
