//! Key file errors, with their fixes.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::error::chain;
use crate::key::access::Quoted;
use crate::text::printable::printable;

/// Why a key file can't be read or changed. The messages say how to fix it and contain no secrets.
#[derive(Debug, thiserror::Error)]
pub enum KeyFileError {
    #[error("there is no key file {}; create one with: software-directory keys create --name \"…\" --keys {}", path.display(), Quoted(path))]
    Missing { path: PathBuf },
    #[error("the key file {} can't be read", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("the key file {} is not a regular file; choose another one with --keys", path.display())]
    NotAFile { path: PathBuf },
    #[error("the key file {} is larger than {max_bytes} bytes; choose another one with --keys", path.display())]
    TooLarge { path: PathBuf, max_bytes: u64 },
    #[error("the key file {} is not valid: {reason}", path.display())]
    Syntax {
        path: PathBuf,
        /// The error, with its line and column.
        reason: String,
    },
    #[error("the key file {} is not valid: {}", path.display(), Findings(findings))]
    Invalid {
        path: PathBuf,
        /// All problems, in file order.
        findings: Vec<KeyFinding>,
    },
    #[error("the key file {} can't be created because there is no folder {}; create the folder first", path.display(), folder.display())]
    NoFolder { path: PathBuf, folder: PathBuf },
    #[error("the key file {} couldn't be changed; it was left as it was", path.display())]
    Write { path: PathBuf, source: io::Error },
    #[error(
        "the key file {} is unchanged because another process has held its lock {} for {} s. Unless that is a change in \
         progress (`software-directory keys`), find the process with `fuser -v {}`, end it, and try again",
        path.display(), lock.display(), waited.as_secs(), Quoted(lock)
    )]
    Locked {
        path: PathBuf,
        lock: PathBuf,
        /// How long this process waited.
        waited: Duration,
    },
    #[error("no key was created because it couldn't be printed")]
    NotShown(#[source] io::Error),
    #[error("no key can be created because the operating system provides no random numbers")]
    Random(#[from] getrandom::Error),
    #[error("{}", unknown_id(id, path, known))]
    UnknownId {
        id: String,
        path: PathBuf,
        /// The existing ids, closest match first.
        known: Vec<Box<str>>,
    },
}

/// One problem in a key file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyFinding {
    /// Where the problem is: a JSON pointer.
    pub pointer: String,
    /// What's wrong, and how to fix it.
    pub message: String,
}

impl KeyFileError {
    pub(super) fn from_io(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::NotFound => Self::Missing { path },
            _ => Self::Read { path, source },
        }
    }

    /// Whether the file doesn't exist.
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::Missing { .. })
    }

    /// The error with its causes, as shown in a terminal, with each finding on its own line.
    pub fn report(&self) -> String {
        match self {
            Self::Invalid { path, findings } => {
                let line = |KeyFinding { pointer, message }: &KeyFinding| {
                    format!("\n  {} {}", printable(pointer), printable(message))
                };
                let lines: String = findings.iter().map(line).collect();
                format!("the key file {} is not valid:{lines}", printable(&path.to_string_lossy()))
            }
            _ => printable(&self.with_causes()).into_owned(),
        }
    }

    /// The error with its causes on one line, for logs and status.
    pub fn with_causes(&self) -> String {
        chain(self)
    }
}

struct Findings<'a>(&'a [KeyFinding]);

impl fmt::Display for Findings<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, KeyFinding { pointer, message }) in self.0.iter().enumerate() {
            write!(f, "{}{pointer} {message}", if at == 0 { "" } else { "; " })?;
        }
        Ok(())
    }
}

fn unknown_id(id: &str, path: &Path, known: &[Box<str>]) -> String {
    let start = format!("no key in {} has the id `{id}`", path.display());
    // As many ids as fit on a line, closest match first.
    match known {
        [] => format!("{start}: there are no keys in it"),
        known if known.len() <= 5 => format!("{start}; the existing ids are: {}", known.join(", ")),
        known => format!("{start}; the nearest ids are: {} (see `keys list`)", known[..3].join(", ")),
    }
}
