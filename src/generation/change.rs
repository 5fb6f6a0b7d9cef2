//! Differences between generations in words, for the log and for failures.

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use crate::catalogue::resource::ExportResource;
use crate::catalogue::{Catalogue, Records};
use crate::export::ExportSet;
use crate::generation::source::FolderStamp;
use crate::text::count::{agreeing, counted, listed};

/// The maximum number of file names in a message.
const MAX_FILES: usize = 5;

/// The difference between two generations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// How many products only the later generation has.
    pub added: usize,
    /// How many products only the earlier generation has.
    pub removed: usize,
    /// How many products have different content in the two generations.
    pub changed: usize,
    /// How many exports have a different name, licence or date.
    pub exports: usize,
    /// The export files that were added, removed or written in between, sorted by name: the first
    /// five, and how many more there are.
    pub files: String,
}

impl Change {
    /// Compares the products' ids and content hashes, the exports' names, licences and dates, and
    /// the files' stamps. Takes time proportional to the number of products.
    pub fn between(
        before: Option<(&Catalogue, &Records)>,
        (exports, after): (&Catalogue, &Records),
        stamps: (Option<&FolderStamp>, Option<&FolderStamp>),
    ) -> Self {
        let (mut common, mut changed, mut changed_exports) = (0, 0, 0);
        if let Some((exports_before, before)) = before {
            for (ordinal, id) in (0..).zip(after.ids()) {
                let Some(earlier) = before.find(&id) else { continue };
                common += 1;
                changed += usize::from(before.content_hash(earlier) != after.content_hash(ordinal));
            }
            let of_both = exports.tables.exports.iter().map(|export| &export.resource);
            let of_both = of_both.filter_map(|export| Some((&exports_before.export(&export.id)?.resource, export)));
            let shown = |export: &ExportResource| (export.name.clone(), export.license.clone(), export.as_of.clone());
            changed_exports = of_both.filter(|(before, after)| shown(before) != shown(after)).count();
        }
        Self {
            added: after.len() - common,
            removed: before.map_or(0, |(_, before)| before.len()) - common,
            changed,
            exports: changed_exports,
            files: changed_files(stamps.0, stamps.1),
        }
    }
}

impl fmt::Display for Change {
    /// One line, such as `2 products added, 1 removed, 0 changed; 1 export changed; files: tools.json`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let noun = agreeing(self.added, "product", "products");
        write!(f, "{} {noun} added, {} removed, {} changed", self.added, self.removed, self.changed)?;
        if self.exports > 0 {
            write!(f, "; {} changed", counted(self.exports, "export"))?;
        }
        if self.files.is_empty() { Ok(()) } else { write!(f, "; files: {}", self.files) }
    }
}

fn changed_files(before: Option<&FolderStamp>, after: Option<&FolderStamp>) -> String {
    let files = |stamp: Option<&FolderStamp>| stamp.cloned().unwrap_or_default();
    let (before, after) = (files(before), files(after));
    let mut names: Vec<_> = after.iter().filter(|file| !before.contains(file)).map(|file| file.name.as_str()).collect();
    names.extend(
        before.iter().map(|file| file.name.as_str()).filter(|name| after.iter().all(|file| file.name != *name)),
    );
    names.sort_unstable();
    listed(&names, " ", MAX_FILES)
}

/// Says which files are gone and how many products each loses, the largest loss first: `more.json
/// is gone, along with 2 products; tools.json loses 1 of 4`. Empty if none of the products belong
/// to a known file.
pub(crate) fn losses((catalogue, records): &(Catalogue, Records), removed: &[&str], exports: &ExportSet) -> String {
    let mut lost: BTreeMap<String, usize> = BTreeMap::new();
    for ordinal in removed.iter().filter_map(|id| records.find(id)) {
        let stored = records.stored(ordinal).ok();
        if let Some(product) = stored.as_ref().and_then(|stored| stored.read().ok()) {
            *lost.entry(product.detail.export.id.into_owned()).or_default() += 1;
        }
    }
    let counts: HashMap<&str, u64> =
        catalogue.tables.exports.iter().map(|of| (of.resource.id.as_str(), of.resource.software_count)).collect();
    let mut files: Vec<_> = lost.into_iter().collect();
    files.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let more = files.len().saturating_sub(MAX_FILES);
    let named = files.iter().take(MAX_FILES).map(|(id, count)| {
        if exports.exports.iter().any(|of| *of.export.id == **id) {
            let of = counts.get(id.as_str()).copied().unwrap_or_default();
            format!("{id}.json loses {count} of {of}")
        } else {
            format!("{id}.json is gone, along with {}", counted(*count, "product"))
        }
    });
    let named = named.collect::<Vec<_>>().join("; ");
    if more == 0 { named } else { format!("{named} and {}", counted(more, "more file")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generation::source::FileStamp;

    fn stamp(files: &[(&str, u64)]) -> FolderStamp {
        let file = |(name, size): &(&str, u64)| FileStamp {
            name: (*name).to_owned(),
            size: *size,
            modified_ns: 0,
            identity: (0, 0, 0),
        };
        files.iter().map(file).collect()
    }

    #[test]
    fn added_removed_and_written_files_are_named() {
        let before = stamp(&[("a", 1), ("b", 1), ("c", 1)]);
        let after = stamp(&[("b", 1), ("c", 2), ("d", 1)]);
        assert_eq!(changed_files(Some(&before), Some(&after)), "a c d");
        assert_eq!(changed_files(Some(&before), Some(&before)), "");
        let many = stamp(&[("1", 1), ("2", 1), ("3", 1), ("4", 1), ("5", 1), ("6", 1), ("7", 1)]);
        assert_eq!(changed_files(None, Some(&many)), "1 2 3 4 5 and 2 more");
    }
}
