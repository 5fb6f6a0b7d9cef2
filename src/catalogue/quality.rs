//! The order of products by quality, where nothing else orders them.

use std::cmp::Ordering;

use crate::record::{EvidenceStatus, Software};

/// How many reviews the prior counts for, in the Bayesian rating.
const PRIOR_REVIEWS: f64 = 10.0;

/// The mean that is assumed where no product has a rating: the middle of 1 to 5 stars.
const NEUTRAL_RATING: f64 = 3.0;

/// The values that order products by quality, most important first.
#[derive(Debug, PartialEq)]
pub(super) struct Quality {
    /// Whether it is a demo record.
    demo: bool,
    /// Bayesian rating.
    rating: f64,
    /// Whether its evidence was reviewed.
    reviewed: bool,
    /// How many of its optional properties say something.
    completeness: usize,
}

impl Quality {
    /// A product's quality, given its shown rating, the number of reviews behind it and the directory's mean rating.
    ///
    /// The rating is Bayesian: `(PRIOR_REVIEWS * mean + reviews * rating) / (PRIOR_REVIEWS + reviews)`, so that a single
    /// five-star review doesn't beat hundreds of good ones, and an unrated product stands at the prior. A rating outside
    /// 0 to 5 counts as the nearest bound.
    #[must_use]
    pub(super) fn of(software: &Software, rating: Option<f64>, review_count: Option<u64>, mean: f64) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "review counts are far below 2^52")]
        let reviews = review_count.unwrap_or(1).max(1) as f64;
        let rating = rating.map_or(mean, |rating| {
            (PRIOR_REVIEWS * mean + reviews * rating.clamp(0.0, 5.0)) / (PRIOR_REVIEWS + reviews)
        });
        Self {
            demo: is_demo(&software.url),
            rating,
            reviewed: software.evidence_status == EvidenceStatus::VendorSourcesReviewed,
            completeness: completeness(software),
        }
    }

    /// Whether it is that of a demo record.
    #[must_use]
    pub(super) const fn is_demo(&self) -> bool {
        self.demo
    }

    /// Best first.
    #[must_use]
    pub(super) fn compare(&self, other: &Self) -> Ordering {
        self.demo
            .cmp(&other.demo)
            .then(other.rating.total_cmp(&self.rating))
            .then(other.reviewed.cmp(&self.reviewed))
            .then(other.completeness.cmp(&self.completeness))
    }
}

/// The mean of the ratings shown, each within 0 to 5; the neutral one where there are none.
#[must_use]
pub(super) fn mean_rating(ratings: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = ratings.fold((0.0, 0.0), |(sum, count), rating| (sum + rating.clamp(0.0, 5.0), count + 1.0));
    if count > 0.0 { sum / count } else { NEUTRAL_RATING }
}

/// Whether a record is fictional: its website is under `.example`, which is reserved for that (RFC 2606).
fn is_demo(url: &str) -> bool {
    let host = url.split_once("://").map_or("", |(_, rest)| rest);
    let host = host.split(['/', '?', '#']).next().unwrap_or_default();
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    let host = host.split_once(':').map_or(host, |(host, _)| host);
    host.trim_end_matches('.').to_ascii_lowercase().ends_with(".example")
}

fn completeness(software: &Software) -> usize {
    let texts = [&software.tagline, &software.description, &software.vendor, &software.pricing];
    let lists = [
        &software.categories,
        &software.tags,
        &software.features,
        &software.standards,
        &software.deployment,
        &software.languages,
    ];
    texts.iter().filter(|text| text.is_some()).count()
        + lists.iter().filter(|list| !list.is_empty()).count()
        + usize::from(!software.sources.is_empty())
}

#[cfg(test)]
mod tests {
    use super::is_demo;

    #[test]
    fn only_hosts_under_example_are_demo_records() {
        assert!(is_demo("https://www.acme.example/x?y"));
        assert!(is_demo("https://user@ACME.example:8080"));
        assert!(!is_demo("https://example.com/.example"));
        assert!(!is_demo("https://acme.org/?u=https://a.example"));
    }
}
