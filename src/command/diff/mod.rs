//! `diff`: what changed between two sets of exports.

mod git;
pub(super) mod side;

use std::io::{self, Write};
use std::process::ExitCode;

use super::{Failure, INVALID, data, print_error};
use crate::cli::{DiffArgs, DiffFormat};
use crate::curate::diff::{Difference, compare, render};
use crate::text::printable::printable;

/// The exit code if two sets differ.
const DIFFERENT: u8 = 1;

/// Prints the difference to standard output. Exit codes: 0 no difference, 1 a difference, 2 usage
/// error, invalid exports, or a set that can't be read.
pub(super) fn run(args: &DiffArgs) -> ExitCode {
    match diff(args) {
        Ok(difference) if difference.is_empty() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::from(DIFFERENT),
        Err(failure) => {
            print_error(&printable(&failure.text));
            ExitCode::from(INVALID)
        }
    }
}

fn diff(args: &DiffArgs) -> Result<Difference, Failure> {
    let (old, new) = (side::read(&args.old, &args.sides)?, side::read(&args.new, &args.sides)?);
    for (export, _) in data::prefixes(&args.sides.id_prefix).iter() {
        if !old.has_export(export) && !new.has_export(export) {
            data::warn_of_unused_prefix(export);
        }
    }
    let difference = compare(&old, &new);
    let (old, new) = (args.old.to_string_lossy(), args.new.to_string_lossy());
    let options = render::Options { old: &old, new: &new, limit: args.limit };
    match print(&difference, &options, args.format) {
        // The reader has closed the pipe (`diff … | head`), which doesn't change the exit code.
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::usage(format!("can't write the comparison: {error}")))
        }
        _ => Ok(difference),
    }
}

fn print(difference: &Difference, options: &render::Options<'_>, format: DiffFormat) -> io::Result<()> {
    let mut out = io::BufWriter::new(anstream::stdout().lock());
    match format {
        DiffFormat::Text => render::text(difference, options, &mut out)?,
        DiffFormat::Markdown => render::markdown(difference, options, &mut out)?,
        DiffFormat::Html => {
            let page = render::page(difference, options).map_err(io::Error::other)?;
            out.write_all(page.as_bytes())?;
        }
        DiffFormat::Json => render::json(difference, options, &mut out)?,
    }
    out.flush()
}
