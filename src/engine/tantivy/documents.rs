//! Documents' terms on their way into the index.

use crate::search::score::Occurrences;
use crate::search::{StemId, Term};

/// tantivy's limit, in bytes. Longer terms are skipped; no query is that long.
const LONGEST_TERM: u16 = u16::MAX - 5;

/// The terms in a batch of documents, with their packed frequencies. One thread can produce them
/// while another indexes them.
#[derive(Debug, Default)]
pub struct Documents {
    /// The names of all terms except words and topics, concatenated.
    names: String,
    postings: Vec<(Key, u32)>,
    /// The number of postings in each document.
    lengths: Vec<usize>,
}

#[derive(Debug, Clone, Copy)]
enum Key {
    Word(StemId),
    Topic(u16),
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
        self.lengths.len()
    }

    pub fn is_empty(&self) -> bool {
        self.lengths.is_empty()
    }

    /// Adds a document's terms. A prefix may have a number.
    pub fn push<'t>(&mut self, document: impl Iterator<Item = (Option<u32>, &'t Term, Occurrences)>) {
        let postings = self.postings.len();
        for (number, term, occurrences) in document {
            let key = match term {
                Term::Word(stem) => Key::Word(*stem),
                Term::Topic(topic) => Key::Topic(*topic),
                _ => {
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
                }
            };
            self.postings.push((key, occurrences.packed()));
        }
        self.lengths.push(self.postings.len() - postings);
    }

    /// Calls `each` with a document's index in this batch, a term and its packed frequency.
    pub(super) fn for_each(&self, mut each: impl FnMut(u32, DocumentTerm<'_>, u32)) {
        let (mut names, mut postings) = (&*self.names, self.postings.iter());
        for (document, length) in (0..).zip(&self.lengths) {
            let mut name = |length: u16| {
                let (name, rest) = names.split_at(usize::from(length));
                names = rest;
                name
            };
            for (key, frequency) in postings.by_ref().take(*length) {
                let term = match *key {
                    Key::Word(stem) => DocumentTerm::Word(stem),
                    Key::Topic(topic) => DocumentTerm::Topic(topic),
                    Key::Prefix(number, length) => DocumentTerm::Prefix(number, name(length)),
                    Key::Name(length) => DocumentTerm::Name(name(length)),
                };
                each(document, term, *frequency);
            }
        }
    }
}
