//! Products of different exports with one website.

use foldhash::HashMap;

use super::Ordinal;

/// How many products a product is linked with at most.
pub(super) const MAX_LINKS: usize = 20;

/// The products of each website that several exports have, where links to them are needed.
///
/// Websites are identified by hashes, so that a large directory takes 16 bytes for each product while it is built. Readers of a
/// candidate compare the websites themselves.
#[derive(Debug, Default)]
pub(super) struct SameAs {
    groups: Vec<Box<[(u32, Ordinal)]>>,
    /// The group of each product that has one.
    group_of: HashMap<Ordinal, u32>,
}

impl SameAs {
    /// Groups products, each given by its export and the hash of its normalised URL, in the order of ordinals.
    pub(super) fn new(products: impl Iterator<Item = (u32, u64)> + Clone) -> Self {
        let mut same = Self::default();
        let mut exports = products.clone().map(|(export, _)| export);
        let first = exports.next();
        if exports.all(|export| Some(export) == first) {
            return same;
        }
        let mut by_hash: Vec<(u64, Ordinal, u32)> =
            (0..).zip(products).map(|(ordinal, (export, hash))| (hash, ordinal, export)).collect();
        by_hash.sort_unstable();
        for group in by_hash.chunk_by(|a, b| a.0 == b.0) {
            if group.iter().all(|member| member.2 == group[0].2) {
                continue;
            }
            let number = u32::try_from(same.groups.len()).unwrap_or(u32::MAX);
            same.group_of.extend(group.iter().map(|member| (member.1, number)));
            same.groups.push(candidates(group));
        }
        same
    }

    /// The products of other exports that may have the website of this one, the best first.
    pub(super) fn candidates(&self, ordinal: Ordinal, export: u32) -> impl Iterator<Item = Ordinal> {
        let group = self.group_of.get(&ordinal).and_then(|group| self.groups.get(*group as usize));
        let others = group.into_iter().flatten().filter(move |(of, _)| *of != export);
        others.map(|(_, ordinal)| *ordinal)
    }
}

/// The members that any other member is linked with. With at most [`MAX_LINKS`] of each export among twice as many, each export
/// finds as many of other exports as there are.
fn candidates(group: &[(u64, Ordinal, u32)]) -> Box<[(u32, Ordinal)]> {
    let mut choice = LinkChoice::default();
    let chosen = group.iter().filter(|(_, _, export)| choice.admits(*export));
    chosen.map(|(_, ordinal, export)| (*export, *ordinal)).collect()
}

/// Chooses the candidates of a group; its members come in the order of ordinals.
#[derive(Debug, Default)]
pub(super) struct LinkChoice {
    /// The candidates of each export.
    counts: HashMap<u32, usize>,
    all: usize,
}

impl LinkChoice {
    /// Whether the next member, of this export, is a candidate.
    pub(super) fn admits(&mut self, export: u32) -> bool {
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
    use super::{MAX_LINKS, SameAs};

    fn linked(products: &[(u32, u64)], ordinal: u32) -> Vec<u32> {
        let export = products[ordinal as usize].0;
        SameAs::new(products.iter().copied()).candidates(ordinal, export).take(MAX_LINKS).collect()
    }

    #[test]
    fn products_of_other_exports_with_the_hash_are_linked() {
        let products = [(0, 7), (1, 7), (1, 8), (0, 7), (2, 7), (0, 9)];
        assert_eq!(linked(&products, 0), [1, 4]);
        assert_eq!(linked(&products, 1), [0, 3, 4]);
        assert_eq!(linked(&products, 2), [0; 0]);
        assert_eq!(linked(&[(0, 7), (0, 7)], 0), [0; 0], "one export");
    }

    #[test]
    fn links_of_a_shared_website_are_bounded_and_as_many_as_there_are() {
        // Export 0 has the first thousand, the exports 1 and 2 have fifteen each.
        let products: Vec<_> = (0..1030).map(|at| (if at < 1000 { 0 } else { 1 + (at - 1000) / 15 }, 7)).collect();
        assert_eq!(linked(&products, 0), (1000..1020).collect::<Vec<_>>());
        assert_eq!(linked(&products, 1029), (0..20).collect::<Vec<_>>());
        let same = SameAs::new(products.iter().copied());
        assert!(same.groups.iter().all(|group| group.len() <= 2 * MAX_LINKS));
    }
}
