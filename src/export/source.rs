//! Finds export files and reads their bytes, within limits.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

use bytes::Bytes;

use super::finding::Fault;
use super::text::Locator;
use super::{Code, Finding, IdPrefixes, Location, MaxAge, Signature, SourceSpan, TrustedKeys};
use crate::scratch::{Bulk, Scratch, Span};
use crate::text::count::{agreeing, counted};

/// What is read, and what is accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Maximum size of a file, in bytes. Files of 4 GiB or more are never read.
    pub max_file_bytes: u64,
    /// How deeply arrays and objects may be nested.
    pub max_depth: usize,
    /// The age at which evidence is reported as stale; `None` if its age doesn't matter.
    pub max_age: Option<MaxAge>,
    /// The keys that may sign exports.
    pub trusted_keys: TrustedKeys,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_file_bytes: 256 * 1024 * 1024, max_depth: 64, max_age: None, trusted_keys: TrustedKeys::default() }
    }
}

impl Limits {
    fn file_bytes(&self) -> u64 {
        self.max_file_bytes.min(u64::from(u32::MAX) - 1)
    }
}

const TOO_LARGE_HELP: &str = "split it into several exports, or raise --max-file-bytes";

#[derive(Debug, thiserror::Error)]
pub enum FindError {
    #[error("the folder {} can't be read", .folder.display())]
    Unreadable {
        folder: PathBuf,
        #[source]
        error: io::Error,
    },
    #[error("the export files in {} changed while they were being read: write them under another name, then rename them", .folder.display())]
    Changing { folder: PathBuf },
    #[error("there is no export file in the folder {}: {remedy}", .folder.display())]
    NoFiles { folder: PathBuf, remedy: String },
}

/// The export files in a folder: all `*.json` directly in it, sorted, except those with a leading
/// dot. Unreadable ones are included; [`read`](super::read) reports them.
pub fn find_files(folder: &Path) -> Result<Vec<PathBuf>, FindError> {
    let unreadable = |error| FindError::Unreadable { folder: folder.to_owned(), error };
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        let is_hidden = path.file_name().is_none_or(|name| name.as_encoded_bytes().starts_with(b"."));
        if !is_hidden && path.extension().is_some_and(|extension| extension == "json") {
            files.push(path);
        }
    }
    if files.is_empty() {
        let remedy = remedy(folder).unwrap_or_else(|| "put at least one *.json file there".to_owned());
        return Err(FindError::NoFiles { folder: folder.to_owned(), remedy });
    }
    files.sort_unstable();
    Ok(files)
}

#[derive(Debug)]
pub struct SourceFile {
    path: Arc<Path>,
    id: Box<str>,
    content: Bulk,
    modified: Option<SystemTime>,
    signature: Option<Signature>,
    id_prefix: Option<Box<str>>,
    locator: OnceLock<Locator>,
}

impl SourceFile {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// Returns a finding if the path isn't a file, if the file exceeds the limit or can't be read,
    /// or if it has to be signed and isn't.
    pub fn open(path: &Path, limits: &Limits) -> Result<Self, Box<Finding>> {
        let unreadable = |error: io::Error| {
            let help = "check that it exists and is readable, or remove it from the folder";
            about(path, Code::UnreadableFile, format!("the file can't be read: {error}"), help)
        };
        let limit = limits.file_bytes();
        // Checked before opening: opening a named pipe would wait for its writer.
        let metadata = fs::metadata(path).map_err(unreadable)?;
        if !metadata.is_file() {
            let what = if metadata.is_dir() { "a folder" } else { "not a regular file" };
            let help = "rename it so that it doesn't end in .json, or remove it";
            return Err(about(path, Code::NotAFile, format!("it is named like an export, but is {what}"), help));
        }
        if metadata.len() > limit {
            return Err(too_large(path, metadata.len(), limit));
        }
        let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or_default());
        let mut file = File::open(path).map_err(unreadable)?.take(limit + 1);
        file.read_to_end(&mut bytes).map_err(unreadable)?;
        // The file may have grown since its size was checked.
        if bytes.len() as u64 > limit {
            return Err(too_large(path, bytes.len() as u64, limit));
        }
        let modified = metadata.modified().ok();
        Self { modified, ..Self::from_bytes(path, bytes.into())? }.signed(limits)
    }

    /// Reads standard input as the export `stdin`, in the file `<stdin>`.
    ///
    /// # Errors
    ///
    /// Returns a finding if the input exceeds the limit or can't be read.
    pub fn from_standard_input(input: impl Read, limits: &Limits) -> Result<Self, Box<Finding>> {
        let path = Path::new("<stdin>");
        let limit = limits.file_bytes();
        let mut bytes = Vec::new();
        input.take(limit + 1).read_to_end(&mut bytes).map_err(|error| {
            about(
                path,
                Code::UnreadableFile,
                format!("standard input can't be read: {error}"),
                "specify a file instead",
            )
        })?;
        if bytes.len() as u64 > limit {
            let message = format!(
                "the export on standard input is too large: {} {} allowed",
                counted(limit, "byte"),
                agreeing(limit, "is", "are")
            );
            return Err(about(path, Code::FileTooLarge, message, TOO_LARGE_HELP));
        }
        Self { id: "stdin".into(), ..Self::from_bytes(path, bytes.into())? }.signed(limits)
    }

    /// Wraps a document that is already in memory, under a file's name.
    ///
    /// # Errors
    ///
    /// Returns a finding if the name can't be an id.
    pub fn from_bytes(path: &Path, bytes: Bytes) -> Result<Self, Box<Finding>> {
        let Some(id) = path.file_stem().and_then(|stem| stem.to_str()) else {
            let help = "rename the file: its name without .json is the export's id";
            return Err(about(path, Code::InvalidFileName, "the file's name isn't valid UTF-8", help));
        };
        Ok(Self {
            path: path.into(),
            id: id.into(),
            content: Bulk::Memory(bytes),
            modified: None,
            signature: None,
            id_prefix: None,
            locator: OnceLock::new(),
        })
    }

    fn signed(self, limits: &Limits) -> Result<Self, Box<Finding>> {
        let signature = limits.trusted_keys.check(&self.path, self.bytes());
        let signature = signature.map_err(|(code, message, help)| about(&self.path, code, message, &help))?;
        Ok(Self { signature, ..self })
    }

    pub(super) const fn signature(&self) -> Option<&Signature> {
        self.signature.as_ref()
    }

    /// Applies the operator's prefix for the file's export, if there is one.
    #[must_use]
    pub fn prefixed(mut self, prefixes: &IdPrefixes) -> Self {
        self.id_prefix = prefixes.get(&self.id).cloned();
        self
    }

    /// The operator's prefix for the export's ids, which overrides the one stated in the export.
    pub(super) fn id_prefix(&self) -> Option<&str> {
        self.id_prefix.as_deref()
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(super) const fn shared_path(&self) -> &Arc<Path> {
        &self.path
    }

    /// The export's id: the file name without its extension.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Moves the file's bytes out of memory if there's no room for them.
    pub(super) fn release(self, scratch: &Scratch) -> io::Result<Self> {
        match self.content {
            Bulk::Memory(bytes) => Ok(Self { content: scratch.keep(bytes)?, ..self }),
            Bulk::File(_) => Ok(self),
        }
    }

    /// The file's bytes, whether they're in memory or not.
    pub(super) const fn content(&self) -> &Bulk {
        &self.content
    }

    /// The bytes in a range, up to the end of the file.
    pub(super) fn part(&self, range: Range<usize>) -> Bytes {
        let end = self.content.len().unwrap_or_default();
        let start = end.min(range.start as u64);
        let length = end.min(range.end as u64).saturating_sub(start);
        // If the file can't be read any more, findings are shown without its text.
        self.content.read(Span { start, length }).unwrap_or_default()
    }

    /// The file's bytes; empty if they aren't in memory.
    pub const fn bytes(&self) -> &Bytes {
        static NONE: Bytes = Bytes::new();
        match &self.content {
            Bulk::Memory(bytes) => bytes,
            Bulk::File(_) => &NONE,
        }
    }

    /// When the file was last modified, according to the file system before the file was read.
    pub const fn modified(&self) -> Option<SystemTime> {
        self.modified
    }

    /// A location in the file. Its line is unknown if the file can't be read any more.
    pub(super) fn location(&self, range: Range<usize>, pointer: String) -> Location {
        Location { file: Arc::clone(&self.path), place: self.place(range).ok(), pointer, record: None }
    }

    fn place(&self, range: Range<usize>) -> io::Result<SourceSpan> {
        let locator = if let Some(locator) = self.locator.get() {
            locator
        } else {
            let locator = Locator::new(&self.content.read_all()?);
            self.locator.get_or_init(|| locator)
        };
        let before = Locator::before(range.start);
        let before = Span { start: before.start as u64, length: before.len() as u64 };
        Ok(locator.place(&self.content.read(before)?, range))
    }

    pub(super) fn whole(&self) -> Location {
        Location::whole(Arc::clone(&self.path))
    }

    pub(super) fn finding(&self, fault: Fault) -> Finding {
        let finding = Finding::new(fault.code, self.location(fault.span, fault.pointer), fault.message, fault.help);
        fault
            .related
            .into_iter()
            .fold(finding, |finding, (span, pointer, note)| finding.with_related(self.location(span, pointer), note))
    }
}

fn about(path: &Path, code: Code, message: impl Into<String>, help: &str) -> Box<Finding> {
    Box::new(Finding::new(code, Location::whole(path), message, help))
}

fn too_large(path: &Path, length: u64, limit: u64) -> Box<Finding> {
    let message =
        format!("the file is too large: {}, {limit} {} allowed", counted(length, "byte"), agreeing(limit, "is", "are"));
    about(path, Code::FileTooLarge, message, TOO_LARGE_HELP)
}

/// How many files are named; the rest are only counted.
const NAMED: usize = 5;

/// A single finding about all near misses of `*.json` directly in a folder; `None` if there are
/// none or the folder can't be listed.
pub(super) fn ignored_files_finding(folder: &Path) -> Option<Finding> {
    let files = ignored_files(folder);
    let (first, _) = files.first()?;
    let message = match files.len() {
        1 => format!("`{first}` isn't read: an export's file name must end in .json"),
        count => format!("{count} files aren't read (first: `{first}`): an export's file name must end in .json"),
    };
    let help = match &*files {
        [(_, remedy)] => format!("{remedy}, or move it to another folder"),
        _ => "fix each one as noted, or move them to another folder".to_owned(),
    };
    let named = files.iter().take(if files.len() == 1 { 0 } else { NAMED });
    let finding = Finding::new(Code::IgnoredFile, Location::whole(folder), message, help);
    Some(named.fold(finding, |finding, (name, remedy)| {
        finding.with_related(Location::whole(folder.join(name)), remedy.as_str())
    }))
}

/// The fix for a folder that contains only near misses.
fn remedy(folder: &Path) -> Option<String> {
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
/// near misses, nor is the source of an existing export, or the rows rejected from it: `a.csv` and `a.rejected.csv` next to `a.json`.
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
        ("csv" | "tsv" | "xlsx" | "ods" | "jsonl" | "ndjson", _)
            if !is_source(stem.rsplit_once(".rejected").map_or(stem, |(stem, _)| stem)) =>
        {
            Some(format!("turn it into an export: `software-directory import {name}`"))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
