//! A preview: the state that a candidate's server shows while its files are being edited.

use std::sync::Arc;

use arc_swap::ArcSwap;
use axum::http::{HeaderName, HeaderValue};
use axum::response::Response;
use serde::Serialize;

use crate::generation::FailureCode;
use crate::text::count::counted;
use crate::text::printable::printable;
use crate::update::{Directory, RECORDS_SKIPPED};

const X_PREVIEW: HeaderName = HeaderName::from_static("x-preview");

/// Marks a response as part of a preview, for programs.
pub(super) fn mark(mut response: Response) -> Response {
    response.headers_mut().insert(X_PREVIEW, HeaderValue::from_static("true"));
    response
}

/// A preview's state as the page shows it. The threads that read and compare exports update it.
#[derive(Debug)]
pub struct Preview {
    pub(super) candidate: String,
    pub(super) against: String,
    findings: ArcSwap<Findings>,
    /// The findings of the last set that could be served. That set may be served again without
    /// being reread.
    served_findings: ArcSwap<Findings>,
    comparison: ArcSwap<Comparison>,
}

/// The findings from the last time the candidate was read.
#[derive(Debug, Clone, Default)]
pub struct Findings {
    /// Formatted the way `check` prints them.
    pub text: String,
    pub errors: usize,
    pub warnings: usize,
    /// How many reloads had finished before this one. As long as the total stays the same, the set
    /// just read is still being built.
    pub reloads: u64,
}

/// What the candidate changes.
#[derive(Debug, Clone, Default)]
pub enum Comparison {
    /// Still unknown, because there's no valid candidate.
    #[default]
    Awaited,
    /// Being determined.
    Running,
    Done {
        /// In one line.
        summary: String,
        /// In full, as HTML.
        html: String,
    },
    /// The published exports can't be read; contains the cause and the fix.
    Failed(String),
}

/// A short status for every page's banner.
#[derive(Debug, Serialize)]
pub(super) struct Status {
    /// Changes whenever anything shown on the pages changes.
    pub(super) version: String,
    /// Whether the next version is being prepared.
    pub(super) is_busy: bool,
    /// Whether something is wrong with the candidate.
    pub(super) has_problem: bool,
    pub(super) message: String,
}

impl Preview {
    /// A preview of a candidate, to be compared with other exports. Both are shown under the names
    /// that the operator used.
    pub fn new(candidate: &str, against: &str) -> Self {
        Self {
            candidate: printable(candidate).into_owned(),
            against: printable(against).into_owned(),
            findings: ArcSwap::default(),
            served_findings: ArcSwap::default(),
            comparison: ArcSwap::default(),
        }
    }

    /// Replaces the findings. `is_servable` says whether the set they belong to can be served.
    pub fn set_findings(&self, findings: Findings, is_servable: bool) {
        let findings = Arc::new(findings);
        if is_servable {
            self.served_findings.store(Arc::clone(&findings));
        }
        self.findings.store(findings);
    }

    /// The findings for what is currently shown.
    fn shown_findings(&self, problem: Option<&Problem>) -> Arc<Findings> {
        let is_last = problem.is_some_and(|problem| problem.is_of_findings);
        if is_last { self.findings.load_full() } else { self.served_findings.load_full() }
    }

    pub fn set_comparison(&self, comparison: Comparison) {
        self.comparison.store(Arc::new(comparison));
    }

    pub(super) fn status(&self, directory: &Directory) -> Status {
        let is_building = directory.reloads().total() <= self.findings.load().reloads;
        let problem = Problem::of(directory);
        let (findings, comparison) = (self.shown_findings(problem.as_ref()), self.comparison.load());
        let generation = directory.current().map(|current| current.generation().to_owned());
        let mut version = blake3::Hasher::new();
        let (changes, is_comparing) = match &**comparison {
            Comparison::Awaited => ("", false),
            Comparison::Running => ("", true),
            Comparison::Done { summary, html } => {
                version.update(html.as_bytes());
                (summary.as_str(), false)
            }
            Comparison::Failed(reason) => (reason.as_str(), false),
        };
        let detail = problem.as_ref().map(|problem| &*problem.detail);
        for text in [generation.as_deref(), detail, Some(&findings.text), Some(changes)] {
            let text = text.unwrap_or_default();
            version.update(&(text.len() as u64).to_le_bytes()).update(text.as_bytes());
        }
        let message = match &problem {
            Some(problem) if problem.is_of_findings => {
                format!("{}: {}.", counted(findings.errors, "error"), problem.consequence)
            }
            Some(problem) => format!("The candidate can’t be served: {}.", problem.consequence),
            None if is_building || is_comparing => "Reading the candidate…".to_owned(),
            None => format!("{changes}."),
        };
        Status {
            version: version.finalize().to_hex()[..16].to_owned(),
            is_busy: is_building || is_comparing,
            has_problem: problem.is_some(),
            message,
        }
    }

    /// What the page shows: problems, changes and warnings.
    pub(super) fn report(&self, directory: &Directory) -> Report {
        let problem = Problem::of(directory);
        let findings = self.shown_findings(problem.as_ref());
        Report { problem, findings, comparison: self.comparison.load_full() }
    }
}

/// A candidate's findings and changes.
#[derive(Debug)]
pub(super) struct Report {
    pub(super) problem: Option<Problem>,
    pub(super) findings: Arc<Findings>,
    pub(super) comparison: Arc<Comparison>,
}

/// Why the candidate can't be served as it is.
#[derive(Debug)]
pub(super) struct Problem {
    /// The cause and the fix.
    pub(super) detail: String,
    /// Whether the findings include the cause.
    pub(super) is_of_findings: bool,
    pub(super) consequence: &'static str,
}

impl Problem {
    fn of(directory: &Directory) -> Option<Self> {
        let reasons = directory.degraded();
        let first = reasons.first()?;
        let is_skipped = first.code == RECORDS_SKIPPED;
        Some(Self {
            detail: reasons.iter().map(|reason| &*reason.detail).collect::<Vec<_>>().join("; "),
            is_of_findings: is_skipped || first.code == FailureCode::ExportsInvalid.as_str(),
            consequence: match directory.current() {
                _ if is_skipped => "showing only the valid records",
                Some(_) => "still showing the last valid state",
                None => "there has been no valid state yet",
            },
        })
    }
}
