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

/// A website's hash, and those of its products that the others link to.
type SharedWebsite = (u64, Vec<RecordPlace>);

/// A website whose products are being read, in ordinal order.
#[derive(Debug, Default)]
struct OpenWebsite {
    website: u64,
    /// At most [`MAX_LINKS`] products per export and twice that in total, so each export can find up
    /// to [`MAX_LINKS`] products from other exports.
    candidates: Vec<RecordPlace>,
    /// The number of products from each export.
    counts: HashMap<u32, usize>,
}

impl OpenWebsite {
    fn push(&mut self, place: RecordPlace) {
        let count = self.counts.entry(place.export).or_default();
        *count += 1;
        if *count <= MAX_LINKS && self.candidates.len() < 2 * MAX_LINKS {
            self.candidates.push(place);
        }
    }

    /// Adds the website to the list if its products come from several exports.
    fn close(self, shared: &mut SpoolWriter<SharedWebsite>) -> io::Result<()> {
        if self.counts.len() > 1 { shared.push((self.website, self.candidates)).map(drop) } else { Ok(()) }
    }
}

/// Links products by the hash of their website.
pub(super) fn link(
    products: ScratchSorter<Keyed<(u64, Ordinal), RecordPlace>>,
    scratch: &Scratch,
) -> io::Result<Spool<Links>> {
    // A website may have any number of products, so its members are read twice: once to choose
    // candidates, and once to link every member to them.
    let (mut members, mut shared) = (scratch.spool(), scratch.spool());
    let mut open = OpenWebsite::default();
    for product in products.finish()? {
        let Keyed { key: (website, ordinal), value: place } = product?;
        if website != open.website {
            std::mem::replace(&mut open, OpenWebsite { website, ..OpenWebsite::default() }).close(&mut shared)?;
        }
        open.push(place);
        members.push((website, ordinal, place.export))?;
    }
    open.close(&mut shared)?;
    let mut by_ordinal: ScratchSorter<Keyed<Ordinal, Vec<RecordPlace>>> = scratch.sorter();
    let mut shared = shared.finish()?.rows();
    let mut current: Option<SharedWebsite> = shared.next().transpose()?;
    for member in members.finish()?.rows() {
        let (website, ordinal, export): (u64, Ordinal, u32) = member?;
        while current.as_ref().is_some_and(|(of, _)| *of < website) {
            current = shared.next().transpose()?;
        }
        let Some((_, candidates)) = current.as_ref().filter(|(of, _)| *of == website) else { continue };
        let others = candidates.iter().filter(|place| place.export != export);
        by_ordinal.push(Keyed { key: ordinal, value: others.take(MAX_LINKS).copied().collect() })?;
    }
    let mut links = scratch.spool();
    for row in by_ordinal.finish()? {
        let Keyed { key, value } = row?;
        links.push(Links { of: key, to: value })?;
    }
    links.finish()
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
