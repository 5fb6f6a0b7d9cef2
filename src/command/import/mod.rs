//! `import`: creates an export from a table, or updates one with it, after its mapping and changes
//! are confirmed.

mod mapping;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use self::mapping::{MappingSource, ask, is_terminal, required};
use super::data::DATA_FOLDER;
use super::progress::step;
use super::write_file::{Locked, check_absent, destination, failed, note_signature, print_changes, write_file};
use super::{Failure, print_note, wrote_products};
use crate::cli::{DateOrderArg, ImportArgs, TableArgs};
use crate::curate::tabular::{
    self, Cause, Checked, Choice, Conversion, ConvertOptions, DateOrder, Envelope, Example, Mapping, Match, MergeRows,
    ReadOptions, Record, Rejected, RowKind, Table, TableFindings, UpdateOptions, Updated,
};
use crate::error::chain;
use crate::export::{self, Export, IdPrefixes, Limits, Report, Severity};
use crate::file::Destination;
use crate::record::{CalendarDate, identity};
use crate::text::count::{agreeing, counted, listed};
use crate::text::printable::printable;

/// How many of the records missing from the table are listed.
const SHOWN_MISSING: usize = 10;

/// The export to write: a new one, or an existing one to update.
enum Goal {
    New { envelope: Envelope, replaced: Option<blake3::Hash> },
    Update(Box<Export>),
}

struct Job<'j> {
    args: &'j ImportArgs,
    options: &'j TableArgs,
    table: &'j Table,
    mapping: &'j Mapping,
    /// The export file.
    output: &'j Path,
    goal: Goal,
    answers: HashMap<String, Choice>,
}

/// Imports a table. Exit codes: 0 written, 1 a file can't be read or written, 2 usage error, not
/// confirmed, or invalid data.
pub(super) fn run(args: &ImportArgs) -> Result<ExitCode, Failure> {
    let data = args.data.clone().unwrap_or_else(|| DATA_FOLDER.into());
    let output = match args.update.as_ref().or(args.output.as_ref()) {
        Some(output) => output.clone(),
        None => default_output(&data, &args.file)?,
    };
    let source = MappingSource::new(args, &output)?;
    let is_repeated = !args.force && args.write_mapping.is_none() && output.is_file() && source.beside.is_file();
    let is_update = args.update.is_some() || is_repeated;
    if args.remove_missing && !is_update {
        return Err(Failure::usage("--remove-missing is for updates, and there's no export to update; leave it out"));
    }
    let mut replaced = None;
    if args.write_mapping.is_none() && !is_update {
        check_absent(&output, args.force)?;
        replaced = check_keeps(&output, args)?;
    }
    let options = source.options(&args.table)?;
    let mut table = read_table(args, &options)?;
    let notes = std::mem::take(&mut table.notes);
    if !is_update {
        print_notes(&notes);
    }
    if aside_of(&args.file).is_some() && table.remove_reasons() {
        print_note("The column with the reasons for rejecting the rows is left out.");
    }
    let mapping = mapping::choose(args, (&source, &options), &table, is_update);
    let Some(mut mapping) = mapping.inspect_err(|_| print_notes(if is_update { &notes } else { &[] }))? else {
        return Ok(ExitCode::SUCCESS);
    };
    let goal = goal(args, &output, is_update, replaced)?;
    if let Goal::Update(export) = &goal {
        mapping.keep_declared(&export.attributes);
    }
    mapping.fill(&mut table).map_err(|error| unreadable(&args.file, &error))?;
    let categories = declared_categories(&data, args.max_file_bytes)?;
    let convert_options = ConvertOptions {
        categories: &categories,
        date_order: options.date_order.map(|order| match order {
            DateOrderArg::Dmy => DateOrder::DayFirst,
            DateOrderArg::Mdy => DateOrder::MonthFirst,
        }),
        known: match &goal {
            Goal::New { .. } => None,
            Goal::Update(export) => Some(export),
        },
        fix: options.fix,
        merge: MergeRows::chosen(options.merge_rows, options.unique_ids),
    };
    let mut conversion = step("Mapping the rows", |_| tabular::convert(&table, &mapping, &convert_options));
    let answers = HashMap::new();
    let mut job = Job { args, options: &options, table: &table, mapping: &mapping, output: &output, goal, answers };
    job.finish(&mut conversion, if is_update { &notes } else { &[] })?;
    source.remember(args, (&table, &mapping, &conversion), &options)?;
    Ok(ExitCode::SUCCESS)
}

fn print_notes(notes: &[String]) {
    for note in notes {
        print_note(&printable(&format!("note: {note}")));
    }
}

fn today() -> CalendarDate {
    export::latest_day(jiff::Timestamp::now())
}

/// The export whose rejected rows a file contains, going by its name.
fn aside_of(file: &Path) -> Option<PathBuf> {
    let stem = Path::new(file.file_stem()?);
    let extension = stem.extension()?.to_str()?;
    let of = stem.file_stem().filter(|_| extension == "rejected" || extension.starts_with("rejected-"))?;
    Some(file.with_file_name(of).with_added_extension("json"))
}

/// Why a table with errors wasn't imported, and which options help.
fn refusal(options: &TableArgs, findings: &TableFindings) -> String {
    let (causes, errors) = findings.count(Severity::Error);
    let valid_rows = if options.valid_rows {
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

fn read_table(args: &ImportArgs, options: &TableArgs) -> Result<Table, Failure> {
    let TableArgs { sheet, encoding, header_row, .. } = options;
    let own = ReadOptions {
        blank_means_above: &options.blank_means_above,
        sheet: sheet.as_deref(),
        encoding: encoding.as_deref(),
        header_row: *header_row,
        null: &options.null,
    };
    // A file of rejected rows is written differently from their table.
    let aside = ReadOptions { null: &options.null, ..ReadOptions::default() };
    let options = if aside_of(&args.file).is_some() { aside } else { own };
    let table = step("Reading the table", |progress| tabular::read(&args.file, options, args.max_file_bytes, progress));
    table.map_err(|error| unreadable(&args.file, &error))
}

pub(super) fn unreadable(file: &Path, error: &tabular::TableError) -> Failure {
    let code = if matches!(error, tabular::TableError::Unreadable(_)) { 1 } else { 2 };
    Failure { text: format!("{}: {}", file.display(), chain(error)), code }
}

/// The default output: in the data folder, under the table's name. For a file of rejected rows, it's
/// the export beside it.
fn default_output(data: &Path, table: &Path) -> Result<PathBuf, Failure> {
    if let Some(export) = aside_of(table).filter(|export| export.is_file()) {
        return Ok(export);
    }
    let stem = table.file_stem().unwrap_or_default();
    // `..csv` would be written outside the folder, and hidden files aren't read as exports.
    if stem.is_empty() || stem.as_encoded_bytes().starts_with(b".") {
        let text = format!("{} has no name that an export can have; choose one with -o FILE", table.display());
        return Err(Failure::usage(text));
    }
    Ok(data.join(stem).with_added_extension("json"))
}

fn goal(args: &ImportArgs, output: &Path, is_update: bool, replaced: Option<blake3::Hash>) -> Result<Goal, Failure> {
    if !is_update {
        let envelope = Envelope {
            name: required(args.name.as_ref(), "--name", "Name of the export")?,
            license: required(args.license.as_ref(), "--license", "Licence, as a URL")?,
        };
        return Ok(Goal::New { envelope, replaced });
    }
    // Not locked any longer than this, since the user may take a while to answer.
    let export = Locked::new(output)?.open(args.max_file_bytes)?;
    let kept = [(&args.name, &export.name, "name"), (&args.license, &export.license, "license")];
    for (_, known, option) in
        kept.iter().filter(|(given, known, _)| given.as_ref().is_some_and(|given| **given != ***known))
    {
        print_note(&printable(&format!("note: --{option} is for new exports; this one keeps `{known}`")));
    }
    Ok(Goal::Update(Box::new(export)))
}

/// Refuses to overwrite an export that contains anything that a table can't hold. Returns the hash
/// of the file to be overwritten, if there is one.
fn check_keeps(output: &Path, args: &ImportArgs) -> Result<Option<blake3::Hash>, Failure> {
    let Destination::File(target) = destination(output)? else { return Ok(None) };
    if !target.is_file() {
        return Ok(None);
    }
    let replaced = blake3::hash(&std::fs::read(target).map_err(|error| failed(output, &error))?);
    let report = read(&[output.to_owned()], args.max_file_bytes)?;
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
    /// Checks the export and writes it, after its changes are confirmed, along with the rejected
    /// rows. `notes` are about the table; if it has changed, they take one line.
    fn finish(&mut self, conversion: &mut Conversion, notes: &[String]) -> Result<(), Failure> {
        let mut draft = self.draft(conversion).inspect_err(|_| print_notes(notes))?;
        self.check(&draft, &mut conversion.findings)?;
        if !draft.changed.is_empty() && !notes.is_empty() {
            print_notes(&[notes.join("; ")]);
        }
        let is_update = matches!(self.goal, Goal::Update(_));
        print_findings(&conversion.findings, is_update.then_some(&draft.changed));
        let has_errors = |conversion: &Conversion| conversion.findings.count(Severity::Error).0 > 0;
        if has_errors(conversion) && self.options.drop_bad_cells {
            draft = self.drop_cells(&draft, conversion)?;
        }
        let mut rows = Rejected::new();
        let mut records = Vec::new();
        if has_errors(conversion) {
            // Rows that are set aside aren't missing.
            let may_set_aside = self.options.valid_rows && !self.args.remove_missing;
            if !may_set_aside || !conversion.findings.is_about_rows() {
                return Err(Failure::usage(refusal(self.options, &conversion.findings)));
            }
            let others = tabular::rejected(&self.checked(&draft), today())?;
            rows.extend(others.into_iter().chain(conversion.findings.rejected().clone()));
            records = conversion.set_aside(&mut rows);
            if conversion.records.is_empty() {
                return Err(Failure::usage("every row has errors; nothing was written"));
            }
            conversion.findings = TableFindings::default();
            draft = self.draft(conversion)?;
            self.check(&draft, &mut conversion.findings)?;
            if has_errors(conversion) {
                print_findings(&conversion.findings, None);
                return Err(Failure::usage("the rows without errors don't make a valid export; nothing was written"));
            }
        }
        let rejected = self.rejected(&rows, &records)?;
        self.write(&draft)?;
        if let Some((path, content)) = rejected {
            write_file(&path, true, |out| out.write_all(&content))?;
            let (is, it) = (agreeing(rows.len(), "is", "are"), agreeing(rows.len(), "it", "them"));
            print_note(&format!(
                "{} with errors {is} in {path}, with the reasons; correct {it}, then run `software-directory import {path}`.",
                counted(rows.len(), "row"),
                path = path.display()
            ));
        }
        Ok(())
    }

    fn check(&self, draft: &Updated, findings: &mut TableFindings) -> Result<(), Failure> {
        Ok(step("Checking the export", |_| tabular::check(&self.checked(draft), today(), findings))?)
    }

    /// The file for rejected rows, beside the export, and its content; `None` if there are none.
    /// Rows that were set aside earlier are never lost: others get a file with a number.
    fn rejected(&self, rows: &Rejected, records: &[Record]) -> Result<Option<(PathBuf, Vec<u8>)>, Failure> {
        if rows.is_empty() {
            return Ok(None);
        }
        let output = self.output;
        let mut content = Vec::new();
        tabular::write_rejected(self.table, self.mapping, rows, records, &mut content)
            .map_err(|error| failed(output, &error))?;
        let extension = if self.table.row_kind == RowKind::Row { "csv" } else { "ndjson" };
        let numbers = std::iter::once(String::new()).chain((2_u64..).map(|number| format!("-{number}")));
        let paths =
            numbers.map(|number| output.with_extension(format!("rejected{number}")).with_added_extension(extension));
        let is_free = |path: &PathBuf| {
            let old = std::fs::read(path);
            self.args.force || *path == self.args.file || old.map_or_else(|_| !path.exists(), |old| old == content)
        };
        Ok(paths.into_iter().find(is_free).map(|path| (path, content)))
    }

    fn checked<'d>(&'d self, draft: &'d Updated) -> Checked<'d> {
        Checked { table: self.table, mapping: self.mapping, path: self.output, json: &draft.json, rows: &draft.rows }
    }

    /// Leaves out cells with errors. Returns the draft without them.
    fn drop_cells(&mut self, draft: &Updated, conversion: &mut Conversion) -> Result<Updated, Failure> {
        let others = tabular::rejected(&self.checked(draft), today())?;
        let dropped = conversion.drop_cells(self.mapping, &others);
        if dropped > 0 {
            print_note(&format!("Left out because of errors: {}; their products are kept.", counted(dropped, "cell")));
        }
        let draft = self.draft(conversion)?;
        self.check(&draft, &mut conversion.findings)?;
        Ok(draft)
    }

    fn draft(&mut self, conversion: &mut Conversion) -> Result<Updated, Failure> {
        let (table, mapping, unique_ids) = (self.table, self.mapping, self.options.unique_ids);
        match &self.goal {
            Goal::New { envelope, .. } => {
                let all: Vec<usize> = (0..conversion.records.len()).collect();
                conversion.complete(table, mapping, &all, HashMap::new(), unique_ids);
                let rows = conversion.records.iter().map(|record| Some(record.row)).collect();
                let json = tabular::document(envelope, &mapping.attributes(table), &conversion.records);
                Ok(Updated { json, rows, changed: HashSet::new(), cleared: 0, missing: Vec::new() })
            }
            Goal::Update(export) => {
                let may_ask = is_terminal() && !self.args.yes;
                let answers = &mut self.answers;
                let mut failed = None;
                let mut decide = |question: &Match| {
                    let text = question.to_string();
                    if !answers.contains_key(&text) && may_ask && failed.is_none() {
                        match mapping::choice(question) {
                            Ok(choice) => _ = answers.insert(text.clone(), choice),
                            Err(failure) => failed = Some(failure),
                        }
                    }
                    answers.get(&text).copied()
                };
                // Rejected rows that aren't in the export yet may share a name or a URL with others.
                let is_exact = aside_of(&self.args.file).is_some();
                let options = UpdateOptions { remove_missing: self.args.remove_missing, unique_ids, is_exact };
                let updated = tabular::update(export, table, mapping, conversion, options, &mut decide);
                if let Some(failure) = failed {
                    return Err(failure);
                }
                updated.map_err(|error| Failure::usage(chain(&error)))
            }
        }
    }

    fn write(&self, draft: &Updated) -> Result<(), Failure> {
        let (args, output, count) = (self.args, self.output, draft.rows.len());
        match &self.goal {
            Goal::New { replaced, .. } => {
                mapping::create_folder(output)?;
                if let Some(replaced) = replaced {
                    Locked::new(output)?.replace(*replaced, &draft.json)?;
                } else {
                    // A file that has appeared in the meantime is never overwritten.
                    write_file(output, false, |out| out.write_all(draft.json.as_bytes()))?;
                    note_signature(output);
                }
                super::init::remove_example(output);
                print_note(&wrote_products(count, output));
            }
            Goal::Update(export) => {
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
                print_note(&wrote_products(count, output));
            }
        }
        Ok(())
    }
}

/// Prints an update's changes the way `diff` does.
fn print_draft(export: &Export, draft: &Updated, args: &ImportArgs) -> Result<(), Failure> {
    print_changes(export, &draft.json)?;
    if draft.cleared > 0 {
        print_note(&format!("Values removed because their cells are empty: {}.", draft.cleared));
    }
    if !draft.missing.is_empty() {
        let what = if args.remove_missing { "are removed" } else { "are kept (--remove-missing removes them)" };
        let listed = listed(&draft.missing, ", ", SHOWN_MISSING);
        let text = format!("Records that aren't in the table {what}: {listed}.");
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
        export::read(files, &limits, &IdPrefixes::default(), today(), progress)
    })
}

/// Prints the findings. Given the rows that an update changes, notes about other rows take one line.
pub(in crate::command) fn print_findings(findings: &TableFindings, changed: Option<&HashSet<usize>>) {
    let is_old = |group: &Cause| {
        let is_unchanged = |changed: &HashSet<usize>| group.rows.iter().all(|row| !changed.contains(row));
        group.level == Severity::Note && changed.is_some_and(is_unchanged)
    };
    for group in findings.groups().filter(|group| !is_old(group)) {
        print_note(&printable(&heading(group)));
        if group.level == Severity::Note {
            continue;
        }
        let is_one_fix = group.examples.iter().all(|example| example.fix == group.fix);
        for Example { row, value, fix } in &group.examples {
            let value = if value.is_empty() { String::new() } else { format!(": {value}") };
            let fix = if is_one_fix { String::new() } else { format!(" ({fix})") };
            print_note(&printable(&format!("  {row}{value}{fix}")));
        }
        let more = group.count - group.examples.len();
        if more > 0 && !group.examples.is_empty() {
            print_note(&format!("  and {more} more"));
        }
        if !group.fix.is_empty() && is_one_fix {
            print_note(&printable(&format!("  fix: {}", group.fix)));
        }
    }
    let old = findings.groups().filter(|group| is_old(group)).count();
    if old > 0 {
        print_note(&format!("note: {} about unchanged rows, as in earlier imports", counted(old, "note")));
    }
}

fn heading(group: &Cause) -> String {
    let Cause { level, column, message, count, examples, .. } = group;
    let place = if column.is_empty() { String::new() } else { format!("{column}: ") };
    let example = match examples.first() {
        Some(Example { row, value, .. }) if *level == Severity::Note && !value.is_empty() => {
            format!(", such as {value} in {row}")
        }
        _ => String::new(),
    };
    format!("{}: {place}{message} ({count}{example})", level.as_str())
}
