//! Turns facet counts into the values of a facet.

use super::Facet;
use crate::catalogue::resource::FacetValue;
use crate::catalogue::{Attribute, Catalogue};
use crate::record::{EvidenceStatus, OfferingType};
use crate::search::facet_counts::{FacetCounts, MAX_CATEGORIES, highest};
use crate::text::count::agreeing;
use crate::text::shorten::{LIST_CHARS, is_longer};

impl Facet {
    pub const ALL: [Self; 4 + Attribute::COUNT] = [
        Self::Category,
        Self::OfferingType,
        Self::EvidenceStatus,
        Self::Rating,
        Self::Attribute(Attribute::Standards),
        Self::Attribute(Attribute::Deployment),
        Self::Attribute(Attribute::Languages),
        Self::Attribute(Attribute::Vendor),
        Self::Attribute(Attribute::Tags),
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Category => "category",
            Self::OfferingType => "offering_type",
            Self::EvidenceStatus => "evidence_status",
            Self::Rating => "rating",
            Self::Attribute(attribute) => attribute.as_str(),
        }
    }
}

pub(super) fn all<'s>(
    catalogue: &'s Catalogue,
    facets: &[Facet],
    counts: Option<&'s FacetCounts>,
) -> Vec<(Facet, Vec<FacetValue<'s>>)> {
    let counted = counts.into_iter().flat_map(|counts| facets.iter().map(move |facet| (*facet, counts)));
    counted.map(|(facet, counts)| (facet, values(catalogue, facet, counts))).collect()
}

/// The values that occur in the result, without those too long for a list. Categories, the most frequent, and attributes are sorted
/// by descending count (then name), ratings from the highest; the others keep their own order.
fn values<'s>(catalogue: &'s Catalogue, facet: Facet, counts: &'s FacetCounts) -> Vec<FacetValue<'s>> {
    let fixed =
        |value: &'s str, label: &'s str, count: u64| FacetValue { value: value.into(), label: label.into(), count };
    let mut values: Vec<_> = match facet {
        Facet::Category => highest(&counts.categories, MAX_CATEGORIES)
            .into_iter()
            .map(|(at, count)| {
                let category = &catalogue.tables.categories[at as usize];
                fixed(&category.id, &category.name, count)
            })
            .collect(),
        Facet::OfferingType => OfferingType::ALL
            .into_iter()
            .zip(counts.offering_types)
            .map(|(value, count)| {
                let label = match value {
                    OfferingType::Software => "Software",
                    OfferingType::DocumentTemplates => "Document templates",
                };
                fixed(value.as_str(), label, count)
            })
            .collect(),
        Facet::EvidenceStatus => EvidenceStatus::ALL
            .into_iter()
            .zip(counts.evidence_statuses)
            .map(|(value, count)| {
                let label = match value {
                    EvidenceStatus::VendorSourcesReviewed => "Vendor sources reviewed",
                    EvidenceStatus::PendingReview => "Pending review",
                };
                fixed(value.as_str(), label, count)
            })
            .collect(),
        Facet::Rating => (1..)
            .zip(counts.ratings)
            .map(|(stars, count)| {
                let plural = agreeing(stars, "star", "stars");
                FacetValue {
                    value: format!("{stars}").into(),
                    label: format!("{stars} {plural} or more").into(),
                    count,
                }
            })
            .collect(),
        Facet::Attribute(attribute) => {
            counts.attributes[attribute as usize].iter().map(|(value, count)| fixed(value, value, *count)).collect()
        }
    };
    values.retain(|value| value.count > 0 && !is_longer(&value.value, LIST_CHARS));
    if facet == Facet::Rating {
        values.reverse();
    }
    values
}
