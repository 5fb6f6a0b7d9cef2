//! Advice across the set: shared URLs and names, related terms that don't exist, synonyms in two
//! groups.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use foldhash::{HashMap, HashMapExt as _, HashSet};

use super::duplicate::Repeats;
use super::{ParsedExport, product_count};
use crate::export::convert::{Entry, Product};
use crate::export::finding::Findings;
use crate::export::{Code, Finding, Related, SectionKind};
use crate::record::{Software, SynonymGroup, normalised_url, slug};

const EXAMPLES: usize = 3;

pub(super) fn advise(exports: &[ParsedExport<'_>], repeats: &Repeats, is_complete: bool, findings: &mut Findings) {
    let urls = Shared {
        code: Code::SharedUrl,
        key: "url",
        one: "URL is",
        several: "URLs are",
        help: "fine if they are different products, or one product in two exports, which `same_as` links; else remove the records that \
               are there twice",
        text: |software| &software.url,
        identity: normalised_url,
        place: |product| &product.url,
    };
    let names = Shared {
        code: Code::SharedName,
        key: "name",
        one: "name is",
        several: "names are",
        help: "fine if they are different products; else remove the records that are there twice",
        text: |software| &software.name,
        identity: |name| name.into(),
        place: |product| &product.name,
    };
    for finding in [urls, names].iter().filter_map(|shared| shared.summary(exports)) {
        findings.add(finding.code, &Arc::clone(&finding.location.file), || finding);
    }
    advise_on_terms(exports, repeats, is_complete, findings);
}

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

/// A property that products rarely share.
struct Shared {
    code: Code,
    key: &'static str,
    one: &'static str,
    several: &'static str,
    help: &'static str,
    text: fn(&Software) -> &str,
    /// Normalises a text; equal results count as the same.
    identity: fn(&str) -> Cow<'_, str>,
    place: fn(&Product) -> &Range<usize>,
}

impl Shared {
    /// Makes one finding for the whole set, because in some sets thousands of products share
    /// something for good reason.
    fn summary(&self, exports: &[ParsedExport<'_>]) -> Option<Finding> {
        let mut first: HashMap<Cow<'_, str>, (Position<'_>, usize)> = HashMap::with_capacity(product_count(exports));
        let mut examples = Vec::new();
        let mut texts = 0_usize;
        let mut products = 0_usize;
        for export in exports {
            for entry in &export.contents.software {
                let Some(software) = &entry.value.software else { continue };
                let here = Position { export, entry };
                let text = (self.text)(software);
                let (earlier, others) = first.entry((self.identity)(text)).or_insert((here, 0));
                if earlier.entry.value.id == entry.value.id {
                    continue;
                }
                *others += 1;
                products += 1;
                if *others == 1 {
                    texts += 1;
                    products += 1;
                    if examples.len() < EXAMPLES {
                        examples.push((text, *earlier, here));
                    }
                }
            }
        }
        let (text, _, here) = examples.first()?;
        let verb = if texts == 1 { self.one } else { self.several };
        let related = examples.iter().map(|(text, earlier, here)| Related {
            location: earlier.location(self),
            note: format!("`{text}` is shared by `{}` and `{}`", earlier.entry.value.id, here.entry.value.id),
        });
        Some(Finding {
            code: self.code,
            location: here.location(self),
            message: format!("{texts} {verb} shared by {products} products, first `{text}`"),
            help: self.help.to_owned(),
            related: related.collect(),
        })
    }
}

#[derive(Clone, Copy)]
struct Position<'d> {
    export: &'d ParsedExport<'d>,
    entry: &'d Entry<Product>,
}

impl Position<'_> {
    fn location(&self, shared: &Shared) -> crate::export::Location {
        let Entry { index, value, .. } = self.entry;
        self.export.location(SectionKind::Software, *index, shared.key, (shared.place)(value))
    }
}

/// Related terms may be given as a term, abbreviation or synonym.
fn related_terms(exports: &[ParsedExport<'_>], findings: &mut Findings) {
    let terms = || exports.iter().flat_map(|export| export.contents.glossary.iter().map(move |entry| (export, entry)));
    let names = |(_, entry): (_, &Entry<super::super::convert::Term>)| {
        let term = &entry.value.term;
        let all = std::iter::once(&term.term).chain(&term.abbreviations).chain(&term.synonyms);
        all.map(|name| slug(name)).collect::<Vec<_>>()
    };
    let known: HashSet<String> = terms().flat_map(names).collect();
    for (export, entry) in terms() {
        for (position, name) in entry.value.term.related.iter().enumerate() {
            if known.contains(&slug(name)) {
                continue;
            }
            let place = entry.value.related.get(position).unwrap_or(&entry.key);
            findings.add(Code::UnknownRelatedTerm, export.file.shared_path(), || Finding {
                code: Code::UnknownRelatedTerm,
                location: export.location(SectionKind::Glossary, entry.index, "related", place),
                message: format!("the glossary has no term `{name}`"),
                help: "define it, correct it, or remove it from `related`".to_owned(),
                related: Vec::new(),
            });
        }
    }
}

/// Synonyms in a file that repeats another one are ignored.
fn overlapping_synonyms(exports: &[ParsedExport<'_>], repeats: &Repeats, findings: &mut Findings) {
    let mut first = HashMap::new();
    let repeated: HashSet<usize> = repeats.iter().map(|(file, _)| *file).collect();
    for (number, export) in exports.iter().enumerate().filter(|(number, _)| !repeated.contains(number)) {
        for entry in &export.contents.synonyms {
            let SynonymGroup::Equivalent(terms) = &entry.value else { continue };
            let location = || export.location(SectionKind::Synonyms, entry.index, "terms", &entry.key);
            for term in terms {
                let (group, earlier) = first.entry(identity(term)).or_insert(((number, entry.index), (export, entry)));
                if *group == (number, entry.index) {
                    continue;
                }
                let file = export.file.shared_path();
                let (export, entry) = *earlier;
                let note = "and to this one".to_owned();
                findings.add(Code::OverlappingSynonyms, file, || Finding {
                    code: Code::OverlappingSynonyms,
                    location: location(),
                    message: format!("`{term}` belongs to two groups of synonyms"),
                    help: "join the groups if all their terms mean the same; else take the term out of one".to_owned(),
                    related: vec![Related {
                        location: export.location(SectionKind::Synonyms, entry.index, "terms", &entry.key),
                        note,
                    }],
                });
            }
        }
    }
}

/// A term's identity: its slug, or the text itself if it has neither letters nor digits.
fn identity(term: &str) -> String {
    let slug = slug(term);
    if slug.is_empty() { term.trim().to_owned() } else { slug }
}
