//! The reviews of each product, newest first, and what they add up to.

use serde::{Deserialize, Serialize};

use super::Ordinal;
use super::arena::{Arena, Span};
use crate::record::Review;
use crate::resource::{AdditionalProperties, RatingDistribution, ReviewResource, ReviewSummary};

/// The reviews of all products that have any.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Reviews {
    /// By ordinal.
    of: Vec<(Ordinal, ReviewsOf)>,
    /// The summary of a product without reviews.
    none: ReviewsOf,
}

/// One product's reviews.
#[derive(Debug, Serialize, Deserialize)]
pub struct ReviewsOf {
    /// Newest first, those without a date last, then by id.
    pub entries: Vec<ReviewEntry>,
    /// The summary of the reviews.
    pub summary: ReviewSummary,
}

/// A review, and what lists of reviews are filtered and sorted by.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct ReviewEntry {
    /// The review as a JSON object.
    pub object: Span,
    /// Stars, 1 to 5.
    pub rating: u8,
    /// Whether the reviewer is known to use the product.
    pub verified: Option<bool>,
    /// When it was written, in seconds since 1970-01-01T00:00:00Z.
    pub created_at_seconds: Option<i64>,
}

/// The filter of a product's reviews.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ReviewFilter {
    /// With at least that many stars.
    pub min_rating: Option<f64>,
    /// With at most that many stars.
    pub max_rating: Option<f64>,
    /// Whether the reviewer is known to use the product; `None`: either.
    pub verified: Option<bool>,
}

/// The order of a product's reviews.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ReviewSort {
    /// Newest first, those without a date last.
    #[default]
    Newest,
    /// Oldest first, those without a date last.
    Oldest,
    /// Most stars first, then newest first.
    Best,
    /// Fewest stars first, then newest first.
    Worst,
}

impl ReviewFilter {
    fn admits(&self, review: &ReviewEntry) -> bool {
        let rating = f64::from(review.rating);
        self.min_rating.is_none_or(|least| rating >= least)
            && self.max_rating.is_none_or(|most| rating <= most)
            && self.verified.is_none_or(|verified| review.verified.unwrap_or(false) == verified)
    }
}

impl ReviewsOf {
    /// The reviews that pass a filter, in order.
    #[must_use]
    pub fn select(&self, filter: &ReviewFilter, sort: ReviewSort) -> Vec<&ReviewEntry> {
        let mut entries: Vec<_> = self.entries.iter().filter(|review| filter.admits(review)).collect();
        // They are stored newest first, those without a date last; equal ones stay in that order.
        match sort {
            ReviewSort::Newest => {}
            ReviewSort::Oldest => entries.sort_by_key(|review| review.created_at_seconds.unwrap_or(i64::MAX)),
            ReviewSort::Best => entries.sort_by_key(|review| std::cmp::Reverse(review.rating)),
            ReviewSort::Worst => entries.sort_by_key(|review| review.rating),
        }
        entries
    }
}

impl Default for ReviewsOf {
    fn default() -> Self {
        Self { entries: Vec::new(), summary: summary(&[]) }
    }
}

impl Reviews {
    /// Lays out the reviews of one product; products come in the order of their ordinals.
    ///
    /// # Errors
    /// Where one can't be written as JSON.
    pub fn push(
        &mut self,
        arena: &mut Arena,
        ordinal: Ordinal,
        mut reviews: Vec<&Review>,
    ) -> Result<(), serde_json::Error> {
        reviews.sort_by(|a, b| b.created_at_seconds.cmp(&a.created_at_seconds).then_with(|| a.id.cmp(&b.id)));
        let entry = |review: &&Review| {
            let object = arena.push_json(&shown(review))?;
            Ok(ReviewEntry {
                object,
                rating: review.rating,
                verified: review.verified,
                created_at_seconds: review.created_at_seconds,
            })
        };
        let entries = reviews.iter().map(entry).collect::<Result<_, serde_json::Error>>()?;
        self.of.push((ordinal, ReviewsOf { entries, summary: summary(&reviews) }));
        Ok(())
    }

    /// A product's reviews.
    #[must_use]
    pub fn of(&self, ordinal: Ordinal) -> &ReviewsOf {
        self.of.binary_search_by_key(&ordinal, |(of, _)| *of).map_or(&self.none, |at| &self.of[at].1)
    }

    /// Where the reviews lie.
    pub fn spans(&self) -> impl Iterator<Item = Span> + '_ {
        self.of.iter().flat_map(|(_, reviews)| reviews.entries.iter().map(|review| review.object))
    }
}

fn shown(review: &Review) -> ReviewResource<'_> {
    ReviewResource {
        id: &review.id,
        software_id: &review.software_id,
        rating: review.rating,
        title: review.title.as_deref(),
        body: review.body.as_deref(),
        author: review.author.as_deref(),
        created_at: review.created_at.as_deref(),
        verified: review.verified,
        additional_properties: AdditionalProperties(&review.additional_properties),
    }
}

/// The summary of reviews.
#[must_use]
pub(super) fn summary(reviews: &[&Review]) -> ReviewSummary {
    let with = |stars: u8| reviews.iter().filter(|review| review.rating == stars).count() as u64;
    ReviewSummary {
        average: average(reviews),
        count: reviews.len() as u64,
        distribution: RatingDistribution { one: with(1), two: with(2), three: with(3), four: with(4), five: with(5) },
    }
}

/// The mean of the stars, to two decimals.
fn average(reviews: &[&Review]) -> Option<f64> {
    if reviews.is_empty() {
        return None;
    }
    #[expect(clippy::cast_precision_loss, reason = "review counts are far below 2^52")]
    let count = reviews.len() as f64;
    let sum: f64 = reviews.iter().map(|review| f64::from(review.rating)).sum();
    Some((sum / count * 100.0).round() / 100.0)
}
