//! Product orders: by quality, which determines the ordinals, and the orders that lists offer.

use std::cmp::Reverse;
use std::io;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::links::{self, Links};
use super::rows::{JoinedProduct, PlacedProduct, ProductRow, RecordPlace};
use crate::catalogue::quality::Quality;
use crate::catalogue::{Order, Ordinal};
use crate::record::{CalendarDate, total_order};
use crate::scratch::{Keyed, Scratch, ScratchSorter, Spool};

/// Products sorted by quality, with their positions in the other orders.
#[derive(Debug)]
pub(super) struct Ordered {
    /// In ordinal order.
    pub(super) products: Spool<PlacedProduct>,
    /// The positions in each of [`Order::ALL`], in ordinal order.
    pub(super) ranks: Spool<[u32; Order::COUNT]>,
    /// The links of products that have any, in ordinal order.
    pub(super) links: Spool<Links>,
    /// How many products are real rather than demo records. If every product is a demo record, all
    /// of them are counted.
    pub(super) real: u32,
}

/// A product with everything that determines its positions.
type ByQuality = Keyed<(Quality, Vec<u8>, Box<str>), (PlacedProduct, u64)>;

/// A product's sort keys: its name and id, then its ordinal and the keys for the other orders.
type ByName = Keyed<(Vec<u8>, Box<str>), (Ordinal, Option<f64>, Option<u64>, Option<CalendarDate>)>;

/// Sorts products.
pub(super) fn order(
    joined: Spool<JoinedProduct>,
    mean: f64,
    has_links: bool,
    scratch: &Scratch,
) -> io::Result<Ordered> {
    let mut by_quality: ScratchSorter<ByQuality> = scratch.sorter();
    for product in joined.into_rows() {
        let JoinedProduct { id, row, shown, stars, reviews } = product?;
        let key = (Quality::of(row.merits, shown, mean), row.name, id);
        let ProductRow { place, categories, evidence_checked_on, .. } = row;
        let product = PlacedProduct { place, categories, evidence_checked_on, shown, stars, reviews };
        by_quality.push(Keyed { key, value: (product, row.website) })?;
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
        real += u32::from(!quality.is_demo());
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
    let (mut by_rating, mut by_reviews, mut by_check) = (scratch.sorter(), scratch.sorter(), scratch.sorter());
    for (rank, row) in (0..).zip(by_name.finish()?) {
        let (ordinal, rating, reviews, checked) = row?.value;
        let rating = total_order(rating.unwrap_or(f64::NEG_INFINITY));
        by_ordinal.push((ordinal, Order::Name as u8, rank))?;
        by_rating.push((Reverse(rating), rank, ordinal))?;
        by_reviews.push((Reverse(reviews), rank, ordinal))?;
        by_check.push((Reverse(checked), rank, ordinal))?;
    }
    number(by_rating, Order::Rating, &mut by_ordinal)?;
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
