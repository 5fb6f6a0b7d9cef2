//! Links products from different exports that have the same website.
//!
//! Websites are identified by hash, so anything that follows a link must compare the actual
//! websites.

use std::io;

use foldhash::HashMap;
use serde::{Deserialize, Serialize};

use crate::catalogue::Ordinal;
use crate::scratch::{Keyed, Scratch, ScratchSorter, Spool, SpoolWriter};

/// The maximum number of links per product.
pub(super) const MAX_LINKS: usize = 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::catalogue) struct RecordPlace {
    /// The number of the record's export.
    pub(in crate::catalogue) export: u32,
    /// The record's position among all records.
    pub(in crate::catalogue) at: u64,
}

/// Products from other exports that may share a product's website.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Links {
    pub(super) of: Ordinal,
    /// Best first.
    pub(super) to: Vec<RecordPlace>,
}

/// A website that appears in several exports, and those of its products that may be linked to.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct SharedWebsite {
    website: u64,
    candidates: Vec<(Ordinal, RecordPlace)>,
}

/// A group whose members are being read.
#[derive(Debug)]
struct OpenWebsite {
    group: SharedWebsite,
    choice: LinkChoice,
    export: u32,
    is_shared: bool,
}

impl OpenWebsite {
    fn new(website: u64, export: u32) -> Self {
        let group = SharedWebsite { website, candidates: Vec::new() };
        Self { group, choice: LinkChoice::default(), export, is_shared: false }
    }

    fn push(&mut self, ordinal: Ordinal, place: RecordPlace) {
        self.is_shared |= place.export != self.export;
        if self.choice.admits(place.export) {
            self.group.candidates.push((ordinal, place));
        }
    }
}

/// Links products by the hash of their website.
pub(super) fn link(
    products: ScratchSorter<Keyed<(u64, Ordinal), RecordPlace>>,
    scratch: &Scratch,
) -> io::Result<Spool<Links>> {
    // A website may have any number of products, so its members are read twice: once to choose
    // candidates, and once to link every member to them.
    let (mut members, mut groups) = (scratch.spool(), scratch.spool());
    let mut open: Option<OpenWebsite> = None;
    for product in products.finish()? {
        let Keyed { key: (website, ordinal), value: place } = product?;
        if open.as_ref().is_none_or(|open| open.group.website != website) {
            close(open.replace(OpenWebsite::new(website, place.export)), &mut groups)?;
        }
        if let Some(open) = &mut open {
            open.push(ordinal, place);
        }
        members.push((website, ordinal, place.export))?;
    }
    close(open, &mut groups)?;
    let mut by_ordinal: ScratchSorter<Keyed<Ordinal, Vec<RecordPlace>>> = scratch.sorter();
    let (groups, members) = (groups.finish()?, members.finish()?);
    let mut groups = groups.rows();
    let mut group: Option<SharedWebsite> = groups.next().transpose()?;
    for member in members.rows() {
        let (website, ordinal, export): (u64, Ordinal, u32) = member?;
        while group.as_ref().is_some_and(|group| group.website < website) {
            group = groups.next().transpose()?;
        }
        let Some(group) = group.as_ref().filter(|group| group.website == website) else { continue };
        let others = group.candidates.iter().filter(|(_, place)| place.export != export);
        let to = others.take(MAX_LINKS).map(|(_, place)| *place).collect();
        by_ordinal.push(Keyed { key: ordinal, value: to })?;
    }
    let mut links = scratch.spool();
    for row in by_ordinal.finish()? {
        let Keyed { key, value } = row?;
        links.push(Links { of: key, to: value })?;
    }
    links.finish()
}

/// Closes a group, dropping it if all its members belong to one export.
fn close(group: Option<OpenWebsite>, groups: &mut SpoolWriter<SharedWebsite>) -> io::Result<()> {
    match group {
        Some(OpenWebsite { group, is_shared: true, .. }) => groups.push(group).map(drop),
        _ => Ok(()),
    }
}

/// Chooses which members of a group the others link to, in ordinal order: at most [`MAX_LINKS`]
/// per export and twice that in total, so each export can find up to [`MAX_LINKS`] members from
/// other exports.
#[derive(Debug, Default)]
struct LinkChoice {
    /// The number of candidates from each export.
    counts: HashMap<u32, usize>,
    all: usize,
}

impl LinkChoice {
    /// Whether the next member, which belongs to this export, is a candidate.
    fn admits(&mut self, export: u32) -> bool {
        if self.all == 2 * MAX_LINKS {
            return false;
        }
        let count = self.counts.entry(export).or_default();
        *count += 1;
        let is_candidate = *count <= MAX_LINKS;
        self.all += usize::from(is_candidate);
        is_candidate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The products to which each product is linked. Products are given by export and website hash.
    fn linked(products: &[(u32, u64)]) -> HashMap<u32, Vec<u64>> {
        let scratch = Scratch::in_memory();
        let mut sorter = scratch.sorter();
        for (ordinal, (export, website)) in (0..).zip(products) {
            let place = RecordPlace { export: *export, at: ordinal.into() };
            sorter.push(Keyed { key: (*website, ordinal), value: place }).expect("in memory");
        }
        let links = link(sorter, &scratch).expect("in memory");
        let links = links.rows().map(|links| links.expect("in memory"));
        links.map(|links| (links.of, links.to.iter().map(|place| place.at).collect())).collect()
    }

    #[test]
    fn products_with_the_same_hash_in_other_exports_are_linked() {
        let links = linked(&[(0, 7), (1, 7), (1, 8), (0, 7), (2, 7), (0, 9)]);
        assert_eq!((&links[&0][..], &links[&1][..]), (&[1, 4][..], &[0, 3, 4][..]));
        assert!(!links.contains_key(&2));
        assert!(linked(&[(0, 7), (0, 7)]).is_empty(), "one export");
    }

    #[test]
    fn a_shared_websites_links_are_complete_up_to_the_limit() {
        // Export 0 has the first thousand products, and exports 1 and 2 have fifteen each.
        let products: Vec<_> = (0..1030).map(|at| (if at < 1000 { 0 } else { 1 + (at - 1000) / 15 }, 7)).collect();
        let links = linked(&products);
        assert_eq!(links[&0], (1000..1020).collect::<Vec<_>>());
        assert_eq!(links[&1029], (0..20).collect::<Vec<_>>());
    }
}
