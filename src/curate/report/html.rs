//! Writes the report as a web page: one file without scripts or external resources.

use super::document::{Block, Cell, Document, Histogram, Section, Table};
use crate::record::CalendarDate;
use crate::text::count::Grouped;
use crate::text::html::escape;

const STYLE: &str = include_str!("report.css");

/// On narrow screens, rows with this many columns or more are stacked.
const WIDE_COLUMNS: usize = 5;

/// Layout: the height of a bar including its gap and of the axis below in pixels, then where bars
/// start and how long they get, in per cent of the width.
const BAR: usize = 26;
const AXIS: usize = 46;
const LEFT: usize = 22;
const LENGTH: usize = 60;

/// Texts from records are escaped.
pub fn html(document: &Document) -> String {
    let title = format!("Report on the directory, {}", document.day);
    let contents = (1..)
        .zip(&document.sections)
        .map(|(number, section)| format!("<li><a href=\"#section-{number}\">{}</a></li>\n", section.title))
        .collect::<Vec<_>>()
        .concat();
    let sections =
        (1..).zip(&document.sections).map(|(number, shown)| section(number, shown)).collect::<Vec<_>>().concat();
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n\
         <nav aria-label=\"Contents\">\n<ul>\n{contents}</ul>\n</nav>\n{sections}</main>\n</body>\n</html>\n"
    )
}

fn section(number: usize, section: &Section) -> String {
    let blocks = section.blocks.iter().map(block).collect::<Vec<_>>().concat();
    format!("<section>\n<h2 id=\"section-{number}\">{}</h2>\n{blocks}</section>\n", section.title)
}

fn block(block: &Block) -> String {
    match block {
        Block::Paragraph(text) => format!("<p>{}</p>\n", with_code(text)),
        Block::Table(shown) => table(shown),
        Block::Histogram(shown) => histogram(shown),
    }
}

/// Converts our own text: every second part between backticks is code.
fn with_code(text: &str) -> String {
    let part = |(at, part): (usize, &str)| {
        if at % 2 == 1 { format!("<code>{}</code>", escape(part)) } else { escape(part) }
    };
    text.split('`').enumerate().map(part).collect::<Vec<_>>().concat()
}

fn table(table: &Table) -> String {
    let class = if table.heads.len() >= WIDE_COLUMNS { " class=\"wide\"" } else { "" };
    let caption = table.caption.map(|caption| format!("<caption>{caption}</caption>\n")).unwrap_or_default();
    let number = |cell: Option<&Cell>| if cell.is_some_and(Cell::is_number) { " class=\"number\"" } else { "" };
    let first = table.rows.first();
    let heads = (0..)
        .zip(&table.heads)
        .map(|(at, head)| format!("<th scope=\"col\"{}>{head}</th>", number(first.and_then(|row| row.get(at)))))
        .collect::<Vec<_>>()
        .concat();
    let row = |row: &Vec<Cell>| {
        let cells = table.heads.iter().zip(row).enumerate().map(|(at, (head, shown))| {
            let content = cell(shown);
            if at == 0 {
                format!("<th scope=\"row\">{content}</th>")
            } else {
                format!("<td data-head=\"{head}\"{}>{content}</td>", number(Some(shown)))
            }
        });
        format!("<tr>{}</tr>\n", cells.collect::<Vec<_>>().concat())
    };
    let rows = table.rows.iter().map(row).collect::<Vec<_>>().concat();
    let rest = table.rest().map(|rest| format!("<p class=\"rest\">… {rest}.</p>\n")).unwrap_or_default();
    format!("<table{class}>\n{caption}<thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n{rest}")
}

fn cell(cell: &Cell) -> String {
    let text = escape(&cell.to_string());
    match cell {
        Cell::Code(_) => format!("<code>{text}</code>"),
        Cell::Text(day) if CalendarDate::parse(day).is_some() => format!("<time>{text}</time>"),
        _ => match cell.link() {
            Some(uri) => format!("<a href=\"{}\" rel=\"noreferrer\">{text}</a>", escape(uri)),
            None => text,
        },
    }
}

/// Horizontal bars whose lengths adapt to the width of the page, while their texts keep their size.
fn histogram(histogram: &Histogram) -> String {
    let max = histogram.max();
    let bottom = histogram.bars.len() * BAR + BAR;
    // In hundredths of a per cent.
    let x = |count: usize| {
        let at = LEFT * 100 + LENGTH * 100 * count / max;
        format!("{}.{:02}%", at / 100, at % 100)
    };
    let bars: String = (1..)
        .zip(&histogram.bars)
        .map(|(row, (name, count))| {
            let (top, base) = (row * BAR + 4, row * BAR + 18);
            let length = LENGTH * 100 * count / max;
            format!(
                "<text x=\"{left}%\" dx=\"-8\" y=\"{base}\" text-anchor=\"end\">{name}</text>\n\
                 <rect class=\"bar\" x=\"{LEFT}%\" y=\"{top}\" width=\"{}.{:02}%\" height=\"18\"/>\n\
                 <text x=\"{}\" dx=\"6\" y=\"{base}\">{}</text>\n",
                length / 100,
                length % 100,
                x(*count),
                Grouped(*count),
                left = LEFT,
            )
        })
        .collect::<Vec<_>>()
        .concat();
    let tick = |count: usize| {
        format!(
            "<line class=\"axis\" x1=\"{at}\" x2=\"{at}\" y1=\"{bottom}\" y2=\"{}\"/>\n\
             <text x=\"{at}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n",
            bottom + 5,
            bottom + 20,
            Grouped(count),
            at = x(count),
        )
    };
    let ticks = if max == 1 { [tick(0), String::new(), tick(1)] } else { [tick(0), tick(max / 2), tick(max)] };
    let summary: Vec<_> = histogram.bars.iter().map(|(name, count)| format!("{name}: {}", Grouped(*count))).collect();
    let period = if histogram.period == "year" { "Year" } else { "Quarter" };
    format!(
        "<figure>\n<svg role=\"img\" aria-labelledby=\"plot-title plot-text\" width=\"100%\" height=\"{height}\">\n\
         <title id=\"plot-title\">{title}</title>\n<desc id=\"plot-text\">{text}</desc>\n\
         <text class=\"label\" x=\"{LEFT}%\" dx=\"-8\" y=\"16\" text-anchor=\"end\">{period}</text>\n{bars}\
         <line class=\"axis\" x1=\"{LEFT}%\" x2=\"{LEFT}%\" y1=\"{BAR}\" y2=\"{bottom}\"/>\n\
         <line class=\"axis\" x1=\"{LEFT}%\" x2=\"{end}%\" y1=\"{bottom}\" y2=\"{bottom}\"/>\n{ticks}\
         <text class=\"label\" x=\"{middle}%\" y=\"{label}\" text-anchor=\"middle\">Products</text>\n</svg>\n\
         <figcaption>{title}</figcaption>\n</figure>\n",
        height = bottom + AXIS,
        title = histogram.title(),
        text = summary.join(", "),
        end = LEFT + LENGTH,
        ticks = ticks.concat(),
        middle = LEFT + LENGTH / 2,
        label = bottom + 40,
    )
}
