//! Reads pins.

use super::{Entry, PinnedProducts, Reader};
use crate::export::SectionKind;
use crate::export::budget::PIN_QUERIES;
use crate::export::near_miss::NearMiss;
use crate::export::pointer::Path;
use crate::export::text::{Kind, Value};
use crate::record::{MAX_PINNED, PIN, Pin};

impl Reader {
    pub(super) fn pins(&mut self, root: Value<'_>) -> Vec<Entry<PinnedProducts>> {
        let mut known = NearMiss::new(&PIN);
        let parent = Path::Root.member(SectionKind::Pins.key());
        let mut pins = Vec::new();
        for (index, entry) in self.optional_section(root, SectionKind::Pins) {
            let path = parent.element(index);
            self.near_misses(&mut known, entry, path);
            match pinned(entry) {
                Ok(value) => pins.push(Entry { index, key: entry.head(), value }),
                Err(why) => self.left_out(entry, path, &why),
            }
        }
        pins
    }
}

fn pinned(entry: Value<'_>) -> Result<PinnedProducts, String> {
    if entry.kind() != Kind::Object {
        return Err("a pin must be an object".to_owned());
    }
    let queries = texts(entry, "queries", PIN_QUERIES)?;
    if let Some(query) = queries.iter().find_map(|query| query.as_str().filter(|query| Pin::key(query).is_empty())) {
        return Err(format!("the query `{query}` has no letter or digit"));
    }
    let software = texts(entry, "software", MAX_PINNED)?;
    let boxed = |texts: &[Value<'_>]| texts.iter().filter_map(|text| Some(text.as_str()?.into())).collect();
    let pin = Pin { queries: boxed(&queries), software: boxed(&software) };
    Ok(PinnedProducts { pin, software: software.iter().map(Value::span).collect() })
}

/// Reads an array of one to `most` non-blank strings.
fn texts<'d>(entry: Value<'d>, key: &str, most: usize) -> Result<Vec<Value<'d>>, String> {
    let list = entry.get(key).filter(|list| list.kind() == Kind::Array);
    let texts: Vec<_> = list.iter().flat_map(Value::elements).collect();
    let is_text = |value: &Value<'_>| value.as_str().is_some_and(|text| !text.trim().is_empty());
    if texts.is_empty() || !texts.iter().all(is_text) {
        return Err(format!("`{key}` must be an array of non-empty strings"));
    }
    if texts.len() > most {
        return Err(format!("`{key}` has {} entries; at most {most} are allowed", texts.len()));
    }
    Ok(texts)
}
