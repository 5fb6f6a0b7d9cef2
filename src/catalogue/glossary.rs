//! The glossary's entries.

use serde::{Deserialize, Serialize};

use super::arena::Span;
use crate::resource::GlossaryTermResource;

/// A glossary term: what a search in the glossary reads, and its answer.
#[derive(Debug, Serialize, Deserialize)]
pub struct GlossaryEntry {
    /// The term.
    pub term: GlossaryTermResource,
    /// The same as a JSON object.
    pub object: Span,
}
