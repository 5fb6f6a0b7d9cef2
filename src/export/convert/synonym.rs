//! Reads synonyms.

use super::{Entry, Reader};
use crate::export::SectionKind;
use crate::export::near_miss::NearMiss;
use crate::export::pointer::Path;
use crate::export::text::{Kind, Value};
use crate::record::{Property, SYNONYMS, SynonymGroup};

impl Reader {
    pub(super) fn synonyms(&mut self, root: Value<'_>) -> Vec<Entry<SynonymGroup>> {
        let mut known = NearMiss::new(&SYNONYMS);
        let parent = Path::Root.member(SectionKind::Synonyms.key());
        let mut groups = Vec::new();
        for (index, entry) in self.optional_section(root, SectionKind::Synonyms) {
            let path = parent.element(index);
            self.near_misses(&mut known, entry, path);
            for Property { name: key, .. } in &SYNONYMS {
                let Some(terms) = entry.get(key) else { continue };
                for term in std::iter::once(terms).chain(terms.elements()) {
                    self.words(term, path.member(key), &term.as_str().unwrap_or_default());
                }
            }
            match group(entry) {
                Ok(value) => groups.push(Entry { index, key: entry.head(), value }),
                Err(why) => self.left_out(entry, path, why),
            }
        }
        groups
    }
}

fn group(entry: Value<'_>) -> Result<SynonymGroup, &'static str> {
    if entry.kind() != Kind::Object {
        return Err("a synonym group must be an object");
    }
    let several = |key| entry.get(key).map(terms);
    match (several("terms"), several("from"), entry.get("to"), several("ambiguous")) {
        (Some(terms), None, None, None) => match terms {
            Some(terms) if terms.len() > 1 => Ok(SynonymGroup::Equivalent(terms)),
            _ => Err("`terms` must be an array of two or more non-empty strings"),
        },
        (None, Some(from), Some(to), None) => {
            let to = to.as_str().filter(|to| !to.trim().is_empty());
            match (from, to) {
                (Some(from), Some(to)) if !from.is_empty() => Ok(SynonymGroup::OneWay { from, to: to.into() }),
                _ => Err("`from` must be an array of non-empty strings, and `to` a non-empty string"),
            }
        }
        (None, None, None, Some(terms)) => match terms {
            Some(terms) if !terms.is_empty() => Ok(SynonymGroup::Ambiguous(terms)),
            _ => Err("`ambiguous` must be an array of non-empty strings"),
        },
        _ => Err("a group needs either `terms`, or `from` and `to`, or `ambiguous`"),
    }
}

/// The strings in an array; `None` if it contains a blank string or anything else.
fn terms(list: Value<'_>) -> Option<Vec<Box<str>>> {
    let text = |element: Value<'_>| element.as_str().filter(|text| !text.trim().is_empty()).map(Into::into);
    (list.kind() == Kind::Array).then(|| list.elements().map(text).collect()).flatten()
}
