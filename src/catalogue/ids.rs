//! Products by their ids.

use std::borrow::Cow;
use std::hash::BuildHasher as _;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

use super::Ordinal;

/// What an item's JSON begins with; the id follows, and a quotation mark.
const OPENING: &[u8] = br#"{"id":""#;

/// Id → ordinal. The ids themselves are where the items begin, so that an entry takes five bytes, and finding one a look at
/// the table and one at the item that is answered next.
#[derive(Debug)]
pub(super) struct Ids(HashTable<Ordinal>);

impl Ids {
    /// The ids of so many items. `None` where a text is no item.
    pub(super) fn new<'t>(count: usize, item: impl Fn(Ordinal) -> &'t [u8]) -> Option<Self> {
        let hash = |ordinal: &Ordinal| FxBuildHasher.hash_one(written(item(*ordinal)).unwrap_or_default());
        let mut ids = HashTable::with_capacity(count);
        for ordinal in (0..).take(count) {
            written(item(ordinal))?;
            ids.insert_unique(hash(&ordinal), ordinal, hash);
        }
        Some(Self(ids))
    }

    /// The product with this id.
    pub(super) fn find<'t>(&self, id: &str, item: impl Fn(Ordinal) -> &'t [u8]) -> Option<Ordinal> {
        let escaped = escaped(id);
        // What is escaped has no quotation mark, so one behind it ends the id.
        let is_it = |ordinal: &Ordinal| {
            let text = item(*ordinal).strip_prefix(OPENING).and_then(|text| text.strip_prefix(escaped.as_bytes()));
            text.and_then(|rest| rest.first()) == Some(&b'"')
        };
        self.0.find(FxBuildHasher.hash_one(escaped.as_bytes()), is_it).copied()
    }
}

/// An item's id.
pub(super) fn of(item: &[u8]) -> Option<String> {
    let end = OPENING.len() + written(item)?.len() + 1;
    serde_json::from_slice(&item[OPENING.len() - 1..end]).ok()
}

/// An item's id as its JSON has it, between the quotation marks.
fn written(item: &[u8]) -> Option<&[u8]> {
    let text = item.strip_prefix(OPENING)?;
    let mut end = 0;
    loop {
        match text.get(end)? {
            b'"' => return Some(&text[..end]),
            // Whatever follows belongs to it.
            b'\\' => end += 2,
            _ => end += 1,
        }
    }
}

/// An id as JSON has it. Few have anything to escape.
fn escaped(id: &str) -> Cow<'_, str> {
    if !id.bytes().any(|byte| byte < b' ' || matches!(byte, b'"' | b'\\')) {
        return Cow::Borrowed(id);
    }
    let mut json = serde_json::Value::from(id).to_string();
    json.pop();
    Cow::Owned(json.split_off(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_id_is_found_and_nothing_else() {
        let ids = ["a", "a b", "", "\"", "\\", "a\\\"", "\u{1}\n\u{1f}", "/", "ü😀", "\u{7f}\u{2028}", "a\"", "\\\\"];
        let items: Vec<_> = ids.iter().map(|id| serde_json::json!({"id": id}).to_string() + ",\"name\":\"a").collect();
        let item = |ordinal: Ordinal| items[ordinal as usize].as_bytes();
        let found = Ids::new(ids.len(), item).expect("they are items");
        for (ordinal, id) in (0..).zip(ids) {
            assert_eq!(found.find(id, item), Some(ordinal), "{id:?}");
            assert_eq!(of(item(ordinal)).as_deref(), Some(id));
        }
        for other in ["b", "a ", "\\u0001", "\\\"", "a\\", "\",\"name\":\"a"] {
            assert_eq!(found.find(other, item), None, "{other:?}");
        }
    }

    #[test]
    fn what_is_no_item_is_refused() {
        for text in ["", "{}", r#"{"name":"a"}"#, r#"{"id":"a"#, r#"{"id":"a\"#] {
            assert!(Ids::new(1, |_| text.as_bytes()).is_none(), "{text}");
        }
    }
}
