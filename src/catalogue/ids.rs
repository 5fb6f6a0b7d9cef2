//! Products by their ids.

use std::borrow::Cow;
use std::hash::BuildHasher as _;

use rustc_hash::FxBuildHasher;

use super::documents::Place;

/// What an item's JSON begins with; the id follows, and a quotation mark.
const OPENING: &[u8] = br#"{"id":""#;

/// How many of a slot's bits are a place, which so is less than a tebibyte away.
const PLACE_BITS: u32 = 40;
const PLACE: u64 = (1 << PLACE_BITS) - 1;

/// The slot of no id. No place is as far away.
const EMPTY: u64 = u64::MAX;

/// Id → place of the product's texts. The ids themselves are in those texts, which are read next, so that finding one is a
/// wait for the table's memory and one for theirs. Any map of the usual kind has one more for its own account of which slots
/// are taken. Here that is a slot itself: the upper bits of the id's hash, and the place. Where the slot of an id's hash is
/// taken, it has the next one that was free (linear probing).
#[derive(Debug)]
pub(super) struct Ids {
    /// As many as a power of two, half of them empty at least.
    slots: Box<[u64]>,
}

impl Ids {
    /// The ids of the items at these places. `None` where one has none, a text is no item, or a place too far away.
    pub(super) fn new<'t>(items: impl ExactSizeIterator<Item = (Place, Option<&'t [u8]>)>) -> Option<Self> {
        let mut ids = Self { slots: vec![EMPTY; (items.len() * 2).next_power_of_two()].into() };
        for (place, item) in items {
            if place.start() >= PLACE {
                return None;
            }
            let hash = hash(written(item?)?);
            let free = ids.probe(hash).find(|slot| ids.slots[*slot] == EMPTY)?;
            ids.slots[free] = hash & !PLACE | place.start();
        }
        Some(ids)
    }

    /// The place of the product with this id.
    pub(super) fn find<'t>(&self, id: &str, item: impl Fn(Place) -> Option<&'t [u8]>) -> Option<Place> {
        let escaped = escaped(id);
        let hash = hash(escaped.as_bytes());
        // What is escaped has no quotation mark, so one behind it ends the id.
        let is_it = |place: &Place| {
            let text = item(*place).and_then(|text| text.strip_prefix(OPENING)?.strip_prefix(escaped.as_bytes()));
            text.and_then(|rest| rest.first()) == Some(&b'"')
        };
        let taken = self.probe(hash).map(|slot| self.slots[slot]).take_while(|slot| *slot != EMPTY);
        taken.filter(|slot| (slot ^ hash) & !PLACE == 0).map(|slot| Place::at(slot & PLACE)).find(is_it)
    }

    /// The slots where an id of this hash can be, the likeliest first.
    fn probe(&self, hash: u64) -> impl Iterator<Item = usize> + use<> {
        let mask = self.slots.len() - 1;
        // The lower bits: the upper ones are in the slots.
        let first = usize::try_from(hash & PLACE).unwrap_or_default();
        (0..=mask).map(move |further| (first + further) & mask)
    }
}

fn hash(written: &[u8]) -> u64 {
    FxBuildHasher.hash_one(written)
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

    fn place(at: usize) -> Place {
        Place::at(at as u64)
    }

    #[test]
    fn every_id_is_found_and_nothing_else() {
        let ids = ["a", "a b", "", "\"", "\\", "a\\\"", "\u{1}\n\u{1f}", "/", "ü😀", "\u{7f}\u{2028}", "a\"", "\\\\"];
        let items: Vec<_> = ids.iter().map(|id| serde_json::json!({"id": id}).to_string() + ",\"name\":\"a").collect();
        let item = |place: Place| items.get(usize::try_from(place.start()).ok()?).map(String::as_bytes);
        let found = Ids::new((0..items.len()).map(place).map(|place| (place, item(place)))).expect("they are items");
        for (at, id) in ids.iter().enumerate() {
            assert_eq!(found.find(id, item), Some(place(at)), "{id:?}");
            assert_eq!(item(place(at)).and_then(of).as_deref(), Some(*id));
        }
        for other in ["b", "a ", "\\u0001", "\\\"", "a\\", "\",\"name\":\"a"] {
            assert_eq!(found.find(other, item), None, "{other:?}");
        }
    }

    #[test]
    fn what_is_no_item_is_refused() {
        for text in ["", "{}", r#"{"name":"a"}"#, r#"{"id":"a"#, r#"{"id":"a\"#] {
            assert!(Ids::new([(place(0), Some(text.as_bytes()))].into_iter()).is_none(), "{text}");
        }
        assert!(Ids::new([(place(0), None)].into_iter()).is_none());
        let item = |_: Place| Some(br#"{"id":"a""#.as_slice());
        let ids = |place| Ids::new([(place, item(place))].into_iter());
        assert!(ids(Place::at(PLACE)).is_none(), "as far away as no place is");
        let far = Place::at(PLACE - 1);
        assert_eq!(ids(far).expect("an item").find("a", item), Some(far));
    }

    #[test]
    fn as_many_ids_as_there_is_room_for_are_found() {
        for count in [0_usize, 1, 2, 64, 1_000] {
            let items: Vec<_> = (0..count).map(|at| format!(r#"{{"id":"{at}""#)).collect();
            let item = |place: Place| items.get(usize::try_from(place.start()).ok()?).map(String::as_bytes);
            let ids = Ids::new((0..count).map(place).map(|place| (place, item(place)))).expect("they are items");
            for at in 0..count {
                assert_eq!(ids.find(&at.to_string(), item), Some(place(at)), "of {count}");
            }
            assert_eq!(ids.find(&count.to_string(), item), None);
        }
    }
}
