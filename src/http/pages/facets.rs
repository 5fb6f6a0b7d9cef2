//! The filters of a list of products: the values to choose from, and those that are in force.

use std::borrow::Cow;

use super::language::Texts;
use super::links::{Address, PAGE};
use super::part::evidence;
use crate::catalogue::Catalogue;
use crate::catalogue::resource::FacetValue;
use crate::record::{AttributeType, BUILT_IN, Language, OfferingType};
use crate::service::parameter::definition::{
    ATTRIBUTE, CATEGORY, EVIDENCE_CHECKED_AFTER, EVIDENCE_CHECKED_BEFORE, EVIDENCE_STATUS, MIN_RATING, OFFERING_TYPE,
    SEARCH_Q, SEARCH_SORT, TYPO,
};
use crate::service::{ATTRIBUTE_PREFIX, Facet};

/// The values of a filter that are shown before someone asks for more.
const CATEGORIES_SHOWN: usize = 10;
const VALUES_SHOWN: usize = 6;

/// The most values that unfold; whoever looks for a rarer one searches for it.
const MAX_MORE: usize = 40;

/// A filter with its values.
#[derive(Debug)]
pub(super) struct Group<'a> {
    pub(super) legend: Cow<'a, str>,
    /// The parameter.
    pub(super) name: &'a str,
    /// Whether several values can be chosen.
    pub(super) is_list: bool,
    pub(super) shown: Vec<Choice<'a>>,
    /// Those that unfold.
    pub(super) more: Vec<Choice<'a>>,
}

#[derive(Debug)]
pub(super) struct Choice<'a> {
    pub(super) value: Cow<'a, str>,
    pub(super) label: Cow<'a, str>,
    /// `None` if it isn't counted.
    pub(super) count: Option<u64>,
    pub(super) is_chosen: bool,
}

/// A filter in force, and the address without it.
#[derive(Debug)]
pub(super) struct Chip {
    pub(super) label: String,
    pub(super) href: String,
}

impl Group<'_> {
    pub(super) fn is_any_chosen(&self) -> bool {
        self.shown.iter().chain(&self.more).any(|choice| choice.is_chosen)
    }
}

/// The facets of a list: those of every directory, and the attributes that its exports declare and don't hide.
pub(super) fn shown(catalogue: &Catalogue) -> Vec<Facet> {
    let declared = catalogue.tables.attributes.iter().skip(BUILT_IN.len()).filter(|(_, attribute)| !attribute.hidden);
    let declared = declared.map(|(_, of)| Facet::Attribute(format!("{ATTRIBUTE_PREFIX}{}", of.property)));
    Facet::all().chain(declared).collect()
}

/// The parameter of a facet's filter, and what its values begin with.
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

fn legend<'c>(t: &'static Texts, catalogue: &'c Catalogue, language: Option<&Language>, facet: &Facet) -> Cow<'c, str> {
    let legend = match facet {
        Facet::Category => t.category,
        Facet::OfferingType => t.kind,
        Facet::EvidenceStatus => t.evidence,
        Facet::Rating => t.rating,
        Facet::Attribute(name) => match name.as_str() {
            "standards" => t.standards,
            "deployment" => t.deployment,
            "languages" => t.languages,
            "vendor" => t.vendor,
            "tags" => t.tags,
            _ => return declared_legend(catalogue, language, facet),
        },
    };
    legend.into()
}

/// The label of a declared attribute, with its unit.
fn declared_legend<'c>(catalogue: &'c Catalogue, language: Option<&Language>, facet: &Facet) -> Cow<'c, str> {
    let attributes = &catalogue.tables.attributes;
    let Some(number) = facet.property().and_then(|property| attributes.number(property)) else { return "".into() };
    let attribute = attributes.get(number);
    let label = attribute.label_in(language);
    match &attribute.unit {
        Some(unit) => format!("{label} ({unit})").into(),
        None => Cow::Borrowed(label),
    }
}

/// What a value is called.
fn label<'v>(
    t: &'static Texts,
    catalogue: &Catalogue,
    language: Option<&Language>,
    parameter: &str,
    value: &'v str,
) -> Cow<'v, str> {
    if parameter == CATEGORY.name {
        let known = catalogue.category(value).and_then(|at| catalogue.tables.categories.get(at as usize));
        return known.map_or(value.into(), |category| {
            let name = language.and_then(|language| category.name_in(language));
            name.unwrap_or(&category.name).to_owned().into()
        });
    }
    if parameter == EVIDENCE_STATUS.name {
        return evidence::label(t, value);
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

/// The form in which two values of a filter are one.
fn key(catalogue: &Catalogue, facet: &Facet, value: &str) -> String {
    match facet {
        Facet::Category => {
            match catalogue.category(value).and_then(|at| catalogue.tables.categories.get(at as usize)) {
                Some(category) => category.id.clone(),
                None => value.to_owned(),
            }
        }
        Facet::Attribute(_) => AttributeType::Text.key(value).unwrap_or_else(|| value.to_owned()),
        _ => value.to_owned(),
    }
}

/// The groups of a result's facets. Chosen values come first, even without a product.
pub(super) fn groups<'a>(
    t: &'static Texts,
    catalogue: &'a Catalogue,
    language: Option<&Language>,
    address: &'a Address,
    facets: &'a [(Facet, Vec<FacetValue<'_>>)],
) -> Vec<Group<'a>> {
    let groups = facets.iter().filter_map(|(facet, values)| {
        let (name, prefix) = parameter(facet);
        let is_list = matches!(facet, Facet::Category | Facet::Attribute(_));
        let of_facet = address.pairs().filter(|(of, _)| *of == name);
        let chosen: Vec<_> = of_facet.filter_map(|(_, value)| value.strip_prefix(&*prefix)).collect();
        let chosen_keys: Vec<_> = chosen.iter().map(|value| key(catalogue, facet, value)).collect();
        let is_chosen = |value: &str| !chosen.is_empty() && chosen_keys.contains(&key(catalogue, facet, value));
        let with_prefix = |value: &'a str| match &*prefix {
            "" => Cow::Borrowed(value),
            prefix => Cow::Owned(format!("{prefix}{value}")),
        };
        let choice = |value: &'a FacetValue<'_>| Choice {
            value: with_prefix(&value.value),
            label: match facet {
                Facet::Category | Facet::Attribute(_) => Cow::Borrowed(&*value.label),
                _ => label(t, catalogue, language, name, &value.value),
            },
            count: Some(value.count),
            is_chosen: is_chosen(&value.value),
        };
        let mut choices: Vec<_> = values.iter().map(choice).collect();
        if !chosen.is_empty() {
            let counted: Vec<_> = values.iter().map(|value| key(catalogue, facet, &value.value)).collect();
            for (value, _) in chosen.iter().zip(&chosen_keys).filter(|(_, key)| !counted.contains(key)) {
                let label = label(t, catalogue, language, name, value);
                choices.push(Choice { value: with_prefix(value), label, count: Some(0), is_chosen: true });
            }
        }
        // A filter that every product passes decides nothing.
        if choices.is_empty() || (choices.len() == 1 && chosen.is_empty() && !is_list) {
            return None;
        }
        if is_list {
            // Stable: by falling count, the chosen ones first.
            choices.sort_by_key(|choice| !choice.is_chosen);
        }
        let most = if *facet == Facet::Category { CATEGORIES_SHOWN } else { VALUES_SHOWN };
        let mut more = choices.split_off(choices.len().min(most.max(chosen.len())));
        more.truncate(MAX_MORE);
        Some(Group { legend: legend(t, catalogue, language, facet), name, is_list, shown: choices, more })
    });
    groups.collect()
}

/// The filters in force, in the order of the address.
pub(super) fn chips(
    t: &'static Texts,
    catalogue: &Catalogue,
    language: Option<&Language>,
    address: &Address,
) -> Vec<Chip> {
    let is_filter = |name: &str| ![SEARCH_Q.name, SEARCH_SORT.name, TYPO.name, PAGE].contains(&name);
    let filters = address.pairs().enumerate().filter(|(_, (name, _))| is_filter(name));
    let chip = |(at, (name, value)): (usize, (&'static str, &str))| {
        let label = label(t, catalogue, language, name, value);
        let label = match name {
            _ if name == EVIDENCE_CHECKED_BEFORE.name => format!("{} {}", t.checked_before, t.day(value)),
            _ if name == EVIDENCE_CHECKED_AFTER.name => format!("{} {}", t.checked_after, t.day(value)),
            _ if name == ATTRIBUTE.name => value.replacen(':', ": ", 1),
            _ => label.into_owned(),
        };
        Chip { label, href: address.keeping(|other, _| other != at) }
    };
    filters.map(chip).collect()
}

/// The address without any filter.
pub(super) fn without_filters(address: &Address) -> String {
    address.keeping(|_, name| [SEARCH_Q.name, SEARCH_SORT.name, TYPO.name].contains(&name))
}
