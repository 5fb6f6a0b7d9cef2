//! Merges exports into one directory: its categories, and its products in the order of quality.

use std::collections::BTreeMap;
use std::hash::BuildHasher as _;

use foldhash::quality::FixedState;
use foldhash::{HashMap, HashMapExt as _};

use super::collate::Collation;
use super::quality::{MeanRating, Merits, Quality};
use super::rating::Rating;
use super::reviews::Stars;
use crate::catalogue::resource::CategoryResource;
use crate::export::Export;
use crate::record::{CalendarDate, Category, EvidenceStatus, OfferingType, Review, Software, normalised_url, slug};

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

/// Collects the categories of exports, which come in the order of their ids: described ones, and those only used. The first name
/// and the first description of each win, those of a description before those of a use.
#[derive(Debug, Default)]
pub(super) struct CategoriesBuilder {
    /// By slug, the names and descriptions.
    described: BTreeMap<String, (Box<str>, Option<Box<str>>)>,
    /// By slug, its number, the name as the first product writes it, and the products.
    used: HashMap<String, (u32, Box<str>, u64)>,
}

/// All categories by name, and how they are found.
pub(super) struct MergedCategories {
    pub(super) categories: Vec<CategoryResource>,
    /// By the number that [`CategoriesBuilder::number`] gave to each, its place among all.
    pub(super) places: Vec<u32>,
}

impl CategoriesBuilder {
    /// Adds a category with its description.
    pub(super) fn describe(&mut self, category: &Category) {
        let (_, description) =
            self.described.entry(slug(&category.name)).or_insert_with(|| (category.name.clone(), None));
        if description.is_none() {
            description.clone_from(&category.description);
        }
    }

    /// Adds a product's category. Returns its number, in the order of the first uses.
    pub(super) fn number(&mut self, name: &str) -> u32 {
        let next = u32::try_from(self.used.len()).unwrap_or(u32::MAX);
        let (number, _, products) = self.used.entry(slug(name)).or_insert_with(|| (next, name.into(), 0));
        *products += 1;
        *number
    }

    pub(super) fn finish(mut self, collation: &Collation) -> MergedCategories {
        let mut numbered: Vec<(CategoryResource, Option<u32>)> = Vec::new();
        for (id, (name, description)) in self.described {
            let (number, products) =
                self.used.remove(&id).map_or((None, 0), |(number, _, count)| (Some(number), count));
            let (name, description) = (name.into(), description.map(Into::into));
            numbered.push((CategoryResource { id, name, description, software_count: products }, number));
        }
        for (id, (number, name, software_count)) in self.used {
            let category = CategoryResource { id, name: name.into(), description: None, software_count };
            numbered.push((category, Some(number)));
        }
        numbered.sort_by_cached_key(|(category, _)| (collation.key(&category.name), category.id.clone()));
        let mut places = vec![0; numbered.iter().filter(|(_, number)| number.is_some()).count()];
        for (place, (_, number)) in (0..).zip(&numbered) {
            if let Some(number) = number {
                places[*number as usize] = place;
            }
        }
        MergedCategories { categories: numbered.into_iter().map(|(category, _)| category).collect(), places }
    }
}

/// All categories of exports in the order of their ids, and the places among them of each product's, in the order of the products.
pub(super) fn merge_categories(exports: &[Export], collation: &Collation) -> (Vec<CategoryResource>, Vec<Box<[u32]>>) {
    let mut builder = CategoriesBuilder::default();
    exports.iter().flat_map(|export| &export.categories).for_each(|category| builder.describe(category));
    let products = exports.iter().flat_map(|export| &export.software);
    let mut numbers: Vec<Box<[u32]>> =
        products.map(|software| software.categories.iter().map(|name| builder.number(name)).collect()).collect();
    let MergedCategories { categories, places } = builder.finish(collation);
    numbers.iter_mut().flatten().for_each(|number| *number = places[*number as usize]);
    (categories, numbers)
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
pub(super) fn merge_software(exports: &mut [Export], categories: Vec<Box<[u32]>>, collation: &Collation) -> Vec<Keyed> {
    let mut reviews: HashMap<Box<str>, Vec<Review>> = HashMap::new();
    for review in exports.iter_mut().flat_map(|export| std::mem::take(&mut export.reviews)) {
        reviews.entry(review.software_id.clone()).or_default().push(review);
    }
    let shown: Vec<_> = exports
        .iter()
        .flat_map(|export| &export.software)
        .map(|software| {
            let stars = Stars::of(reviews.get(&software.id).into_iter().flatten());
            Rating::of(software.rating.as_ref().map(|rating| rating.value), software.review_count, stars)
        })
        .collect();
    let mut mean = MeanRating::default();
    shown.iter().filter_map(|shown: &Rating| shown.value).for_each(|rating| mean.push(rating));
    let mean = mean.mean();
    let pairs = (0..).zip(exports).flat_map(|(at, export)| {
        let software = std::mem::take(&mut export.software);
        (0..).zip(software).map(move |(index, software)| (at, index, software))
    });
    pairs
        .zip(shown)
        .zip(categories)
        .map(|(((export, index, software), shown), categories)| Keyed {
            quality: Quality::of(Merits::of(&software), shown, mean),
            name: collation.key(&software.name),
            website: website_hash(&software),
            entry: Entry {
                export,
                index,
                reviews: reviews.remove(&software.id).unwrap_or_default().into(),
                categories,
                offering_type: software.offering_type,
                evidence_status: software.evidence_status,
                evidence_checked_on: software.evidence_checked_on.as_deref().and_then(CalendarDate::parse),
                shown,
            },
            id: software.id,
        })
        .collect()
}

/// A hash of a product's website, the same for all forms of its URL.
pub(super) fn website_hash(software: &Software) -> u64 {
    FixedState::default().hash_one(&*normalised_url(&software.url))
}
