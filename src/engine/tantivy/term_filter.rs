//! Which terms aren't in the dictionary, told without reading it.

use bytes::Bytes;

use crate::search::Term;

/// About a term in eight or more that isn't there is taken for one that is.
const BITS_PER_TERM: usize = 8;

/// A Bloom filter with one hash function (CRC-32) over compounds and names. Nearly every word of a query is looked for as a
/// compound, and every query as a name, and hardly any is one: what takes a bit to tell here takes the dictionary several
/// reads that are in no cache.
#[derive(Debug)]
pub(super) struct TermFilter {
    /// As many as a power of two.
    bytes: Bytes,
}

impl TermFilter {
    /// Of those terms that it can have, as the dictionary holds them.
    pub(super) fn of<'t>(terms: impl Iterator<Item = &'t [u8]>) -> Self {
        let terms: Vec<_> = terms.filter(|term| is_covered(term)).collect();
        let mut bytes = vec![0; (terms.len() * BITS_PER_TERM / 8).next_power_of_two()];
        for term in terms {
            let (byte, bit) = place(term, bytes.len());
            bytes[byte] |= bit;
        }
        Self { bytes: bytes.into() }
    }

    /// Reads one back; `None` where it makes no sense.
    pub(super) fn open(bytes: Bytes) -> Option<Self> {
        bytes.len().is_power_of_two().then_some(Self { bytes })
    }

    /// As it is kept.
    pub(super) fn into_bytes(self) -> Bytes {
        self.bytes
    }

    /// Whether a term, written as the dictionary holds it, can be in the dictionary.
    pub(super) fn may_have(&self, term: &[u8]) -> bool {
        let (byte, bit) = place(term, self.bytes.len());
        !is_covered(term) || self.bytes[byte] & bit != 0
    }
}

/// Whether it says anything of a term.
fn is_covered(term: &[u8]) -> bool {
    matches!(term.first(), Some(&Term::COMPOUND | &Term::TITLE))
}

/// Which byte of so many says whether a term is there, and which bit of it.
fn place(term: &[u8], bytes: usize) -> (usize, u8) {
    let hash = crc32fast::hash(term) as usize;
    ((hash / 8) & (bytes - 1), 1 << (hash % 8))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(term: &Term) -> String {
        let mut text = String::new();
        term.write(&mut text);
        text
    }

    #[test]
    fn what_is_there_passes_and_most_of_what_is_not_does_not() {
        let term = |number: u32| match number % 2 {
            0 => Term::Compound(format!("lock{number}").into()),
            _ => Term::Title(format!("lock out {number}").into()),
        };
        for count in [0, 1, 1_000] {
            let texts: Vec<_> = (0..count).map(|number| written(&term(number))).collect();
            let filter = TermFilter::of(texts.iter().map(String::as_bytes));
            let filter = TermFilter::open(filter.into_bytes()).expect("sound");
            assert!((0..count).all(|number| filter.may_have(texts[number as usize].as_bytes())));
            let others = (count..count + 1_000).map(term);
            let passed = others.filter(|other| filter.may_have(written(other).as_bytes())).count();
            assert!(passed < 200, "{passed} of 1,000 beside {count}");
        }
    }

    #[test]
    fn of_other_terms_it_says_nothing() {
        let filter = TermFilter::of(std::iter::empty());
        for term in [Term::Word(3), Term::Prefix("lo".into()), Term::NameWord("lock".into())] {
            assert!(filter.may_have(written(&term).as_bytes()));
        }
        assert!(TermFilter::open(Bytes::from_static(b"abc")).is_none());
        assert!(TermFilter::open(Bytes::new()).is_none());
    }
}
