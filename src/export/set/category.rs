//! Advice on categories that are probably another one, misspelled: one finding for each name, however many products have it.

use std::collections::BTreeMap;
use std::ops::Range;

use bytes::Bytes;
use foldhash::HashMap;

use super::ParsedExport;
use crate::export::finding::Findings;
use crate::export::text::{self, Value};
use crate::export::{Code, Finding, Limits, Location, Related, SectionKind};
use crate::record::{Software, slug};

/// Shortest slug that is compared, in characters: among short names one edit makes another word.
const SHORTEST: usize = 5;
/// Longest slug that is compared, in bytes.
const LONGEST: usize = 100;
/// How many times as many products a category has that isn't declared, to be what another name means.
const MANY_TIMES: usize = 10;
/// Most pairs of names that are compared. A set beyond it has no system of categories.
const PAIRS: usize = 1_000_000;

/// Largest record in which the place of a category is looked for.
const RECORD_BYTES: usize = 1 << 20;

/// A category of the set, by its slug.
struct Category<'d> {
    name: &'d str,
    slug: String,
    /// How many products have it, and the first of them.
    products: usize,
    first: Option<&'d First>,
    /// Where its name is declared.
    declared: Option<Location>,
}

/// The first product with a category.
#[derive(Debug)]
struct First {
    /// Its document and its index.
    place: (usize, usize),
    /// Its record in the document.
    span: Range<usize>,
}

/// The names of categories as products have them, with the number of these. There are few names and many products.
#[derive(Debug, Default)]
pub(super) struct CategoryUses(HashMap<Box<str>, (usize, First)>);

impl CategoryUses {
    /// Adds the categories of a product; products come in the order of the set.
    pub(super) fn push<'s>(
        &mut self,
        place: (usize, usize),
        software: impl Iterator<Item = &'s Software>,
        span: impl Fn() -> Range<usize>,
    ) {
        for name in software.flat_map(|software| &software.categories) {
            match self.0.get_mut(name) {
                Some((products, _)) => *products += 1,
                None => drop(self.0.insert(name.clone(), (1, First { place, span: span() }))),
            }
        }
    }
}

pub(super) fn advise(exports: &[ParsedExport<'_>], uses: &CategoryUses, findings: &mut Findings) {
    let categories: Vec<_> = categories(exports, uses).into_values().collect();
    let (suspects, targets): (Vec<_>, Vec<_>) = (
        categories.iter().filter(|category| category.declared.is_none()).collect(),
        categories.iter().filter(|category| category.declared.is_some() || category.products >= MANY_TIMES).collect(),
    );
    if suspects.len().saturating_mul(targets.len()) > PAIRS {
        return;
    }
    for suspect in suspects {
        let meant = targets.iter().filter(|target| is_meant(suspect, target));
        let Some(meant) = meant.max_by_key(|target| (target.declared.is_some(), target.products)) else { continue };
        let Some(first) = suspect.first else { continue };
        findings.add(Code::NearMissCategory, exports[first.place.0].file.shared_path(), || {
            finding(suspect, meant, location(exports, first, suspect.name), exports)
        });
    }
}

/// The categories that are declared or used, the names that are too short or too long to be compared left out.
fn categories<'d>(exports: &'d [ParsedExport<'_>], uses: &'d CategoryUses) -> BTreeMap<String, Category<'d>> {
    let mut categories: BTreeMap<String, Category<'_>> = BTreeMap::new();
    let mut add = |name: &'d str, products: usize, first: Option<&'d First>, declared: Option<Location>| {
        let slug = slug(name);
        if slug.len() > LONGEST || slug.chars().count() < SHORTEST {
            return;
        }
        let empty = Category { name, slug: slug.clone(), products: 0, first: None, declared: None };
        let category = categories.entry(slug).or_insert(empty);
        category.products += products;
        category.declared = category.declared.take().or(declared);
        if first.is_some_and(|first| category.first.is_none_or(|other| first.place < other.place)) {
            (category.first, category.name) = (first, name);
        }
    };
    for (name, (products, first)) in &uses.0 {
        add(name, *products, Some(first), None);
    }
    for export in exports {
        for entry in &export.contents.categories {
            let location = export.location(SectionKind::Categories, entry.index, "name", &entry.key);
            add(&entry.value.name, 0, None, Some(location));
        }
    }
    categories
}

/// Whether a name is probably a misspelling of another one.
fn is_meant(suspect: &Category<'_>, target: &Category<'_>) -> bool {
    let is_likely = target.declared.is_some()
        || (target.products >= MANY_TIMES.saturating_mul(suspect.products)
            && target.slug.chars().next() == suspect.slug.chars().next());
    // A character has up to four bytes.
    is_likely
        && suspect.slug.len().abs_diff(target.slug.len()) <= 4
        && strsim::osa_distance(&suspect.slug, &target.slug) == 1
        && without_digits(&suspect.slug).ne(without_digits(&target.slug))
}

/// The letters of a slug: `ISO 9001` and `ISO 9002` are two categories.
fn without_digits(slug: &str) -> impl Iterator<Item = char> {
    slug.chars().filter(|c| !c.is_numeric())
}

fn finding(suspect: &Category<'_>, meant: &Category<'_>, location: Location, exports: &[ParsedExport<'_>]) -> Finding {
    let products = |count: usize| if count == 1 { "1 product".to_owned() } else { format!("{count} products") };
    let (name, other) = (suspect.name, meant.name);
    let (of, has) = (products(suspect.products), products(meant.products));
    let first = || meant.first.map(|first| self::location(exports, first, other));
    let (why, related) = match &meant.declared {
        Some(declared) => ("is declared".to_owned(), Some((declared.clone(), "declared here".to_owned()))),
        None => (format!("{has} have"), first().map(|first| (first, format!("`{other}` is first used here")))),
    };
    Finding {
        code: Code::NearMissCategory,
        location,
        message: format!("the category `{name}` of {of} is almost `{other}`, which {why}"),
        help: format!("write `{other}` if it is meant; else declare `{name}` in `categories` of the envelope"),
        related: related.into_iter().map(|(location, note)| Related { location, note }).collect(),
    }
}

/// Where a product names a category. Its record is parsed again, which costs less than to keep the place for each product.
fn location(exports: &[ParsedExport<'_>], First { place: (number, index), span }: &First, name: &str) -> Location {
    let file = exports[*number].file;
    let bytes = if span.len() <= RECORD_BYTES { file.part(span.clone()) } else { Bytes::new() };
    let (document, _) = text::parse(&bytes, Limits::default().max_depth);
    let found = document.as_ref().and_then(|document| named(document.root(), name));
    let (key, position, place) = found.unwrap_or(("category", None, 0..span.len()));
    let pointer = SectionKind::Software.pointer(*index, key);
    let pointer = position.map_or_else(|| pointer.clone(), |position| format!("{pointer}/{position}"));
    file.location(span.start + place.start..span.start + place.end, pointer)
}

/// The place in a record that names a category: the property, the position if it is an array, and the range.
fn named(record: Value<'_>, name: &str) -> Option<(&'static str, Option<usize>, Range<usize>)> {
    ["category", "categories"].into_iter().find_map(|key| {
        let value = record.get(key)?;
        if value.is_text(name) {
            return Some((key, None, value.span()));
        }
        let element = value.elements().enumerate().find(|(_, element)| element.is_text(name));
        element.map(|(position, element)| (key, Some(position), element.span()))
    })
}
