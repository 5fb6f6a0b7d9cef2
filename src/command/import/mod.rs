//! `import`: creates an export from a table, or updates one with it, after its mapping and changes
//! are confirmed.

mod mapping;

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use self::mapping::{ask, is_terminal, required};
use super::data::DATA_FOLDER;
use super::progress::step;
use super::write_file::{Locked, check_absent, destination, failed, print_changes, write_file};
use super::{Failure, print_note, products_are_in};
use crate::cli::{DateOrderArg, ImportArgs};
use crate::curate::tabular::{
    self, Cause, Checked, Choice, Conversion, ConvertOptions, DateOrder, Envelope, Level, Mapping, Match, ReadOptions,
    Rejected, Table, TableFindings,
};
use crate::error::chain;
use crate::export::{self, Export, IdPrefixes, Limits, Report};
use crate::file::Destination;
use crate::record::{CalendarDate, identity};
use crate::text::count::{agreeing, counted};
use crate::text::printable::printable;

/// How many of the records missing from the table are listed.
const SHOWN_MISSING: usize = 10;

/// Imports a table. Exit codes: 0 written, 1 a file can't be read or written, 2 usage error, not
/// confirmed, or invalid data.
pub(super) fn run(args: &ImportArgs) -> ExitCode {
    match import(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.print(),
    }
}

/// The export to write: a new one, or an existing one to update.
enum Goal {
    New { output: PathBuf, envelope: Envelope, replaced: Option<blake3::Hash> },
    Update { output: PathBuf, export: Box<Export> },
}

struct Job<'j> {
    args: &'j ImportArgs,
    table: &'j Table,
    mapping: &'j Mapping,
    goal: Goal,
    answers: HashMap<String, Choice>,
}

/// A document that hasn't been written yet.
struct Draft {
    json: String,
    rows: Vec<Option<usize>>,
    cleared: usize,
    missing: Vec<String>,
}

fn import(args: &ImportArgs) -> Result<(), Failure> {
    let data = args.data.clone().unwrap_or_else(|| DATA_FOLDER.into());
    let output = match args.update.as_ref().or(args.output.as_ref()) {
        Some(output) => output.clone(),
        None => default_output(&data, &args.file)?,
    };
    let rejected_path = args.file.with_extension("rejected").with_added_extension(table_extension(&args.file));
    if args.valid_rows {
        check_absent(&rejected_path, args.force)?;
    }
    let mut replaced = None;
    if args.write_mapping.is_none() && args.update.is_none() {
        check_absent(&output, args.force)?;
        replaced = check_keeps(&output, args)?;
    }
    let table = read_table(args)?;
    for note in &table.notes {
        print_note(&printable(&format!("note: {note}")));
    }
    let Some(mut mapping) = mapping::choose(args, &table)? else { return Ok(()) };
    let goal = goal(args, output, replaced)?;
    if let Goal::Update { export, .. } = &goal {
        mapping.keep_declared(&export.attributes);
    }
    if matches!(goal, Goal::New { .. }) {
        mapping::check_required(&table, &mapping)?;
    }
    let categories = declared_categories(&data, args.max_file_bytes).map_err(|error| Failure::other(&error))?;
    let options = ConvertOptions {
        categories: &categories,
        date_order: args.date_order.map(|order| match order {
            DateOrderArg::Dmy => DateOrder::DayFirst,
            DateOrderArg::Mdy => DateOrder::MonthFirst,
        }),
        known: match &goal {
            Goal::New { .. } => None,
            Goal::Update { export, .. } => Some(export),
        },
        fix: args.fix,
        unique_ids: args.unique_ids,
    };
    let mut conversion = step("Mapping the rows", |_| tabular::convert(&table, &mapping, &options));
    let today = export::latest_day(jiff::Timestamp::now());
    let mut job = Job { args, table: &table, mapping: &mapping, goal, answers: HashMap::new() };
    let mut draft = job.draft(&mut conversion)?;
    let checked = |draft: &Draft, job: &Job<'_>, findings: &mut TableFindings| {
        step("Checking the export", |_| tabular::check(&job.checked(draft), today, findings))
            .map_err(|error| Failure::other(&error))
    };
    checked(&draft, &job, &mut conversion.findings)?;
    print_findings(&conversion.findings);
    let mut errors = conversion.findings.count(Level::Error).1;
    if errors > 0 && args.drop_bad_cells {
        draft = job.without_bad_cells(&draft, &mut conversion, today)?;
        checked(&draft, &job, &mut conversion.findings)?;
        errors = conversion.findings.count(Level::Error).1;
    }
    let mut rejected = Rejected::new();
    if errors > 0 {
        if !args.valid_rows || !conversion.findings.is_about_rows() {
            return Err(Failure::usage(refusal(args, &conversion.findings)));
        }
        rejected = conversion.findings.rejected().clone();
        let others = tabular::rejected(&job.checked(&draft), today).map_err(|error| Failure::other(&error))?;
        for (row, reasons) in others {
            rejected.entry(row).or_insert(reasons);
        }
        conversion.records.retain(|record| !rejected.contains_key(&record.row));
        if conversion.records.is_empty() {
            return Err(Failure::usage("every row has errors; nothing was written"));
        }
        conversion.findings = TableFindings::default();
        draft = job.draft(&mut conversion)?;
        checked(&draft, &job, &mut conversion.findings)?;
        if conversion.findings.count(Level::Error).0 > 0 {
            print_findings(&conversion.findings);
            return Err(Failure::usage("the rows without errors don't make a valid export; nothing was written"));
        }
    }
    job.write(&draft, &data)?;
    if !rejected.is_empty() {
        write_file(&rejected_path, args.force, |out| tabular::write_rejected(&table, &mapping, &rejected, out))?;
        let text = format!(
            "{} with errors {} in {path}, with the reasons; correct {}, then import {path} with --update.",
            counted(rejected.len(), "row"),
            agreeing(rejected.len(), "is", "are"),
            agreeing(rejected.len(), "it", "them"),
            path = rejected_path.display()
        );
        print_note(&text);
    }
    Ok(())
}

/// Why a table with errors wasn't imported, and which options help.
fn refusal(args: &ImportArgs, findings: &TableFindings) -> String {
    let (causes, errors) = findings.count(Level::Error);
    let valid_rows = if args.valid_rows {
        ""
    } else {
        "; --valid-rows sets the rows with errors aside, and --drop-bad-cells leaves out only the cells"
    };
    let fix = match findings.fixable {
        0 => String::new(),
        fixable => format!("; --fix completes {fixable} {}", agreeing(fixable, "address", "addresses")),
    };
    format!(
        "the table has errors (total: {errors}, causes: {causes}); correct the table or the mapping. Nothing \
         was written{valid_rows}{fix}"
    )
}

fn table_extension(file: &Path) -> &'static str {
    let extension = file.extension().unwrap_or_default().to_ascii_lowercase();
    if ["json", "ndjson", "jsonl"].iter().any(|json| extension == *json) { "ndjson" } else { "csv" }
}

fn read_table(args: &ImportArgs) -> Result<Table, Failure> {
    let options = ReadOptions {
        blank_means_above: &args.blank_means_above,
        sheet: args.sheet.as_deref(),
        encoding: args.encoding.as_deref(),
        header_row: args.header_row,
    };
    let table = step("Reading the table", |progress| tabular::read(&args.file, options, args.max_file_bytes, progress));
    table.map_err(|error| {
        let code = if matches!(error, tabular::TableError::Unreadable(_)) { 1 } else { 2 };
        Failure { text: format!("{}: {}", args.file.display(), chain(&error)), code }
    })
}

/// The default output: in the data folder, under the table's name.
fn default_output(data: &Path, table: &Path) -> Result<PathBuf, Failure> {
    let stem = table.file_stem().unwrap_or_default();
    // `..csv` would be written outside the folder, and hidden files aren't read as exports.
    if stem.is_empty() || stem.as_encoded_bytes().starts_with(b".") {
        let text = format!("{} has no name that an export can have; choose one with -o FILE", table.display());
        return Err(Failure::usage(text));
    }
    Ok(data.join(stem).with_added_extension("json"))
}

fn goal(args: &ImportArgs, output: PathBuf, replaced: Option<blake3::Hash>) -> Result<Goal, Failure> {
    let Some(path) = &args.update else {
        let envelope = Envelope {
            name: required(args.name.as_ref(), "--name", "Name of the export")?,
            license: required(args.license.as_ref(), "--license", "Licence, as a URL")?,
        };
        return Ok(Goal::New { output, envelope, replaced });
    };
    // Not locked any longer than this, since the user may take a while to answer.
    let export = Locked::new(path)?.open(args.max_file_bytes)?;
    Ok(Goal::Update { output, export: Box::new(export) })
}

/// Refuses to overwrite an export that contains anything that a table can't hold. Returns the hash
/// of the file to be overwritten, if there is one.
fn check_keeps(output: &Path, args: &ImportArgs) -> Result<Option<blake3::Hash>, Failure> {
    let Destination::File(target) = destination(output)? else { return Ok(None) };
    if !target.is_file() {
        return Ok(None);
    }
    let replaced = blake3::hash(&std::fs::read(target).map_err(|error| failed(output, &error))?);
    let report = read(&[output.to_owned()], args.max_file_bytes).map_err(|error| Failure::other(&error))?;
    let Some(export) = report.exports.first() else { return Ok(Some(replaced)) };
    let others = super::export::left_out(export);
    if others.is_empty() {
        return Ok(Some(replaced));
    }
    let name = output.display();
    Err(Failure::usage(format!(
        "{name} contains what a table can't: {}; to keep that, use --update {name}. To replace the whole export, remove \
         the file first",
        others.join(", ")
    )))
}

impl Job<'_> {
    fn checked<'d>(&'d self, draft: &'d Draft) -> Checked<'d> {
        let (Goal::New { output, .. } | Goal::Update { output, .. }) = &self.goal;
        Checked { table: self.table, mapping: self.mapping, path: output, json: &draft.json, rows: &draft.rows }
    }

    /// The draft without cells that have errors.
    fn without_bad_cells(
        &mut self,
        draft: &Draft,
        conversion: &mut Conversion,
        today: CalendarDate,
    ) -> Result<Draft, Failure> {
        let others = tabular::rejected(&self.checked(draft), today).map_err(|error| Failure::other(&error))?;
        let dropped = conversion.drop_cells(self.mapping, &others);
        print_note(&format!("Left out because of errors: {}; their products are kept.", counted(dropped, "cell")));
        self.draft(conversion)
    }

    fn draft(&mut self, conversion: &mut Conversion) -> Result<Draft, Failure> {
        let (table, mapping, unique_ids) = (self.table, self.mapping, self.args.unique_ids);
        match &self.goal {
            Goal::New { envelope, .. } => {
                let all: Vec<usize> = (0..conversion.records.len()).collect();
                conversion.complete(table, mapping, &all, HashMap::new(), unique_ids);
                let rows = conversion.records.iter().map(|record| Some(record.row)).collect();
                let json = tabular::document(envelope, &mapping.attributes(table), &conversion.records);
                Ok(Draft { json, rows, cleared: 0, missing: Vec::new() })
            }
            Goal::Update { export, .. } => {
                let may_ask = is_terminal() && !self.args.yes;
                let answers = &mut self.answers;
                let mut failed = None;
                let mut decide = |question: &Match| {
                    if let Some(choice) = answers.get(&question.row) {
                        return Some(*choice);
                    }
                    let choice = may_ask.then(|| mapping::choice(question))?;
                    match choice {
                        Ok(choice) => {
                            answers.insert(question.row.clone(), choice);
                            Some(choice)
                        }
                        Err(failure) => {
                            failed = Some(failure);
                            None
                        }
                    }
                };
                let options = (self.args.remove_missing, unique_ids);
                let updated = tabular::update(export, table, mapping, conversion, options, &mut decide);
                if let Some(failure) = failed {
                    return Err(failure);
                }
                let updated = updated.map_err(|error| Failure::usage(chain(&error)))?;
                let tabular::Updated { json, rows, cleared, missing } = updated;
                Ok(Draft { json, rows, cleared, missing })
            }
        }
    }

    fn write(&self, draft: &Draft, data: &Path) -> Result<(), Failure> {
        let (args, count) = (self.args, draft.rows.len());
        match &self.goal {
            Goal::New { output, replaced, .. } => {
                if output.parent() == Some(data) && args.output.is_none() {
                    let failed =
                        |error| Failure { text: format!("{} can't be created: {error}", data.display()), code: 1 };
                    std::fs::create_dir_all(data).map_err(failed)?;
                }
                match replaced {
                    Some(replaced) => Locked::new(output)?.replace(*replaced, &draft.json)?,
                    // A file that has appeared in the meantime is never overwritten.
                    None => write_file(output, false, |out| out.write_all(draft.json.as_bytes()))?,
                }
                print_note(&products_are_in(count, output));
            }
            Goal::Update { output, export } => {
                if draft.json.as_bytes() == &*export.document {
                    print_note(&format!("The table doesn't change anything in {}.", output.display()));
                    return Ok(());
                }
                print_draft(export, draft, args)?;
                if !args.yes {
                    if !is_terminal() {
                        return Err(Failure::usage(
                            "the changes weren't confirmed, so nothing was written; accept them with --yes",
                        ));
                    }
                    if !matches!(ask("Write these changes? [Y/n]")?.to_lowercase().as_str(), "" | "y" | "yes") {
                        return Err(Failure::usage("nothing was written"));
                    }
                }
                Locked::new(output)?.replace(blake3::hash(&export.document), &draft.json)?;
                print_note(&products_are_in(count, output));
            }
        }
        Ok(())
    }
}

/// Prints an update's changes the way `diff` does.
fn print_draft(export: &Export, draft: &Draft, args: &ImportArgs) -> Result<(), Failure> {
    print_changes(export, &draft.json)?;
    if draft.cleared > 0 {
        print_note(&format!("Values removed because their cells are empty: {}.", draft.cleared));
    }
    if !draft.missing.is_empty() {
        let shown: Vec<_> = draft.missing.iter().take(SHOWN_MISSING).map(String::as_str).collect();
        let more = draft.missing.len() - shown.len();
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        let what = if args.remove_missing { "are removed" } else { "are kept (--remove-missing removes them)" };
        let text = format!("Records that aren't in the table {what}: {}{more}.", shown.join(", "));
        print_note(&printable(&text));
    }
    Ok(())
}

/// The names of the declared categories, by id. If the data folder has errors, whatever is
/// valid is included. A missing folder counts as empty.
fn declared_categories(data: &Path, max_file_bytes: u64) -> io::Result<BTreeMap<String, String>> {
    let files = export::find_files(data).unwrap_or_default();
    let report = read(&files, max_file_bytes)?;
    let names = report.exports.iter().flat_map(|export| &export.categories).map(|category| category.name.to_string());
    Ok(names.map(|name| (identity(&name), name)).collect())
}

fn read(files: &[PathBuf], max_file_bytes: u64) -> io::Result<Report> {
    let limits = Limits { max_file_bytes, ..Limits::default() };
    step("Reading the declared categories", |progress| {
        export::read(files, &limits, &IdPrefixes::default(), export::latest_day(jiff::Timestamp::now()), progress)
    })
}

pub(in crate::command) fn print_findings(findings: &TableFindings) {
    for group in findings.groups() {
        print_note(&printable(&heading(group)));
        if group.level == Level::Note {
            continue;
        }
        for (index, (row, value)) in group.examples.iter().enumerate() {
            let value = if value.is_empty() { String::new() } else { format!(": {value}") };
            let fix = group.fixes.get(index).map_or_else(String::new, |fix| format!(" ({fix})"));
            print_note(&printable(&format!("  {row}{value}{fix}")));
        }
        let more = group.count - group.examples.len();
        if more > 0 && !group.examples.is_empty() {
            print_note(&format!("  and {more} more"));
        }
        if !group.fix.is_empty() && group.fixes.is_empty() {
            print_note(&printable(&format!("  fix: {}", group.fix)));
        }
    }
}

fn heading(group: &Cause) -> String {
    let Cause { level, column, message, count, examples, .. } = group;
    let place = if column.is_empty() { String::new() } else { format!("{column}: ") };
    let example = match examples.first() {
        Some((row, value)) if *level == Level::Note && !value.is_empty() => format!(", such as {value} in {row}"),
        _ => String::new(),
    };
    format!("{}: {place}{message} ({count}{example})", level.as_str())
}
