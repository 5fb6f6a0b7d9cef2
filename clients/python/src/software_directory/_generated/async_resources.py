"""The operations of the API, asynchronous.

Written by tools/generate.py out of the server's OpenAPI document; not to be edited.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, cast

from .._downloads import save_async
from .._pages import AsyncPage, AsyncPager, AsyncReviewPage, AsyncSearchPage
from .._protocol.messages import call
from .._protocol.outcome import download_of, record_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from contextlib import AbstractAsyncContextManager
    from datetime import date
    from os import PathLike

    from .._async_caller import AsyncCaller
    from .._downloads import AsyncDownload, Progress
    from .._protocol.messages import ParameterValue, Response
    from .models import Category, Export, GlossaryTerm, Review, SearchHit, SoftwareDetail, SoftwareItem


class AsyncSoftwareResource:
    """`/v1/software`, `/v1/software/{id}`."""

    def __init__(self, caller: AsyncCaller) -> None:
        """Made by the client."""
        self._caller = caller

    def list(
        self,
        *,
        q: str | None = None,
        category: str | Iterable[str] | None = None,
        offering_type: Literal["software", "document-templates"] | None = None,
        evidence_status: Literal["vendor-sources-reviewed", "pending-review"] | None = None,
        min_rating: float | None = None,
        evidence_checked_before: date | str | None = None,
        sort: Literal["name", "-rating", "-review_count"] | None = None,
        limit: int | None = None,
        offset: int | None = None,
        extra_headers: Mapping[str, str] | None = None,
        extra_query: Mapping[str, ParameterValue] | None = None,
    ) -> AsyncPager[AsyncPage[SoftwareItem], SoftwareItem]:
        """List products.

        All products, or those that a name search and filters leave.

        q: Only products whose name or other name has, for every word of this, a word that starts with it.
            Case, accents and compounds written apart or together don't matter. Best match first unless
            `sort` is given. (at most 256 characters)
        category: Only products in this category: its name or id, upper or lower case. Repeat it for any of
            several. A category that doesn't exist matches nothing.
        offering_type: Only products of this type.
        evidence_status: Only products whose evidence has this status.
        min_rating: Only products with a shown rating of at least this. (0 to 5)
        evidence_checked_before: Only products whose evidence was last checked before this day.
        sort: Order. Without `q` by name where nothing is said, with `q` best match first. Unrated products
            come last.
        limit: Page size. (1 to 100, default 20)
        offset: Number of items to skip; beyond the end the page is empty. With `q` at most 10000. (default
            0)
        extra_headers, extra_query: Headers and parameters to send beside these.
        """
        return AsyncPager(
            self._caller,
            cast("type[AsyncPage[SoftwareItem]]", AsyncPage),
            call(
                "/v1/software",
                query={
                    "q": q,
                    "category": category,
                    "offering_type": offering_type,
                    "evidence_status": evidence_status,
                    "min_rating": min_rating,
                    "evidence_checked_before": evidence_checked_before,
                    "sort": sort,
                    "limit": limit,
                    "offset": offset,
                },
                extra_headers=extra_headers,
                extra_query=extra_query,
            ),
        )

    async def get(
        self,
        id: str,
        *,
        extra_headers: Mapping[str, str] | None = None,
        extra_query: Mapping[str, ParameterValue] | None = None,
    ) -> SoftwareDetail:
        """Get a product.

        Everything its record says: evidence with its sources, the properties that the directory doesn't
        interpret, and the export that it is from, with its licence.

        id: The product's id.
        extra_headers, extra_query: Headers and parameters to send beside these.
        """
        result, _ = await self.get_with_response(id, extra_headers=extra_headers, extra_query=extra_query)
        return result

    async def get_with_response(
        self,
        id: str,
        *,
        extra_headers: Mapping[str, str] | None = None,
        extra_query: Mapping[str, ParameterValue] | None = None,
    ) -> tuple[SoftwareDetail, Response]:
        """Do as `get`, and return the response as it came beside it."""
        response = await self._caller.send(
            call("/v1/software/{id}", id=id, extra_headers=extra_headers, extra_query=extra_query)
        )
        return cast("SoftwareDetail", record_of(response)), response


class AsyncCategoriesResource:
    """`/v1/categories`."""

    def __init__(self, caller: AsyncCaller) -> None:
        """Made by the client."""
        self._caller = caller

    def list(
        self,
        *,
        limit: int | None = None,
        offset: int | None = None,
        extra_headers: Mapping[str, str] | None = None,
        extra_query: Mapping[str, ParameterValue] | None = None,
    ) -> AsyncPager[AsyncPage[Category], Category]:
        """List categories.

        All categories by name, those without products too.

        limit: Page size. (1 to 100, default 100)
        offset: Number of items to skip; beyond the end the page is empty. (default 0)
        extra_headers, extra_query: Headers and parameters to send beside these.
        """
        return AsyncPager(
            self._caller,
            cast("type[AsyncPage[Category]]", AsyncPage),
            call(
                "/v1/categories",
                query={"limit": limit, "offset": offset},
                extra_headers=extra_headers,
                extra_query=extra_query,
            ),
        )


class AsyncReviewsResource:
    """`/v1/reviews/{id}`."""

    def __init__(self, caller: AsyncCaller) -> None:
        """Made by the client."""
        self._caller = caller

    def list(
        self,
        id: str,
        *,
        limit: int | None = None,
        offset: int | None = None,
        extra_headers: Mapping[str, str] | None = None,
        extra_query: Mapping[str, ParameterValue] | None = None,
    ) -> AsyncPager[AsyncReviewPage, Review]:
        """List reviews of a product.

        Newest first. A product without reviews has an empty list.

        id: The product's id.
        limit: Page size. (1 to 100, default 20)
        offset: Number of items to skip; beyond the end the page is empty. (default 0)
        extra_headers, extra_query: Headers and parameters to send beside these.
        """
        return AsyncPager(
            self._caller,
            AsyncReviewPage,
            call(
                "/v1/reviews/{id}",
                id=id,
                query={"limit": limit, "offset": offset},
                extra_headers=extra_headers,
                extra_query=extra_query,
            ),
        )


class AsyncGlossaryResource:
    """`/v1/glossary`."""

    def __init__(self, caller: AsyncCaller) -> None:
        """Made by the client."""
        self._caller = caller

    def list(
        self,
        *,
        q: str | None = None,
        limit: int | None = None,
        offset: int | None = None,
        extra_headers: Mapping[str, str] | None = None,
        extra_query: Mapping[str, ParameterValue] | None = None,
    ) -> AsyncPager[AsyncPage[GlossaryTerm], GlossaryTerm]:
        """List glossary terms.

        All terms in their order, or those that match a query.

        q: Only terms that match this text, best match first: the term and its abbreviations before its
            definition. (at most 256 characters)
        limit: Page size. (1 to 100, default 20)
        offset: Number of items to skip; beyond the end the page is empty. With `q` at most 10000. (default
            0)
        extra_headers, extra_query: Headers and parameters to send beside these.
        """
        return AsyncPager(
            self._caller,
            cast("type[AsyncPage[GlossaryTerm]]", AsyncPage),
            call(
                "/v1/glossary",
                query={"q": q, "limit": limit, "offset": offset},
                extra_headers=extra_headers,
                extra_query=extra_query,
            ),
        )


class AsyncSearchResource:
    """`/v1/search`."""

    def __init__(self, caller: AsyncCaller) -> None:
        """Made by the client."""
        self._caller = caller

    def products(
        self,
        *,
        q: str | None = None,
        category: str | Iterable[str] | None = None,
        offering_type: Literal["software", "document-templates"] | None = None,
        evidence_status: Literal["vendor-sources-reviewed", "pending-review"] | None = None,
        min_rating: float | None = None,
        evidence_checked_before: date | str | None = None,
        sort: Literal["relevance", "-rating", "-review_count", "name"] | None = None,
        facets: Literal["category", "offering_type", "evidence_status", "rating"]
        | Iterable[Literal["category", "offering_type", "evidence_status", "rating"]]
        | None = None,
        highlight: bool | None = None,
        typo: bool | None = None,
        prefix: Literal["auto", "always", "never"] | None = None,
        limit: int | None = None,
        offset: int | None = None,
        extra_headers: Mapping[str, str] | None = None,
        extra_query: Mapping[str, ParameterValue] | None = None,
    ) -> AsyncPager[AsyncSearchPage, SearchHit]:
        """Search products.

        Ranked: exact names first, then products with all words before those with some; demo records stand
        behind real products with as many of them. `query` says how the words were understood.

        q: What to look for. `"Quoted phrases"` must appear as they are, unless no product has them, and a
            `-word` or `NOT word` must not. `alternative to NAME` finds what can replace a product, `NAME vs
            NAME` both. The last word also matches as the beginning of others, see `prefix`. Without `q` all
            products, best quality first. (at most 256 characters)
        category: Only products in this category: its name or id, upper or lower case. Repeat it for any of
            several. A category that doesn't exist matches nothing.
        offering_type: Only products of this type.
        evidence_status: Only products whose evidence has this status.
        min_rating: Only products with a shown rating of at least this. (0 to 5)
        evidence_checked_before: Only products whose evidence was last checked before this day.
        sort: Order. Unrated products come last. (default relevance)
        facets: Also count the matching products by this. Repeat it for several. Each count leaves its own
            filter out.
        highlight: Whether each hit also says which parts of which fields matched. (default false)
        typo: Whether a misspelled word may match. (default true)
        prefix: Whether the last word also matches as the beginning of a longer one: `always` while it is
            being typed, `never`, or `auto`, only where it isn't a word itself (of a record, or common in
            English) or too little is found. (default auto)
        limit: Page size. (1 to 100, default 20)
        offset: Number of items to skip; beyond the end the page is empty. With `q` at most 10000. (default
            0)
        extra_headers, extra_query: Headers and parameters to send beside these.
        """
        return AsyncPager(
            self._caller,
            AsyncSearchPage,
            call(
                "/v1/search",
                query={
                    "q": q,
                    "category": category,
                    "offering_type": offering_type,
                    "evidence_status": evidence_status,
                    "min_rating": min_rating,
                    "evidence_checked_before": evidence_checked_before,
                    "sort": sort,
                    "facets": facets,
                    "highlight": highlight,
                    "typo": typo,
                    "prefix": prefix,
                    "limit": limit,
                    "offset": offset,
                },
                extra_headers=extra_headers,
                extra_query=extra_query,
            ),
        )


class AsyncExportsResource:
    """`/v1/exports`, `/v1/exports/{id}`."""

    def __init__(self, caller: AsyncCaller) -> None:
        """Made by the client."""
        self._caller = caller

    def list(
        self,
        *,
        limit: int | None = None,
        offset: int | None = None,
        extra_headers: Mapping[str, str] | None = None,
        extra_query: Mapping[str, ParameterValue] | None = None,
    ) -> AsyncPager[AsyncPage[Export], Export]:
        """List exports.

        The loaded export files, each with its licence, and how much is left out because it is invalid
        (`skipped`).

        limit: Page size. (1 to 100, default 20)
        offset: Number of items to skip; beyond the end the page is empty. (default 0)
        extra_headers, extra_query: Headers and parameters to send beside these.
        """
        return AsyncPager(
            self._caller,
            cast("type[AsyncPage[Export]]", AsyncPage),
            call(
                "/v1/exports",
                query={"limit": limit, "offset": offset},
                extra_headers=extra_headers,
                extra_query=extra_query,
            ),
        )

    async def download(
        self,
        id: str,
        *,
        format: Literal["json", "ndjson"] | None = None,
        extra_headers: Mapping[str, str] | None = None,
        extra_query: Mapping[str, ParameterValue] | None = None,
    ) -> bytes:
        """Download an export.

        The whole document, described by the JSON Schema at `/schemas/export.json`. It is streamed, as zstd
        where the request accepts that for `json`, else as it is. Each started MiB of the document
        (`size_bytes` in the list) costs a request of the quota; a download larger than what is left is
        possible while anything is left, and the quota then waits accordingly. A key may have 4 downloads in
        progress (429), all keys together 32 (503).

        id: The export's id.
        format: `json` is the export as it was validated; `ndjson` one record a line, each with its export
            and licence. (default json)
        extra_headers, extra_query: Headers and parameters to send beside these.
        """
        result, _ = await self.download_with_response(
            id, format=format, extra_headers=extra_headers, extra_query=extra_query
        )
        return result

    async def download_with_response(
        self,
        id: str,
        *,
        format: Literal["json", "ndjson"] | None = None,
        extra_headers: Mapping[str, str] | None = None,
        extra_query: Mapping[str, ParameterValue] | None = None,
    ) -> tuple[bytes, Response]:
        """Do as `download`, and return the response as it came beside it."""
        response = await self._caller.send(
            call(
                "/v1/exports/{id}",
                id=id,
                query={"format": format},
                accept="application/x-ndjson" if format == "ndjson" else "application/json",
                is_download=True,
                extra_headers=extra_headers,
                extra_query=extra_query,
            )
        )
        return download_of(response), response

    def stream(
        self,
        id: str,
        *,
        format: Literal["json", "ndjson"] | None = None,
        extra_headers: Mapping[str, str] | None = None,
        extra_query: Mapping[str, ParameterValue] | None = None,
    ) -> AbstractAsyncContextManager[AsyncDownload]:
        """Do as `download`, and read the body chunk by chunk instead of holding it in memory.

            async with client.exports.stream("demo") as download:
                async for chunk in download:
                    ...

        `timeout` bounds the wait for the headers and for each chunk. What comes before the body is
        tried again like other calls; a body that breaks off raises an `ApiError`.
        """
        return self._caller.stream(
            call(
                "/v1/exports/{id}",
                id=id,
                query={"format": format},
                accept="application/x-ndjson" if format == "ndjson" else "application/json",
                is_download=True,
                extra_headers=extra_headers,
                extra_query=extra_query,
            )
        )

    async def download_to(
        self,
        id: str,
        path: str | PathLike[str],
        *,
        format: Literal["json", "ndjson"] | None = None,
        on_progress: Progress | None = None,
        extra_headers: Mapping[str, str] | None = None,
        extra_query: Mapping[str, ParameterValue] | None = None,
    ) -> int:
        """Do as `stream`, write the body to a file, and return its size.

        The file takes its place when it is whole: a download that fails leaves what was there before.

        path: The file to write or replace.
        on_progress: Called after each chunk with the bytes received so far, and with the size of the whole
            or `None` where the server doesn't say it.
        """
        return await save_async(
            self.stream(id, format=format, extra_headers=extra_headers, extra_query=extra_query), path, on_progress
        )
