//! The parameters that several endpoints share.

use super::value::{Date, Decimal, Flag, Integer, MAX_SAFE_INTEGER, OneOf, Text};
use super::{Parameter, Values};
use crate::record::{EvidenceStatus, OfferingType};
use crate::service::{Facet, Order, Prefix, SearchSort, SoftwareFilter};

/// The most characters (Unicode code points) of `q`.
const MAX_QUERY_CHARACTERS: usize = 256;

/// Free text to search for.
pub(in crate::http) const fn query(about: &'static str) -> Parameter<Text> {
    let value = Text { empty: true, max_characters: Some(MAX_QUERY_CHARACTERS) };
    Parameter { name: "q", about, value, repeatable: false }
}

/// Page size.
pub(in crate::http) const fn limit(default: u64) -> Parameter<Integer> {
    Parameter {
        name: "limit",
        about: "Page size.",
        value: Integer { minimum: 1, maximum: 100, default },
        repeatable: false,
    }
}

/// Page size of most lists.
pub(in crate::http) static LIMIT: Parameter<Integer> = limit(20);

/// The offset of the page.
pub(in crate::http) static OFFSET: Parameter<Integer> =
    offset("Number of items to skip; beyond the end the page is empty.");

/// The offset of the page in a list that `q` may restrict.
pub(in crate::http) static QUERIED_OFFSET: Parameter<Integer> =
    offset("Number of items to skip; beyond the end the page is empty. With `q` at most 10000.");

const fn offset(about: &'static str) -> Parameter<Integer> {
    let value = Integer { minimum: 0, maximum: MAX_SAFE_INTEGER, default: 0 };
    Parameter { name: "offset", about, value, repeatable: false }
}

/// Categories, any of them.
pub(in crate::http) static CATEGORY: Parameter<Text> = Parameter {
    name: "category",
    about: "Only products in this category: its name or id, upper or lower case. Repeat it for any of several. A \
            category that doesn't exist matches nothing.",
    value: Text { empty: false, max_characters: None },
    repeatable: true,
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
};

/// Status of the evidence.
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
};

/// Least rating.
pub(in crate::http) static MIN_RATING: Parameter<Decimal> = Parameter {
    name: "min_rating",
    about: "Only products with a shown rating of at least this.",
    value: Decimal { minimum: 0.0, maximum: 5.0 },
    repeatable: false,
};

/// Evidence checked before a day.
pub(in crate::http) static EVIDENCE_CHECKED_BEFORE: Parameter<Date> = Parameter {
    name: "evidence_checked_before",
    about: "Only products whose evidence was last checked before this day.",
    value: Date,
    repeatable: false,
};

/// Reads the filters that lists and searches of products share.
pub(in crate::http) fn software_filter(values: &mut Values<'_>) -> SoftwareFilter {
    SoftwareFilter {
        categories: values.many(&CATEGORY),
        offering_type: values.one(&OFFERING_TYPE),
        evidence_status: values.one(&EVIDENCE_STATUS),
        min_rating: values.one(&MIN_RATING),
        evidence_checked_before: values.one(&EVIDENCE_CHECKED_BEFORE),
    }
}

/// Orders of the list.
pub(in crate::http) static LIST_SORT: Parameter<OneOf<Order>> = Parameter {
    name: "sort",
    about: "Order. Without `q` by name where nothing is said, with `q` best match first. Unrated products come last.",
    value: OneOf {
        values: &[("name", Order::Name), ("-rating", Order::Rating), ("-review_count", Order::ReviewCount)],
        default: None,
    },
    repeatable: false,
};

/// Orders of a search.
pub(in crate::http) static SEARCH_SORT: Parameter<OneOf<SearchSort>> = Parameter {
    name: "sort",
    about: "Order. Unrated products come last.",
    value: OneOf {
        values: &[
            ("relevance", SearchSort::Relevance),
            ("-rating", SearchSort::Rating),
            ("-review_count", SearchSort::ReviewCount),
            ("name", SearchSort::Name),
        ],
        default: Some("relevance"),
    },
    repeatable: false,
};

/// Facets to count.
pub(in crate::http) static FACETS: Parameter<OneOf<Facet>> = Parameter {
    name: "facets",
    about: "Also count the matching products by this. Repeat it for several. Each count leaves its own filter out.",
    value: OneOf {
        values: &[
            ("category", Facet::Category),
            ("offering_type", Facet::OfferingType),
            ("evidence_status", Facet::EvidenceStatus),
            ("rating", Facet::Rating),
        ],
        default: None,
    },
    repeatable: true,
};

/// Whether to highlight matches.
pub(in crate::http) static HIGHLIGHT: Parameter<Flag> = Parameter {
    name: "highlight",
    about: "Whether each hit also says which parts of which fields matched.",
    value: Flag { default: false },
    repeatable: false,
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
};

/// Whether to allow typos.
pub(in crate::http) static TYPO: Parameter<Flag> = Parameter {
    name: "typo",
    about: "Whether a misspelled word may match.",
    value: Flag { default: true },
    repeatable: false,
};
