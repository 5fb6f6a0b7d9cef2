//! `search --explain` and `search --why`: show how a query was understood, and why a product ranks
//! where it does.

use std::io::{self, Write};
use std::process::ExitCode;

use super::{Failure, check_printed};
use crate::cli::{SearchArgs, SearchFormat};
use crate::generation::Snapshot;
use crate::service::{
    ExplainedAlternative, ExplainedProduct, ExplainedWord, SearchExplanation, SearchSoftware, WHOLE_NAME,
    explain_search,
};
use crate::text::printable::printable;

/// How many alternatives are shown for each word.
const MOST_SHOWN: usize = 12;

pub(super) fn run(args: &SearchArgs, snapshot: &Snapshot, query: &SearchSoftware) -> Result<ExitCode, Failure> {
    let Some(explanation) = explain_search(snapshot, query, args.why.as_deref())? else {
        let id = args.why.as_deref().unwrap_or_default();
        return Err(Failure { text: format!("no product has the id `{id}`; `search` shows the ids"), code: 1 });
    };
    let out = &mut anstream::stdout().lock();
    check_printed(match args.list.format {
        SearchFormat::Text => print(&explanation, args.explain, out),
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

fn print(explanation: &SearchExplanation, with_hits: bool, out: &mut impl Write) -> io::Result<()> {
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
        print_product(product, out)?;
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

fn print_product(product: &ExplainedProduct, out: &mut impl Write) -> io::Result<()> {
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
