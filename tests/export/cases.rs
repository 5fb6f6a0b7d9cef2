//! Each file or folder in `cases/*/` is a case: one export, or a set of them. Its findings and what's
//! read from it are compared with the snapshot next to it. To add a case, add its files and run the
//! test with `INSTA_UPDATE=always`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{Debug, Write as _};
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use jiff::Span;
use jiff::civil::date;
use software_directory::export::render::{self, Style};
use software_directory::export::{self, Code, Export, Finding, Limits, MaxAge, Report, SourceFile};
use software_directory::record::CalendarDate;

type File = Result<SourceFile, Box<Finding>>;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/export/cases")
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths
}

/// The files of a case, named by their paths below this folder.
fn files(path: &Path, below: &Path) -> Vec<File> {
    if path.is_dir() {
        return entries(path).iter().flat_map(|path| files(path, below)).collect();
    }
    let name = path.strip_prefix(below).expect("a file of the case");
    vec![SourceFile::from_bytes(name, fs::read(path).expect("a file").into())]
}

/// Reads exports as of 1 June 2025. If ages count, evidence from before 2 March is stale.
pub(crate) fn examine(files: Vec<File>, ages_count: bool) -> Report {
    let today = CalendarDate::parse("2025-06-01").expect("a date");
    let max_age = ages_count.then(|| MaxAge::new(date(2025, 6, 1), Span::new().days(91))).flatten();
    export::examine(files, &Limits { max_age, ..Limits::default() }, today, &|_| {}).expect("in memory")
}

/// Reads a case, given its path in `cases/`. Ages count in `cases/stale/`.
pub(crate) fn read(case: impl AsRef<Path>) -> Report {
    let path = folder().join(case);
    let topic = path.parent().expect("a topic");
    examine(files(&path, if path.is_dir() { &path } else { topic }), topic.ends_with("stale"))
}

#[test]
fn each_case_agrees_with_its_snapshot() {
    let mut failed = Vec::new();
    for topic in entries(&folder()) {
        let (mut cases, mut snapshots) = (BTreeMap::new(), BTreeSet::new());
        for path in entries(&topic) {
            let name = path.file_stem().expect("a name").to_str().expect("text").to_owned();
            match path.extension().and_then(|extension| extension.to_str()) {
                Some("snap") => assert!(snapshots.insert(name)),
                Some("new") => {}
                _ => assert!(cases.insert(name, path).is_none(), "two cases share a snapshot"),
            }
        }
        let mut settings = insta::Settings::clone_current();
        settings.set_snapshot_path(&topic);
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        for (name, case) in cases {
            snapshots.remove(&name);
            let shown = shown(&read(&case));
            let compare = || settings.bind(|| insta::assert_snapshot!(&*name, shown));
            if catch_unwind(AssertUnwindSafe(compare)).is_err() {
                failed.push(case);
            }
        }
        failed.extend(snapshots.into_iter().map(|name| topic.join(name).with_extension("snap")));
    }
    assert!(failed.is_empty(), "cases that differ from their snapshots, or snapshots without a case: {failed:#?}");
}

/// The report as text, and what would be served.
fn shown(report: &Report) -> String {
    let mut out = Vec::new();
    render::text(report, Style::Plain, &mut out).expect("writing to a buffer can't fail");
    let mut text = String::from_utf8(out).expect("text");
    // These are printed only as a list.
    for finding in report.findings.iter().filter(|finding| finding.code == Code::StaleEvidence) {
        let location = &finding.location;
        writeln!(text, "\n{}: {}: {}", location.file.display(), location.pointer, finding.message).expect("a string");
    }
    if !report.skipped.is_none() {
        writeln!(text, "Left out: {}", report.skipped).expect("a string");
    }
    for export in &report.exports {
        write_export(&mut text, export, report).expect("a string");
    }
    text
}

fn write_export(text: &mut String, export: &Export, report: &Report) -> std::fmt::Result {
    let Export { id, id_prefix, language, document, .. } = export;
    write!(text, "\nRead from `{id}`")?;
    if !id_prefix.is_empty() {
        write!(text, " with the prefix `{id_prefix}`")?;
    }
    if let Some(language) = language {
        write!(text, " in the language `{}`", language.as_str())?;
    }
    text.push_str(":\n");
    for (software, span) in export.software.iter().zip(&export.software_spans) {
        let element: serde_json::Value = serde_json::from_slice(&document[span.clone()]).expect("a record");
        assert_eq!(*software.id, format!("{id_prefix}{}", element["id"].as_str().expect("an id")));
        write_value(text, software)?;
        if let Some(day) = software.oldest_evidence() {
            writeln!(text, "  (oldest evidence: {day})")?;
        }
    }
    assert_eq!(export.software.len(), export.software_spans.len());
    export.categories.iter().try_for_each(|category| write_value(text, category))?;
    export.reviews.iter().try_for_each(|review| write_value(text, review))?;
    export.glossary.iter().try_for_each(|term| write_value(text, term))?;
    export.synonyms.iter().try_for_each(|group| write_value(text, group))?;
    export.pins.iter().try_for_each(|pin| write_value(text, pin))?;
    export.attributes.iter().try_for_each(|attribute| write_value(text, attribute))?;
    let file = report.files.iter().find(|file| file.id() == &**id).expect("the export's file");
    if document != file.bytes() {
        writeln!(text, "Its document:\n{}", std::str::from_utf8(document).expect("text"))?;
    }
    Ok(())
}

/// Writes a value in one line, without empty fields and the ends of long texts.
fn write_value(text: &mut String, value: &impl Debug) -> std::fmt::Result {
    let value = format!("{value:#?}");
    let fields = value.lines().map(str::trim).filter(|line| !line.ends_with(": None,") && !line.ends_with(": [],"));
    let shorten = |line: &str| {
        line.char_indices().nth(100).map_or_else(|| line.to_owned(), |(end, _)| format!("{}…", &line[..end]))
    };
    let mut line = fields.map(shorten).collect::<Vec<_>>().join(" ");
    let replacements = [
        ("( ", "("),
        (", )", ")"),
        ("translations: Translations(None), ", ""),
        ("[ ", "["),
        (", ]", "]"),
        (", }", " }"),
    ];
    for (wide, narrow) in replacements {
        line = line.replace(wide, narrow);
    }
    writeln!(text, "  {line}")
}
