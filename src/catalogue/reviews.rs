//! Each product's reviews, newest first, and their summary.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::{Ordinal, STARS, read_while};
use crate::catalogue::resource::{RatingDistribution, ReviewResource, ReviewSummary};
use crate::record::Review;
use crate::scratch::Span;

/// The reviews of all products that have any.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Reviews {
    of: Vec<(Ordinal, ReviewsOf)>,
    /// The empty summary, for products without reviews.
    none: ReviewsOf,
}

/// One product's reviews.
#[derive(Debug, Serialize, Deserialize)]
pub struct ReviewsOf {
    /// Newest first, undated ones last, then by id.
    pub entries: Vec<ReviewEntry>,
    pub summary: ReviewSummary,
}

/// A review, with the values by which review lists are filtered and sorted.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct ReviewEntry {
    /// The review as a JSON object.
    pub object: Span,
    /// Stars, 1 to 5.
    pub rating: u8,
    /// Whether the reviewer is known to use the product.
    pub verified: Option<bool>,
    /// When the review was written, in seconds since 1970-01-01T00:00:00Z.
    pub created_at_seconds: Option<i64>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct ReviewFilter {
    pub min_rating: Option<f64>,
    pub max_rating: Option<f64>,
    /// Whether the reviewer is known to use the product; `None` means either.
    pub verified: Option<bool>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ReviewSort {
    /// Newest first, undated ones last.
    #[default]
    Newest,
    /// Oldest first, undated ones last.
    Oldest,
    /// Most stars first, then newest first.
    Best,
    /// Fewest stars first, then newest first.
    Worst,
}

impl ReviewSort {
    pub const ALL: [Self; 4] = [Self::Newest, Self::Oldest, Self::Best, Self::Worst];

    /// The order's name in requests.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Newest => "-created_at",
            Self::Oldest => "created_at",
            Self::Best => "-rating",
            Self::Worst => "rating",
        }
    }
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
    /// A page of the reviews that pass a filter, in order, and the total number that pass. Without
    /// a filter and in the default order, this takes constant time. Otherwise it ends early if `pays`
    /// refuses to read more reviews.
    pub fn page(
        &self,
        filter: &ReviewFilter,
        sort: ReviewSort,
        page: &Range<usize>,
        pays: impl FnMut(usize) -> bool,
    ) -> (Vec<&ReviewEntry>, usize) {
        let entries = &self.entries;
        if (filter, sort) == (&ReviewFilter::default(), ReviewSort::Newest) {
            return (take(page, entries.iter()), entries.len());
        }
        let mut admitted: Vec<_> = read_while(entries, pays).filter(|review| filter.admits(review)).collect();
        // Reviews are stored newest first with undated ones last; ties keep that order.
        match sort {
            ReviewSort::Newest => {}
            ReviewSort::Oldest => {
                admitted.sort_by_key(|review| (review.created_at_seconds.is_none(), review.created_at_seconds));
            }
            ReviewSort::Best => admitted.sort_by_key(|review| Reverse(review.rating)),
            ReviewSort::Worst => admitted.sort_by_key(|review| review.rating),
        }
        (take(page, admitted.iter().copied()), admitted.len())
    }
}

fn take<'r>(page: &Range<usize>, reviews: impl Iterator<Item = &'r ReviewEntry>) -> Vec<&'r ReviewEntry> {
    reviews.skip(page.start).take(page.len()).collect()
}

impl Default for ReviewsOf {
    fn default() -> Self {
        Self { entries: Vec::new(), summary: Stars::default().summary() }
    }
}

impl Reviews {
    /// Adds a product's reviews. Products must be added in ordinal order.
    pub(super) fn push(&mut self, ordinal: Ordinal, entries: Vec<ReviewEntry>, stars: Stars) {
        self.of.push((ordinal, ReviewsOf { entries, summary: stars.summary() }));
    }

    pub fn of(&self, ordinal: Ordinal) -> &ReviewsOf {
        self.of.binary_search_by_key(&ordinal, |(of, _)| *of).map_or(&self.none, |at| &self.of[at].1)
    }

    /// Whether the reviews are valid for this many products and an arena of this length.
    pub(super) fn fit(&self, products: usize, end: u64) -> bool {
        self.of.is_sorted_by(|(a, _), (b, _)| a < b)
            && self.of.last().is_none_or(|(last, _)| (*last as usize) < products)
            && self.spans().all(|span| span.end() <= end)
    }

    pub fn spans(&self) -> impl Iterator<Item = Span> + '_ {
        self.of.iter().flat_map(|(_, reviews)| reviews.entries.iter().map(|review| review.object))
    }
}

/// The sort key of a product's reviews: newest first, undated ones last, then by id.
pub(super) fn place(review: &Review) -> (Reverse<Option<i64>>, &str) {
    (Reverse(review.created_at_seconds), &review.id)
}

pub(super) fn shown(review: &Review) -> ReviewResource<'_> {
    ReviewResource {
        id: Cow::Borrowed(&review.id),
        software_id: Cow::Borrowed(&review.software_id),
        rating: review.rating,
        title: review.title.as_deref().map(Cow::Borrowed),
        body: review.body.as_deref().map(Cow::Borrowed),
        author: review.author.as_deref().map(Cow::Borrowed),
        created_at: review.created_at.as_deref().map(Cow::Borrowed),
        verified: review.verified,
        additional_properties: (&*review.additional_properties).into(),
    }
}

/// How many of a product's reviews have each number of stars, from 1 to 5.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Stars([u64; STARS]);

impl Stars {
    pub(super) fn push(&mut self, rating: u8) {
        if let Some(count) = usize::from(rating).checked_sub(1).and_then(|at| self.0.get_mut(at)) {
            *count += 1;
        }
    }

    pub(super) fn summary(self) -> ReviewSummary {
        ReviewSummary::of(self.0)
    }
}

impl ReviewSummary {
    /// The summary of reviews, given how many have each number of stars, from 1 to 5. The mean has
    /// two decimals.
    pub fn of(stars: [u64; STARS]) -> Self {
        let [one, two, three, four, five] = stars;
        let count: u64 = stars.iter().sum();
        let sum: u64 = (1..).zip(stars).map(|(stars, count)| stars * count).sum();
        #[expect(clippy::cast_precision_loss, reason = "review counts are far below 2^52")]
        let mean = sum as f64 / count as f64;
        let average = (count > 0).then(|| (mean * 100.0).round() / 100.0);
        Self { average, count, distribution: RatingDistribution { one, two, three, four, five } }
    }
}
