//! Writes the report as GitHub Flavored Markdown, which supports tables.

use super::{Block, Cell, Document, Histogram, Section, Table};
use crate::text::count::Grouped;
use crate::text::markdown::escape;

/// The length of the longest bar, in characters.
const BAR_CHARS: usize = 30;

/// Text from records is escaped.
pub fn markdown(document: &Document) -> String {
    let block = |block: &Block| match block {
        Block::Paragraph(text) => format!("\n{text}\n"),
        Block::Table(shown) => format!("\n{}", table(shown)),
        Block::Histogram(shown) => format!("\n{}", histogram(shown)),
    };
    let section = |section: &Section| {
        let blocks: Vec<_> = section.blocks.iter().map(block).collect();
        format!("\n## {}\n{}", section.title, blocks.concat())
    };
    let sections: Vec<_> = document.sections.iter().map(section).collect();
    format!("# {}, {}\n{}", document.title, document.day, sections.concat())
}

/// The rows of all tables as a list of tasks for an issue tracker.
pub fn checklist(document: &Document) -> String {
    let task = |row: &Vec<Cell>| {
        let cells: Vec<_> = row.iter().map(cell).filter(|cell| !cell.is_empty()).collect();
        format!("- [ ] {}\n", cells.join(" · "))
    };
    let block = |block: &Block| match block {
        Block::Paragraph(text) => format!("{text}\n"),
        Block::Table(table) => {
            let rest = table.rest().map(|rest| format!("\n… {rest}.\n")).unwrap_or_default();
            table.rows.iter().map(task).collect::<String>() + &rest
        }
        Block::Histogram(_) => String::new(),
    };
    let section = |of: &Section| format!("\n## {}\n\n{}", of.title, of.blocks.iter().map(block).collect::<String>());
    format!("# {}, {}\n{}", document.title, document.day, document.sections.iter().map(section).collect::<String>())
}

fn table(table: &Table) -> String {
    let mut out = table.caption.map(|caption| format!("### {caption}\n\n")).unwrap_or_default();
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    out += &line(table.heads.iter().map(|head| (*head).to_owned()).collect());
    let numbers = |at: usize| table.rows.first().is_some_and(|row| row[at].is_number());
    out += &line((0..table.heads.len()).map(|at| if numbers(at) { "---:" } else { "---" }.to_owned()).collect());
    for row in &table.rows {
        out += &line(row.iter().map(cell).collect());
    }
    out + &table.rest().map(|rest| format!("\n… {rest}.\n")).unwrap_or_default()
}

fn cell(cell: &Cell) -> String {
    match cell {
        Cell::Code(code) => format!("`{code}`"),
        Cell::Number(_) | Cell::Part(..) => cell.to_string(),
        Cell::Uri(_) => match cell.link() {
            Some(uri) => format!("<{uri}>"),
            None => escape(&cell.to_string()),
        },
        Cell::Text(text) => escape(text),
    }
}

fn histogram(histogram: &Histogram) -> String {
    let mut lines = vec![format!("{}:\n\n```text\n", histogram.title())];
    let width = histogram.bars.iter().map(|(name, _)| name.len()).max().unwrap_or_default();
    for (name, count) in &histogram.bars {
        let bar = "█".repeat((count * BAR_CHARS).div_ceil(histogram.max()));
        lines.push(format!("{name:>width$} │{bar} {}\n", Grouped(*count)));
    }
    lines.concat() + "```\n"
}
