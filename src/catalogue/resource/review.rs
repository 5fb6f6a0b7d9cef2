//! Reviews as callers see them.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::members::{Members, text_or_null};

/// A user's review of a product.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = Review)]
pub struct ReviewResource<'a> {
    /// Identifier.
    #[serde(borrow)]
    pub id: Cow<'a, str>,
    /// The product that the review is about.
    #[serde(borrow)]
    pub software_id: Cow<'a, str>,
    /// Stars, 1 to 5.
    #[schema(minimum = 1, maximum = 5)]
    pub rating: u8,
    /// Headline.
    #[serde(borrow, deserialize_with = "text_or_null")]
    #[schema(required)]
    pub title: Option<Cow<'a, str>>,
    /// Text.
    #[serde(borrow, deserialize_with = "text_or_null")]
    #[schema(required)]
    pub body: Option<Cow<'a, str>>,
    /// The author's name.
    #[serde(borrow, deserialize_with = "text_or_null")]
    #[schema(required)]
    pub author: Option<Cow<'a, str>>,
    /// When the review was written (RFC 3339 in UTC).
    #[serde(borrow, deserialize_with = "text_or_null")]
    #[schema(required)]
    pub created_at: Option<Cow<'a, str>>,
    /// Whether the reviewer is known to use the product.
    #[schema(required)]
    pub verified: Option<bool>,
    /// Properties that the directory doesn't interpret, as given in the export.
    #[serde(borrow)]
    #[schema(value_type = std::collections::HashMap<String, serde_json::Value>)]
    pub additional_properties: Members<'a>,
}

/// A summary of all reviews of a product.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ReviewSummary {
    /// Average number of stars, to two decimals; null if there are no reviews.
    #[schema(required)]
    pub average: Option<f64>,
    /// Number of reviews.
    pub count: u64,
    /// How many reviews gave each number of stars.
    pub distribution: RatingDistribution,
}

/// Number of reviews for each number of stars.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RatingDistribution {
    /// One star.
    #[serde(rename = "1")]
    pub one: u64,
    /// Two stars.
    #[serde(rename = "2")]
    pub two: u64,
    /// Three stars.
    #[serde(rename = "3")]
    pub three: u64,
    /// Four stars.
    #[serde(rename = "4")]
    pub four: u64,
    /// Five stars.
    #[serde(rename = "5")]
    pub five: u64,
}
