//! Batches of documents' terms, which are then indexed.

use crate::search::meaning::record_topics;
use crate::search::score::Occurrences;
use crate::search::{StemId, Term};
use crate::text::meaning::Reference;

/// tantivy's limit on a term's length, in bytes. Longer terms are skipped; no query is that long.
const LONGEST_TERM: u16 = u16::MAX - 5;

/// The terms in a batch of documents, with their packed frequencies. One thread can produce them
/// while another indexes them.
#[derive(Debug, Default)]
pub struct Documents {
    /// The names of all terms except words, concatenated.
    names: String,
    postings: Vec<(Key, u32)>,
    /// Each document's number of postings, and its meaning.
    per_document: Vec<(usize, Option<Reference>)>,
}

#[derive(Debug, Clone, Copy)]
enum Key {
    Word(StemId),
    /// A prefix, given by its number and its name's length.
    Prefix(u32, u16),
    /// Any other term, given by its name's length.
    Name(u16),
}

/// A document's term. Words and topics have numbers, prefixes have numbers and names, and all other
/// terms have names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DocumentTerm<'d> {
    Word(StemId),
    Topic(u16),
    Prefix(u32, &'d str),
    Name(&'d str),
}

impl Documents {
    pub fn len(&self) -> usize {
        self.per_document.len()
    }

    pub fn is_empty(&self) -> bool {
        self.per_document.is_empty()
    }

    /// Adds a document's terms, except topics, and its meaning. A prefix may have a number.
    pub fn push<'t>(
        &mut self,
        terms: impl Iterator<Item = (Option<u32>, &'t Term, Occurrences)>,
        meaning: Option<Reference>,
    ) {
        let postings = self.postings.len();
        for (number, term, occurrences) in terms {
            let key = if let Term::Word(stem) = term {
                Key::Word(*stem)
            } else {
                let names = self.names.len();
                term.write(&mut self.names);
                let length = u16::try_from(self.names.len() - names).ok().filter(|length| *length <= LONGEST_TERM);
                let Some(length) = length else {
                    self.names.truncate(names);
                    continue;
                };
                match (term, number) {
                    (Term::Prefix(_), Some(number)) => Key::Prefix(number, length),
                    _ => Key::Name(length),
                }
            };
            self.postings.push((key, occurrences.packed()));
        }
        self.per_document.push((self.postings.len() - postings, meaning));
    }

    /// Calls `each` with a document's index in this batch, a term and its packed frequency. Also
    /// finds the documents' topics.
    pub(super) fn for_each(&self, mut each: impl FnMut(u32, DocumentTerm<'_>, u32)) {
        let (mut names, mut postings) = (&*self.names, self.postings.iter());
        for (document, (length, meaning)) in (0..).zip(&self.per_document) {
            let mut name = |length: u16| {
                let (name, rest) = names.split_at(usize::from(length));
                names = rest;
                name
            };
            for (key, frequency) in postings.by_ref().take(*length) {
                let term = match *key {
                    Key::Word(stem) => DocumentTerm::Word(stem),
                    Key::Prefix(number, length) => DocumentTerm::Prefix(number, name(length)),
                    Key::Name(length) => DocumentTerm::Name(name(length)),
                };
                each(document, term, *frequency);
            }
            for (topic, occurrences) in meaning.iter().flat_map(record_topics) {
                each(document, DocumentTerm::Topic(topic), occurrences.packed());
            }
        }
    }
}
