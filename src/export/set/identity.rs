//! Checks that ids are unique and references exist.

use std::borrow::Cow;
use std::ops::Range;

use foldhash::{HashMap, HashMapExt as _};

use super::duplicate::{Duplicate, DuplicateReport, Element, Identity, PRODUCTS, PairCounts, REVIEWS, Repeats, TERMS};
use super::orphan::{Orphan, Products};
use super::{ParsedExport, product_count};
use crate::export::convert::{Entry, Opinion};
use crate::export::finding::Findings;
use crate::export::{Code, Finding, Related, SectionKind};
use crate::record::slug;

struct Identified<'d> {
    export: usize,
    index: usize,
    place: &'d Range<usize>,
    identity: Cow<'d, str>,
    shown: &'d str,
}

impl Identified<'_> {
    fn element(&self) -> Element {
        Element { export: self.export, index: self.index, place: self.place.clone() }
    }
}

struct Skip {
    export: usize,
    section: SectionKind,
    index: usize,
}

/// Checks the set and marks the elements to skip. If an element is defined several times, the first
/// valid definition is served.
///
/// Returns the files that repeat another one.
pub(super) fn check(exports: &mut [ParsedExport<'_>], is_complete: bool, findings: &mut Findings) -> Repeats {
    export_ids(exports, findings);
    let mut repeats = Repeats::default();
    let checks = [products, reviews, terms];
    for check in checks {
        let skips = check(exports, &mut repeats, findings);
        apply(exports, &skips);
    }
    let skips = reviews_without_product(exports, is_complete, findings);
    apply(exports, &skips);
    repeats
}

/// Like [`check`], for glossary terms only.
pub(super) fn check_terms(exports: &mut [ParsedExport<'_>], repeats: &mut Repeats, findings: &mut Findings) {
    let skips = terms(exports, repeats, findings);
    apply(exports, &skips);
}

fn apply(exports: &mut [ParsedExport<'_>], skips: &[Skip]) {
    for skip in skips {
        exports[skip.export].contents.sections[skip.section as usize].skip(skip.index);
    }
}

/// Two folders may hold files of the same name, whose exports would have the same id.
fn export_ids(exports: &mut [ParsedExport<'_>], findings: &mut Findings) {
    let mut first: HashMap<String, (usize, bool)> = HashMap::new();
    for index in 0..exports.len() {
        let (file, valid) = (exports[index].file, exports[index].valid);
        let (earlier, served) = first.entry(file.id().to_owned()).or_insert((index, valid));
        if *earlier == index {
            continue;
        }
        findings.add(Code::DuplicateExportId, file.shared_path(), || Finding {
            code: Code::DuplicateExportId,
            location: file.whole(),
            message: format!("the export id `{}` is used by two files", file.id()),
            help: "rename one of the files: the name without .json is the id of the export".to_owned(),
            related: vec![Related { location: exports[*earlier].file.whole(), note: "first used here".to_owned() }],
        });
        exports[index].valid &= !*served;
        *served |= valid;
    }
}

fn products(exports: &[ParsedExport<'_>], repeats: &mut Repeats, findings: &mut Findings) -> Vec<Skip> {
    let mut named = Vec::with_capacity(product_count(exports));
    for (export, contents) in exports.iter().map(|export| &export.contents).enumerate() {
        named.extend(contents.software.iter().map(|entry| {
            let id = &*entry.value.id;
            Identified { export, index: entry.index, place: &entry.key, identity: id.into(), shown: id }
        }));
    }
    unique(exports, &named, &PRODUCTS, repeats, findings)
}

fn reviews(exports: &[ParsedExport<'_>], repeats: &mut Repeats, findings: &mut Findings) -> Vec<Skip> {
    let mut named = Vec::new();
    for (export, contents) in exports.iter().map(|export| &export.contents).enumerate() {
        named.extend(contents.reviews.iter().map(|entry| {
            let id = &*entry.value.review.id;
            Identified { export, index: entry.index, place: &entry.key, identity: id.into(), shown: id }
        }));
    }
    unique(exports, &named, &REVIEWS, repeats, findings)
}

fn terms(exports: &[ParsedExport<'_>], repeats: &mut Repeats, findings: &mut Findings) -> Vec<Skip> {
    let mut named = Vec::new();
    for (export, contents) in exports.iter().map(|export| &export.contents).enumerate() {
        named.extend(contents.glossary.iter().map(|entry| {
            let term = &*entry.value.term.term;
            Identified { export, index: entry.index, place: &entry.key, identity: slug(term).into(), shown: term }
        }));
    }
    unique(exports, &named, &TERMS, repeats, findings)
}

fn unique(
    exports: &[ParsedExport<'_>],
    named: &[Identified<'_>],
    identity: &Identity,
    repeats: &mut Repeats,
    findings: &mut Findings,
) -> Vec<Skip> {
    let section = identity.section;
    let mut skips = Vec::new();
    let mut duplicates = Vec::new();
    let mut elements = vec![0; exports.len()];
    let mut common = PairCounts::default();
    let mut first: HashMap<&str, (&Identified<'_>, bool)> = HashMap::with_capacity(named.len());
    for element in named {
        elements[element.export] += 1;
        let is_served = exports[element.export].is_served(section, element.index);
        let Some((earlier, served)) = first.get_mut(&*element.identity) else {
            first.insert(&element.identity, (element, is_served));
            continue;
        };
        *common.entry((element.export, earlier.export)).or_default() += 1;
        duplicates.push((element, *earlier));
        if *served {
            skips.push(Skip { export: element.export, section, index: element.index });
        }
        *served |= is_served;
    }
    let files: Vec<_> = exports.iter().map(|export| export.file).collect();
    let (elements, common) = (&elements, &common);
    let mut report =
        DuplicateReport { identity, files: &files, elements, common, repeats, summarised: Repeats::default() };
    for (element, earlier) in duplicates {
        let (earlier, shown) = (earlier.element(), element.shown.into());
        report.add(&Duplicate { element: element.element(), earlier, shown }, findings);
    }
    skips
}

fn software_id(review: &Entry<Opinion>) -> &str {
    &review.value.review.software_id
}

/// Reports reviews whose product isn't served. Reviews that are left out as a consequence of
/// another finding get one finding per product and file.
fn reviews_without_product(exports: &[ParsedExport<'_>], is_complete: bool, findings: &mut Findings) -> Vec<Skip> {
    if exports.iter().all(|export| export.contents.reviews.is_empty()) {
        return Vec::new();
    }
    let mut served: HashMap<&str, bool> = HashMap::with_capacity(product_count(exports));
    for export in exports {
        for product in &export.contents.software {
            *served.entry(&product.value.id).or_default() |= export.is_served(SectionKind::Software, product.index);
        }
    }
    let has_id = |export: &ParsedExport<'_>| {
        export.contents.software.len() == export.contents.sections[SectionKind::Software as usize].len()
    };
    let products = Products { is_complete, all_have_ids: exports.iter().all(has_id) };
    let mut skips = Vec::new();
    for (index, export) in exports.iter().enumerate() {
        let orphans = export.contents.reviews.iter();
        let orphans: Vec<_> = orphans.filter(|review| served.get(software_id(review)) != Some(&true)).collect();
        let mut counts: HashMap<&str, usize> = HashMap::new();
        for review in &orphans {
            *counts.entry(software_id(review)).or_default() += 1;
        }
        for review in orphans {
            skips.push(Skip { export: index, section: SectionKind::Reviews, index: review.index });
            let product = software_id(review);
            let product_exists = served.contains_key(product);
            let mut others = 0;
            if products.orphan_code(product_exists) == Code::ReviewWithoutProduct {
                let Some(count) = counts.remove(product) else { continue };
                others = count - 1;
            }
            let place = review.value.software_id.clone();
            let orphan = Orphan { file: export.file, index: review.index, place, product, product_exists };
            products.report(&orphan, others, findings);
        }
    }
    skips
}
