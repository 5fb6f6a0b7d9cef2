//! Counts products in a group.

use super::document::Cell;
use crate::record::{CalendarDate, EvidenceStatus, Software};

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Tally {
    pub(super) products: usize,
    reviewed: usize,
    recent: usize,
}

impl Tally {
    pub(super) const HEADS: [&'static str; 3] = ["Products", "Reviewed", "Checked within a year"];

    pub(super) fn add(&mut self, software: &Software, day: CalendarDate) {
        self.products += 1;
        self.reviewed += usize::from(software.evidence_status == EvidenceStatus::VendorSourcesReviewed);
        let checked = software.evidence_checked_on.as_deref().and_then(CalendarDate::parse);
        let is_recent = checked.is_some_and(|checked| checked <= day && checked.full_years_until(day) == 0);
        self.recent += usize::from(is_recent);
    }

    /// The counts. The first one is given as a share of `total` products, the others as shares of
    /// the group.
    pub(super) fn cells(self, total: usize) -> [Cell; 3] {
        [
            Cell::Part(self.products, total),
            Cell::Part(self.reviewed, self.products),
            Cell::Part(self.recent, self.products),
        ]
    }
}

pub(super) fn tally<'s>(software: impl IntoIterator<Item = &'s Software>, day: CalendarDate) -> Tally {
    let mut tally = Tally::default();
    software.into_iter().for_each(|software| tally.add(software, day));
    tally
}

pub(super) fn row(name: Cell, tally: Tally, total: usize) -> Vec<Cell> {
    std::iter::once(name).chain(tally.cells(total)).collect()
}
