//! Advice on product ids that differ only in case: people, file systems and spreadsheets confuse
//! them.

use foldhash::{HashMap, HashMapExt as _, HashSet, HashSetExt as _};

use super::ParsedExport;
use crate::export::convert::{Entry, Product};
use crate::export::finding::Findings;
use crate::export::{Code, Finding, Related, SectionKind};

/// A product with its position in the set and its export.
type Position<'d> = (usize, &'d ParsedExport<'d>, &'d Entry<Product>);

pub(super) fn advise<'d>(exports: &'d [ParsedExport<'d>], findings: &mut Findings) {
    let products = || {
        let positions =
            exports.iter().flat_map(|export| export.contents.software.iter().map(move |entry| (export, entry)));
        positions.enumerate().map(|(at, (export, entry))| -> Position<'d> { (at, export, entry) })
    };
    // Most ids are lower case already, so these are looked up as they are.
    let mut alike: HashMap<String, Vec<Position<'_>>> = HashMap::new();
    for position in products().filter(|(.., entry)| has_case(&entry.value.id)) {
        alike.entry(position.2.value.id.to_lowercase()).or_default().push(position);
    }
    if alike.is_empty() {
        return;
    }
    for position in products().filter(|(.., entry)| !has_case(&entry.value.id)) {
        if let Some(others) = alike.get_mut(&*position.2.value.id) {
            others.push(position);
        }
    }
    let mut groups: Vec<_> = alike.into_values().filter(|group| group.len() > 1).collect();
    for group in &mut groups {
        group.sort_unstable_by_key(|(at, ..)| *at);
    }
    groups.sort_unstable_by_key(|group| group[0].0);
    for group in groups {
        report(&group, findings);
    }
}

/// Whether an id may change when lower-cased.
fn has_case(id: &str) -> bool {
    id.bytes().any(|byte| byte.is_ascii_uppercase() || !byte.is_ascii())
}

/// Reports each id in a group except the first. An id that occurs twice is already an error.
fn report(group: &[Position<'_>], findings: &mut Findings) {
    let mut seen = HashSet::new();
    let mut distinct = group.iter().filter(|(.., entry)| seen.insert(&*entry.value.id));
    let Some((_, first_draft, first)) = distinct.next() else { return };
    for (_, export, entry) in distinct {
        let (id, other) = (&entry.value.id, &first.value.id);
        findings.add(Code::SimilarId, export.file.shared_path(), || Finding {
            code: Code::SimilarId,
            location: export.location(SectionKind::Software, entry.index, "id", &entry.key),
            message: format!("the ids `{other}` and `{id}` differ in case only"),
            help:
                "remove one of the records if both are one product; else give one of them an id that can't be mistaken"
                    .to_owned(),
            related: vec![Related {
                location: first_draft.location(SectionKind::Software, first.index, "id", &first.key),
                note: format!("`{other}` is here"),
            }],
        });
    }
}
