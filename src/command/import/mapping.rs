//! An import's mapping: read from a file, or proposed and confirmed.

use std::collections::BTreeMap;
use std::io::{self, BufRead as _, IsTerminal as _, Read as _, Write as _};
use std::path::{Path, PathBuf};

use serde::Deserialize as _;
use serde_json::{Map, Value};

use crate::cli::{ImportArgs, TableArgs};
use crate::command::write_file::{check_absent, write_file};
use crate::command::{Failure, print_note};
use crate::curate::tabular::{
    Choice, Conversion, Mapping, MappingError, MappingFile, Match, Separator, Table, Target, column_letters, sample,
};
use crate::error::chain;
use crate::text::append;
use crate::text::count::counted;
use crate::text::printable::printable;
use crate::text::shorten::in_line;

/// The maximum length of a sample in a proposal, in characters.
const SAMPLE_CHARS: usize = 40;

pub(super) struct MappingSource {
    /// The file beside the export.
    pub(super) beside: PathBuf,
    /// The file to read: the given one, or the one beside the export if it exists.
    path: Option<PathBuf>,
    file: MappingFile,
}

impl MappingSource {
    pub(super) fn new(args: &ImportArgs, output: &Path) -> Result<Self, Failure> {
        let beside = output.with_extension("mapping.toml");
        let path = args.mapping.clone().or_else(|| beside.is_file().then(|| beside.clone()));
        let file = match &path {
            Some(path) => MappingFile::read(&read(path)?).map_err(|error| wrong(Some(path), &error))?,
            None => MappingFile::default(),
        };
        Ok(Self { beside, path, file })
    }

    /// The options, completed with those that the mapping remembers.
    pub(super) fn options(&self, given: &TableArgs) -> Result<TableArgs, Failure> {
        let mut options = self.file.options.clone();
        options.extend(stated(given));
        TableArgs::deserialize(Value::from(options)).map_err(|error| {
            let path = self.path.as_deref().unwrap_or(&self.beside).display();
            Failure::usage(format!("{path}: the options are wrong: {error}"))
        })
    }

    /// Writes a confirmed mapping beside the export, unless that's where it came from, or it was
    /// chosen for a single update.
    pub(super) fn remember(
        &self,
        args: &ImportArgs,
        (table, mapping, conversion): (&Table, &Mapping, &Conversion),
        options: &TableArgs,
    ) -> Result<(), Failure> {
        let is_other = args.mapping.as_ref().is_some_and(|path| *path != self.beside);
        let own = table.heads.len() - table.made;
        let own = Mapping { columns: mapping.columns[..own].to_vec(), ..mapping.clone() };
        let is_own = |known: Mapping| known.columns.starts_with(&own.columns) && known.made == own.made;
        let is_known = self.path.is_some() && self.file.mapping(table).is_ok_and(is_own);
        if (is_other && args.update.is_some()) || (!is_other && is_known && self.file.options == stated(options)) {
            return Ok(());
        }
        let toml = own.to_toml(table, Some(conversion), &stated(options));
        write_file(&self.beside, true, |out| out.write_all(toml.as_bytes()))?;
        print_note(&format!(
            "Wrote the mapping to {}, which the next import of this table uses.",
            self.beside.display()
        ));
        Ok(())
    }
}

/// The options that differ from their defaults.
fn stated(options: &TableArgs) -> Map<String, Value> {
    let Ok(Value::Object(mut options)) = serde_json::to_value(options) else { return Map::new() };
    options.retain(|_, value| !matches!(value, Value::Null | Value::Bool(false)) && *value != serde_json::json!([]));
    options
}

fn wrong(path: Option<&Path>, error: &MappingError) -> Failure {
    let place = path.map(|path| format!("{}: ", path.display())).unwrap_or_default();
    Failure::usage(format!("{place}{}", chain(error)))
}

/// The given or confirmed mapping; `None` if it was written to a file for editing.
pub(super) fn choose(
    args: &ImportArgs,
    (source, options): (&MappingSource, &TableArgs),
    table: &Table,
    is_update: bool,
) -> Result<Option<Mapping>, Failure> {
    let path = source.path.as_deref();
    let mut mapping = match path {
        Some(_) => source.file.mapping(table).map_err(|error| wrong(path, &error))?,
        None => Mapping::propose(table),
    };
    change(args, table, &mut mapping).map_err(|error| wrong(None, &error))?;
    for option in &args.map_values {
        let (head, values) = translations(option)?;
        mapping.column(table, &head).map_err(|error| wrong(None, &error))?.values.extend(values);
    }
    if let Some(path) = &args.write_mapping {
        write(path, &mapping, table, options)?;
        print_note(&format!("Wrote the mapping to {0}: edit it, then import with --mapping {0}", path.display()));
        return Ok(None);
    }
    if let Some(path) = path {
        print_note(&format!("The mapping is {}.", path.display()));
        let unlisted = source.file.unlisted(table);
        print_left_out(table, &mapping, &|column| unlisted.contains(&&table.heads[column]));
        check_required(table, &mapping, is_update)?;
        return Ok(Some(mapping));
    }
    for columns in mapping.unclear(table) {
        mapping.choose(columns, chosen(table, columns, args.yes)?);
    }
    print_note(proposal(table, &mapping).trim_end());
    print_left_out(table, &mapping, &|_| true);
    check_required(table, &mapping, is_update)?;
    if args.yes {
        return Ok(Some(mapping));
    }
    if !is_terminal() {
        let text = "the mapping wasn't confirmed: accept it with --yes, change it with --map 'COLUMN=PROPERTY', or write it \
        to a file with --write-mapping FILE, edit the file and pass it with --mapping FILE";
        return Err(Failure::usage(text));
    }
    match ask("Import with this mapping? [Y/n/e]")?.to_lowercase().as_str() {
        "" | "y" | "yes" => Ok(Some(mapping)),
        "e" => {
            create_folder(&source.beside)?;
            write(&source.beside, &mapping, table, options)?;
            print_note(&format!(
                "Wrote the mapping to {}: edit it, then run this command again.",
                source.beside.display()
            ));
            Ok(None)
        }
        _ => Err(Failure::usage("nothing was written")),
    }
}

/// Applies the options that change a mapping.
fn change(args: &ImportArgs, table: &Table, mapping: &mut Mapping) -> Result<(), MappingError> {
    for option in &args.map {
        let (head, target) = option.rsplit_once('=').ok_or_else(|| {
            MappingError::Other(format!("--map {option}: write COLUMN=PROPERTY, such as --map 'Link=url'"))
        })?;
        mapping.set(table, head, target)?;
    }
    args.additional.iter().try_for_each(|head| mapping.take(table, head))?;
    args.attribute.iter().try_for_each(|head| mapping.take_attribute(table, head))?;
    for head in &args.split_commas {
        mapping.column(table, head)?.separator = Some(Separator::Commas(true));
    }
    Ok(())
}

/// Rejects a mapping that lacks what every new product needs, or what identifies one.
fn check_required(table: &Table, mapping: &Mapping, is_update: bool) -> Result<(), Failure> {
    let missing: Vec<_> = ["name", "url"].into_iter().filter(|property| !mapping.has(property)).collect();
    if missing.is_empty() || (is_update && (mapping.has("id") || missing.len() == 1)) {
        return Ok(());
    }
    let heads: Vec<_> = table.heads.iter().filter(|head| !head.is_empty()).map(|head| format!("`{head}`")).collect();
    let text = format!(
        "no column provides {}, which every product needs; the table has {}. Name the columns with --map \
         'COLUMN=PROPERTY', or the row with the column names with --header-row. A template makes \
         a value from columns, such as --map 'https://example.org/{{Code}}=url', and constants go into a mapping, which \
         --write-mapping FILE writes",
        missing.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" or "),
        heads.join(", ")
    );
    Err(Failure::usage(text))
}

pub(super) fn create_folder(file: &Path) -> Result<(), Failure> {
    let folder = file.parent().unwrap_or(Path::new(""));
    let failed = |error| Failure { text: format!("{} can't be created: {error}", folder.display()), code: 1 };
    if folder.as_os_str().is_empty() { Ok(()) } else { std::fs::create_dir_all(folder).map_err(failed) }
}

fn read(path: &Path) -> Result<String, Failure> {
    let failed = |error: io::Error| Failure { text: format!("{} can't be read: {error}", path.display()), code: 1 };
    std::fs::read_to_string(path).map_err(failed)
}

fn translations(option: &str) -> Result<(String, BTreeMap<String, String>), Failure> {
    let (head, path) = option.rsplit_once('=').ok_or_else(|| {
        Failure::usage(format!("--map-values {option}: write COLUMN=FILE, with the column's name and a JSON file"))
    })?;
    let values = serde_json::from_str(&read(Path::new(path))?).map_err(|error| {
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
            "columns {} have the same name `{head}` but different values; rename one of them, or choose one with --map",
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

fn write(path: &Path, mapping: &Mapping, table: &Table, options: &TableArgs) -> Result<(), Failure> {
    check_absent(path, false)?;
    let toml = mapping.to_toml(table, None, &stated(options));
    write_file(path, false, |out| out.write_all(toml.as_bytes()))
}

fn print_left_out(table: &Table, mapping: &Mapping, is_new: &dyn Fn(usize) -> bool) {
    let mut left_out = mapping.left_out(table);
    left_out.retain(|(column, _)| is_new(*column));
    if left_out.is_empty() {
        return;
    }
    print_note(&format!("Columns left out and not published: {}.", left_out.len()));
    for (column, reason) in &left_out {
        print_note(&printable(&format!("  {}: {reason}", table.column_name(*column))));
    }
    print_note("  (--map 'COLUMN=PROPERTY' uses one, --additional COLUMN publishes one as it is)");
}

/// Lists each column with its target and a sample value.
fn proposal(table: &Table, mapping: &Mapping) -> String {
    let mut text = format!("{}. Proposed mapping:\n", counted(table.rows.len(), "row"));
    let shown = |text: &str| in_line(text, SAMPLE_CHARS);
    let used: Vec<usize> =
        (0..table.heads.len()).filter(|column| mapping.columns[*column].target != Target::Ignored).collect();
    let heads: Vec<_> = used.iter().map(|column| shown(&table.heads[*column])).collect();
    let targets: Vec<_> = used.iter().map(|column| shown(&mapping.columns[*column].target.to_string())).collect();
    let width = |texts: &[String]| texts.iter().map(|text| text.chars().count()).max().unwrap_or_default();
    let (wide, wider) = (width(&heads), width(&targets));
    for ((column, head), target) in used.iter().zip(&heads).zip(&targets) {
        let sample = shown(sample(table, *column));
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

/// Asks which record a row describes.
pub(super) fn choice(question: &Match) -> Result<Choice, Failure> {
    print_note(&printable(&format!("{} may be:", question.row)));
    for (at, candidate) in question.candidates.iter().enumerate() {
        print_note(&printable(&format!("  {}: {candidate}", at + 1)));
    }
    let numbers: Vec<_> = (1..=question.candidates.len()).map(|number| number.to_string()).collect();
    loop {
        let answer = ask(&format!("Which one is it? n: a new product, q: quit [{}/n/q]", numbers.join("/")))?;
        match answer.to_lowercase().as_str() {
            "n" | "new" => return Ok(Choice::Add),
            "q" | "quit" => return Err(Failure::usage("nothing was written")),
            _ => {}
        }
        if let Some(at) = numbers.iter().position(|number| *number == answer) {
            return Ok(Choice::Update(at));
        }
    }
}
