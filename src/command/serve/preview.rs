//! `preview`: serves a candidate folder to the machine it's being edited on, with its findings and
//! how it differs from the published exports.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, SystemTime};

use super::super::Failure;
use super::super::data::DATA_FOLDER;
use super::super::diff::read_side;
use super::super::progress::Terminal;
use crate::cli::{DataArgs, NONE, PreviewArgs, ServeArgs, SideArgs, SiteArgs};
use crate::curate::diff::{Set, compare, render};
use crate::export::{self, ExportSet, Report};
use crate::generation::source::{FolderStamp, stamp};
use crate::generation::{Observer, Phase, RenderedReport};
use crate::http::{Comparison, Findings, Preview};
use crate::panics;
use crate::text::printable::printable;
use crate::update::Directory;

/// How often to check the published exports for changes.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// How many bytes of findings the page shows.
const FINDINGS_BYTES: usize = 512 * 1024;
/// How many records of each kind the page shows per section.
const SHOWN: usize = 200;

/// Rejects a candidate that isn't a folder.
pub(super) fn check(candidate: &Path) -> Result<(), Failure> {
    let name = candidate.display();
    match std::fs::metadata(candidate) {
        Err(error) => Err(Failure::usage(format!(
            "the candidate {name} can't be read: {error}; specify a folder of export files, such as a copy of the data folder"
        ))),
        Ok(metadata) if !metadata.is_dir() => Err(Failure::usage(format!(
            "{name} is not a folder; specify the folder that contains the candidate's export files"
        ))),
        Ok(_) => Ok(()),
    }
}

/// The options for an in-memory server without a key file.
pub(super) fn serve_args(args: &PreviewArgs) -> ServeArgs {
    let SideArgs { skip_invalid, id_prefix, max_file_bytes, .. } = &args.sides;
    let defaults = ServeArgs::defaults();
    let data = DataArgs {
        data: Some(args.candidate.clone()),
        index: PathBuf::from(NONE),
        skip_invalid: *skip_invalid,
        id_prefix: id_prefix.clone(),
        max_file_bytes: *max_file_bytes,
        ..defaults.data
    };
    // A set that removes many products should be shown, not withheld.
    let max_removed = 100;
    let site = SiteArgs { site_title: Some("Preview".to_owned()), ..defaults.site };
    ServeArgs { data, listen: args.listen, max_removed, site, ..defaults }
}

/// Starts the comparison thread. Returns the state for the page, and an observer for the builds.
pub(super) fn start(
    args: &PreviewArgs,
    terminal: Terminal,
    directory: &Arc<Directory>,
) -> Result<(Arc<Preview>, Candidate), Failure> {
    let against = args.against.clone().unwrap_or_else(|| PathBuf::from(DATA_FOLDER));
    let preview = Arc::new(Preview::new(&args.candidate.to_string_lossy(), &against.to_string_lossy()));
    let (sets, received) = channel();
    let published = Published { side: against, sides: args.sides.clone(), candidate: args.candidate.clone() };
    let shown = Arc::clone(&preview);
    thread::Builder::new().name("comparison".to_owned()).spawn(move || published.compare_all(&received, &shown))?;
    let candidate = Candidate {
        terminal,
        preview: Arc::clone(&preview),
        directory: Arc::clone(directory),
        skip_invalid: args.sides.skip_invalid,
        sets,
    };
    Ok((preview, candidate))
}

/// Observes a candidate's builds: shows progress on the terminal and findings on the page.
pub(super) struct Candidate {
    terminal: Terminal,
    preview: Arc<Preview>,
    directory: Arc<Directory>,
    skip_invalid: bool,
    sets: Sender<Set>,
}

impl Observer for Candidate {
    fn progress(&mut self, phase: Phase, done: u64, total: u64) -> ControlFlow<()> {
        self.terminal.progress(phase, done, total)
    }

    fn report(&mut self, report: &Report) {
        let mut text = Vec::new();
        // Writing to a vector can't fail.
        let _ = export::render::text(report, export::render::Style::Plain, &mut text);
        let mut text = String::from_utf8_lossy(&text).into_owned();
        if text.len() > FINDINGS_BYTES {
            text.truncate(text.floor_char_boundary(FINDINGS_BYTES));
            text.push_str("…\n\n`software-directory check` prints the rest.\n");
        }
        let findings = Findings {
            text,
            errors: report.error_count(),
            warnings: report.warning_count(),
            reloads: self.directory.reloads().total(),
        };
        let has_exports = report.skipped.exports < report.counts.files as u64;
        self.preview.set_findings(findings, report.is_valid() || (self.skip_invalid && has_exports));
        self.terminal.report(report);
    }

    /// This isn't called for an invalid candidate, so the last valid one is still being served and
    /// compared.
    fn exports(&mut self, set: &ExportSet) {
        match Set::of(set.exports.iter().map(|of| (&of.export, of.document.read_all()))) {
            Ok(set) => {
                self.preview.set_comparison(Comparison::Running);
                // The thread lives as long as this sender.
                let _ = self.sets.send(set);
            }
            Err(error) => self.preview.set_comparison(Comparison::Failed(crate::error::chain(&error))),
        }
    }

    fn relay(&mut self, report: RenderedReport) {
        self.terminal.relay(report);
    }
}

/// The published exports that a candidate is compared with.
struct Published {
    side: PathBuf,
    sides: SideArgs,
    candidate: PathBuf,
}

/// The metadata of a side that's a file or folder; it changes with the content.
type SideStamp = (Option<FolderStamp>, [Option<SystemTime>; 2]);

impl Published {
    /// Compares each candidate, and compares the last one again when the published files change.
    fn compare_all(&self, candidates: &Receiver<Set>, preview: &Preview) {
        let (mut candidate, mut seen) = (None, self.stamp());
        loop {
            match candidates.recv_timeout(POLL_INTERVAL) {
                // If several candidates are waiting, skip all but the last one.
                Ok(set) => candidate = Some(candidates.try_iter().last().unwrap_or(set)),
                Err(RecvTimeoutError::Timeout) if candidate.is_none() || self.stamp() == seen => continue,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            // Take the stamp before reading the files, so that a change in the meantime is noticed.
            seen = self.stamp();
            if let Some(candidate) = &candidate {
                let compared = panics::catch(|| self.compare(candidate));
                preview.set_comparison(compared.unwrap_or_else(Comparison::Failed));
            }
        }
    }

    fn stamp(&self) -> SideStamp {
        let modified = |path: &Path| std::fs::metadata(path).and_then(|metadata| metadata.modified()).ok();
        // An index has a `CURRENT` file.
        (stamp(&self.side).ok(), [modified(&self.side), modified(&self.side.join("CURRENT"))])
    }

    fn compare(&self, candidate: &Set) -> Comparison {
        let published = match read_side(&self.side, &self.sides) {
            Ok(set) => set,
            Err(failure) => {
                tracing::warn!("can't compare the candidate with the published exports: {}", printable(&failure.text));
                return Comparison::Failed(failure.text);
            }
        };
        let difference = compare(&published, candidate);
        let (old, new) = (self.side.to_string_lossy(), self.candidate.to_string_lossy());
        let html = match render::html(&difference, &render::Options { old: &old, new: &new, limit: SHOWN }) {
            Ok(html) => html,
            Err(error) => return Comparison::Failed(crate::error::chain(&error)),
        };
        let summary = if difference.is_empty() { "Nothing changed".to_owned() } else { difference.summary.to_string() };
        Comparison::Done { summary: printable(&summary).into_owned(), html }
    }
}
