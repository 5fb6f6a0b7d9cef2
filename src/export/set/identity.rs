//! Uniqueness of ids, and existence of references.

use std::borrow::Cow;
use std::ops::Range;

use foldhash::{HashMap, HashMapExt as _};

use super::Draft;
use crate::export::finding::Findings;
use crate::export::{Code, Finding, Related, SectionKind};
use crate::record::slug;

/// The keys that must be unique in a section.
struct Identity {
    section: SectionKind,
    key: &'static str,
    code: Code,
    what: &'static str,
    help: &'static str,
}

/// An element and what identifies it.
struct Named<'d> {
    draft: usize,
    index: usize,
    place: &'d Range<usize>,
    identity: Cow<'d, str>,
    shown: &'d str,
}

/// An element that is to be skipped.
struct Skip {
    draft: usize,
    section: SectionKind,
    index: usize,
}

/// Checks the set, and marks the elements to skip. The first valid one of several definitions is served.
pub(super) fn check(drafts: &mut [Draft<'_>], is_complete: bool, findings: &mut Findings) {
    exports(drafts, findings);
    let checks = [products, reviews, terms];
    for check in checks {
        let skips = check(drafts, findings);
        apply(drafts, &skips);
    }
    let skips = reviews_without_product(drafts, is_complete, findings);
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

fn products(drafts: &[Draft<'_>], findings: &mut Findings) -> Vec<Skip> {
    let mut named = Vec::new();
    for (draft, contents) in drafts.iter().map(|draft| &draft.contents).enumerate() {
        named.extend(contents.software.iter().map(|entry| {
            let id = &*entry.value.id;
            Named { draft, index: entry.index, place: &entry.key, identity: id.into(), shown: id }
        }));
    }
    unique(
        drafts,
        &named,
        &Identity {
            section: SectionKind::Software,
            key: "id",
            code: Code::DuplicateSoftwareId,
            what: "product id",
            help: "give each product an id of its own, or remove one of the records",
        },
        findings,
    )
}

fn reviews(drafts: &[Draft<'_>], findings: &mut Findings) -> Vec<Skip> {
    let mut named = Vec::new();
    for (draft, contents) in drafts.iter().map(|draft| &draft.contents).enumerate() {
        named.extend(contents.reviews.iter().map(|entry| {
            let id = &*entry.value.review.id;
            Named { draft, index: entry.index, place: &entry.key, identity: id.into(), shown: id }
        }));
    }
    unique(
        drafts,
        &named,
        &Identity {
            section: SectionKind::Reviews,
            key: "id",
            code: Code::DuplicateReviewId,
            what: "review id",
            help: "give each review an id of its own, or remove one of them",
        },
        findings,
    )
}

fn terms(drafts: &[Draft<'_>], findings: &mut Findings) -> Vec<Skip> {
    let mut named = Vec::new();
    for (draft, contents) in drafts.iter().map(|draft| &draft.contents).enumerate() {
        named.extend(contents.glossary.iter().map(|entry| {
            let term = &*entry.value.term.term;
            Named { draft, index: entry.index, place: &entry.key, identity: slug(term).into(), shown: term }
        }));
    }
    unique(
        drafts,
        &named,
        &Identity {
            section: SectionKind::Glossary,
            key: "term",
            code: Code::DuplicateTerm,
            what: "glossary term",
            help: "join the two definitions, or remove one; terms that differ in case or punctuation only are one",
        },
        findings,
    )
}

fn unique(drafts: &[Draft<'_>], named: &[Named<'_>], identity: &Identity, findings: &mut Findings) -> Vec<Skip> {
    let Identity { section, key, .. } = *identity;
    let mut skips = Vec::new();
    let mut first: HashMap<&str, (&Named<'_>, bool)> = HashMap::with_capacity(named.len());
    for element in named {
        let draft = &drafts[element.draft];
        let is_served = draft.is_served(section, element.index);
        let Some((earlier, served)) = first.get_mut(&*element.identity) else {
            first.insert(&element.identity, (element, is_served));
            continue;
        };
        findings.add(identity.code, draft.file.shared_path(), || Finding {
            code: identity.code,
            location: draft.location(section, element.index, key, element.place),
            message: format!("the {} `{}` is used twice", identity.what, element.shown),
            help: identity.help.to_owned(),
            related: vec![Related {
                location: drafts[earlier.draft].location(section, earlier.index, key, earlier.place),
                note: "first used here".to_owned(),
            }],
        });
        if *served {
            skips.push(Skip { draft: element.draft, section, index: element.index });
        }
        *served |= is_served;
    }
    skips
}

fn reviews_without_product(drafts: &[Draft<'_>], is_complete: bool, findings: &mut Findings) -> Vec<Skip> {
    let mut served: HashMap<&str, bool> = HashMap::new();
    for draft in drafts {
        for product in &draft.contents.software {
            *served.entry(&product.value.id).or_default() |= draft.is_served(SectionKind::Software, product.index);
        }
    }
    let mut skips = Vec::new();
    let section = SectionKind::Reviews;
    for (index, draft) in drafts.iter().enumerate() {
        for review in &draft.contents.reviews {
            let id = &review.value.review.software_id;
            let (code, message, help) = match served.get(&**id) {
                Some(true) => continue,
                Some(false) => (
                    Code::ReviewWithoutProduct,
                    format!("this review is left out together with its product `{id}`"),
                    "mend the product's record",
                ),
                None if is_complete => (
                    Code::UnknownSoftware,
                    format!("there is no product `{id}` in the directory"),
                    "correct `software_id`, or remove the review",
                ),
                None => (
                    Code::ReviewWithoutProduct,
                    format!("there is no product `{id}` in the files that could be read"),
                    "mend the files that couldn't be read first",
                ),
            };
            findings.add(code, draft.file.shared_path(), || {
                let location = draft.location(section, review.index, "software_id", &review.value.software_id);
                Finding { code, location, message, help: help.to_owned(), related: Vec::new() }
            });
            skips.push(Skip { draft: index, section, index: review.index });
        }
    }
    skips
}
