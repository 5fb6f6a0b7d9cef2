//! A diff's counts and one-line summary.

use std::fmt;

use serde::Serialize;

use crate::text::count::agreeing;

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
    /// The number of changed products includes renamed and moved ones.
    pub software: Counts,
    /// Products whose id changed.
    pub renamed: usize,
    pub moved: usize,
    pub evidence_gained: usize,
    pub evidence_lost: usize,
    pub evidence_renewed: usize,
    /// Category descriptions.
    pub categories: Counts,
    pub reviews: Counts,
    pub glossary: Counts,
    pub synonyms: Counts,
    pub pins: Counts,
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
    pub fn is_none(self) -> bool {
        self == Self::default()
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} added, {} removed, {} changed", self.added, self.removed, self.changed)
    }
}

impl fmt::Display for Summary {
    /// One line, such as `2 products added, 0 removed, 1 changed (1 with new evidence); reviews: 1
    /// added, 0 removed, 0 changed; in demo, qhse`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Counts { added, removed, changed } = self.software;
        let noun = agreeing(added, "product", "products");
        write!(f, "{added} {noun} added, {removed} removed, {changed} changed")?;
        let details = [
            (self.evidence_gained, "with new evidence"),
            (self.evidence_lost, "with evidence lost"),
            (self.evidence_renewed, "with changed evidence"),
            (self.renamed, "with a new id"),
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
            ("pins", self.pins),
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
