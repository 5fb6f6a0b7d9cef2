//! What comes of a keeper's work.

use crate::export::{Code, FindError, Report, Severity};
use crate::snapshot::OpenError;
use crate::snapshot::store::StoreError;

/// Why there is nothing to serve.
#[derive(Debug, thiserror::Error)]
pub enum KeepError {
    /// The exports can't be found.
    #[error(transparent)]
    Find(#[from] FindError),
    /// The exports have errors; they were reported.
    #[error(
        "the exports are not served: {errors} {}, first {first}; mend them, or serve the valid records with --skip-invalid",
        if *.errors == 1 { "error" } else { "errors" }
    )]
    Invalid {
        /// How many.
        errors: usize,
        /// The first: where and what.
        first: String,
        /// Whether a file couldn't be read at all.
        unreadable: bool,
    },
    /// A generation can't be built or opened.
    #[error("the directory can't be built")]
    Open(#[from] OpenError),
    /// The disk refused.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Reading or building panicked: a fault of the program.
    #[error("the directory can't be built: the program failed ({0}); please report it")]
    Panicked(String),
}

impl KeepError {
    /// The reason's stable name, where it keeps newer exports from being served.
    pub(super) const fn code(&self) -> &'static str {
        match self {
            Self::Find(FindError::Changing { .. }) => "exports_changing",
            Self::Find(_) => "exports_missing",
            Self::Invalid { .. } => "exports_invalid",
            Self::Open(_) | Self::Store(_) => "build_failed",
            Self::Panicked(_) => "build_panicked",
        }
    }

    /// Whether the same exports may well be served at the next try: then what failed wasn't their content.
    pub(super) const fn is_transient(&self) -> bool {
        match self {
            Self::Find(FindError::Unreadable { .. } | FindError::Changing { .. })
            | Self::Open(_)
            | Self::Store(_)
            | Self::Panicked(_) => true,
            Self::Invalid { unreadable, .. } => *unreadable,
            Self::Find(FindError::NoFiles { .. }) => false,
        }
    }
}

/// What a look at the exports led to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The generation in force was loaded as it is.
    Loaded(Kept),
    /// The exports make the generation that is served already.
    Unchanged,
    /// A new generation was built and published.
    Published(Kept),
    /// The exports can't be served, so the last good generation is.
    KeptLastGood(Kept),
}

/// What is served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// The generation.
    pub generation: String,
    /// How many products it has.
    pub software_count: usize,
}

/// What the operator is told of exports with errors: all of them were reported, the first one is named again.
pub(super) fn invalid(report: &Report) -> KeepError {
    let errors = || report.findings.iter().filter(|finding| finding.severity() == Severity::Error);
    // Codes are in the order of the layers: what isn't JSON is worse than what is missing from it, wherever it stands.
    let first = errors().min_by_key(|finding| finding.code).map_or_else(String::new, |finding| {
        let file = finding.location.file.display();
        match &finding.location.place {
            Some(place) => format!("{file}:{}:{}: {}", place.line, place.column, finding.message),
            None => format!("{file}: {}", finding.message),
        }
    });
    let unreadable = errors().any(|finding| finding.code == Code::UnreadableFile);
    KeepError::Invalid { errors: report.error_count(), first, unreadable }
}
