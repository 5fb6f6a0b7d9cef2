//! `search`: the best matches on the terminal, without a server.

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;

use serde::Deserialize;

use super::{data, print_error, print_note};
use crate::cli::{SearchArgs, SearchFormat};
use crate::error::chain;
use crate::service::{
    AttributeCondition, PageRequest, SearchPage, SearchSoftware, SoftwareFilter, refuse_attributes, search_software,
};
use crate::text::printable::printable;

/// The fields of a hit that are printed.
#[derive(Debug, Deserialize)]
struct HitFields {
    id: String,
    name: String,
    tagline: Option<String>,
    category: Option<String>,
}

pub(super) fn run(args: &SearchArgs) -> ExitCode {
    let snapshot = match data::load(&args.data, &Arc::default()) {
        Ok(snapshot) => snapshot,
        Err(failure) => {
            print_error(&failure.text);
            return ExitCode::from(failure.code);
        }
    };
    let page = PageRequest { limit: args.limit, offset: 0 };
    let query = SearchSoftware { page, filter: filter(args), ..SearchSoftware::new(&args.words.join(" ")) };
    let refused = refuse_attributes(&snapshot, &query.filter, &[], None);
    if let [first, ..] = &refused[..] {
        print_error(&first.message);
        return ExitCode::FAILURE;
    }
    if args.explain || args.why.is_some() {
        return super::explain::run(args, &snapshot, &query);
    }
    let found = match pollster::block_on(search_software(&snapshot, &query)) {
        Ok(page) => page,
        Err(error) => {
            print_error(&chain(&error));
            return ExitCode::FAILURE;
        }
    };
    let out = &mut anstream::stdout().lock();
    let printed = match args.format {
        SearchFormat::Text => print(&found, out),
        SearchFormat::Json => print_json(&found, out),
    };
    match printed {
        // The reader has closed the pipe (`search … | head`).
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            print_error(&error.to_string());
            ExitCode::FAILURE
        }
        _ if found.pagination.total == 0 => {
            let help =
                if query.filter == SoftwareFilter::default() { "other words" } else { "fewer filters or other words" };
            print_note(&format!("no product is found; try {help}"));
            ExitCode::FAILURE
        }
        _ => ExitCode::SUCCESS,
    }
}

fn filter(args: &SearchArgs) -> SoftwareFilter {
    let SearchArgs { standards, deployment, languages, vendor, tags, .. } = args;
    SoftwareFilter {
        categories: args.category.clone(),
        min_rating: args.min_rating,
        attributes: [
            ("standards", standards),
            ("deployment", deployment),
            ("languages", languages),
            ("vendor", vendor),
            ("tags", tags),
        ]
        .into_iter()
        .flat_map(|(property, values)| values.iter().map(move |value| AttributeCondition::new(property, value)))
        .chain(args.attribute.iter().map(|(property, value)| AttributeCondition::new(property, value)))
        .collect(),
        ..SoftwareFilter::default()
    }
}

/// Prints the response of `/v1/search`.
fn print_json(page: &SearchPage<'_>, out: &mut impl Write) -> io::Result<()> {
    let hits = page.data.iter().map(|hit| {
        let mut item: serde_json::Map<String, serde_json::Value> = serde_json::from_slice(&hit.item)?;
        item.insert("score".to_owned(), hit.score.into());
        Ok(item)
    });
    let data = hits.collect::<io::Result<Vec<_>>>()?;
    let response = serde_json::json!({"data": data, "pagination": page.pagination, "query": page.query});
    writeln!(out, "{response:#}")
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
    let mut is_related = false;
    for hit in &page.data {
        if hit.tier.is_related() && !std::mem::replace(&mut is_related, true) {
            writeln!(out, "{dim}without these words, but near in meaning:{dim:#}")?;
        }
        let product: HitFields = serde_json::from_slice(&hit.item)?;
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
