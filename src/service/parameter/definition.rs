//! The parameters, in the order of their operations: lists, searches of products, reviews, the rest.

use super::value::{Date, Decimal, Flag, Integer, MAX_SAFE_INTEGER, OneOf, Text};
use super::{AnyParameter, Parameter};
use crate::record::{EvidenceStatus, OfferingType};
use crate::service::{
    Attribute, Facet, MAX_LIMIT, MAX_QUERY_CHARACTERS, MAX_QUERY_OFFSET, Order, Prefix, ReviewSort, SearchSort,
};

const fn page_size(default: u64) -> Integer {
    Integer { minimum: 1, maximum: MAX_LIMIT as u64, default }
}

const fn limit(default: u64) -> Parameter<Integer> {
    Parameter::new("limit", "Page size.", "10", page_size(default))
        .in_tool("The most records to return. `total` says how many there are.")
}

/// The page size of most lists.
pub static LIMIT: Parameter<Integer> = limit(20).with_tool_value(page_size(10));

/// The page size of lists of small items: most directories have fewer categories than fit on one page.
pub static LONG_LIMIT: Parameter<Integer> = limit(100);

/// The page size of similar products, of which a product's page shows ten at most.
pub static SIMILAR_LIMIT: Parameter<Integer> = limit(10);

const fn offset(about: &'static str, maximum: u64) -> Parameter<Integer> {
    Parameter::new("offset", about, "1", Integer { minimum: 0, maximum, default: 0 })
}

pub static OFFSET: Parameter<Integer> =
    offset("Number of items to skip; beyond the end the page is empty.", MAX_SAFE_INTEGER)
        .in_tool("How many categories to skip, where there are more than `limit`.")
        .with_tool_value(Integer { minimum: 0, maximum: u32::MAX as u64, default: 0 });

/// The offset in a list that `q` may restrict.
pub static QUERIED_OFFSET: Parameter<Integer> =
    offset("Number of items to skip; beyond the end the page is empty. With `q` at most 10000.", MAX_SAFE_INTEGER);

/// The offset in a list that is a search by itself.
pub static SEARCHED_OFFSET: Parameter<Integer> =
    offset("Number of items to skip; beyond the end the page is empty.", MAX_QUERY_OFFSET);

const QUERY: Text = Text { empty: true, max_characters: Some(MAX_QUERY_CHARACTERS) };
const TOOL_QUERY: Text = Text { empty: false, ..QUERY };

pub static SEARCH_Q: Parameter<Text> = Parameter::new(
    "q",
    "What to look for. `\"Quoted phrases\"` must appear as they are, unless no product has them, and a `-word` or `NOT word` \
     must not. `alternative to NAME` finds what can replace a product, `NAME vs NAME` both. The last word also matches as the \
     beginning of others, see `prefix`. Without `q` all products, best quality first.",
    "permit to work",
    QUERY,
)
.in_tool("Words to look for: a need (`permit to work`), a product or vendor, a standard. Misspellings and synonyms match. \
         `\"quoted phrase\"` must appear, `-word` must not, `alternative to NAME` finds replacements. Leave it out to list what \
         passes the filters.")
.with_tool_value(TOOL_QUERY);

/// The text of a list of products by name.
pub static NAME_Q: Parameter<Text> = Parameter::new(
    "q",
    "Only products whose name or other name has, for every word of this, a word that starts with it. Case, accents and \
     compounds written apart or together don't matter. Best match first unless `sort` is given.",
    "penguin",
    QUERY,
);

pub static GLOSSARY_Q: Parameter<Text> = Parameter::new(
    "q",
    "Only terms that match this text, best match first: the term and its abbreviations before its definition.",
    "loto",
    QUERY,
)
.in_tool("The term, abbreviation or words of the definition to look for, such as `PTW`.")
.with_tool_value(TOOL_QUERY)
.required_in_tool();

pub static SUGGEST_Q: Parameter<Text> = Parameter::new(
    "q",
    "What has been typed so far. The last word also matches as the beginning of others, and misspelled words match too. \
     Without it nothing is suggested.",
    "permi",
    QUERY,
);

pub static SUGGEST_LIMIT: Parameter<Integer> =
    Parameter::new("limit", "The most suggestions of each kind.", "3", Integer { minimum: 1, maximum: 20, default: 5 });

const NAME: Text = Text { empty: false, max_characters: None };
const TOOL_NAME: Text = Text { max_characters: Some(256), ..NAME };

pub static IDS: Parameter<Text> = Parameter::new(
    "id",
    "Only the products with these ids: repeat it for several. An id that doesn't exist matches nothing.",
    "demo-permit-penguin",
    NAME,
)
.repeatable();

pub static CATEGORY: Parameter<Text> = Parameter::new(
    "category",
    "Only products in this category: its name or id, upper or lower case. Repeat it for any of several. A \
     category that doesn't exist matches nothing.",
    "Audit management",
    NAME,
)
.repeatable()
.in_tool("Only products in any of these categories, by name or id as list_categories returns them.")
.with_tool_value(TOOL_NAME);

pub static OFFERING_TYPE: Parameter<OneOf<OfferingType>> = Parameter::new(
    "offering_type",
    "Only products of this type.",
    "software",
    OneOf { values: &OfferingType::ALL, name: OfferingType::as_str, default: None },
)
.in_tool("Only products of this kind.");

pub static EVIDENCE_STATUS: Parameter<OneOf<EvidenceStatus>> = Parameter::new(
    "evidence_status",
    "Only products whose evidence has this status.",
    "vendor-sources-reviewed",
    OneOf { values: &EvidenceStatus::ALL, name: EvidenceStatus::as_str, default: None },
)
.in_tool("Only products with this status of evidence: `vendor-sources-reviewed`: the vendor's own sources were reviewed for the \
         record; `pending-review`: they were not yet.");

pub static MIN_RATING: Parameter<Decimal> = Parameter::new(
    "min_rating",
    "Only products with a shown rating of at least this.",
    "3.5",
    Decimal { minimum: 0.0, maximum: 5.0 },
)
.in_tool("Only products with an average rating of at least this, of 5. Products without a rating are left out.");

pub static EVIDENCE_CHECKED_BEFORE: Parameter<Date> = Parameter::new(
    "evidence_checked_before",
    "Only products whose evidence was last checked before this day.",
    "2026-12-31",
    Date,
)
.in_tool("Only products whose evidence was last checked before this day, YYYY-MM-DD: the ones to check again.");

pub static EVIDENCE_CHECKED_AFTER: Parameter<Date> = Parameter::new(
    "evidence_checked_after",
    "Only products whose evidence was last checked after this day.",
    "2026-01-31",
    Date,
)
.in_tool("Only products whose evidence was last checked after this day, YYYY-MM-DD.");

const fn attribute(attribute: Attribute, about: &'static str, example: &'static str) -> Parameter<Text> {
    Parameter::new(attribute.as_str(), about, example, NAME).repeatable().with_tool_value(TOOL_NAME)
}

pub static STANDARDS: Parameter<Text> = attribute(
    Attribute::Standards,
    "Only products for this standard. Repeat it for any of several. Case, accents, spaces and hyphens don't matter: `iso9001` is \
     `ISO 9001`. One that no product has matches nothing.",
    "ISO 45001",
)
.in_tool("Only products for any of these standards, such as `ISO 45001`.");

pub static DEPLOYMENT: Parameter<Text> = attribute(
    Attribute::Deployment,
    "Only products that can be run in this way, such as `cloud`; compared like `standards`.",
    "cloud",
)
.in_tool("Only products that run in any of these ways, such as `cloud`.");

pub static LANGUAGES: Parameter<Text> = attribute(
    Attribute::Languages,
    "Only products with a user interface in this language; compared like `standards`.",
    "English",
)
.in_tool("Only products with a user interface in any of these languages.");

pub static VENDOR: Parameter<Text> =
    attribute(Attribute::Vendor, "Only products of this vendor; compared like `standards`.", "Make-Believe Icebergs")
        .in_tool("Only products of any of these vendors.");

pub static TAGS: Parameter<Text> =
    attribute(Attribute::Tags, "Only products with this tag; compared like `standards`.", "templates")
        .in_tool("Only products with any of these tags.");

/// In the order of [`Attribute::ALL`].
pub static ATTRIBUTES: [&Parameter<Text>; Attribute::COUNT] = [&STANDARDS, &DEPLOYMENT, &LANGUAGES, &VENDOR, &TAGS];

/// The filters that lists and searches of products share.
pub static FILTERS: [&dyn AnyParameter; 11] = [
    &CATEGORY,
    &OFFERING_TYPE,
    &EVIDENCE_STATUS,
    &MIN_RATING,
    &EVIDENCE_CHECKED_BEFORE,
    &EVIDENCE_CHECKED_AFTER,
    &STANDARDS,
    &DEPLOYMENT,
    &LANGUAGES,
    &VENDOR,
    &TAGS,
];

/// The order of a list of products.
pub static LIST_SORT: Parameter<OneOf<Order>> = Parameter::new(
    "sort",
    "Order. Without `q` by name where nothing is said, with `q` best match first. Products without the value come last.",
    "-rating",
    OneOf { values: &Order::ALL, name: Order::as_str, default: None },
);

pub static SEARCH_SORT: Parameter<OneOf<SearchSort>> = Parameter::new(
    "sort",
    "Order. Products without the value come last.",
    "-rating",
    OneOf { values: &SearchSort::ALL, name: SearchSort::as_str, default: Some(SearchSort::Relevance) },
)
.in_tool("Order; `relevance` by default. `-` means highest or newest first.");

pub static FACETS: Parameter<OneOf<Facet>> = Parameter::new(
    "facets",
    "Also count the matching products by this. Repeat it for several. Each count leaves its own filter out. Of `standards`, \
     `deployment`, `languages`, `vendor` and `tags` the 100 most frequent values are counted, if they have no more than 500 characters.",
    "category",
    OneOf { values: &Facet::ALL, name: Facet::as_str, default: None },
)
.repeatable();

pub static HIGHLIGHT: Parameter<Flag> = Parameter::new(
    "highlight",
    "Whether each hit also says which parts of which fields matched.",
    "true",
    Flag { default: false },
);

pub static PREFIX: Parameter<OneOf<Prefix>> = Parameter::new(
    "prefix",
    "Whether the last word also matches as the beginning of a longer one: `always` while it is being typed, `never`, or \
     `auto`, only where it isn't a word itself (of a record, or common in English) or too little is found.",
    "always",
    OneOf { values: &Prefix::ALL, name: Prefix::as_str, default: Some(Prefix::Auto) },
);

pub static TYPO: Parameter<Flag> =
    Parameter::new("typo", "Whether a misspelled word may match.", "false", Flag { default: true });

const fn stars(name: &'static str, about: &'static str) -> Parameter<Decimal> {
    Parameter::new(name, about, "4", Decimal { minimum: 1.0, maximum: 5.0 })
}

pub static MIN_STARS: Parameter<Decimal> = stars("min_rating", "Only reviews with at least that many stars.");
pub static MAX_STARS: Parameter<Decimal> = stars("max_rating", "Only reviews with at most that many stars.");

pub static VERIFIED: Parameter<OneOf<bool>> = Parameter::new(
    "verified",
    "`true`: only reviews whose reviewer is known to use the product; `false`: only the others.",
    "true",
    OneOf { values: &[true, false], name: |is_verified| if is_verified { "true" } else { "false" }, default: None },
);

pub static REVIEW_SORT: Parameter<OneOf<ReviewSort>> = Parameter::new(
    "sort",
    "Order. Reviews without a date come last, reviews with as many stars newest first.",
    "-rating",
    OneOf { values: &ReviewSort::ALL, name: ReviewSort::as_str, default: Some(ReviewSort::Newest) },
)
.in_tool("Order; newest first (`-created_at`) by default.");

/// The generation that a list of changes begins at.
pub static SINCE: Parameter<Text> = Parameter::new(
    "since",
    "The earlier generation, as `X-Generation` or `to` named it. Without it there are no changes, and `to` is where to begin.",
    "0123456789abcdef",
    Text { empty: false, max_characters: Some(64) },
);
