//! The parameters that several endpoints share.

use super::value::{Date, Decimal, Flag, Integer, MAX_SAFE_INTEGER, OneOf, Text};
use super::{AnyParameter, MAX_QUERY_OFFSET, Parameter, Values};
use crate::http::response::Field;
use crate::record::{EvidenceStatus, OfferingType};
use crate::service::{Attribute, Facet, MAX_LIMIT, MAX_QUERY_CHARACTERS, Order, Prefix, SearchSort, SoftwareFilter};

/// Free text to search for.
pub(in crate::http) const fn query(about: &'static str, example: &'static str) -> Parameter<Text> {
    let value = Text { empty: true, max_characters: Some(MAX_QUERY_CHARACTERS) };
    Parameter { name: "q", about, value, repeatable: false, example }
}

/// Page size.
pub(in crate::http) const fn limit(default: u64) -> Parameter<Integer> {
    Parameter {
        name: "limit",
        about: "Page size.",
        value: Integer { minimum: 1, maximum: MAX_LIMIT as u64, default },
        repeatable: false,
        example: "10",
    }
}

/// Page size of most lists.
pub(in crate::http) static LIMIT: Parameter<Integer> = limit(20);

/// The offset of the page.
pub(in crate::http) static OFFSET: Parameter<Integer> =
    offset("Number of items to skip; beyond the end the page is empty.", MAX_SAFE_INTEGER);

/// The offset of the page in a list that `q` may restrict.
pub(in crate::http) static QUERIED_OFFSET: Parameter<Integer> =
    offset("Number of items to skip; beyond the end the page is empty. With `q` at most 10000.", MAX_SAFE_INTEGER);

/// The offset of the page in a list that is a search by itself.
pub(in crate::http) static SEARCHED_OFFSET: Parameter<Integer> =
    offset("Number of items to skip; beyond the end the page is empty.", MAX_QUERY_OFFSET);

const fn offset(about: &'static str, maximum: u64) -> Parameter<Integer> {
    let value = Integer { minimum: 0, maximum, default: 0 };
    Parameter { name: "offset", about, value, repeatable: false, example: "1" }
}

/// Categories, any of them.
pub(in crate::http) static CATEGORY: Parameter<Text> = Parameter {
    name: "category",
    about: "Only products in this category: its name or id, upper or lower case. Repeat it for any of several. A \
            category that doesn't exist matches nothing.",
    value: Text { empty: false, max_characters: None },
    repeatable: true,
    example: "Audit management",
};

/// Kind of offering.
pub(in crate::http) static OFFERING_TYPE: Parameter<OneOf<OfferingType>> = Parameter {
    name: "offering_type",
    about: "Only products of this type.",
    value: OneOf {
        values: &[
            (OfferingType::Software.as_str(), OfferingType::Software),
            (OfferingType::DocumentTemplates.as_str(), OfferingType::DocumentTemplates),
        ],
        default: None,
    },
    repeatable: false,
    example: "software",
};

pub(in crate::http) static EVIDENCE_STATUS: Parameter<OneOf<EvidenceStatus>> = Parameter {
    name: "evidence_status",
    about: "Only products whose evidence has this status.",
    value: OneOf {
        values: &[
            (EvidenceStatus::VendorSourcesReviewed.as_str(), EvidenceStatus::VendorSourcesReviewed),
            (EvidenceStatus::PendingReview.as_str(), EvidenceStatus::PendingReview),
        ],
        default: None,
    },
    repeatable: false,
    example: "vendor-sources-reviewed",
};

/// Least rating.
pub(in crate::http) static MIN_RATING: Parameter<Decimal> = Parameter {
    name: "min_rating",
    about: "Only products with a shown rating of at least this.",
    value: Decimal { minimum: 0.0, maximum: 5.0 },
    repeatable: false,
    example: "3.5",
};

/// Evidence checked before a day.
pub(in crate::http) static EVIDENCE_CHECKED_BEFORE: Parameter<Date> = Parameter {
    name: "evidence_checked_before",
    about: "Only products whose evidence was last checked before this day.",
    value: Date,
    repeatable: false,
    example: "2026-12-31",
};

/// Evidence checked after a day.
pub(in crate::http) static EVIDENCE_CHECKED_AFTER: Parameter<Date> = Parameter {
    name: "evidence_checked_after",
    about: "Only products whose evidence was last checked after this day.",
    value: Date,
    repeatable: false,
    example: "2026-01-31",
};

const fn attribute(attribute: Attribute, about: &'static str, example: &'static str) -> Parameter<Text> {
    let value = Text { empty: false, max_characters: None };
    Parameter { name: attribute.as_str(), about, value, repeatable: true, example }
}

/// Values of the attributes, any of them.
pub(in crate::http) static STANDARDS: Parameter<Text> = attribute(
    Attribute::Standards,
    "Only products for this standard. Repeat it for any of several. Case, accents, spaces and hyphens don't matter: `iso9001` is \
     `ISO 9001`. One that no product has matches nothing.",
    "ISO 45001",
);

/// How products can be run.
pub(in crate::http) static DEPLOYMENT: Parameter<Text> = attribute(
    Attribute::Deployment,
    "Only products that can be run in this way, such as `cloud`; compared like `standards`.",
    "cloud",
);

/// Languages of user interfaces.
pub(in crate::http) static LANGUAGES: Parameter<Text> = attribute(
    Attribute::Languages,
    "Only products with a user interface in this language; compared like `standards`.",
    "English",
);

pub(in crate::http) static VENDOR: Parameter<Text> =
    attribute(Attribute::Vendor, "Only products of this vendor; compared like `standards`.", "Make-Believe Icebergs");

pub(in crate::http) static TAGS: Parameter<Text> =
    attribute(Attribute::Tags, "Only products with this tag; compared like `standards`.", "templates");

static ATTRIBUTES: [&Parameter<Text>; Attribute::COUNT] = [&STANDARDS, &DEPLOYMENT, &LANGUAGES, &VENDOR, &TAGS];

/// Fields of products in lists.
pub(in crate::http) static FIELDS: Parameter<OneOf<Field>> = Parameter {
    name: "fields",
    about: "Only these fields of each product, and its `id`. Repeat it for several. Without it all fields.",
    value: OneOf { values: &Field::NAMED, default: None },
    repeatable: true,
    example: "name",
};

/// The filters that lists and searches of products share.
pub(in crate::http) static FILTERS: [&dyn AnyParameter; 11] = [
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

/// Reads the filters that lists and searches of products share.
pub(in crate::http) fn software_filter(values: &mut Values<'_>) -> SoftwareFilter {
    SoftwareFilter {
        categories: values.many(&CATEGORY),
        offering_type: values.one(&OFFERING_TYPE),
        evidence_status: values.one(&EVIDENCE_STATUS),
        min_rating: values.one(&MIN_RATING),
        evidence_checked_before: values.one(&EVIDENCE_CHECKED_BEFORE),
        evidence_checked_after: values.one(&EVIDENCE_CHECKED_AFTER),
        attributes: ATTRIBUTES.map(|attribute| values.many(attribute)),
        ..SoftwareFilter::default()
    }
}

pub(in crate::http) static LIST_SORT: Parameter<OneOf<Order>> = Parameter {
    name: "sort",
    about: "Order. Without `q` by name where nothing is said, with `q` best match first. Products without the value come last.",
    value: OneOf {
        values: &[
            ("name", Order::Name),
            ("-rating", Order::Rating),
            ("-review_count", Order::ReviewCount),
            ("-evidence_checked_on", Order::EvidenceCheckedOn),
        ],
        default: None,
    },
    repeatable: false,
    example: "-rating",
};

/// Orders of a search.
pub(in crate::http) static SEARCH_SORT: Parameter<OneOf<SearchSort>> = Parameter {
    name: "sort",
    about: "Order. Products without the value come last.",
    value: OneOf {
        values: &[
            ("relevance", SearchSort::Relevance),
            ("-rating", SearchSort::Rating),
            ("-review_count", SearchSort::ReviewCount),
            ("-evidence_checked_on", SearchSort::EvidenceCheckedOn),
            ("name", SearchSort::Name),
        ],
        default: Some("relevance"),
    },
    repeatable: false,
    example: "-rating",
};

/// Facets to count.
pub(in crate::http) static FACETS: Parameter<OneOf<Facet>> = Parameter {
    name: "facets",
    about: "Also count the matching products by this. Repeat it for several. Each count leaves its own filter out. Of `standards`, \
            `deployment`, `languages`, `vendor` and `tags` the 100 most frequent values are counted.",
    value: OneOf {
        values: &[
            ("category", Facet::Category),
            ("offering_type", Facet::OfferingType),
            ("evidence_status", Facet::EvidenceStatus),
            ("rating", Facet::Rating),
            ("standards", Facet::Attribute(Attribute::Standards)),
            ("deployment", Facet::Attribute(Attribute::Deployment)),
            ("languages", Facet::Attribute(Attribute::Languages)),
            ("vendor", Facet::Attribute(Attribute::Vendor)),
            ("tags", Facet::Attribute(Attribute::Tags)),
        ],
        default: None,
    },
    repeatable: true,
    example: "category",
};

/// Whether to highlight matches.
pub(in crate::http) static HIGHLIGHT: Parameter<Flag> = Parameter {
    name: "highlight",
    about: "Whether each hit also says which parts of which fields matched.",
    value: Flag { default: false },
    repeatable: false,
    example: "true",
};

/// Whether the last word may be the beginning of one.
pub(in crate::http) static PREFIX: Parameter<OneOf<Prefix>> = Parameter {
    name: "prefix",
    about: "Whether the last word also matches as the beginning of a longer one: `always` while it is being typed, `never`, or \
            `auto`, only where it isn't a word itself (of a record, or common in English) or too little is found.",
    value: OneOf {
        values: &[("auto", Prefix::Auto), ("always", Prefix::Always), ("never", Prefix::Never)],
        default: Some("auto"),
    },
    repeatable: false,
    example: "always",
};

/// Whether to allow typos.
pub(in crate::http) static TYPO: Parameter<Flag> = Parameter {
    name: "typo",
    about: "Whether a misspelled word may match.",
    value: Flag { default: true },
    repeatable: false,
    example: "false",
};
