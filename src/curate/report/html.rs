//! Writes the report as a web page: one file without scripts or external resources.

use askama::Template;

use super::{Block, Document, Histogram};
use crate::text::count::Grouped;

/// The pages' style sheet.
const STYLE: &str = include_str!("../../../templates/static/style.css");

/// On narrow screens, rows with this many columns or more are stacked.
const WIDE_COLUMNS: usize = 5;

/// Layout: the heights of a bar including its gap and of the axis below, in pixels; then where bars
/// start and their maximum length, as percentages of the width.
const BAR: usize = 26;
const AXIS: usize = 46;
const LEFT: usize = 22;
const LENGTH: usize = 60;

#[derive(Debug, Template)]
#[template(path = "report.html")]
struct Page<'a> {
    title: String,
    style: &'static str,
    document: &'a Document,
}

/// Text from records is escaped.
///
/// # Errors
/// Fails only if a value can't be formatted.
pub fn html(document: &Document) -> Result<String, askama::Error> {
    Page { title: format!("{}, {}", document.title, document.day), style: STYLE, document }.render()
}

/// Horizontal bars whose lengths adapt to the page's width but whose text size doesn't.
#[derive(Debug, Template)]
#[template(path = "plot.html")]
struct Plot<'a> {
    title: String,
    text: String,
    period: &'static str,
    bars: Vec<Bar<'a>>,
    ticks: Vec<Tick>,
    /// Where the bars end, in pixels.
    bottom: usize,
}

#[derive(Debug)]
struct Bar<'a> {
    name: &'a str,
    count: Grouped<usize>,
    top: usize,
    /// The baseline of the bar's text.
    base: usize,
    length: String,
    end: String,
}

#[derive(Debug)]
struct Tick {
    x: String,
    count: Grouped<usize>,
}

impl<'a> Plot<'a> {
    fn new(histogram: &'a Histogram) -> Self {
        let max = histogram.max();
        let bars = (1..).zip(&histogram.bars).map(|(row, (name, count))| Bar {
            name,
            count: Grouped(*count),
            top: row * BAR + 4,
            base: row * BAR + 18,
            length: percent(LENGTH * 100 * count / max),
            end: percent(LEFT * 100 + LENGTH * 100 * count / max),
        });
        let ticks = if max == 1 { vec![0, 1] } else { vec![0, max / 2, max] };
        let tick = |count| Tick { x: percent(LEFT * 100 + LENGTH * 100 * count / max), count: Grouped(count) };
        let text = histogram.bars.iter().map(|(name, count)| format!("{name}: {}", Grouped(*count)));
        Self {
            title: histogram.title(),
            text: text.collect::<Vec<_>>().join(", "),
            period: if histogram.period == "year" { "Year" } else { "Quarter" },
            bars: bars.collect(),
            ticks: ticks.into_iter().map(tick).collect(),
            bottom: histogram.bars.len() * BAR + BAR,
        }
    }
}

/// Formats a length given in hundredths of a percent of the width.
fn percent(hundredths: usize) -> String {
    format!("{}.{:02}%", hundredths / 100, hundredths % 100)
}
