//! The log: on standard error, for people or as JSON, panics included.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::io;
use std::panic::PanicHookInfo;

use tracing_subscriber::EnvFilter;

use super::Failure;
use crate::cli::{LogFormat, ServeArgs};

/// Starts logging.
pub(super) fn start(args: &ServeArgs) -> Result<(), Failure> {
    let filter = EnvFilter::try_new(&args.log)
        .map_err(|error| Failure::usage(format!("--log {:?} is no filter: {error}; try `info`", args.log)))?;
    let subscriber = tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr);
    let started = match args.log_format {
        LogFormat::Text => subscriber
            .with_target(false)
            .with_ansi(anstream::AutoStream::choice(&io::stderr()) != anstream::ColorChoice::Never)
            .try_init(),
        LogFormat::Json => subscriber.json().flatten_event(true).try_init(),
    };
    started.map_err(|error| Failure { text: format!("logging can't be started: {error}"), code: 1 })?;
    std::panic::set_hook(Box::new(log_panic));
    Ok(())
}

/// Logs a panic with its place, and with the backtrace where `RUST_BACKTRACE` asks for it. Its consequence, such as a failed
/// request or reload, is logged where the panic is caught.
fn log_panic(panic: &PanicHookInfo<'_>) {
    let place = panic.location().map(ToString::to_string).unwrap_or_default();
    let backtrace = Some(Backtrace::capture()).filter(|trace| trace.status() == BacktraceStatus::Captured);
    tracing::error!(
        thread = std::thread::current().name(),
        place,
        backtrace = backtrace.as_ref().map(tracing::field::display),
        "a thread panicked: {}",
        panic.payload_as_str().unwrap_or("no message")
    );
}
