//! Single members of a product, read out of its JSON without parsing the rest.

use std::cell::OnceCell;
use std::sync::LazyLock;

use memchr::memmem::Finder;
use serde::Deserialize;

use super::object::OpenObject;
use super::packing::Unpacker;

/// A member of a product's JSON object, one of those with texts of the record.
#[derive(Debug, Clone, Copy)]
#[expect(missing_docs, reason = "each is what the record has under this name")]
pub enum Member {
    Name,
    Tagline,
    Categories,
    Vendor,
    Description,
    Aliases,
    Tags,
    Features,
    Standards,
}

impl Member {
    /// Whether lists show it too.
    const fn is_of_item(self) -> bool {
        matches!(self, Self::Name | Self::Tagline | Self::Categories | Self::Vendor)
    }
}

/// What stands before each member's value, in the order of [`Member`]. Quotation marks inside of texts are escaped, so nothing
/// in a text looks like one of these.
static OPENINGS: LazyLock<[Finder<'static>; 9]> = LazyLock::new(|| {
    [
        r#","name":"#,
        r#","tagline":"#,
        r#","categories":"#,
        r#","vendor":"#,
        r#","description":"#,
        r#","aliases":"#,
        r#","tags":"#,
        r#","features":"#,
        r#","standards":"#,
    ]
    .map(Finder::new)
});

/// A product's members.
#[derive(Debug)]
pub struct Members<'c> {
    pub(super) item: OpenObject<'c>,
    /// What the product shows beyond its item, packed.
    pub(super) packed: &'c [u8],
    pub(super) unpacker: &'c Unpacker,
    /// The same unpacked, once it was asked for.
    pub(super) more: OnceCell<Vec<u8>>,
}

impl Members<'_> {
    /// Reads one; `None` where it isn't what is expected.
    pub fn get<'m, T: Deserialize<'m>>(&'m self, member: Member) -> Option<T> {
        let opening = &OPENINGS[member as usize];
        let behind = |json: &'m [u8]| opening.find(json).map(|at| &json[at + opening.needle().len()..]);
        let value = if member.is_of_item() {
            self.item.pieces().into_iter().find_map(behind)
        } else {
            // Members of members have some of these names too, but they come behind.
            behind(self.more.get_or_init(|| self.unpacker.unpack(self.packed)))
        };
        // Whatever comes behind the value is left.
        T::deserialize(&mut serde_json::Deserializer::from_slice(value?)).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::Packer;

    #[test]
    fn members_are_found_whatever_texts_and_other_members_are_called() {
        let item = [
            br#"{"id":"a","name":"says \",\"tagline\":\"no\"","tagline":null"#.as_slice(),
            br#","category":"x","categories":[{"id":"x","name":"X"}]"#,
            br#","website":"https://a.example/""#,
            br#","vendor":"Maker""#,
        ];
        let more = br#","description":"tags","aliases":[],"tags":["one","two"],"additional_properties":{"a":1,"tags":["three"]}"#;
        let packer = Packer::new(&[]);
        let (text, unpacker) = (packer.pack(more), Unpacker::new(&packer.pieces()).expect("sound"));
        let members = Members { item: OpenObject::of(item), packed: &text, unpacker: &unpacker, more: OnceCell::new() };
        assert_eq!(members.get::<String>(Member::Name).as_deref(), Some(r#"says ","tagline":"no""#));
        assert_eq!(members.get::<Option<String>>(Member::Tagline), Some(None));
        assert_eq!(members.get::<Vec<serde_json::Value>>(Member::Categories).map(|list| list.len()), Some(1));
        assert_eq!(members.get::<&str>(Member::Vendor), Some("Maker"));
        assert_eq!(members.get::<&str>(Member::Description), Some("tags"));
        assert_eq!(members.get::<Vec<&str>>(Member::Tags), Some(vec!["one", "two"]));
        assert_eq!(members.get::<Vec<&str>>(Member::Standards), None, "it isn't there");
        assert_eq!(members.get::<u64>(Member::Vendor), None, "it isn't one");
    }
}
