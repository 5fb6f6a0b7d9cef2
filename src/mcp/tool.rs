//! The tools: their names, descriptions and arguments, written for a reader that has never seen the directory.

use std::sync::Arc;

use rmcp::model::{Tool, ToolAnnotations};
use serde_json::{Map, Value};

use super::argument::{Kind, Parameter, schema};
use super::schema as output;
use crate::record::{EvidenceStatus, OfferingType};
use crate::service::{MAX_LIMIT, MAX_QUERY_CHARACTERS};

/// A tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation {
    SearchSoftware,
    GetSoftware,
    ListCategories,
    SearchGlossary,
    ListReviews,
}

/// Orders of a search, the names of the HTTP API.
pub(super) const SEARCH_SORTS: [&str; 5] = ["relevance", "-rating", "-review_count", "-evidence_checked_on", "name"];

/// Orders of reviews, the names of the HTTP API.
pub(super) const REVIEW_SORTS: [&str; 4] = ["-created_at", "created_at", "-rating", "rating"];

/// The longest id of an argument, in Unicode code points.
const MAX_ID_CHARACTERS: usize = 1024;

const QUERY: Kind = Kind::Text { max_characters: MAX_QUERY_CHARACTERS };

const fn limit(default: u64) -> Parameter {
    Parameter::optional(
        "limit",
        Kind::Integer { minimum: 1, maximum: MAX_LIMIT as u64, default },
        "The most records to return. `total` says how many there are.",
    )
}

/// The number of records, and where they begin.
pub(super) static LIMIT: Parameter = limit(10);
pub(super) static LONG_LIMIT: Parameter = limit(100);

static SEARCH_SOFTWARE: [Parameter; 14] = [
    Parameter::optional(
        "q",
        QUERY,
        "Words to look for: a need (`permit to work`), a product or vendor, a standard. Misspellings and synonyms match. \
         `\"quoted phrase\"` must appear, `-word` must not, `alternative to NAME` finds replacements. Leave it out to list what \
         passes the filters.",
    ),
    Parameter::optional(
        "category",
        Kind::Texts,
        "Only products in any of these categories, by name or id as list_categories returns them.",
    ),
    Parameter::optional(
        "evidence_status",
        Kind::OneOf(&[EvidenceStatus::VendorSourcesReviewed.as_str(), EvidenceStatus::PendingReview.as_str()]),
        "Only products with this status of evidence: `vendor-sources-reviewed`: the vendor's own sources were reviewed for the \
         record; `pending-review`: they were not yet.",
    ),
    Parameter::optional(
        "evidence_checked_after",
        Kind::Date,
        "Only products whose evidence was last checked after this day, YYYY-MM-DD.",
    ),
    Parameter::optional(
        "evidence_checked_before",
        Kind::Date,
        "Only products whose evidence was last checked before this day, YYYY-MM-DD: the ones to check again.",
    ),
    Parameter::optional(
        "offering_type",
        Kind::OneOf(&[OfferingType::Software.as_str(), OfferingType::DocumentTemplates.as_str()]),
        "Only products of this kind.",
    ),
    Parameter::optional(
        "min_rating",
        Kind::Number { minimum: 0.0, maximum: 5.0 },
        "Only products with an average rating of at least this, of 5. Products without a rating are left out.",
    ),
    Parameter::optional("standards", Kind::Texts, "Only products for any of these standards, such as `ISO 45001`."),
    Parameter::optional("deployment", Kind::Texts, "Only products that run in any of these ways, such as `cloud`."),
    Parameter::optional("languages", Kind::Texts, "Only products with a user interface in any of these languages."),
    Parameter::optional("vendor", Kind::Texts, "Only products of any of these vendors."),
    Parameter::optional("tags", Kind::Texts, "Only products with any of these tags."),
    Parameter::optional(
        "sort",
        Kind::OneOf(&SEARCH_SORTS),
        "Order; `relevance` by default. `-` means highest or newest first.",
    ),
    limit(10),
];

static GET_SOFTWARE: [Parameter; 1] = [Parameter::required(
    "id",
    Kind::Text { max_characters: MAX_ID_CHARACTERS },
    "The product's id, exactly as search_software returns it.",
)];

static LIST_CATEGORIES: [Parameter; 2] = [
    limit(100),
    Parameter::optional(
        "offset",
        Kind::Integer { minimum: 0, maximum: u32::MAX as u64, default: 0 },
        "How many categories to skip, where there are more than `limit`.",
    ),
];

pub(super) static OFFSET: &Parameter = &LIST_CATEGORIES[1];

static SEARCH_GLOSSARY: [Parameter; 2] = [
    Parameter::required("q", QUERY, "The term, abbreviation or words of the definition to look for, such as `PTW`."),
    limit(10),
];

static LIST_REVIEWS: [Parameter; 3] = [
    Parameter::required(
        "id",
        Kind::Text { max_characters: MAX_ID_CHARACTERS },
        "The product's id, exactly as search_software returns it.",
    ),
    Parameter::optional("sort", Kind::OneOf(&REVIEW_SORTS), "Order; newest first (`-created_at`) by default."),
    limit(10),
];

impl Operation {
    pub(super) const ALL: [Self; 5] =
        [Self::SearchSoftware, Self::GetSoftware, Self::ListCategories, Self::SearchGlossary, Self::ListReviews];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::SearchSoftware => "search_software",
            Self::GetSoftware => "get_software",
            Self::ListCategories => "list_categories",
            Self::SearchGlossary => "search_glossary",
            Self::ListReviews => "list_reviews",
        }
    }

    pub(super) fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|operation| operation.name() == name)
    }

    pub(super) const fn parameters(self) -> &'static [Parameter] {
        match self {
            Self::SearchSoftware => &SEARCH_SOFTWARE,
            Self::GetSoftware => &GET_SOFTWARE,
            Self::ListCategories => &LIST_CATEGORIES,
            Self::SearchGlossary => &SEARCH_GLOSSARY,
            Self::ListReviews => &LIST_REVIEWS,
        }
    }

    const fn title(self) -> &'static str {
        match self {
            Self::SearchSoftware => "Search software products",
            Self::GetSoftware => "Get a software product",
            Self::ListCategories => "List categories of software",
            Self::SearchGlossary => "Search the glossary",
            Self::ListReviews => "List reviews of a product",
        }
    }

    const fn description(self) -> &'static str {
        match self {
            Self::SearchSoftware => {
                "Find software products of the directory by words, by filters, or both; best match first. Each product comes with \
                 the evidence behind it (status, day of the check, sources), the export it is from with licence and snapshot \
                 date, and a link. Use it first: it returns the ids that the other tools take."
            }
            Self::GetSoftware => {
                "Get everything that the directory says about one product: description, features, standards, pricing, \
                 deployment, languages, ratings, all sources of its evidence, and its export with licence."
            }
            Self::ListCategories => {
                "List the directory's categories with the number of products in each. Use a name or id as the category of \
                 search_software."
            }
            Self::SearchGlossary => {
                "Look up terms of the field: definition, abbreviations, synonyms, and the source where the definition can be \
                 checked."
            }
            Self::ListReviews => {
                "List users' reviews of one product, with a summary of all of them. `verified` says whether the reviewer is known \
                 to use the product."
            }
        }
    }

    fn output(self) -> Map<String, Value> {
        match self {
            Self::SearchSoftware => output::search_software(),
            Self::GetSoftware => output::get_software(),
            Self::ListCategories => output::list_categories(),
            Self::SearchGlossary => output::search_glossary(),
            Self::ListReviews => output::list_reviews(),
        }
    }

    /// The tool's definition.
    pub(super) fn tool(self) -> Tool {
        let annotations = ToolAnnotations::with_title(self.title())
            .read_only(true)
            .destructive(false)
            .idempotent(true)
            .open_world(false);
        Tool::new(self.name(), self.description(), Arc::new(schema(self.parameters())))
            .with_title(self.title())
            .with_raw_output_schema(Arc::new(self.output()))
            .with_annotations(annotations)
    }
}
