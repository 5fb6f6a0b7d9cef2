//! The counts of a difference, and a one-line summary.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use super::set::Set;
use super::{Changes, Difference, Evidence};
use crate::record::EvidenceStatus;

const NAMED_EXPORTS: usize = 5;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    pub old_software: usize,
    pub new_software: usize,
    /// Products with reviewed sources in the old set.
    pub old_reviewed: usize,
    /// Products with reviewed sources in the new set.
    pub new_reviewed: usize,
    pub exports: Counts,
    /// Changed products include renamed and moved ones.
    pub software: Counts,
    /// Changed products whose id changed.
    pub renamed: usize,
    pub moved: usize,
    pub evidence_gained: usize,
    pub evidence_lost: usize,
    pub evidence_renewed: usize,
    /// Descriptions of categories.
    pub categories: Counts,
    pub reviews: Counts,
    pub glossary: Counts,
    pub synonyms: Counts,
    /// The exports whose products differ, by id.
    pub by_export: Vec<ExportCounts>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    pub added: usize,
    pub removed: usize,
    pub changed: usize,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ExportCounts {
    pub export: Box<str>,
    #[serde(flatten)]
    pub counts: Counts,
}

impl Counts {
    fn of(changes: &Changes) -> Self {
        Self { added: changes.added.len(), removed: changes.removed.len(), changed: changes.changed.len() }
    }

    pub fn is_none(self) -> bool {
        self == Self::default()
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} added, {} removed, {} changed", self.added, self.removed, self.changed)
    }
}

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
        exports: Counts::of(&difference.exports),
        software: Counts::of(software),
        renamed: software.changed.iter().filter(|changed| changed.former_id.is_some()).count(),
        moved: software.changed.iter().filter(|changed| changed.former_export.is_some()).count(),
        evidence_gained: evidence(Evidence::Gained),
        evidence_lost: evidence(Evidence::Lost),
        evidence_renewed: evidence(Evidence::Renewed),
        categories: Counts::of(&difference.categories),
        reviews: Counts::of(&difference.reviews),
        glossary: Counts::of(&difference.glossary),
        synonyms: Counts::of(&difference.synonyms),
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

impl fmt::Display for Summary {
    /// One line, such as `2 products added, 0 removed, 1 changed (1 with new evidence); reviews: 1
    /// added, 0 removed, 0 changed; in demo, qhse`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Counts { added, removed, changed } = self.software;
        let noun = if added == 1 { "product" } else { "products" };
        write!(f, "{added} {noun} added, {removed} removed, {changed} changed")?;
        let details = [
            (self.evidence_gained, "with new evidence"),
            (self.evidence_lost, "with evidence lost"),
            (self.evidence_renewed, "with other evidence"),
            (self.renamed, "with another id"),
            (self.moved, "moved to another export"),
        ];
        let details: Vec<_> =
            details.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
        if !details.is_empty() {
            write!(f, " ({})", details.join(", "))?;
        }
        let sections = [
            ("exports", self.exports),
            ("categories", self.categories),
            ("reviews", self.reviews),
            ("glossary", self.glossary),
            ("synonyms", self.synonyms),
        ];
        for (name, counts) in sections.into_iter().filter(|(_, counts)| !counts.is_none()) {
            write!(f, "; {name}: {counts}")?;
        }
        let named: Vec<_> = self.by_export.iter().take(NAMED_EXPORTS).map(|of| &*of.export).collect();
        if !named.is_empty() {
            write!(f, "; in {}", named.join(", "))?;
        }
        match self.by_export.len().saturating_sub(NAMED_EXPORTS) {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}
