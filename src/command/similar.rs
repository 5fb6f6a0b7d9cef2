//! `similar`: lists the products similar to a given one on the terminal, without a server.

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;

use super::search::{filter, finish, language, print_count, print_product};
use super::{Failure, data};
use crate::catalogue::resource::CategoryRef;
use crate::cli::{SearchFormat, SimilarArgs};
use crate::service::{ListSimilar, PageRequest, SimilarPage, SoftwareFilter, Stop, budget, similar_software};
use crate::text::printable::printable;

/// Exit codes: 0 if products are found, 1 if there are none or the id is unknown, 2 for a usage error
/// or an invalid export.
pub(super) fn run(args: &SimilarArgs) -> ExitCode {
    list(args).unwrap_or_else(|failure| failure.print())
}

fn list(args: &SimilarArgs) -> Result<ExitCode, Failure> {
    let snapshot = data::load(&args.list.data, &Arc::default())?;
    let page = PageRequest { limit: args.list.limit, offset: 0 };
    let language = language(args.list.lang.as_deref(), &snapshot)?;
    let query = ListSimilar { filter: filter(&args.list, &snapshot)?, page, language };
    let found = similar_software(&snapshot, &args.id, &query, &budget(&snapshot, &Stop::default()));
    let found = found.map_err(|error| Failure::other(&error))?.ok_or_else(|| Failure {
        text: format!("there is no product with the id {:?}; `search` shows the ids", args.id),
        code: 1,
    })?;
    let out = &mut anstream::stdout().lock();
    let printed = match args.list.format {
        SearchFormat::Text => print(&found, out),
        SearchFormat::Json => print_json(&found, out),
    };
    let help = if query.filter == SoftwareFilter::default() { "`search`" } else { "fewer filters" };
    Ok(finish(printed, found.pagination.total, help))
}

fn print(page: &SimilarPage<'_>, out: &mut impl Write) -> io::Result<()> {
    let dim = anstyle::Style::new().dimmed();
    for hit in &page.data {
        print_product(&hit.item, out)?;
        let shared: Vec<_> =
            hit.categories.iter().map(|category| &*category.name).chain(hit.words.iter().map(String::as_str)).collect();
        writeln!(out, "    {dim}shared: {}{dim:#}", printable(&shared.join(", ")))?;
    }
    print_count(page.data.len(), page.pagination.total, out)
}

/// Prints the response of `/v1/software/{id}/similar`.
fn print_json(page: &SimilarPage<'_>, out: &mut impl Write) -> io::Result<()> {
    let hits = page.data.iter().map(|hit| {
        let mut item: serde_json::Map<String, serde_json::Value> = serde_json::from_slice(&hit.item)?;
        let categories = hit.categories.iter().copied().map(CategoryRef::from);
        let shared = serde_json::json!({"categories": categories.collect::<Vec<_>>(), "words": hit.words});
        item.insert("score".to_owned(), hit.score.into());
        item.insert("shared".to_owned(), shared);
        Ok(item)
    });
    let data = hits.collect::<io::Result<Vec<_>>>()?;
    writeln!(out, "{:#}", serde_json::json!({"data": data, "pagination": page.pagination}))
}
