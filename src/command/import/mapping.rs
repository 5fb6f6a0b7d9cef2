//! An import's mapping: read from a file, or proposed and confirmed.

use std::collections::BTreeMap;
use std::io::{self, BufRead as _, IsTerminal as _, Read as _, Write as _};
use std::path::Path;

use crate::cli::ImportArgs;
use crate::command::write_file::{check_absent, write_file};
use crate::command::{Failure, print_note};
use crate::curate::tabular::{
    Choice, Mapping, MappingError, MappingFile, Match, Table, Target, column_letters, sample,
};
use crate::error::chain;
use crate::text::append;
use crate::text::count::counted;
use crate::text::printable::printable;

/// The maximum length of a sample in a proposal, in characters.
const SAMPLE_CHARS: usize = 40;

/// The given or confirmed mapping; `None` if it was written to a file for editing.
pub(super) fn choose(args: &ImportArgs, table: &Table) -> Result<Option<Mapping>, Failure> {
    let wrong = |error: MappingError| Failure::usage(chain(&error));
    let mut mapping = match &args.mapping {
        Some(path) => MappingFile::read(&String::from_utf8_lossy(&read(path)?))
            .and_then(|file| file.mapping(table))
            .map_err(|error| Failure::usage(format!("{}: {}", path.display(), chain(&error))))?,
        None => Mapping::propose(table),
    };
    for head in &args.additional {
        mapping.take(table, head).map_err(wrong)?;
    }
    for head in &args.attribute {
        mapping.take_attribute(table, head).map_err(wrong)?;
    }
    for head in &args.split_commas {
        mapping.split_commas(table, head).map_err(wrong)?;
    }
    for option in &args.map_values {
        let (head, values) = translations(option)?;
        mapping.translate(table, &head, values).map_err(wrong)?;
    }
    if args.mapping.is_some() {
        print_left_out(table, &mapping);
        return Ok(Some(mapping));
    }
    if let Some(path) = &args.write_mapping {
        write(path, &mapping, table)?;
        return Ok(None);
    }
    let unclear: Vec<&[usize]> = mapping.unclear(table).collect();
    for columns in unclear {
        mapping.choose(columns, chosen(table, columns, args.yes)?);
    }
    print_note(proposal(table, &mapping).trim_end());
    print_left_out(table, &mapping);
    if args.yes {
        return Ok(Some(mapping));
    }
    if !is_terminal() {
        let text = "the mapping wasn't confirmed: accept it with --yes, or write it to a file with --write-mapping \
        FILE, edit the file and pass it with --mapping FILE";
        return Err(Failure::usage(text));
    }
    match ask("Import with this mapping? [Y/n/e]")?.to_lowercase().as_str() {
        "" | "y" | "yes" => Ok(Some(mapping)),
        "e" => {
            write(&args.file.with_extension("mapping.json"), &mapping, table)?;
            Ok(None)
        }
        _ => Err(Failure::usage("nothing was written")),
    }
}

/// Rejects a mapping that lacks what every product needs, with one error instead of one per row.
pub(super) fn check_required(table: &Table, mapping: &Mapping) -> Result<(), Failure> {
    let missing: Vec<_> = ["name", "url"].into_iter().filter(|property| !mapping.has(property)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let heads: Vec<_> = table.heads.iter().filter(|head| !head.is_empty()).map(|head| format!("`{head}`")).collect();
    let text = format!(
        "no column provides {}, which every product needs; the table has {}. Write the mapping to a file with \
         --write-mapping FILE and edit it, or give the row with the column names with --header-row",
        missing.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" or "),
        heads.join(", ")
    );
    Err(Failure::usage(text))
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    let failed = |error: io::Error| Failure { text: format!("{} can't be read: {error}", path.display()), code: 1 };
    std::fs::read(path).map_err(failed)
}

fn translations(option: &str) -> Result<(String, BTreeMap<String, String>), Failure> {
    let (head, path) = option.rsplit_once('=').ok_or_else(|| {
        Failure::usage(format!("--map-values {option}: write COLUMN=FILE, with the column's name and a JSON file"))
    })?;
    let values = serde_json::from_slice(&read(Path::new(path))?).map_err(|error| {
        Failure::usage(format!(
            "{path}: {error}; write an object of strings such as {{\"geprüft\": \"vendor-sources-reviewed\"}}"
        ))
    })?;
    Ok((head.to_owned(), values))
}

/// Decides which of several columns with the same header to use.
fn chosen(table: &Table, columns: &[usize], yes: bool) -> Result<usize, Failure> {
    let head = &table.heads[columns[0]];
    let letters: Vec<_> = columns.iter().map(|column| column_letters(*column)).collect();
    if yes || !is_terminal() {
        let text = format!(
            "columns {} have the same name `{head}` but different values; rename one of them, or choose with --mapping",
            letters.join(" and ")
        );
        return Err(Failure::usage(text));
    }
    print_note(&printable(&format!(
        "Columns {} have the same name `{head}` but different values.",
        letters.join(", ")
    )));
    loop {
        let answer = ask(&format!("Which one should be used? [{}]", letters.join("/")))?;
        let found = letters.iter().position(|letters| letters.eq_ignore_ascii_case(&answer));
        if let Some(index) = found {
            return Ok(columns[index]);
        }
    }
}

fn write(path: &Path, mapping: &Mapping, table: &Table) -> Result<(), Failure> {
    check_absent(path, false)?;
    let json = mapping.to_toml(table, None, &serde_json::Map::new());
    write_file(path, false, |out| out.write_all(json.as_bytes()))?;
    print_note(&format!("The mapping is in {0}: edit it, then import with --mapping {0}", path.display()));
    Ok(())
}

fn print_left_out(table: &Table, mapping: &Mapping) {
    let left_out = mapping.left_out(table);
    if left_out.is_empty() {
        return;
    }
    print_note(&format!("Columns left out and not published: {}.", left_out.len()));
    for (column, reason) in &left_out {
        print_note(&printable(&format!("  {}: {reason}", table.column_name(*column))));
    }
    print_note("  (--additional COLUMN publishes one as it is, --additional '*' publishes all of them)");
}

/// Lists each column with its target and a sample value.
fn proposal(table: &Table, mapping: &Mapping) -> String {
    let mut text = format!("{}. Proposed mapping:\n", counted(table.rows.len(), "row"));
    let shown = |text: &str, most: usize| {
        let line = text.replace(['\n', '\r'], " ");
        let cut: String = line.chars().take(most).collect();
        printable(&if cut.len() < line.len() { format!("{cut}…") } else { cut }).into_owned()
    };
    let used: Vec<usize> =
        (0..table.heads.len()).filter(|column| mapping.columns[*column].target != Target::Ignored).collect();
    let heads: Vec<_> = used.iter().map(|column| shown(&table.heads[*column], SAMPLE_CHARS)).collect();
    let targets: Vec<_> =
        used.iter().map(|column| shown(&mapping.columns[*column].target.to_string(), SAMPLE_CHARS)).collect();
    let width = |texts: &[String]| texts.iter().map(|text| text.chars().count()).max().unwrap_or_default();
    let (wide, wider) = (width(&heads), width(&targets));
    for ((column, head), target) in used.iter().zip(&heads).zip(&targets) {
        let sample = shown(sample(table, *column), SAMPLE_CHARS);
        let line = format!("  {head:wide$}  →  {target:wider$}  {sample}");
        append(&mut text, format_args!("{}\n", line.trim_end()));
    }
    for (property, otherwise) in [("id", "derived from the name"), ("evidence_status", "pending-review")] {
        if !mapping.has(property) {
            append(&mut text, format_args!("  No column for `{property}`: {otherwise}.\n"));
        }
    }
    text
}

/// The maximum length of an answer, in bytes.
const ANSWER_BYTES: u64 = 4096;

pub(super) fn is_terminal() -> bool {
    io::stdin().is_terminal()
}

pub(super) fn ask(question: &str) -> Result<String, Failure> {
    let failed = |error: io::Error| Failure { text: format!("can't read from the terminal: {error}"), code: 1 };
    let mut err = io::stderr().lock();
    write!(err, "{} ", printable(question)).and_then(|()| err.flush()).map_err(failed)?;
    let mut answer = String::new();
    let read = io::stdin().lock().take(ANSWER_BYTES).read_line(&mut answer).map_err(failed)?;
    if read == 0 { Err(Failure::usage("nothing was written")) } else { Ok(answer.trim().to_owned()) }
}

pub(super) fn required(given: Option<&String>, option: &str, question: &str) -> Result<String, Failure> {
    let answer = match given {
        Some(given) => given.clone(),
        None if is_terminal() => ask(&format!("{question}:"))?,
        None => String::new(),
    };
    if answer.trim().is_empty() {
        return Err(Failure::usage(format!("every export needs {option}; add it")));
    }
    Ok(answer)
}

/// Asks whether a row describes the record that it partly matches or a different one.
pub(super) fn choice(question: &Match) -> Result<Choice, Failure> {
    print_note(&printable(&question.to_string()));
    loop {
        match ask("Update that record, or add another one? [u/a/q]")?.to_lowercase().as_str() {
            "u" | "update" => return Ok(Choice::Update),
            "a" | "add" => return Ok(Choice::Add),
            "q" | "quit" => return Err(Failure::usage("nothing was written")),
            _ => {}
        }
    }
}
