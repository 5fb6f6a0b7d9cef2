//! The settings of builds, and running them in a separate process, which isolates crashes and limits
//! memory and CPU use.
//!
//! The process receives the served ids as JSON on standard input, and writes [`Message`]s to
//! standard output, one per line.

use std::ffi::OsString;
use std::io::{self, BufRead as _, BufReader, BufWriter, Write as _};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::export::{IdPrefixes, Limits};
use crate::generation::Snapshot;
use crate::generation::build::Processors;
use crate::generation::failure::{BuildFailure, FailureCode};
use crate::generation::name::{Generation, MeaningOption};
use crate::generation::observer::{Observer, Phase, RenderedReport};
use crate::generation::source::Source;

/// The ids of the products being served. Exports that would remove too many of them are withheld.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct ServedIds(pub(crate) Vec<String>);

impl ServedIds {
    pub fn of(snapshot: &Snapshot) -> Self {
        Self(snapshot.records.ids().collect())
    }
}

/// The command that builds a generation on disk.
#[derive(Debug, Clone)]
pub struct BuildProcess {
    pub program: PathBuf,
    pub arguments: Vec<OsString>,
    /// Variables to add to this process's environment.
    pub environment: Vec<(OsString, OsString)>,
}

/// A message from the process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Message {
    Progress {
        phase: Phase,
        done: u64,
        total: u64,
    },
    /// How much processor time the build has used so far, sent every [`USAGE_INTERVAL`].
    Used(Duration),
    /// The exports have been read, with these findings.
    Report(RenderedReport),
    /// The last message: the generation is current on disk.
    Built {
        /// The generation's folder name.
        folder: String,
        is_new: bool,
    },
    /// The last message: there is no new generation.
    Failed(BuildFailure),
}

/// How often a build reports how much processor time it has used.
pub const USAGE_INTERVAL: Duration = Duration::from_secs(1);

impl BuildProcess {
    /// Runs the process to completion. Returns the generation's folder name and whether it had to
    /// be built. Meanwhile, `watch` receives the processor time used so far, even if the process
    /// isn't getting any.
    pub(crate) fn run(
        &self,
        served: &ServedIds,
        processors: Processors,
        observer: &mut dyn Observer,
        watch: &mut dyn FnMut(Duration),
    ) -> Result<(String, bool), BuildFailure> {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).envs(self.environment.iter().map(|(name, value)| (name, value)));
        command.arg(match processors {
            Processors::One => "--for-server=one",
            Processors::All => "--for-server=all",
        });
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let failed = |error: io::Error| {
            BuildFailure::transient(FailureCode::BuildFailed, format!("the build process can't be started: {error}"))
        };
        let mut child = child.map_err(failed)?;
        let log = relay_log(&mut child);
        if let Some(stdin) = child.stdin.take() {
            let mut stdin = BufWriter::new(stdin);
            // A process that ended early explains why on standard error.
            let _ = serde_json::to_writer(&mut stdin, served).map_err(io::Error::from).and_then(|()| stdin.flush());
        }
        let message = child.stdout.take().and_then(|stdout| last_message(stdout, observer, USAGE_INTERVAL, watch));
        let status = child.wait().map_err(failed)?;
        let last_line = log.and_then(|log| log.join().ok()).unwrap_or_default();
        message.unwrap_or_else(|| Err(died(status, &last_line)))
    }
}

/// Logs the process's standard error. The thread returns the last line that explains what happened.
fn relay_log(child: &mut Child) -> Option<JoinHandle<String>> {
    let stderr = BufReader::new(child.stderr.take()?);
    let relay = move || {
        let mut last = String::new();
        for line in stderr.lines().map_while(Result::ok) {
            tracing::warn!("{line}");
            // Whatever follows a failure is a backtrace, or a hint on how to get one.
            if ![" ", "note: ", "stack backtrace:"].iter().any(|start| line.starts_with(start)) {
                last = line;
            }
        }
        last
    };
    thread::Builder::new().name("build-log".to_owned()).spawn(relay).ok()
}

/// Forwards messages up to the last one; `None` if there is none. Calls `watch` at least once per
/// interval.
fn last_message(
    messages: impl io::Read + Send,
    observer: &mut dyn Observer,
    interval: Duration,
    watch: &mut dyn FnMut(Duration),
) -> Option<Result<(String, bool), BuildFailure>> {
    thread::scope(|scope| {
        let (sender, lines) = sync_channel(1);
        let read = move || {
            let mut lines = BufReader::new(messages).lines().map_while(Result::ok);
            lines.try_for_each(|line| sender.send(line))
        };
        thread::Builder::new().name("build-messages".to_owned()).spawn_scoped(scope, read).ok()?;
        let mut used = Duration::ZERO;
        loop {
            match lines.recv_timeout(interval).map(|line| serde_json::from_str(&line)) {
                Ok(Ok(Message::Progress { phase, done, total })) => {
                    let _ = observer.progress(phase, done, total);
                }
                Ok(Ok(Message::Used(time))) => used = time,
                Ok(Ok(Message::Report(report))) => observer.relay(report),
                Ok(Ok(Message::Built { folder, is_new })) => return Some(Ok((folder, is_new))),
                Ok(Ok(Message::Failed(failure))) => return Some(Err(failure)),
                Err(RecvTimeoutError::Timeout) => {}
                Ok(Err(error)) => tracing::warn!(%error, "a message from the build process can't be read"),
                Err(RecvTimeoutError::Disconnected) => return None,
            }
            watch(used);
        }
    })
}

/// The failure for a process that ended without a last message.
fn died(status: ExitStatus, last_line: &str) -> BuildFailure {
    let detail = if last_line.starts_with("memory allocation of") || is_killed(status) {
        format!(
            "the build process ran out of memory ({status}); give it more with --max-build-bytes, or give the \
             machine more"
        )
    } else {
        format!("the build process ended early ({status}); see the log")
    };
    BuildFailure::transient(FailureCode::BuildFailed, detail)
}

/// Whether the process was killed, as happens when memory runs out.
fn is_killed(status: ExitStatus) -> bool {
    use std::os::unix::process::ExitStatusExt;
    status.signal() == Some(9)
}

#[derive(Debug, Clone)]
pub struct Settings {
    pub source: Source,
    /// Where generations are stored; `None` keeps them in memory only.
    pub index: Option<PathBuf>,
    /// Whether generations are only loaded from the index folder, never written to it.
    pub read_only: bool,
    /// Whether to serve the valid records in an invalid set.
    pub skip_invalid: bool,
    /// The largest share of records that may disappear without confirmation, as a percentage.
    pub max_removed: u8,
    pub id_prefixes: IdPrefixes,
    pub meaning: MeaningOption,
    pub limits: Limits,
    /// The process that builds generations on disk; `None` to build in this process.
    pub process: Option<BuildProcess>,
}

impl Settings {
    /// The name of the generation that these settings produce from exports with this name.
    #[must_use]
    pub fn name(&self, generation: Generation) -> Generation {
        generation.prefixed(&self.id_prefixes).with_meaning(self.meaning).trusting(&self.limits.trusted_keys)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generation::observer::Unobserved;

    #[test]
    fn the_processor_time_is_watched_even_if_a_build_gets_none() {
        let (reader, writer) = io::pipe().expect("a pipe");
        let mut writer = Some(writer);
        let send = |mut writer: &io::PipeWriter, message: &Message| {
            writeln!(writer, "{}", serde_json::to_string(message).expect("JSON")).expect("written");
        };
        let used = Duration::from_secs(2);
        let mut seen = Vec::new();
        send(writer.as_ref().expect("open"), &Message::Progress { phase: Phase::Merging, done: 1, total: 2 });
        // The build says nothing more until the watch has been called without a message.
        let mut watch = |time| {
            seen.push(time);
            match seen.len() {
                2 => send(writer.as_ref().expect("open"), &Message::Used(used)),
                // The build sends its last message and exits.
                4 => send(&writer.take().expect("open"), &Message::Built { folder: "new".to_owned(), is_new: true }),
                _ => {}
            }
        };
        let last = last_message(reader, &mut Unobserved, Duration::from_millis(1), &mut watch);
        assert_eq!(last, Some(Ok(("new".to_owned(), true))));
        assert_eq!(seen[..2], [Duration::ZERO; 2]);
        assert_eq!(seen.last(), Some(&used));
    }
}
