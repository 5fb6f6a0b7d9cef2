//! Counts the changes between two sets.

use std::collections::BTreeMap;

use super::set::Set;
use super::{Changes, Counts, Difference, Evidence, ExportCounts, Summary};
use crate::record::EvidenceStatus;

pub(super) fn summary(difference: &Difference, old: &Set, new: &Set) -> Summary {
    let is_reviewed = |set: &Set| {
        let reviewed = EvidenceStatus::VendorSourcesReviewed;
        set.software.iter().filter(|record| record.status == reviewed).count()
    };
    let software = &difference.software;
    let evidence = |of| software.changed.iter().filter(|changed| changed.evidence == Some(of)).count();
    Summary {
        old_software: old.software.len(),
        new_software: new.software.len(),
        old_reviewed: is_reviewed(old),
        new_reviewed: is_reviewed(new),
        exports: counts(&difference.exports),
        software: counts(software),
        renamed: software.changed.iter().filter(|changed| changed.former_id.is_some()).count(),
        moved: software.changed.iter().filter(|changed| changed.former_export.is_some()).count(),
        evidence_gained: evidence(Evidence::Gained),
        evidence_lost: evidence(Evidence::Lost),
        evidence_renewed: evidence(Evidence::Renewed),
        categories: counts(&difference.categories),
        reviews: counts(&difference.reviews),
        glossary: counts(&difference.glossary),
        synonyms: counts(&difference.synonyms),
        pins: counts(&difference.pins),
        by_export: by_export(software),
    }
}

fn by_export(software: &Changes) -> Vec<ExportCounts> {
    let mut exports: BTreeMap<Box<str>, Counts> = BTreeMap::new();
    for entry in &software.added {
        exports.entry(entry.export.clone()).or_default().added += 1;
    }
    for entry in &software.removed {
        exports.entry(entry.export.clone()).or_default().removed += 1;
    }
    for changed in &software.changed {
        exports.entry(changed.export.clone()).or_default().changed += 1;
    }
    exports.into_iter().map(|(export, counts)| ExportCounts { export, counts }).collect()
}

fn counts(changes: &Changes) -> Counts {
    Counts { added: changes.added.len(), removed: changes.removed.len(), changed: changes.changed.len() }
}
