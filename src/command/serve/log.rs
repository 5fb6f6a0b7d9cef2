//! The log: on standard error, for people or as JSON, panics included.

use std::io;

use tracing_subscriber::EnvFilter;

use super::Failure;
use crate::cli::{LogFormat, ServeArgs};
use crate::http;

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
    http::log_panics();
    Ok(())
}
