//! Uniqueness of ids, and existence of references.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::ops::Range;

use foldhash::{HashMap, HashMapExt as _, HashSet};

use super::ParsedExport;
use crate::export::convert::{Entry, Opinion};
use crate::export::finding::Findings;
use crate::export::{Code, Finding, Related, SectionKind, is_id_prefix};
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
struct Identified<'d> {
    export: usize,
    index: usize,
    place: &'d Range<usize>,
    identity: Cow<'d, str>,
    shown: &'d str,
}

/// Pairs of files: one that repeats another, and that one.
pub(super) type Repeats = HashSet<(usize, usize)>;

/// Fewest common elements of a file that repeats another one.
const REPEAT_ELEMENTS: usize = 5;

const REPEAT_HELP: &str = "remove the older of the two files; the folder holds each export once";

/// An element with an identity that is in use already.
struct Duplicate<'n, 'd> {
    element: &'n Identified<'d>,
    earlier: &'n Identified<'d>,
}

impl Duplicate<'_, '_> {
    const fn exports(&self) -> (usize, usize) {
        (self.element.export, self.earlier.export)
    }
}

/// An element that is to be skipped.
struct Skip {
    export: usize,
    section: SectionKind,
    index: usize,
}

/// Checks the set, and marks the elements to skip. The first valid one of several definitions is served.
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

fn apply(exports: &mut [ParsedExport<'_>], skips: &[Skip]) {
    for skip in skips {
        exports[skip.export].contents.sections[skip.section as usize].skip(skip.index);
    }
}

/// Two folders may hold files of one name; their exports would have one id.
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
    let mut named = Vec::new();
    for (export, contents) in exports.iter().map(|export| &export.contents).enumerate() {
        named.extend(contents.software.iter().map(|entry| {
            let id = &*entry.value.id;
            Identified { export, index: entry.index, place: &entry.key, identity: id.into(), shown: id }
        }));
    }
    unique(
        exports,
        &named,
        &Identity {
            section: SectionKind::Software,
            key: "id",
            code: Code::DuplicateSoftwareId,
            what: "product id",
            help: "give each product an id of its own, or remove one of the records",
        },
        repeats,
        findings,
    )
}

fn reviews(exports: &[ParsedExport<'_>], repeats: &mut Repeats, findings: &mut Findings) -> Vec<Skip> {
    let mut named = Vec::new();
    for (export, contents) in exports.iter().map(|export| &export.contents).enumerate() {
        named.extend(contents.reviews.iter().map(|entry| {
            let id = &*entry.value.review.id;
            Identified { export, index: entry.index, place: &entry.key, identity: id.into(), shown: id }
        }));
    }
    unique(
        exports,
        &named,
        &Identity {
            section: SectionKind::Reviews,
            key: "id",
            code: Code::DuplicateReviewId,
            what: "review id",
            help: "give each review an id of its own, or remove one of them",
        },
        repeats,
        findings,
    )
}

fn terms(exports: &[ParsedExport<'_>], repeats: &mut Repeats, findings: &mut Findings) -> Vec<Skip> {
    let mut named = Vec::new();
    for (export, contents) in exports.iter().map(|export| &export.contents).enumerate() {
        named.extend(contents.glossary.iter().map(|entry| {
            let term = &*entry.value.term.term;
            Identified { export, index: entry.index, place: &entry.key, identity: slug(term).into(), shown: term }
        }));
    }
    unique(
        exports,
        &named,
        &Identity {
            section: SectionKind::Glossary,
            key: "term",
            code: Code::DuplicateTerm,
            what: "glossary term",
            help: "join the two definitions, or remove one; terms that differ in case or punctuation only are one",
        },
        repeats,
        findings,
    )
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
    let mut first: HashMap<&str, (&Identified<'_>, bool)> = HashMap::with_capacity(named.len());
    for element in named {
        let is_served = exports[element.export].is_served(section, element.index);
        let Some((earlier, served)) = first.get_mut(&*element.identity) else {
            first.insert(&element.identity, (element, is_served));
            continue;
        };
        duplicates.push(Duplicate { element, earlier });
        if *served {
            skips.push(Skip { export: element.export, section, index: element.index });
        }
        *served |= is_served;
    }
    report(exports, named, &duplicates, identity, repeats, findings);
    skips
}

/// Reports each duplicate, but a file that repeats another one only once.
fn report(
    exports: &[ParsedExport<'_>],
    named: &[Identified<'_>],
    duplicates: &[Duplicate<'_, '_>],
    identity: &Identity,
    repeats: &mut Repeats,
    findings: &mut Findings,
) {
    let Identity { section, key, .. } = *identity;
    let mut elements = vec![0; exports.len()];
    for element in named {
        elements[element.export] += 1;
    }
    let mut common: HashMap<(usize, usize), usize> = HashMap::new();
    for duplicate in duplicates {
        *common.entry(duplicate.exports()).or_default() += 1;
    }
    let mut summarised = HashSet::default();
    for duplicate in duplicates {
        let Duplicate { element, earlier } = duplicate;
        let (file, other) = duplicate.exports();
        let count = common[&(file, other)];
        let message = if file != other && is_repeat(count, elements[file]) {
            if !summarised.insert((file, other)) || !repeats.insert((file, other)) {
                continue;
            }
            let paths = [file, other].map(|export| exports[export].file.path().display());
            let of = if count == elements[other] { "all".to_owned() } else { format!("{count} of the") };
            format!("`{}` repeats {of} {} {}s of `{}`", paths[0], elements[other], identity.what, paths[1])
        } else {
            format!("the {} `{}` is used twice", identity.what, element.shown)
        };
        let help = match identity.code {
            _ if summarised.contains(&(file, other)) => REPEAT_HELP.to_owned(),
            Code::DuplicateSoftwareId if file != other => prefix_help(exports[file].file.id()),
            _ => identity.help.to_owned(),
        };
        let export = &exports[file];
        findings.add(identity.code, export.file.shared_path(), || Finding {
            code: identity.code,
            location: export.location(section, element.index, key, element.place),
            message,
            help,
            related: vec![Related {
                location: exports[other].location(section, earlier.index, key, earlier.place),
                note: "first used here".to_owned(),
            }],
        });
    }
}

/// The product that a review says it is about.
fn software_id(review: &Entry<Opinion>) -> &str {
    &review.value.review.software_id
}

/// The remedy where products of two exports have one id.
fn prefix_help(export: &str) -> String {
    let fits: String = export.chars().filter(|c| is_id_prefix(c.encode_utf8(&mut [0; 4]))).take(16).collect();
    let prefix = if fits.is_empty() { "source:".to_owned() } else { format!("{fits}:") };
    format!(
        "remove one of the records if both are one product; to keep both, give this export a prefix: \
         `\"id_prefix\": \"{prefix}\"` in its envelope, or `--id-prefix {export}={prefix}`"
    )
}

/// Whether a file repeats another one: at least nine in ten of its elements, and not just a few.
const fn is_repeat(common: usize, elements: usize) -> bool {
    common >= REPEAT_ELEMENTS && common * 10 >= elements * 9
}

/// Reports reviews of products that no export has. Reviews that are left out as the consequence of another finding are one finding for
/// each product and file.
fn reviews_without_product(exports: &[ParsedExport<'_>], is_complete: bool, findings: &mut Findings) -> Vec<Skip> {
    let mut served: HashMap<&str, bool> = HashMap::new();
    for export in exports {
        for product in &export.contents.software {
            *served.entry(&product.value.id).or_default() |= export.is_served(SectionKind::Software, product.index);
        }
    }
    let has_id = |export: &ParsedExport<'_>| {
        export.contents.software.len() == export.contents.sections[SectionKind::Software as usize].len()
    };
    let all_have_ids = exports.iter().all(has_id);
    let mut skips = Vec::new();
    let section = SectionKind::Reviews;
    for (index, export) in exports.iter().enumerate() {
        let orphans = export.contents.reviews.iter();
        let orphans: Vec<_> = orphans.filter(|review| served.get(software_id(review)) != Some(&true)).collect();
        let mut counts: HashMap<&str, usize> = HashMap::new();
        for review in &orphans {
            *counts.entry(software_id(review)).or_default() += 1;
        }
        for review in orphans {
            skips.push(Skip { export: index, section, index: review.index });
            let id = software_id(review);
            let (code, mut message, help) = match served.get(id) {
                Some(_) => (
                    Code::ReviewWithoutProduct,
                    format!("this review is left out together with its product `{id}`"),
                    "mend the product's record",
                ),
                None if is_complete && !all_have_ids => (
                    Code::ReviewWithoutProduct,
                    format!("there is no product `{id}` among those that have an id"),
                    "mend the products without a valid id first",
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
            if code == Code::ReviewWithoutProduct {
                let Some(count) = counts.remove(id) else { continue };
                if count > 1 {
                    // Writing to a string can't fail.
                    let _ = write!(message, "; {} more reviews are of this product", count - 1);
                }
            }
            findings.add(code, export.file.shared_path(), || {
                let location = export.location(section, review.index, "software_id", &review.value.software_id);
                Finding { code, location, message, help: help.to_owned(), related: Vec::new() }
            });
        }
    }
    skips
}
