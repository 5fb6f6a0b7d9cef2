//! `diff`: what changed between two sets of exports.

mod git;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::{Failure, INVALID, check_printed, data};
use crate::cli::{DiffArgs, DiffFormat, SideArgs};
use crate::command::progress::reading;
use crate::curate::diff::{Difference, Set, compare, render};
use crate::error::chain;
use crate::export::{self, Limits, Report, SourceFile};
use crate::generation::open_catalogue;
use crate::generation::store::{Manifest, Store};

/// The exit code if two sets differ.
const DIFFERENT: u8 = 1;

/// Prints the difference to standard output. Exit codes: 0 no difference, 1 a difference, 2 usage
/// error, invalid exports, or a set that can't be read.
pub(super) fn run(args: &DiffArgs) -> Result<ExitCode, Failure> {
    // diff(1) also reports trouble as 2.
    let trouble = |failure: Failure| Failure { code: INVALID, ..failure };
    let old = read_side(&args.old, &args.sides).map_err(trouble)?;
    let new = read_side(&args.new, &args.sides).map_err(trouble)?;
    for export in data::prefixes(&args.sides.id_prefix).keys() {
        if !old.has_export(export) && !new.has_export(export) {
            data::warn_of_unused_prefix(export);
        }
    }
    let difference = compare(&old, &new);
    let (old, new) = (args.old.to_string_lossy(), args.new.to_string_lossy());
    let options = render::Options { old: &old, new: &new, limit: args.limit };
    check_printed(print(&difference, &options, args.format)).map_err(trouble)?;
    Ok(if difference.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(DIFFERENT) })
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

/// The length of a generation's name in hexadecimal digits.
const GENERATION_DIGITS: usize = 16;

/// Reads a side, with a progress bar on a terminal. An existing path is a path, even if it looks
/// like a revision. Prefixes for exports that aren't on this side are meant for the other side.
pub(in crate::command) fn read_side(side: &Path, args: &SideArgs) -> Result<Set, Failure> {
    let limits = Limits { max_file_bytes: args.max_file_bytes, ..Limits::default() };
    if side.is_dir() {
        if let Some((store, manifest)) = open_index(side) {
            return generation(&store, &manifest);
        }
        let files = export::find_files(side).map_err(|error| Failure::usage(chain(&error)))?;
        return exports(files.iter().map(|file| SourceFile::open(file, &limits)).collect(), &limits, side, args);
    }
    if side.exists() {
        return exports(vec![SourceFile::open(side, &limits)], &limits, side, args);
    }
    let text = side.to_string_lossy();
    if is_generation(&text) {
        let store = Store::new(&args.index);
        let wanted = |of: &Manifest| of.folder_name() == text || of.generation.as_str() == text;
        let Some(manifest) = store.candidates().into_iter().find(wanted) else {
            let index = args.index.display();
            let text = format!("the index {index} has no generation {text}; choose another index folder with --index");
            return Err(Failure::usage(text));
        };
        return generation(&store, &manifest);
    }
    if let Some((revision, path)) = text.split_once(':').filter(|(revision, _)| !revision.is_empty()) {
        let sources = git::read(revision, path, &limits)?;
        return exports(sources, &limits, side, args);
    }
    Err(Failure::usage(format!(
        "{text} doesn't exist; specify an export file, a folder of exports, a Git revision and path such as \
         HEAD~1:data, or a generation of the index"
    )))
}

/// Checks a side's exports, and reports their errors the way `check` does.
fn exports(
    sources: Vec<Result<SourceFile, Box<export::Finding>>>,
    limits: &Limits,
    side: &Path,
    args: &SideArgs,
) -> Result<Set, Failure> {
    let today = export::latest_day(jiff::Timestamp::now());
    let prefixes = data::prefixes(&args.id_prefix);
    let sources: Vec<_> = sources.into_iter().map(|source| Ok(source?.prefixed(&prefixes))).collect();
    let total = sources.iter().flatten().map(|source: &SourceFile| source.bytes().len() as u64).sum();
    let report = reading(|progress| export::examine(sources, limits, today, &|done| progress(done, total)))?;
    let side = side.display();
    if !report.is_valid() {
        let _ = print_findings(&report);
        if !args.skip_invalid {
            let text = format!("{side} is invalid; correct it, or compare the valid records with --skip-invalid");
            return Err(Failure::usage(text));
        }
        // Otherwise all records would be reported as added or removed.
        if report.exports.is_empty() {
            return Err(Failure::usage(format!("{side} has no valid export; correct the errors reported above")));
        }
    }
    let exports = report.exports.iter().map(|export| (export, Ok(export.document.clone())));
    Set::of(exports).map_err(|error| Failure::usage(chain(&error)))
}

fn print_findings(report: &Report) -> io::Result<()> {
    let mut out = io::BufWriter::new(anstream::stderr().lock());
    export::render::text(report, export::render::Style::Coloured, &mut out)?;
    out.flush()
}

fn is_generation(text: &str) -> bool {
    let generation = text.split('-').next().unwrap_or_default();
    generation.len() == GENERATION_DIGITS && generation.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// The generation in a folder, or the current one if the folder is an index.
fn open_index(folder: &Path) -> Option<(Store, Manifest)> {
    let path: PathBuf = folder.canonicalize().ok()?;
    let name = path.file_name()?.to_str()?;
    if let Some(manifest) = path.parent().and_then(|parent| Store::new(parent).manifest(name)) {
        return Some((Store::new(path.parent()?), manifest));
    }
    let store = Store::new(&path);
    let manifest = store.current()?;
    Some((store, manifest))
}

/// A generation's exports, after verifying their checksums.
fn generation(store: &Store, manifest: &Manifest) -> Result<Set, Failure> {
    let mut artifact = store.load_catalogue(manifest).map_err(|error| Failure::usage(chain(&error)))?;
    let (catalogue, _) = open_catalogue(&mut artifact).map_err(|error| Failure::usage(chain(&error)))?;
    Set::from_catalogue(&catalogue).map_err(|error| Failure::usage(chain(&error)))
}
