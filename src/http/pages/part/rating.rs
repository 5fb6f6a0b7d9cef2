//! Ratings: stars and numbers, and the distribution of reviews.

use askama::Template;

use crate::catalogue::resource::ReviewSummary;
use crate::http::pages::language::Texts;

const STARS: u8 = 5;

#[derive(Debug, Template)]
#[template(path = "parts/rating.html")]
pub(in crate::http::pages) struct Rating {
    t: &'static Texts,
    value: f64,
    review_count: Option<u64>,
}

impl Rating {
    pub(in crate::http::pages) fn new(
        t: &'static Texts,
        rating: Option<f64>,
        review_count: Option<u64>,
    ) -> Option<Self> {
        rating.map(|value| Self { t, value, review_count })
    }

    /// Full and empty stars, rounded; the number next to them is exact.
    fn stars(&self) -> (String, String) {
        let full = (1..=STARS).filter(|star| self.value >= f64::from(*star) - 0.5).count();
        ("★".repeat(full), "★".repeat(usize::from(STARS) - full))
    }
}

/// A row of the distribution: how many reviews gave this many stars.
#[derive(Debug)]
pub(in crate::http::pages) struct Bar {
    pub(in crate::http::pages) stars: u64,
    pub(in crate::http::pages) count: u64,
}

pub(in crate::http::pages) fn bars(summary: &ReviewSummary) -> [Bar; STARS as usize] {
    let counts = &summary.distribution;
    [(5, counts.five), (4, counts.four), (3, counts.three), (2, counts.two), (1, counts.one)]
        .map(|(stars, count)| Bar { stars, count })
}
