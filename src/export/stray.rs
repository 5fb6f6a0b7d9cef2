//! Files in a folder whose names almost look like an export's. They're never read, which may
//! surprise a curator.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::Path;

use super::{Code, Finding, Location, Related};

/// How many files are named; the rest are only counted.
const NAMED: usize = 5;

/// A single finding about all near misses of `*.json` directly in a folder; `None` if there are
/// none or the folder can't be listed.
pub(super) fn finding(folder: &Path) -> Option<Finding> {
    let files = ignored_files(folder);
    let (first, _) = files.first()?;
    let message = match files.len() {
        1 => format!("`{first}` isn't read: an export's file name must end in .json"),
        count => format!("{count} files aren't read (first: `{first}`): an export's file name must end in .json"),
    };
    let location = |file: &Path| Location { file: file.into(), place: None, pointer: String::new(), record: None };
    let help = match &*files {
        [(_, remedy)] => format!("{remedy}, or move it to another folder"),
        _ => "fix each one as noted, or move them to another folder".to_owned(),
    };
    let named = files.iter().take(if files.len() == 1 { 0 } else { NAMED });
    let related = named.map(|(name, remedy)| Related { location: location(&folder.join(name)), note: remedy.clone() });
    let related = related.collect();
    Some(Finding { code: Code::IgnoredFile, location: location(folder), message, help, related })
}

/// The fix for a folder that contains only near misses.
pub(super) fn remedy(folder: &Path) -> Option<String> {
    let (name, remedy) = ignored_files(folder).into_iter().next()?;
    Some(format!("`{name}` isn't read, because an export's file name must end in .json: {remedy}"))
}

/// A folder's near misses by name, each with its fix.
fn ignored_files(folder: &Path) -> Vec<(String, String)> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let names: BTreeSet<OsString> = entries.map(|entry| entry.file_name()).collect();
    let near_miss = |name: &OsString| {
        let name = name.to_str()?;
        let help = near_miss(name, &|other| names.contains(OsString::from(other).as_os_str()))?;
        folder.join(name).is_file().then(|| (name.to_owned(), help))
    };
    names.iter().filter_map(near_miss).collect()
}

/// The fix for a file whose name almost looks like an export's; `None` for other names. Hidden
/// files and leftovers from editors and downloads (`a.json~`, `a.json.swp`, `a.json.tmp`) aren't
/// near misses, nor is the source of an existing export: `a.csv` next to `a.json`.
fn near_miss(name: &str, has_file: &dyn Fn(&str) -> bool) -> Option<String> {
    let (stem, extension) =
        name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty() && !stem.starts_with(['.', '#']))?;
    let is_source = |stem: &str| has_file(&format!("{stem}.json"));
    let inner = stem.len().checked_sub(5).and_then(|at| stem.split_at_checked(at));
    let inner = inner.filter(|(_, end)| end.eq_ignore_ascii_case(".json")).map(|(stem, _)| stem);
    match (&*extension.to_ascii_lowercase(), inner) {
        ("json", _) if extension == "json" => None,
        (other, _) if matches!(other.trim(), "json" | "jsn") => Some(format!("rename it to `{stem}.json`")),
        ("txt", Some(inner)) => Some(format!("rename it to `{inner}.json`")),
        ("gz" | "xz" | "bz2" | "zst" | "zip", Some(inner)) if !is_source(inner) => {
            Some(format!("unpack it to `{inner}.json`"))
        }
        ("json5" | "jsonc" | "jsonld", _) if !is_source(stem) => {
            Some(format!("write it as plain JSON to `{stem}.json`"))
        }
        ("csv" | "tsv" | "xlsx" | "ods" | "jsonl" | "ndjson", _) if !is_source(stem) => {
            Some(format!("turn it into an export: `software-directory import {name}`"))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::near_miss;

    fn of(name: &str) -> Option<String> {
        near_miss(name, &|other| other == "there.json")
    }

    #[test]
    fn near_misses_of_an_export_come_with_a_fix() {
        for (name, help) in [
            ("mine.JSON", "rename it to `mine.json`"),
            ("mine.Json", "rename it to `mine.json`"),
            ("mine.json ", "rename it to `mine.json`"),
            ("mine.jsn", "rename it to `mine.json`"),
            ("mine.json.txt", "rename it to `mine.json`"),
            ("Mine.JSON.TXT", "rename it to `Mine.json`"),
            ("mine.json.gz", "unpack it to `mine.json`"),
            ("mine.jsonc", "write it as plain JSON to `mine.json`"),
            ("mine.csv", "turn it into an export: `software-directory import mine.csv`"),
            ("mine.XLSX", "turn it into an export: `software-directory import mine.XLSX`"),
            ("mine.jsonl", "turn it into an export: `software-directory import mine.jsonl`"),
            ("there.JSON", "rename it to `there.json`"),
        ] {
            assert_eq!(of(name).as_deref(), Some(help), "{name}");
        }
    }

    #[test]
    fn other_files_are_not_near_misses() {
        for name in [
            "mine.json",
            ".mine.JSON",
            "#mine.JSON",
            "mine.json~",
            "mine.json.swp",
            "mine.json.tmp",
            "mine.json.part",
            "mine.json.bak",
            "README.md",
            "notes.txt",
            "json",
            ".json",
            "mine.yaml",
            "mine.gz",
            "there.csv",
            "there.json.gz",
            "there.jsonc",
            "schema.json5.md",
            "ä.js",
        ] {
            assert_eq!(of(name), None, "{name}");
        }
    }
}
