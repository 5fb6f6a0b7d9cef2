//! Reports elements whose identity is already in use.

use std::ops::Range;

use foldhash::{HashMap, HashSet};
use serde::{Deserialize, Serialize};

use crate::export::finding::Findings;
use crate::export::{Code, Finding, Related, SectionKind, SourceFile, is_id_prefix};

/// What must be unique in a section.
pub(super) struct Identity {
    pub(super) section: SectionKind,
    key: &'static str,
    code: Code,
    what: &'static str,
    help: &'static str,
}

pub(super) const PRODUCTS: Identity = Identity {
    section: SectionKind::Software,
    key: "id",
    code: Code::DuplicateSoftwareId,
    what: "product id",
    help: "give each product its own id, or remove one of the records",
};

pub(super) const REVIEWS: Identity = Identity {
    section: SectionKind::Reviews,
    key: "id",
    code: Code::DuplicateReviewId,
    what: "review id",
    help: "give each review its own id, or remove one of them",
};

pub(super) const TERMS: Identity = Identity {
    section: SectionKind::Glossary,
    key: "term",
    code: Code::DuplicateTerm,
    what: "glossary term",
    help: "merge the two definitions, or remove one; terms that differ only in case or punctuation count as one",
};

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Element {
    /// Index of the element's export.
    pub(super) export: usize,
    pub(super) index: usize,
    /// The location of the element's identifying value.
    pub(super) place: Range<usize>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Duplicate {
    pub(super) element: Element,
    /// The first element with this identity.
    pub(super) earlier: Element,
    /// The identifying value as written.
    pub(super) shown: Box<str>,
}

/// Pairs of documents: one that repeats another, and the one it repeats.
pub(super) type Repeats = HashSet<(usize, usize)>;

/// The number of duplicates by document and by the earlier element's document.
pub(super) type PairCounts = HashMap<(usize, usize), usize>;

/// A file must share this many elements to count as a repeat.
const REPEAT_ELEMENTS: usize = 5;

const REPEAT_HELP: &str = "remove the older of the two files; the folder should contain each export only once";

/// Reports duplicates, ordered by document and location. A file that repeats another file is
/// reported only once.
pub(super) struct DuplicateReport<'r> {
    pub(super) identity: &'r Identity,
    /// The documents' files, and how many elements each has.
    pub(super) files: &'r [&'r SourceFile],
    pub(super) elements: &'r [usize],
    pub(super) common: &'r PairCounts,
    pub(super) repeats: &'r mut Repeats,
    /// The pairs of documents that were reported as repeats here.
    pub(super) summarised: Repeats,
}

impl DuplicateReport<'_> {
    pub(super) fn add(&mut self, duplicate: &Duplicate, findings: &mut Findings) {
        let identity = self.identity;
        let Duplicate { element, earlier, shown } = duplicate;
        let pair @ (file, other) = (element.export, earlier.export);
        let count = self.common.get(&pair).copied().unwrap_or_default();
        let message = if file != other && is_repeat(count, self.elements[file]) {
            if !self.summarised.insert(pair) || !self.repeats.insert(pair) {
                return;
            }
            let paths = [file, other].map(|export| self.files[export].path().display());
            let all = self.elements[other];
            let of = if count == all { "all".to_owned() } else { format!("{count} of the") };
            format!("`{}` repeats {of} {all} {}s in `{}`", paths[0], identity.what, paths[1])
        } else {
            format!("the {} `{shown}` is used twice", identity.what)
        };
        let help = match identity.code {
            _ if self.summarised.contains(&pair) => REPEAT_HELP.to_owned(),
            Code::DuplicateSoftwareId if file != other => prefix_help(self.files[file].id()),
            _ => identity.help.to_owned(),
        };
        let location = |element: &Element| {
            let pointer = identity.section.pointer(element.index, identity.key);
            self.files[element.export].location(element.place.clone(), pointer)
        };
        findings.add(identity.code, self.files[file].shared_path(), || Finding {
            code: identity.code,
            location: location(element),
            message,
            help,
            related: vec![Related { location: location(earlier), note: "first used here".to_owned() }],
        });
    }
}

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
