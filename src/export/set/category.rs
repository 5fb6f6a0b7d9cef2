//! Advice on categories that are probably misspellings of another category. There's one finding per
//! name, however many products have it.

use std::collections::BTreeMap;

use super::ParsedExport;
use super::values::{CATEGORIES, Uses, location};
use crate::export::finding::Findings;
use crate::export::{Code, Finding, Location, SectionKind};
use crate::record::{identity, slug};
use crate::text::count::{agreeing, counted};

/// Minimum length of the slugs to compare, in characters. In shorter names, a single edit often
/// yields a different word.
const SHORTEST: usize = 5;
/// Maximum length of the slugs to compare, in bytes.
const LONGEST: usize = 100;
/// The minimum ratio between the products of an undeclared category and those of a similarly named
/// one that counts as its misspelling.
pub(super) const MANY_TIMES: usize = 10;
/// Maximum number of pairs compared. A set that needs more has no consistent categories anyway.
const PAIRS: usize = 1_000_000;

struct Category<'d> {
    name: &'d str,
    slug: String,
    /// How many products have the category, and the first one's document and index.
    products: usize,
    first: Option<(usize, usize)>,
    /// Where the category is declared.
    declared: Option<Location>,
}

pub(super) fn advise(exports: &[ParsedExport<'_>], uses: &Uses, findings: &mut Findings) {
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
        findings.add(Code::NearMissCategory, exports[first.0].file.shared_path(), |code| {
            finding(code, suspect, meant, location(exports, first, CATEGORIES.keys, suspect.name), exports)
        });
    }
}

/// The categories that are declared or used, by identity, except for slugs too short or too long to
/// compare.
fn categories<'d>(exports: &'d [ParsedExport<'_>], uses: &'d Uses) -> BTreeMap<String, Category<'d>> {
    let mut categories: BTreeMap<String, Category<'_>> = BTreeMap::new();
    let mut add = |name: &'d str, products: usize, first: Option<(usize, usize)>, declared: Option<Location>| {
        let slug = slug(name);
        if slug.len() > LONGEST || slug.chars().count() < SHORTEST {
            return;
        }
        let empty = Category { name, slug, products: 0, first: None, declared: None };
        let category = categories.entry(identity(name)).or_insert(empty);
        category.products += products;
        category.declared = category.declared.take().or(declared);
        if first.is_some() && category.first.is_none_or(|other| first.is_some_and(|first| first < other)) {
            (category.first, category.name) = (first, name);
        }
    };
    for (name, of) in uses {
        add(name, of.products, Some(of.first), None);
    }
    for export in exports {
        for entry in &export.contents.categories {
            let location = export.location(SectionKind::Categories, entry.index, "name", &entry.key);
            add(&entry.value.name, 0, None, Some(location));
        }
    }
    categories
}

fn is_meant(suspect: &Category<'_>, target: &Category<'_>) -> bool {
    let is_likely = target.declared.is_some()
        || (target.products >= MANY_TIMES.saturating_mul(suspect.products)
            && target.slug.chars().next() == suspect.slug.chars().next());
    // One edit changes a slug's length by at most one character, which is up to four bytes.
    is_likely
        && suspect.slug.len().abs_diff(target.slug.len()) <= 4
        && strsim::osa_distance(&suspect.slug, &target.slug) == 1
        && without_digits(&suspect.slug).ne(without_digits(&target.slug))
}

/// A slug without its digits: `ISO 9001` and `ISO 9002` are different categories.
fn without_digits(slug: &str) -> impl Iterator<Item = char> {
    slug.chars().filter(|c| !c.is_numeric())
}

fn finding(
    code: Code,
    suspect: &Category<'_>,
    meant: &Category<'_>,
    place: Location,
    exports: &[ParsedExport<'_>],
) -> Finding {
    let (name, other) = (suspect.name, meant.name);
    let why = match meant.declared {
        Some(_) => "is declared".to_owned(),
        None => format!("{} {}", counted(meant.products, "product"), agreeing(meant.products, "has", "have")),
    };
    let of = counted(suspect.products, "product");
    let message = format!("the category `{name}` ({of}) looks like a misspelling of `{other}`, which {why}");
    let help =
        format!("write `{other}` if that's what you mean; otherwise declare `{name}` in the envelope's `categories`");
    let finding = Finding::new(code, place, message, help);
    match (&meant.declared, meant.first) {
        (Some(declared), _) => finding.with_related(declared.clone(), "declared here"),
        (None, Some(first)) => {
            let first = location(exports, first, CATEGORIES.keys, other);
            finding.with_related(first, format!("`{other}` is first used here"))
        }
        (None, None) => finding,
    }
}
