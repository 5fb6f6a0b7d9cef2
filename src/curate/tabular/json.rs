//! JSON: one product per line (NDJSON), an array of products, or an object that maps ids to
//! products.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};

use super::edit::{Members, members};
use super::synonyms::property_of;
use super::{
    Budget, Cell, Fault, MAX_COLUMNS, MAX_ROWS, MAX_TEXT_BYTES, Progress, Row, RowKind, STEP, Table, TableError,
    header, json_of, read_file,
};
use crate::curate::{publiccode, yaml};
use crate::export::write_compact;
use crate::text::count::listed;

pub(super) fn read_lines(bytes: &[u8], progress: Progress<'_>) -> Result<Table, TableError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut builder = TableBuilder::new(RowKind::Line);
    let mut read = 0;
    for (index, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        if index.is_multiple_of(STEP) {
            progress(read, bytes.len() as u64);
        }
        read += line.len() as u64 + 1;
        let line = line.trim_ascii();
        if !line.is_empty() {
            let number = index as u64 + 1;
            let raw = serde_json::from_slice::<&RawValue>(line).map_err(|_| "this isn't valid JSON");
            match raw.and_then(|raw| members(raw.get()).ok_or("this isn't a JSON object")) {
                Ok(members) => builder.push(number, members)?,
                Err(message) => builder.push_unreadable(number, &String::from_utf8_lossy(line), message)?,
            }
        }
    }
    builder.finish()
}

/// Reads an array of objects, possibly inside an object (the `wanted` one if there are several), or
/// an object that maps ids to objects.
pub(super) fn read_document(bytes: &[u8], wanted: Option<&str>) -> Result<Table, TableError> {
    let form = |text: &str| TableError::Form(text.to_owned());
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let raw: &RawValue = serde_json::from_slice(bytes).map_err(|error| {
        TableError::Form(format!(
            "this isn't JSON: {error}; correct it, or rename a file with one object per line to .ndjson"
        ))
    })?;
    let mut builder = TableBuilder::new(RowKind::Record);
    if raw.get().starts_with('[') {
        return builder.list(raw);
    }
    let by_id = members(raw.get()).ok_or_else(|| form("this is neither an array nor an object of records"))?;
    if by_id.iter().any(|(key, _)| key == publiccode::VERSION) {
        builder.publiccode(vec![(1, serde_json::from_str(raw.get())?)])?;
        return builder.finish();
    }
    if by_id.iter().any(|(key, _)| key == "software") {
        return Err(form(
            "this is already an export, so there's no need to import it (see check); a table is an array of objects, or an object that maps ids to objects",
        ));
    }
    let is_list =
        |value: &RawValue| value.get().starts_with('[') && value.get()[1..].trim_ascii_start().starts_with('{');
    let lists: Vec<_> = by_id.iter().filter(|(_, value)| is_list(value)).collect();
    let reason = match wanted {
        Some(wanted) => format!("the file has no list `{wanted}`"),
        None => format!("the file has {} lists", lists.len()),
    };
    let mut chosen = lists.iter().filter(|(key, _)| wanted.is_none_or(|wanted| wanted == key));
    match (chosen.next(), chosen.next()) {
        (Some((key, value)), None) => {
            builder.table.notes.push(format!("the records were read from the list `{key}`"));
            return builder.list(value);
        }
        (None, _) if wanted.is_none() => {}
        _ => return Err(TableError::Sheet { reason, sheets: lists.iter().map(|(key, _)| key.to_string()).collect() }),
    }
    let is_product = by_id.iter().any(|(key, _)| property_of(key) == Some("name"));
    let mut records = Vec::new();
    for (id, value) in &by_id {
        let of = members(value.get()).ok_or_else(|| {
            if is_product {
                return form(
                    "this describes a single product; a table is an array of objects, so write `[` and `]` around it (in \
                     YAML: `- ` before its first line, and two spaces before the others)",
                );
            }
            TableError::Form(format!(
                "the value of `{id}` isn't an object; a table is an array of objects, or an object that maps ids to objects"
            ))
        })?;
        records.push((id, of));
    }
    let id_of = |of: &Members<'_>| of.iter().find(|(key, _)| key == "id").map(|(_, raw)| raw.get().to_owned());
    let has_ids = records.iter().any(|(_, of)| id_of(of).is_some());
    for ((id, mut of), number) in records.into_iter().zip(1..) {
        let raw = to_raw_value(id)?;
        if !has_ids {
            of.insert(0, ("id".into(), &raw));
        } else if id_of(&of).and_then(|own| serde_json::from_str::<String>(&own).ok()).as_deref() != Some(&**id) {
            return Err(TableError::Form(format!(
                "the record under the key `{id}` has a different `id`, or none; correct it, or make the table an array"
            )));
        }
        builder.push(number, of)?;
    }
    builder.finish()
}

/// How many of the files that are left out are named.
const SHOWN_FILES: usize = 10;

/// How deeply a folder's folders are looked into.
const MAX_FOLDERS: usize = 16;

/// Reads the files called `publiccode.yml` in a folder and the folders in it, or with any other name
/// in the folder itself.
pub(super) fn read_folder(folder: &Path, max_bytes: u64, progress: Progress<'_>) -> Result<Table, TableError> {
    let mut paths = Vec::new();
    find_files(folder, MAX_FOLDERS, &mut paths)?;
    paths.sort();
    let (mut builder, mut files, mut others, mut bytes) =
        (TableBuilder::new(RowKind::Record), Vec::new(), Vec::new(), 0);
    for (path, done) in paths.iter().zip(0_u64..) {
        progress(done, paths.len() as u64);
        let content = read_file(path, max_bytes)?;
        bytes += content.len();
        if bytes > MAX_TEXT_BYTES {
            return Err(TableError::TooMuchText);
        }
        let name = path.strip_prefix(folder).unwrap_or(path).display().to_string();
        let number = builder.table.files.len() as u64 + 1;
        let text = String::from_utf8_lossy(content.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&content));
        match yaml::to_json(&text, MAX_TEXT_BYTES).map(|json| serde_json::from_str::<Map<String, Value>>(&json)) {
            Ok(Ok(file)) if file.contains_key(publiccode::VERSION) => files.push((number, file)),
            // The text is kept, so the file can be corrected.
            Err(error) => builder.push_unreadable(number, &text, &format!("this isn't valid YAML: {error}"))?,
            Ok(_) => {
                others.push(name);
                continue;
            }
        }
        builder.table.files.push(name);
    }
    if builder.table.files.is_empty() {
        let text = "there is no publiccode.yml in the folder, and only these are read from folders";
        return Err(TableError::Form(text.to_owned()));
    }
    if !others.is_empty() {
        let (version, others) = (publiccode::VERSION, listed(&others, ", ", SHOWN_FILES));
        builder.table.notes.push(format!("files without `{version}` are left out: {others}"));
    }
    builder.publiccode(files)?;
    builder.table.rows.sort_by_key(|row| row.number);
    builder.finish()
}

fn find_files(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) -> Result<(), TableError> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let (path, kind) = (entry.path(), entry.file_type()?);
        let is_yaml = path.extension().is_some_and(|extension| extension == "yml" || extension == "yaml");
        let is_usual = path.file_stem().is_some_and(|stem| stem == "publiccode");
        if kind.is_dir() && depth > 0 {
            find_files(&path, depth - 1, found)?;
        } else if kind.is_file() && is_yaml && (is_usual || depth == MAX_FOLDERS) {
            found.push(path);
        }
        if found.len() > MAX_ROWS {
            return Err(TableError::TooManyRows);
        }
    }
    Ok(())
}

struct TableBuilder {
    table: Table,
    columns: HashMap<String, usize>,
    budget: Budget,
}

impl TableBuilder {
    fn new(row_kind: RowKind) -> Self {
        let table = Table { row_kind, ..Table::default() };
        Self { table, columns: HashMap::new(), budget: Budget::default() }
    }

    /// Adds a row that contains only what couldn't be read.
    fn push_unreadable(&mut self, number: u64, text: &str, message: &str) -> Result<(), TableError> {
        self.table.faults.push(Fault { row: number, message: message.to_owned(), fix: "correct it".to_owned() });
        let raw = to_raw_value(text)?;
        self.push(number, vec![("(unreadable)".into(), &raw)])
    }

    fn push(&mut self, number: u64, members: Members<'_>) -> Result<(), TableError> {
        let mut row: Vec<Cell> = Vec::new();
        let mut keys = HashSet::new();
        if let Some((key, _)) = members.iter().find(|(key, _)| key.is_empty() || !keys.insert(key)) {
            let message = if key.is_empty() {
                "a property has an empty name".to_owned()
            } else {
                format!("the key `{key}` is used twice")
            };
            let texts: Vec<_> = members.iter().map(|(key, raw)| format!("{}:{raw}", json_of(&**key))).collect();
            return self.push_unreadable(number, &format!("{{{}}}", texts.join(",")), &message);
        }
        for (key, raw) in members {
            let name = self.table.row_name(number);
            let column = *self.columns.entry(key.into_owned()).or_insert_with_key(|key| {
                self.table.heads.push(key.clone());
                self.table.heads.len() - 1
            });
            if column >= MAX_COLUMNS {
                return Err(TableError::TooManyColumns { place: "the table".to_owned() });
            }
            if row.len() <= column {
                row.resize(column + 1, Cell::Empty);
            }
            let mut text = String::new();
            write_compact(raw.get(), &mut text);
            self.budget.cell(text.len(), || format!("{name}, property `{}`", self.table.heads[column]))?;
            row[column] = Cell::Json(text);
        }
        self.budget.row(row.len())?;
        self.table.rows.push(Row { number, cells: row });
        Ok(())
    }

    /// Adds files in the format publiccode.yml, each with its row's number.
    fn publiccode(&mut self, files: Vec<(u64, Map<String, Value>)>) -> Result<(), TableError> {
        // `none` is a way to maintain software.
        self.table.has_quoted_text = true;
        let own = publiccode::own_language(files.iter().map(|(_, file)| file));
        for (number, file) in files {
            let cells = publiccode::read(file, &own).into_iter().map(|(head, value)| Ok((head, to_raw_value(&value)?)));
            let cells = cells.collect::<serde_json::Result<Vec<_>>>()?;
            self.push(number, cells.iter().map(|(head, value)| (head.as_str().into(), &**value)).collect())?;
        }
        Ok(())
    }

    /// Adds an array of objects.
    fn list(mut self, raw: &RawValue) -> Result<Table, TableError> {
        let elements: Vec<&RawValue> = serde_json::from_str(raw.get())?;
        for (element, number) in elements.into_iter().zip(1_u64..) {
            match members(element.get()) {
                Some(of) => self.push(number, of)?,
                None => self.push_unreadable(number, element.get(), "this isn't an object")?,
            }
        }
        self.finish()
    }

    fn finish(mut self) -> Result<Table, TableError> {
        header::check_area(&self.table)?;
        let width = self.table.heads.len();
        self.table.rows.iter_mut().for_each(|row| row.cells.resize(width, Cell::Empty));
        Ok(self.table)
    }
}
