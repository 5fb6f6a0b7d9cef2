//! `queries`: lists the queries for which a server found nothing, with the closest matches in the
//! directory, and proposes synonyms for an export.

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;

use super::{Failure, INVALID, check_printed, data};
use crate::cli::{QueriesArgs, QueriesFormat};
use crate::curate::queries::{self, EmptyQuery, MIN_COUNT, NearKind, Proposal, Proposer, QueryFileError, synonyms};
use crate::error::chain;
use crate::text::count::counted;
use crate::text::printable::printable;

/// Prints the report. Exit codes: 0 printed, 1 the file can't be read, 2 it's the wrong kind of
/// file or the exports are invalid.
pub(super) fn run(args: &QueriesArgs) -> Result<ExitCode, Failure> {
    let name = args.file.display();
    let read = queries::read(&args.file).map_err(|error| {
        let code = if matches!(error, QueryFileError::Unreadable(_)) { 1 } else { INVALID };
        Failure { text: format!("{name}: {}", chain(&error)), code }
    })?;
    let Some(counted) = read else {
        let text = format!("{name} doesn't exist; a server writes it with `serve --empty-queries {name}`");
        return Err(Failure { text, code: 1 });
    };
    let frequent: Vec<EmptyQuery> = counted.into_iter().filter(|query| query.count >= MIN_COUNT).collect();
    let snapshot = data::load(&args.data, &Arc::default())?;
    let proposer = Proposer::new(&snapshot)?;
    let shown = frequent.iter().take(args.limit as usize);
    let proposals = shown.map(|query| proposer.propose(query)).collect::<Result<Vec<_>, _>>()?;
    let out = &mut io::BufWriter::new(anstream::stdout().lock());
    let printed = match args.format {
        QueriesFormat::Text => print(&proposals, frequent.len(), out),
        QueriesFormat::Json => print_json(&proposals, out),
    };
    check_printed(printed.and_then(|()| out.flush()))?;
    Ok(ExitCode::SUCCESS)
}

fn print_json(proposals: &[Proposal], out: &mut impl Write) -> io::Result<()> {
    let document = serde_json::json!({"queries": proposals, "synonyms": synonyms(proposals)});
    writeln!(out, "{document:#}")
}

fn print(proposals: &[Proposal], total: usize, out: &mut impl Write) -> io::Result<()> {
    let (bold, dim) = (anstyle::Style::new().bold(), anstyle::Style::new().dimmed());
    if proposals.is_empty() {
        return writeln!(out, "No query without hits has come up at least {MIN_COUNT} times.");
    }
    for Proposal { query, found, words, near } in proposals {
        let EmptyQuery { query, count, first_day, last_day } = query;
        writeln!(out, "{count:>6}  {bold}{}{bold:#}  {dim}{first_day} to {last_day}{dim:#}", printable(query))?;
        if *found > 0 {
            writeln!(out, "        finds {} now", counted(*found, "product"))?;
            continue;
        }
        for (word, found) in words {
            writeln!(out, "        {} alone finds {}", printable(word), counted(*found, "product"))?;
        }
        for near in near {
            let (term, kind, found) = (printable(&near.term), described(near.kind), counted(near.found, "product"));
            writeln!(out, "        near: {term}  {dim}{kind}, {found}{dim:#}")?;
        }
        if near.is_empty() && words.is_empty() {
            writeln!(out, "        no close match")?;
        }
    }
    if total > proposals.len() {
        writeln!(out, "        … and {} more; raise --limit to see them", total - proposals.len())?;
    }
    let synonyms = synonyms(proposals);
    if synonyms.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nProposed synonyms; check each, then add it to an export:\n\n  \"synonyms\": [")?;
    for (at, synonym) in synonyms.iter().enumerate() {
        let entry = serde_json::json!({"from": synonym.from, "to": synonym.to});
        let comma = if at + 1 < synonyms.len() { "," } else { "" };
        // JSON escapes control characters. Queries contain no bidirectional formatting, but terms
        // may.
        writeln!(out, "    {}{comma}", printable(&entry.to_string()))?;
    }
    writeln!(out, "  ]")
}

const fn described(kind: NearKind) -> &'static str {
    match kind {
        NearKind::GlossaryTerm => "glossary term",
        NearKind::Category => "category",
        NearKind::Spelling => "similar spelling",
        NearKind::CategoryDescription => "category with these words in its description",
        NearKind::GlossaryDefinition => "glossary term with these words in its definition",
    }
}
