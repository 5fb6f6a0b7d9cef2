"""The records of the API, as types of plain dicts.

Written by tools/generate.py out of the server's OpenAPI document; not to be edited. Members that a newer server adds
are in the dicts all the same.
"""

from __future__ import annotations

from typing import Any, Dict, List, Optional, TypedDict

__all__ = [
    "Attribute",
    "Category",
    "CategoryRef",
    "CategorySuggestion",
    "Change",
    "Export",
    "ExportRef",
    "FacetValue",
    "GlossarySource",
    "GlossaryTerm",
    "Highlight",
    "Pagination",
    "ParameterProblem",
    "Problem",
    "QueryReport",
    "RatingDistribution",
    "Replacement",
    "Review",
    "ReviewSummary",
    "SameAs",
    "SearchHit",
    "Shared",
    "SimilarSoftware",
    "SoftwareDetail",
    "SoftwareItem",
    "SoftwareRef",
    "Source",
    "Suggestions",
    "TermSuggestion",
    "TextRange",
]


class CategoryRef(TypedDict):
    """A category that a product is in."""

    id: str
    """Identifier."""
    name: str
    """Name."""


class _SoftwareItemAlways(TypedDict):
    """What a SoftwareItem always has."""

    id: str
    """Identifier; any text, so percent-encode it in a path."""
    name: str
    """Name."""
    tagline: Optional[str]
    """Short description. Lists have at most 500 characters of it, of the name and of the vendor, and then `…`."""
    category: Optional[str]
    """Name of the main category."""
    categories: List[CategoryRef]
    """All categories, the main one first. Lists have the first ten."""
    rating: Optional[float]
    """Average rating, by convention 0 to 5."""
    review_count: Optional[int]
    """Number of reviews behind the rating."""
    website: str
    """The product's website: a URI. Follow it only if it is `http` or `https`."""
    vendor: Optional[str]
    """Name of the vendor."""
    offering_type: str
    """`software` or `document-templates`; further values may come."""
    evidence_status: str
    """`vendor-sources-reviewed` or `pending-review`; further values may come."""
    evidence_checked_on: Optional[str]
    """When the evidence was checked, `YYYY-MM-DD`."""


class SoftwareItem(_SoftwareItemAlways, total=False):
    """A product as lists show it."""

    language: str
    """The language of the record's own texts, a tag of BCP 47. Absent for English."""
    untranslated: List[str]
    """The fields that aren't in the language of the request, and so are in the record's own. Absent if all are in
    it.
    """


class Source(TypedDict):
    """A source of evidence."""

    label: str
    """Name of the source."""
    url: str
    """Where it is: a URI."""


class ExportRef(TypedDict):
    """The export that a record is from: exports of different licences are never blended."""

    id: str
    """Identifier."""
    name: str
    """Name."""
    license: str
    """Licence: a URI."""
    as_of: Optional[str]
    """Snapshot date, as stated."""


class SameAs(TypedDict):
    """A product of another export with the same website."""

    id: str
    """Identifier."""
    name: str
    """Name."""
    export: str
    """Identifier of its export."""


class _SoftwareDetailAlways(TypedDict):
    """What a SoftwareDetail always has."""

    id: str
    """Identifier; any text, so percent-encode it in a path."""
    name: str
    """Name."""
    tagline: Optional[str]
    """Short description. Lists have at most 500 characters of it, of the name and of the vendor, and then `…`."""
    category: Optional[str]
    """Name of the main category."""
    categories: List[CategoryRef]
    """All categories, the main one first. Lists have the first ten."""
    rating: Optional[float]
    """Average rating, by convention 0 to 5."""
    review_count: Optional[int]
    """Number of reviews behind the rating."""
    website: str
    """The product's website: a URI. Follow it only if it is `http` or `https`."""
    vendor: Optional[str]
    """Name of the vendor."""
    offering_type: str
    """`software` or `document-templates`; further values may come."""
    evidence_status: str
    """`vendor-sources-reviewed` or `pending-review`; further values may come."""
    evidence_checked_on: Optional[str]
    """When the evidence was checked, `YYYY-MM-DD`."""
    description: Optional[str]
    """Long description, plain text."""
    aliases: List[str]
    """Other names of the product."""
    tags: List[str]
    """Free key words."""
    features: List[str]
    """Functions of the product."""
    standards: List[str]
    """Standards it is for."""
    alternative_to: List[str]
    """Names of products that it can replace."""
    deployment: List[str]
    """Ways to run it."""
    pricing: Optional[str]
    """Price, as text."""
    languages: List[str]
    """Languages of its user interface."""
    sources: List[Source]
    """Where the claims come from. The directory asserts neither their truth nor their freshness."""
    rating_source: Optional[str]
    """Where rating and review count come from: `stated` by the record, or `reviews`, computed from them; further
    values may come.
    """
    additional_properties: Dict[str, Any]
    """The properties that the directory doesn't interpret, as in the export."""
    export: ExportRef
    """The export that the record is from."""
    same_as: List[SameAs]
    """Products of other exports with the same website, the best first, 20 at most. They probably are this product
    as another source describes it.
    """


class SoftwareDetail(_SoftwareDetailAlways, total=False):
    """A single product."""

    language: str
    """The language of the record's own texts, a tag of BCP 47. Absent for English."""
    untranslated: List[str]
    """The fields that aren't in the language of the request, and so are in the record's own. Absent if all are in
    it.
    """
    translations: Dict[str, Dict[str, str]]
    """Texts in other languages, by language tag and field. Absent without any."""


class _AttributeAlways(TypedDict):
    """What a Attribute always has."""

    property: str
    """The key in a record, which the parameters `attribute`, `facets` and `sort` take."""
    label: str
    """The label to display."""
    type: str
    """What its values are: `text`, `number`, `boolean` or `date`."""
    unit: Optional[str]
    """The unit of its numbers."""
    software_count: int
    """Number of products with a value; may be 0."""


class Attribute(_AttributeAlways, total=False):
    """A property that products are filtered, counted and sorted by."""

    language: str
    """The language of its own texts, a tag of BCP 47. Absent for English."""
    translations: Dict[str, Dict[str, str]]
    """Texts in other languages, by language tag and field. Absent without any."""
    untranslated: List[str]
    """The fields that aren't in the language of the request, and so are in the entry's own. Absent if all are in
    it.
    """


class _CategoryAlways(TypedDict):
    """What a Category always has."""

    id: str
    """Identifier: the name's slug. Accepted, like the name, by the `category` parameter."""
    name: str
    """Name."""
    description: Optional[str]
    """Description."""
    software_count: int
    """Number of products in it; may be 0."""


class Category(_CategoryAlways, total=False):
    """A category of the directory."""

    language: str
    """The language of its own texts, a tag of BCP 47. Absent for English."""
    translations: Dict[str, Dict[str, str]]
    """Texts in other languages, by language tag and field. Absent without any."""
    untranslated: List[str]
    """The fields that aren't in the language of the request, and so are in the entry's own. Absent if all are in
    it.
    """


class Review(TypedDict):
    """A user's review of a product."""

    id: str
    """Identifier."""
    software_id: str
    """The product it is about."""
    rating: int
    """Stars, 1 to 5."""
    title: Optional[str]
    """Headline."""
    body: Optional[str]
    """Text."""
    author: Optional[str]
    """Name of the author."""
    created_at: Optional[str]
    """When it was written: RFC 3339, in UTC."""
    verified: Optional[bool]
    """Whether the reviewer is known to use the product."""
    additional_properties: Dict[str, Any]
    """The properties that the directory doesn't interpret, as in the export."""


RatingDistribution = TypedDict(
    "RatingDistribution",
    {
        # One star.
        "1": int,
        # Two stars.
        "2": int,
        # Three stars.
        "3": int,
        # Four stars.
        "4": int,
        # Five stars.
        "5": int,
    },
)
"""Number of reviews by stars."""


class ReviewSummary(TypedDict):
    """All reviews of a product, summed up."""

    average: Optional[float]
    """Mean of the stars, to two decimals; null without reviews."""
    count: int
    """Number of reviews."""
    distribution: RatingDistribution
    """How many reviews gave how many stars."""


class GlossarySource(TypedDict):
    """Where a definition can be checked."""

    title: Optional[str]
    """Name of the source."""
    url: Optional[str]
    """Where it is."""


class _GlossaryTermAlways(TypedDict):
    """What a GlossaryTerm always has."""

    id: str
    """Identifier: the term's slug."""
    term: str
    """The term."""
    definition: str
    """Its definition, plain text."""
    abbreviations: List[str]
    """Abbreviations of the term."""
    synonyms: List[str]
    """Other words for it."""
    related: List[str]
    """Terms to read next."""
    source: Optional[GlossarySource]
    """Where the definition can be checked."""


class GlossaryTerm(_GlossaryTermAlways, total=False):
    """A term of the field and what it means."""

    language: str
    """The language of its own texts, a tag of BCP 47. Absent for English."""
    translations: Dict[str, Dict[str, str]]
    """Texts in other languages, by language tag and field. Absent without any."""
    untranslated: List[str]
    """The fields that aren't in the language of the request, and so are in the entry's own. Absent if all are in
    it.
    """


class TextRange(TypedDict):
    """A part of a text, in Unicode code points."""

    start: int
    """Code points before it."""
    length: int
    """Its length in code points."""


class _HighlightAlways(TypedDict):
    """What a Highlight always has."""

    field: str
    """The field's name."""
    html: str
    """Its text (a part of it where it is long), escaped for HTML, the matches in `<mark>`."""
    ranges: List[TextRange]
    """The first hundred matches in the field's text: as the product has it here, or for other fields in its
    record.
    """


class Highlight(_HighlightAlways, total=False):
    """A field of a hit with the places that matched. A hit has about 16 KiB of them at most."""

    by: str
    """`synonym` where no word of the query is in the text, but one that means the same; further values may come.
    Absent otherwise.
    """
    language: str
    """The language of the text, where it's a translation. Absent for the record's own."""


class _SearchHitAlways(TypedDict):
    """What a SearchHit always has."""

    id: str
    """Identifier; any text, so percent-encode it in a path."""
    name: str
    """Name."""
    tagline: Optional[str]
    """Short description. Lists have at most 500 characters of it, of the name and of the vendor, and then `…`."""
    category: Optional[str]
    """Name of the main category."""
    categories: List[CategoryRef]
    """All categories, the main one first. Lists have the first ten."""
    rating: Optional[float]
    """Average rating, by convention 0 to 5."""
    review_count: Optional[int]
    """Number of reviews behind the rating."""
    website: str
    """The product's website: a URI. Follow it only if it is `http` or `https`."""
    vendor: Optional[str]
    """Name of the vendor."""
    offering_type: str
    """`software` or `document-templates`; further values may come."""
    evidence_status: str
    """`vendor-sources-reviewed` or `pending-review`; further values may come."""
    evidence_checked_on: Optional[str]
    """When the evidence was checked, `YYYY-MM-DD`."""
    score: float
    """How well it matches; comparable within one answer only. 0 without a query, and below 0 if it has none of the
    words but is related.
    """


class SearchHit(_SearchHitAlways, total=False):
    """A product that matches."""

    language: str
    """The language of the record's own texts, a tag of BCP 47. Absent for English."""
    untranslated: List[str]
    """The fields that aren't in the language of the request, and so are in the record's own. Absent if all are in
    it.
    """
    highlights: List[Highlight]
    """The fields that matched; absent without `highlight`."""


Replacement = TypedDict(
    "Replacement",
    {
        # As the query has it.
        "from": str,
        # As it was searched.
        "to": str,
    },
)
"""A word of the query and what was searched for it."""


class _QueryReportAlways(TypedDict):
    """What a QueryReport always has."""

    corrected: List[Replacement]
    """Words that were taken for a misspelling of others, and phrases that no product has, taken for their words."""
    dropped: List[str]
    """Words that did not count: no product has them, or they were beyond the ten rarest."""
    synonyms: List[Replacement]
    """Terms that were searched as well because they mean the same."""
    excluded: List[str]
    """Words and phrases that hits must not have: behind a `-`, or a `not` that leaves something out."""
    with_all_words: int
    """How many of the products found have all words. In the order of relevance these come first, and those with
    only some of the words follow.
    """


class QueryReport(_QueryReportAlways, total=False):
    """How the query was understood."""

    unknown: List[str]
    """Those of the dropped words that tell what is sought and that no product has: the hits have only other words
    of the query. Absent if there are none.
    """
    pinned: List[str]
    """Ids of the products that the directory's editors put first for this query, in their order. Filters and
    exclusions apply to them too, and a product with exactly this name still comes before them.
    """
    alternatives_to: str
    """The product that alternatives are looked for to, as the query has it. Absent where none are."""
    alternatives_to_id: str
    """The id of that product if no product is called an alternative to it: the hits are products similar to it,
    and it comes last itself. Absent otherwise.
    """
    related: int
    """How many of the products found have none of the words, but are near the query in meaning. In the order of
    relevance they come last. They're added only if words find few products.
    """
    incomplete: bool
    """`true` if the search stopped early, as too much work: total and counts are lower bounds. Absent otherwise."""


class FacetValue(TypedDict):
    """One value of a facet."""

    value: str
    """The value for the filter."""
    label: str
    """The label to display."""
    count: int
    """How many products of the result have it, its own filter left out."""


class _ExportAlways(TypedDict):
    """What a Export always has."""

    id: str
    """Identifier: the file's name without `.json`."""
    name: str
    """Name of the export."""
    id_prefix: Optional[str]
    """The prefix that the directory adds to the ids of the document's products and reviews; null without one."""
    license: str
    """Licence of the export's content: a URI."""
    as_of: Optional[str]
    """Snapshot date, as stated; a record's own evidence date takes precedence."""
    software_count: int
    """How many products it holds."""
    category_count: int
    """How many categories it describes."""
    review_count: int
    """How many reviews it holds."""
    glossary_count: int
    """How many glossary terms it defines."""
    size_bytes: int
    """Size of the document in bytes."""
    sha256: str
    """SHA-256 of the document, in hexadecimal digits: it changes with the document, and verifies a download."""
    changed_at: Optional[str]
    """When the export's file was last modified, RFC 3339 in UTC; null for one that isn't a file, such as a bundled
    one.
    """


class Export(_ExportAlways, total=False):
    """One of the export files that make up the directory."""

    language: str
    """The language of its texts, a tag of BCP 47: stated, or else detected. Absent for English."""


class Pagination(TypedDict):
    """Where a page lies in the whole list."""

    limit: int
    """The requested page size, 1 to 100."""
    offset: int
    """The number of items skipped."""
    total: int
    """The exact number of items in the whole list."""


class ParameterProblem(TypedDict):
    """A problem of one parameter."""

    param: str
    """The parameter's name as the request has it."""
    code: str
    """`invalid_parameter`, `unknown_parameter` or `offset_too_large`."""
    message: str
    """The problem, and the allowed values."""


class _ProblemAlways(TypedDict):
    """What a Problem always has."""

    type: str
    """Where the code is explained: a URI reference."""
    title: str
    """A short description of the code."""
    status: int
    """The HTTP status."""
    detail: str
    """The problem of this request, and its remedy."""
    code: str
    """The machine-readable error code; further codes may come."""
    request_id: str
    """The request's id, to quote to the operator."""


class Problem(_ProblemAlways, total=False):
    """An error as callers see it (RFC 9457)."""

    retry_after_seconds: int
    """Seconds to wait before trying again, where waiting helps."""
    errors: List[ParameterProblem]
    """The problems by parameter."""


class Shared(TypedDict):
    """The common properties of two products."""

    categories: List[CategoryRef]
    """Categories that both are in."""
    words: List[str]
    """Words of the requested product that both have, the rarest first."""


class _SimilarSoftwareAlways(TypedDict):
    """What a SimilarSoftware always has."""

    id: str
    """Identifier; any text, so percent-encode it in a path."""
    name: str
    """Name."""
    tagline: Optional[str]
    """Short description. Lists have at most 500 characters of it, of the name and of the vendor, and then `…`."""
    category: Optional[str]
    """Name of the main category."""
    categories: List[CategoryRef]
    """All categories, the main one first. Lists have the first ten."""
    rating: Optional[float]
    """Average rating, by convention 0 to 5."""
    review_count: Optional[int]
    """Number of reviews behind the rating."""
    website: str
    """The product's website: a URI. Follow it only if it is `http` or `https`."""
    vendor: Optional[str]
    """Name of the vendor."""
    offering_type: str
    """`software` or `document-templates`; further values may come."""
    evidence_status: str
    """`vendor-sources-reviewed` or `pending-review`; further values may come."""
    evidence_checked_on: Optional[str]
    """When the evidence was checked, `YYYY-MM-DD`."""
    score: float
    """How similar it is, 0 to 1; comparable within one answer only."""
    shared: Shared


class SimilarSoftware(_SimilarSoftwareAlways, total=False):
    """A product that is like another one."""

    language: str
    """The language of the record's own texts, a tag of BCP 47. Absent for English."""
    untranslated: List[str]
    """The fields that aren't in the language of the request, and so are in the record's own. Absent if all are in
    it.
    """


class SoftwareRef(TypedDict):
    """A product by id and name."""

    id: str
    """Identifier; any text, so percent-encode it in a path."""
    name: str
    """Name."""


class CategorySuggestion(TypedDict):
    """A category that a query can be narrowed to."""

    id: str
    """Identifier: the value of the filter `category`."""
    name: str
    """Name."""
    software_count: int
    """How many products are in it."""


class TermSuggestion(TypedDict):
    """A glossary term."""

    id: str
    """Identifier."""
    term: str
    """The term."""


class Suggestions(TypedDict):
    """Completions of a query that is being typed."""

    software: List[SoftwareRef]
    """Products: first those with the words in their names, then others that a search finds."""
    categories: List[CategorySuggestion]
    """Categories with the words in their names, most products first."""
    glossary: List[TermSuggestion]
    """Glossary terms that have the words in the term, an abbreviation or a synonym, best match first."""


class Change(TypedDict):
    """A change of a product from one generation to a later one."""

    id: str
    """Identifier of the product."""
    change: str
    """`added`, `changed` or `removed`; further values may come."""
    content_hash: Optional[str]
    """A hash of the product's content, 16 hexadecimal digits; null for one that was removed."""
    evidence_renewed: bool
    """Whether its evidence was checked on a later day than before."""
