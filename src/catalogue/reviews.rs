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
    /// What a product without reviews shows.
    none: ReviewsOf,
}

/// One product's reviews.
#[derive(Debug, Serialize, Deserialize)]
pub struct ReviewsOf {
    /// Each a JSON object; newest first, those without a date last, then by id.
    pub objects: Vec<Span>,
    /// What they add up to.
    pub summary: ReviewSummary,
}

impl Default for ReviewsOf {
    fn default() -> Self {
        Self { objects: Vec::new(), summary: summary(&[]) }
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
        let objects = reviews.iter().map(|review| arena.push_json(&shown(review))).collect::<Result<_, _>>()?;
        self.of.push((ordinal, ReviewsOf { objects, summary: summary(&reviews) }));
        Ok(())
    }

    /// A product's reviews.
    #[must_use]
    pub fn of(&self, ordinal: Ordinal) -> &ReviewsOf {
        self.of.binary_search_by_key(&ordinal, |(of, _)| *of).map_or(&self.none, |at| &self.of[at].1)
    }

    /// Where the reviews lie.
    pub fn spans(&self) -> impl Iterator<Item = Span> + '_ {
        self.of.iter().flat_map(|(_, reviews)| reviews.objects.iter().copied())
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

/// What reviews add up to.
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
