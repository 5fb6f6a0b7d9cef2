//! The rating displayed for a product.

use serde::{Deserialize, Serialize};

use super::reviews::Stars;
use crate::catalogue::resource::RatingSource;
use crate::record::Software;

/// A rating and how many reviews it's based on.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct Rating {
    pub(super) value: Option<f64>,
    pub(super) review_count: Option<u64>,
    pub(super) source: Option<RatingSource>,
}

impl Rating {
    /// The rating stated in a record.
    pub(super) fn stated(software: &Software) -> Self {
        let value = software.rating.as_ref().map(|rating| rating.value);
        Self { value, review_count: software.review_count, source: value.map(|_| RatingSource::Stated) }
    }

    /// The stated rating or, if there's none, the average of the reviews.
    pub(super) fn or_of(self, reviews: Stars) -> Self {
        let summed = reviews.summary();
        Self {
            value: self.value.or(summed.average),
            review_count: self.review_count.or((summed.count > 0).then_some(summed.count)),
            source: self.source.or(summed.average.map(|_| RatingSource::Reviews)),
        }
    }
}
