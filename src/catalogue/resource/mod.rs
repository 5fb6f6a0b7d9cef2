//! The JSON shapes that callers see, one type each. The same types are serialised once per
//! generation, ready to send, and described in the OpenAPI document, so responses always match it.
//!
//! Nulls are explicit, keys are `snake_case`, and times are RFC 3339 in UTC. New keys may be added
//! within `/v1`, but none are removed.

mod attribute;
mod category;
mod change;
mod export;
mod glossary;
mod localised;
mod members;
mod review;
mod search;
mod software;
mod suggestion;

pub use attribute::AttributeResource;
pub use category::CategoryResource;
pub use change::ChangeResource;
pub use export::{ExportResource, SkippedResource};
pub use glossary::{GlossarySourceResource, GlossaryTermResource};
pub use localised::Localised;
pub use members::Members;
pub use review::{RatingDistribution, ReviewResource, ReviewSummary};
pub use search::{Correction, FacetValue, Highlight, QueryReport, TextRange};
pub use software::{
    CategoryRef, DetailFields, ExportRef, RatingSource, SameAsRef, SoftwareDetail, SoftwareItem, SourceResource,
};
pub use suggestion::{CategorySuggestion, SoftwareRef, Suggestions, TermSuggestion};

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A page's position in the whole list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Pagination {
    /// The requested page size, 1 to 100.
    pub limit: u32,
    /// The number of items skipped.
    pub offset: u64,
    /// The exact number of items in the whole list.
    pub total: u64,
}
