//! `search` and `similar`: print products on the terminal, without a server.

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;

use super::{Failure, check_printed, data, print_note};
use crate::catalogue::resource::{CategoryRef, SoftwareItem};
use crate::cli::{ListArgs, SearchArgs, SearchFormat, SimilarArgs};
use crate::generation::Snapshot;
use crate::record::Language;
use crate::service::{
    AttributeCondition, ListSimilar, PageRequest, SearchPage, SearchSoftware, SimilarPage, SoftwareFilter, Stop,
    budget, find_language, refuse_attributes, search_software, similar_software,
};
use crate::text::printable::printable;

pub(super) fn run(args: &SearchArgs) -> Result<ExitCode, Failure> {
    let snapshot = data::load(&args.list.data, &Arc::default())?;
    let page = PageRequest { limit: args.list.limit, offset: 0 };
    let filter = filter(&args.list, &snapshot)?;
    let language = language(args.list.lang.as_deref(), &snapshot)?;
    let query = SearchSoftware { filter, page, language, ..SearchSoftware::new(&args.words.join(" ")) };
    if args.explain || args.why.is_some() {
        return super::explain::run(args, &snapshot, &query);
    }
    let found = search_software(&snapshot, &query)?;
    let out = &mut anstream::stdout().lock();
    let printed = match args.list.format {
        SearchFormat::Text => print(&found, out),
        SearchFormat::Json => print_json(&found, out),
    };
    let help =
        if query.filter == SoftwareFilter::default() { "different words" } else { "fewer filters or different words" };
    finish(printed, found.pagination.total, help)
}

/// Returns the exit code after printing products. If there were none, prints what to try.
fn finish(printed: io::Result<()>, total: u64, help: &str) -> Result<ExitCode, Failure> {
    check_printed(printed)?;
    if total == 0 {
        print_note(&format!("no products found; try {help}"));
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::SUCCESS)
}

/// The requested language, if the directory has text in that language.
fn language(lang: Option<&str>, snapshot: &Snapshot) -> Result<Option<Language>, Failure> {
    find_language(&snapshot.catalogue, lang).map_err(|refusal| Failure { text: refusal.message, code: 2 })
}

/// The requested filter, if the directory has its attributes.
fn filter(args: &ListArgs, snapshot: &Snapshot) -> Result<SoftwareFilter, Failure> {
    let ListArgs { category, min_rating, standards, deployment, languages, vendor, tags, attribute, .. } = args;
    let filter = SoftwareFilter {
        categories: category.clone(),
        min_rating: *min_rating,
        attributes: [
            ("standards", standards),
            ("deployment", deployment),
            ("languages", languages),
            ("vendor", vendor),
            ("tags", tags),
        ]
        .into_iter()
        .flat_map(|(property, values)| values.iter().map(move |value| AttributeCondition::new(property, value)))
        .chain(attribute.iter().map(|(property, value)| AttributeCondition::new(property, value)))
        .collect(),
        ..SoftwareFilter::default()
    };
    match refuse_attributes(&snapshot.catalogue, &filter, &[], None).into_iter().next() {
        None => Ok(filter),
        Some(refusal) => Err(Failure { text: refusal.message, code: 1 }),
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
    let dim = anstyle::Style::new().dimmed();
    for correction in &page.query.corrected {
        writeln!(
            out,
            "{dim}searched for {} instead of {}{dim:#}",
            printable(&correction.to),
            printable(&correction.from)
        )?;
    }
    for unknown in page.query.unknown.iter().filter(|unknown| !unknown.is_word()) {
        let nearest = unknown.nearest.iter().map(|near| printable(near).into_owned()).collect::<Vec<_>>().join(", ");
        let nearest = if nearest.is_empty() { nearest } else { format!("; similar: {nearest}") };
        writeln!(out, "{dim}no product has the {} {}{nearest}{dim:#}", unknown.parameter, printable(&unknown.value))?;
    }
    for word in &page.query.dropped {
        writeln!(out, "{dim}left out: {}{dim:#}", printable(word))?;
    }
    let mut is_related = false;
    for hit in &page.data {
        if hit.tier.is_related() && !std::mem::replace(&mut is_related, true) {
            writeln!(out, "{dim}without these words, but similar in meaning:{dim:#}")?;
        }
        print_product(&hit.item, out)?;
    }
    print_count(page.data.len(), page.pagination.total, out)
}

/// Prints a product's name, id, main category and tagline.
pub(super) fn print_product(item: &[u8], out: &mut impl Write) -> io::Result<()> {
    let (bold, dim) = (anstyle::Style::new().bold(), anstyle::Style::new().dimmed());
    let product: SoftwareItem<'_> = serde_json::from_slice(item)?;
    let category = product.category.unwrap_or_default();
    let (name, id, category) = (printable(&product.name), printable(&product.id), printable(&category));
    writeln!(out, "{bold}{name}{bold:#}  {dim}{id}  {category}{dim:#}")?;
    if let Some(tagline) = product.tagline {
        writeln!(out, "    {}", printable(&tagline))?;
    }
    Ok(())
}

pub(super) fn print_count(shown: usize, total: u64, out: &mut impl Write) -> io::Result<()> {
    let dim = anstyle::Style::new().dimmed();
    writeln!(out, "{dim}{shown} of {total}{dim:#}")
}

/// Exit codes: 0 if products are found, 1 if there are none or the id is unknown, 2 for a usage error
/// or an invalid export.
pub(super) fn run_similar(args: &SimilarArgs) -> Result<ExitCode, Failure> {
    let snapshot = data::load(&args.list.data, &Arc::default())?;
    let page = PageRequest { limit: args.list.limit, offset: 0 };
    let language = language(args.list.lang.as_deref(), &snapshot)?;
    let query = ListSimilar { filter: filter(&args.list, &snapshot)?, page, language };
    let found = similar_software(&snapshot, &args.id, &query, &budget(&snapshot, &Stop::default()))?;
    let found = found.ok_or_else(|| Failure {
        text: format!("there is no product with the id {:?}; `search` shows the ids", args.id),
        code: 1,
    })?;
    let out = &mut anstream::stdout().lock();
    let printed = match args.list.format {
        SearchFormat::Text => print_similar(&found, out),
        SearchFormat::Json => print_similar_json(&found, out),
    };
    let help = if query.filter == SoftwareFilter::default() { "`search`" } else { "fewer filters" };
    finish(printed, found.pagination.total, help)
}

fn print_similar(page: &SimilarPage<'_>, out: &mut impl Write) -> io::Result<()> {
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
fn print_similar_json(page: &SimilarPage<'_>, out: &mut impl Write) -> io::Result<()> {
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
