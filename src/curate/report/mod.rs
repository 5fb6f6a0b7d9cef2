//! A report for curators, as HTML and Markdown: how complete and up to date the records in a set of
//! exports are.
//!
//! [`collect`] creates a document of sections, tables and a histogram; [`html`] and [`markdown`]
//! render the same content. The document depends only on the records and the day.

mod agenda;
mod collect;
mod html;
mod markdown;

pub use agenda::Agenda;
pub use collect::collect;
pub use html::html;
pub use markdown::{checklist, markdown};

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
    title: &'static str,
    day: CalendarDate,
    sections: Vec<Section>,
}

#[derive(Debug)]
struct Section {
    title: &'static str,
    blocks: Vec<Block>,
}

#[derive(Debug)]
enum Block {
    /// Text that we wrote, never text from a record. Words between backticks are code.
    Paragraph(String),
    Table(Table),
    Histogram(Histogram),
}

/// A table of up to [`MAX_ROWS`] rows.
#[derive(Debug)]
struct Table {
    /// What the table lists, if the section has several tables.
    caption: Option<&'static str>,
    heads: Vec<&'static str>,
    rows: Vec<Vec<Cell>>,
    more: usize,
}

impl Table {
    /// Keeps the first rows and counts the rest.
    fn new(heads: &[&'static str], rows: impl IntoIterator<Item = Vec<Cell>>) -> Self {
        let mut rows = rows.into_iter();
        let kept = rows.by_ref().take(MAX_ROWS).collect();
        Self { caption: None, heads: heads.to_vec(), rows: kept, more: rows.count() }
    }

    fn captioned(self, caption: &'static str) -> Self {
        Self { caption: Some(caption), ..self }
    }

    /// The column headings, and whether their columns contain numbers.
    fn columns(&self) -> Vec<(&'static str, bool)> {
        let first = self.rows.first();
        let is_number = |at| first.and_then(|row| row.get(at)).is_some_and(Cell::is_number);
        self.heads.iter().enumerate().map(|(at, head)| (*head, is_number(at))).collect()
    }

    /// The line below a truncated table.
    fn rest(&self) -> Option<String> {
        (self.more > 0).then(|| format!("and {} more", Grouped(self.more)))
    }
}

#[derive(Debug)]
enum Cell {
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
    fn text(text: &str) -> Self {
        Self::Text(bounded(text))
    }

    const fn is_number(&self) -> bool {
        matches!(self, Self::Number(_) | Self::Part(..))
    }

    const fn is_code(&self) -> bool {
        matches!(self, Self::Code(_))
    }

    /// Whether the cell is a date, which must not be broken across lines.
    fn is_day(&self) -> bool {
        matches!(self, Self::Text(text) if CalendarDate::parse(text).is_some())
    }

    /// The URI, if browsers may open it: HTTP, only ordinary characters, not truncated.
    fn link(&self) -> Option<&str> {
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
struct Histogram {
    /// `quarter` or `year`.
    period: &'static str,
    bars: Vec<(String, usize)>,
}

impl Histogram {
    /// The largest number, but at least 1.
    fn max(&self) -> usize {
        self.bars.iter().map(|(_, count)| *count).max().unwrap_or_default().max(1)
    }

    fn title(&self) -> String {
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
