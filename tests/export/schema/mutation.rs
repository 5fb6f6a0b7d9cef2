//! Edits of a valid export, including strings and numbers that are odd in ways that matter to the
//! schema.

use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::document::{self, Node};

/// A mutation of one member or element in a document.
#[derive(Debug, Clone)]
enum Edit {
    Remove,
    Replace(Node),
    /// Renames a member's key; does nothing to an element.
    Rename(String),
    /// Duplicates an element; does nothing to a member.
    Repeat,
    /// Sets a member that the schema mentions to a value; does nothing to an element.
    Set(String, Node),
    /// Adds a member or element after this one.
    Insert(String, Node),
}

const KEYS: [&str; 16] = [
    "id",
    "name",
    "url",
    "evidence_status",
    "evidence_checked_on",
    "sources",
    "rating",
    "review_count",
    "offering_type",
    "license",
    "as_of",
    "software",
    "tagline",
    "Url",
    "",
    "é",
];

const SCALARS: [&str; 44] = [
    "null",
    "true",
    "false",
    "0",
    "1",
    "-1",
    "5",
    "1.0",
    "1.5",
    "1e2",
    "1E-2",
    "-0",
    "-0.0",
    "0.0",
    "-1e2",
    "100e-2",
    "12345678901234567890123",
    "-12345678901234567890123",
    "4.500000000000000000000000",
    "18446744073709551615",
    "1e300",
    "-1.5e300",
    "\"\"",
    "\" \"",
    "\"x\"",
    "\"\\u0000\"",
    "\"\\ud83d\\ude00\"",
    "\"\\u0069d\"",
    "\"5\"",
    "\"vendor-sources-reviewed\"",
    "\"pending-review\"",
    "\"Pending-review\"",
    "\"vendor-sources-review\\u0065d\"",
    "\"software\"",
    "\"document-templates\"",
    "\"document_templates\"",
    "\"2025-01-01\"",
    "\"2025-1-1\"",
    "\"https://x.example/\"",
    "\"x.example\"",
    "\"/x\"",
    "\"mailto:a@x.example\"",
    "\"https://x.example/é\"",
    "\"https://x.example/a b\"",
];

fn value() -> impl Strategy<Value = Node> {
    let containers = vec![
        "[]",
        "{}",
        "[[]]",
        "[{}]",
        "[\"a\", \"https://x.example/\"]",
        "[[\"a\", \"https://x.example/\"]]",
        "[[\"a\", \"x\"]]",
        "[[\"a\", \"urn:x:y\", \"urn:x:y\"]]",
        "[[\"urn:x:y\"]]",
        "[[1, \"urn:x:y\"]]",
        "[[\"a\", null]]",
        "{\"id\": \"d\", \"name\": \"D\", \"url\": \"urn:d:d\", \"evidence_status\": \"pending-review\"}",
        "[{\"id\": \"e\", \"name\": \"E\", \"url\": \"urn:e:e\", \"evidence_status\": \"pending-review\"}]",
    ];
    prop_oneof![
        6 => select(&SCALARS[..]).prop_map(|text| Node::Raw(text.to_owned())),
        2 => select(containers).prop_map(Node::parse),
        1 => address().prop_map(|text| Node::text(&text)),
        1 => date().prop_map(|text| Node::text(&text)),
        1 => ".{0,3}".prop_map(|text| Node::text(&text)),
    ]
}

fn edit() -> impl Strategy<Value = Edit> {
    let key = || prop_oneof![4 => select(&KEYS[..]).prop_map(str::to_owned), 1 => ".{0,4}"];
    prop_oneof![
        2 => Just(Edit::Remove),
        4 => value().prop_map(Edit::Replace),
        1 => key().prop_map(Edit::Rename),
        1 => Just(Edit::Repeat),
        3 => (key(), value()).prop_map(|(key, value)| Edit::Insert(key, value)),
        8 => (key(), value()).prop_map(|(key, value)| Edit::Set(key, value)),
    ]
}

fn apply(document: &mut Node, container: Index, child: Index, edit: Edit) {
    let count = document.container_count();
    if count == 0 {
        return;
    }
    match document.container(container.index(count)) {
        Node::Raw(_) => {}
        Node::Array(elements) => {
            let at = child.index(elements.len());
            match edit {
                Edit::Remove => _ = elements.remove(at),
                Edit::Replace(value) => elements[at] = value,
                Edit::Rename(_) | Edit::Set(..) => {}
                Edit::Repeat => elements.insert(at, elements[at].clone()),
                Edit::Insert(_, value) => elements.insert(at, value),
            }
        }
        Node::Object(members) => {
            let at = child.index(members.len());
            // Keys stay unique, because duplicates are the text layer's concern.
            let is_free = |key: &str| members.iter().all(|(name, _)| name != key);
            match edit {
                Edit::Remove => _ = members.remove(at),
                Edit::Replace(value) => members[at].1 = value,
                Edit::Set(key, value) => match members.iter_mut().find(|(name, _)| *name == key) {
                    Some(member) => member.1 = value,
                    None => members.push((key, value)),
                },
                Edit::Rename(key) if is_free(&key) => members[at].0 = key,
                Edit::Insert(key, value) if is_free(&key) => members.insert(at, (key, value)),
                Edit::Rename(_) | Edit::Repeat | Edit::Insert(..) => {}
            }
        }
    }
}

/// A valid export with one to three edits, or occasionally something completely different.
pub(crate) fn mutated() -> impl Strategy<Value = Node> {
    let edits = prop::collection::vec((any::<Index>(), any::<Index>(), edit()), 1..4);
    let edited = edits.prop_map(|edits| {
        let mut document = document::valid();
        for (container, child, edit) in edits {
            apply(&mut document, container, child, edit);
        }
        document
    });
    prop_oneof![60 => edited, 1 => value()]
}

/// Strings that are addresses, or nearly.
pub(crate) fn address() -> impl Strategy<Value = String> {
    let schemes = vec!["https:", "HTTP:", "urn:", "a+b.c-1:", "1a:", ":", "", "é:", "x", "mailto:"];
    let authorities = vec![
        "//x.example",
        "//",
        "",
        "//user:pw@x.example:80",
        "//[::1]",
        "//[::1",
        "//[v1.a]",
        "//x.example:a",
        "//x.example:",
        "//a@b@c",
        "//%41",
        "//%4",
        "///",
        "//é.example",
        "//x y",
        "//300.1.1.1",
        "//[fe80::1%25eth0]",
        "//x.example:99999",
    ];
    let rests = vec![
        "",
        "/",
        "/a/b",
        "/a%20b",
        "/a%2",
        "/a%zz",
        "/a b",
        "/é",
        "?q=1",
        "?a[]=1",
        "#f",
        "#f#g",
        "/[x]",
        "/a|b",
        "/{id}",
        "/\\",
        "/^",
        "/`",
        "/<x>",
        "/\"",
        "//a",
        "a:b",
        "/a;b=c,d",
        "?q=é",
        "/\u{0}",
        "\n",
        "/~user/!$&'()*+",
        "#",
    ];
    (select(schemes), select(authorities), select(rests))
        .prop_map(|(scheme, authority, rest)| format!("{scheme}{authority}{rest}"))
}

/// Strings of the form YYYY-MM-DD, or nearly.
pub(crate) fn date() -> impl Strategy<Value = String> {
    let parts = vec!["2025", "-", "01", "0", "25", "-", "31", " ", "\n", "٢", "/", "T", "99"];
    prop_oneof![
        1 => "[0-9]{4}-[0-9]{2}-[0-9]{2}",
        1 => "[0-9]{3,5}-[0-9]{1,2}-[0-9]{2,3}",
        1 => "[0-9]{4}-[0-9]{2}-[0-9]{2}[ \n0-9Z]",
        1 => "[ \n]?[0-9٠-٩]{4}-[0-9]{2}-[0-9]{2}",
        1 => prop::collection::vec(select(parts), 0..7).prop_map(|parts| parts.concat()),
    ]
}
