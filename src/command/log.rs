//! The log, on standard error, for people or as JSON. It never blocks and never fails: lines that
//! can't be written in time are dropped and counted.

use std::io::{self, Write};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

use prometheus::IntCounter;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

use super::Failure;
use crate::cli::LogFormat;
use crate::http::ACCESS_LOG;

/// How many lines can be queued.
const MAX_QUEUED: usize = 4096;
/// The maximum length of a line, in bytes; longer lines are truncated. This limits the queue to
/// 64 MiB; in practice, it uses a thousandth of that.
const MAX_LINE_BYTES: usize = 16 * 1024;
/// How long to wait on exit for the log to be written.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(1);

/// The log's queue.
#[derive(Debug, Clone)]
pub(super) struct Log {
    queue: SyncSender<Entry>,
    /// The number of lines dropped because the queue was full or writing failed.
    pub(super) dropped: IntCounter,
}

#[derive(Debug)]
enum Entry {
    Text(Vec<u8>),
    /// A flush request, answered once everything before it has been written.
    Flush(SyncSender<()>),
}

impl Log {
    /// Starts the writing thread.
    pub(super) fn start(out: impl Write + Send + 'static) -> io::Result<Self> {
        let (queue, entries) = sync_channel(MAX_QUEUED);
        let dropped = IntCounter::new(
            "software_directory_log_lines_dropped_total",
            "Log lines dropped because standard error wasn't read in time or couldn't be written.",
        );
        let dropped = dropped.map_err(io::Error::other)?;
        let log = Self { queue, dropped: dropped.clone() };
        std::thread::Builder::new().name("log".to_owned()).spawn(move || write_all(&entries, out, &dropped))?;
        Ok(log)
    }

    /// Writes several lines with no other line in between.
    pub(super) fn text(&self, text: &[u8]) {
        if self.queue.try_send(Entry::Text(text.to_vec())).is_err() {
            self.dropped.inc();
        }
    }

    /// Waits until everything queued so far has been written, but no longer than a second.
    pub(super) fn flush(&self) {
        let (done, is_done) = sync_channel(1);
        if self.queue.try_send(Entry::Flush(done)).is_ok() {
            let _ = is_done.recv_timeout(FLUSH_TIMEOUT);
        }
    }
}

impl Write for Log {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if line.len() <= MAX_LINE_BYTES {
            self.text(line);
        } else {
            self.text(&[&line[..MAX_LINE_BYTES], b"\n"].concat());
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

fn write_all(entries: &Receiver<Entry>, mut out: impl Write, dropped: &IntCounter) {
    for entry in entries {
        match entry {
            Entry::Text(text) => {
                if out.write_all(&text).and_then(|()| out.flush()).is_err() {
                    dropped.inc();
                }
            }
            Entry::Flush(done) => drop(done.try_send(())),
        }
    }
}

/// Starts logging to standard error. From here on, the location of each panic is recorded.
pub(super) fn start(filter: &str, access_log: bool, format: LogFormat) -> Result<Log, Failure> {
    let filter = parse_filter(filter, access_log)?;
    let failed =
        |error: &dyn std::fmt::Display| Failure { text: format!("logging can't be started: {error}"), code: 1 };
    let log = Log::start(io::stderr()).map_err(|error| failed(&error))?;
    let subscriber = tracing_subscriber::fmt().with_env_filter(filter).with_writer(log.clone());
    let started = match format {
        LogFormat::Text => subscriber
            .with_target(false)
            .with_ansi(anstream::AutoStream::choice(&io::stderr()) != anstream::ColorChoice::Never)
            .try_init(),
        LogFormat::Json => subscriber.json().flatten_event(true).try_init(),
    };
    started.map_err(|error| failed(&error))?;
    crate::panics::install_hook();
    Ok(log)
}

/// The levels, which are case-insensitive.
const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];
/// The root target of this program's lines.
const TARGET: &str = "software_directory";

/// Parses a filter, and adds the access log to it.
///
/// # Errors
/// If it's invalid, contains a word that is neither a level nor one of this program's targets, or
/// matches none of this program's lines. The exit code is 2.
fn parse_filter(filter: &str, access_log: bool) -> Result<EnvFilter, Failure> {
    let wrong = |reason: &str| Failure::usage(format!("--log `{filter}`: {reason}"));
    let mut is_of_program = false;
    for directive in filter.split(',').map(str::trim).filter(|directive| !directive.is_empty()) {
        let target = directive.split(['=', '[']).next().unwrap_or_default();
        let is_level = LEVELS.iter().any(|level| target.eq_ignore_ascii_case(level));
        let is_target = is_target(target);
        if target == directive && !is_level && !is_target {
            let nearest = LEVELS.iter().min_by_key(|level| strsim::osa_distance(level, target)).unwrap_or(&"info");
            return Err(wrong(&format!(
                "`{target}` isn't a level; did you mean `{nearest}`? The levels are {}; to filter another part of \
                 the program, give it one, such as \
                 `hyper=debug`",
                LEVELS.join(", ")
            )));
        }
        // A directive without a target, such as `[span]=debug`, matches all targets.
        is_of_program |= is_level || is_target || target.is_empty();
    }
    if !is_of_program {
        return Err(wrong(&format!(
            "it doesn't match any of this program's log lines; add a level such as `info`, or `{TARGET}=debug`"
        )));
    }
    // rmcp logs each message at `info`, with text from the client. The access log already has a
    // line for it.
    let is_quieter =
        |directive: &str| ["off", "error"].iter().any(|level| directive.trim().eq_ignore_ascii_case(level));
    let rmcp = if filter.split(',').any(is_quieter) { "" } else { "rmcp=warn," };
    // A filter that names the access log has the last word.
    let access = format!("{ACCESS_LOG}={},", if access_log { "info" } else { "off" });
    EnvFilter::try_new(format!("{rmcp}{access}{filter}")).map_err(|error| wrong(&format!("{error}; try `info`")))
}

/// Whether a target belongs to this program.
fn is_target(target: &str) -> bool {
    target.strip_prefix(TARGET).is_some_and(|part| part.is_empty() || part.starts_with("::"))
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    /// A writer that blocks until it's released, then fails.
    struct Stuck(Receiver<()>);

    impl Write for Stuck {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            let _ = self.0.recv();
            Err(io::ErrorKind::BrokenPipe.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn lines_are_dropped_and_counted_if_nobody_reads_the_log() {
        let (release, stuck) = channel();
        let mut log = Log::start(Stuck(stuck)).expect("a thread");
        // One line is being written, or is about to be.
        for _ in 0..MAX_QUEUED + 11 {
            log.write_all(b"a line\n").expect("logging never fails");
        }
        assert!((10..=11).contains(&log.dropped.get()), "{}", log.dropped.get());
        drop(release);
        log.queue.send(Entry::Flush(sync_channel(1).0)).expect("the thread runs");
    }

    #[test]
    fn lines_that_cannot_be_written_are_counted() {
        let (release, stuck) = channel();
        let mut log = Log::start(Stuck(stuck)).expect("a thread");
        drop(release);
        log.write_all(b"a line\n").expect("logging never fails");
        Log::flush(&log);
        assert_eq!(log.dropped.get(), 1);
    }

    #[test]
    fn levels_and_targets_are_valid_filters() {
        for filter in [
            "info",
            "INFO",
            "off",
            "software_directory",
            "software_directory=debug",
            "info,software_directory::http::access=info",
            "warn,hyper=trace",
            "hyper=trace,software_directory=off",
        ] {
            assert!(parse_filter(filter, false).is_ok(), "{filter}");
        }
    }

    #[test]
    fn a_filter_that_would_silence_the_log_is_rejected_with_a_fix() {
        for (filter, remedy) in [
            ("inf", "did you mean `info`?"),
            ("debgu", "did you mean `debug`?"),
            ("info,debgu", "did you mean `debug`?"),
            ("softwar_directory=debug", "any of this program's log lines"),
            ("", "any of this program's log lines"),
            ("software_directory=inf", "try `info`"),
        ] {
            let failure = parse_filter(filter, true).expect_err(filter);
            assert!(failure.code == 2 && failure.text.contains(remedy), "{filter}: {}", failure.text);
        }
    }
}
