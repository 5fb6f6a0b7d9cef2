//! `import`: an export made of a table, its mapping confirmed.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::data::DATA_FOLDER;
use super::progress::step;
use super::write_file::{check_absent, write_file};
use super::{Failure, print_error, print_note};
use crate::cli::{DateOrderArg, ImportArgs};
use crate::curate::tabular::{self, Cell, DateOrder, Document, Envelope, Mapping, Table, Target};
use crate::error::chain;
use crate::export::{self, Finding, IdPrefixes, Limits, Report, Severity, SourceFile};
use crate::record::slug;
use crate::text::printable::printable;

/// Longest sample in a proposal, in characters.
const SAMPLE_CHARS: usize = 40;
/// Longest answer that is read from a terminal, in bytes.
const ANSWER_BYTES: u64 = 4096;
/// Findings that are printed.
const PRINTED: usize = 50;

/// Imports a table. Exit codes: 0 written, 1 a file can't be read or written, 2 wrong usage, unconfirmed or invalid.
pub(super) fn run(args: &ImportArgs) -> ExitCode {
    match import(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.print(),
    }
}

fn import(args: &ImportArgs) -> Result<(), Failure> {
    let data = args.data.clone().unwrap_or_else(|| DATA_FOLDER.into());
    let output = args
        .output
        .clone()
        .unwrap_or_else(|| data.join(args.file.file_stem().unwrap_or_default()).with_extension("json"));
    if args.write_mapping.is_none() {
        check_absent(&output, args.force)?;
    }
    let table = step("Reading the table", |progress| {
        tabular::read(&args.file, args.sheet.as_deref(), args.max_file_bytes, progress)
    });
    let name = args.file.display();
    let table = table.map_err(|error| {
        let code = if matches!(error, tabular::TableError::Unreadable(_)) { 1 } else { 2 };
        Failure { text: format!("{name}: {}", chain(&error)), code }
    })?;
    for note in &table.notes {
        print_note(&format!("note: {note}"));
    }
    let Some(mapping) = mapping(args, &table)? else { return Ok(()) };
    let envelope = Envelope {
        name: required(args.name.as_ref(), "--name", "Name of the export")?,
        license: required(args.license.as_ref(), "--license", "Licence, as a URL")?,
    };
    let categories = declared_categories(&data, args.max_file_bytes).map_err(|error| Failure::other(&error))?;
    let order = args.date_order.map(|order| match order {
        DateOrderArg::Dmy => DateOrder::DayFirst,
        DateOrderArg::Mdy => DateOrder::MonthFirst,
    });
    let document = step("Mapping the rows", |_| tabular::document(&table, &mapping, &envelope, &categories, order));
    let document = document.map_err(|problems| {
        for problem in &problems.kept {
            let row = problem.row.map_or_else(String::new, |row| format!("row {row}, "));
            print_error(&printable(&format!("{row}column `{}`: {}", problem.column, problem.message)));
        }
        Failure::usage(format!("number of problems: {}; nothing was written", problems.count))
    })?;
    for note in &document.notes {
        print_note(&printable(&format!("note: {note}")));
    }
    checked(&table, &mapping, &document, &output)?;
    if output.parent() == Some(&data) && args.output.is_none() {
        let failed = |error| Failure { text: format!("{} can't be made: {error}", data.display()), code: 1 };
        std::fs::create_dir_all(&data).map_err(failed)?;
    }
    write_file(&output, args.force, |out| out.write_all(document.json.as_bytes()))?;
    print_note(&format!("{} products are in {}.", document.rows.len(), output.display()));
    Ok(())
}

/// The mapping that is given or confirmed; `None` where it was written to a file to be edited.
fn mapping(args: &ImportArgs, table: &Table) -> Result<Option<Mapping>, Failure> {
    if let Some(path) = &args.mapping {
        let failed = |error: io::Error| Failure { text: format!("{} can't be read: {error}", path.display()), code: 1 };
        let text = std::fs::read(path).map_err(failed)?;
        let mapping = Mapping::parse(&text, table);
        return mapping.map(Some).map_err(|error| Failure::usage(format!("{}: {}", path.display(), chain(&error))));
    }
    let mapping = Mapping::propose(table);
    if let Some(path) = &args.write_mapping {
        write_mapping(path, &mapping, table)?;
        return Ok(None);
    }
    print_note(proposal(table, &mapping).trim_end());
    if args.yes {
        return Ok(Some(mapping));
    }
    if !io::stdin().is_terminal() {
        let text = "the mapping isn't confirmed: accept it with --yes, or write it to a file with --write-mapping FILE, \
                    edit that and give it with --mapping FILE";
        return Err(Failure::usage(text));
    }
    match ask("Import with this mapping? [Y/n/e]")?.to_lowercase().as_str() {
        "" | "y" | "yes" => Ok(Some(mapping)),
        "e" => {
            write_mapping(&args.file.with_extension("mapping.json"), &mapping, table)?;
            Ok(None)
        }
        _ => Err(Failure::usage("nothing was written")),
    }
}

fn write_mapping(path: &Path, mapping: &Mapping, table: &Table) -> Result<(), Failure> {
    check_absent(path, false)?;
    let json = mapping.to_json(table);
    write_file(path, false, |out| out.write_all(json.as_bytes()))?;
    print_note(&format!("The mapping is in {0}: edit it, then import with --mapping {0}", path.display()));
    Ok(())
}

/// Each column with its target and a sample.
fn proposal(table: &Table, mapping: &Mapping) -> String {
    let mut text = format!("{} rows. Proposed mapping:\n", table.rows.len());
    let shown = |text: &str, most: usize| {
        let line = text.replace(['\n', '\r'], " ");
        let cut: String = line.chars().take(most).collect();
        printable(&if cut.len() < line.len() { format!("{cut}…") } else { cut }).into_owned()
    };
    let heads: Vec<_> = table.heads.iter().map(|head| shown(head, SAMPLE_CHARS)).collect();
    let targets: Vec<_> = mapping.targets.iter().map(|target| shown(&target.to_string(), SAMPLE_CHARS)).collect();
    let width = |texts: &[String]| texts.iter().map(|text| text.chars().count()).max().unwrap_or_default();
    let (wide, wider) = (width(&heads), width(&targets));
    for (column, (head, target)) in heads.iter().zip(&targets).enumerate() {
        let sample = table.rows.iter().find_map(|row| match &row.cells[column] {
            Cell::Text(text) | Cell::Json(text) => Some(shown(text, SAMPLE_CHARS)),
            Cell::Empty | Cell::Error(_) => None,
        });
        let line = format!("  {head:wide$}  →  {target:wider$}  {}", sample.unwrap_or_default());
        let _ = writeln!(text, "{}", line.trim_end());
    }
    for (property, otherwise) in [("id", "made of the name"), ("evidence_status", "pending-review")] {
        if !mapping.has(property) {
            let _ = writeln!(text, "  No column is `{property}`: {otherwise}.");
        }
    }
    for property in ["name", "url"].into_iter().filter(|property| !mapping.has(property)) {
        let _ =
            writeln!(text, "  No column is `{property}`, which every product needs: edit the mapping or the table.");
    }
    text
}

fn required(given: Option<&String>, option: &str, question: &str) -> Result<String, Failure> {
    let answer = match given {
        Some(given) => given.clone(),
        None if io::stdin().is_terminal() => ask(&format!("{question}:"))?,
        None => String::new(),
    };
    if answer.trim().is_empty() {
        return Err(Failure::usage(format!("every export needs {option}; add it")));
    }
    Ok(answer)
}

fn ask(question: &str) -> Result<String, Failure> {
    use std::io::{BufRead as _, Read as _, Write as _};
    let failed = |error: io::Error| Failure { text: format!("the terminal can't be read: {error}"), code: 1 };
    let mut err = io::stderr().lock();
    write!(err, "{question} ").and_then(|()| err.flush()).map_err(failed)?;
    let mut answer = String::new();
    let read = io::stdin().lock().take(ANSWER_BYTES).read_line(&mut answer).map_err(failed)?;
    if read == 0 { Err(Failure::usage("nothing was written")) } else { Ok(answer.trim().to_owned()) }
}

/// The names of the declared categories, by id. A data folder with errors declares what is valid; none declares nothing.
fn declared_categories(data: &Path, max_file_bytes: u64) -> io::Result<BTreeMap<String, String>> {
    let files = export::find_files(data).unwrap_or_default();
    let report = read(&files, max_file_bytes)?;
    let names = report.exports.iter().flat_map(|export| &export.categories).map(|category| category.name.to_string());
    Ok(names.map(|name| (slug(&name), name)).collect())
}

fn read(files: &[PathBuf], max_file_bytes: u64) -> io::Result<Report> {
    let limits = Limits { max_file_bytes, ..Limits::default() };
    step("Reading the declared categories", |progress| {
        export::read(files, &limits, &IdPrefixes::default(), export::latest_day(jiff::Timestamp::now()), progress)
    })
}

/// Checks the document as `check` does, and shows the findings with row and column.
fn checked(table: &Table, mapping: &Mapping, document: &Document, output: &Path) -> Result<(), Failure> {
    let total = document.json.len() as u64;
    let report = step("Checking the export", |progress| {
        let file = SourceFile::from_bytes(output, document.json.clone().into());
        export::examine(vec![file], &Limits::default(), export::latest_day(jiff::Timestamp::now()), &|done| {
            progress(done, total);
        })
    });
    let report = report.map_err(|error| Failure::other(&error))?;
    for finding in report.findings.iter().take(PRINTED) {
        let severity = if finding.severity() == Severity::Error { "error" } else { "warning" };
        let place = place(table, mapping, document, finding);
        let code = finding.code.as_str();
        print_note(&printable(&format!("{severity}[{code}]: {place}: {}; {}", finding.message, finding.help)));
        for related in &finding.related {
            if let Some(row) = row(document, &related.location.pointer) {
                print_note(&printable(&format!("  row {row}: {}", related.note)));
            }
        }
    }
    let found = report.error_count() + report.warning_count();
    if found > PRINTED {
        print_note(&format!("and {} more findings", found - PRINTED));
    }
    if report.is_valid() {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "number of errors: {}; correct the table or the mapping. Nothing was written",
        report.error_count()
    )))
}

fn row(document: &Document, pointer: &str) -> Option<u64> {
    let index: usize = pointer.strip_prefix("/software/")?.split('/').next()?.parse().ok()?;
    document.rows.get(index).copied()
}

fn place(table: &Table, mapping: &Mapping, document: &Document, finding: &Finding) -> String {
    let pointer = &finding.location.pointer;
    let Some(row) = row(document, pointer) else {
        return format!("the export{}", if pointer.is_empty() { String::new() } else { format!(" at {pointer}") });
    };
    let property = pointer.split('/').nth(3).unwrap_or_default().replace("~1", "/").replace("~0", "~");
    let column = mapping.targets.iter().position(|target: &Target| target.property() == Some(&property));
    column.map_or_else(|| format!("row {row}"), |column| format!("row {row}, column `{}`", table.heads[column]))
}
