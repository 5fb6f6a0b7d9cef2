//! A change to a product between two generations, as callers see it.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A change of a product from one generation to a later one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = Change)]
pub struct ChangeResource {
    /// Identifier of the product.
    pub id: String,
    /// `added`, `changed` or `removed`; further values may come.
    pub change: String,
    /// A hash of the product's content, 16 hexadecimal digits; null for one that was removed.
    #[schema(required)]
    pub content_hash: Option<String>,
    /// Whether its evidence was checked on a later day than before.
    pub evidence_renewed: bool,
}
