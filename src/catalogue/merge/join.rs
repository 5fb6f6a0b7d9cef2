//! Merges products and reviews, both sorted by product id.

use std::io;

use super::rows::{JoinedProduct, ProductRow, ReviewKey, ReviewRow, StoredReview};
use crate::catalogue::quality::MeanRating;
use crate::catalogue::rating::Rating;
use crate::catalogue::reviews::Stars;
use crate::scratch::{Keyed, Scratch, ScratchSorter, Spool};

/// Products with their reviews, by id.
#[derive(Debug)]
pub(super) struct Joined {
    pub(super) products: Spool<JoinedProduct>,
    pub(super) reviews: Spool<StoredReview>,
    /// The mean displayed rating.
    pub(super) mean: f64,
}

/// Joins products with their reviews. `places` maps each category's number to its position.
pub(super) fn join(
    products: ScratchSorter<Keyed<Box<str>, ProductRow>>,
    reviews: ScratchSorter<Keyed<ReviewKey, ReviewRow>>,
    places: &[u32],
    scratch: &Scratch,
) -> io::Result<Joined> {
    let mut reviews = reviews.finish()?.peekable();
    let (mut joined, mut with_places) = (scratch.spool(), scratch.spool());
    let mut mean = MeanRating::default();
    for product in products.finish()? {
        let Keyed { key: id, value: mut row } = product?;
        let (mut stars, mut place, mut first) = (Stars::default(), 0, 0);
        // Skip ahead to this product's reviews. Every review is about some product in the set.
        let is_due = |review: &io::Result<Keyed<ReviewKey, ReviewRow>>| match review {
            Ok(review) => review.key.0 <= id,
            Err(_) => true,
        };
        while let Some(review) = reviews.next_if(is_due) {
            let Keyed { key: (product, ..), value } = review?;
            if product != id {
                continue;
            }
            stars.push(value.rating);
            let ReviewRow { rating, verified, created_at_seconds, object } = value;
            let at = with_places.push(StoredReview { product, place, rating, verified, created_at_seconds, object })?;
            if place == 0 {
                first = at;
            }
            place += 1;
        }
        row.categories.iter_mut().for_each(|number| *number = places[*number as usize]);
        let shown = Rating::of(row.stated, row.review_count, stars);
        shown.value.into_iter().for_each(|rating| mean.push(rating));
        joined.push(JoinedProduct { id, row, shown, stars, reviews: (first, place) })?;
    }
    Ok(Joined { products: joined.finish()?, reviews: with_places.finish()?, mean: mean.mean() })
}
