//! The rows of a merge: products joined with their reviews, then sorted by quality, which determines
//! their ordinals, and by the other orders that lists offer.

use std::cmp::Reverse;
use std::io;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::links::{self, Links, RecordPlace};
use crate::catalogue::quality::Rating;
use crate::catalogue::quality::{MeanRating, Merits, Quality};
use crate::catalogue::reviews::Stars;
use crate::catalogue::{Order, Ordinal};
use crate::record::{CalendarDate, total_order};
use crate::scratch::{Keyed, Scratch, ScratchSorter, Spool};

/// What a product is sorted and linked by.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct SortKeys {
    /// The collation key of the product's name.
    #[serde(with = "serde_bytes")]
    pub(super) name: Vec<u8>,
    /// A hash of the normalised URL of the product's website.
    pub(super) website: u64,
    pub(super) merits: Merits,
}

/// A product without its text.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ProductRow {
    pub(in crate::catalogue) place: RecordPlace,
    /// The product's categories, as indices into the category list, main category first. Until the
    /// join, these are numbers in order of first use.
    pub categories: Box<[u32]>,
    pub evidence_checked_on: Option<CalendarDate>,
    /// The displayed rating. Until the join, the one stated in the record.
    pub(in crate::catalogue) shown: Rating,
    pub(in crate::catalogue) stars: Stars,
    /// The position of the product's first review, and the number of reviews.
    pub(in crate::catalogue) reviews: (u64, u64),
}

/// The product a review is about, then the review's sort key among that product's reviews.
pub(super) type ReviewKey = (Box<str>, Reverse<Option<i64>>, Box<str>);

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewRow {
    /// Stars, 1 to 5.
    pub rating: u8,
    pub verified: Option<bool>,
    /// When the review was written, in seconds since 1970-01-01T00:00:00Z.
    pub created_at_seconds: Option<i64>,
    /// The review as a JSON object, as clients see it.
    #[serde(with = "serde_bytes")]
    pub object: Vec<u8>,
}

/// A review with its position.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredReview {
    /// The product's id.
    pub product: Box<str>,
    /// The review's position among the product's reviews, from 0. Reviews are sorted newest first,
    /// undated ones last, then by id.
    pub place: u64,
    pub row: ReviewRow,
}

/// Products with their reviews, by id.
#[derive(Debug)]
pub(super) struct Joined {
    pub(super) products: Spool<(Box<str>, SortKeys, ProductRow)>,
    pub(super) reviews: Spool<StoredReview>,
    /// The mean displayed rating.
    pub(super) mean: f64,
}

/// Joins products with their reviews. `places` maps each category's number to its position.
pub(super) fn join(
    products: ScratchSorter<Keyed<Box<str>, (SortKeys, ProductRow)>>,
    reviews: ScratchSorter<Keyed<ReviewKey, ReviewRow>>,
    places: &[u32],
    scratch: &Scratch,
) -> io::Result<Joined> {
    let mut reviews = reviews.finish()?.peekable();
    let (mut joined, mut with_places) = (scratch.spool(), scratch.spool());
    let mut mean = MeanRating::default();
    for product in products.finish()? {
        let Keyed { key: id, value: (keys, mut product) } = product?;
        let (mut place, mut first) = (0, 0);
        // Skip ahead to this product's reviews. Every review is about some product in the set.
        let is_due = |review: &io::Result<Keyed<ReviewKey, ReviewRow>>| match review {
            Ok(review) => review.key.0 <= id,
            Err(_) => true,
        };
        while let Some(review) = reviews.next_if(is_due) {
            let Keyed { key: (of, ..), value: row } = review?;
            if of != id {
                continue;
            }
            product.stars.push(row.rating);
            let at = with_places.push(StoredReview { product: of, place, row })?;
            if place == 0 {
                first = at;
            }
            place += 1;
        }
        product.reviews = (first, place);
        product.categories.iter_mut().for_each(|number| *number = places[*number as usize]);
        product.shown = product.shown.or_of(product.stars);
        product.shown.value.into_iter().for_each(|rating| mean.push(rating));
        joined.push((id, keys, product))?;
    }
    Ok(Joined { products: joined.finish()?, reviews: with_places.finish()?, mean: mean.mean() })
}

/// Products sorted by quality, with their positions in the other orders.
#[derive(Debug)]
pub(super) struct Ordered {
    /// In ordinal order.
    pub(super) products: Spool<ProductRow>,
    /// The positions in each of [`Order::ALL`], in ordinal order.
    pub(super) ranks: Spool<[u32; Order::COUNT]>,
    /// The links of products that have any, in ordinal order.
    pub(super) links: Spool<Links>,
    /// How many products are real rather than demo records. If every product is a demo record, all
    /// of them are counted.
    pub(super) real: u32,
}

/// A product with everything that determines its positions.
type ByQuality = Keyed<(Quality, Vec<u8>, Box<str>), (ProductRow, u64)>;

/// A product's sort keys: its name and id, then its ordinal and the keys for the other orders.
type ByName = Keyed<(Vec<u8>, Box<str>), (Ordinal, Option<f64>, Option<u64>, Option<CalendarDate>)>;

/// Sorts products.
pub(super) fn order(
    joined: Spool<(Box<str>, SortKeys, ProductRow)>,
    mean: f64,
    has_links: bool,
    scratch: &Scratch,
) -> io::Result<Ordered> {
    let mut by_quality: ScratchSorter<ByQuality> = scratch.sorter();
    for product in joined.into_rows() {
        let (id, SortKeys { name, website, merits }, product) = product?;
        let key = (Quality::of(merits, product.shown, mean), name, id);
        by_quality.push(Keyed { key, value: (product, website) })?;
    }
    let mut by_name: ScratchSorter<ByName> = scratch.sorter();
    let mut by_website: ScratchSorter<Keyed<(u64, Ordinal), RecordPlace>> = scratch.sorter();
    let mut products = scratch.spool();
    let (mut count, mut real) = (0, 0);
    for (ordinal, row) in (0..).zip(by_quality.finish()?) {
        let Keyed { key: (quality, name, id), value: (product, website) } = row?;
        let (shown, checked) = (product.shown, product.evidence_checked_on);
        by_name.push(Keyed { key: (name, id), value: (ordinal, shown.value, shown.review_count, checked) })?;
        if has_links {
            by_website.push(Keyed { key: (website, ordinal), value: product.place })?;
        }
        products.push(product)?;
        count += 1;
        real += u32::from(!quality.demo);
    }
    Ok(Ordered {
        products: products.finish()?,
        ranks: ranks(by_name, scratch)?,
        links: links::link(by_website, scratch)?,
        real: if real == 0 { count } else { real },
    })
}

/// The positions in all orders. Ties are broken by name.
fn ranks(by_name: ScratchSorter<ByName>, scratch: &Scratch) -> io::Result<Spool<[u32; Order::COUNT]>> {
    let mut by_ordinal: ScratchSorter<(Ordinal, u8, u32)> = scratch.sorter();
    let (mut by_rating, mut by_lowest_rating) = (scratch.sorter(), scratch.sorter());
    let (mut by_reviews, mut by_check) = (scratch.sorter(), scratch.sorter());
    for (rank, row) in (0..).zip(by_name.finish()?) {
        let (ordinal, rating, reviews, checked) = row?.value;
        by_ordinal.push((ordinal, Order::Name as u8, rank))?;
        let or_last = |last| total_order(rating.unwrap_or(last));
        by_rating.push((Reverse(or_last(f64::NEG_INFINITY)), rank, ordinal))?;
        by_lowest_rating.push((or_last(f64::INFINITY), rank, ordinal))?;
        by_reviews.push((Reverse(reviews), rank, ordinal))?;
        by_check.push((Reverse(checked), rank, ordinal))?;
    }
    number(by_rating, Order::Rating, &mut by_ordinal)?;
    number(by_lowest_rating, Order::LowestRating, &mut by_ordinal)?;
    number(by_reviews, Order::ReviewCount, &mut by_ordinal)?;
    number(by_check, Order::EvidenceCheckedOn, &mut by_ordinal)?;
    let mut ranks = scratch.spool();
    let mut of = [0; Order::COUNT];
    for row in by_ordinal.finish()? {
        let (_, order, rank) = row?;
        of[usize::from(order)] = rank;
        if usize::from(order) == Order::COUNT - 1 {
            ranks.push(of)?;
        }
    }
    ranks.finish()
}

/// Assigns ranks to an order's rows.
fn number<K: Clone + Ord + Serialize + DeserializeOwned>(
    rows: ScratchSorter<(K, u32, Ordinal)>,
    order: Order,
    by_ordinal: &mut ScratchSorter<(Ordinal, u8, u32)>,
) -> io::Result<()> {
    for (rank, row) in (0..).zip(rows.finish()?) {
        let (_, _, ordinal) = row?;
        by_ordinal.push((ordinal, order as u8, rank))?;
    }
    Ok(())
}
