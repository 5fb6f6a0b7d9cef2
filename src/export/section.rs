//! The envelope's arrays, whose elements can be skipped, and documents without the skipped
//! elements.

use std::ops::Range;

use bytes::Bytes;

use super::pointer::Path;
use super::text::Value;

/// Identifies one of the envelope's arrays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SectionKind {
    Software,
    Categories,
    Reviews,
    Glossary,
    Synonyms,
    Pins,
    Attributes,
}

impl SectionKind {
    pub(super) const ALL: [Self; 7] =
        [Self::Software, Self::Categories, Self::Reviews, Self::Glossary, Self::Synonyms, Self::Pins, Self::Attributes];

    /// The array's key in the envelope.
    pub(super) const fn key(self) -> &'static str {
        match self {
            Self::Software => "software",
            Self::Categories => "categories",
            Self::Reviews => "reviews",
            Self::Glossary => "glossary",
            Self::Synonyms => "synonyms",
            Self::Pins => "pins",
            Self::Attributes => "attributes",
        }
    }

    /// The pointer to an element's property.
    pub(super) fn pointer(self, index: usize, key: &str) -> String {
        Path::Root.member(self.key()).element(index).member(key).to_string()
    }
}

/// An envelope's arrays, in the order of [`SectionKind::ALL`].
pub(super) type Sections = [Section; SectionKind::ALL.len()];

/// An array: where its elements are, and which of them are skipped.
#[derive(Debug, Default, Clone)]
pub(super) struct Section {
    spans: Vec<Range<usize>>,
    skipped: Vec<bool>,
}

impl Section {
    pub(super) fn of(root: Value<'_>, kind: SectionKind) -> Self {
        let spans: Vec<_> = root.get(kind.key()).iter().flat_map(Value::elements).map(|value| value.span()).collect();
        let skipped = vec![false; spans.len()];
        Self { spans, skipped }
    }

    pub(super) fn len(&self) -> usize {
        self.spans.len()
    }

    pub(super) fn span(&self, index: usize) -> Range<usize> {
        self.spans[index].clone()
    }

    pub(super) fn is_skipped(&self, index: usize) -> bool {
        self.skipped[index]
    }

    pub(super) fn skipped_count(&self) -> usize {
        self.skipped.iter().filter(|skipped| **skipped).count()
    }

    pub(super) fn skip(&mut self, index: usize) {
        self.skipped[index] = true;
    }

    pub(super) fn element_at(&self, place: &Range<usize>) -> Option<usize> {
        let index = self.spans.partition_point(|span| span.start <= place.start).checked_sub(1)?;
        (place.end <= self.spans[index].end).then_some(index)
    }

    /// The byte ranges to leave out: skipped elements, each with the comma that separates it from a
    /// neighbour.
    fn cuts(&self) -> Vec<Range<usize>> {
        let mut cuts = Vec::new();
        let mut index = 0;
        while index < self.spans.len() {
            let run = self.skipped[index..].iter().take_while(|skipped| **skipped).count();
            if run == 0 {
                index += 1;
                continue;
            }
            let behind = index + run;
            let last_end = self.spans[behind - 1].end;
            cuts.push(match (index.checked_sub(1), self.spans.get(behind)) {
                (Some(before), _) => self.spans[before].end..last_end,
                (None, Some(next)) => self.spans[0].start..next.start,
                (None, None) => self.spans[0].start..last_end,
            });
            index = behind;
        }
        cuts
    }
}

/// A document without the skipped elements, otherwise byte for byte the same.
pub(super) struct Cut {
    cuts: Vec<Range<usize>>,
}

impl Cut {
    pub(super) fn new(sections: &[Section]) -> Self {
        let mut cuts: Vec<_> = sections.iter().flat_map(Section::cuts).collect();
        cuts.sort_unstable_by_key(|cut| cut.start);
        Self { cuts }
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.cuts.is_empty()
    }

    pub(super) fn apply(&self, document: &Bytes) -> Bytes {
        if self.cuts.is_empty() {
            return document.clone();
        }
        let mut kept = Vec::with_capacity(document.len());
        let mut at = 0;
        for cut in &self.cuts {
            kept.extend_from_slice(&document[at..cut.start]);
            at = cut.end;
        }
        kept.extend_from_slice(&document[at..]);
        kept.into()
    }

    /// Maps ranges in the whole document, in ascending order, to ranges in the shortened one.
    pub(super) fn moved(&self, ranges: impl Iterator<Item = Range<usize>>) -> Vec<Range<usize>> {
        let mut cuts = self.cuts.iter().peekable();
        let mut removed = 0;
        let shift = |range: Range<usize>| {
            while let Some(cut) = cuts.next_if(|cut| cut.end <= range.start) {
                removed += cut.len();
            }
            range.start - removed..range.end - removed
        };
        ranges.map(shift).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Skips elements of `[…]` by index and returns the rest.
    fn without(document: &'static str, skipped: &[usize]) -> (String, Vec<String>) {
        let inner = document.split(['[', ']']).nth(1).expect("an array");
        let mut at = document.find('[').expect("an array") + 1;
        let mut spans = Vec::new();
        for part in inner.split(',').filter(|part| !part.trim().is_empty()) {
            let start = at + part.len() - part.trim_start().len();
            spans.push(start..start + part.trim().len());
            at += part.len() + 1;
        }
        let mut section = Section { skipped: vec![false; spans.len()], spans };
        for index in skipped {
            section.skip(*index);
        }
        let kept: Vec<_> = (0..section.len()).filter(|i| !section.is_skipped(*i)).map(|i| section.span(i)).collect();
        let cut = Cut::new(&[section]);
        let left = String::from_utf8(cut.apply(&Bytes::from(document)).to_vec()).expect("text");
        let moved = cut.moved(kept.into_iter()).into_iter().map(|range| left[range].to_owned()).collect();
        (left, moved)
    }

    #[test]
    fn an_array_stays_valid_whatever_is_skipped() {
        let document = "{ \"a\": [ 10 , 21,  32 ,43 ] }";
        for (skipped, left, kept) in [
            (&[][..], document, &["10", "21", "32", "43"][..]),
            (&[0], "{ \"a\": [ 21,  32 ,43 ] }", &["21", "32", "43"]),
            (&[1], "{ \"a\": [ 10,  32 ,43 ] }", &["10", "32", "43"]),
            (&[3], "{ \"a\": [ 10 , 21,  32 ] }", &["10", "21", "32"]),
            (&[0, 1, 3], "{ \"a\": [ 32 ] }", &["32"]),
            (&[0, 2], "{ \"a\": [ 21 ,43 ] }", &["21", "43"]),
            (&[0, 1, 2, 3], "{ \"a\": [  ] }", &[]),
        ] {
            assert_eq!(without(document, skipped), (left.to_owned(), kept.iter().map(ToString::to_string).collect()));
        }
    }
}
