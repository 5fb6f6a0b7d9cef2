//! Advice across the set: shared URLs and names, related terms that don't exist, synonyms in two
//! groups.

use std::borrow::Cow;
use std::io;
use std::ops::Range;

use foldhash::{HashMap, HashMapExt as _, HashSet};

use super::ParsedExport;
use super::ids::Repeats;
use crate::export::convert::{Entry, Product};
use crate::export::finding::Findings;
use crate::export::{Code, Finding, SectionKind};
use crate::record::{Software, SynonymGroup, identity, normalised_url};
use crate::scratch::{Keyed, Scratch, ScratchSorter};
use crate::text::count::{agreeing, counted};

const EXAMPLES: usize = 3;

const URLS: Shared = Shared {
    code: Code::SharedUrl,
    key: "url",
    one: "URL is",
    several: "URLs are",
    help: "fine if they are different products, or the same product in two exports, linked by `same_as`; otherwise remove the \
            duplicate records",
    text: |software| &software.url,
    identity: normalised_url,
    place: |product| &product.url,
};

const NAMES: Shared = Shared {
    code: Code::SharedName,
    key: "name",
    one: "name is",
    several: "names are",
    help: "fine if they are different products; otherwise remove the duplicate records",
    text: |software| &software.name,
    identity: |name| name.into(),
    place: |product| &product.name,
};

pub(super) fn advise_on_terms(
    exports: &[ParsedExport<'_>],
    repeats: &Repeats,
    is_complete: bool,
    findings: &mut Findings,
) {
    if is_complete {
        related_terms(exports, findings);
    }
    overlapping_synonyms(exports, repeats, findings);
}

/// A property whose values are rarely shared between products.
struct Shared {
    code: Code,
    key: &'static str,
    one: &'static str,
    several: &'static str,
    help: &'static str,
    text: fn(&Software) -> &str,
    /// Normalises a value. Values with the same result count as equal.
    identity: fn(&str) -> Cow<'_, str>,
    place: fn(&Product) -> &Range<usize>,
}

/// A row for sorting products by a property. The key is the normalised value, the document and the
/// index; the value is the id, the property as written if it isn't the normalised value, and its
/// location.
type SharedRow = Keyed<(Box<str>, usize, usize), (Box<str>, Option<Box<str>>, Range<usize>)>;

/// The websites and names of products.
pub(super) struct SharedRows {
    urls: ScratchSorter<SharedRow>,
    names: ScratchSorter<SharedRow>,
}

impl SharedRows {
    pub(super) fn new(scratch: &Scratch) -> Self {
        Self { urls: scratch.sorter(), names: scratch.sorter() }
    }

    /// Adds a product from a document.
    pub(super) fn push(&mut self, number: usize, Entry { index, value, .. }: &Entry<Product>) -> io::Result<()> {
        let Some(software) = &value.software else { return Ok(()) };
        for (shared, rows) in [(URLS, &mut self.urls), (NAMES, &mut self.names)] {
            let text = (shared.text)(software);
            let identity = (shared.identity)(text);
            let other = (*identity != *text).then(|| text.into());
            let value = (value.id.clone(), other, (shared.place)(value).clone());
            rows.push(Keyed { key: (identity.into(), number, *index), value })?;
        }
        Ok(())
    }

    pub(super) fn summaries(self, exports: &[ParsedExport<'_>]) -> io::Result<Vec<Finding>> {
        let summaries = [URLS.summary(self.urls, exports)?, NAMES.summary(self.names, exports)?];
        Ok(summaries.into_iter().flatten().collect())
    }
}

impl Shared {
    /// Creates one finding for the whole set, because in some sets thousands of products share
    /// a value for good reason.
    fn summary(&self, rows: ScratchSorter<SharedRow>, exports: &[ParsedExport<'_>]) -> io::Result<Option<Finding>> {
        // The first products that share a value with an earlier product, each paired with that
        // product, in set order.
        let mut examples: Vec<[SharedRow; 2]> = Vec::new();
        let (mut texts, mut products) = (0_usize, 0_usize);
        let mut first: Option<(SharedRow, bool)> = None;
        for row in rows.finish()? {
            let row = row?;
            match &mut first {
                Some((earlier, is_shared)) if earlier.key.0 == row.key.0 => {
                    if earlier.value.0 == row.value.0 {
                        continue;
                    }
                    products += 1;
                    if !std::mem::replace(is_shared, true) {
                        texts += 1;
                        products += 1;
                        examples.push([earlier.clone(), row]);
                        examples.sort_by_key(|[_, here]| (here.key.1, here.key.2));
                        examples.truncate(EXAMPLES);
                    }
                }
                _ => first = Some((row, false)),
            }
        }
        let Some([_, here]) = examples.first() else { return Ok(None) };
        let location = |Keyed { key: (_, number, index), value: (_, _, place) }: &SharedRow| {
            exports[*number].location(SectionKind::Software, *index, self.key, place)
        };
        let text = |row: &SharedRow| row.value.1.clone().unwrap_or_else(|| row.key.0.clone());
        let verb = agreeing(texts, self.one, self.several);
        let message = format!("{texts} {verb} shared by {} (first: `{}`)", counted(products, "product"), text(here));
        let finding = Finding::new(self.code, location(here), message, self.help);
        Ok(Some(examples.iter().fold(finding, |finding, [earlier, here]| {
            let note = format!("`{}` is shared by `{}` and `{}`", text(here), earlier.value.0, here.value.0);
            finding.with_related(location(earlier), note)
        })))
    }
}

/// A related term may be named by its term, an abbreviation or a synonym.
fn related_terms(exports: &[ParsedExport<'_>], findings: &mut Findings) {
    let terms = || exports.iter().flat_map(|export| export.contents.glossary.iter().map(move |entry| (export, entry)));
    let names = |(_, entry): (_, &Entry<super::super::convert::Term>)| {
        let term = &entry.value.term;
        let all = std::iter::once(&term.term).chain(&term.abbreviations).chain(&term.synonyms);
        all.map(|name| identity(name)).collect::<Vec<_>>()
    };
    let known: HashSet<String> = terms().flat_map(names).collect();
    for (export, entry) in terms() {
        for (position, name) in entry.value.term.related.iter().enumerate() {
            if known.contains(&identity(name)) {
                continue;
            }
            let place = entry.value.related.get(position).unwrap_or(&entry.key);
            findings.add(Code::UnknownRelatedTerm, export.file.shared_path(), |code| {
                let location = export.location(SectionKind::Glossary, entry.index, "related", place);
                let help = "define it, correct it, or remove it from `related`";
                Finding::new(code, location, format!("the glossary has no term `{name}`"), help)
            });
        }
    }
}

/// Reports terms that are in two synonym groups. Ignores files that repeat another file.
fn overlapping_synonyms(exports: &[ParsedExport<'_>], repeats: &Repeats, findings: &mut Findings) {
    let mut first = HashMap::new();
    let repeated: HashSet<usize> = repeats.iter().map(|(file, _)| *file).collect();
    let location = |export: &ParsedExport<'_>, entry: &Entry<SynonymGroup>| {
        export.location(SectionKind::Synonyms, entry.index, "terms", &entry.key)
    };
    for (number, export) in exports.iter().enumerate().filter(|(number, _)| !repeated.contains(number)) {
        for entry in &export.contents.synonyms {
            let SynonymGroup::Equivalent(terms) = &entry.value else { continue };
            for term in terms {
                let (group, earlier) =
                    first.entry(synonym_key(term)).or_insert(((number, entry.index), (export, entry)));
                if *group == (number, entry.index) {
                    continue;
                }
                findings.add(Code::OverlappingSynonyms, export.file.shared_path(), |code| {
                    let message = format!("`{term}` belongs to two synonym groups");
                    let help = "merge the groups if all their terms mean the same thing; otherwise remove the term from \
                                one of them";
                    Finding::new(code, location(export, entry), message, help)
                        .with_related(location(earlier.0, earlier.1), "and to this one")
                });
            }
        }
    }
}

/// A term's identity, or the term itself if it's only punctuation.
fn synonym_key(term: &str) -> String {
    let identity = identity(term);
    if identity.is_empty() { term.trim().to_owned() } else { identity }
}
