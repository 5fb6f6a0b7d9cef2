//! Ids must be unique in the set. Reports repeated ids, ids that differ only in case, and files that repeat others.

use std::io;
use std::ops::Range;

use foldhash::{HashMap, HashSet, HashSetExt as _};
use serde::{Deserialize, Serialize};

use super::ParsedExport;
use crate::export::finding::Findings;
use crate::export::{Code, Finding, SectionKind, SourceFile, is_id_prefix};
use crate::record::identity;
use crate::scratch::{Keyed, Peeked, Scratch, ScratchSorter};
use crate::text::append;
use crate::text::count::{agreeing, counted};

/// A row for sorting elements by id. The key is the id, the document and the index; the value is
/// the id's location and whether the element is valid by itself.
type IdRow = Keyed<(Box<str>, usize, usize), (Range<usize>, bool)>;

/// A review without a product. The key is its document and index; the value is the location of its
/// reference, the product's id, whether that product exists, and how many other reviews this one
/// represents.
type OrphanRow = Keyed<(usize, usize), (Range<usize>, Box<str>, bool, usize)>;

/// An element to leave out: its document and index.
type Skip = (usize, usize);

/// What's known about the set's products.
#[derive(Debug, Clone, Copy)]
pub(super) struct Products {
    /// Whether every file could be read, so that anything missing really doesn't exist.
    pub(super) is_complete: bool,
    /// Whether every element of `software` has an id.
    pub(super) all_have_ids: bool,
}

/// The ids of products and reviews.
pub(super) struct IdRows {
    scratch: Scratch,
    products: ScratchSorter<IdRow>,
    reviews: ScratchSorter<IdRow>,
    /// Reviews, keyed by the products they refer to.
    references: ScratchSorter<IdRow>,
    /// Products whose ids may change when lower-cased. Most ids are already in lower case.
    cased: ScratchSorter<CasedRow>,
    /// For each document, how many products and reviews have an id.
    counts: [Vec<usize>; 2],
}

impl IdRows {
    pub(super) fn new(scratch: &Scratch) -> Self {
        Self {
            scratch: scratch.clone(),
            products: scratch.sorter(),
            reviews: scratch.sorter(),
            references: scratch.sorter(),
            cased: scratch.sorter(),
            counts: Default::default(),
        }
    }

    pub(super) fn push(&mut self, number: usize, export: &ParsedExport<'_>) -> io::Result<()> {
        for entry in &export.contents.software {
            let is_served = export.is_served(SectionKind::Software, entry.index);
            let id = &entry.value.id;
            if has_case(id) {
                let key = (id.to_lowercase(), number, entry.index);
                self.cased.push(Keyed { key, value: (id.clone(), entry.key.clone()) })?;
            }
            let key = (id.clone(), number, entry.index);
            self.products.push(Keyed { key, value: (entry.key.clone(), is_served) })?;
        }
        for entry in &export.contents.reviews {
            let is_served = export.is_served(SectionKind::Reviews, entry.index);
            let (review, product) = (&entry.value.review, entry.value.software_id.clone());
            let key = (review.id.clone(), number, entry.index);
            self.reviews.push(Keyed { key, value: (entry.key.clone(), is_served) })?;
            let key = (review.software_id.clone(), number, entry.index);
            self.references.push(Keyed { key, value: (product, is_served) })?;
        }
        self.counts[0].push(export.contents.software.len());
        self.counts[1].push(export.contents.reviews.len());
        Ok(())
    }

    /// Reports duplicates and reviews without a product, and marks them to be left out. Removes the
    /// ids of all products from `wanted`. Returns the files that repeat another one.
    pub(super) fn check(
        self,
        exports: &mut [ParsedExport<'_>],
        of: Products,
        wanted: &mut HashSet<Box<str>>,
        findings: &mut Findings,
    ) -> io::Result<Repeats> {
        let Self { scratch, products, reviews, references, cased, counts } = self;
        let files: Vec<_> = exports.iter().map(|export| export.file).collect();
        let mut repeats = Repeats::default();
        let mut orphans = Orphans { rows: scratch.sorter(), skips: Vec::new(), open: None, products: of };
        let mut references = Peeked::new(references.finish()?)?;
        let mut case = CaseJoin { cased: Peeked::new(cased.finish()?)?, similar: scratch.sorter() };
        let mut unique = Unique::new(&PRODUCTS, &scratch);
        unique.read(products, |id, element, is_served| {
            case.next(id, element)?;
            wanted.remove(id);
            while references.row.as_ref().is_some_and(|row| *row.key.0 <= *id) {
                let Some(row) = references.take()? else { break };
                let exists = *row.key.0 == *id;
                if !(exists && is_served) {
                    orphans.push(row, exists)?;
                }
            }
            Ok(())
        })?;
        while let Some(row) = references.take()? {
            orphans.push(row, false)?;
        }
        unique.report(exports, &files, &counts[0], &mut repeats, findings)?;

        let mut unique = Unique::new(&REVIEWS, &scratch);
        unique.read(reviews, |_, _, _| Ok(()))?;
        unique.report(exports, &files, &counts[1], &mut repeats, findings)?;

        let mut terms = scratch.sorter();
        for (number, export) in exports.iter().enumerate() {
            for entry in &export.contents.glossary {
                let is_served = export.is_served(SectionKind::Glossary, entry.index);
                let key = (identity(&entry.value.term.term).into(), number, entry.index);
                terms.push(Keyed { key, value: (entry.key.clone(), is_served) })?;
            }
        }
        let mut unique = Unique::new(&TERMS, &scratch);
        unique.read(terms, |_, _, _| Ok(()))?;
        let counts: Vec<_> = exports.iter().map(|export| export.contents.glossary.len()).collect();
        unique.report(exports, &files, &counts, &mut repeats, findings)?;
        orphans.report(exports, &files, findings)?;
        case.finish(&files, findings)?;
        Ok(repeats)
    }
}

/// Finds elements whose id is already in use.
struct Unique<'u> {
    identity: &'u Identity,
    /// The duplicates, sorted by document and index.
    duplicates: ScratchSorter<Keyed<(usize, usize), Duplicate>>,
    /// The number of duplicates by document and by the earlier element's document.
    common: HashMap<(usize, usize), usize>,
    skips: Vec<Skip>,
}

impl<'u> Unique<'u> {
    fn new(identity: &'u Identity, scratch: &Scratch) -> Self {
        Self { identity, duplicates: scratch.sorter(), common: HashMap::default(), skips: Vec::new() }
    }

    /// Skips all elements with the same id except the first valid one. `ends` receives each id, its
    /// first element, and whether any element with it is valid.
    fn read(
        &mut self,
        rows: ScratchSorter<IdRow>,
        mut ends: impl FnMut(&str, &Element, bool) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut open: Option<(Box<str>, Element, bool)> = None;
        for row in rows.finish()? {
            let Keyed { key: (id, document, index), value: (place, is_valid) } = row?;
            let element = Element { export: document, index, place };
            match &mut open {
                Some((of, earlier, is_served)) if *of == id => {
                    *self.common.entry((document, earlier.export)).or_default() += 1;
                    if *is_served {
                        self.skips.push((document, index));
                    }
                    *is_served |= is_valid;
                    let duplicate = Duplicate { place: element.place, earlier: earlier.clone(), shown: id };
                    self.duplicates.push(Keyed { key: (document, index), value: duplicate })?;
                }
                _ => {
                    if let Some((id, element, is_served)) = open.replace((id, element, is_valid)) {
                        ends(&id, &element, is_served)?;
                    }
                }
            }
        }
        open.map_or(Ok(()), |(id, element, is_served)| ends(&id, &element, is_served))
    }

    fn report(
        self,
        exports: &mut [ParsedExport<'_>],
        files: &[&SourceFile],
        elements: &[usize],
        repeats: &mut Repeats,
        findings: &mut Findings,
    ) -> io::Result<()> {
        let Self { identity, duplicates, common, skips } = self;
        apply(exports, identity.section, &skips);
        for row in duplicates.finish()? {
            let Keyed { key: (document, index), value: Duplicate { place, earlier, mut shown } } = row?;
            if identity.section == SectionKind::Glossary {
                // Terms are compared by slug.
                let terms = &exports[document].contents.glossary;
                if let Some(entry) = terms.iter().find(|entry| entry.index == index) {
                    shown.clone_from(&entry.value.term.term);
                }
            }
            let (file, other) = (files[document], files[earlier.export]);
            let pair = (document, earlier.export);
            let count = common.get(&pair).copied().unwrap_or_default();
            let is_other_file = document != earlier.export;
            let (message, help) = if is_other_file && is_repeat(count, elements[document]) {
                if !repeats.insert(pair) {
                    continue;
                }
                let all = elements[earlier.export];
                let of = if count == all { "all".to_owned() } else { format!("{count} of the") };
                let (this, that) = (file.path().display(), other.path().display());
                let message = format!("`{this}` repeats {of} {all} {}s in `{that}`", identity.what);
                (message, REPEAT_HELP.to_owned())
            } else {
                let needs_prefix = identity.code == Code::DuplicateSoftwareId && is_other_file;
                let help = if needs_prefix { prefix_help(file.id()) } else { identity.help.to_owned() };
                (format!("the {} `{shown}` is used twice", identity.what), help)
            };
            let location = |file: &SourceFile, place: Range<usize>, index: usize| {
                file.location(place, identity.section.pointer(index, identity.key))
            };
            findings.add(identity.code, file.shared_path(), |code| {
                let first = location(other, earlier.place, earlier.index);
                Finding::new(code, location(file, place, index), message, help).with_related(first, "first used here")
            });
        }
        Ok(())
    }
}

fn apply(exports: &mut [ParsedExport<'_>], section: SectionKind, skips: &[Skip]) {
    for (export, index) in skips {
        exports[*export].contents.sections[section as usize].skip(*index);
    }
}

/// Collects reviews without a product. They arrive ordered by product id.
struct Orphans {
    rows: ScratchSorter<OrphanRow>,
    skips: Vec<Skip>,
    /// A review that represents all following reviews of the same product in the same document.
    open: Option<OrphanRow>,
    products: Products,
}

impl Orphans {
    fn push(&mut self, review: IdRow, product_exists: bool) -> io::Result<()> {
        let Keyed { key: (product, document, index), value: (place, _) } = review;
        self.skips.push((document, index));
        if let Some(open) = self.open.as_mut().filter(|open| open.key.0 == document && open.value.1 == product) {
            open.value.3 += 1;
            return Ok(());
        }
        let row = Keyed { key: (document, index), value: (place, product, product_exists, 0) };
        if self.code(product_exists) == Code::ReviewWithoutProduct {
            self.open.replace(row).map_or(Ok(()), |open| self.rows.push(open))
        } else {
            self.rows.push(row)
        }
    }

    /// The code for a review whose product doesn't exist or is left out.
    const fn code(&self, product_exists: bool) -> Code {
        if !product_exists && self.products.is_complete && self.products.all_have_ids {
            Code::UnknownSoftware
        } else {
            Code::ReviewWithoutProduct
        }
    }

    /// Reports the reviews. If that's only a consequence of another finding, one finding stands for all
    /// reviews of the same product in the same file.
    fn report(
        mut self,
        exports: &mut [ParsedExport<'_>],
        files: &[&SourceFile],
        findings: &mut Findings,
    ) -> io::Result<()> {
        apply(exports, SectionKind::Reviews, &self.skips);
        self.open.take().map_or(Ok(()), |open| self.rows.push(open))?;
        let is_complete = self.products.is_complete;
        let code = [false, true].map(|product_exists| self.code(product_exists));
        for row in self.rows.finish()? {
            let Keyed { key: (document, index), value: (place, id, product_exists, others) } = row?;
            let code = code[usize::from(product_exists)];
            let (mut message, help) = if product_exists {
                (format!("this review is left out because its product `{id}` is left out"), "fix the product's record")
            } else if code == Code::UnknownSoftware {
                (format!("there is no product `{id}` in the directory"), "correct `software_id`, or remove the review")
            } else if is_complete {
                let help = "fix the products without a valid id first";
                (format!("there is no product `{id}` among the products with a valid id"), help)
            } else {
                let help = "fix the files that couldn't be read first";
                (format!("there is no product `{id}` in the files that could be read"), help)
            };
            if others > 0 {
                let (more, verb) = (counted(others, "more review"), agreeing(others, "is", "are"));
                append(&mut message, format_args!("; {more} {verb} about this product"));
            }
            let file = files[document];
            findings.add(code, file.shared_path(), |code| {
                let location = file.location(place, SectionKind::Reviews.pointer(index, "software_id"));
                Finding::new(code, location, message, help)
            });
        }
        Ok(())
    }
}

/// What must be unique in a section.
struct Identity {
    section: SectionKind,
    key: &'static str,
    code: Code,
    what: &'static str,
    help: &'static str,
}

const PRODUCTS: Identity = Identity {
    section: SectionKind::Software,
    key: "id",
    code: Code::DuplicateSoftwareId,
    what: "product id",
    help: "give each product its own id, or remove one of the records",
};

const REVIEWS: Identity = Identity {
    section: SectionKind::Reviews,
    key: "id",
    code: Code::DuplicateReviewId,
    what: "review id",
    help: "give each review its own id, or remove one of them",
};

const TERMS: Identity = Identity {
    section: SectionKind::Glossary,
    key: "term",
    code: Code::DuplicateTerm,
    what: "glossary term",
    help: "merge the two definitions, or remove one; terms that differ only in case or punctuation count as one",
};

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Element {
    /// Index of the element's export.
    export: usize,
    index: usize,
    /// The location of the element's identifying value.
    place: Range<usize>,
}

/// An element whose identity is already in use.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Duplicate {
    place: Range<usize>,
    /// The first element with this identity.
    earlier: Element,
    /// The identifying value as written.
    shown: Box<str>,
}

/// Pairs of documents: one that repeats another, and the one it repeats.
pub(super) type Repeats = HashSet<(usize, usize)>;

/// A file must share this many elements to count as a repeat.
const REPEAT_ELEMENTS: usize = 5;

const REPEAT_HELP: &str = "remove the older of the two files; the folder should contain each export only once";

/// The help text for products in two exports that have the same id.
fn prefix_help(export: &str) -> String {
    let fits: String = export.chars().filter(|c| is_id_prefix(c.encode_utf8(&mut [0; 4]))).take(16).collect();
    let prefix = if fits.is_empty() { "source:".to_owned() } else { format!("{fits}:") };
    format!(
        "if both records describe the same product, remove one; to keep both, give this export a prefix: \
         `\"id_prefix\": \"{prefix}\"` in its envelope, or `--id-prefix {export}={prefix}`"
    )
}

/// Whether a file repeats another one: at least nine in ten of its elements are shared, and more
/// than a few.
const fn is_repeat(common: usize, elements: usize) -> bool {
    common >= REPEAT_ELEMENTS && common * 10 >= elements * 9
}

/// A product whose id may change when lower-cased. The key is the lower-cased id, the document and
/// the index; the value is the id and its location.
type CasedRow = Keyed<(String, usize, usize), (Box<str>, Range<usize>)>;

/// An id that differs only in case from an earlier one. The key is the positions of both, the
/// earlier one first; the value is both ids and their locations.
type SimilarRow = Keyed<[(usize, usize); 2], [(Box<str>, Range<usize>); 2]>;

/// An id with its document, index and location.
type PlacedId = ((usize, usize), (Box<str>, Range<usize>));

/// Joins all ids with those that may change when lower-cased.
struct CaseJoin {
    cased: Peeked<CasedRow>,
    similar: ScratchSorter<SimilarRow>,
}

impl CaseJoin {
    /// Takes the next id in order, with its first element.
    fn next(&mut self, id: &str, element: &Element) -> io::Result<()> {
        while self.cased.row.as_ref().is_some_and(|row| *row.key.0 < *id) {
            self.group(None)?;
        }
        if self.cased.row.as_ref().is_some_and(|row| *row.key.0 == *id) && !has_case(id) {
            let place = (element.export, element.index);
            self.group(Some((place, (id.into(), element.place.clone()))))?;
        }
        Ok(())
    }

    /// Takes the ids with the next lower-cased form, along with the id that equals this form, if
    /// any. Ignores duplicates, which have already been reported as errors.
    fn group(&mut self, in_lower_case: Option<PlacedId>) -> io::Result<()> {
        let Some(first) = self.cased.take()? else { return Ok(()) };
        let lower = first.key.0.clone();
        let mut seen = HashSet::new();
        let mut distinct: Vec<_> = in_lower_case.into_iter().collect();
        let mut next = Some(first);
        while let Some(Keyed { key: (_, number, index), value }) = next {
            if seen.insert(value.0.clone()) {
                distinct.push(((number, index), value));
            }
            next =
                if self.cased.row.as_ref().is_some_and(|row| row.key.0 == lower) { self.cased.take()? } else { None };
        }
        distinct.sort_unstable_by_key(|(place, _)| *place);
        let mut distinct = distinct.into_iter();
        let Some((first, earlier)) = distinct.next() else { return Ok(()) };
        distinct
            .try_for_each(|(place, id)| self.similar.push(Keyed { key: [first, place], value: [earlier.clone(), id] }))
    }

    /// Reports each id in a group except the first.
    fn finish(mut self, files: &[&SourceFile], findings: &mut Findings) -> io::Result<()> {
        while self.cased.row.is_some() {
            self.group(None)?;
        }
        for row in self.similar.finish()? {
            let Keyed { key: [first, (number, index)], value: [(other, earlier), (id, place)] } = row?;
            let location = |(number, index): (usize, usize), place: Range<usize>| {
                files[number].location(place, SectionKind::Software.pointer(index, "id"))
            };
            findings.add(Code::SimilarId, files[number].shared_path(), |code| {
                let message = format!("the ids `{other}` and `{id}` differ only in case");
                let help = "if both records describe the same product, remove one; otherwise give one of them an id that \
                            can't be confused with the other";
                Finding::new(code, location((number, index), place), message, help)
                    .with_related(location(first, earlier), format!("`{other}` is here"))
            });
        }
        Ok(())
    }
}

/// Whether an id may change when lower-cased.
fn has_case(id: &str) -> bool {
    id.bytes().any(|byte| byte.is_ascii_uppercase() || !byte.is_ascii())
}
