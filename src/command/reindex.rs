//! `--reindex`: builds a generation. If an operator runs it, this also confirms the removal of
//! records. If a server runs it as a child process, the build's memory use, CPU time and failures
//! don't affect the server.

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

use super::Failure;
use super::limits::limit_build;
use super::log::Log;
use super::progress::{Terminal, is_reported, rendered};
use crate::cli::{BuildProcessors, LogFormat, ServeArgs};
use crate::export::Report;
use crate::generation::builder::{Builder, Built};
use crate::generation::process::{BuildProcess, Message, USAGE_INTERVAL};
use crate::generation::source::Source;
use crate::generation::store::{Forgotten, Manifest, Store};
use crate::generation::{
    BuildFailure, Change, FailureCode, MeaningOption, Observer, Phase, Processors, RenderedReport, Settings,
    open_catalogue,
};
use crate::panics;
use crate::text::count::counted;
use crate::text::printable::printable;

/// Generations with more products than this aren't compared with the previous one.
const MOST_COMPARED: u64 = 200_000;

/// Builds a generation for an operator, and reports the result.
pub(super) fn run(args: &ServeArgs, settings: &Settings, log: &Log) -> Result<(), Failure> {
    let Some(index) = &settings.index else {
        return Err(Failure::usage("--reindex writes an index folder, so it can't be combined with --index none"));
    };
    limit_build(args.max_build_bytes);
    let started = Instant::now();
    let mut terminal = Terminal::new(args.log_format, log.clone());
    let mut builder = Builder { settings, observer: &mut terminal, served: None, processors: Processors::One };
    let store = Store::new(index);
    let before = store.current();
    let built = BuildFailure::catch(|| builder.build_on_disk(&store));
    let Built { manifest, .. } = built.map_err(|failure| Failure::from_build(&failure))?;
    let text = format!(
        "Indexed {} as generation {} in {}, in {:.1} s\n",
        counted(manifest.software_count, "product"),
        manifest.generation,
        index.display(),
        started.elapsed().as_secs_f64()
    );
    // The generation is current even if standard output is closed.
    let _ = io::stdout().write_all(text.as_bytes());
    if let Some(change) = before.and_then(|before| change(&store, &before, &manifest)) {
        let _ = writeln!(io::stdout(), "{}", printable(&change.to_string()));
    }
    if args.forget.is_empty() { Ok(()) } else { forget(&store, &manifest, &args.forget) }
}

/// Erases what the index remembers about removed products.
fn forget(store: &Store, manifest: &Manifest, ids: &[String]) -> Result<(), Failure> {
    let text = match store.forget(manifest, ids, jiff::Timestamp::now().to_string())? {
        Forgotten::StillListed(id) => {
            let message = format!("can't forget {id:?}, because it's still in the exports: remove its record first");
            return Err(Failure::usage(printable(&message).to_string()));
        }
        Forgotten::Unknown => "Nothing to forget: the change log has nothing about these ids\n",
        Forgotten::Erased => "Forgot these ids: the change log only says that they were removed\n",
    };
    let _ = io::stdout().write_all(text.as_bytes());
    Ok(())
}

/// The changes since the previous generation; `None` if that generation is gone or damaged, or if
/// either of them is too large to load.
fn change(store: &Store, before: &Manifest, after: &Manifest) -> Option<Change> {
    if before.software_count.max(after.software_count) > MOST_COMPARED {
        return None;
    }
    let open = |manifest: &Manifest| open_catalogue(&mut store.load_catalogue(manifest).ok()?).ok();
    let (old, new) = (open(before)?, open(after)?);
    Some(Change::between(Some((&old.0, &old.1)), (&new.0, &new.1), (Some(&before.inputs), Some(&after.inputs))))
}

/// Builds a generation for a server, and sends it messages on standard output.
pub(super) fn run_for_server(args: &ServeArgs, processors: BuildProcessors, settings: &Settings) -> ExitCode {
    let processors = match processors {
        BuildProcessors::One => Processors::One,
        BuildProcessors::All => Processors::All,
    };
    panics::install_hook();
    // The server adds the time and the level.
    let _ = tracing_subscriber::fmt()
        .with_env_filter(&args.log)
        .with_writer(io::stderr)
        .with_ansi(false)
        .with_target(false)
        .without_time()
        .with_level(false)
        .try_init();
    // Requests take precedence.
    let available = thread::available_parallelism().map_or(1, usize::from);
    let _ = rustix::process::nice(processors.niceness(available));
    // If the system runs out of memory, this process is killed first.
    #[cfg(target_os = "linux")]
    let _ = std::fs::write("/proc/self/oom_score_adj", "1000");
    limit_build(args.max_build_bytes);
    let mut messenger = Messenger { format: args.log_format, is_heard: true };
    // Without these messages, the server would consider the build slow.
    let _ = thread::Builder::new().name("usage".to_owned()).spawn(report_usage);
    let message = match BuildFailure::catch(|| build(settings, processors, &mut messenger)) {
        Ok((folder, is_new)) => Message::Built { folder, is_new },
        Err(failure) => Message::Failed(failure),
    };
    messenger.send(&message);
    ExitCode::SUCCESS
}

/// Tells the server how much processor time this process has used, for as long as it's running.
fn report_usage() {
    loop {
        thread::sleep(USAGE_INTERVAL);
        let used = Duration::try_from(clock_gettime(ClockId::ProcessCPUTime)).unwrap_or_default();
        if send(&Message::Used(used)).is_err() {
            return;
        }
    }
}

fn build(
    settings: &Settings,
    processors: Processors,
    messenger: &mut Messenger,
) -> Result<(String, bool), BuildFailure> {
    let failed = |detail: String| BuildFailure::transient(FailureCode::BuildFailed, detail);
    let served = serde_json::from_reader(io::stdin().lock())
        .map_err(|error| failed(format!("the server hasn't said what it's serving: {error}")))?;
    let index = settings.index.as_deref().ok_or_else(|| failed("there is no index folder".to_owned()))?;
    let mut builder = Builder { settings, observer: messenger, served: Some(served), processors };
    let built = builder.build_on_disk(&Store::new(index))?;
    Ok((built.manifest.folder_name(), built.is_new))
}

/// The process that builds generations for a server with these arguments; `None` if the server
/// builds in-process: in memory, or the embedded exports, which are small.
pub(super) fn process(args: &ServeArgs, settings: &Settings) -> io::Result<Option<BuildProcess>> {
    let (Some(index), Some(data)) = (&settings.index, settings.source.folder()) else { return Ok(None) };
    let mut arguments: Vec<OsString> = vec!["--reindex".into()];
    let mut option = |name: &str, value: OsString| arguments.extend([name.into(), value]);
    option("--data", data.into());
    if let Source::WithDemo(_, demo) = &settings.source {
        option("--demo", demo.into());
    }
    option("--index", index.into());
    option("--max-file-bytes", settings.limits.max_file_bytes.to_string().into());
    option("--max-removed", settings.max_removed.to_string().into());
    option("--log", (&args.log).into());
    option("--log-format", if args.log_format == LogFormat::Json { "json" } else { "text" }.into());
    if let Some(bytes) = args.max_build_bytes {
        option("--max-build-bytes", bytes.to_string().into());
    }
    for (export, prefix) in &settings.id_prefixes {
        option("--id-prefix", format!("{export}={prefix}").into());
    }
    for key in settings.limits.trusted_keys.iter() {
        option("--trusted-key", key.into());
    }
    if settings.meaning == MeaningOption::Off {
        option("--meaning", "off".into());
    }
    if settings.skip_invalid {
        arguments.push("--skip-invalid".into());
    }
    // The child's standard error isn't a terminal, but its reports may end up on one.
    let is_coloured = anstream::AutoStream::choice(&io::stderr()) != anstream::ColorChoice::Never;
    // Each phase frees a lot of memory. This returns it to the system after 10 ms instead of a
    // second.
    let mut environment = vec![("MIMALLOC_PURGE_DELAY".into(), "10".into())];
    if is_coloured {
        environment.push(("CLICOLOR_FORCE".into(), "1".into()));
    }
    Ok(Some(BuildProcess { program: program()?, arguments, environment }))
}

/// The running program itself, since its path may already point to a newer version.
fn program() -> io::Result<PathBuf> {
    if cfg!(target_os = "linux") { Ok("/proc/self/exe".into()) } else { std::env::current_exe() }
}

/// Sends messages to the server.
struct Messenger {
    format: LogFormat,
    /// Whether the server is still running.
    is_heard: bool,
}

impl Messenger {
    fn send(&mut self, message: &Message) {
        self.is_heard &= send(message).is_ok();
    }
}

fn send(message: &Message) -> io::Result<()> {
    let line = serde_json::to_string(message)?;
    let mut out = io::stdout().lock();
    writeln!(out, "{line}").and_then(|()| out.flush())
}

impl Observer for Messenger {
    fn progress(&mut self, phase: Phase, done: u64, total: u64) -> ControlFlow<()> {
        if is_reported(phase, done, total) {
            self.send(&Message::Progress { phase, done, total });
        }
        // The build is useless without the server that requested it.
        if self.is_heard { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }

    fn report(&mut self, report: &Report) {
        self.send(&Message::Report(rendered(report, self.format)));
    }

    fn relay(&mut self, report: RenderedReport) {
        self.send(&Message::Report(report));
    }
}
