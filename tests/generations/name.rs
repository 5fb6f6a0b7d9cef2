//! Generation names.

use std::path::Path;

use software_directory::export::{self, ExportSet, Limits, SourceFile};
use software_directory::generation::Generation;
use software_directory::record::CalendarDate;
use software_directory::scratch::Scratch;

use crate::common::place::export;

fn name(files: &[(&str, &str)]) -> String {
    let sources =
        files.iter().map(|(name, text)| SourceFile::from_bytes(Path::new(name), (*text).to_owned().into())).collect();
    let today = CalendarDate::parse("2026-01-01").expect("a date");
    let report = export::examine(sources, &Limits::default(), today, &|_| {}).expect("in memory");
    assert!(report.is_valid(), "{:?}", report.findings);
    let set = ExportSet::of(report.exports, &Scratch::in_memory()).expect("in memory");
    Generation::of(&set).expect("in memory").to_string()
}

#[test]
fn a_generations_name_depends_only_on_ids_and_contents() {
    let (a, b) = (export(&["a"]), export(&["b"]));
    let both = name(&[("a.json", &a), ("b.json", &b)]);
    assert_eq!(name(&[("b.json", &b), ("a.json", &a)]), both, "in any order");
    assert_eq!(name(&[("elsewhere/a.json", &a), ("b.json", &b)]), both, "in any folder");
    assert_ne!(name(&[("b.json", &a), ("a.json", &b)]), both, "the id counts");
    assert_ne!(name(&[("a.json", &a)]), both);
    assert_ne!(name(&[("a.json", &format!("{a} ")), ("b.json", &b)]), both, "every byte counts");
    assert!(both.len() == 16 && both.bytes().all(|byte| byte.is_ascii_hexdigit()), "{both}");
}
