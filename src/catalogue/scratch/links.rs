//! Products of different exports with one website, as in [`SameAs`](crate::catalogue::same_as::SameAs), for any number of them.

use std::io;

use serde::{Deserialize, Serialize};

use super::rows::RecordPlace;
use crate::catalogue::Ordinal;
use crate::catalogue::same_as::{LinkChoice, MAX_LINKS};
use crate::scratch::{Keyed, Scratch, ScratchSorter, Spool};

/// The products of other exports that may have the website of a product.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Links {
    pub(super) of: Ordinal,
    /// The best first.
    pub(super) to: Vec<RecordPlace>,
}

/// A website that several exports have, and the products that any other is linked with.
#[derive(Debug, Serialize, Deserialize)]
struct Group {
    website: u64,
    candidates: Vec<(Ordinal, RecordPlace)>,
}

/// A group of which members are being read.
#[derive(Debug)]
struct OpenGroup {
    group: Group,
    choice: LinkChoice,
    export: u32,
    is_shared: bool,
}

impl OpenGroup {
    fn new(website: u64, export: u32) -> Self {
        let group = Group { website, candidates: Vec::new() };
        Self { group, choice: LinkChoice::default(), export, is_shared: false }
    }

    fn push(&mut self, ordinal: Ordinal, place: RecordPlace) {
        self.is_shared |= place.export != self.export;
        if self.choice.admits(place.export) {
            self.group.candidates.push((ordinal, place));
        }
    }
}

/// Links products, given by the hash of their website.
pub(super) fn link(
    products: ScratchSorter<Keyed<(u64, Ordinal), RecordPlace>>,
    scratch: &Scratch,
) -> io::Result<Spool<Links>> {
    // A website may have any number of products, so its members are read twice: for the candidates, and to be linked with them.
    let (mut members, mut groups) = (scratch.spool()?, scratch.spool()?);
    let mut open: Option<OpenGroup> = None;
    for product in products.finish()? {
        let Keyed { key: (website, ordinal), value: place } = product?;
        if open.as_ref().is_none_or(|open| open.group.website != website) {
            close(open.replace(OpenGroup::new(website, place.export)), &mut groups)?;
        }
        if let Some(open) = &mut open {
            open.push(ordinal, place);
        }
        members.push(&(website, ordinal, place.export))?;
    }
    close(open, &mut groups)?;
    let mut by_ordinal: ScratchSorter<Keyed<Ordinal, Vec<RecordPlace>>> = scratch.sorter();
    let (groups, members) = (groups.finish()?, members.finish()?);
    let mut groups = groups.rows();
    let mut group: Option<Group> = groups.next().transpose()?;
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
    let mut links = scratch.spool()?;
    for row in by_ordinal.finish()? {
        let Keyed { key, value } = row?;
        links.push(&Links { of: key, to: value })?;
    }
    links.finish()
}

/// Ends a group. One that a single export has is left out.
fn close(group: Option<OpenGroup>, groups: &mut crate::scratch::SpoolWriter<Group>) -> io::Result<()> {
    match group {
        Some(OpenGroup { group, is_shared: true, .. }) => groups.push(&group),
        _ => Ok(()),
    }
}
