//! Shows on standard error what a keeper does: bars while it works, and what it found in the exports.

use std::io::Write as _;

use indicatif::{ProgressBar, ProgressStyle};

use crate::cli::LogFormat;
use crate::export::render::{self, Item};
use crate::export::{Finding, LeftOut, Report, Severity};
use crate::snapshot::keeper::{Observer, Phase};

/// Work on fewer bytes or products than this is over before a bar could be read.
const LONG_BYTES: u64 = 8 * 1024 * 1024;
const LONG_PRODUCTS: u64 = 10_000;
/// Products between two steps of a bar.
const STEP: u64 = 500;

/// Progress and findings on standard error.
pub(super) struct Terminal {
    format: LogFormat,
    bar: Option<(Phase, ProgressBar)>,
    /// What was last reported: the same findings aren't told twice.
    told: (Vec<Finding>, Vec<LeftOut>),
}

impl Terminal {
    pub(super) const fn new(format: LogFormat) -> Self {
        Self { format, bar: None, told: (Vec::new(), Vec::new()) }
    }

    fn bar(&mut self, phase: Phase) -> Option<&ProgressBar> {
        if self.format == LogFormat::Json {
            return None;
        }
        if self.bar.as_ref().is_none_or(|(of, _)| *of != phase) {
            self.clear();
            let (verb, unit) = match phase {
                Phase::Reading => ("Checking", "{bytes} of {total_bytes}"),
                Phase::Indexing => ("Indexing", "{pos} of {len} products"),
                Phase::Writing => ("Writing", ""),
            };
            // indicatif hides a bar where standard error isn't a terminal.
            let style = ProgressStyle::with_template(&format!("{verb} {{bar:30}} {unit}"));
            let bar = ProgressBar::new(0).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            self.bar = Some((phase, bar));
        }
        self.bar.as_ref().map(|(_, bar)| bar)
    }

    fn clear(&mut self) {
        if let Some((_, bar)) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

impl Observer for Terminal {
    fn progress(&mut self, phase: Phase, done: u64, total: u64) {
        let long = match phase {
            Phase::Reading => total >= LONG_BYTES,
            Phase::Indexing => total >= LONG_PRODUCTS && (done.is_multiple_of(STEP) || done == total),
            Phase::Writing => false,
        };
        if phase == Phase::Writing || done == total {
            self.clear();
        } else if long && let Some(bar) = self.bar(phase) {
            bar.set_length(total);
            bar.set_position(done);
        }
    }

    fn report(&mut self, report: &Report) {
        self.clear();
        if (&report.findings, &report.left_out) == (&self.told.0, &self.told.1) {
            return;
        }
        self.told = (report.findings.clone(), report.left_out.clone());
        match self.format {
            LogFormat::Text => {
                let mut out = std::io::BufWriter::new(anstream::stderr().lock());
                // Nobody is left to tell if standard error is gone.
                drop(render::text(report, render::Style::Coloured, &mut out).and_then(|()| out.flush()));
            }
            LogFormat::Json => render::items(report).iter().for_each(log),
        }
    }
}

/// A finding, or the number of those left out, as a log line.
fn log(item: &Item<'_>) {
    match item {
        Item::Finding(finding) => log_finding(finding),
        Item::More(LeftOut { code, file, count }) => {
            let (file, code_name) = (file.display(), code.as_str());
            match code.severity() {
                Severity::Error => tracing::error!(%file, code = code_name, "and {count} more of this kind"),
                Severity::Warning => tracing::warn!(%file, code = code_name, "and {count} more of this kind"),
            }
        }
    }
}

fn log_finding(finding: &Finding) {
    let place = finding.location.place.as_ref();
    let file = finding.location.file.display();
    let (line, column) = (place.map(|place| place.line), place.map(|place| place.column));
    let (code, pointer, help) = (finding.code.as_str(), finding.location.pointer.as_str(), finding.help.as_str());
    match finding.severity() {
        Severity::Error => tracing::error!(%file, line, column, pointer, code, help, "{}", finding.message),
        Severity::Warning => tracing::warn!(%file, line, column, pointer, code, help, "{}", finding.message),
    }
}
