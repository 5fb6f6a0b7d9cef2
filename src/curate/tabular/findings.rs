//! Findings in a table, grouped by cause. Each cause is listed once, with its count, examples and
//! the fix.

use std::collections::{BTreeMap, HashSet};

use super::{Table, column_letters};

/// How many examples are shown per cause.
const KEPT_EXAMPLES: usize = 3;
/// Maximum length of a value in an example, in characters.
const VALUE_CHARS: usize = 60;

/// How severe a cause is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Rows with this cause can't be published.
    Error,
    /// Worth a look, but doesn't stop anything.
    Warning,
    /// Something was changed along the way.
    Note,
}

impl Level {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}

/// Findings with the same cause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cause {
    pub level: Level,
    /// The column's name in messages; empty if the cause concerns the whole table.
    pub column: String,
    /// What's wrong, without the values.
    pub message: String,
    /// What to do; empty for a note.
    pub fix: String,
    pub count: usize,
    /// The first examples, each with its row and the value in backticks, or with text that contains
    /// several values. May be empty.
    pub examples: Vec<(String, String)>,
    /// The indices of a note's rows.
    pub rows: Vec<usize>,
    /// What to do about each example, if that's not the same for all of them.
    pub fixes: Vec<String>,
}

/// Where something was found.
#[derive(Debug, Clone, Copy)]
pub(super) struct At {
    /// The row's index in the table; `None` for the whole column.
    pub(super) row: Option<usize>,
    /// The column's index; `None` for the whole row.
    pub(super) column: Option<usize>,
}

/// The columns with errors, and what is wrong, by row index.
pub type Rejected = BTreeMap<usize, Vec<(Option<usize>, String)>>;

/// All causes in a table, and the rows with errors.
#[derive(Debug, Default)]
pub struct TableFindings {
    groups: BTreeMap<(Level, Option<usize>, String), Cause>,
    rejected: Rejected,
    faulted: HashSet<(usize, usize)>,
    has_other_errors: bool,
    /// Values that `--fix` would correct.
    pub fixable: usize,
}

impl TableFindings {
    pub(super) fn add(&mut self, level: Level, table: &Table, at: At, value: &str, message: &str, fix: &str) {
        let key = (level, at.column, message.to_owned());
        let group = self.groups.entry(key).or_insert_with(|| Cause {
            level,
            column: at.column.map_or_else(String::new, |column| table.column_name(column)),
            message: message.to_owned(),
            fix: fix.to_owned(),
            count: 0,
            examples: Vec::new(),
            rows: Vec::new(),
            fixes: Vec::new(),
        });
        group.count += 1;
        group.rows.extend(at.row.filter(|_| level == Level::Note));
        self.has_other_errors |= level == Level::Error && at.row.is_none();
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
            group.examples.push((table.row_name(row.number), shown));
            if group.fix != fix || !group.fixes.is_empty() {
                group.fixes.resize(group.examples.len() - 1, group.fix.clone());
                group.fixes.push(fix.to_owned());
            }
        }
        if let (Level::Error, Some(row)) = (level, at.row) {
            let place =
                at.column.map_or_else(String::new, |column| match table.heads.get(column).map(String::as_str) {
                    Some("") | None => format!("column {}: ", column_letters(column)),
                    Some(head) => format!("{head}: "),
                });
            self.rejected.entry(row).or_default().push((at.column, format!("{place}{message}")));
            self.faulted.extend(at.column.map(|column| (row, column)));
        }
    }

    /// Counts further findings with the same cause that aren't known individually.
    pub(super) fn add_more(&mut self, level: Level, column: Option<usize>, message: &str, count: usize) {
        let group = self.groups.entry((level, column, message.to_owned())).or_insert_with(|| Cause {
            level,
            column: String::new(),
            message: message.to_owned(),
            fix: String::new(),
            count: 0,
            examples: Vec::new(),
            rows: Vec::new(),
            fixes: Vec::new(),
        });
        group.count += count;
    }

    /// The causes, errors first, then by column.
    pub fn groups(&self) -> impl Iterator<Item = &Cause> {
        self.groups.values()
    }

    /// How many causes and findings there are at a level.
    pub fn count(&self, level: Level) -> (usize, usize) {
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
        self.groups.retain(|(level, column, _), _| *level == Level::Error && is_kept(column));
        self.rejected.values_mut().for_each(|reasons| reasons.retain(|(column, _)| is_kept(column)));
        self.rejected.retain(|_, reasons| !reasons.is_empty());
        self.faulted.retain(|(_, column)| !is_left_out(*column));
        self
    }

    /// Whether all errors are confined to rows, so that the other rows can be written.
    pub const fn is_about_rows(&self) -> bool {
        !self.has_other_errors
    }

    pub(super) fn has_error_at(&self, row: usize, column: usize) -> bool {
        self.faulted.contains(&(row, column))
    }
}
