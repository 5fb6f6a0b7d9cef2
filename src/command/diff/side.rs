//! One side of `diff`: a file, a folder of exports, a Git revision, or a generation in an index.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::git;
use crate::cli::SideArgs;
use crate::command::progress::reading;
use crate::command::{Failure, data};
use crate::curate::diff::Set;
use crate::error::chain;
use crate::export::{self, Limits, Report, SourceFile, render};
use crate::generation::open_catalogue;
use crate::generation::store::{Manifest, Store};

/// The length of a generation's name in hexadecimal digits.
const GENERATION_DIGITS: usize = 16;

/// Reads a side, with a progress bar on a terminal. An existing path is a path, even if it looks
/// like a revision. Prefixes for exports that aren't on this side are meant for the other side.
pub(in crate::command) fn read(side: &Path, args: &SideArgs) -> Result<Set, Failure> {
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
        let sources = git::read(revision, path, &limits).map_err(|error| Failure::usage(chain(&error)))?;
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
    let report = reading(|progress| export::examine(sources, limits, today, &|done| progress(done, total)));
    let report = report.map_err(|error| Failure::other(&error))?;
    let side = side.display();
    if !report.is_valid() {
        let _ = print(&report);
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

fn print(report: &Report) -> io::Result<()> {
    let mut out = io::BufWriter::new(anstream::stderr().lock());
    render::text(report, render::Style::Coloured, &mut out)?;
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
