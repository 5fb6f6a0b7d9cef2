//! The rating displayed for a product.

use serde::{Deserialize, Serialize};

use super::reviews::Stars;
use crate::catalogue::resource::RatingSource;

/// A rating and how many reviews it's based on.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct Rating {
    pub(super) value: Option<f64>,
    pub(super) review_count: Option<u64>,
    pub(super) source: Option<RatingSource>,
}

impl Rating {
    /// The stated rating or, if there's none, the average of the reviews.
    pub(super) fn of(stated: Option<f64>, review_count: Option<u64>, reviews: Stars) -> Self {
        let summed = reviews.summary();
        let source = match (stated, summed.average) {
            (Some(_), _) => Some(RatingSource::Stated),
            (None, Some(_)) => Some(RatingSource::Reviews),
            (None, None) => None,
        };
        Self {
            value: stated.or(summed.average),
            review_count: review_count.or((summed.count > 0).then_some(summed.count)),
            source,
        }
    }
}
