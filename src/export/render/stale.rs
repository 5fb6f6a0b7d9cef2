//! Prints the products with stale evidence as text.

use std::io::{self, Write};

use crate::export::Stale;
use crate::export::finding::Truncated;
use crate::text::count::{Grouped, counted};

/// How many products in a category are listed; the rest are only counted.
const LISTED_PRODUCTS: usize = 20;
/// How many categories are listed; the rest are only counted.
const LISTED_CATEGORIES: usize = 50;

pub(super) fn stale(stale: &Stale, out: &mut dyn Write) -> io::Result<()> {
    if stale.stale > 0 {
        writeln!(out, "Evidence that was checked before {}, oldest first:", stale.before)?;
    }
    for category in stale.categories.iter().take(LISTED_CATEGORIES) {
        let name = category.category.as_deref().unwrap_or("(no category)");
        writeln!(out, "\n{} ({})", Truncated(name), Grouped(category.products.len()))?;
        for product in category.products.iter().take(LISTED_PRODUCTS) {
            let (id, name, export) = (Truncated(&product.id), Truncated(&product.name), Truncated(&product.export));
            writeln!(out, "  {}  {id}  {name} ({export})", product.evidence_checked_on)?;
        }
        more(category.products.len(), LISTED_PRODUCTS, "  ", out)?;
    }
    if stale.categories.len() > LISTED_CATEGORIES {
        writeln!(out)?;
    }
    more(stale.categories.len(), LISTED_CATEGORIES, "", out)?;
    if stale.stale > 0 {
        writeln!(out)?;
    }
    writeln!(
        out,
        "Stale: {} of {}; {} never checked.",
        Grouped(stale.stale),
        counted(stale.products, "product"),
        Grouped(stale.without_date)
    )
}

fn more(count: usize, listed: usize, indent: &str, out: &mut dyn Write) -> io::Result<()> {
    if count > listed {
        let what = if indent.is_empty() { " categories" } else { "" };
        writeln!(out, "{indent}and {} more{what}; use --format json to see all", Grouped(count - listed))?;
    }
    Ok(())
}
