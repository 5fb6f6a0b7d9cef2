//! Runs the `export` module's checks on a document created from a table, and reports rows and
//! columns instead of lines and pointers.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::Path;

use super::convert::TRANSLATIONS;
use super::edit::items;
use super::findings::{At, Rejected, TableFindings};
use super::mapping::text;
use super::{Cell, Mapping, Table, value};
use crate::export::{self, Code, Finding, Limits, Report, Severity, SourceFile};
use crate::record::CalendarDate;

/// How many records are checked together to find out why they're invalid: the same as the maximum
/// number of findings reported per code.
const BATCH: usize = 100;

/// A finding and its row.
type Found<'f> = (Option<usize>, &'f Finding);

/// A document and its origin.
#[derive(Debug, Clone, Copy)]
pub struct Checked<'c> {
    pub table: &'c Table,
    pub mapping: &'c Mapping,
    /// The path that the document will have.
    pub path: &'c Path,
    pub json: &'c str,
    /// For each element of `software`, the index of its row.
    pub rows: &'c [Option<usize>],
}

/// Checks a document as `check` does, and adds the findings by cause. Warnings about records
/// without a row are left out, because they aren't new.
pub fn check(checked: &Checked<'_>, today: CalendarDate, findings: &mut TableFindings) -> io::Result<()> {
    let report = examine(checked.path, checked.json.to_owned(), today)?;
    let is_update = checked.rows.contains(&None);
    let mut causes: BTreeMap<(Severity, Code, Option<usize>, String), Vec<Found<'_>>> = BTreeMap::new();
    for finding in &report.findings {
        let (row, column) = checked.place(finding);
        let is_known = is_update && row.is_none() && finding.severity() != Severity::Error;
        // The conversion has already told which values with commas it kept.
        let is_comma = finding.code == Code::CommaList
            && matches!((row, column), (Some(row), Some(column)) if !matches!(checked.table.rows[row].cells[column], Cell::Json(_)) || !checked.table.has_records());
        let is_told = is_comma
            || match (row, column) {
                (Some(row), Some(column)) => findings.has_error_at(row, column),
                // The conversion has already told why the row has no id of its own.
                (Some(row), None) => {
                    finding.location.pointer.ends_with("/id") && findings.rejected().contains_key(&row)
                }
                _ => false,
            };
        if !is_told && !is_known {
            causes
                .entry((finding.severity(), finding.code, column, cause(&finding.message)))
                .or_default()
                .push((row, finding));
        }
    }
    let columns = |of: Code| causes.keys().filter(move |(_, code, ..)| *code == of).count();
    for ((severity, code, column, _), found) in &causes {
        let is_one = found.iter().all(|(_, finding)| finding.message == found[0].1.message);
        let what = if is_one { found[0].1.message.as_str() } else { code.description().trim_end_matches('.') };
        let message = format!("[{}] {what}", code.as_str());
        let filling = (*code == Code::MissingProperty && found[0].1.message.contains("`url`"))
            .then(|| checked.filling(found))
            .flatten();
        for (row, finding) in found {
            let value = match (row, column) {
                (Some(row), Some(column)) => checked.table.rows[*row].cells[*column].shown().to_owned(),
                _ if is_one => String::new(),
                _ => finding.message.clone(),
            };
            let at = At { row: *row, column: *column };
            findings.add(*severity, checked.table, at, &value, &message, filling.as_ref().unwrap_or(&finding.help));
        }
        // If there's only one column, the findings that were dropped belong to it too.
        let more = report.left_out.iter().find(|more| more.code == *code && columns(*code) == 1);
        findings.add_more(*severity, *column, &message, more.map_or(0, |more| more.count));
    }
    for more in report.left_out.iter().filter(|more| columns(more.code) != 1) {
        let message =
            format!("[{}] {}, in other rows", more.code.as_str(), more.code.description().trim_end_matches('.'));
        findings.add_more(more.code.severity(), None, &message, more.count);
    }
    Ok(())
}

/// A finding's message without the values that it quotes, so that findings with the same cause share
/// it. What's wrong with an address is told by the character that it contains.
fn cause(message: &str) -> String {
    let (mut cause, mut is_quoted) = (String::new(), false);
    for part in message.split('`') {
        let is_short = part.chars().count() < 2;
        cause.push_str(if is_quoted && !is_short { "…" } else { part });
        is_quoted = !is_quoted;
    }
    cause
}

/// The invalid columns of records and the reasons, by row index.
pub fn rejected(checked: &Checked<'_>, today: CalendarDate) -> io::Result<Rejected> {
    let document = items(checked.json).unwrap_or_default();
    let software = document.iter().find(|item| item.key.as_deref() == Some("software"));
    let elements = software.and_then(|item| items(item.value)).unwrap_or_default();
    let report = examine(checked.path, checked.json.to_owned(), today)?;
    // The report contains the valid records in their original order.
    let ids = |element: &str| {
        let value: Option<HashMap<String, serde_json::Value>> = serde_json::from_str(element).ok();
        value.and_then(|mut value| value.remove("id")).and_then(|id| id.as_str().map(str::to_owned))
    };
    let mut valid = report.exports.iter().flat_map(|export| &export.software).peekable();
    let mut invalid = Vec::new();
    for (index, element) in elements.iter().enumerate() {
        if valid.next_if(|software| Some(&*software.id) == ids(element.value).as_deref()).is_none() {
            invalid.push(index);
        }
    }
    let mut rejected = Rejected::new();
    for batch in invalid.chunks(BATCH) {
        let json: Vec<&str> = batch.iter().map(|index| elements[*index].value).collect();
        let json = format!(r#"{{"name":"N","license":"https://example.org/","software":[{}]}}"#, json.join(","));
        let rows: Vec<_> = batch.iter().map(|index| checked.rows.get(*index).copied().flatten()).collect();
        let part = Checked { json: &json, rows: &rows, ..*checked };
        for finding in &examine(checked.path, json.clone(), today)?.findings {
            let (Some(row), column) = part.place(finding) else { continue };
            if finding.severity() == Severity::Error {
                let place = column.map_or_else(String::new, |column| format!("{}: ", checked.table.heads[column]));
                rejected.entry(row).or_default().push((column, format!("{place}{}", finding.message)));
            }
        }
        for row in rows.into_iter().flatten() {
            rejected.entry(row).or_insert_with(|| vec![(None, "another record has the same id".to_owned())]);
        }
    }
    Ok(rejected)
}

fn examine(path: &Path, json: String, today: CalendarDate) -> io::Result<Report> {
    let file = SourceFile::from_bytes(path, json.into());
    export::examine(vec![file], &Limits::default(), today, &|_| {})
}

impl Checked<'_> {
    /// How to fill in the addresses that rows lack from the column that has them in most of these rows.
    fn filling(&self, found: &[Found<'_>]) -> Option<String> {
        let count = |column: &usize| {
            let texts = found.iter().filter_map(|(row, _)| text(&self.table.rows[(*row)?].cells[*column]));
            texts.filter(|text| value::has_scheme(text)).count()
        };
        let column =
            (0..self.table.heads.len() - self.table.made).max_by_key(count).filter(|column| count(column) > 0)?;
        let head = &self.table.heads[column];
        Some(format!(
            "write the address of the product's website; --map '{{{head}}}=url' uses the one in `{head}`, which {} of these rows have",
            count(&column)
        ))
    }

    /// A finding's row and column.
    fn place(&self, finding: &Finding) -> (Option<usize>, Option<usize>) {
        let mut parts = finding.location.pointer.split('/').skip(1);
        let index =
            parts.next().filter(|section| *section == "software").and_then(|_| parts.next()?.parse::<usize>().ok());
        let row = index.and_then(|index| self.rows.get(index).copied().flatten());
        let mut property = parts.next().unwrap_or_default().replace("~1", "/").replace("~0", "~");
        if property == TRANSLATIONS
            && let (Some(language), Some(translated)) = (parts.next(), parts.next())
        {
            property = format!("{translated}:{language}");
        }
        let has_value = |column: &usize| row.is_none_or(|row| self.table.rows[row].cells[*column] != Cell::Empty);
        let columns = self.mapping.columns.iter().enumerate();
        let of: Vec<_> =
            columns.filter(|(_, of)| of.target.property() == Some(&property)).map(|(column, _)| column).collect();
        (row, of.iter().copied().find(has_value).or_else(|| of.first().copied()).filter(|_| row.is_some()))
    }
}
