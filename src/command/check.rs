//! `check`: reports the errors and warnings in export files, and with `--links` dead and moved links.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use http::HeaderValue;
use tokio::signal::unix::{SignalKind, signal};

use super::progress::bar;
use super::read_exports;
use super::write_file::write_file;
use super::{Failure, INVALID, check_printed, print_error};
use crate::cli::{CheckArgs, CheckFormat, Deny, LinkArgs};
use crate::client::{Client, MachineNetwork, Proxies, Roots, machine_roots};
use crate::curate::links::{CONNECT_TIMEOUT, LinkCache, LinkCheck, MachineClock, TIMEOUT};
use crate::error::chain;
use crate::export::{self, MaxAge, Report, render};

/// Checks the files and prints the report to standard output. Exit codes: 0 valid, 1 the check
/// itself failed, 2 invalid exports or denied warnings.
pub(super) fn run(args: &CheckArgs) -> Result<ExitCode, Failure> {
    if args.statistics && args.format != CheckFormat::Text {
        return Err(Failure::usage(
            "--statistics works only with the text format: leave out --format, or use --format text",
        ));
    }
    let now = jiff::Zoned::now();
    let too_long = || Failure::usage("--stale reaches back before the year 0: use a shorter age, such as 365d");
    let max_age = args.stale.map(|age| MaxAge::new(now.date(), age).ok_or_else(too_long)).transpose()?;
    let mut report = read_exports::read(&args.files, export::latest_day(now.timestamp()), max_age)?;
    if args.links.links {
        check_links(&mut report, &args.links)?;
    }
    check_printed(print(&report, args))?;
    let denied = if args.deny == Some(Deny::Warnings) { report.warning_count() } else { 0 };
    if denied > 0 && report.is_valid() {
        print_error("warnings are denied: correct them, or check without --deny warnings");
    }
    Ok(if report.is_valid() && denied == 0 { ExitCode::SUCCESS } else { ExitCode::from(INVALID) })
}

fn print(report: &Report, args: &CheckArgs) -> io::Result<()> {
    let mut out = io::BufWriter::new(anstream::stdout().lock());
    match args.format {
        CheckFormat::Text if args.statistics => render::statistics(report, &mut out)?,
        CheckFormat::Text => render::text(report, render::Style::Coloured, &mut out)?,
        CheckFormat::Json => render::json(report, &mut out)?,
        CheckFormat::Github => render::github(report, &mut out)?,
        CheckFormat::Sarif => render::sarif(report, &mut out)?,
    }
    out.flush()
}

/// The exit code of a command that was interrupted by SIGINT.
const INTERRUPTED: u8 = 130;

/// Checks the links that are due, adds all known results to the report, and stores them in the
/// cache. If the check is interrupted, stores the results so far.
fn check_links(report: &mut Report, args: &LinkArgs) -> Result<(), Failure> {
    let write = |cache: &LinkCache| write_file(&args.links_cache, true, |out| cache.write(out));
    let cache = read_cache(&args.links_cache)?;
    // Check that the file can be written before spending hours on the links.
    write(&cache)?;
    let check = LinkCheck::new(report, cache, &MachineClock, args.changed)?;
    if check.due() > 0 {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
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
    let roots = match machine_roots() {
        None if check.needs_tls() => {
            let text = "this machine has no root certificates for https; install the package ca-certificates, or set SSL_CERT_FILE";
            return Err(Failure { text: text.to_owned(), code: 1 });
        }
        roots => roots.unwrap_or_else(Roots::empty),
    };
    let proxies = Proxies::of_environment();
    let client = Client::guarded(roots, CONNECT_TIMEOUT, proxies, Arc::new(MachineNetwork), args.private)?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let bar = bar("Checking", "{pos} of {len} links");
    bar.set_length(check.due() as u64);
    let user_agent = user_agent(args.contact.as_deref())?;
    let asked = tokio::select! {
        asked = check.ask(client, &MachineClock, user_agent, TIMEOUT, || bar.inc(1)) => asked.map(|()| true),
        _ = interrupt.recv() => Ok(false),
        _ = terminate.recv() => Ok(false),
    };
    bar.finish_and_clear();
    Ok(asked?)
}

fn user_agent(contact: Option<&str>) -> Result<HeaderValue, http::header::InvalidHeaderValue> {
    let contact = contact.map(|contact| format!("; +{contact}")).unwrap_or_default();
    HeaderValue::from_str(&format!("software-directory/{} (link check{contact})", env!("CARGO_PKG_VERSION")))
}

/// The results of earlier runs; empty before the first one.
pub(super) fn read_cache(path: &Path) -> Result<LinkCache, Failure> {
    match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(LinkCache::default()),
        file => file.map_err(Into::into).and_then(LinkCache::read).map_err(|error| {
            let text = "remove it to check all links again, or choose another file with --links-cache";
            Failure { text: format!("the link cache {}: {}; {text}", path.display(), chain(&error)), code: 1 }
        }),
    }
}
