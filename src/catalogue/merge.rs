//! Merges exports into one directory: its categories, and its products in the order of quality.

use std::collections::BTreeMap;
use std::hash::BuildHasher as _;

use foldhash::quality::FixedState;
use foldhash::{HashMap, HashMapExt as _};

use super::collate::Collation;
use super::quality::{Quality, mean_rating};
use super::reviews;
use crate::export::Export;
use crate::record::{CalendarDate, EvidenceStatus, OfferingType, Review, Software, normalised_url, slug};
use crate::resource::{CategoryResource, RatingSource};

/// A product with what the rest of the directory adds to it. The record itself is read again from its document when it is
/// needed: in memory all records take twice what their documents do.
#[derive(Debug)]
pub(super) struct Entry {
    /// The index of its export, and that of the product there.
    pub(super) export: u32,
    pub(super) index: u32,
    pub(super) reviews: Box<[Review]>,
    pub(super) categories: Box<[u32]>,
    pub(super) offering_type: OfferingType,
    pub(super) evidence_status: EvidenceStatus,
    pub(super) evidence_checked_on: Option<CalendarDate>,
    pub(super) shown: Rating,
}

/// The rating that a product shows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rating {
    pub(super) value: Option<f64>,
    pub(super) review_count: Option<u64>,
    pub(super) source: Option<RatingSource>,
}

/// All categories, described or only used, by name; and where each slug stands among them. The first name and the first
/// description win.
pub(super) fn merge_categories(
    exports: &[Export],
    collation: &Collation,
) -> (Vec<CategoryResource>, HashMap<String, u32>) {
    let mut merged: BTreeMap<String, CategoryResource> = BTreeMap::new();
    let mut meet = |name: &str, description: Option<&str>, uses: u64| {
        let id = slug(name);
        let category = merged.entry(id.clone()).or_insert_with(|| CategoryResource {
            id,
            name: name.to_owned(),
            description: None,
            software_count: 0,
        });
        category.software_count += uses;
        if category.description.is_none() {
            category.description = description.map(str::to_owned);
        }
    };
    for category in exports.iter().flat_map(|export| &export.categories) {
        meet(&category.name, category.description.as_deref(), 0);
    }
    for name in exports.iter().flat_map(|export| &export.software).flat_map(|software| &software.categories) {
        meet(name, None, 1);
    }
    let mut categories: Vec<_> = merged.into_values().collect();
    categories.sort_by_cached_key(|category| (collation.key(&category.name), category.id.clone()));
    let at = (0..).zip(&categories).map(|(at, category)| (category.id.clone(), at)).collect();
    (categories, at)
}

/// A product with what it is sorted by.
pub(super) struct Keyed {
    pub(super) quality: Quality,
    /// The collation key of its name.
    pub(super) name: Vec<u8>,
    pub(super) id: Box<str>,
    /// A hash of its website's normalised URL.
    pub(super) website: u64,
    pub(super) entry: Entry,
}

/// Takes products and reviews out of the exports.
pub(super) fn merge_software(
    exports: &mut [Export],
    category_at: &HashMap<String, u32>,
    collation: &Collation,
) -> Vec<Keyed> {
    let mut reviews: HashMap<Box<str>, Vec<Review>> = HashMap::new();
    for review in exports.iter_mut().flat_map(|export| std::mem::take(&mut export.reviews)) {
        reviews.entry(review.software_id.clone()).or_default().push(review);
    }
    let shown: Vec<_> = exports
        .iter()
        .flat_map(|export| &export.software)
        .map(|software| Rating::of(software, reviews.get(&software.id).map_or(&[], Vec::as_slice)))
        .collect();
    let mean = mean_rating(shown.iter().filter_map(|shown| shown.value));
    let pairs = (0..).zip(exports).flat_map(|(at, export)| {
        let software = std::mem::take(&mut export.software);
        (0..).zip(software).map(move |(index, software)| (at, index, software))
    });
    pairs
        .zip(shown)
        .map(|((export, index, software), shown)| {
            let categories = software.categories.iter().filter_map(|name| category_at.get(&slug(name)).copied());
            Keyed {
                quality: Quality::of(&software, shown.value, shown.review_count, mean),
                name: collation.key(&software.name),
                website: FixedState::default().hash_one(&*normalised_url(&software.url)),
                entry: Entry {
                    export,
                    index,
                    reviews: reviews.remove(&software.id).unwrap_or_default().into(),
                    categories: categories.collect(),
                    offering_type: software.offering_type,
                    evidence_status: software.evidence_status,
                    evidence_checked_on: software.evidence_checked_on.as_deref().and_then(CalendarDate::parse),
                    shown,
                },
                id: software.id,
            }
        })
        .collect()
}

impl Rating {
    /// The stated rating, or else that of the reviews.
    fn of(software: &Software, reviews: &[Review]) -> Self {
        let summed = reviews::summary(&reviews.iter().collect::<Vec<_>>());
        let stated = software.rating.as_ref().map(|rating| rating.value);
        let source = match (stated, summed.average) {
            (Some(_), _) => Some(RatingSource::Stated),
            (None, Some(_)) => Some(RatingSource::Reviews),
            (None, None) => None,
        };
        Self {
            value: stated.or(summed.average),
            review_count: software.review_count.or((summed.count > 0).then_some(summed.count)),
            source,
        }
    }
}
