//! Shows a build's work on standard error: bars while it's running, and its findings in the
//! exports.

use std::borrow::Cow;
use std::io::Write as _;
use std::ops::ControlFlow;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use super::log::Log;
use crate::cli::LogFormat;
use crate::export::render::{self, Item, items};
use crate::export::{Code, Finding, LeftOut, RecordName, Report, Severity};
use crate::generation::{Observer, Phase, RenderedReport};

/// With fewer bytes or products than this, the work is done before anyone can read a progress bar.
const LONG_BYTES: u64 = 8 * 1024 * 1024;
const LONG_PRODUCTS: u64 = 10_000;
/// How many products a bar advances at a time.
const STEP: u64 = 500;

/// The unit for a bar that counts bytes.
pub(super) const BYTES: &str = "{bytes} of {total_bytes}";

/// A progress bar with the time left, on standard error. indicatif hides it if that isn't a
/// terminal. `unit` is part of its template.
pub(super) fn bar(verb: &str, unit: &str) -> ProgressBar {
    ProgressBar::new(0).with_style(style(verb, unit))
}

fn style(verb: &str, unit: &str) -> ProgressStyle {
    let style = ProgressStyle::with_template(&format!("{verb} {{bar:30}} {unit}, {{eta}} left"));
    style.unwrap_or_else(|_| ProgressStyle::default_bar())
}

/// Runs work that reads exports. If there's a lot to read, shows a bar with the bytes read so far
/// and the total.
pub(super) fn reading<T>(work: impl FnOnce(&dyn Fn(u64, u64)) -> T) -> T {
    let bar = bar("Checking", BYTES);
    let done = work(&|done, total| {
        if total >= LONG_BYTES {
            bar.set_length(total);
            bar.set_position(done);
        }
    });
    bar.finish_and_clear();
    done
}

/// Runs a step with a spinner or, once the number of bytes is known, a bar and the time left. Both
/// are hidden if standard error isn't a terminal.
pub(super) fn step<T>(what: &'static str, work: impl FnOnce(&dyn Fn(u64, u64)) -> T) -> T {
    let shown = ProgressBar::new_spinner().with_message(what);
    shown.enable_steady_tick(Duration::from_millis(200));
    let done = work(&|done, total| {
        if shown.length().is_none() {
            shown.set_style(style(what, BYTES));
        }
        shown.set_length(total);
        shown.set_position(done);
    });
    shown.finish_and_clear();
    done
}

/// Progress and findings on standard error.
pub(super) struct Terminal {
    format: LogFormat,
    log: Log,
    bar: Option<(Phase, ProgressBar)>,
    /// The digest of the last report, so that the same findings aren't reported twice.
    reported: String,
}

impl Terminal {
    pub(super) const fn new(format: LogFormat, log: Log) -> Self {
        Self { format, log, bar: None, reported: String::new() }
    }

    fn bar(&mut self, phase: Phase) -> Option<&ProgressBar> {
        if self.format == LogFormat::Json {
            return None;
        }
        if self.bar.as_ref().is_none_or(|(of, _)| *of != phase) {
            self.clear();
            let (verb, unit) = match phase {
                Phase::Reading => ("Checking", BYTES),
                Phase::Merging => ("Merging", "{pos} of {len} exports"),
                Phase::Indexing => ("Indexing", "{pos} of {len} products"),
                Phase::Writing => ("Writing", ""),
            };
            self.bar = Some((phase, bar(verb, unit)));
        }
        self.bar.as_ref().map(|(_, bar)| bar)
    }

    fn clear(&mut self) {
        if let Some((_, bar)) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

/// Whether to report this progress. While indexing, it's only reported every [`STEP`] products.
pub(super) fn is_reported(phase: Phase, done: u64, total: u64) -> bool {
    match phase {
        Phase::Reading => total >= LONG_BYTES || done == total,
        Phase::Indexing => done.is_multiple_of(STEP) || done == total,
        Phase::Merging | Phase::Writing => true,
    }
}

impl Observer for Terminal {
    fn progress(&mut self, phase: Phase, done: u64, total: u64) -> ControlFlow<()> {
        let long = match phase {
            Phase::Reading => total >= LONG_BYTES,
            Phase::Indexing => total >= LONG_PRODUCTS,
            Phase::Merging => total > 1,
            Phase::Writing => false,
        };
        if phase == Phase::Writing || done == total {
            self.clear();
        } else if long
            && is_reported(phase, done, total)
            && let Some(bar) = self.bar(phase)
        {
            bar.set_length(total);
            bar.set_position(done);
        }
        ControlFlow::Continue(())
    }

    fn report(&mut self, report: &Report) {
        self.relay(rendered(report, self.format));
    }

    fn relay(&mut self, report: RenderedReport) {
        self.clear();
        if report.digest == self.reported {
            return;
        }
        self.log.text(report.text.as_bytes());
        self.reported = report.digest;
    }
}

/// Renders a report for standard error: for people, or as a log line for each finding.
pub(super) fn rendered(report: &Report, format: LogFormat) -> RenderedReport {
    let mut text = Vec::new();
    match format {
        LogFormat::Text => {
            let mut out = anstream::AutoStream::new(&mut text, anstream::AutoStream::choice(&std::io::stderr()));
            // Writing to a vector can't fail.
            let _ = render::text(report, render::Style::Coloured, &mut out).and_then(|()| out.flush());
        }
        LogFormat::Json => {
            let timestamp = jiff::Timestamp::now().to_string();
            for item in items(report) {
                let _ = match item {
                    Item::Finding(finding) => serde_json::to_writer(&mut text, &LogLine::of(finding, &timestamp)),
                    Item::More(more) => serde_json::to_writer(&mut text, &LogLine::from_left_out(&more, &timestamp)),
                };
                text.push(b'\n');
            }
        }
    }
    let mut digest = blake3::Hasher::new();
    let _ = serde_json::to_writer(&mut digest, &(&report.findings, &report.left_out));
    RenderedReport { digest: digest.finalize().to_string(), text: String::from_utf8_lossy(&text).into_owned() }
}

/// The log level for a code.
fn level(code: Code) -> &'static str {
    match code.severity() {
        Severity::Error => "ERROR",
        Severity::Warning => "WARN",
        Severity::Note => "INFO",
    }
}

/// A finding as a log line, in the same form as all others.
#[derive(Default, Serialize)]
struct LogLine<'a> {
    timestamp: &'a str,
    level: &'static str,
    message: Cow<'a, str>,
    file: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pointer: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    record: Option<&'a RecordName>,
    code: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<&'a str>,
    target: &'static str,
}

impl<'a> LogLine<'a> {
    fn of(finding: &'a Finding, timestamp: &'a str) -> Self {
        let place = finding.location.place.as_ref();
        Self {
            timestamp,
            level: level(finding.code),
            message: Cow::Borrowed(&finding.message),
            file: finding.location.file.display().to_string(),
            line: place.map(|place| place.line),
            column: place.map(|place| place.column),
            pointer: Some(&finding.location.pointer),
            record: finding.location.record.as_deref(),
            code: finding.code.as_str(),
            help: Some(&finding.help),
            target: module_path!(),
        }
    }

    /// Says how many findings were left out.
    fn from_left_out(more: &LeftOut, timestamp: &'a str) -> Self {
        Self {
            timestamp,
            level: level(more.code),
            message: Cow::Owned(format!("and {} more of this kind", more.count)),
            file: more.file.display().to_string(),
            code: more.code.as_str(),
            target: module_path!(),
            ..Self::default()
        }
    }
}
