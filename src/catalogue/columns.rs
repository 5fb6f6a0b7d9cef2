//! The columns used to filter, sort and count products: integers computed once per generation.

use foldhash::HashMap;
use serde::{Deserialize, Serialize};

use super::Ordinal;
use super::attributes::AttributeColumn;
use crate::record::{AttributeNumber, CalendarDate, EvidenceStatus, OfferingType};

/// One value per product and column, indexed by ordinal, plus the sort orders.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Columns {
    /// Where each product's categories start in `categories`, plus where the last product's
    /// categories end.
    pub category_bounds: Vec<u32>,
    /// Indices into the category list, main category first.
    pub categories: Vec<u32>,
    /// The number of the export that each product comes from.
    pub exports: Vec<u32>,
    pub offering_type: Vec<OfferingType>,
    pub evidence_status: Vec<EvidenceStatus>,
    pub evidence_checked_on: Vec<Option<CalendarDate>>,
    /// The date of the oldest check of a single property, for products for which it's older than the
    /// evidence date, ascending.
    pub older_evidence: Vec<(Ordinal, CalendarDate)>,
    /// The displayed rating.
    pub rating: Vec<Option<f64>>,
    /// Indexed by attribute number.
    pub attributes: Vec<AttributeColumn>,
    /// Indexed by [`Order`].
    pub(super) orders: [SortedOrder; Order::COUNT],
    /// How many products are real rather than demo records. Real products have the lowest ordinals.
    /// If every product is a demo record, all of them are counted.
    pub real: u32,
    /// Which facet values each product counts towards.
    #[serde(skip)]
    pub(super) profiles: Profiles,
}

/// Numbers each distinct combination of facet values, so products with the same number can be
/// counted together.
#[derive(Debug, Default)]
pub(super) struct Profiles {
    /// Each product's profile number.
    of: Vec<u32>,
    /// For each profile number, the first product that has it.
    examples: Vec<Ordinal>,
    /// One more than the highest category index.
    category_count: usize,
    /// One more than the highest export number.
    export_count: usize,
}

/// A stored product order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Order {
    /// By name, in natural collation order.
    Name,
    /// By displayed rating: highest first, unrated last.
    Rating,
    /// By displayed rating: lowest first, unrated last.
    LowestRating,
    /// By review count: highest first, unknown last.
    ReviewCount,
    /// By evidence date: newest first, unknown last.
    EvidenceCheckedOn,
}

impl Order {
    pub const ALL: [Self; 5] =
        [Self::Name, Self::Rating, Self::LowestRating, Self::ReviewCount, Self::EvidenceCheckedOn];

    pub const COUNT: usize = Self::ALL.len();

    /// The order's name in requests; `-` means highest or newest first.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Rating => "-rating",
            Self::LowestRating => "rating",
            Self::ReviewCount => "-review_count",
            Self::EvidenceCheckedOn => "-evidence_checked_on",
        }
    }
}

/// How products are ordered: in a stored order, or by the values of a single-valued attribute.
/// Products without a value come last, and ties are broken by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SortedBy {
    Stored(Order),
    Attribute { attribute: AttributeNumber, descending: bool },
}

/// The products' positions in a sort order.
#[derive(Debug, Clone, Copy)]
pub struct Places<'c> {
    /// An attribute, and whether its highest value comes first.
    attribute: Option<(&'c AttributeColumn, bool)>,
    order: &'c SortedOrder,
}

impl Places<'_> {
    /// A product's sort key, lowest first.
    #[inline]
    pub fn of(&self, ordinal: Ordinal) -> u64 {
        let rank = u64::from(self.order.ranks[ordinal as usize]);
        let Some((column, descending)) = self.attribute else { return rank };
        let place = match column.of(ordinal) {
            [] => u32::MAX,
            [value, ..] if descending => u32::MAX - 1 - value,
            [value, ..] => *value,
        };
        u64::from(place) << 32 | rank
    }
}

/// The highest possible rating, in stars.
pub const STARS: usize = 5;

/// An order of all products, as a permutation and its inverse.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct SortedOrder {
    /// The ordinals in this order.
    pub ordinals: Vec<Ordinal>,
    /// Each ordinal's position in `ordinals`.
    pub ranks: Vec<u32>,
}

/// The number of whole stars in a rating; 0 if there's no rating.
pub fn whole_stars(rating: Option<f64>) -> usize {
    (1_u8..).take(STARS).filter(|stars| rating.is_some_and(|rating| rating >= f64::from(*stars))).count()
}

impl SortedOrder {
    pub(super) fn of_ranks(ranks: Vec<u32>) -> Self {
        let mut ordinals = vec![0; ranks.len()];
        for (ordinal, rank) in (0..).zip(&ranks) {
            ordinals[*rank as usize] = ordinal;
        }
        Self { ordinals, ranks }
    }

    fn fits(&self, count: usize) -> bool {
        let has_rank = |(rank, ordinal): (u32, &Ordinal)| self.ranks.get(*ordinal as usize) == Some(&rank);
        self.ordinals.len() == count && self.ranks.len() == count && (0..).zip(&self.ordinals).all(has_rank)
    }
}

impl Columns {
    /// The number of products; `usize::MAX` if the columns disagree.
    pub fn len(&self) -> usize {
        let count = self.offering_type.len();
        let agree = self.evidence_status.len() == count
            && self.exports.len() == count
            && self.evidence_checked_on.len() == count
            && self.older_evidence.is_sorted_by(|(a, _), (b, _)| a < b)
            && self.older_evidence.last().is_none_or(|(last, _)| (*last as usize) < count)
            && self.rating.len() == count
            && self.category_bounds.len() == count + 1
            && self.category_bounds.is_sorted()
            && self.real as usize <= count
            && self.category_bounds.last().is_some_and(|end| *end as usize == self.categories.len())
            && self.orders.iter().all(|order| order.fits(count))
            && self.attributes.iter().all(|column| column.fits(count));
        if agree { count } else { usize::MAX }
    }

    /// Whether a product is a demo record in a directory that also has real ones.
    #[inline]
    pub const fn is_demo(&self, ordinal: Ordinal) -> bool {
        ordinal >= self.real
    }

    pub const fn order(&self, order: Order) -> &SortedOrder {
        &self.orders[order as usize]
    }

    pub fn places(&self, order: SortedBy) -> Places<'_> {
        match order {
            SortedBy::Stored(order) => Places { attribute: None, order: self.order(order) },
            SortedBy::Attribute { attribute, descending } => {
                Places { attribute: Some((self.attribute(attribute), descending)), order: self.order(Order::Name) }
            }
        }
    }

    /// Computes the facet profiles, which aren't stored.
    pub(super) fn profile(&mut self) {
        let (mut numbers, mut next) = (HashMap::default(), 0);
        let category_count = self.categories.iter().max().map_or(0, |last| *last as usize + 1);
        let export_count = self.exports.iter().max().map_or(0, |last| *last as usize + 1);
        let mut profiles = Profiles { category_count, export_count, ..Profiles::default() };
        for ordinal in (0..).take(self.offering_type.len()) {
            let at = ordinal as usize;
            let kind = (self.offering_type[at] as usize, self.evidence_status[at] as usize);
            let facets = (kind, self.exports[at], self.stars_of(ordinal));
            let number = *numbers.entry((facets, self.categories_of(ordinal))).or_insert_with(|| {
                profiles.examples.push(ordinal);
                next += 1;
                next - 1
            });
            profiles.of.push(number);
        }
        self.profiles = profiles;
    }

    /// A product's profile number. Products with the same number have the same facet values.
    #[inline]
    pub fn profile_of(&self, ordinal: Ordinal) -> usize {
        self.profiles.of[ordinal as usize] as usize
    }

    /// One example product per profile, by profile number.
    pub fn profiles(&self) -> &[Ordinal] {
        &self.profiles.examples
    }

    /// The number of categories up to the last one with a product.
    pub fn category_count(&self) -> usize {
        self.profiles.category_count
    }

    /// The number of exports up to the last one with a product.
    pub fn export_count(&self) -> usize {
        self.profiles.export_count
    }

    pub fn stars_of(&self, ordinal: Ordinal) -> usize {
        whole_stars(self.rating[ordinal as usize])
    }

    /// The date of the oldest check of any of a product's evidence.
    pub fn oldest_evidence(&self, ordinal: Ordinal) -> Option<CalendarDate> {
        let older = self.older_evidence.binary_search_by_key(&ordinal, |(of, _)| *of);
        older.map_or(self.evidence_checked_on[ordinal as usize], |at| Some(self.older_evidence[at].1))
    }

    pub fn attribute(&self, attribute: AttributeNumber) -> &AttributeColumn {
        &self.attributes[attribute]
    }

    pub fn categories_of(&self, ordinal: Ordinal) -> &[u32] {
        let at = ordinal as usize;
        &self.categories[self.category_bounds[at] as usize..self.category_bounds[at + 1] as usize]
    }
}
