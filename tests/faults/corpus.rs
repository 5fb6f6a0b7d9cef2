//! Exports with the revision in every record, so that a response with mixed generations is
//! detected.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::scale::{is_full, large_export, times};

/// Precedes the revision's digits in every record's tagline.
const MARKER: &str = "rev-00000000";
/// Revisions also differ in how many extra records they have, always fewer than this.
const EXTRAS: usize = 7;

/// The prefix before a marker's digits.
pub(crate) const PREFIX: &[u8] = b"rev-";
/// How many digits a marker has.
pub(crate) const DIGITS: usize = 8;

/// A set of records that can be written as any revision.
pub(crate) struct Corpus {
    /// The whole document except the last bracket, with the marker of revision 0.
    text: Vec<u8>,
    /// Where each marker's digits start.
    digits: Vec<usize>,
    records: usize,
}

impl Corpus {
    /// A corpus of this many fictional products.
    pub(crate) fn generated(records: usize) -> Self {
        const WORDS: [&str; 8] = ["audit", "permit", "safety", "quality", "training", "risk", "incident", "document"];
        let product = |n: usize| {
            let (first, second) = (WORDS[n % 8], WORDS[n / 8 % 8]);
            json!({
                "id": format!("p-{n:05}"), "name": format!("Product {n:05} {first}"),
                "url": format!("https://p{n}.example.org/"), "evidence_status": "pending-review",
                "category": format!("{second} management"), "vendor": format!("Vendor {}", n / 10),
                "description": format!("A product for {first} and {second}, number {n} of its kind."),
                "tags": [first, second],
            })
        };
        let envelope = json!({"name": "Generated", "license": "https://example.org/licence"});
        Self::new(&envelope, (0..records).map(product).collect())
    }

    /// The products of an export file.
    fn read(path: &Path) -> Self {
        let text = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let mut document: Value = serde_json::from_slice(&text).expect("JSON");
        let software = document["software"].take();
        let Value::Array(records) = software else { panic!("{} has no software", path.display()) };
        document.as_object_mut().expect("an object").remove("software");
        Self::new(&document, records)
    }

    /// The large case: the named export, or one with as many products as Debian has; by default a
    /// small one.
    pub(crate) fn large() -> Self {
        match large_export().filter(|_| is_full()) {
            Some(path) => Self::read(&path),
            None => Self::generated(times(500, 60_000)),
        }
    }

    fn new(envelope: &Value, records: Vec<Value>) -> Self {
        let count = records.len();
        let mut text = envelope.to_string().into_bytes();
        text.pop();
        text.extend(b",\"software\":[");
        for (n, mut record) in records.into_iter().enumerate() {
            record["tagline"] = MARKER.into();
            text.extend((n > 0).then_some(b','));
            serde_json::to_writer(&mut text, &record).expect("JSON");
        }
        let digits = positions(&text).map(|at| at + PREFIX.len()).collect();
        Self { text, digits, records: count }
    }

    /// How many products a revision has.
    pub(crate) fn count(&self, revision: usize) -> usize {
        self.records + revision % EXTRAS
    }

    /// A revision as an export document.
    pub(crate) fn document(&self, revision: usize) -> Vec<u8> {
        let mut text = self.text.clone();
        let digits = format!("{revision:0DIGITS$}");
        for at in &self.digits {
            text[*at..*at + DIGITS].copy_from_slice(digits.as_bytes());
        }
        for extra in 0..revision % EXTRAS {
            let record = json!({
                "id": format!("extra-{extra}"), "name": format!("Extra product {extra}"), "tagline": format!("rev-{digits}"),
                "url": "https://extra.example.org/", "evidence_status": "pending-review",
            });
            text.push(b',');
            serde_json::to_writer(&mut text, &record).expect("JSON");
        }
        text.extend(b"]}");
        text
    }

    /// Replaces the file `tools.json` with a revision in one step.
    pub(crate) fn write(&self, data: &Path, revision: usize) {
        replace(data, &self.document(revision));
    }
}

/// Replaces the file `tools.json` in a data folder the way a careful writer does.
pub(crate) fn replace(data: &Path, text: &[u8]) {
    fs::write(data.join(".next"), text).expect("written");
    fs::rename(data.join(".next"), data.join("tools.json")).expect("renamed");
}

/// Where markers begin.
fn positions(text: &[u8]) -> impl Iterator<Item = usize> + '_ {
    let marker = MARKER.as_bytes();
    (0..text.len()).filter(move |at| text[*at] == b'r' && text[*at..].starts_with(marker))
}

/// The revisions in some text's markers.
pub(crate) fn revisions(text: &[u8]) -> impl Iterator<Item = usize> + '_ {
    let starts = (0..text.len()).filter(|at| text[*at] == b'r' && text[*at..].starts_with(PREFIX));
    starts.filter_map(|at| {
        let digits = text.get(at + PREFIX.len()..at + PREFIX.len() + DIGITS)?;
        std::str::from_utf8(digits).ok()?.parse().ok()
    })
}
