//! The quality order, which applies when nothing else determines the order of products.

use std::cmp::Reverse;

use serde::{Deserialize, Serialize};

use super::reviews::Stars;
use crate::catalogue::resource::RatingSource;
use crate::record::{EvidenceStatus, Software, total_order};

/// The weight of the Bayesian rating's prior, as a number of reviews.
const PRIOR_REVIEWS: f64 = 10.0;

/// The assumed mean if no product has a rating: the middle of 1 to 5 stars.
const NEUTRAL_RATING: f64 = 3.0;

/// The values of a record that determine its quality.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct Merits {
    demo: bool,
    reviewed: bool,
    /// How many of the record's optional properties have a value.
    completeness: u32,
}

impl Merits {
    pub(super) fn of(software: &Software) -> Self {
        Self {
            demo: is_demo(&software.url),
            reviewed: software.evidence_status == EvidenceStatus::VendorSourcesReviewed,
            completeness: completeness(software),
        }
    }

    /// A product's quality as a number, highest first. It depends on no other product: the rating's
    /// prior is fixed.
    pub(super) fn number(self, shown: Rating) -> i64 {
        #[expect(clippy::cast_possible_truncation, reason = "0 to 5 million")]
        let rating = (shown.bayesian(NEUTRAL_RATING) * 1e6) as i64;
        let rest = i64::from(self.reviewed) << 8 | i64::from(self.completeness);
        i64::from(!self.demo) << 40 | rating << 16 | rest
    }
}

/// A product's sort key for the quality order, lowest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Quality {
    pub(super) demo: bool,
    /// The Bayesian rating's [`total_order`].
    rating: Reverse<u64>,
    reviewed: Reverse<bool>,
    completeness: Reverse<u32>,
}

impl Quality {
    /// A product's quality, given its displayed rating and the directory's mean rating.
    pub(super) fn of(Merits { demo, reviewed, completeness }: Merits, shown: Rating, mean: f64) -> Self {
        let rating = Reverse(total_order(shown.bayesian(mean)));
        Self { demo, rating, reviewed: Reverse(reviewed), completeness: Reverse(completeness) }
    }
}

/// The mean of the displayed ratings, each clamped to the range 0–5. They're summed in steps of 2^-32, so
/// the order of addition doesn't matter.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct MeanRating {
    sum: u128,
    count: u64,
}

impl MeanRating {
    const STEPS: f64 = 4_294_967_296.0;

    pub(super) fn push(&mut self, rating: f64) {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 5 times 2^32")]
        let steps = (rating.clamp(0.0, 5.0) * Self::STEPS).round() as u64;
        self.sum += u128::from(steps);
        self.count += 1;
    }

    /// The mean, or the neutral rating if there are no ratings.
    pub(super) fn mean(self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "a mean")]
        let (sum, count) = (self.sum as f64, self.count as f64);
        if self.count > 0 { sum / Self::STEPS / count } else { NEUTRAL_RATING }
    }
}

/// Whether a record is fictional, i.e. its website is under `.example`, the domain reserved for
/// examples (RFC 2606).
fn is_demo(url: &str) -> bool {
    let host = url.split_once("://").map_or("", |(_, rest)| rest);
    let host = host.split(['/', '?', '#']).next().unwrap_or_default();
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    let host = host.split_once(':').map_or(host, |(host, _)| host);
    host.trim_end_matches('.').to_ascii_lowercase().ends_with(".example")
}

fn completeness(software: &Software) -> u32 {
    let texts = [&software.tagline, &software.description, &software.vendor, &software.pricing];
    let lists = [
        &software.categories,
        &software.tags,
        &software.features,
        &software.standards,
        &software.deployment,
        &software.languages,
    ];
    let texts = texts.iter().map(|text| u32::from(text.is_some()));
    let lists = lists.iter().map(|list| u32::from(!list.is_empty()));
    texts.chain(lists).sum::<u32>() + u32::from(!software.sources.is_empty())
}

/// A rating and how many reviews it's based on.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct Rating {
    pub(super) value: Option<f64>,
    pub(super) review_count: Option<u64>,
    pub(super) source: Option<RatingSource>,
}

impl Rating {
    pub(super) fn stated(software: &Software) -> Self {
        let value = software.rating.as_ref().map(|rating| rating.value);
        Self { value, review_count: software.review_count, source: value.map(|_| RatingSource::Stated) }
    }

    /// The Bayesian rating, given the directory's mean rating: `(PRIOR_REVIEWS * mean + reviews *
    /// rating) / (PRIOR_REVIEWS + reviews)`. So a single five-star review doesn't beat hundreds of good
    /// ones, and an unrated product gets the prior. Ratings are clamped to the range 0–5.
    fn bayesian(self, mean: f64) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "review counts are far below 2^52")]
        let reviews = self.review_count.unwrap_or(1).max(1) as f64;
        self.value.map_or(mean, |rating| {
            (PRIOR_REVIEWS * mean + reviews * rating.clamp(0.0, 5.0)) / (PRIOR_REVIEWS + reviews)
        })
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

#[cfg(test)]
mod tests {
    use super::{MeanRating, is_demo};

    #[test]
    fn the_mean_rating_does_not_depend_on_the_order_of_ratings() {
        let mean = |ratings: &[f64]| {
            let mut mean = MeanRating::default();
            for rating in ratings {
                mean.push(*rating);
            }
            mean.mean().to_bits()
        };
        assert_eq!(mean(&[0.1, 0.2, 0.3, 4.7, 9.0]), mean(&[9.0, 0.3, 4.7, 0.2, 0.1]));
        assert_eq!(mean(&[2.0, 6.0, -1.0, 3.0]), 2.5_f64.to_bits());
        assert_eq!(mean(&[]), 3.0_f64.to_bits());
    }

    #[test]
    fn only_hosts_under_example_are_demo_records() {
        assert!(is_demo("https://www.acme.example/x?y"));
        assert!(is_demo("https://user@ACME.example:8080"));
        assert!(!is_demo("https://example.com/.example"));
        assert!(!is_demo("https://acme.org/?u=https://a.example"));
    }
}
