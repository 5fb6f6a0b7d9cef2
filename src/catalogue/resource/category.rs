//! A category as callers see it.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A category of the directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = Category)]
pub struct CategoryResource {
    /// Identifier: the name's slug. Accepted, like the name, by the `category` parameter.
    pub id: String,
    /// Name.
    pub name: String,
    /// Description.
    #[schema(required)]
    pub description: Option<String>,
    /// Number of products in it; may be 0.
    pub software_count: u64,
}
