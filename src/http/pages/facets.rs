//! A product list's filters: the values to choose from, and those already chosen.

use std::borrow::Cow;

use super::edition::{Edition, Lang};
use super::links::{Address, COMPARED, PAGE};
use super::{attribute, evidence};
use crate::catalogue::Catalogue;
use crate::catalogue::resource::{CategoryResource, FacetValue};
use crate::record::{Attribute, AttributeType, OfferingType};
use crate::service::parameter::definition::{
    ANY_EVIDENCE_BEFORE, ATTRIBUTE, CATEGORY, EVIDENCE_CHECKED_AFTER, EVIDENCE_CHECKED_BEFORE, EVIDENCE_STATUS, EXPORT,
    MIN_RATING, OFFERING_TYPE, SEARCH_Q, SEARCH_SORT, TYPO,
};
use crate::service::{ATTRIBUTE_PREFIX, Facet};

/// How many values of a filter are shown until the reader asks for more.
const CATEGORIES_SHOWN: usize = 10;
const VALUES_SHOWN: usize = 6;

/// How many more values are shown when a filter is expanded; rarer ones can be found by searching.
const MAX_MORE: usize = 40;

/// A filter with its values.
#[derive(Debug)]
pub(super) struct FilterGroup<'a> {
    pub(super) legend: (Cow<'a, str>, Lang<'a>),
    /// The parameter's name.
    pub(super) name: &'a str,
    /// Whether several values can be chosen.
    pub(super) is_list: bool,
    pub(super) shown: Vec<Choice<'a>>,
    /// Values that are shown once the reader expands them.
    pub(super) more: Vec<Choice<'a>>,
}

#[derive(Debug)]
pub(super) struct Choice<'a> {
    pub(super) value: Cow<'a, str>,
    pub(super) label: Cow<'a, str>,
    pub(super) lang: Lang<'a>,
    /// How many products have the value.
    pub(super) count: u64,
    pub(super) is_chosen: bool,
}

/// An active filter, and the URL without it.
#[derive(Debug)]
pub(super) struct Chip<'a> {
    /// The filter's position in the URL.
    pub(super) at: usize,
    pub(super) label: String,
    pub(super) lang: Lang<'a>,
    pub(super) href: String,
}

impl FilterGroup<'_> {
    pub(super) fn is_any_chosen(&self) -> bool {
        self.shown.iter().chain(&self.more).any(|choice| choice.is_chosen)
    }
}

/// A list's facets, except attributes that exports hide.
pub(super) fn shown(catalogue: &Catalogue) -> Vec<Facet> {
    let facet = |of: &Attribute| {
        let prefix = if attribute::is_built_in(of) { "" } else { ATTRIBUTE_PREFIX };
        Facet::Attribute(format!("{prefix}{}", of.property))
    };
    let has_several = |facet: &Facet| *facet != Facet::Export || catalogue.tables.exports.len() > 1;
    Facet::FIXED
        .into_iter()
        .filter(has_several)
        .chain(attribute::shown(&catalogue.tables.attributes).map(facet))
        .collect()
}

/// A facet's attribute.
fn attribute_of<'c>(catalogue: &'c Catalogue, facet: &Facet) -> Option<&'c Attribute> {
    let attributes = &catalogue.tables.attributes;
    Some(attributes.get(attributes.number(facet.property()?)?))
}

/// The parameter of a facet's filter, and the prefix of its values.
fn parameter(facet: &Facet) -> (&str, String) {
    match facet {
        Facet::Rating => (MIN_RATING.name, String::new()),
        Facet::Attribute(name) => match name.strip_prefix(ATTRIBUTE_PREFIX) {
            Some(property) => (ATTRIBUTE.name, format!("{property}:")),
            None => (name, String::new()),
        },
        other => (other.as_str(), String::new()),
    }
}

fn legend<'a>(edition: Edition<'a>, facet: &Facet) -> (Cow<'a, str>, Lang<'a>) {
    let t = edition.t;
    let legend = match facet {
        Facet::Category => t.category,
        Facet::OfferingType => t.kind,
        Facet::EvidenceStatus => t.evidence,
        Facet::Export => t.export,
        Facet::Rating => t.rating,
        Facet::Attribute(_) => match attribute_of(edition.catalogue, facet) {
            Some(of) => {
                let (name, lang) = attribute::name(edition.t, edition.language, of);
                let unit = of.unit.as_deref().map(|unit| format!("{name} ({unit})"));
                return (unit.map_or(name.into(), Cow::Owned), lang);
            }
            None => "",
        },
    };
    (legend.into(), Lang::default())
}

/// The category that a filter's value stands for; `None` if there are several.
fn category<'c>(catalogue: &'c Catalogue, value: &str) -> Option<&'c CategoryResource> {
    let [at] = catalogue.categories_named(value) else { return None };
    Some(&catalogue.tables.categories[*at as usize])
}

/// A value's label.
fn label<'v>(edition: Edition<'_>, parameter: &str, value: &'v str) -> Cow<'v, str> {
    let t = edition.t;
    if parameter == CATEGORY.name {
        let known = category(edition.catalogue, value);
        return known.map_or(value.into(), |category| category.name_in(edition.language).to_owned().into());
    }
    if parameter == EVIDENCE_STATUS.name {
        return evidence::label(t, value);
    }
    if parameter == EXPORT.name {
        let known = edition.catalogue.export(value);
        return known.map_or(value.into(), |export| export.resource.name.clone().into());
    }
    if parameter == OFFERING_TYPE.name {
        let known = OfferingType::ALL.into_iter().find(|known| known.as_str() == value);
        return known.map_or(value.into(), |known| match known {
            OfferingType::Software => t.software_kind.into(),
            OfferingType::DocumentTemplates => t.templates_kind.into(),
        });
    }
    match value.parse::<u64>() {
        Ok(stars) if parameter == MIN_RATING.name => t.count(&t.stars_or_more, stars).into(),
        _ => value.into(),
    }
}

/// The language of a value's label.
fn lang<'a>(edition: Edition<'a>, parameter: &str, value: &str) -> Lang<'a> {
    let known = if parameter == CATEGORY.name { category(edition.catalogue, value) } else { None };
    known.map_or(Lang::default(), |category| edition.category(&category.id))
}

/// The normal forms of a filter's value, usually just one. Values that share one are equivalent.
fn keys(catalogue: &Catalogue, facet: &Facet, value: &str) -> Vec<String> {
    let id = |at: &u32| catalogue.tables.categories[*at as usize].id.clone();
    let keys: Vec<_> = match facet {
        Facet::Category => catalogue.categories_named(value).iter().map(id).collect(),
        Facet::Attribute(_) => AttributeType::Text.key(value).into_iter().collect(),
        _ => Vec::new(),
    };
    if keys.is_empty() { vec![value.to_owned()] } else { keys }
}

/// The groups for a result's facets. Chosen values come first, even if no product has them.
pub(super) fn groups<'a>(
    edition: Edition<'a>,
    address: &'a Address,
    facets: &'a [(Facet, Vec<FacetValue<'_>>)],
) -> Vec<FilterGroup<'a>> {
    let Edition { t, catalogue, .. } = edition;
    let groups = facets.iter().filter_map(|(facet, values)| {
        let (name, prefix) = parameter(facet);
        let is_list = matches!(facet, Facet::Category | Facet::Export | Facet::Attribute(_));
        let of_facet = address.pairs().filter(|(of, _)| *of == name);
        let chosen: Vec<_> = of_facet.filter_map(|(_, value)| value.strip_prefix(&*prefix)).collect();
        let chosen_keys: Vec<_> = chosen.iter().map(|value| keys(catalogue, facet, value)).collect();
        let shares_key = |keys: &[String], others: &[String]| keys.iter().any(|key| others.contains(key));
        let is_chosen = |value: &str| {
            let keys = if chosen.is_empty() { Vec::new() } else { keys(catalogue, facet, value) };
            chosen_keys.iter().any(|chosen| shares_key(&keys, chosen))
        };
        let with_prefix = |value: &'a str| match &*prefix {
            "" => Cow::Borrowed(value),
            prefix => Cow::Owned(format!("{prefix}{value}")),
        };
        let choice = |value: &'a str, count: u64, is_chosen: bool| Choice {
            value: with_prefix(value),
            label: match attribute_of(catalogue, facet) {
                Some(of) => attribute::value(t, of, value),
                None => label(edition, name, value),
            },
            lang: lang(edition, name, value),
            count,
            is_chosen,
        };
        let mut choices: Vec<_> = values.iter().map(|of| choice(&of.value, of.count, is_chosen(&of.value))).collect();
        if !chosen.is_empty() {
            let counted: Vec<_> = values.iter().flat_map(|value| keys(catalogue, facet, &value.value)).collect();
            let uncounted = chosen.iter().zip(&chosen_keys).filter(|(_, keys)| !shares_key(keys, &counted));
            choices.extend(uncounted.map(|(value, _)| choice(value, 0, true)));
        }
        // A filter that every product passes is useless.
        if choices.is_empty() || (choices.len() == 1 && chosen.is_empty() && !is_list) {
            return None;
        }
        if is_list {
            // The sort is stable: chosen values first, each part by descending count, then by name.
            choices.sort_by_key(|choice| !choice.is_chosen);
        }
        let most = if *facet == Facet::Category { CATEGORIES_SHOWN } else { VALUES_SHOWN };
        let mut more = choices.split_off(choices.len().min(most.max(chosen.len())));
        more.truncate(MAX_MORE);
        Some(FilterGroup { legend: legend(edition, facet), name, is_list, shown: choices, more })
    });
    groups.collect()
}

/// Whether a parameter of a list's URL is a filter.
pub(super) fn is_filter(name: &str) -> bool {
    ![SEARCH_Q.name, SEARCH_SORT.name, TYPO.name, PAGE, COMPARED].contains(&name)
}

/// The maximum number of filters that can be removed one by one, since each link repeats all the
/// others. If there are more, they can only be cleared together or changed in the facets.
const MAX_CHIPS: usize = 20;

pub(super) fn filter_count(address: &Address) -> usize {
    address.pairs().filter(|(name, _)| is_filter(name)).count()
}

/// The active filters in the order of the URL; none if there are too many.
pub(super) fn chips<'a>(edition: Edition<'a>, address: &Address) -> Vec<Chip<'a>> {
    if filter_count(address) > MAX_CHIPS {
        return Vec::new();
    }
    let t = edition.t;
    let filters = address.pairs().enumerate().filter(|(_, (name, _))| is_filter(name));
    let chip = |(at, (name, value)): (usize, (&'static str, &str))| {
        let label = label(edition, name, value);
        let label = match name {
            _ if name == EVIDENCE_CHECKED_BEFORE.name => format!("{} {}", t.checked_before, t.day(value)),
            _ if name == ANY_EVIDENCE_BEFORE.name => format!("{} {}", t.any_checked_before, t.day(value)),
            _ if name == EVIDENCE_CHECKED_AFTER.name => format!("{} {}", t.checked_after, t.day(value)),
            _ if name == ATTRIBUTE.name => attribute_chip(edition, value),
            _ => label.into_owned(),
        };
        Chip { at, label, lang: lang(edition, name, value), href: address.keeping(|other, _| other != at) }
    };
    filters.map(chip).collect()
}

/// The filter for a declared attribute, given as its property and a value.
pub(super) fn attribute_chip(edition: Edition<'_>, condition: &str) -> String {
    let attributes = &edition.catalogue.tables.attributes;
    let known = condition.split_once(':').and_then(|(property, value)| Some((attributes.number(property)?, value)));
    let Some((number, value)) = known else { return condition.to_owned() };
    let of = attributes.get(number);
    let (name, _) = attribute::name(edition.t, edition.language, of);
    format!("{name}{} {}", edition.t.colon, attribute::measured(edition.t, of, value))
}

/// The URL without any filters.
pub(super) fn without_filters(address: &Address) -> String {
    address.keeping(|_, name| !is_filter(name))
}
