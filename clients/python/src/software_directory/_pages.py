"""Pages of a list, blocking and asynchronous: a page's items, and how to get the next page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from ._generated.models import Change, HistoryEntry, Review, SearchHit
from ._protocol.generations import Iteration
from ._protocol.paging import next_offset

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Generator, Iterator

    from typing_extensions import Self

    from ._async_caller import AsyncCaller
    from ._caller import Caller
    from ._generated.models import FacetValue, Pagination, QueryReport, ReviewSummary
    from ._protocol.messages import Call, Response

T = TypeVar("T")
PageT = TypeVar("PageT", bound="Page[Any]")
AsyncPageT = TypeVar("AsyncPageT", bound="AsyncPage[Any]")


class _Contents(Generic[T]):
    """A page's contents, however it was fetched."""

    def __init__(self, call: Call, response: Response, body: dict[str, Any]) -> None:
        self._call = call
        self.data: list[T] = body["data"]
        """The items on this page."""
        self.pagination: Pagination = body["pagination"]
        """This page's position: `limit`, `offset` and the exact `total`."""
        self.body = body
        """The whole body, including members that this version doesn't know."""
        self.response = response
        """The raw response: status, headers, bytes."""

    @property
    def has_next_page(self) -> bool:
        """Whether there are items after this page."""
        return self._next_call() is not None

    def _next_call(self) -> Call | None:
        offset = next_offset(self.pagination, len(self.data))
        return None if offset is None else self._call.at_offset(offset)

    def __repr__(self) -> str:
        """Show the page's position, not its contents."""
        return f"<{type(self).__name__} offset={self.pagination['offset']} items={len(self.data)}>"


class _ReviewContents:
    body: dict[str, Any]

    @property
    def summary(self) -> ReviewSummary:
        """A summary of all the product's reviews."""
        return cast("ReviewSummary", self.body["summary"])


class _SearchContents:
    body: dict[str, Any]

    @property
    def query(self) -> QueryReport:
        """How the query was understood: which words were corrected, dropped or added."""
        return cast("QueryReport", self.body["query"])

    @property
    def facets(self) -> dict[str, list[FacetValue]]:
        """The counts for the parameter `facets`, by facet; empty without it."""
        return cast("dict[str, list[FacetValue]]", self.body.get("facets", {}))


class _ChangesContents:
    body: dict[str, Any]

    @property
    def from_generation(self) -> str:
        """The earlier generation."""
        return cast("str", self.body["from"])

    @property
    def to_generation(self) -> str:
        """The current generation: pass it to `changes.since` next time."""
        return cast("str", self.body["to"])


class _HistoryContents:
    body: dict[str, Any]

    @property
    def since(self) -> str | None:
        """When the history begins (RFC 3339 in UTC): nothing is known about earlier changes."""
        return cast("str | None", self.body["since"])


class Page(_Contents[T]):
    """A page of a list. Iterating yields its items, then those of the following pages, which are fetched as needed."""

    def __init__(self, caller: Caller, call: Call, response: Response, body: dict[str, Any]) -> None:
        """For the client's use only."""
        super().__init__(call, response, body)
        self._caller = caller

    def next_page(self) -> Self | None:
        """Fetch the page after this one; `None` if this is the last."""
        call = self._next_call()
        return None if call is None else self._caller.page(type(self), call)

    def pages(self) -> Iterator[Self]:
        """Iterate over pages, starting with this one.

        Raises `GenerationChangedError` if a page is from another generation, unless `generation_change` is `"ignore"`.
        """
        iteration = Iteration(self._caller.settings.generation_change)
        page: Self | None = self
        while page is not None:
            iteration.check(page.response)
            yield page
            page = page.next_page()

    def __iter__(self) -> Iterator[T]:
        """Iterate over items to the end of the list. `generation_change` says what to do if the data changes."""
        iteration = Iteration(self._caller.settings.generation_change)
        page: Page[T] | None = self
        while page is not None:
            items = iteration.items(page.response, page.data)
            if items is None:
                page = self._caller.page(type(self), self._call)
            else:
                yield from items
                page = page.next_page()


class ReviewPage(_ReviewContents, Page[Review]):
    """A page of a product's reviews, with the `summary` of all of them."""


class SearchPage(_SearchContents, Page[SearchHit]):
    """A page of search hits, with `query` (how it was understood) and `facets`."""


class HistoryPage(_HistoryContents, Page[HistoryEntry]):
    """A page of a product's history, with the time when it begins."""


class ChangesPage(_ChangesContents, Page[Change]):
    """A page of changes, with the generations before and after them."""


class AsyncPage(_Contents[T]):
    """A page of a list. Iterating yields its items, then those of the following pages, which are fetched as needed."""

    def __init__(self, caller: AsyncCaller, call: Call, response: Response, body: dict[str, Any]) -> None:
        """For the client's use only."""
        super().__init__(call, response, body)
        self._caller = caller

    async def next_page(self) -> Self | None:
        """Fetch the page after this one; `None` if this is the last."""
        call = self._next_call()
        return None if call is None else await self._caller.page(type(self), call)

    async def pages(self) -> AsyncIterator[Self]:
        """Iterate over pages, starting with this one.

        Raises `GenerationChangedError` if a page is from another generation, unless `generation_change` is `"ignore"`.
        """
        iteration = Iteration(self._caller.settings.generation_change)
        page: Self | None = self
        while page is not None:
            iteration.check(page.response)
            yield page
            page = await page.next_page()

    async def __aiter__(self) -> AsyncIterator[T]:
        """Iterate over items to the end of the list. `generation_change` says what to do if the data changes."""
        iteration = Iteration(self._caller.settings.generation_change)
        page: AsyncPage[T] | None = self
        while page is not None:
            items = iteration.items(page.response, page.data)
            if items is None:
                page = await self._caller.page(type(self), self._call)
            else:
                for item in items:
                    yield item
                page = await page.next_page()


class AsyncReviewPage(_ReviewContents, AsyncPage[Review]):
    """A page of a product's reviews, with the `summary` of all of them."""


class AsyncSearchPage(_SearchContents, AsyncPage[SearchHit]):
    """A page of search hits, with `query` (how it was understood) and `facets`."""


class AsyncHistoryPage(_HistoryContents, AsyncPage[HistoryEntry]):
    """A page of a product's history, with the time when it begins."""


class AsyncChangesPage(_ChangesContents, AsyncPage[Change]):
    """A page of changes, with the generations before and after them."""


class AsyncPager(Generic[AsyncPageT, T]):
    """A list that hasn't been requested yet: `await` it for its first page, or `async for` over all its items."""

    def __init__(self, caller: AsyncCaller, kind: type[AsyncPageT], call: Call) -> None:
        """For the client's use only."""
        self._caller = caller
        self._kind = kind
        self._call = call

    def __await__(self) -> Generator[Any, None, AsyncPageT]:
        """Fetch the first page."""
        return self._caller.page(self._kind, self._call).__await__()

    async def pages(self) -> AsyncIterator[AsyncPageT]:
        """Iterate over pages."""
        async for page in (await self).pages():
            yield page

    async def __aiter__(self) -> AsyncIterator[T]:
        """Iterate over items to the end of the list."""
        async for item in await self:
            yield item
