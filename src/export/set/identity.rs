//! Uniqueness of ids, and existence of references.

use std::borrow::Cow;
use std::ops::Range;

use foldhash::{HashMap, HashMapExt as _};

use super::Draft;
use super::duplicate::{Duplicate, DuplicateReport, Element, Identity, PRODUCTS, PairCounts, REVIEWS, Repeats, TERMS};
use super::orphan::{Orphan, Products};
use crate::export::convert::{Entry, Opinion};
use crate::export::finding::Findings;
use crate::export::{Code, Finding, Related, SectionKind};
use crate::record::slug;

/// An element and what identifies it.
struct Named<'d> {
    draft: usize,
    index: usize,
    place: &'d Range<usize>,
    identity: Cow<'d, str>,
    shown: &'d str,
}

impl Named<'_> {
    fn element(&self) -> Element {
        Element { draft: self.draft, index: self.index, place: self.place.clone() }
    }
}

/// An element that is to be skipped.
struct Skip {
    draft: usize,
    section: SectionKind,
    index: usize,
}

/// Checks the set, and marks the elements to skip. The first valid one of several definitions is served.
///
/// Returns the files that repeat another one.
pub(super) fn check(drafts: &mut [Draft<'_>], is_complete: bool, findings: &mut Findings) -> Repeats {
    exports(drafts, findings);
    let mut repeats = Repeats::default();
    let checks = [products, reviews, terms];
    for check in checks {
        let skips = check(drafts, &mut repeats, findings);
        apply(drafts, &skips);
    }
    let skips = reviews_without_product(drafts, is_complete, findings);
    apply(drafts, &skips);
    repeats
}

/// The same for glossary terms alone.
pub(super) fn check_terms(drafts: &mut [Draft<'_>], repeats: &mut Repeats, findings: &mut Findings) {
    let skips = terms(drafts, repeats, findings);
    apply(drafts, &skips);
}

fn apply(drafts: &mut [Draft<'_>], skips: &[Skip]) {
    for skip in skips {
        drafts[skip.draft].contents.sections[skip.section as usize].skip(skip.index);
    }
}

/// Two folders may hold files of one name; their exports would have one id.
fn exports(drafts: &mut [Draft<'_>], findings: &mut Findings) {
    let mut first: HashMap<String, (usize, bool)> = HashMap::new();
    for index in 0..drafts.len() {
        let (file, valid) = (drafts[index].file, drafts[index].valid);
        let (earlier, served) = first.entry(file.id().to_owned()).or_insert((index, valid));
        if *earlier == index {
            continue;
        }
        findings.add(Code::DuplicateExportId, file.shared_path(), || Finding {
            code: Code::DuplicateExportId,
            location: file.whole(),
            message: format!("the export id `{}` is used by two files", file.id()),
            help: "rename one of the files: the name without .json is the id of the export".to_owned(),
            related: vec![Related { location: drafts[*earlier].file.whole(), note: "first used here".to_owned() }],
        });
        drafts[index].valid &= !*served;
        *served |= valid;
    }
}

fn products(drafts: &[Draft<'_>], repeats: &mut Repeats, findings: &mut Findings) -> Vec<Skip> {
    let mut named = Vec::new();
    for (draft, contents) in drafts.iter().map(|draft| &draft.contents).enumerate() {
        named.extend(contents.software.iter().map(|entry| {
            let id = &*entry.value.id;
            Named { draft, index: entry.index, place: &entry.key, identity: id.into(), shown: id }
        }));
    }
    unique(drafts, &named, &PRODUCTS, repeats, findings)
}

fn reviews(drafts: &[Draft<'_>], repeats: &mut Repeats, findings: &mut Findings) -> Vec<Skip> {
    let mut named = Vec::new();
    for (draft, contents) in drafts.iter().map(|draft| &draft.contents).enumerate() {
        named.extend(contents.reviews.iter().map(|entry| {
            let id = &*entry.value.review.id;
            Named { draft, index: entry.index, place: &entry.key, identity: id.into(), shown: id }
        }));
    }
    unique(drafts, &named, &REVIEWS, repeats, findings)
}

fn terms(drafts: &[Draft<'_>], repeats: &mut Repeats, findings: &mut Findings) -> Vec<Skip> {
    let mut named = Vec::new();
    for (draft, contents) in drafts.iter().map(|draft| &draft.contents).enumerate() {
        named.extend(contents.glossary.iter().map(|entry| {
            let term = &*entry.value.term.term;
            Named { draft, index: entry.index, place: &entry.key, identity: slug(term).into(), shown: term }
        }));
    }
    unique(drafts, &named, &TERMS, repeats, findings)
}

fn unique(
    drafts: &[Draft<'_>],
    named: &[Named<'_>],
    identity: &Identity,
    repeats: &mut Repeats,
    findings: &mut Findings,
) -> Vec<Skip> {
    let section = identity.section;
    let mut skips = Vec::new();
    let mut duplicates = Vec::new();
    let mut elements = vec![0; drafts.len()];
    let mut common = PairCounts::default();
    let mut first: HashMap<&str, (&Named<'_>, bool)> = HashMap::with_capacity(named.len());
    for element in named {
        elements[element.draft] += 1;
        let is_served = drafts[element.draft].is_served(section, element.index);
        let Some((earlier, served)) = first.get_mut(&*element.identity) else {
            first.insert(&element.identity, (element, is_served));
            continue;
        };
        *common.entry((element.draft, earlier.draft)).or_default() += 1;
        duplicates.push((element, *earlier));
        if *served {
            skips.push(Skip { draft: element.draft, section, index: element.index });
        }
        *served |= is_served;
    }
    let files: Vec<_> = drafts.iter().map(|draft| draft.file).collect();
    let (elements, common) = (&elements, &common);
    let mut report =
        DuplicateReport { identity, files: &files, elements, common, repeats, summarised: Repeats::default() };
    for (element, earlier) in duplicates {
        let (earlier, shown) = (earlier.element(), element.shown.into());
        report.add(&Duplicate { element: element.element(), earlier, shown }, findings);
    }
    skips
}

/// The product that a review says it is about.
fn software_id(review: &Entry<Opinion>) -> &str {
    &review.value.review.software_id
}

/// Reports reviews of products that no export has. Reviews that are left out as the consequence of another finding are one finding for
/// each product and file.
fn reviews_without_product(drafts: &[Draft<'_>], is_complete: bool, findings: &mut Findings) -> Vec<Skip> {
    let mut served: HashMap<&str, bool> = HashMap::new();
    for draft in drafts {
        for product in &draft.contents.software {
            *served.entry(&product.value.id).or_default() |= draft.is_served(SectionKind::Software, product.index);
        }
    }
    let has_id = |draft: &Draft<'_>| {
        draft.contents.software.len() == draft.contents.sections[SectionKind::Software as usize].len()
    };
    let products = Products { is_complete, all_have_ids: drafts.iter().all(has_id) };
    let mut skips = Vec::new();
    for (index, draft) in drafts.iter().enumerate() {
        let orphans = draft.contents.reviews.iter();
        let orphans: Vec<_> = orphans.filter(|review| served.get(software_id(review)) != Some(&true)).collect();
        let mut counts: HashMap<&str, usize> = HashMap::new();
        for review in &orphans {
            *counts.entry(software_id(review)).or_default() += 1;
        }
        for review in orphans {
            skips.push(Skip { draft: index, section: SectionKind::Reviews, index: review.index });
            let product = software_id(review);
            let product_exists = served.contains_key(product);
            let mut others = 0;
            if products.orphan_code(product_exists) == Code::ReviewWithoutProduct {
                let Some(count) = counts.remove(product) else { continue };
                others = count - 1;
            }
            let place = review.value.software_id.clone();
            let orphan = Orphan { file: draft.file, index: review.index, place, product, product_exists };
            products.report(&orphan, others, findings);
        }
    }
    skips
}
