//! The parameters in the order of their operations: lists, product searches, reviews, everything
//! else.

use super::value::{Condition, Date, Decimal, Flag, Integer, MAX_SAFE_INTEGER, Name, OneOf, Text};
use super::{AnyParameter, Parameter};
use crate::record::{EvidenceStatus, OfferingType};
use crate::service::{
    Facet, ListSort, MAX_LIMIT, MAX_QUERY_CHARACTERS, MAX_QUERY_OFFSET, Order, Prefix, ReviewSort, SearchSort,
};

const fn page_size(default: u64) -> Integer {
    Integer { minimum: 1, maximum: MAX_LIMIT as u64, default }
}

const fn limit(default: u64) -> Parameter<Integer> {
    Parameter::new(
        "limit",
        "The most records to return: a page. `total` says how many there are.",
        "10",
        page_size(default),
    )
}

/// The page size of most lists. An assistant reads every record it gets, so it gets fewer.
pub static LIMIT: Parameter<Integer> = limit(20).with_tool_value(page_size(10));

/// The page size of lists with small items. Most directories have fewer categories than fit on a
/// page.
pub static LONG_LIMIT: Parameter<Integer> = limit(100);

/// The page size of similar products. A product's page shows at most ten.
pub static SIMILAR_LIMIT: Parameter<Integer> = limit(10);

const OFFSET_ABOUT: &str = "How many records to skip; beyond the end the page is empty.";

const fn offset(about: &'static str, maximum: u64) -> Parameter<Integer> {
    Parameter::new("offset", about, "1", Integer { minimum: 0, maximum, default: 0 })
}

pub static OFFSET: Parameter<Integer> = offset(OFFSET_ABOUT, MAX_SAFE_INTEGER);

/// The offset in a list that `q` may restrict.
pub static QUERIED_OFFSET: Parameter<Integer> = offset(
    "How many records to skip; beyond the end the page is empty. With `q` or a sort by an attribute at most 10000.",
    MAX_SAFE_INTEGER,
);

/// The offset in a list that is itself a search.
pub static SEARCHED_OFFSET: Parameter<Integer> = offset(OFFSET_ABOUT, MAX_QUERY_OFFSET);

const QUERY: Text = Text { empty: true, max_characters: Some(MAX_QUERY_CHARACTERS) };

pub static SEARCH_Q: Parameter<Text> = Parameter::new(
    "q",
    "What to look for: a need (`permit to work`), a product or vendor, a standard. Misspellings and synonyms match. \
     `\"Quoted phrases\"` must appear as they are, unless no product has them, and a `-word` or `NOT word` must not. `alternative \
     to NAME` finds what can replace a product, `NAME vs NAME` both. The last word also matches as the beginning of others. \
     Without `q` all products that pass the filters, best quality first.",
    "permit to work",
    QUERY,
);

/// Searches a list of products by name.
pub static NAME_Q: Parameter<Text> = Parameter::new(
    "q",
    "Only products whose name or other name has, for every word of this, a word that starts with it. Case, accents and \
     compounds written apart or together don't matter. Best match first unless `sort` is given.",
    "penguin",
    QUERY,
);

pub static GLOSSARY_Q: Parameter<Text> = Parameter::new(
    "q",
    "The term, abbreviation or words of the definition to look for, such as `PTW`. Best match first: the term and its \
     abbreviations before its definition.",
    "loto",
    QUERY,
)
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

pub static IDS: Parameter<Text> = Parameter::new(
    "id",
    "Only the products with these ids. An id that doesn't exist matches nothing.",
    "demo-permit-penguin",
    NAME,
)
.repeatable();

pub static CATEGORY: Parameter<Text> = Parameter::new(
    "category",
    "Only products in any of these categories, by name or id as the list of categories has them, in upper or lower case. A \
     category that doesn't exist matches nothing.",
    "Audit management",
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
    "Only products whose evidence has this status. `vendor-sources-reviewed`: the vendor's own sources were reviewed for the \
     record; `pending-review`: they were not yet.",
    "vendor-sources-reviewed",
    OneOf { values: &EvidenceStatus::ALL, name: EvidenceStatus::as_str, default: None },
);

pub static MIN_RATING: Parameter<Decimal> = Parameter::new(
    "min_rating",
    "Only products with an average rating of at least this, of 5. Products without a rating are left out.",
    "3.5",
    Decimal { minimum: 0.0, maximum: 5.0 },
);

pub static EVIDENCE_CHECKED_BEFORE: Parameter<Date> = Parameter::new(
    "evidence_checked_before",
    "Only products whose evidence was last checked before this day, YYYY-MM-DD: the ones to check again.",
    "2026-12-31",
    Date,
);

pub static EVIDENCE_CHECKED_AFTER: Parameter<Date> = Parameter::new(
    "evidence_checked_after",
    "Only products whose evidence was last checked after this day, YYYY-MM-DD.",
    "2026-01-31",
    Date,
);

/// A parameter for a built-in attribute, named like its property.
const fn attribute(property: &'static str, about: &'static str, example: &'static str) -> Parameter<Text> {
    Parameter::new(property, about, example, NAME).repeatable()
}

pub static STANDARDS: Parameter<Text> = attribute(
    "standards",
    "Only products for any of these standards. Case, accents, spaces and hyphens don't matter: `iso9001` is `ISO 9001`. One that \
     no product has matches nothing.",
    "ISO 45001",
);

pub static DEPLOYMENT: Parameter<Text> = attribute(
    "deployment",
    "Only products that can be run in any of these ways, such as `cloud`; compared like `standards`.",
    "cloud",
);

pub static LANGUAGES: Parameter<Text> = attribute(
    "languages",
    "Only products with a user interface in any of these languages; compared like `standards`.",
    "English",
);

pub static VENDOR: Parameter<Text> =
    attribute("vendor", "Only products of any of these vendors; compared like `standards`.", "Imaginary Stationery");

pub static TAGS: Parameter<Text> =
    attribute("tags", "Only products with any of these tags; compared like `standards`.", "templates");

/// Values of any attribute.
pub static ATTRIBUTE: Parameter<Condition> = Parameter::new(
    "attribute",
    "Only products with this value of an attribute: its property, a colon, and a value (`licence:MIT`) or a range of numbers or \
     days, either end of which may be left out (`price:10..50`, `released_on:2025-01-01..`). Values of one attribute are \
     alternatives, different attributes all count. Texts are compared like `standards`. An unknown attribute is refused with the \
     names of all attributes.",
    "standards:ISO 45001",
    Condition,
)
.repeatable();

/// The parameters for the built-in attributes.
pub static ATTRIBUTES: [&Parameter<Text>; 5] = [&STANDARDS, &DEPLOYMENT, &LANGUAGES, &VENDOR, &TAGS];

/// The filters that all lists and searches of products share.
pub static FILTERS: [&dyn AnyParameter; 12] = [
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
    &ATTRIBUTE,
];

/// An example of sorting by an attribute.
const SORT_EXAMPLE: &str = "-attribute.price";

/// The order of a list of products.
pub static LIST_SORT: Parameter<Name<ListSort>> = Parameter::new(
    "sort",
    "Order. Without `q` by name where nothing is said, with `q` best match first. `attribute.` and its property sorts by an attribute \
     that is a number, a day, or true or false, with `-` before it highest or newest first. Products without the value come last.",
    "-rating",
    Name {
        names: || Order::ALL.map(|order| order.as_str().to_owned()).into(),
        read: ListSort::parse,
        sign: "-?",
        default: None,
        example: SORT_EXAMPLE,
    },
);

pub static SEARCH_SORT: Parameter<Name<SearchSort>> = Parameter::new(
    "sort",
    "Order; `-` means highest or newest first. `attribute.` and its property sorts by an attribute that is a number, a day, or true \
     or false. Products without the value come last.",
    "-rating",
    Name {
        names: || SearchSort::names().map(str::to_owned).collect(),
        read: SearchSort::parse,
        sign: "-?",
        default: Some("relevance"),
        example: SORT_EXAMPLE,
    },
);

pub static FACETS: Parameter<Name<Facet>> = Parameter::new(
    "facets",
    "Also count the matching products by this; `attribute.` and its property counts the values of an attribute. Each count leaves its \
     own filter out. Of a text the 100 most frequent values are counted, of `category` the 1000 most frequent, without values of more \
     than 500 characters. Numbers are counted in a few ranges, days by year.",
    "category",
    Name {
        names: || Facet::all().map(|facet| facet.as_str().to_owned()).collect(),
        read: Facet::parse,
        sign: "",
        default: None,
        example: "attribute.price",
    },
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

/// The language of texts in a response.
pub static LANG: Parameter<Text> = Parameter::new(
    "lang",
    "The language of the texts, a tag such as `de`. A text that isn't in it is in the record's own language, and `untranslated` names its \
     field. Words of all languages are searched in any case. A language that no text of the directory is in is refused. Without it, HTTP's \
     `Accept-Language` chooses among the languages that texts are translated to.",
    "en",
    NAME,
);

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
    "Order; `-` means newest or most stars first. Reviews without a date come last, reviews with as many stars newest first.",
    "-rating",
    OneOf { values: &ReviewSort::ALL, name: ReviewSort::as_str, default: Some(ReviewSort::Newest) },
);

/// The generation that a list of changes starts from.
pub static SINCE: Parameter<Text> = Parameter::new(
    "since",
    "The earlier generation, as `X-Generation` or `to` named it. Without it there are no changes, and `to` is where to begin.",
    "0123456789abcdef",
    Text { empty: false, max_characters: Some(64) },
);
