//! The parts of a report, independent of its format.

use std::fmt;

use crate::record::CalendarDate;
use crate::text::count::Grouped;
use crate::text::printable::printable;

/// Maximum number of rows in a table; the rest are only counted.
const MAX_ROWS: usize = 50;

/// Maximum length of text from a record, in characters.
const MAX_CHARS: usize = 200;

#[derive(Debug)]
pub struct Document {
    pub(super) title: &'static str,
    pub(super) day: CalendarDate,
    pub(super) sections: Vec<Section>,
}

#[derive(Debug)]
pub(super) struct Section {
    pub(super) title: &'static str,
    pub(super) blocks: Vec<Block>,
}

#[derive(Debug)]
pub(super) enum Block {
    /// Text that we wrote, never text from a record. Words between backticks are code.
    Paragraph(String),
    Table(Table),
    Histogram(Histogram),
}

/// A table of up to [`MAX_ROWS`] rows.
#[derive(Debug)]
pub(super) struct Table {
    /// What the table lists, if the section has several tables.
    pub(super) caption: Option<&'static str>,
    pub(super) heads: Vec<&'static str>,
    pub(super) rows: Vec<Vec<Cell>>,
    pub(super) more: usize,
}

impl Table {
    /// Keeps the first rows and counts the rest.
    pub(super) fn new(heads: &[&'static str], rows: impl IntoIterator<Item = Vec<Cell>>) -> Self {
        let mut rows = rows.into_iter();
        let kept = rows.by_ref().take(MAX_ROWS).collect();
        Self { caption: None, heads: heads.to_vec(), rows: kept, more: rows.count() }
    }

    pub(super) fn captioned(self, caption: &'static str) -> Self {
        Self { caption: Some(caption), ..self }
    }

    /// The column headings, and whether their columns contain numbers.
    pub(super) fn columns(&self) -> Vec<(&'static str, bool)> {
        let first = self.rows.first();
        let is_number = |at| first.and_then(|row| row.get(at)).is_some_and(Cell::is_number);
        self.heads.iter().enumerate().map(|(at, head)| (*head, is_number(at))).collect()
    }

    /// The line below a truncated table.
    pub(super) fn rest(&self) -> Option<String> {
        (self.more > 0).then(|| format!("and {} more", Grouped(self.more)))
    }
}

#[derive(Debug)]
pub(super) enum Cell {
    /// Any text, including text from a record.
    Text(String),
    /// A URI from a record.
    Uri(String),
    /// A name that we define, such as a finding's code.
    Code(&'static str),
    Number(usize),
    Part(usize, usize),
}

impl Cell {
    /// Text of limited length, with control characters and bidirectional formatting escaped.
    pub(super) fn text(text: &str) -> Self {
        Self::Text(bounded(text))
    }

    pub(super) const fn is_number(&self) -> bool {
        matches!(self, Self::Number(_) | Self::Part(..))
    }

    pub(super) const fn is_code(&self) -> bool {
        matches!(self, Self::Code(_))
    }

    /// Whether the cell is a date, which must not be broken across lines.
    pub(super) fn is_day(&self) -> bool {
        matches!(self, Self::Text(text) if CalendarDate::parse(text).is_some())
    }

    /// The URI, if browsers may open it: HTTP, only ordinary characters, not truncated.
    pub(super) fn link(&self) -> Option<&str> {
        let Self::Uri(uri) = self else { return None };
        let is_plain = |c: char| c.is_ascii_graphic() && !matches!(c, '<' | '>' | '"' | '|' | '\\' | '`');
        let is_http = uri.starts_with("https://") || uri.starts_with("http://");
        (is_http && uri.chars().count() <= MAX_CHARS && uri.chars().all(is_plain)).then_some(uri)
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Uri(uri) => f.write_str(&bounded(uri)),
            Self::Code(code) => f.write_str(code),
            Self::Number(number) => Grouped(*number).fmt(f),
            Self::Part(part, whole) => match part.saturating_mul(100).checked_div(*whole) {
                None => f.write_str("0"),
                Some(0) if *part > 0 => write!(f, "{} (<1%)", Grouped(*part)),
                Some(percent) => write!(f, "{} ({percent}%)", Grouped(*part)),
            },
        }
    }
}

fn bounded(text: &str) -> String {
    let mut chars = text.chars();
    let mut kept: String = chars.by_ref().take(MAX_CHARS).map(|c| if c == '\t' { ' ' } else { c }).collect();
    if chars.next().is_some() {
        kept.push('…');
    }
    printable(&kept).into_owned()
}

#[derive(Debug)]
pub(super) struct Histogram {
    /// `quarter` or `year`.
    pub(super) period: &'static str,
    pub(super) bars: Vec<(String, usize)>,
}

impl Histogram {
    /// The largest number, but at least 1.
    pub(super) fn max(&self) -> usize {
        self.bars.iter().map(|(_, count)| *count).max().unwrap_or_default().max(1)
    }

    pub(super) fn title(&self) -> String {
        format!("Products by {} of their evidence check", self.period)
    }
}

#[cfg(test)]
mod tests {
    use super::Cell;

    #[test]
    fn only_a_complete_share_is_shown_as_100_percent() {
        let shown = [(0, 0), (0, 9), (1, 1000), (999, 1000), (1000, 1000)].map(|(a, b)| Cell::Part(a, b).to_string());
        assert_eq!(shown, ["0", "0 (0%)", "1 (<1%)", "999 (99%)", "1,000 (100%)"]);
    }

    #[test]
    fn only_plain_http_uris_become_links() {
        let link = |uri: &str| Cell::Uri(uri.to_owned()).link().is_some();
        assert!(link("https://a.example/?a=1&b='c'#d"));
        for other in ["javascript:alert(1)", "data:text/html,x", "https://a.example/\">", "https://a.example/ä"] {
            assert!(!link(other), "{other}");
        }
        assert!(!link(&format!("https://a.example/{}", "a".repeat(200))));
    }
}
