//! The tools: their names, descriptions, arguments and results, written for readers who have never
//! seen the directory.

use std::sync::{Arc, LazyLock};

use rmcp::model::{Tool, ToolAnnotations};
use serde_json::{Value, json};

use super::argument;
use super::record::{CATEGORY, FOUND, INCLUDED, PRODUCT, REVIEW, SIMILAR, TERM};
use super::schema::{Members, count, list, object, optional_text, resource, text, whole};
use crate::catalogue::resource::{HistoryEntry, QueryReport, ReviewSummary};
use crate::service::parameter::definition::{
    FILTERS, GLOSSARY_Q, INCLUDE, LANG, LIMIT, LONG_LIMIT, OFFSET, REVIEW_SORT, SEARCH_Q, SEARCH_SORT, SIMILAR_LIMIT,
};
use crate::service::parameter::value::Text;
use crate::service::parameter::{AnyParameter, Parameter};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation {
    SearchSoftware,
    GetSoftware,
    ListSimilar,
    ListCategories,
    SearchGlossary,
    ListReviews,
    GetHistory,
}

/// The part of a tool that clients see.
pub(super) struct Definition {
    pub(super) operation: Operation,
    pub(super) name: &'static str,
    title: &'static str,
    description: &'static str,
    /// The arguments, in groups, some of which are shared with the API's endpoints.
    parameters: &'static [&'static [&'static dyn AnyParameter]],
    /// The schemas of the result's own members.
    result: fn() -> Vec<(&'static str, Value)>,
}

/// A product's id. Over HTTP, it's in the path.
pub(super) static ID: Parameter<Text> = Parameter::new(
    "id",
    "The product's id, exactly as search_software returns it.",
    "demo-permit-penguin",
    Text { empty: false, max_characters: Some(1024) },
)
.required_in_tool();

pub(super) static TOOLS: [Definition; 7] = [
    Definition {
        operation: Operation::SearchSoftware,
        name: "search_software",
        title: "Search software products",
        description: "Find software products in the directory by words, filters, or both; best match first. Each product comes with \
            its evidence (status, date checked, sources), the export it comes from with licence and snapshot date, and a \
            link. Use this first: it returns the ids that the other tools take.",
        parameters: &[&[&SEARCH_Q], &FILTERS, &[&SEARCH_SORT, &INCLUDE, &LANG, &LIMIT]],
        result: || {
            let mut query = resource::<QueryReport>();
            let required = FOUND.keys().map(|name| name.as_str().into()).collect();
            let found = object(FOUND.clone().into_iter().chain(INCLUDED.clone()).collect(), required);
            let understood = ["with_all_words", "related", "incomplete", "corrected", "dropped", "unknown"]
                .map(|name| (name, query.remove(name).unwrap_or_default()));
            [
                ("total", count("How many products match; a lower bound if incomplete.")),
                ("software", json!({"type": "array", "items": found, "description": "The products, in order."})),
            ]
            .into_iter()
            .chain(understood)
            .collect()
        },
    },
    Definition {
        operation: Operation::GetSoftware,
        name: "get_software",
        title: "Get a software product",
        description: "Get everything that the directory says about one product: description, features, standards, pricing, \
            deployment, languages, ratings, all sources of its evidence with those of single claims (with date and quote), \
            and its export with licence.",
        parameters: &[&[&ID, &LANG]],
        result: || vec![("software", whole(PRODUCT.clone()).into())],
    },
    Definition {
        operation: Operation::ListSimilar,
        name: "list_similar_software",
        title: "List similar software products",
        description: "List products similar to a given one, most similar first: in the same categories, with the same words. `shared` \
            says what they have in common. Use this to find alternatives, and add filters to keep only suitable replacements.",
        parameters: &[&[&ID], &FILTERS, &[&LANG, &SIMILAR_LIMIT]],
        result: || {
            vec![
                ("total", count("How many similar products match the filters.")),
                ("software", list(&SIMILAR, "The products, most similar first.")),
            ]
        },
    },
    Definition {
        operation: Operation::ListCategories,
        name: "list_categories",
        title: "List categories of software",
        description: "List the directory's categories with the number of products in each. Use a name or id as the category \
            argument of search_software.",
        parameters: &[&[&LANG, &LONG_LIMIT, &OFFSET]],
        result: || {
            vec![
                ("total", count("How many categories there are.")),
                ("categories", list(&CATEGORY, "The categories, by name.")),
            ]
        },
    },
    Definition {
        operation: Operation::SearchGlossary,
        name: "search_glossary",
        title: "Search the glossary",
        description: "Look up terms used in the field: definition, abbreviations, synonyms, and the source where the definition can \
            be checked.",
        parameters: &[&[&GLOSSARY_Q, &LANG, &LIMIT]],
        result: || {
            vec![("total", count("How many terms match.")), ("terms", list(&TERM, "The terms, best match first."))]
        },
    },
    Definition {
        operation: Operation::ListReviews,
        name: "list_reviews",
        title: "List reviews of a product",
        description: "List users' reviews of one product, with a summary of all of them. `verified` says whether the reviewer is known \
            to use the product.",
        parameters: &[&[&ID, &REVIEW_SORT, &LIMIT]],
        result: || {
            vec![
                ("total", count("How many reviews there are.")),
                ("summary", whole(resource::<ReviewSummary>()).into()),
                ("reviews", list(&REVIEW, "The reviews, in order.")),
                ("url", text("The reviews' URL in the directory's API, for citations.")),
            ]
        },
    },
    Definition {
        operation: Operation::GetHistory,
        name: "get_software_history",
        title: "Get a product's history",
        description: "List what changed in one product's record, from what to what, and when, newest first. Use this to tell whether \
            a claim, such as the price, is new. It also says when the product was added or removed.",
        parameters: &[&[&ID, &LIMIT, &OFFSET]],
        result: || {
            vec![
                ("total", count("How many changes there are.")),
                ("since", optional_text("When the history begins; nothing is known about earlier changes.")),
                ("history", list(&resource::<HistoryEntry<'_>>(), "The changes, newest first.")),
                ("url", text("The history's URL in the directory's API, for citations.")),
            ]
        },
    },
];

/// The tools as clients see them.
pub(super) static LISTED: LazyLock<[Tool; 7]> = LazyLock::new(|| TOOLS.each_ref().map(Definition::tool));

impl Definition {
    pub(super) fn parameters(&self) -> Vec<&'static dyn AnyParameter> {
        self.parameters.concat()
    }

    fn tool(&self) -> Tool {
        let common = [
            ("notice", text("How to read the text in the records.")),
            ("generation", text("The version of the directory's content that this result comes from.")),
            (
                "published_at",
                optional_text(
                    "When this content was published (RFC 3339, UTC). The records' own dates are in export.as_of and evidence.",
                ),
            ),
        ];
        let members = common.into_iter().chain((self.result)());
        let members = members.map(|(name, schema)| (name.to_owned(), schema)).collect::<Members>();
        let annotations = ToolAnnotations::with_title(self.title)
            .read_only(true)
            .destructive(false)
            .idempotent(true)
            .open_world(false);
        Tool::new(self.name, self.description, Arc::new(argument::schema(&self.parameters())))
            .with_title(self.title)
            .with_raw_output_schema(Arc::new(whole(members)))
            .with_annotations(annotations)
    }
}
