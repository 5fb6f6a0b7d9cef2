//! Renders a difference as one JSON document.

use std::io::{self, Write};

use serde::Serialize;

use super::Options;
use crate::curate::diff::Difference;

#[derive(Serialize)]
struct Document<'d> {
    old: &'d str,
    new: &'d str,
    #[serde(flatten)]
    difference: &'d Difference,
}

/// Writes the sets' names as `old` and `new`, and all members of [`Difference`].
pub fn json(difference: &Difference, options: &Options<'_>, out: &mut dyn Write) -> io::Result<()> {
    let Options { old, new, .. } = *options;
    serde_json::to_writer_pretty(&mut *out, &Document { old, new, difference })?;
    writeln!(out)
}
