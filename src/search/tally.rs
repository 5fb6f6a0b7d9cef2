//! Counts frequent terms, one document at a time.

use super::plan::Term;
use super::score::Occurrences;

/// Counts the occurrences of numbered terms in a document. Uses arrays, because hashing terms this
/// frequent took longer than the rest of indexing.
#[derive(Debug, Default)]
pub(super) struct Tally {
    terms: Vec<Term>,
    /// Occurrences in the current document, by term number.
    occurrences: Vec<Occurrences>,
    /// The numbers of the current document's terms.
    found: Vec<u32>,
}

impl Tally {
    /// Makes room for term numbers up to and including `number`.
    pub(super) fn reach(&mut self, number: u32, term: impl Fn(u32) -> Term) {
        let end = number as usize + 1;
        if self.terms.len() < end {
            let next = u32::try_from(self.terms.len()).unwrap_or(u32::MAX);
            self.terms.extend((next..=number).map(term));
            self.occurrences.resize(end, Occurrences::default());
        }
    }

    pub(super) fn of(&mut self, number: u32) -> &mut Occurrences {
        let occurrences = &mut self.occurrences[number as usize];
        if *occurrences == Occurrences::default() {
            self.found.push(number);
        }
        occurrences
    }

    /// Starts the next document.
    pub(super) fn clear(&mut self) {
        for number in self.found.drain(..) {
            self.occurrences[number as usize] = Occurrences::default();
        }
    }

    /// The document's terms with their numbers and occurrences.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &Term, Occurrences)> {
        let of = |number: u32| (number, &self.terms[number as usize], self.occurrences[number as usize]);
        self.found.iter().copied().map(of)
    }
}
