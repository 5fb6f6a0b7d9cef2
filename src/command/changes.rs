//! Opens a valid export file for editing, and prints the changes to it the way `diff` does.

use std::path::Path;

use super::Failure;
use crate::curate::diff::{Set, compare, render};
use crate::error::chain;
use crate::export::{self, Export, IdPrefixes, Limits};

/// How many added, removed and changed records are shown per section.
const SHOWN_CHANGES: usize = 20;

pub(super) fn open(path: &Path, max_file_bytes: u64) -> Result<Export, Failure> {
    let limits = Limits { max_file_bytes, ..Limits::default() };
    let today = export::latest_day(jiff::Timestamp::now());
    let report = export::read(&[path.to_owned()], &limits, &IdPrefixes::default(), today, &|_, _| {})
        .map_err(|error| Failure::other(&error))?;
    let is_valid = report.is_valid();
    report.exports.into_iter().next().filter(|_| is_valid).ok_or_else(|| {
        let name = path.display();
        Failure::usage(format!(
            "{name} isn't a valid export, so it can't be changed; see software-directory check {name}"
        ))
    })
}

pub(super) fn print(export: &Export, json: &str) -> Result<(), Failure> {
    let set = |document: bytes::Bytes| {
        Set::read([Ok((&*export.id, "", document))]).map_err(|error| Failure::usage(chain(&error)))
    };
    let (old, new) = (set(export.document.clone())?, set(json.to_owned().into())?);
    let options = render::Options { old: "the export", new: "its update", limit: SHOWN_CHANGES };
    // Failing to write to standard error is no reason to stop.
    let _ = render::text(&compare(&old, &new), &options, &mut anstream::stderr().lock());
    Ok(())
}
