//! What products are filtered, sorted and counted by: integers computed once per generation.

use serde::{Deserialize, Serialize};

use super::Ordinal;
use crate::record::{CalendarDate, EvidenceStatus, OfferingType};

/// One value per product and column, by ordinal; and the sorted orders.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Columns {
    /// Where each product's categories start in `categories`, and where the last one's end.
    pub category_bounds: Vec<u32>,
    /// Indices into the list of categories, the main one first.
    pub categories: Vec<u32>,
    /// Offering type.
    pub offering_type: Vec<OfferingType>,
    /// Evidence status.
    pub evidence_status: Vec<EvidenceStatus>,
    /// Day of the evidence check.
    pub evidence_checked_on: Vec<Option<CalendarDate>>,
    /// The rating shown.
    pub rating: Vec<Option<f64>>,
    /// The orders that lists can have.
    pub name: SortedOrder,
    /// By shown rating, highest first, unrated last.
    pub rating_descending: SortedOrder,
    /// By review count, highest first, unknown last.
    pub review_count_descending: SortedOrder,
}

/// An order of all products, both ways round.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct SortedOrder {
    /// The ordinals in this order.
    pub ordinals: Vec<Ordinal>,
    /// Each ordinal's place in it.
    pub ranks: Vec<u32>,
}

impl SortedOrder {
    /// The order that a list of ordinals is in.
    #[must_use]
    pub fn new(ordinals: Vec<Ordinal>) -> Self {
        let mut ranks = vec![0; ordinals.len()];
        for (rank, ordinal) in (0..).zip(&ordinals) {
            ranks[*ordinal as usize] = rank;
        }
        Self { ordinals, ranks }
    }

    fn fits(&self, count: usize) -> bool {
        self.ordinals.len() == count
            && self.ranks.len() == count
            && self.ordinals.iter().all(|ordinal| (*ordinal as usize) < count)
    }
}

impl Columns {
    /// How many products there are; `usize::MAX` where the columns disagree about it.
    #[must_use]
    pub fn len(&self) -> usize {
        let count = self.offering_type.len();
        let agree = self.evidence_status.len() == count
            && self.evidence_checked_on.len() == count
            && self.rating.len() == count
            && self.category_bounds.len() == count + 1
            && self.category_bounds.is_sorted()
            && self.category_bounds.last().is_some_and(|end| *end as usize == self.categories.len())
            && [&self.name, &self.rating_descending, &self.review_count_descending].iter().all(|o| o.fits(count));
        if agree { count } else { usize::MAX }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.offering_type.is_empty()
    }

    /// A product's categories, as indices into the list of categories.
    #[must_use]
    pub fn categories_of(&self, ordinal: Ordinal) -> &[u32] {
        let at = ordinal as usize;
        &self.categories[self.category_bounds[at] as usize..self.category_bounds[at + 1] as usize]
    }
}
