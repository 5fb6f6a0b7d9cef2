//! `add` and `set`: edit a record in an export from the terminal, following the rules for table
//! rows.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;

use super::import::print_findings;
use super::write_file::{Locked, print_changes};
use super::{Failure, print_note};
use crate::cli::{AddArgs, SetArgs};
use crate::curate::tabular::{
    self, Cell, Checked, ColumnUse, ConvertOptions, Mapping, MergeRows, Row, RowKind, Table, Target, UpdateOptions,
};
use crate::error::chain;
use crate::export::{self, Export, Severity};

/// Adds a record. Exit codes: 0 written, 1 couldn't be written, 2 usage error or invalid data.
pub(super) fn add(args: &AddArgs) -> Result<ExitCode, Failure> {
    edit(&args.file, None, &args.values, args.max_file_bytes)
}

/// Changes a record. Exit codes are the same as for [`add`].
pub(super) fn set(args: &SetArgs) -> Result<ExitCode, Failure> {
    edit(&args.file, Some(&args.id), &args.values, args.max_file_bytes)
}

fn edit(path: &Path, id: Option<&str>, values: &[String], max_file_bytes: u64) -> Result<ExitCode, Failure> {
    let locked = Locked::new(path)?;
    let export = locked.open(max_file_bytes)?;
    let (table, mapping) = row(id, values, &export)?;
    let prefix = &*export.id_prefix;
    let ids: Vec<&str> =
        export.software.iter().map(|software| software.id.strip_prefix(prefix).unwrap_or(&software.id)).collect();
    let name = path.display();
    if let Some(id) = id.filter(|id| !ids.contains(id)) {
        return Err(Failure::usage(format!("{name} has no record `{id}`; add one with `add`")));
    }
    let categories = BTreeMap::new();
    let options = ConvertOptions {
        categories: &categories,
        date_order: None,
        known: Some(&export),
        fix: false,
        merge: MergeRows::None,
    };
    let mut conversion = tabular::convert(&table, &mapping, &options);
    let stated = conversion.records[0].text("id");
    if let Some(id) = stated.filter(|of| id.is_none() && ids.contains(&of.as_str())) {
        return Err(Failure::usage(format!("{name} already has a record `{id}`; change it with `set`")));
    }
    // The user asked to add this record, even if another has a similar name or URL.
    let options = UpdateOptions { is_exact: true, ..UpdateOptions::default() };
    let updated = tabular::update(&export, &table, &mapping, &mut conversion, options, &mut |_| None);
    let updated = updated.map_err(|error| Failure::usage(chain(&error)))?;
    if id.is_none() && updated.rows.len() == ids.len() {
        let text = format!("{name} already has a record with this name and URL; change it with `set`");
        return Err(Failure::usage(text));
    }
    let checked = Checked { table: &table, mapping: &mapping, path, json: &updated.json, rows: &updated.rows };
    tabular::check(&checked, export::latest_day(jiff::Timestamp::now()), &mut conversion.findings)?;
    print_findings(&conversion.findings, None);
    if conversion.findings.count(Severity::Error).0 > 0 {
        return Err(Failure::usage("nothing was written"));
    }
    if updated.json.as_bytes() == &*export.document {
        print_note(&format!("{name} already has these values."));
        return Ok(ExitCode::SUCCESS);
    }
    print_changes(&export, &updated.json)?;
    locked.replace(blake3::hash(&export.document), &updated.json)?;
    Ok(ExitCode::SUCCESS)
}

/// The values as a table with one row.
fn row(id: Option<&str>, values: &[String], export: &Export) -> Result<(Table, Mapping), Failure> {
    let mut table = Table { row_kind: RowKind::Record, ..Table::default() };
    let mut mapping = Mapping { columns: Vec::new(), made: Vec::new() };
    let mut cells = Vec::new();
    let mut push = |head: &str, target: Target, cell: Cell| {
        table.heads.push(head.to_owned());
        mapping.columns.push(ColumnUse::new(target));
        cells.push(cell);
    };
    if let (Some(id), Some(target)) = (id, Target::parse("id")) {
        push("id", target, Cell::Text(id.to_owned()));
    }
    for value in values {
        let (name, value) = value.split_once('=').ok_or_else(|| {
            Failure::usage(format!(
                "`{value}`: write PROPERTY=VALUE, or PROPERTY:=JSON for values other than text and lists"
            ))
        })?;
        let json = name.strip_suffix(':');
        let name = json.unwrap_or(name).trim();
        if name.is_empty() || (name == "id" && id.is_some()) {
            return Err(Failure::usage(format!(
                "`{name}={value}`: write a property name before the `=`, other than `id`"
            )));
        }
        let target = match json {
            Some(_) => Target::Json(name.to_owned()),
            None => target(name, value, export)?,
        };
        let cell = if value.is_empty() { Cell::Empty } else { Cell::Text(value.to_owned()) };
        push(name, target, cell);
    }
    table.rows.push(Row { number: 1, cells });
    Ok((table, mapping))
}

/// The target for a property. Unless the property is a standard one, its type is the one that the
/// export declares. Refuses another word for a standard property, unless the export uses it too.
fn target(name: &str, value: &str, export: &Export) -> Result<Target, Failure> {
    let standard = Target::parse(name).filter(|target| !matches!(target, Target::Attribute(..)));
    let declared = export.attributes.iter().find(|attribute| *attribute.property == *name);
    let declared = declared.map(|attribute| Target::Attribute(name.to_owned(), Some(attribute.kind)));
    let mut others = export.software.iter().flat_map(|software| &software.additional_properties);
    match (standard.or(declared), tabular::meant(name)) {
        (Some(target), _) => Ok(target),
        (None, Some(meant)) if others.all(|(other, _)| **other != *name) => Err(Failure::usage(format!(
            "`{name}` isn't a property; did you mean `{meant}`? For an additional property with this name, write \
             {name}:={}",
            serde_json::Value::from(value)
        ))),
        _ => Ok(Target::Additional(name.to_owned())),
    }
}
