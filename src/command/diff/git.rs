//! Export files in a Git revision, read with `git`.

use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::command::Failure;
use crate::export::{Finding, Limits, SourceFile};

/// The maximum size of a file list in bytes.
const MAX_LIST_BYTES: u64 = 16 * 1024 * 1024;

/// Reads the export file at a path in a revision, or all export files if the path is a folder. The
/// repository is the one that contains the working directory. A path that starts with `./` is
/// relative to that directory.
pub(super) fn read(
    revision: &str,
    path: &str,
    limits: &Limits,
) -> Result<Vec<Result<SourceFile, Box<Finding>>>, Failure> {
    let object = format!("{revision}:{path}");
    // Protects against a revision that starts with a hyphen. The output is a hash, which can't be
    // mistaken for an option.
    let hash = text(&["rev-parse", "--verify", "--quiet", "--end-of-options", &object], &object)?;
    if text(&["cat-file", "-t", &hash], &object)? == "blob" {
        return Ok(vec![source(&object, &hash, limits)?]);
    }
    let list = output(&["ls-tree", "-z", &hash], &object, MAX_LIST_BYTES)?;
    let list = String::from_utf8_lossy(&list);
    let folder = object.trim_end_matches('/');
    let mut sources = Vec::new();
    for (kind, hash, name) in list.split('\0').filter_map(entry) {
        if kind == "blob" && is_export(name) {
            let separator = if folder.ends_with(':') { "" } else { "/" };
            sources.push(source(&format!("{folder}{separator}{name}"), hash, limits)?);
        }
    }
    if sources.is_empty() {
        let text = format!("there is no export file in {object}: specify a folder with *.json files, or a file");
        return Err(Failure::usage(text));
    }
    Ok(sources)
}

/// The kind, hash and name in a line of `ls-tree`: `<mode> <kind> <hash>\t<name>`. Symbolic links
/// are skipped, because their blob is a path.
fn entry(line: &str) -> Option<(&str, &str, &str)> {
    let (about, name) = line.split_once('\t')?;
    let mut about = about.split(' ');
    let (mode, kind, hash) = (about.next()?, about.next()?, about.next()?);
    (mode != "120000").then_some((kind, hash, name))
}

/// The same rule as in `export::find_files`.
fn is_export(name: &str) -> bool {
    !name.starts_with('.') && Path::new(name).extension().is_some_and(|extension| extension == "json")
}

fn source(object: &str, hash: &str, limits: &Limits) -> Result<Result<SourceFile, Box<Finding>>, Failure> {
    let limit = limits.max_file_bytes;
    // Check the size first, because git loads a whole blob into memory to print it.
    if text(&["cat-file", "-s", hash], object)?.parse().is_ok_and(|bytes: u64| bytes > limit) {
        return Err(too_large(object, limit));
    }
    let bytes = output(&["cat-file", "blob", hash], object, limit)?;
    Ok(SourceFile::from_bytes(Path::new(object), bytes.into()))
}

fn too_large(object: &str, limit: u64) -> Failure {
    Failure::usage(format!("{object} is larger than {limit} bytes; --max-file-bytes raises the limit"))
}

fn text(arguments: &[&str], object: &str) -> Result<String, Failure> {
    let bytes = output(arguments, object, MAX_LIST_BYTES)?;
    Ok(String::from_utf8_lossy(&bytes).trim().to_owned())
}

/// Git's standard output, up to a limit. The repository may be a stranger's, so objects missing
/// from a partial clone aren't fetched, because that would run commands from the repository's
/// configuration, and replacement objects are ignored.
fn output(arguments: &[&str], object: &str, limit: u64) -> Result<Vec<u8>, Failure> {
    let run = |error| {
        Failure::usage(format!("can't run git to read {object}; install git, or specify a file or folder: {error}"))
    };
    let mut child = Command::new("git")
        .args(arguments)
        // Requires git 2.45. In older versions, allowing no protocols has the same effect.
        .env("GIT_NO_LAZY_FETCH", "1")
        .env("GIT_ALLOW_PROTOCOL", "")
        .env("GIT_NO_REPLACE_OBJECTS", "1")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(run)?;
    let mut bytes = Vec::new();
    let read = child.stdout.take().map_or(Ok(0), |out| out.take(limit + 1).read_to_end(&mut bytes));
    if bytes.len() as u64 > limit {
        let _ = child.kill();
        let _ = child.wait();
        return Err(too_large(object, limit));
    }
    let ended = read.and_then(|_| child.wait_with_output()).map_err(run)?;
    if ended.status.success() {
        return Ok(bytes);
    }
    let message = String::from_utf8_lossy(&ended.stderr);
    let message = message.lines().next().unwrap_or("there is no such revision or path");
    Err(Failure::usage(format!(
        "git can't read {object}: {message}; `git log --oneline` lists revisions, and `git ls-tree REVISION` lists \
         their files"
    )))
}
