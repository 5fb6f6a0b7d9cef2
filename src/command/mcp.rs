//! `mcp`: offers the directory to an assistant as tools, on standard input and output, without a
//! server.

use std::process::ExitCode;
use std::sync::Arc;

use super::{Failure, data, print_error};
use crate::cli::McpArgs;
use crate::error::chain;
use crate::http::PublicUrl;
use crate::mcp::{Host, Refused, ToolServer, serve};
use crate::service::{SearchSoftware, ServiceError, Stop};
use crate::text::printable::printable;
use crate::update::Directory;

/// Runs each search in the task that awaits it, because there's only one caller.
#[derive(Debug, Clone, Copy)]
struct Direct;

impl Host for Direct {
    async fn run<T: Send + 'static>(&self, work: impl FnOnce(Stop) -> T + Send + 'static) -> Result<T, Refused> {
        Ok(work(Stop::default()))
    }

    fn searched(&self, _: &SearchSoftware, _: u64) {}

    fn failed(&self, error: ServiceError) {
        print_error(&printable(&chain(&error)));
    }
}

/// Loads the directory once and responds until standard input ends. Standard output is reserved for
/// the protocol.
pub(super) fn run(args: &McpArgs) -> Result<ExitCode, Failure> {
    let public_url = args.public_url.as_deref().map(PublicUrl::parse).transpose();
    let public_url = public_url.map_err(|error| Failure::usage(error.to_string()))?;
    let base = public_url.as_ref().map_or("", PublicUrl::as_str);
    let directory = Arc::new(Directory::default());
    let snapshot = data::load(&args.data, &directory)?;
    let tools = ToolServer::new(snapshot, directory.published_at(), base, Direct);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let served = runtime.block_on(serve(tools, tokio::io::stdin(), tokio::io::stdout()));
    // A read from standard input may still be pending.
    runtime.shutdown_background();
    served?;
    Ok(ExitCode::SUCCESS)
}
