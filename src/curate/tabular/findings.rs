//! Findings in a table, grouped by cause. Each cause is listed once, with its count, examples and
//! the fix.

use std::collections::BTreeMap;

use super::{Table, column_letters};
use crate::export::Severity;

/// How many examples are shown per cause.
const KEPT_EXAMPLES: usize = 3;
/// Maximum length of a value in an example, in characters.
const VALUE_CHARS: usize = 60;

/// Findings with the same cause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cause {
    pub level: Severity,
    /// The column's name in messages; empty if the cause concerns the whole table.
    pub column: String,
    /// What's wrong, without the values.
    pub message: String,
    /// What to do; empty for a note.
    pub fix: String,
    pub count: usize,
    /// The first examples. May be empty.
    pub examples: Vec<Example>,
    /// The indices of a note's rows.
    pub rows: Vec<usize>,
}

/// One of the findings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Example {
    pub row: String,
    /// The value in backticks, or text that contains several values.
    pub value: String,
    pub fix: String,
}

/// Where something was found.
#[derive(Debug, Clone, Copy)]
pub(super) struct At {
    /// The row's index in the table; `None` for the whole column.
    pub(super) row: Option<usize>,
    /// The column's index; `None` for the whole row.
    pub(super) column: Option<usize>,
}

impl At {
    pub(super) const fn cell(row: usize, column: usize) -> Self {
        Self { row: Some(row), column: Some(column) }
    }

    pub(super) const fn row(row: usize) -> Self {
        Self { row: Some(row), column: None }
    }
}

/// The columns with errors, and what is wrong, by row index.
pub type Rejected = BTreeMap<usize, Vec<(Option<usize>, String)>>;

/// All causes in a table, and the rows with errors.
#[derive(Debug, Default)]
pub struct TableFindings {
    groups: BTreeMap<(Severity, Option<usize>, String), Cause>,
    rejected: Rejected,
    has_other_errors: bool,
    /// Values that `--fix` would correct.
    pub fixable: usize,
}

impl TableFindings {
    pub(super) fn add(&mut self, level: Severity, table: &Table, at: At, value: &str, message: &str, fix: &str) {
        let group = self.cause(level, at.column, message);
        if group.count == 0 {
            group.column = at.column.map_or_else(String::new, |column| table.column_name(column));
            fix.clone_into(&mut group.fix);
        }
        group.count += 1;
        group.rows.extend(at.row.filter(|_| level == Severity::Note));
        let row = at.row.and_then(|row| table.rows.get(row));
        if let Some(row) = row.filter(|_| group.examples.len() < KEPT_EXAMPLES) {
            // Text that quotes values isn't cut before it ends.
            let most = if value.contains('`') { 4 * VALUE_CHARS } else { VALUE_CHARS };
            let mut shown: String = value.chars().take(most).collect();
            if shown.len() < value.len() {
                shown.push('…');
            }
            if !shown.is_empty() && !shown.contains('`') {
                shown = format!("`{shown}`");
            }
            group.examples.push(Example { row: table.row_name(row.number), value: shown, fix: fix.to_owned() });
        }
        self.has_other_errors |= level == Severity::Error && at.row.is_none();
        if let (Severity::Error, Some(row)) = (level, at.row) {
            let place =
                at.column.map_or_else(String::new, |column| match table.heads.get(column).map(String::as_str) {
                    Some("") | None => format!("column {}: ", column_letters(column)),
                    Some(head) => format!("{head}: "),
                });
            self.rejected.entry(row).or_default().push((at.column, format!("{place}{message}")));
        }
    }

    /// Counts further findings with the same cause that aren't known individually.
    pub(super) fn add_more(&mut self, level: Severity, column: Option<usize>, message: &str, count: usize) {
        self.cause(level, column, message).count += count;
    }

    fn cause(&mut self, level: Severity, column: Option<usize>, message: &str) -> &mut Cause {
        self.groups.entry((level, column, message.to_owned())).or_insert_with(|| Cause {
            level,
            column: String::new(),
            message: message.to_owned(),
            fix: String::new(),
            count: 0,
            examples: Vec::new(),
            rows: Vec::new(),
        })
    }

    pub(super) fn note(&mut self, table: &Table, at: At, value: &str, message: &str) {
        self.add(Severity::Note, table, at, value, message, "");
    }

    /// The causes, errors first, then by column.
    pub fn groups(&self) -> impl Iterator<Item = &Cause> {
        self.groups.values()
    }

    /// How many causes and findings there are at a level.
    pub fn count(&self, level: Severity) -> (usize, usize) {
        let of = self.groups.values().filter(|group| group.level == level);
        of.fold((0, 0), |(causes, findings), group| (causes + 1, findings + group.count))
    }

    pub const fn rejected(&self) -> &Rejected {
        &self.rejected
    }

    /// Keeps only errors, except those in cells that are left out.
    #[must_use]
    pub fn without_cells(mut self, is_left_out: impl Fn(usize) -> bool) -> Self {
        let is_kept = |column: &Option<usize>| !column.is_some_and(&is_left_out);
        self.groups.retain(|(level, column, _), _| *level == Severity::Error && is_kept(column));
        self.rejected.values_mut().for_each(|reasons| reasons.retain(|(column, _)| is_kept(column)));
        self.rejected.retain(|_, reasons| !reasons.is_empty());
        self
    }

    /// Whether all errors are confined to rows, so that the other rows can be written.
    pub const fn is_about_rows(&self) -> bool {
        !self.has_other_errors
    }

    pub(super) fn has_error_at(&self, row: usize, column: usize) -> bool {
        self.rejected.get(&row).is_some_and(|reasons| reasons.iter().any(|(of, _)| *of == Some(column)))
    }
}
