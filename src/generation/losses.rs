//! The products that a withheld set of exports would remove, by the file that loses them.

use std::collections::{BTreeMap, HashMap};

use crate::catalogue::{Catalogue, Records};
use crate::export::ExportSet;
use crate::text::count::counted;

/// The maximum number of files to name.
const MAX_FILES: usize = 5;

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
