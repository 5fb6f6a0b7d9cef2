//! Writes an export's records as CSV and NDJSON.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io::{self, Write};

use serde_json::Value;
use serde_json::value::RawValue;

use super::findings::Rejected;
use super::target::{EVIDENCE, json_head};
use super::{Cell, MAX_COLUMNS, Mapping, Record, RowKind, Table, Target, clean, json_of, text_cell, value};
use crate::export::{Export, write_compact};
use crate::record::{AttributeType, CalendarDate, EVIDENCE as MEMBERS, PropertyValue, SOFTWARE, Software};

enum Column<'e> {
    Plain(&'static str),
    Json(&'e str),
    /// A member of the evidence for a property.
    Evidence(String, String),
}

/// Writes the records as CSV (RFC 4180), with a column for each property that occurs. A column
/// contains JSON and is called `json:NAME` if the property is an additional one or a value couldn't
/// be read back from a plain cell.
pub fn write_csv(export: &Export, out: &mut dyn Write) -> io::Result<()> {
    let columns = columns(export)?;
    let mut writer = csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(out);
    writer.write_record(columns.iter().map(|column| match column {
        Column::Plain(name) => (*name).to_owned(),
        Column::Json(name) => value::guarded(&json_head(name)),
        Column::Evidence(property, member) => format!("{EVIDENCE}.{property}.{member}"),
    }))?;
    for (row, software) in export.software.iter().enumerate() {
        let written = evidence(export, row);
        let evidence: Value = written.and_then(|raw| raw.get().parse().ok()).unwrap_or_default();
        writer.write_record(columns.iter().map(|column| match column {
            Column::Plain(name) => plain(&software.value(name)).unwrap_or_default(),
            Column::Json(EVIDENCE) => {
                let mut cell = String::new();
                write_compact(written.map_or("", RawValue::get), &mut cell);
                value::guarded(&cell)
            }
            Column::Json(name) => value::guarded(&json(software, name)),
            Column::Evidence(property, member) => {
                evidence[property][member].as_str().map(value::guarded).unwrap_or_default()
            }
        }))?;
    }
    writer.flush()
}

/// Writes the records as NDJSON, each as written in the export.
pub fn write_ndjson(export: &Export, out: &mut dyn Write) -> io::Result<()> {
    let mut line = String::new();
    for span in &export.software_spans {
        line.clear();
        write_compact(&String::from_utf8_lossy(&export.document[span.clone()]), &mut line);
        line.push('\n');
        out.write_all(line.as_bytes())?;
    }
    Ok(())
}

/// The header of the column with the reasons.
pub(super) const REASON: &str = "Reason";

/// Writes rows as a table with the same columns plus one for the reasons: CSV in the table's
/// dialect, or NDJSON if the table was JSON or YAML. Dates that were understood are written as
/// `YYYY-MM-DD`.
pub fn write_rejected(
    table: &Table,
    mapping: &Mapping,
    rejected: &Rejected,
    records: &[Record],
    out: &mut dyn Write,
) -> io::Result<()> {
    let joined = |reasons: &[(Option<usize>, String)]| {
        reasons.iter().map(|(_, reason)| reason.as_str()).collect::<Vec<_>>().join("; ")
    };
    let own = table.heads.len() - table.made;
    let heads = &table.heads[..own];
    let mut reason = REASON.to_owned();
    while heads.contains(&reason) {
        reason.push('_');
    }
    if table.row_kind != RowKind::Row {
        for (row, reasons) in rejected {
            let cells = heads.iter().zip(&table.rows[*row].cells).filter(|(_, cell)| **cell != Cell::Empty);
            let mut members: Vec<_> =
                cells.map(|(head, cell)| format!("{}:{}", json_of(head.as_str()), cell.shown())).collect();
            members.push(format!("{}:{}", json_of(reason.as_str()), json_of(joined(reasons))));
            writeln!(out, "{{{}}}", members.join(","))?;
        }
        return Ok(());
    }
    // The text as it was read, which may have apostrophes already, or be a placeholder such as `-`.
    let guarded = |text: &str| {
        if value::is_nothing(text) { text.to_owned() } else { value::guarded(&value::unguarded(text)) }
    };
    let date = |row: usize, target: &Target| match target {
        Target::Property("evidence_checked_on") | Target::Attribute(_, Some(AttributeType::Date)) => {
            let record = records.binary_search_by_key(&row, |record| record.row).ok()?;
            records[record].text(target.property()?)
        }
        _ => None,
    };
    if table.dialect.has_mark {
        out.write_all("\u{feff}".as_bytes())?;
    }
    let mut writer = csv::WriterBuilder::new();
    writer.terminator(csv::Terminator::CRLF).delimiter(table.dialect.delimiter);
    let mut writer = writer.from_writer(out);
    writer.write_record(heads.iter().map(|head| value::guarded(head)).chain([reason]))?;
    for (row, reasons) in rejected {
        let cells = table.rows[*row].cells[..own].iter().zip(&mapping.columns).map(|(cell, of)| match cell {
            Cell::Link(link) if !of.target.is_uri() => guarded(&link.0),
            Cell::Link(link) if value::is_address(&link.0) => guarded(&link.0),
            cell => date(*row, &of.target).unwrap_or_else(|| guarded(cell.shown())),
        });
        writer.write_record(cells.chain([value::guarded(&joined(reasons))]))?;
    }
    writer.flush()
}

fn columns(export: &Export) -> io::Result<Vec<Column<'_>>> {
    let mut additional: Vec<&str> = Vec::new();
    let mut seen: HashSet<&str> = HashSet::new();
    for (name, _) in export.software.iter().flat_map(|software| &software.additional_properties) {
        if seen.insert(name) {
            additional.push(name);
        }
        if additional.len() > MAX_COLUMNS - SOFTWARE.len() {
            let text = format!(
                "the records have more than {MAX_COLUMNS} distinct properties, which is too many columns; use --ndjson"
            );
            return Err(io::Error::other(text));
        }
    }
    let mut columns = Vec::new();
    for name in SOFTWARE.iter().map(|property| property.name) {
        if seen.contains(name) {
            continue;
        }
        let mut values = export.software.iter().map(|software| software.value(name)).peekable();
        let (mut is_used, mut is_plain) = (false, true);
        for value in values.by_ref() {
            is_used |= !value.is_missing();
            is_plain &= plain(&value).is_some();
        }
        if is_used && name == EVIDENCE {
            match evidence_columns(export).filter(|of| of.len() < MAX_COLUMNS - additional.len() - SOFTWARE.len()) {
                Some(of) => columns.extend(of.into_iter().map(|(property, member)| Column::Evidence(property, member))),
                None => columns.push(Column::Json(EVIDENCE)),
            }
        } else if is_used {
            columns.push(if is_plain { Column::Plain(name) } else { Column::Json(name) });
        }
    }
    columns.extend(additional.into_iter().map(Column::Json));
    Ok(columns)
}

/// A record's evidence as written.
fn evidence(export: &Export, row: usize) -> Option<&RawValue> {
    let software = &export.software[row];
    let is_kept = || software.additional_properties.iter().any(|(name, _)| **name == *EVIDENCE);
    if software.evidence.is_empty() && !is_kept() {
        return None;
    }
    let record = export.document.get(export.software_spans.get(row)?.clone())?;
    serde_json::from_slice::<BTreeMap<String, &RawValue>>(record).ok()?.remove(EVIDENCE)
}

/// The members of the evidence for each property; `None` if a property has several sources, or if a
/// cell couldn't be read back.
fn evidence_columns(export: &Export) -> Option<BTreeSet<(String, String)>> {
    let is_plain = |member: &str, value: &Value| {
        let text = value.as_str().and_then(|text| plain(&PropertyValue::Text(text)));
        let is_read_back = text.is_some_and(|text| member != "checked_on" || CalendarDate::has_form(&text));
        MEMBERS.iter().any(|of| of.name == member) && is_read_back
    };
    let mut columns = BTreeSet::new();
    for evidence in (0..export.software.len()).filter_map(|row| evidence(export, row)) {
        let evidence: Value = evidence.get().parse().ok()?;
        for (property, members) in evidence.as_object()? {
            let members = members.as_object().filter(|members| !members.is_empty())?;
            for (member, value) in members {
                if property.is_empty() || value::trim(property) != property || !is_plain(member, value) {
                    return None;
                }
                columns.insert((property.clone(), member.clone()));
            }
        }
    }
    Some(columns)
}

/// A value as a plain cell; `None` if it couldn't be read back.
fn plain(value: &PropertyValue<'_>) -> Option<String> {
    let is_trimmed = |text: &str| !text.is_empty() && value::trim(text) == text;
    let cell = match value {
        PropertyValue::Missing => return Some(String::new()),
        PropertyValue::Text(text) => (*text).to_owned(),
        PropertyValue::Number(text) if serde_json::from_str::<serde_json::Number>(text).is_ok() => text.to_string(),
        PropertyValue::Texts(texts) if texts.iter().all(|text| is_trimmed(text)) => value::readable_list(texts)?,
        PropertyValue::Sources(sources) if sources.iter().all(|source| is_trimmed(&source.label)) => {
            let items: Vec<_> = sources.iter().map(|source| format!("{} <{}>", source.label, source.url)).collect();
            value::join(items.iter().map(String::as_str))
        }
        PropertyValue::Number(_)
        | PropertyValue::Texts(_)
        | PropertyValue::Translations(_)
        | PropertyValue::Evidence(_)
        | PropertyValue::Sources(_) => return None,
    };
    let cell = value::guarded(&cell);
    (text_cell(&cell) == Cell::Text(cell.clone()) && clean::is_kept(&cell)).then_some(cell)
}

/// A property's JSON, whether known or additional; empty if the record doesn't have it.
fn json(software: &Software, name: &str) -> String {
    match software.value(name) {
        PropertyValue::Text(text) => json_of(text),
        PropertyValue::Number(text) => text.into_owned(),
        PropertyValue::Texts(texts) => json_of(texts.iter().map(|text| &**text).collect::<Vec<_>>()),
        PropertyValue::Translations(translations) => serde_json::to_string(translations).unwrap_or_default(),
        PropertyValue::Sources(sources) => {
            let pairs: Vec<_> = sources.iter().map(|source| vec![&*source.label, &*source.url]).collect();
            json_of(pairs)
        }
        PropertyValue::Missing | PropertyValue::Evidence(_) => {
            let found = software.additional_properties.iter().find(|(key, _)| **key == *name);
            found.map_or_else(String::new, |(_, raw)| raw.get().to_owned())
        }
    }
}
