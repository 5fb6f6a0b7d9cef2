//! `mcp`: the directory as tools of an assistant, on standard input and output, without a server.

use std::future::Future;
use std::io;
use std::process::ExitCode;
use std::sync::Arc;

use super::log::Log;
use super::progress::Terminal;
use super::{Failure, INVALID, data, print_error, print_note};
use crate::cli::{LogFormat, McpArgs};
use crate::error::chain;
use crate::http::PublicUrl;
use crate::mcp::{Host, Refused, ToolServer, serve};
use crate::printable::printable;
use crate::service::ServiceError;
use crate::snapshot::keeper::Keeper;
use crate::snapshot::{Directory, Settings, Snapshot};

/// Searches run where they are awaited: there is one caller.
#[derive(Debug, Clone, Copy)]
struct Direct;

impl Host for Direct {
    async fn run<F>(&self, search: F) -> Result<F::Output, Refused>
    where
        F: Future<Output: Send + 'static> + Send + 'static,
    {
        Ok(search.await)
    }

    fn failed(&self, error: ServiceError) {
        print_error(&printable(&chain(&error)));
    }
}

pub(super) fn run(args: &McpArgs) -> ExitCode {
    match answer(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            print_error(&failure.text);
            ExitCode::from(failure.code)
        }
    }
}

/// Loads the directory once and answers until standard input ends. Standard output is the protocol's.
fn answer(args: &McpArgs) -> Result<(), Failure> {
    data::check(&args.data)?;
    let public_url = args.public_url.as_deref().filter(|url| !url.is_empty()).map(PublicUrl::parse).transpose();
    let public_url = public_url.map_err(|error| Failure::usage(error.to_string()))?;
    let base = public_url.as_ref().map_or("", PublicUrl::as_str);
    let directory = Arc::new(Directory::default());
    let snapshot = load(args, &directory)?;
    let tools = ToolServer::new(snapshot, directory.published_at(), base, Direct);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    let runtime = runtime.map_err(|error| Failure::other(&error))?;
    let served = runtime.block_on(serve(tools, tokio::io::stdin(), tokio::io::stdout()));
    // A read of standard input may still be waiting.
    runtime.shutdown_background();
    served.map_err(|error| Failure::other(&error))
}

fn load(args: &McpArgs, directory: &Arc<Directory>) -> Result<Arc<Snapshot>, Failure> {
    // Read-only, because a running server takes over each new generation on disk.
    let settings = Settings { read_only: true, ..data::settings(&args.data, 100) };
    let log = Log::start(io::stderr()).map_err(|error| Failure::other(&error))?;
    let terminal = Terminal::new(LogFormat::Text, log.clone());
    let started = Keeper::new(settings, Arc::clone(directory), Box::new(terminal)).start();
    log.flush();
    if let Err(failure) = started {
        return Err(Failure { text: printable(&failure.to_string()).into_owned(), code: INVALID });
    }
    for reason in directory.degraded().iter() {
        print_note(&format!("warning: {}", printable(&reason.detail)));
    }
    directory.current().ok_or_else(|| Failure { text: "no generation is loaded".to_owned(), code: 1 })
}
