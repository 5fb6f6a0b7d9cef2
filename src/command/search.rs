//! `search`: the best matches on the terminal, without a server.

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;

use serde::Deserialize;

use super::log::Log;
use super::progress::Terminal;
use super::{INVALID, data, print_error, print_note};
use crate::cli::{LogFormat, SearchArgs};
use crate::error::chain;
use crate::printable::printable;
use crate::service::{PageRequest, SearchPage, SearchSoftware, search_software};
use crate::snapshot::keeper::Keeper;
use crate::snapshot::{Directory, Settings};

/// The shown fields of a product.
#[derive(Debug, Deserialize)]
struct Shown {
    id: String,
    name: String,
    tagline: Option<String>,
    category: Option<String>,
}

pub(super) fn run(args: &SearchArgs) -> ExitCode {
    let directory = Arc::new(Directory::default());
    // Read-only, because a running server takes over each new generation on disk.
    let settings = Settings { read_only: true, ..data::settings(&args.data, 100) };
    let log = match Log::start(io::stderr()) {
        Ok(log) => log,
        Err(error) => {
            print_error(&error.to_string());
            return ExitCode::FAILURE;
        }
    };
    let terminal = Terminal::new(LogFormat::Text, log.clone());
    let mut keeper = Keeper::new(settings, Arc::clone(&directory), Box::new(terminal));
    let started = keeper.start();
    log.flush();
    if let Err(failure) = started {
        print_error(&printable(&failure.to_string()));
        return ExitCode::from(INVALID);
    }
    for reason in directory.degraded().iter() {
        print_note(&format!("warning: {}", printable(&reason.detail)));
    }
    let Some(snapshot) = directory.current() else { return ExitCode::FAILURE };
    let page = PageRequest { limit: args.limit, offset: 0 };
    let query = SearchSoftware { page, ..SearchSoftware::new(&args.words.join(" ")) };
    let printed = match search_software(&snapshot, &query) {
        Ok(page) => print(&page, &mut anstream::stdout().lock()),
        Err(error) => Err(io::Error::other(chain(&error))),
    };
    match printed {
        // The reader has closed the pipe (`search … | head`).
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            print_error(&error.to_string());
            ExitCode::FAILURE
        }
        _ => ExitCode::SUCCESS,
    }
}

fn print(page: &SearchPage<'_>, out: &mut impl Write) -> io::Result<()> {
    let (bold, dim) = (anstyle::Style::new().bold(), anstyle::Style::new().dimmed());
    for correction in &page.query.corrected {
        writeln!(
            out,
            "{dim}searched for {} in place of {}{dim:#}",
            printable(&correction.to),
            printable(&correction.from)
        )?;
    }
    for word in &page.query.dropped {
        writeln!(out, "{dim}left out: {}{dim:#}", printable(word))?;
    }
    for hit in &page.data {
        let product: Shown = serde_json::from_slice(hit.item)?;
        let category = product.category.unwrap_or_default();
        let (name, id, category) = (printable(&product.name), printable(&product.id), printable(&category));
        writeln!(out, "{bold}{name}{bold:#}  {dim}{id}  {category}{dim:#}")?;
        if let Some(tagline) = product.tagline {
            writeln!(out, "    {}", printable(&tagline))?;
        }
    }
    let (shown, total) = (page.data.len(), page.pagination.total);
    writeln!(out, "{dim}{shown} of {total}{dim:#}")
}
