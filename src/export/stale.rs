//! Evidence that was checked too long ago, of whole records and of single claims, as a list to work
//! through.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

use super::Export;
use crate::record::{CalendarDate, identity};

/// The valid products with stale evidence. Each is listed in its first category only, so the list
/// is no longer than the set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Stale {
    /// Evidence checked before this date is stale.
    #[serde(serialize_with = "day")]
    pub before: CalendarDate,
    /// Number of products with stale evidence.
    pub stale: usize,
    /// Number of single claims with stale evidence of their own.
    pub claims: usize,
    /// Number of products.
    pub products: usize,
    /// The number of products without a check date, none of which count as stale.
    pub without_date: usize,
    /// The stale products by category, starting with the category that has the oldest check.
    pub categories: Vec<StaleCategory>,
}

/// A category's products with stale evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StaleCategory {
    /// The category's name; `None` for products without one.
    pub category: Option<Box<str>>,
    /// The products, oldest check first. A product is listed once for its record and once for each of
    /// its claims, if their evidence is stale.
    pub products: Vec<StaleProduct>,
}

/// A product with stale evidence.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct StaleProduct {
    /// The date of the check.
    #[serde(serialize_with = "day")]
    pub evidence_checked_on: CalendarDate,
    /// The property, if it's a single claim's evidence that is stale.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub property: Option<Box<str>>,
    /// Id in the directory.
    pub id: Box<str>,
    pub name: Box<str>,
    /// The id of the product's export.
    pub export: Box<str>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn day<S: Serializer>(day: &CalendarDate, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(day)
}

impl Stale {
    /// Collects the products whose evidence was checked before a date.
    pub(super) fn collect(exports: &[Export], before: CalendarDate) -> Self {
        let mut stale = Self { before, stale: 0, claims: 0, products: 0, without_date: 0, categories: Vec::new() };
        let mut groups: BTreeMap<String, StaleCategory> = BTreeMap::new();
        for (export, software) in exports.iter().flat_map(|export| export.software.iter().map(move |s| (export, s))) {
            stale.products += 1;
            let claims = || software.evidence.iter().filter_map(|of| Some((Some(&of.property), of.oldest()?)));
            stale.without_date += usize::from(software.evidence_checked_on.is_none() && claims().next().is_none());
            let checks = software.checked_on().map(|checked| (None, checked)).into_iter().chain(claims());
            let mut old = checks.filter(|(_, checked)| *checked < before).peekable();
            if old.peek().is_none() {
                continue;
            }
            stale.stale += 1;
            let category = software.categories.first();
            let group = groups
                .entry(category.map(|name| identity(name)).unwrap_or_default())
                .or_insert_with(|| StaleCategory { category: category.cloned(), products: Vec::new() });
            for (property, evidence_checked_on) in old {
                stale.claims += usize::from(property.is_some());
                group.products.push(StaleProduct {
                    evidence_checked_on,
                    property: property.cloned(),
                    id: software.id.clone(),
                    name: software.name.clone(),
                    export: export.id.clone(),
                });
            }
        }
        stale.categories = groups.into_values().collect();
        stale.categories.iter_mut().for_each(|category| category.products.sort_unstable());
        stale.categories.sort_by(|a, b| a.products.cmp(&b.products));
        stale
    }
}
