//! Why a generation wasn't built.

use serde::{Deserialize, Serialize};

use crate::catalogue::CatalogueBuildError;
use crate::error::chain;
use crate::export::{Code, FindError, Report, Severity};
use crate::generation::OpenError;
use crate::generation::build::BuildError;
use crate::generation::source::ReadError;
use crate::generation::store::StoreError;
use crate::panics;
use crate::text::count::{agreeing, counted};

/// Why a generation wasn't built. The build process sends this to the server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{detail}")]
pub struct BuildFailure {
    pub code: FailureCode,
    /// The number of errors in the exports, or of products that would be removed.
    pub count: Option<usize>,
    /// The cause and the fix, in one line.
    pub detail: String,
    /// Whether the next attempt may succeed with the same exports, because their contents aren't
    /// the cause.
    pub is_transient: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureCode {
    /// The exports can't be found.
    ExportsMissing,
    /// The exports keep changing while they're being read.
    ExportsChanging,
    /// The exports have errors, which have been reported.
    ExportsInvalid,
    /// The exports would remove too many records.
    RecordsRemoved,
    /// The build failed, or its process ended early.
    BuildFailed,
    /// The build panicked, which is a bug.
    BuildPanicked,
    /// The index can't be written.
    IndexNotWritten,
    /// Another process holds the index lock.
    IndexLocked,
}

impl FailureCode {
    /// The stable name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ExportsMissing => "exports_missing",
            Self::ExportsChanging => "exports_changing",
            Self::ExportsInvalid => "exports_invalid",
            Self::RecordsRemoved => "records_removed",
            Self::BuildFailed => "build_failed",
            Self::BuildPanicked => "build_panicked",
            Self::IndexNotWritten => "index_not_written",
            Self::IndexLocked => "index_locked",
        }
    }

    /// Whether the exports are the cause.
    pub const fn is_of_exports(self) -> bool {
        matches!(self, Self::ExportsMissing | Self::ExportsChanging | Self::ExportsInvalid | Self::RecordsRemoved)
    }

    /// Whether the index folder is the cause, so the exports can still be served from memory.
    pub(crate) const fn is_of_index(self) -> bool {
        matches!(self, Self::IndexNotWritten | Self::IndexLocked)
    }
}

impl BuildFailure {
    /// A failure that the exports didn't cause.
    pub(crate) fn transient(code: FailureCode, detail: impl Into<String>) -> Self {
        Self { code, count: None, detail: detail.into(), is_transient: true }
    }

    /// Runs part of a build, turning a panic into a failure.
    pub(crate) fn catch<T>(work: impl FnOnce() -> Result<T, Self>) -> Result<T, Self> {
        panics::catch(work).unwrap_or_else(|message| Err(Self::panicked(&message)))
    }

    pub(crate) fn panicked(message: &str) -> Self {
        let detail = format!("the directory can't be built: the program failed ({message}); please report it");
        Self::transient(FailureCode::BuildPanicked, detail)
    }

    /// The failure for exports with errors. All errors have been reported, and the first one is
    /// repeated here.
    pub(crate) fn invalid(report: &Report) -> Self {
        let errors = || report.findings.iter().filter(|finding| finding.severity() == Severity::Error);
        // Codes are ordered by layer: invalid JSON is worse than missing properties, wherever it
        // occurs in the file.
        let first = errors().min_by_key(|finding| finding.code).map_or_else(String::new, |finding| {
            let file = finding.location.file.display();
            match &finding.location.place {
                Some(place) => format!("{file}:{}:{}: {}", place.line, place.column, finding.message),
                None => format!("{file}: {}", finding.message),
            }
        });
        let count = report.error_count();
        let detail = format!(
            "the exports can't be served: {}, the first at {first}; fix them, or serve the valid records with \
             --skip-invalid",
            counted(count, "error")
        );
        let is_transient = errors().any(|finding| finding.code == Code::UnreadableFile);
        Self { code: FailureCode::ExportsInvalid, count: Some(count), detail, is_transient }
    }

    /// The failure for withheld exports, which would remove too many products. `losses` says which
    /// files lose them, and may be empty.
    pub(crate) fn removes(removed: usize, of: usize, max_percent: u8, losses: &str) -> Self {
        let losses = if losses.is_empty() { String::new() } else { format!(" ({losses})") };
        let detail = format!(
            "the exports would remove {removed} of {of} {}, more than {max_percent} per cent{losses}; confirm this with \
             `software-directory --reindex`, or restore the records",
            agreeing(of, "product", "products")
        );
        Self { code: FailureCode::RecordsRemoved, count: Some(removed), detail, is_transient: false }
    }
}

impl From<FindError> for BuildFailure {
    fn from(error: FindError) -> Self {
        let code = match error {
            FindError::Changing { .. } => FailureCode::ExportsChanging,
            FindError::Unreadable { .. } | FindError::NoFiles { .. } => FailureCode::ExportsMissing,
        };
        let is_transient = !matches!(error, FindError::NoFiles { .. });
        Self { code, count: None, detail: chain(&error), is_transient }
    }
}

impl From<ReadError> for BuildFailure {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Find(error) => error.into(),
            ReadError::Scratch(error) => Self::transient(FailureCode::IndexNotWritten, chain(&error)),
        }
    }
}

impl From<BuildError> for BuildFailure {
    fn from(error: BuildError) -> Self {
        if let BuildError::Catalogue(CatalogueBuildError::Scratch(_)) = error {
            return Self::transient(FailureCode::IndexNotWritten, chain(&error));
        }
        Self::from(OpenError::from(error))
    }
}

impl From<OpenError> for BuildFailure {
    fn from(error: OpenError) -> Self {
        Self::transient(FailureCode::BuildFailed, format!("the directory can't be built: {}", chain(&error)))
    }
}

impl From<StoreError> for BuildFailure {
    fn from(error: StoreError) -> Self {
        let code = match error {
            StoreError::Locked { .. } | StoreError::Overtaken => FailureCode::IndexLocked,
            StoreError::Io { .. } | StoreError::Damaged { .. } => FailureCode::IndexNotWritten,
        };
        Self::transient(code, chain(&error))
    }
}
