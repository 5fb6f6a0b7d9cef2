//! The parameters, grouped by operation: lists, product searches, reviews, everything else.

use std::convert::identity;

use super::value::{Condition, Date, Decimal, Flag, Integer, MAX_SAFE_INTEGER, Name, OneOf, Text};
use super::{AnyParameter, Parameter};
use crate::record::{EvidenceStatus, FULL, OfferingType};
use crate::service::{
    Facet, ListSort, MAX_LIMIT, MAX_QUERY_CHARACTERS, MAX_QUERY_OFFSET, Order, Prefix, ReviewSort, SearchSort,
};

const fn page_size(default: u64) -> Integer {
    Integer { minimum: 1, maximum: MAX_LIMIT as u64, default }
}

const fn limit(default: u64) -> Parameter<Integer> {
    Parameter::new(
        "limit",
        "Maximum number of records to return: the page size. `total` is how many there are in all.",
        "10",
        page_size(default),
    )
}

/// The page size for most lists. It's smaller in tools, because an assistant reads every record it
/// gets.
pub static LIMIT: Parameter<Integer> = limit(20).with_tool_value(page_size(10));

/// The page size for lists of small items. Most directories have fewer categories than fit on a
/// page.
pub static LONG_LIMIT: Parameter<Integer> = limit(100);

/// The page size for similar products. A product's page shows at most ten.
pub static SIMILAR_LIMIT: Parameter<Integer> = limit(10);

const OFFSET_ABOUT: &str = "How many records to skip. Past the end of the list, the page is empty.";

const fn offset(about: &'static str, maximum: u64) -> Parameter<Integer> {
    Parameter::new("offset", about, "1", Integer { minimum: 0, maximum, default: 0 })
}

pub static OFFSET: Parameter<Integer> = offset(OFFSET_ABOUT, MAX_SAFE_INTEGER);

/// The offset in a list that can be searched with `q`.
pub static QUERIED_OFFSET: Parameter<Integer> = offset(
    "How many records to skip. Past the end of the list, the page is empty. At most 10000 with `q` or when sorting by \
     an attribute.",
    MAX_SAFE_INTEGER,
);

/// The offset in search results.
pub static SEARCHED_OFFSET: Parameter<Integer> = offset(OFFSET_ABOUT, MAX_QUERY_OFFSET);

const QUERY: Text = Text { empty: true, max_characters: Some(MAX_QUERY_CHARACTERS) };

pub static SEARCH_Q: Parameter<Text> = Parameter::new(
    "q",
    "What to look for: a need (`permit to work`), a product, a vendor or a standard. Misspellings and synonyms also \
     match. `\"Quoted phrases\"` must appear as written, unless no product has them; `-word` or `NOT word` excludes a \
     word. `alternative to NAME` finds products that can replace that one, and `NAME vs NAME` finds both. The last \
     word also matches the beginning of longer words. Without `q`, all products that pass the filters are returned, \
     best quality first.",
    "permit to work",
    QUERY,
);

/// Searches a list of products by name.
pub static NAME_Q: Parameter<Text> = Parameter::new(
    "q",
    "Only products with a name or alternative name in which every word given here matches the beginning of a word. \
     Case, accents and whether compounds are written as one word or several don't matter. Best match first unless \
     `sort` is given.",
    "penguin",
    QUERY,
);

pub static GLOSSARY_Q: Parameter<Text> = Parameter::new(
    "q",
    "What to look for: a term, an abbreviation such as `PTW`, or words from a definition. Best match first: matches \
     in terms and abbreviations come before matches in definitions.",
    "loto",
    QUERY,
)
.required_in_tool();

pub static SUGGEST_Q: Parameter<Text> = Parameter::new(
    "q",
    "What has been typed so far. The last word also matches the beginning of longer words, and misspelled words also \
     match. Without it, nothing is suggested.",
    "permi",
    QUERY,
);

pub static SUGGEST_LIMIT: Parameter<Integer> = Parameter::new(
    "limit",
    "Maximum number of suggestions of each kind.",
    "3",
    Integer { minimum: 1, maximum: 20, default: 5 },
);

const NAME: Text = Text { empty: false, max_characters: None };

pub static IDS: Parameter<Text> = Parameter::new(
    "id",
    "Only the products with these ids. An id that doesn't exist matches nothing.",
    "demo-permit-penguin",
    NAME,
)
.repeatable();

pub static CATEGORY: Parameter<Text> = Parameter::new(
    "category",
    "Only products in any of these categories, given by id or by name in any language; case doesn't matter. An id takes \
     precedence over a name, and a category's own name over a translation. A translation that several categories share \
     stands for all of them. A category that doesn't exist matches nothing.",
    "Audit management",
    NAME,
)
.repeatable();

pub static EXPORT: Parameter<Text> = Parameter::new(
    "export",
    "Only products from any of these exports, given by id. An export that doesn't exist matches nothing.",
    "demo",
    NAME,
)
.repeatable();

pub static OFFERING_TYPE: Parameter<OneOf<OfferingType>> = Parameter::new(
    "offering_type",
    "Only products of this type.",
    "software",
    OneOf { values: &OfferingType::ALL, name: OfferingType::as_str, default: None },
);

pub static EVIDENCE_STATUS: Parameter<OneOf<EvidenceStatus>> = Parameter::new(
    "evidence_status",
    "Only products whose evidence has this status. `vendor-sources-reviewed`: the vendor's own sources were reviewed \
     for the record; `pending-review`: they haven't been reviewed yet.",
    "vendor-sources-reviewed",
    OneOf { values: &EvidenceStatus::ALL, name: EvidenceStatus::as_str, default: None },
);

pub static MIN_RATING: Parameter<Decimal> = Parameter::new(
    "min_rating",
    "Only products with at least this average rating, out of 5. Products without a rating are left out.",
    "3.5",
    Decimal { minimum: 0.0, maximum: 5.0 },
);

pub static EVIDENCE_CHECKED_BEFORE: Parameter<Date> = Parameter::new(
    "evidence_checked_before",
    "Only products whose evidence was last checked before this day, YYYY-MM-DD: the ones due for another check.",
    "2026-12-31",
    Date,
);

pub static EVIDENCE_CHECKED_AFTER: Parameter<Date> = Parameter::new(
    "evidence_checked_after",
    "Only products whose evidence was last checked after this day, YYYY-MM-DD.",
    "2026-01-31",
    Date,
);

pub static ANY_EVIDENCE_BEFORE: Parameter<Date> = Parameter::new(
    "any_evidence_before",
    "Only products with at least one claim whose evidence was last checked before this day, YYYY-MM-DD. Claims without \
     a date of their own have the record's.",
    "2026-12-31",
    Date,
);

/// A parameter for a built-in attribute, with the same name as the attribute's property.
const fn attribute(property: &'static str, about: &'static str, example: &'static str) -> Parameter<Text> {
    Parameter::new(property, about, example, NAME).repeatable()
}

pub static STANDARDS: Parameter<Text> = attribute(
    "standards",
    "Only products for any of these standards. Case, accents, spaces and hyphens don't matter: `iso9001` matches `ISO \
     9001`. A standard that no product has matches nothing.",
    "ISO 45001",
);

pub static DEPLOYMENT: Parameter<Text> = attribute(
    "deployment",
    "Only products that can be run in any of these ways, such as `cloud`; compared the same way as `standards`.",
    "cloud",
);

pub static LANGUAGES: Parameter<Text> = attribute(
    "languages",
    "Only products with a user interface in any of these languages; compared the same way as `standards`.",
    "English",
);

pub static VENDOR: Parameter<Text> = attribute(
    "vendor",
    "Only products from any of these vendors; compared the same way as `standards`.",
    "Imaginary Stationery",
);

pub static TAGS: Parameter<Text> =
    attribute("tags", "Only products with any of these tags; compared the same way as `standards`.", "templates");

/// Values of any attribute.
pub static ATTRIBUTE: Parameter<Condition> = Parameter::new(
    "attribute",
    "Only products with this attribute value: the attribute's property, a colon, and a value (`licence:MIT`) or a \
     range of numbers or dates, either end of which may be left out (`price:10..50`, `released_on:2025-01-01..`). \
     Several values of one attribute are alternatives; conditions on different attributes must all match. Text is \
     compared the same way as `standards`. An unknown attribute is rejected with a list of all attributes.",
    "standards:ISO 45001",
    Condition,
)
.repeatable();

/// The parameters for the built-in attributes.
pub static ATTRIBUTES: [&Parameter<Text>; 5] = [&STANDARDS, &DEPLOYMENT, &LANGUAGES, &VENDOR, &TAGS];

/// The parameter that filters by an attribute, and how it's written there: built-in attributes have
/// parameters of their own.
pub fn attribute_filter<'p>(property: &'p str, value: &str) -> (&'p str, String) {
    if ATTRIBUTES.iter().any(|parameter| parameter.name == property) {
        (property, value.to_owned())
    } else {
        (ATTRIBUTE.name, format!("{property}:{value}"))
    }
}

/// The filters that all lists and searches of products share.
pub static FILTERS: [&dyn AnyParameter; 14] = [
    &CATEGORY,
    &EXPORT,
    &OFFERING_TYPE,
    &EVIDENCE_STATUS,
    &MIN_RATING,
    &EVIDENCE_CHECKED_BEFORE,
    &EVIDENCE_CHECKED_AFTER,
    &ANY_EVIDENCE_BEFORE,
    &STANDARDS,
    &DEPLOYMENT,
    &LANGUAGES,
    &VENDOR,
    &TAGS,
    &ATTRIBUTE,
];

/// The order of a product list.
pub static LIST_SORT: Parameter<Name<ListSort>> = Parameter::new(
    "sort",
    "Sort order. The default is by name, or best match first with `q`. `attribute.` followed by a property sorts by \
     an attribute whose values are numbers, dates, or true and false; a `-` in front means highest or newest first. \
     Products without a value come last.",
    "-rating",
    Name {
        names: || Order::ALL.map(|order| order.as_str().to_owned()).into(),
        read: ListSort::parse,
        sign: "-?",
        default: None,
        example: None,
    },
);

pub static SEARCH_SORT: Parameter<Name<SearchSort>> = Parameter::new(
    "sort",
    "Sort order; `-` means highest or newest first. `attribute.` followed by a property sorts by an attribute whose \
     values are numbers, dates, or true and false. Products without a value come last.",
    "-rating",
    Name {
        names: || SearchSort::names().map(str::to_owned).collect(),
        read: SearchSort::parse,
        sign: "-?",
        default: Some("relevance"),
        example: None,
    },
);

pub static FACETS: Parameter<Name<Facet>> = Parameter::new(
    "facets",
    "Also count the matching products by this facet; `attribute.` followed by a property counts the values of an \
     attribute. Each facet ignores its own filter. Only the 100 most frequent values of a text attribute and the 1000 \
     most frequent of `category` are counted, and values longer than 500 characters are left out. Numbers are counted \
     in a few ranges, dates by year.",
    "category",
    Name {
        names: || Facet::all().map(|facet| facet.as_str().to_owned()).collect(),
        read: Facet::parse,
        sign: "",
        default: None,
        example: Some("attribute.standards"),
    },
)
.repeatable();

pub static INCLUDE: Parameter<OneOf<&str>> = Parameter::new(
    "include",
    "Also include these members of the full record with each product. What doesn't fit (a page has at most 1 MiB of \
     them) is left out and named in the product's `omitted`. Several names may be separated by commas.",
    "description",
    OneOf { values: &FULL, name: identity, default: None },
)
.repeatable();

pub static HIGHLIGHT: Parameter<Flag> = Parameter::new(
    "highlight",
    "Whether to include, with each hit, which parts of which fields matched.",
    "true",
    Flag { default: false },
);

pub static PREFIX: Parameter<OneOf<Prefix>> = Parameter::new(
    "prefix",
    "Whether the last word also matches the beginning of longer words: `always`, for a word that is still being \
     typed; `never`; or `auto`, only if fewer than ten products contain it as a whole word.",
    "always",
    OneOf { values: &Prefix::ALL, name: Prefix::as_str, default: Some(Prefix::Auto) },
);

pub static TYPO: Parameter<Flag> =
    Parameter::new("typo", "Whether misspelled words may match.", "false", Flag { default: true });

/// The language of the text in a response.
pub static LANG: Parameter<Text> = Parameter::new(
    "lang",
    "The language to return text in, as a tag such as `de`. Text that isn't available in it is returned in the \
     record's own language, and `untranslated` names its field. Words in all languages are searched regardless. A \
     language that the directory has no text in is rejected. Without `lang`, all text is returned in its record's own \
     language.",
    "en",
    NAME,
);

const fn stars(name: &'static str, about: &'static str) -> Parameter<Decimal> {
    Parameter::new(name, about, "4", Decimal { minimum: 1.0, maximum: 5.0 })
}

pub static MIN_STARS: Parameter<Decimal> = stars("min_rating", "Only reviews with at least this many stars.");
pub static MAX_STARS: Parameter<Decimal> = stars("max_rating", "Only reviews with at most this many stars.");

pub static VERIFIED: Parameter<OneOf<bool>> = Parameter::new(
    "verified",
    "`true`: only reviews whose reviewer is known to use the product; `false`: only other reviews.",
    "true",
    OneOf { values: &[true, false], name: |is_verified| if is_verified { "true" } else { "false" }, default: None },
);

pub static REVIEW_SORT: Parameter<OneOf<ReviewSort>> = Parameter::new(
    "sort",
    "Sort order; `-` means newest or most stars first. Reviews without a date come last. Among reviews with the same \
     number of stars, the newest come first.",
    "-rating",
    OneOf { values: &ReviewSort::ALL, name: ReviewSort::as_str, default: Some(ReviewSort::Newest) },
);

/// The generation that a list of changes starts from.
pub static SINCE: Parameter<Text> = Parameter::new(
    "since",
    "The earlier generation, from `X-Generation` or `to`. Without it, no changes are listed, and `to` is the generation \
     to start from.",
    "0123456789abcdef",
    Text { empty: false, max_characters: Some(64) },
);
