//! A change to a product between two generations, as callers see it.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A change to a product between one generation and a later one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = Change)]
pub struct ChangeResource {
    /// The product's identifier.
    pub id: String,
    /// `added`, `changed` or `removed`; more values may be added later.
    pub change: String,
    /// Hash of the product's content, as 16 hexadecimal digits; null if the product was removed.
    #[schema(required)]
    pub content_hash: Option<String>,
    /// Whether the product's evidence was checked on a later date than before.
    pub evidence_renewed: bool,
}
