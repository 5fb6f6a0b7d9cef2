//! A user's review of a product.

use serde::{Deserialize, Serialize};

use super::{AdditionalProperty, raw};

/// One review (an envelope's `reviews`).
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Review {
    /// Identifier, unique among the reviews of the directory, never empty.
    pub id: Box<str>,
    /// The product it is about; exists in the directory.
    pub software_id: Box<str>,
    /// Stars, 1 to 5.
    pub rating: u8,
    /// Headline.
    pub title: Option<Box<str>>,
    pub body: Option<Box<str>>,
    pub author: Option<Box<str>>,
    /// When it was written: RFC 3339, in UTC.
    pub created_at: Option<Box<str>>,
    /// The same moment as seconds since 1970-01-01T00:00:00Z.
    pub created_at_seconds: Option<i64>,
    /// Whether the reviewer is known to use the product.
    pub verified: Option<bool>,
    /// All other properties, in the order written.
    #[serde(with = "raw::properties")]
    pub additional_properties: Vec<AdditionalProperty>,
}
