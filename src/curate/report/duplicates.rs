//! Possible duplicates: products that share a URL or a name under different ids.

use std::cmp::Reverse;

use foldhash::{HashMap, HashMapExt as _};

use super::document::{Block, Cell, Section, Table};
use crate::record::{Software, normalised_url};
use crate::text::count::Grouped;

const MAX_IDS: usize = 5;

pub(super) fn section(software: &[&Software]) -> Section {
    // Names that differ only in case or spacing count as the same.
    let name = |text: &str| text.split_whitespace().map(str::to_lowercase).collect::<Vec<_>>().join(" ");
    let url = |text: &str| normalised_url(text).into_owned();
    let tables = [
        table(software, ["Same URL", "URL"], |software| &software.url, url),
        table(software, ["Same name", "Name"], |software| &software.name, name),
    ];
    let mut blocks: Vec<_> = tables.into_iter().flatten().map(Block::Table).collect();
    let text = if blocks.is_empty() {
        "No two products have the same URL or the same name."
    } else {
        "Fine if they are different products; otherwise remove the duplicate records."
    };
    blocks.insert(0, Block::Paragraph(text.to_owned()));
    Section { title: "Suspected duplicates", blocks }
}

/// The groups of products that share a value, largest first; `None` if there are none.
fn table(
    software: &[&Software],
    [caption, head]: [&'static str; 2],
    value: fn(&Software) -> &str,
    key: impl Fn(&str) -> String,
) -> Option<Table> {
    let mut groups: HashMap<String, Vec<&Software>> = HashMap::new();
    for software in software {
        groups.entry(key(value(software))).or_default().push(software);
    }
    let mut groups: Vec<_> = groups.into_iter().filter(|(_, group)| group.len() > 1).collect();
    groups.sort_unstable_by(|(key, group), (other_key, other)| {
        (Reverse(group.len()), key).cmp(&(Reverse(other.len()), other_key))
    });
    let rows = groups.iter().map(|(_, group)| {
        let mut ids: Vec<_> = group.iter().take(MAX_IDS).map(|software| Cell::text(&software.id).to_string()).collect();
        if group.len() > MAX_IDS {
            ids.push(format!("and {} more", Grouped(group.len() - MAX_IDS)));
        }
        vec![Cell::text(value(group[0])), Cell::Number(group.len()), Cell::Text(ids.join(", "))]
    });
    (!groups.is_empty()).then(|| Table::new(&[head, "Products", "Ids"], rows).captioned(caption))
}
