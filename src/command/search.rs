//! `search` and `similar`: print products on the terminal, without a server. `search --explain` and
//! `search --why` show how a query was understood, and why a product ranks where it does.

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;

use anstyle::Style;

use super::{Failure, check_printed, data, print_note};
use crate::catalogue::resource::{CategoryRef, SoftwareItem};
use crate::cli::{ListArgs, SearchArgs, SearchFormat, SimilarArgs};
use crate::generation::Snapshot;
use crate::record::Language;
use crate::service::{
    AttributeCondition, ExplainedAlternative, ExplainedProduct, ExplainedWord, ListSimilar, PageRequest,
    SearchExplanation, SearchPage, SearchSoftware, SimilarPage, SoftwareFilter, Stop, WHOLE_NAME, budget,
    explain_search, find_language, refuse_attributes, search_software, similar_software,
};
use crate::text::printable::printable;

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();

pub(super) fn run(args: &SearchArgs) -> Result<ExitCode, Failure> {
    let snapshot = data::load(&args.list.data, &Arc::default())?;
    let page = PageRequest { limit: args.list.limit, offset: 0 };
    let filter = filter(&args.list, &snapshot)?;
    let language = language(args.list.lang.as_deref(), &snapshot)?;
    let query = SearchSoftware { filter, page, language, ..SearchSoftware::new(&args.words.join(" ")) };
    if args.explain || args.why.is_some() {
        return explain(args, &snapshot, &query);
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
    for correction in &page.query.corrected {
        writeln!(
            out,
            "{DIM}searched for {} instead of {}{DIM:#}",
            printable(&correction.to),
            printable(&correction.from)
        )?;
    }
    for unknown in page.query.unknown.iter().filter(|unknown| !unknown.is_word()) {
        let nearest = unknown.nearest.iter().map(|near| printable(near).into_owned()).collect::<Vec<_>>().join(", ");
        let nearest = if nearest.is_empty() { nearest } else { format!("; similar: {nearest}") };
        writeln!(out, "{DIM}no product has the {} {}{nearest}{DIM:#}", unknown.parameter, printable(&unknown.value))?;
    }
    for word in &page.query.dropped {
        writeln!(out, "{DIM}left out: {}{DIM:#}", printable(word))?;
    }
    let mut is_related = false;
    for hit in &page.data {
        if hit.tier.is_related() && !std::mem::replace(&mut is_related, true) {
            writeln!(out, "{DIM}without these words, but similar in meaning:{DIM:#}")?;
        }
        print_product(&hit.item, out)?;
    }
    print_count(page.data.len(), page.pagination.total, out)
}

/// Prints a product's name, id, main category and tagline.
fn print_product(item: &[u8], out: &mut impl Write) -> io::Result<()> {
    let product: SoftwareItem<'_> = serde_json::from_slice(item)?;
    let category = product.category.unwrap_or_default();
    let (name, id, category) = (printable(&product.name), printable(&product.id), printable(&category));
    writeln!(out, "{BOLD}{name}{BOLD:#}  {DIM}{id}  {category}{DIM:#}")?;
    if let Some(tagline) = product.tagline {
        writeln!(out, "    {}", printable(&tagline))?;
    }
    Ok(())
}

fn print_count(shown: usize, total: u64, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "{DIM}{shown} of {total}{DIM:#}")
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
    for hit in &page.data {
        print_product(&hit.item, out)?;
        let shared: Vec<_> =
            hit.categories.iter().map(|category| &*category.name).chain(hit.words.iter().map(String::as_str)).collect();
        writeln!(out, "    {DIM}shared: {}{DIM:#}", printable(&shared.join(", ")))?;
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

/// How many alternatives are shown for each word.
const MOST_SHOWN: usize = 12;

fn explain(args: &SearchArgs, snapshot: &Snapshot, query: &SearchSoftware) -> Result<ExitCode, Failure> {
    let Some(explanation) = explain_search(snapshot, query, args.why.as_deref())? else {
        let id = args.why.as_deref().unwrap_or_default();
        return Err(Failure { text: format!("no product has the id `{id}`; `search` shows the ids"), code: 1 });
    };
    let out = &mut anstream::stdout().lock();
    check_printed(match args.list.format {
        SearchFormat::Text => print_explanation(&explanation, args.explain, out),
        SearchFormat::Json => {
            serde_json::to_string_pretty(&explanation).map_err(io::Error::from).and_then(|json| writeln!(out, "{json}"))
        }
    })?;
    Ok(if is_found(&explanation) { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Whether the requested product was found or, if none was requested, whether anything was.
fn is_found(explanation: &SearchExplanation) -> bool {
    explanation.product.as_ref().map_or(explanation.total > 0, |product| product.rank.is_some())
}

fn print_explanation(explanation: &SearchExplanation, with_hits: bool, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "query")?;
    for word in &explanation.words {
        print_word(word, out)?;
    }
    let report = &explanation.query;
    for correction in &report.corrected {
        writeln!(out, "  corrected: {} to {}", printable(&correction.from), printable(&correction.to))?;
    }
    for word in &report.dropped {
        let why = if report.is_unknown(word) { "in no product" } else { "left out" };
        writeln!(out, "  {why}: {}", printable(word))?;
    }
    for word in &report.excluded {
        writeln!(out, "  excluded: {}", printable(word))?;
    }
    if explanation.phrases > 0 {
        writeln!(out, "  phrases: {}", explanation.phrases)?;
    }
    if let Some(name) = &report.alternatives_to {
        writeln!(out, "  alternatives to: {}", printable(name))?;
    }
    let (total, all) = (explanation.total, report.with_all_words);
    let behind = if explanation.falls_back { "; products with some of the words are included" } else { "" };
    let related = match report.related {
        0 => String::new(),
        related => format!("; {related} only similar in meaning"),
    };
    writeln!(out, "  found: {total}, {all} with all words{behind}{related}")?;
    if report.incomplete {
        writeln!(out, "  stopped early because of the work limit, so the numbers are lower bounds")?;
    }
    for product in explanation.hits.iter().filter(|_| with_hits).chain(&explanation.product) {
        print_explained(product, out)?;
    }
    Ok(())
}

fn print_word(word: &ExplainedWord, out: &mut impl Write) -> io::Result<()> {
    let role = match (word.in_phrase, word.required) {
        (true, _) => "word of a phrase",
        (false, true) => "required",
        (false, false) => "optional",
    };
    writeln!(out, "  {}  {role}", printable(&word.word))?;
    for of in word.alternatives.iter().take(MOST_SHOWN) {
        writeln!(out, "    {}", shown(of))?;
    }
    let more = word.alternatives.len().saturating_sub(MOST_SHOWN);
    if more > 0 { writeln!(out, "    and {more} more") } else { Ok(()) }
}

fn shown(of: &ExplainedAlternative) -> String {
    let kind = serde_json::to_string(&of.kind).unwrap_or_default().replace('_', " ");
    format!("{} {:.2}  {}", kind.trim_matches('"'), of.weight, printable(&of.text))
}

fn print_explained(product: &ExplainedProduct, out: &mut impl Write) -> io::Result<()> {
    writeln!(out)?;
    let id = printable(&product.id);
    match (product.rank, product.tier, product.score) {
        (Some(rank), Some(tier), Some(score)) => writeln!(out, "{rank}. {id}  {tier}, score {score:.3}")?,
        _ => writeln!(out, "{id}  not found")?,
    }
    if product.is_excluded {
        writeln!(out, "  it contains something that the query excludes")?;
    }
    if product.is_last {
        writeln!(out, "  it comes last: the query doesn't want one of its words, or asks for its alternatives")?;
    }
    if product.lacking_phrases > 0 {
        writeln!(out, "  missing phrases: {}", product.lacking_phrases)?;
    }
    if !product.filters.is_empty() {
        writeln!(out, "  it doesn't pass the filter: {}", product.filters.join(", "))?;
    }
    for word in &product.words {
        let name = printable(&word.word);
        match &word.by {
            Some(by) => {
                let [title, short, long, category] = word.shares.map(|share| share * 100.0);
                writeln!(out, "  {name}  {:.3}  {}", word.score, shown(by))?;
                let fields = format!("name {title:.0}%, short fields {short:.0}%, long fields {long:.0}%");
                writeln!(out, "    {fields}, category description {category:.0}%")?;
            }
            None if word.required => writeln!(out, "  {name}  missing, required to match all words")?,
            None => writeln!(out, "  {name}  missing, optional")?,
        }
    }
    let signals = product.signals;
    if product.tier == Some(WHOLE_NAME) {
        writeln!(out, "  the query is its whole name, so it's ranked by spelling, not by its words")?;
    }
    if product.meaning_score > 0.0 {
        writeln!(
            out,
            "  meaning {:.3} ({:.0}% similar), added to words",
            product.meaning_score,
            signals.meaning * 100.0
        )?;
    }
    writeln!(
        out,
        "  words {:.3} × {:.3} (same spelling {:.0}%); quality rank {}",
        product.words_score,
        product.factor,
        signals.spelling * 100.0,
        product.quality
    )
}
