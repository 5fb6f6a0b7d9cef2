//! A preview: the state that a service of a candidate shows while its files are edited.

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

/// Marks a response as one of a preview, for programs.
pub(super) fn mark(mut response: Response) -> Response {
    response.headers_mut().insert(X_PREVIEW, HeaderValue::from_static("true"));
    response
}

/// The state of a preview, which the page shows. Set by the threads that read and compare exports.
#[derive(Debug)]
pub struct Preview {
    candidate: String,
    against: String,
    /// Those of the last reading.
    findings: ArcSwap<Findings>,
    /// Those of the last set that could be served. It may come back without a reading.
    served_findings: ArcSwap<Findings>,
    comparison: ArcSwap<Comparison>,
}

/// The findings of the last reading of the candidate.
#[derive(Debug, Clone, Default)]
pub struct Findings {
    /// As `check` prints them.
    pub text: String,
    /// The number of errors.
    pub errors: usize,
    /// The number of warnings.
    pub warnings: usize,
    /// The number of reloads that had ended before. While there are no more, the set that was read is being built.
    pub reloads: u64,
}

/// The changes of the candidate.
#[derive(Debug, Clone, Default)]
pub enum Comparison {
    /// It isn't known yet: there is no valid candidate.
    #[default]
    Awaited,
    /// It is being found out.
    Running,
    /// It is known.
    Done {
        /// In a line.
        summary: String,
        /// In full, as HTML.
        html: String,
    },
    /// The published exports can't be read; the cause and the remedy.
    Failed(String),
}

/// The state in few words, for the banner of each page.
#[derive(Debug, Serialize)]
pub(super) struct Status {
    /// Changes with everything that the pages show.
    pub(super) version: String,
    /// Whether the next version is in the making.
    pub(super) is_busy: bool,
    /// Whether something is wrong with the candidate.
    pub(super) has_problem: bool,
    pub(super) message: String,
}

impl Preview {
    /// A preview of a candidate, which will be compared with other exports, both by the names that the operator gave them.
    pub fn new(candidate: &str, against: &str) -> Self {
        Self {
            candidate: printable(candidate).into_owned(),
            against: printable(against).into_owned(),
            findings: ArcSwap::default(),
            served_findings: ArcSwap::default(),
            comparison: ArcSwap::default(),
        }
    }

    /// The candidate's name.
    pub(super) fn candidate(&self) -> &str {
        &self.candidate
    }

    /// Replaces the findings. `is_servable`: the set with them is served.
    pub fn set_findings(&self, findings: Findings, is_servable: bool) {
        let findings = Arc::new(findings);
        if is_servable {
            self.served_findings.store(Arc::clone(&findings));
        }
        self.findings.store(findings);
    }

    /// The findings that belong to what is shown.
    fn shown_findings(&self, problem: Option<&Problem>) -> Arc<Findings> {
        let is_last = problem.is_some_and(|problem| problem.is_of_findings);
        if is_last { self.findings.load_full() } else { self.served_findings.load_full() }
    }

    /// Replaces the comparison.
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

    /// What the page shows: problems, changes, warnings.
    pub(super) fn report(&self, directory: &Directory) -> Report {
        let problem = Problem::of(directory);
        let findings = self.shown_findings(problem.as_ref());
        Report { problem, findings, comparison: self.comparison.load_full() }
    }

    pub(super) fn against(&self) -> &str {
        &self.against
    }
}

/// The findings and the changes of a candidate.
#[derive(Debug)]
pub(super) struct Report {
    pub(super) problem: Option<Problem>,
    pub(super) findings: Arc<Findings>,
    pub(super) comparison: Arc<Comparison>,
}

/// Why the candidate isn't served as it is.
#[derive(Debug)]
pub(super) struct Problem {
    /// The cause and the remedy.
    pub(super) detail: String,
    /// Whether the findings have the cause.
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
                _ if is_skipped => "the valid records are shown",
                Some(_) => "the last valid state is shown",
                None => "no state was valid yet",
            },
        })
    }
}
