//! Export files with a few random edits.

use proptest::prelude::*;
use software_directory::export::{self, Limits, SourceFile};
use software_directory::record::CalendarDate;

use crate::common::cases::cases;
use crate::hostile::invariant::export::{EXPORT, check};

/// A random edit.
#[derive(Debug, Clone)]
enum Edit {
    Flip(u8),
    Delete(usize),
    Insert(Vec<u8>),
    Repeat(usize),
    Truncate,
}

const TOKENS: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "\\",
    "\\u0000",
    "\\ud800",
    "null",
    "true",
    "1e999",
    "-0",
    "0.1",
    "\"id\":",
    "\"software\":",
    "\"\"",
    "\u{feff}",
    "\u{2028}",
    "é",
    "//",
    "/*",
    "NaN",
    "\n",
    "\r",
    "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
];

fn edit() -> impl Strategy<Value = Edit> {
    prop_oneof![
        4 => (0..8_u32).prop_map(|bit| Edit::Flip(1 << bit)),
        2 => (1..40_usize).prop_map(Edit::Delete),
        4 => prop::sample::select(TOKENS).prop_map(|token| Edit::Insert(token.as_bytes().to_vec())),
        1 => prop::collection::vec(any::<u8>(), 1..6).prop_map(Edit::Insert),
        2 => (1..200_usize).prop_map(Edit::Repeat),
        1 => Just(Edit::Truncate),
    ]
}

fn apply(bytes: &mut Vec<u8>, at: prop::sample::Index, edit: &Edit) {
    if bytes.is_empty() {
        return;
    }
    let at = at.index(bytes.len());
    let end = |length: usize| (at + length).min(bytes.len());
    match edit {
        Edit::Flip(bit) => bytes[at] ^= bit,
        Edit::Delete(length) => drop(bytes.drain(at..end(*length))),
        Edit::Insert(inserted) => drop(bytes.splice(at..at, inserted.iter().copied())),
        Edit::Repeat(length) => {
            let again = bytes[at..end(*length)].to_vec();
            bytes.splice(at..at, again);
        }
        Edit::Truncate => bytes.truncate(at),
    }
}

#[test]
fn the_unedited_export_is_valid_and_has_one_of_everything() {
    let file = SourceFile::from_bytes("export.json".as_ref(), EXPORT.into());
    let today = CalendarDate::parse("2026-06-01").expect("a date");
    let report = export::examine(vec![file], &Limits::default(), today, &|_| {}).expect("in memory");
    assert!(report.is_valid(), "{:?}", report.findings);
    let [export] = &report.exports[..] else { panic!("one export") };
    for count in [export.categories.len(), export.reviews.len(), export.glossary.len(), export.synonyms.len()] {
        assert!(count > 0);
    }
    check(EXPORT.as_bytes());
    // Too large for any built-in number type.
    check(EXPORT.replace("12345678901234567890.10", "1e999").as_bytes());
}

proptest! {
    #![proptest_config(cases(3_000))]

    #[test]
    fn an_edited_export_is_reported_or_served(edits in prop::collection::vec((any::<prop::sample::Index>(), edit()), 1..4)) {
        let mut bytes = EXPORT.as_bytes().to_vec();
        for (at, edit) in &edits {
            apply(&mut bytes, *at, edit);
        }
        check(&bytes);
    }
}
