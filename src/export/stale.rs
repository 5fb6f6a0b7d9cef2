//! Evidence that was checked too long ago, of whole records and of single claims, as a list to work
//! through.

use std::collections::{BTreeMap, HashMap, HashSet};

use jiff::Span;
use jiff::civil::Date;
use serde::{Serialize, Serializer};

use super::Export;
use crate::record::{Attribute, CalendarDate, claim, identity};

/// The age at which evidence is stale.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MaxAge {
    pub today: Date,
    /// Evidence checked before this date is stale, unless its attribute has a `max_age_days`.
    pub before: CalendarDate,
}

impl MaxAge {
    /// `None` if the age reaches back before the year 0.
    pub fn new(today: Date, age: Span) -> Option<Self> {
        let before = today.checked_sub(age).ok().filter(|day| day.year() >= 0)?;
        Some(Self { today, before: before.into() })
    }
}

/// The maximum ages of records and of single properties.
pub(super) struct MaxAges {
    before: CalendarDate,
    own: HashMap<Box<str>, CalendarDate>,
}

impl MaxAges {
    pub(super) fn new<'a>(max_age: MaxAge, attributes: impl Iterator<Item = &'a Attribute>) -> Self {
        let own = attributes.filter_map(|attribute| {
            let age = MaxAge::new(max_age.today, Span::new().days(attribute.max_age_days?))?;
            Some((claim(&attribute.property).into(), age.before))
        });
        Self { before: max_age.before, own: own.collect() }
    }

    /// The date before which evidence is stale.
    pub(super) fn before(&self, property: Option<&str>) -> CalendarDate {
        property.and_then(|property| self.own.get(claim(property))).copied().unwrap_or(self.before)
    }

    /// The stale evidence of a record: first the record's own, without a property, then that of
    /// single properties. A property without a date of its own rests on the record's.
    pub(super) fn stale(
        &self,
        record: Option<CalendarDate>,
        claims: &[(Box<str>, CalendarDate)],
        has: impl Fn(&str) -> bool,
    ) -> Vec<(Option<Box<str>>, CalendarDate)> {
        let own = record.filter(|day| *day < self.before).map(|day| (None, day));
        let claimed: HashSet<_> = claims.iter().map(|(property, _)| claim(property)).collect();
        let rest = self.own.iter().filter(|(property, _)| !claimed.contains(&***property) && has(property));
        let rest = rest.filter_map(|(property, before)| Some((property, record.filter(|day| day < before)?)));
        let mut rest: Vec<_> = rest.filter(|_| own.is_none()).map(|(of, day)| (Some(of.clone()), day)).collect();
        rest.sort_unstable();
        let stale = claims.iter().filter(|(property, day)| *day < self.before(Some(property)));
        let stale = stale.map(|(property, day)| (Some(property.clone()), *day));
        own.into_iter().chain(stale).chain(rest).collect()
    }
}

/// The valid products with stale evidence. Each is listed in its first category only, so the list
/// is no longer than the set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Stale {
    #[serde(serialize_with = "day")]
    pub before: CalendarDate,
    /// Number of products with stale evidence.
    pub stale: usize,
    /// Number of single claims with stale evidence of their own.
    pub claims: usize,
    pub products: usize,
    /// The number of products without a check date, none of which count as stale.
    pub without_date: usize,
    /// The stale products by category, starting with the category that has the oldest check.
    pub categories: Vec<StaleCategory>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StaleCategory {
    /// The category's name; `None` for products without one.
    pub category: Option<Box<str>>,
    /// The products, oldest check first. A product is listed once for its record and once for each of
    /// its claims, if their evidence is stale.
    pub products: Vec<StaleProduct>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct StaleProduct {
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
    pub(super) fn collect(exports: &[Export], ages: &MaxAges) -> Self {
        let before = ages.before;
        let mut stale = Self { before, stale: 0, claims: 0, products: 0, without_date: 0, categories: Vec::new() };
        let mut groups: BTreeMap<String, StaleCategory> = BTreeMap::new();
        for (export, software) in exports.iter().flat_map(|export| export.software.iter().map(move |s| (export, s))) {
            stale.products += 1;
            let claims = software.evidence.iter().filter_map(|of| Some((of.property.clone(), of.oldest()?)));
            let claims: Vec<_> = claims.collect();
            stale.without_date += usize::from(software.evidence_checked_on.is_none() && claims.is_empty());
            let old = ages.stale(software.checked_on(), &claims, |property| software.has(property));
            if old.is_empty() {
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
                    property,
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

#[cfg(test)]
mod tests {
    use jiff::Span;
    use jiff::civil::date;

    use super::MaxAge;

    #[test]
    fn evidence_becomes_stale_the_day_after_it_reaches_the_maximum_age() {
        let before = |age: Span| MaxAge::new(date(2026, 3, 31), age).map(|age| age.before.to_string());
        assert_eq!(before(Span::new().days(365)).as_deref(), Some("2025-03-31"));
        assert_eq!(before(Span::new().weeks(1)).as_deref(), Some("2026-03-24"));
        assert_eq!(before(Span::new().months(1)).as_deref(), Some("2026-02-28"));
        assert_eq!(before(Span::new().years(2026)).as_deref(), Some("0000-03-31"));
        assert_eq!(before(Span::new().years(2027)), None);
        assert_eq!(before(Span::new().years(19_000)), None);
    }
}
