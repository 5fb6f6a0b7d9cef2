//! The link check that `check --links` adds to its report.

use std::fs::File;
use std::io;
use std::sync::Arc;

use http::HeaderValue;
use tokio::signal::unix::{SignalKind, signal};

use super::Failure;
use super::progress::bar;
use super::write_file::write_file;
use crate::cli::LinkArgs;
use crate::client::{Client, MachineNetwork, Proxies, Roots, machine_roots};
use crate::curate::links::{CONNECT_TIMEOUT, LinkCache, LinkCheck, LinksError, MachineClock, TIMEOUT};
use crate::error::chain;
use crate::export::Report;

/// The exit code of a command that was interrupted by SIGINT.
const INTERRUPTED: u8 = 130;

/// Checks the links that are due, adds all known results to the report, and stores them in the
/// cache. If the check is interrupted, stores the results so far.
pub(super) fn check(report: &mut Report, args: &LinkArgs) -> Result<(), Failure> {
    let write = |cache: &LinkCache| write_file(&args.links_cache, true, |out| cache.write(out));
    let cache = read_cache(args)?;
    // Check that the file can be written before spending hours on the links.
    write(&cache)?;
    let check = LinkCheck::new(report, cache, &MachineClock).map_err(|error| Failure::other(&error))?;
    if check.due() > 0 {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| Failure::other(&error))?;
        let asked = runtime.block_on(ask(&check, args));
        // A name lookup may still be running, which can take a long time and can't be stopped.
        runtime.shutdown_background();
        if !asked? {
            write(&check.cache())?;
            let text =
                "interrupted: the results so far are saved, and the next run checks the remaining links".to_owned();
            return Err(Failure { text, code: INTERRUPTED });
        }
    }
    write(&check.report(report))
}

/// Checks links. Returns `false` if interrupted.
async fn ask(check: &LinkCheck, args: &LinkArgs) -> Result<bool, Failure> {
    let failed = |error: &dyn std::error::Error| Failure::other(error);
    let roots = match machine_roots() {
        None if check.needs_tls() => {
            let text = "this machine has no root certificates for https; install the package ca-certificates, or set SSL_CERT_FILE";
            return Err(Failure { text: text.to_owned(), code: 1 });
        }
        roots => roots.unwrap_or_else(Roots::empty),
    };
    let proxies = Proxies::of_environment();
    let client = Client::guarded(roots, CONNECT_TIMEOUT, proxies, Arc::new(MachineNetwork), args.private);
    let client = client.map_err(|error| failed(&error))?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(|error| failed(&error))?;
    let mut terminate = signal(SignalKind::terminate()).map_err(|error| failed(&error))?;
    let bar = bar("Checking", "{pos} of {len} links");
    bar.set_length(check.due() as u64);
    let user_agent = user_agent(args.contact.as_deref()).map_err(|error| failed(&error))?;
    let asked = tokio::select! {
        asked = check.ask(client, &MachineClock, user_agent, TIMEOUT, || bar.inc(1)) => asked.map(|()| true),
        _ = interrupt.recv() => Ok(false),
        _ = terminate.recv() => Ok(false),
    };
    bar.finish_and_clear();
    asked.map_err(|error: LinksError| failed(&error))
}

fn user_agent(contact: Option<&str>) -> Result<HeaderValue, http::header::InvalidHeaderValue> {
    let contact = contact.map(|contact| format!("; +{contact}")).unwrap_or_default();
    HeaderValue::from_str(&format!("software-directory/{} (link check{contact})", env!("CARGO_PKG_VERSION")))
}

/// The results of earlier runs; empty before the first one.
fn read_cache(args: &LinkArgs) -> Result<LinkCache, Failure> {
    let path = &args.links_cache;
    match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(LinkCache::default()),
        file => file.map_err(Into::into).and_then(LinkCache::read).map_err(|error| {
            let text = "remove it to check all links again, or choose another file with --links-cache";
            Failure { text: format!("the link cache {}: {}; {text}", path.display(), chain(&error)), code: 1 }
        }),
    }
}
