"""The operations of the API, blocking.

Written by tools/generate.py out of the server's OpenAPI document; not to be edited.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, cast

from .._downloads import save
from .._pages import ChangesPage, Page, ReviewPage, SearchPage
from .._protocol.messages import call
from .._protocol.outcome import download_of, record_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from contextlib import AbstractContextManager
    from datetime import date
    from os import PathLike

    from .._caller import Caller
    from .._downloads import Download, Progress
    from .._protocol.messages import ParameterValue, Response
    from .models import (
        Attribute,
        Category,
        Export,
        GlossaryTerm,
        SimilarSoftware,
        SoftwareDetail,
        SoftwareItem,
        Suggestions,
    )


class SoftwareResource:
    """`/v1/software`, `/v1/software/{id}`, `/v1/software/{id}/similar`."""

    def __init__(self, caller: Caller) -> None:
        """Made by the client."""
        self._caller = caller

    def list(
        self,
        *,
        q: str | None = None,
        id: str | Iterable[str] | None = None,
        category: str | Iterable[str] | None = None,
        offering_type: Literal["software", "document-templates"] | None = None,
        evidence_status: Literal["vendor-sources-reviewed", "pending-review"] | None = None,
        min_rating: float | None = None,
        evidence_checked_before: date | str | None = None,
        evidence_checked_after: date | str | None = None,
        standards: str | Iterable[str] | None = None,
        deployment: str | Iterable[str] | None = None,
        languages: str | Iterable[str] | None = None,
        vendor: str | Iterable[str] | None = None,
        tags: str | Iterable[str] | None = None,
        attribute: str | Iterable[str] | None = None,
        sort: str | None = None,
        lang: str | None = None,
        fields: Literal[
            "id",
            "name",
            "tagline",
            "category",
            "categories",
            "rating",
            "review_count",
            "website",
            "vendor",
            "offering_type",
            "evidence_status",
            "evidence_checked_on",
            "language",
            "untranslated",
        ]
        | Iterable[
            Literal[
                "id",
                "name",
                "tagline",
                "category",
                "categories",
                "rating",
                "review_count",
                "website",
                "vendor",
                "offering_type",
                "evidence_status",
                "evidence_checked_on",
                "language",
                "untranslated",
            ]
        ]
        | None = None,
        limit: int | None = None,
        offset: int | None = None,
        extra_headers: Mapping[str, str] | None = None,
        extra_query: Mapping[str, ParameterValue] | None = None,
    ) -> Page[SoftwareItem]:
        """List products.

        All products, or those that a name search and filters leave.

        q: Only products whose name or other name has, for every word of this, a word that starts with it.
            Case, accents and compounds written apart or together don't matter. Best match first unless
            `sort` is given. (at most 256 characters)
        id: Only the products with these ids. An id that doesn't exist matches nothing. Repeat it for
            several.
        category: Only products in any of these categories, by name or id as the list of categories has
            them, in upper or lower case. A category that doesn't exist matches nothing. Repeat it for
            several.
        offering_type: Only products of this type.
        evidence_status: Only products whose evidence has this status. `vendor-sources-reviewed`: the
            vendor's own sources were reviewed for the record; `pending-review`: they were not yet.
        min_rating: Only products with an average rating of at least this, of 5. Products without a rating
            are left out. (0 to 5)
        evidence_checked_before: Only products whose evidence was last checked before this day, YYYY-MM-DD:
            the ones to check again.
        evidence_checked_after: Only products whose evidence was last checked after this day, YYYY-MM-DD.
        standards: Only products for any of these standards. Case, accents, spaces and hyphens don't matter:
            `iso9001` is `ISO 9001`. One that no product has matches nothing. Repeat it for several.
        deployment: Only products that can be run in any of these ways, such as `cloud`; compared like
            `standards`. Repeat it for several.
        languages: Only products with a user interface in any of these languages; compared like `standards`.
            Repeat it for several.
        vendor: Only products of any of these vendors; compared like `standards`. Repeat it for several.
        tags: Only products with any of these tags; compared like `standards`. Repeat it for several.
        attribute: Only products with this value of an attribute: its property, a colon, and a value
            (`licence:MIT`) or a range of numbers or days, either end of which may be left out
            (`price:10..50`, `released_on:2025-01-01..`). Values of one attribute are alternatives,
            different attributes all count. Texts are compared like `standards`. An unknown attribute is
            refused with the names of all attributes. Repeat it for several.
        sort: Order. Without `q` by name where nothing is said, with `q` best match first. `attribute.` and
            its property sorts by an attribute that is a number, a day, or true or false, with `-` before it
            highest or newest first. Products without the value come last.
        lang: The language of the texts, a tag such as `de`. A text that isn't in it is in the record's own
            language, and `untranslated` names its field. Words of all languages are searched in any case. A
            language that no text of the directory is in is refused. Without it, HTTP's `Accept-Language`
            chooses among the languages that texts are translated to.
        fields: Only these fields of each product, and its `id`. Without it all fields. Repeat it for
            several.
        limit: The most records to return: a page. `total` says how many there are. (1 to 100, default 20)
        offset: How many records to skip; beyond the end the page is empty. With `q` or a sort by an
            attribute at most 10000. (default 0)
        extra_headers, extra_query: Headers and parameters to send beside these.
        """
        return self._caller.page(
            cast("type[Page[SoftwareItem]]", Page),
            call(
                "/v1/software",
                query={
                    "q": q,
                    "id": id,
                    "category": category,
                    "offering_type": offering_type,
                    "evidence_status": evidence_status,
                    "min_rating": min_rating,
                    "evidence_checked_before": evidence_checked_before,
                    "evidence_checked_after": evidence_checked_after,
                    "standards": standards,
                    "deployment": deployment,
                    "languages": languages,
                    "vendor": vendor,
                    "tags": tags,
                    "attribute": attribute,
                    "sort": sort,
                    "lang": lang,
                    "fields": fields,
                    "limit": limit,
                    "offset": offset,
                },
                extra_headers=extra_headers,
                extra_query=extra_query,
            ),
        )

    def get(
        self,
        id: str,
        *,
        lang: str | None = None,
        extra_headers: Mapping[str, str] | None = None,
        extra_query: Mapping[str, ParameterValue] | None = None,
    ) -> SoftwareDetail:
        """Get a product.

        Everything its record says: evidence with its sources, the properties that the directory doesn't
        interpret, and the export that it is from, with its licence.

        id: The product's id.
        lang: The language of the texts, a tag such as `de`. A text that isn't in it is in the record's own
            language, and `untranslated` names its field. Words of all languages are searched in any case. A
            language that no text of the directory is in is refused. Without it, HTTP's `Accept-Language`
            chooses among the languages that texts are translated to.
        extra_headers, extra_query: Headers and parameters to send beside these.
        """
        result, _ = self.get_with_response(id, lang=lang, extra_headers=extra_headers, extra_query=extra_query)
        return result

    def get_with_response(
        self,
        id: str,
        *,
        lang: str | None = None,
        extra_headers: Mapping[str, str] | None = None,
        extra_query: Mapping[str, ParameterValue] | None = None,
    ) -> tuple[SoftwareDetail, Response]:
        """Do as `get`, and return the response as it came beside it."""
        response = self._caller.send(
            call("/v1/software/{id}", id=id, query={"lang": lang}, extra_headers=extra_headers, extra_query=extra_query)
        )
        return cast("SoftwareDetail", record_of(response)), response

    def similar(
        self,
        id: str,
        *,
        category: str | Iterable[str] | None = None,
        offering_type: Literal["software", "document-templates"] | None = None,
        evidence_status: Literal["vendor-sources-reviewed", "pending-review"] | None = None,
        min_rating: float | None = None,
        evidence_checked_before: date | str | None = None,
        evidence_checked_after: date | str | None = None,
        standards: str | Iterable[str] | None = None,
        deployment: str | Iterable[str] | None = None,
        languages: str | Iterable[str] | None = None,
        vendor: str | Iterable[str] | None = None,
        tags: str | Iterable[str] | None = None,
        attribute: str | Iterable[str] | None = None,
        lang: str | None = None,
        limit: int | None = None,
        offset: int | None = None,
        extra_headers: Mapping[str, str] | None = None,
        extra_query: Mapping[str, ParameterValue] | None = None,
    ) -> Page[SimilarSoftware]:
        """List similar products.

        Products in the same categories, with the same words in tagline, tags, features and standards, or
        near in meaning, the most similar first. `shared` says of each what it has in common with the
        product. Filters are for the similar products, as in a search.

        id: The product's id.
        category: Only products in any of these categories, by name or id as the list of categories has
            them, in upper or lower case. A category that doesn't exist matches nothing. Repeat it for
            several.
        offering_type: Only products of this type.
        evidence_status: Only products whose evidence has this status. `vendor-sources-reviewed`: the
            vendor's own sources were reviewed for the record; `pending-review`: they were not yet.
        min_rating: Only products with an average rating of at least this, of 5. Products without a rating
            are left out. (0 to 5)
        evidence_checked_before: Only products whose evidence was last checked before this day, YYYY-MM-DD:
            the ones to check again.
        evidence_checked_after: Only products whose evidence was last checked after this day, YYYY-MM-DD.
        standards: Only products for any of these standards. Case, accents, spaces and hyphens don't matter:
            `iso9001` is `ISO 9001`. One that no product has matches nothing. Repeat it for several.
        deployment: Only products that can be run in any of these ways, such as `cloud`; compared like
            `standards`. Repeat it for several.
        languages: Only products with a user interface in any of these languages; compared like `standards`.
            Repeat it for several.
        vendor: Only products of any of these vendors; compared like `standards`. Repeat it for several.
        tags: Only products with any of these tags; compared like `standards`. Repeat it for several.
        attribute: Only products with this value of an attribute: its property, a colon, and a value
            (`licence:MIT`) or a range of numbers or days, either end of which may be left out
            (`price:10..50`, `released_on:2025-01-01..`). Values of one attribute are alternatives,
            different attributes all count. Texts are compared like `standards`. An unknown attribute is
            refused with the names of all attributes. Repeat it for several.
        lang: The language of the texts, a tag such as `de`. A text that isn't in it is in the record's own
            language, and `untranslated` names its field. Words of all languages are searched in any case. A
            language that no text of the directory is in is refused. Without it, HTTP's `Accept-Language`
            chooses among the languages that texts are translated to.
        limit: The most records to return: a page. `total` says how many there are. (1 to 100, default 10)
        offset: How many records to skip; beyond the end the page is empty. (0 to 10000, default 0)
        extra_headers, extra_query: Headers and parameters to send beside these.
        """
        return self._caller.page(
            cast("type[Page[SimilarSoftware]]", Page),
            call(
                "/v1/software/{id}/similar",
                id=id,
                query={
                    "category": category,
                    "offering_type": offering_type,
                    "evidence_status": evidence_status,
                    "min_rating": min_rating,
                    "evidence_checked_before": evidence_checked_before,
                    "evidence_checked_after": evidence_checked_after,
                    "standards": standards,
                    "deployment": deployment,
                    "languages": languages,
                    "vendor": vendor,
                    "tags": tags,
                    "attribute": attribute,
                    "lang": lang,
                    "limit": limit,
                    "offset": offset,
                },
                extra_headers=extra_headers,
                extra_query=extra_query,
            ),
        )


class AttributesResource:
    """`/v1/attributes`."""

    def __init__(self, caller: Caller) -> None:
        """Made by the client."""
        self._caller = caller

    def list(
        self,
        *,
        lang: str | None = None,
        limit: int | None = None,
        offset: int | None = None,
        extra_headers: Mapping[str, str] | None = None,
        extra_query: Mapping[str, ParameterValue] | None = None,
    ) -> Page[Attribute]:
        """List attributes.

        The properties that products are filtered, counted and sorted by: those of every directory, then
        those that its exports declare.

        lang: The language of the texts, a tag such as `de`. A text that isn't in it is in the record's own
            language, and `untranslated` names its field. Words of all languages are searched in any case. A
            language that no text of the directory is in is refused. Without it, HTTP's `Accept-Language`
            chooses among the languages that texts are translated to.
        limit: The most records to return: a page. `total` says how many there are. (1 to 100, default 100)
        offset: How many records to skip; beyond the end the page is empty. (default 0)
        extra_headers, extra_query: Headers and parameters to send beside these.
        """
        return self._caller.page(
            cast("type[Page[Attribute]]", Page),
            call(
                "/v1/attributes",
                query={"lang": lang, "limit": limit, "offset": offset},
                extra_headers=extra_headers,
                extra_query=extra_query,
            ),
        )


class CategoriesResource:
    """`/v1/categories`, `/v1/categories/{id}`."""

    def __init__(self, caller: Caller) -> None:
        """Made by the client."""
        self._caller = caller

    def list(
        self,
        *,
        lang: str | None = None,
        limit: int | None = None,
        offset: int | None = None,
        extra_headers: Mapping[str, str] | None = None,
        extra_query: Mapping[str, ParameterValue] | None = None,
    ) -> Page[Category]:
        """List categories.

        All categories by name, those without products too.

        lang: The language of the texts, a tag such as `de`. A text that isn't in it is in the record's own
            language, and `untranslated` names its field. Words of all languages are searched in any case. A
            language that no text of the directory is in is refused. Without it, HTTP's `Accept-Language`
            chooses among the languages that texts are translated to.
        limit: The most records to return: a page. `total` says how many there are. (1 to 100, default 100)
        offset: How many records to skip; beyond the end the page is empty. (default 0)
        extra_headers, extra_query: Headers and parameters to send beside these.
        """
        return self._caller.page(
            cast("type[Page[Category]]", Page),
            call(
                "/v1/categories",
                query={"lang": lang, "limit": limit, "offset": offset},
                extra_headers=extra_headers,
                extra_query=extra_query,
            ),
        )

    def get(
        self,
        id: str,
        *,
        lang: str | None = None,
        extra_headers: Mapping[str, str] | None = None,
        extra_query: Mapping[str, ParameterValue] | None = None,
    ) -> Category:
        """Get a category.

        Its description and how many products are in it. `/v1/software?category=ID` lists these.

        id: The category's id.
        lang: The language of the texts, a tag such as `de`. A text that isn't in it is in the record's own
            language, and `untranslated` names its field. Words of all languages are searched in any case. A
            language that no text of the directory is in is refused. Without it, HTTP's `Accept-Language`
            chooses among the languages that texts are translated to.
        extra_headers, extra_query: Headers and parameters to send beside these.
        """
        result, _ = self.get_with_response(id, lang=lang, extra_headers=extra_headers, extra_query=extra_query)
        return result

    def get_with_response(
        self,
        id: str,
        *,
        lang: str | None = None,
        extra_headers: Mapping[str, str] | None = None,
        extra_query: Mapping[str, ParameterValue] | None = None,
    ) -> tuple[Category, Response]:
        """Do as `get`, and return the response as it came beside it."""
        response = self._caller.send(
            call(
                "/v1/categories/{id}", id=id, query={"lang": lang}, extra_headers=extra_headers, extra_query=extra_query
            )
        )
        return cast("Category", record_of(response)), response


class ReviewsResource:
    """`/v1/reviews/{id}`."""

    def __init__(self, caller: Caller) -> None:
        """Made by the client."""
        self._caller = caller

    def list(
        self,
        id: str,
        *,
        min_rating: float | None = None,
        max_rating: float | None = None,
        verified: bool | None = None,
        sort: Literal["-created_at", "created_at", "-rating", "rating"] | None = None,
        limit: int | None = None,
        offset: int | None = None,
        extra_headers: Mapping[str, str] | None = None,
        extra_query: Mapping[str, ParameterValue] | None = None,
    ) -> ReviewPage:
        """List reviews of a product.

        Newest first, unless `sort` is given. A product without reviews has an empty list. `summary` covers
        all its reviews, filtered or not.

        id: The product's id.
        min_rating: Only reviews with at least that many stars. (1 to 5)
        max_rating: Only reviews with at most that many stars. (1 to 5)
        verified: `true`: only reviews whose reviewer is known to use the product; `false`: only the others.
        sort: Order; `-` means newest or most stars first. Reviews without a date come last, reviews with as
            many stars newest first. (default -created_at)
        limit: The most records to return: a page. `total` says how many there are. (1 to 100, default 20)
        offset: How many records to skip; beyond the end the page is empty. (default 0)
        extra_headers, extra_query: Headers and parameters to send beside these.
        """
        return self._caller.page(
            ReviewPage,
            call(
                "/v1/reviews/{id}",
                id=id,
                query={
                    "min_rating": min_rating,
                    "max_rating": max_rating,
                    "verified": verified,
                    "sort": sort,
                    "limit": limit,
                    "offset": offset,
                },
                extra_headers=extra_headers,
                extra_query=extra_query,
            ),
        )


class GlossaryResource:
    """`/v1/glossary`, `/v1/glossary/{id}`."""

    def __init__(self, caller: Caller) -> None:
        """Made by the client."""
        self._caller = caller

    def list(
        self,
        *,
        q: str | None = None,
        lang: str | None = None,
        limit: int | None = None,
        offset: int | None = None,
        extra_headers: Mapping[str, str] | None = None,
        extra_query: Mapping[str, ParameterValue] | None = None,
    ) -> Page[GlossaryTerm]:
        """List glossary terms.

        All terms in their order, or those that match a query.

        q: The term, abbreviation or words of the definition to look for, such as `PTW`. Best match first:
            the term and its abbreviations before its definition. (at most 256 characters)
        lang: The language of the texts, a tag such as `de`. A text that isn't in it is in the record's own
            language, and `untranslated` names its field. Words of all languages are searched in any case. A
            language that no text of the directory is in is refused. Without it, HTTP's `Accept-Language`
            chooses among the languages that texts are translated to.
        limit: The most records to return: a page. `total` says how many there are. (1 to 100, default 20)
        offset: How many records to skip; beyond the end the page is empty. With `q` or a sort by an
            attribute at most 10000. (default 0)
        extra_headers, extra_query: Headers and parameters to send beside these.
        """
        return self._caller.page(
            cast("type[Page[GlossaryTerm]]", Page),
            call(
                "/v1/glossary",
                query={"q": q, "lang": lang, "limit": limit, "offset": offset},
                extra_headers=extra_headers,
                extra_query=extra_query,
            ),
        )

    def get(
        self,
        id: str,
        *,
        lang: str | None = None,
        extra_headers: Mapping[str, str] | None = None,
        extra_query: Mapping[str, ParameterValue] | None = None,
    ) -> GlossaryTerm:
        """Get a glossary term.

        Its definition, abbreviations, synonyms and source.

        id: The term's id.
        lang: The language of the texts, a tag such as `de`. A text that isn't in it is in the record's own
            language, and `untranslated` names its field. Words of all languages are searched in any case. A
            language that no text of the directory is in is refused. Without it, HTTP's `Accept-Language`
            chooses among the languages that texts are translated to.
        extra_headers, extra_query: Headers and parameters to send beside these.
        """
        result, _ = self.get_with_response(id, lang=lang, extra_headers=extra_headers, extra_query=extra_query)
        return result

    def get_with_response(
        self,
        id: str,
        *,
        lang: str | None = None,
        extra_headers: Mapping[str, str] | None = None,
        extra_query: Mapping[str, ParameterValue] | None = None,
    ) -> tuple[GlossaryTerm, Response]:
        """Do as `get`, and return the response as it came beside it."""
        response = self._caller.send(
            call("/v1/glossary/{id}", id=id, query={"lang": lang}, extra_headers=extra_headers, extra_query=extra_query)
        )
        return cast("GlossaryTerm", record_of(response)), response


class SearchResource:
    """`/v1/search`."""

    def __init__(self, caller: Caller) -> None:
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
        evidence_checked_after: date | str | None = None,
        standards: str | Iterable[str] | None = None,
        deployment: str | Iterable[str] | None = None,
        languages: str | Iterable[str] | None = None,
        vendor: str | Iterable[str] | None = None,
        tags: str | Iterable[str] | None = None,
        attribute: str | Iterable[str] | None = None,
        sort: str | None = None,
        facets: str | Iterable[str] | None = None,
        highlight: bool | None = None,
        typo: bool | None = None,
        prefix: Literal["auto", "always", "never"] | None = None,
        lang: str | None = None,
        fields: Literal[
            "id",
            "name",
            "tagline",
            "category",
            "categories",
            "rating",
            "review_count",
            "website",
            "vendor",
            "offering_type",
            "evidence_status",
            "evidence_checked_on",
            "language",
            "untranslated",
        ]
        | Iterable[
            Literal[
                "id",
                "name",
                "tagline",
                "category",
                "categories",
                "rating",
                "review_count",
                "website",
                "vendor",
                "offering_type",
                "evidence_status",
                "evidence_checked_on",
                "language",
                "untranslated",
            ]
        ]
        | None = None,
        limit: int | None = None,
        offset: int | None = None,
        extra_headers: Mapping[str, str] | None = None,
        extra_query: Mapping[str, ParameterValue] | None = None,
    ) -> SearchPage:
        """Search products.

        Ranked: exact names first, then products with all words before those with some; demo records stand
        behind real products with as many of them. If words find few products, products that are near in
        meaning follow. `query` says how the words were understood.

        q: What to look for: a need (`permit to work`), a product or vendor, a standard. Misspellings and
            synonyms match. `"Quoted phrases"` must appear as they are, unless no product has them, and a
            `-word` or `NOT word` must not. `alternative to NAME` finds what can replace a product, `NAME vs
            NAME` both. The last word also matches as the beginning of others. Without `q` all products that
            pass the filters, best quality first. (at most 256 characters)
        category: Only products in any of these categories, by name or id as the list of categories has
            them, in upper or lower case. A category that doesn't exist matches nothing. Repeat it for
            several.
        offering_type: Only products of this type.
        evidence_status: Only products whose evidence has this status. `vendor-sources-reviewed`: the
            vendor's own sources were reviewed for the record; `pending-review`: they were not yet.
        min_rating: Only products with an average rating of at least this, of 5. Products without a rating
            are left out. (0 to 5)
        evidence_checked_before: Only products whose evidence was last checked before this day, YYYY-MM-DD:
            the ones to check again.
        evidence_checked_after: Only products whose evidence was last checked after this day, YYYY-MM-DD.
        standards: Only products for any of these standards. Case, accents, spaces and hyphens don't matter:
            `iso9001` is `ISO 9001`. One that no product has matches nothing. Repeat it for several.
        deployment: Only products that can be run in any of these ways, such as `cloud`; compared like
            `standards`. Repeat it for several.
        languages: Only products with a user interface in any of these languages; compared like `standards`.
            Repeat it for several.
        vendor: Only products of any of these vendors; compared like `standards`. Repeat it for several.
        tags: Only products with any of these tags; compared like `standards`. Repeat it for several.
        attribute: Only products with this value of an attribute: its property, a colon, and a value
            (`licence:MIT`) or a range of numbers or days, either end of which may be left out
            (`price:10..50`, `released_on:2025-01-01..`). Values of one attribute are alternatives,
            different attributes all count. Texts are compared like `standards`. An unknown attribute is
            refused with the names of all attributes. Repeat it for several.
        sort: Order; `-` means highest or newest first. `attribute.` and its property sorts by an attribute
            that is a number, a day, or true or false. Products without the value come last. (default
            relevance)
        facets: Also count the matching products by this; `attribute.` and its property counts the values of
            an attribute. Each count leaves its own filter out. Of a text the 100 most frequent values are
            counted, of `category` the 1000 most frequent, without values of more than 500 characters.
            Numbers are counted in a few ranges, days by year. Repeat it for several.
        highlight: Whether each hit also says which parts of which fields matched. (default false)
        typo: Whether a misspelled word may match. (default true)
        prefix: Whether the last word also matches as the beginning of a longer one: `always` while it is
            being typed, `never`, or `auto`, only where it isn't a word itself (of a record, or common in
            English) or too little is found. (default auto)
        lang: The language of the texts, a tag such as `de`. A text that isn't in it is in the record's own
            language, and `untranslated` names its field. Words of all languages are searched in any case. A
            language that no text of the directory is in is refused. Without it, HTTP's `Accept-Language`
            chooses among the languages that texts are translated to.
        fields: Only these fields of each product, and its `id`. Without it all fields. Repeat it for
            several.
        limit: The most records to return: a page. `total` says how many there are. (1 to 100, default 20)
        offset: How many records to skip; beyond the end the page is empty. With `q` or a sort by an
            attribute at most 10000. (default 0)
        extra_headers, extra_query: Headers and parameters to send beside these.
        """
        return self._caller.page(
            SearchPage,
            call(
                "/v1/search",
                query={
                    "q": q,
                    "category": category,
                    "offering_type": offering_type,
                    "evidence_status": evidence_status,
                    "min_rating": min_rating,
                    "evidence_checked_before": evidence_checked_before,
                    "evidence_checked_after": evidence_checked_after,
                    "standards": standards,
                    "deployment": deployment,
                    "languages": languages,
                    "vendor": vendor,
                    "tags": tags,
                    "attribute": attribute,
                    "sort": sort,
                    "facets": facets,
                    "highlight": highlight,
                    "typo": typo,
                    "prefix": prefix,
                    "lang": lang,
                    "fields": fields,
                    "limit": limit,
                    "offset": offset,
                },
                extra_headers=extra_headers,
                extra_query=extra_query,
            ),
        )


class ExportsResource:
    """`/v1/exports`, `/v1/exports/{id}`."""

    def __init__(self, caller: Caller) -> None:
        """Made by the client."""
        self._caller = caller

    def list(
        self,
        *,
        limit: int | None = None,
        offset: int | None = None,
        extra_headers: Mapping[str, str] | None = None,
        extra_query: Mapping[str, ParameterValue] | None = None,
    ) -> Page[Export]:
        """List exports.

        The loaded export files, each with its licence, and how much is left out because it is invalid
        (`skipped`).

        limit: The most records to return: a page. `total` says how many there are. (1 to 100, default 20)
        offset: How many records to skip; beyond the end the page is empty. (default 0)
        extra_headers, extra_query: Headers and parameters to send beside these.
        """
        return self._caller.page(
            cast("type[Page[Export]]", Page),
            call(
                "/v1/exports",
                query={"limit": limit, "offset": offset},
                extra_headers=extra_headers,
                extra_query=extra_query,
            ),
        )

    def download(
        self,
        id: str,
        *,
        format: Literal["json", "ndjson"] | None = None,
        extra_headers: Mapping[str, str] | None = None,
        extra_query: Mapping[str, ParameterValue] | None = None,
    ) -> bytes:
        """Download an export.

        The whole document, described by the JSON Schema at `/schemas/export.json`. It is streamed, as zstd
        where the request accepts that for `json`, else as it is. A part of a `json` document is sent for
        one range in `Range`, so that a download which broke can go on: with `If-Range` and the entity tag,
        the part is of the same document. Each started MiB of the document (`size_bytes` in the list) up to
        the end of the part costs a request of the quota; a download larger than what is left is possible
        while anything is left, and the quota then waits accordingly. A key or a visitor may have 4
        downloads in progress (429), all keys together 32, all visitors together 16 (503); when these are in
        use, one that is slower than 128 KiB/s ends for a new one.

        id: The export's id.
        format: `json` is the export as it was validated; `ndjson` one record a line, each with its export
            and licence. (default json)
        extra_headers, extra_query: Headers and parameters to send beside these.
        """
        result, _ = self.download_with_response(id, format=format, extra_headers=extra_headers, extra_query=extra_query)
        return result

    def download_with_response(
        self,
        id: str,
        *,
        format: Literal["json", "ndjson"] | None = None,
        extra_headers: Mapping[str, str] | None = None,
        extra_query: Mapping[str, ParameterValue] | None = None,
    ) -> tuple[bytes, Response]:
        """Do as `download`, and return the response as it came beside it."""
        response = self._caller.send(
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
    ) -> AbstractContextManager[Download]:
        """Do as `download`, and read the body chunk by chunk instead of holding it in memory.

            with client.exports.stream("demo") as download:
                for chunk in download:
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

    def download_to(
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
            or `None` where the response doesn't have it.
        """
        return save(
            self.stream(id, format=format, extra_headers=extra_headers, extra_query=extra_query), path, on_progress
        )


class ChangesResource:
    """`/v1/changes`."""

    def __init__(self, caller: Caller) -> None:
        """Made by the client."""
        self._caller = caller

    def since(
        self,
        since: str | None = None,
        *,
        limit: int | None = None,
        offset: int | None = None,
        extra_headers: Mapping[str, str] | None = None,
        extra_query: Mapping[str, ParameterValue] | None = None,
    ) -> ChangesPage:
        """List changes.

        The products that were added, changed or removed since a generation, by id, over all generations in
        between. The server keeps the last hundred generations, and fewer after very large changes: with an
        older or unknown one the answer is 410, and the whole directory is at `/v1/exports`. An export's own
        name, licence and date are there too: a change of these isn't a change of its products.

        since: The earlier generation, as `X-Generation` or `to` named it. Without it there are no changes,
            and `to` is where to begin. (at most 64 characters)
        limit: The most records to return: a page. `total` says how many there are. (1 to 100, default 100)
        offset: How many records to skip; beyond the end the page is empty. (default 0)
        extra_headers, extra_query: Headers and parameters to send beside these.
        """
        return self._caller.page(
            ChangesPage,
            call(
                "/v1/changes",
                query={"since": since, "limit": limit, "offset": offset},
                extra_headers=extra_headers,
                extra_query=extra_query,
            ),
        )


class Operations:
    """The operations of the client itself: `/v1/suggest`."""

    _caller: Caller

    def suggest(
        self,
        *,
        q: str | None = None,
        lang: str | None = None,
        limit: int | None = None,
        extra_headers: Mapping[str, str] | None = None,
        extra_query: Mapping[str, ParameterValue] | None = None,
    ) -> Suggestions:
        """Suggest while typing.

        Products, categories and glossary terms that what is typed can become: ids and names alone, a few
        hundred bytes.

        q: What has been typed so far. The last word also matches as the beginning of others, and misspelled
            words match too. Without it nothing is suggested. (at most 256 characters)
        lang: The language of the texts, a tag such as `de`. A text that isn't in it is in the record's own
            language, and `untranslated` names its field. Words of all languages are searched in any case. A
            language that no text of the directory is in is refused. Without it, HTTP's `Accept-Language`
            chooses among the languages that texts are translated to.
        limit: The most suggestions of each kind. (1 to 20, default 5)
        extra_headers, extra_query: Headers and parameters to send beside these.
        """
        result, _ = self.suggest_with_response(
            q=q, lang=lang, limit=limit, extra_headers=extra_headers, extra_query=extra_query
        )
        return result

    def suggest_with_response(
        self,
        *,
        q: str | None = None,
        lang: str | None = None,
        limit: int | None = None,
        extra_headers: Mapping[str, str] | None = None,
        extra_query: Mapping[str, ParameterValue] | None = None,
    ) -> tuple[Suggestions, Response]:
        """Do as `suggest`, and return the response as it came beside it."""
        response = self._caller.send(
            call(
                "/v1/suggest",
                query={"q": q, "lang": lang, "limit": limit},
                extra_headers=extra_headers,
                extra_query=extra_query,
            )
        )
        return cast("Suggestions", record_of(response)), response
