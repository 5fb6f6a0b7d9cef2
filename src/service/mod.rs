//! The directory's operations (list, get, search, …) on a
//! [`Snapshot`](crate::generation::Snapshot), shared by HTTP and the command line. Nothing here
//! depends on URLs, headers or statuses.

use std::io;

use crate::catalogue::DamagedText;
use crate::index::IndexError;

mod attribute;
mod changes;
mod explain;
pub(crate) mod facet;
mod feed;
mod highlight;
mod include;
mod language;
mod matching;
mod page;
pub mod parameter;
mod query;
mod records;
mod search;
mod similar;
mod software;
mod suggest;
mod unknown;

pub use crate::catalogue::{AttributeCondition, Order, ReviewFilter, ReviewSort, SoftwareFilter};
pub use crate::search::budget::{Budget, Stop};
pub use crate::search::collect::Tier;
pub use crate::search::expand::Prefix;
pub use attribute::{list_attributes, refuse_attributes};
pub use changes::{ChangesPage, HistoryPage, list_changes, list_changes_to, list_history};
pub use explain::{
    ExplainedAlternative, ExplainedProduct, ExplainedScore, ExplainedWord, SearchExplanation, WHOLE_NAME,
    explain_search,
};
pub use feed::{FeedEntry, FeedKind, list_feed};
pub use include::ListItems;
pub use language::{Translator, find_language};
pub use matching::{CERTAIN, NameMatch, Reason, match_name};
pub use page::{LocalisedObject, Page, ReviewsPage, SearchHit, SearchPage, SimilarHit, SimilarPage};
pub use query::{
    ATTRIBUTE_PREFIX, AttributeSort, Facet, ListGlossary, ListReviews, ListSimilar, ListSoftware, ListSort, MAX_LIMIT,
    MAX_QUERY_CHARACTERS, MAX_QUERY_OFFSET, PageRequest, SearchSoftware, SearchSort, comma_separated,
};
pub use records::{
    ExportDownload, get_category, get_export, get_term, list_categories, list_exports, list_glossary, list_reviews,
};
pub use search::{SearchResults, budget, find_software_within, search_software};
pub use similar::similar_software;
pub use software::{find_named, get_items, get_software, get_software_hash, list_software, read_software};
pub(crate) use suggest::suggest_headings;
pub use suggest::{example_queries, similar_names, similar_queries, suggest};
pub use unknown::unknown_values;

/// A failure that isn't the caller's fault.
#[derive(Debug, thiserror::Error)]
pub enum ServiceError {
    #[error(transparent)]
    Index(#[from] IndexError),
    #[error(transparent)]
    Text(#[from] DamagedText),
    /// Only commands return this; HTTP and tools reject the parameter instead.
    #[error("the query has {characters} characters; the maximum is {most}")]
    QueryTooLong { characters: usize, most: usize },
    #[error("a product's JSON can't be read or written")]
    Json(#[from] serde_json::Error),
    #[error("an export can't be read")]
    Export(#[from] io::Error),
}
