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
    /// What facets count of each product, its categories aside.
    #[serde(skip)]
    pub(super) profiles: Vec<Profile>,
}

/// What facets count of a product, its categories aside, in one number: of many products those with the same are counted
/// together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Profile(u8);

impl Profile {
    /// How many there may be.
    pub const COUNT: usize = OfferingType::ALL.len() * EvidenceStatus::ALL.len() * (MOST_STARS as usize + 1);

    fn new(offering_type: OfferingType, evidence_status: EvidenceStatus, rating: Option<f64>) -> Self {
        let stars = (1..=MOST_STARS).filter(|stars| rating.is_some_and(|rating| rating >= f64::from(*stars))).count();
        let place = (offering_type as usize * EvidenceStatus::ALL.len() + evidence_status as usize)
            * (usize::from(MOST_STARS) + 1)
            + stars;
        Self(u8::try_from(place).unwrap_or(u8::MAX))
    }

    /// Its place among all of them.
    #[must_use]
    pub fn place(self) -> usize {
        usize::from(self.0)
    }

    /// The place of the offering type, that of the evidence status, and the whole stars of the rating: what the profile at
    /// a place stands for.
    #[must_use]
    pub const fn at(place: usize) -> (usize, usize, usize) {
        let (rest, stars) = (place / (MOST_STARS as usize + 1), place % (MOST_STARS as usize + 1));
        (rest / EvidenceStatus::ALL.len(), rest % EvidenceStatus::ALL.len(), stars)
    }
}

/// The stars of the best rating.
const MOST_STARS: u8 = 5;

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

    /// Notes what facets count, which isn't stored.
    pub(super) fn profile(&mut self) {
        let products = self.offering_type.iter().zip(&self.evidence_status).zip(&self.rating);
        self.profiles = products
            .map(|((offering_type, evidence_status), rating)| Profile::new(*offering_type, *evidence_status, *rating))
            .collect();
    }

    /// What facets count of a product, its categories aside.
    #[must_use]
    #[inline]
    pub fn profile_of(&self, ordinal: Ordinal) -> Profile {
        self.profiles[ordinal as usize]
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
