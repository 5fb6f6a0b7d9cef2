//! Turns facet counts into the values of a facet.

use std::borrow::Cow;

use super::{ATTRIBUTE_PREFIX, Facet};
use crate::catalogue::Catalogue;
use crate::catalogue::resource::FacetValue;
use crate::record::{AttributeType, BUILT_IN, EvidenceStatus, Language, OfferingType};
use crate::search::facet_counts::{FacetCounts, MAX_CATEGORIES, highest};
use crate::text::count::agreeing;
use crate::text::shorten::{LIST_CHARS, is_longer};

impl Facet {
    /// The facets that aren't attributes.
    pub const FIXED: [Self; 5] = [Self::Category, Self::OfferingType, Self::EvidenceStatus, Self::Export, Self::Rating];

    /// The facets that every directory has.
    pub fn all() -> impl Iterator<Item = Self> {
        let attributes = BUILT_IN.into_iter().map(|(property, _)| Self::Attribute(property.to_owned()));
        Self::FIXED.into_iter().chain(attributes)
    }

    pub fn as_str(&self) -> &str {
        match self {
            Self::Category => "category",
            Self::OfferingType => "offering_type",
            Self::EvidenceStatus => "evidence_status",
            Self::Export => "export",
            Self::Rating => "rating",
            Self::Attribute(name) => name,
        }
    }

    pub fn parse(name: &str) -> Option<Self> {
        let is_attribute = name.strip_prefix(ATTRIBUTE_PREFIX).is_some_and(|property| !property.is_empty());
        Self::all().find(|facet| facet.as_str() == name).or(is_attribute.then(|| Self::Attribute(name.to_owned())))
    }

    pub fn property(&self) -> Option<&str> {
        let Self::Attribute(name) = self else { return None };
        Some(name.strip_prefix(ATTRIBUTE_PREFIX).unwrap_or(name))
    }
}

pub(crate) fn all<'s>(
    catalogue: &'s Catalogue,
    facets: &[Facet],
    counts: Option<&'s FacetCounts>,
    language: Option<&Language>,
) -> Vec<(Facet, Vec<FacetValue<'s>>)> {
    let counted = counts.into_iter().flat_map(|counts| facets.iter().map(move |facet| (facet, counts)));
    counted.map(|(facet, counts)| (facet.clone(), values(catalogue, facet, counts, language))).collect()
}

/// The values that occur in the result, except values that are too long to list. Categories (only
/// the most frequent) and attributes are sorted by descending count, then name; ratings are sorted
/// from the highest down. Other facets' values have a fixed order.
fn values<'s>(
    catalogue: &'s Catalogue,
    facet: &Facet,
    counts: &'s FacetCounts,
    language: Option<&Language>,
) -> Vec<FacetValue<'s>> {
    let tables = &catalogue.tables;
    let mut values = Vec::new();
    let mut add = |value: Cow<'s, str>, label: Cow<'s, str>, count| values.push(FacetValue { value, label, count });
    match facet {
        Facet::Category => {
            for (at, count) in highest(&counts.categories, MAX_CATEGORIES) {
                let category = &tables.categories[at as usize];
                add((&*category.id).into(), category.name_in(language).into(), count);
            }
        }
        Facet::OfferingType => {
            for (value, count) in OfferingType::ALL.into_iter().zip(counts.offering_types) {
                let label = match value {
                    OfferingType::Software => "Software",
                    OfferingType::DocumentTemplates => "Document templates",
                };
                add(value.as_str().into(), label.into(), count);
            }
        }
        Facet::EvidenceStatus => {
            for (value, count) in EvidenceStatus::ALL.into_iter().zip(counts.evidence_statuses) {
                let label = match value {
                    EvidenceStatus::VendorSourcesReviewed => "Vendor sources reviewed",
                    EvidenceStatus::PendingReview => "Pending review",
                };
                add(value.as_str().into(), label.into(), count);
            }
        }
        Facet::Export => {
            for (at, count) in highest(&counts.exports, usize::MAX) {
                let export = &tables.exports[at as usize].resource;
                add((&*export.id).into(), (&*export.name).into(), count);
            }
        }
        Facet::Rating => {
            for (at, count) in counts.ratings.into_iter().enumerate().rev() {
                let stars = at + 1;
                let plural = agreeing(stars, "star", "stars");
                add(stars.to_string().into(), format!("{stars} {plural} or more").into(), count);
            }
        }
        Facet::Attribute(_) => {
            let number = facet.property().and_then(|property| tables.attributes.number(property));
            if let Some(of) = counts.attributes.iter().find(|of| Some(of.attribute) == number) {
                let kind = tables.attributes.get(of.attribute).kind;
                of.values.iter().for_each(|(value, count)| add((&**value).into(), label(kind, value), *count));
            }
        }
    }
    values.retain(|value| value.count > 0 && !is_longer(&value.value, LIST_CHARS));
    values
}

/// A value's label: the value itself, words for a range (`5 to 10`), or the year for a range of
/// dates.
fn label(kind: AttributeType, value: &str) -> Cow<'_, str> {
    match value.split_once("..").filter(|_| kind.is_ordered()) {
        None => value.into(),
        Some(("", to)) => format!("up to {to}").into(),
        Some((from, "")) => format!("{from} or more").into(),
        Some((from, _)) if kind == AttributeType::Date => from.get(..4).unwrap_or(from).into(),
        Some((from, to)) => format!("{from} to {to}").into(),
    }
}
