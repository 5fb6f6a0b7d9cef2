//! Marks in a hit's texts what the query matched.

use std::borrow::Cow;
use std::ops::Range;

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::catalogue::Ordinal;
use crate::resource::{Highlight, TextRange};
use crate::search::Term;
use crate::search::analyse::{self, words};
use crate::search::expand::{Expansion, Slot};
use crate::search::forward::{SECTION_END, VALUE_END};
use crate::search::lexicon::WordId;
use crate::snapshot::Snapshot;

/// A text longer than this, in characters, is shown in part.
const EXCERPT: usize = 240;
/// How much of it stands before the first match, in characters.
const LEAD: usize = 60;

/// The texts of a product that can be marked, as its answer holds them, and those that are searched besides.
#[derive(Debug, Deserialize)]
struct Texts<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    aliases: Vec<Text<'a>>,
    tagline: Option<Text<'a>>,
    categories: Vec<Named<'a>>,
    tags: Vec<Text<'a>>,
    vendor: Option<Text<'a>>,
    standards: Vec<Text<'a>>,
    features: Vec<Text<'a>>,
    deployment: Vec<IgnoredAny>,
    languages: Vec<IgnoredAny>,
    description: Option<Text<'a>>,
}

/// A text that is borrowed where it holds no escape; serde borrows inside lists and options only so.
#[derive(Debug, Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

#[derive(Debug, Deserialize)]
struct Named<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
}

/// Marks what one query matched.
pub(super) struct Marker<'s> {
    snapshot: &'s Snapshot,
    expansion: &'s Expansion,
    /// The letters that the last word begins with, where no more of them are told than the index has as such. What a longer
    /// beginning stands for is among the stems.
    prefix: Option<&'s str>,
    /// The words that may be written apart: few are found so, and looking for one costs a look at every two neighbours.
    compounds: Vec<&'s str>,
    scratch: Scratch,
}

/// What is written to for each product and each of its texts, the memory kept for the next.
#[derive(Default)]
struct Scratch {
    /// The product's texts, as JSON.
    texts: Vec<u8>,
    /// Which of its words are marked, by their numbers in it.
    marked: Vec<usize>,
    /// Where they are.
    places: Vec<Range<usize>>,
    /// The marks.
    spans: Vec<(usize, usize)>,
}

impl<'s> Marker<'s> {
    /// For these hits.
    pub(super) fn new(
        snapshot: &'s Snapshot,
        expansion: &'s Expansion,
        hits: impl Iterator<Item = Ordinal> + Clone,
    ) -> Self {
        snapshot.catalogue.fetch(hits.clone());
        snapshot.search.forward.fetch(hits);
        let has = |slot: &Slot, kind: fn(&Term) -> bool| slot.alternatives.iter().any(|of| kind(&of.term));
        let is_prefix = |slot: &&Slot| has(slot, |term| matches!(term, Term::Prefix(_)));
        let is_compound = |slot: &&Slot| has(slot, |term| matches!(term, Term::Compound(_)));
        let slots = || expansion.slots.iter();
        Self {
            snapshot,
            expansion,
            prefix: slots().find(is_prefix).and_then(|slot| slot.prefix.as_deref()),
            compounds: slots().filter(is_compound).map(|slot| slot.word.folded.as_str()).collect(),
            scratch: Scratch::default(),
        }
    }

    /// The fields of a product that the query matched, in the order of their weight; of a list each value that has a match.
    pub(super) fn highlights(&mut self, ordinal: Ordinal) -> Vec<Highlight> {
        if self.expansion.slots.is_empty() {
            return Vec::new();
        }
        let mut texts = std::mem::take(&mut self.scratch.texts);
        self.snapshot.catalogue.write_texts(ordinal, &mut texts);
        let found = self.highlights_in(ordinal, &texts);
        self.scratch.texts = texts;
        found
    }

    /// The same, from a product's texts as JSON.
    fn highlights_in(&mut self, ordinal: Ordinal, texts: &[u8]) -> Vec<Highlight> {
        // They were written from these very fields; were it otherwise, nothing would be marked.
        // As one piece, for which UTF-8 is told faster than for many.
        let Ok(texts) = str::from_utf8(texts) else { return Vec::new() };
        let Ok(data) = serde_json::from_str::<Texts<'_>>(texts) else { return Vec::new() };
        let mut words = self.snapshot.search.forward.words(ordinal);
        let mut found = Vec::new();
        // The values in the order in which the index has their words, so that no word has to be looked up.
        let mut look = |field: &'static str, text: &str| {
            self.mark(&mut words);
            found.extend(self.highlight(field, text));
        };
        look("name", &data.name);
        data.aliases.iter().for_each(|text| look("aliases", &text.0));
        data.tagline.iter().for_each(|text| look("tagline", &text.0));
        data.categories.iter().for_each(|category| look("categories", &category.name));
        data.tags.iter().for_each(|text| look("tags", &text.0));
        data.vendor.iter().for_each(|text| look("vendor", &text.0));
        data.standards.iter().for_each(|text| look("standards", &text.0));
        data.features.iter().for_each(|text| look("features", &text.0));
        // The offering type comes with the settings.
        for _ in 0..=data.deployment.len() + data.languages.len() {
            words.by_ref().take_while(|word| *word != VALUE_END).for_each(drop);
        }
        if let Some(text) = &data.description {
            self.mark(&mut words);
            found.extend(self.highlight("description", &text.0));
        }
        found
    }

    /// Marks of the next value's words those that the query matched, as far as their numbers tell.
    fn mark(&mut self, words: impl Iterator<Item = WordId>) {
        let Self { snapshot: Snapshot { search, .. }, expansion, scratch: Scratch { marked, .. }, .. } = self;
        marked.clear();
        let words = words.take_while(|word| *word != VALUE_END).filter(|word| *word != SECTION_END);
        for (number, word) in words.enumerate() {
            if expansion.stems.of(search.lexicon.stem_of(word)).is_some() {
                marked.push(number);
            }
        }
    }

    /// A text with its matches, if it has any; what the numbers of its words tell is marked already.
    fn highlight(&mut self, field: &'static str, text: &str) -> Option<Highlight> {
        let Self { expansion, prefix, compounds, .. } = self;
        if prefix.is_none() && compounds.is_empty() && expansion.concepts.is_empty() {
            let Scratch { marked, places, .. } = &mut self.scratch;
            if marked.is_empty() {
                return None;
            }
            analyse::places_of(text, marked, places);
        } else {
            // What the numbers don't tell may be anywhere.
            self.scratch.places = self.all_marked(text);
        }
        let Scratch { places, spans, .. } = &mut self.scratch;
        merge(text, places, spans);
        if spans.is_empty() {
            return None;
        }
        let (mut at, mut count) = (0, 0);
        let mut characters_to = |end: usize| {
            count += characters(&text[at..end]) as u64;
            at = end;
            count
        };
        let ranges = spans.iter().map(|(start, end)| {
            let start = characters_to(*start);
            TextRange { start, length: characters_to(*end) - start }
        });
        Some(Highlight { field: Cow::Borrowed(field), ranges: ranges.collect(), html: html(text, spans) })
    }

    /// Where the words of a text are that the query matched, by whatever it did.
    fn all_marked(&self, text: &str) -> Vec<Range<usize>> {
        let Self { snapshot: Snapshot { search, .. }, expansion, prefix, compounds, scratch } = self;
        let places = analyse::places(text);
        let written = |at: usize| &text[places[at].clone()];
        let mut marked = vec![false; places.len()];
        // They fit, for the index has the words of this very text; were it otherwise, some would not be marked.
        scratch.marked.iter().filter(|at| **at < places.len()).for_each(|at| marked[*at] = true);
        for at in 0..places.len() {
            marked[at] |= prefix.is_some_and(|prefix| begins(written(at), prefix));
            if at + 1 < places.len() && compounds.iter().any(|word| is_compound(written(at), written(at + 1), word)) {
                (marked[at], marked[at + 1]) = (true, true);
            }
        }
        if !expansion.concepts.is_empty() {
            for mention in search.thesaurus.mentions(text, &words(text), &search.stems, false) {
                if mention.means.iter().any(|concept| expansion.concepts.contains(concept)) {
                    marked[mention.start..mention.end].fill(true);
                }
            }
        }
        places.into_iter().zip(marked).filter_map(|(place, is)| is.then_some(place)).collect()
    }
}

/// Whether a word as written begins with these letters, folded.
fn begins(written: &str, prefix: &str) -> bool {
    if is_plain(written) {
        return written.get(..prefix.len()).is_some_and(|beginning| beginning.eq_ignore_ascii_case(prefix));
    }
    words(written).first().is_some_and(|word| word.folded.starts_with(prefix))
}

/// Whether two words as written are this one, folded, written apart.
fn is_compound(first: &str, second: &str, folded: &str) -> bool {
    if is_plain(first) && is_plain(second) {
        // In bytes: what it is compared with may be in any script.
        return first.len() + second.len() == folded.len() && {
            let (head, tail) = folded.as_bytes().split_at(first.len());
            first.as_bytes().eq_ignore_ascii_case(head) && second.as_bytes().eq_ignore_ascii_case(tail)
        };
    }
    let (first, second) = (words(first), words(second));
    let (Some(first), Some(second)) = (first.first(), second.first()) else { return false };
    folded.strip_prefix(first.folded.as_str()) == Some(second.folded.as_str())
}

/// Whether folding a word changes nothing but its case.
fn is_plain(written: &str) -> bool {
    written.bytes().all(|byte| byte.is_ascii() && byte != b'&')
}

/// Matches side by side, with nothing but white space between them, are one.
fn merge(text: &str, places: &[Range<usize>], merged: &mut Vec<(usize, usize)>) {
    merged.clear();
    for Range { start, end } in places.iter().cloned() {
        match merged.last_mut() {
            Some(last) if start <= last.1 || text[last.1..start].chars().all(char::is_whitespace) => {
                last.1 = end.max(last.1);
            }
            _ => merged.push((start, end)),
        }
    }
}

/// The text, or the part of it that has the first match, with everything escaped but our own marks.
fn html(text: &str, spans: &[(usize, usize)]) -> String {
    let (from, to) = excerpt(text, spans.first().map_or(0, |span| span.0));
    let mut html = String::with_capacity(to - from + spans.len() * 16);
    let push = if text[from..to].bytes().fold(false, |any, byte| any | is_special(byte)) { push_escaped } else { push };
    if from > 0 {
        html.push('…');
    }
    let mut at = from;
    for (start, end) in spans.iter().copied().filter(|(start, end)| *start >= from && *end <= to) {
        push(&mut html, &text[at..start]);
        html.push_str("<mark>");
        push(&mut html, &text[start..end]);
        html.push_str("</mark>");
        at = end;
    }
    push(&mut html, &text[at..to]);
    if to < text.len() {
        html.push('…');
    }
    html
}

/// The part of a text to show, in bytes; it begins and ends between words where it can.
fn excerpt(text: &str, first_match: usize) -> (usize, usize) {
    // No text has more characters than bytes.
    if text.len() <= EXCERPT || characters(text) <= EXCERPT {
        return (0, text.len());
    }
    let start = before(&text[..first_match], LEAD);
    let from = if start == 0 {
        0
    } else {
        text[start..first_match].find(char::is_whitespace).map_or(start, |at| start + at).min(first_match)
    };
    let from = first_match - text[from..first_match].trim_start().len();
    let end = from + behind(&text[from..], EXCERPT);
    if end == text.len() {
        return (from, end);
    }
    let to = text[from..end].rfind(char::is_whitespace).map_or(end, |at| from + at);
    (from, if to > first_match { to } else { end })
}

/// How many characters a text has.
fn characters(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.chars().count() }
}

/// Where the character is that stands this many before a text's last one, in bytes; the text's start where it has fewer.
fn before(text: &str, count: usize) -> usize {
    if text.is_ascii() {
        return text.len().saturating_sub(count + 1);
    }
    text.char_indices().rev().nth(count).map_or(0, |(at, _)| at)
}

/// Where a text's first characters end, in bytes; the text's end where it has fewer.
fn behind(text: &str, count: usize) -> usize {
    if text.is_ascii() {
        return text.len().min(count);
    }
    text.char_indices().nth(count).map_or(text.len(), |(at, _)| at)
}

/// Whether a byte has to be escaped in HTML.
const fn is_special(byte: u8) -> bool {
    matches!(byte, b'&' | b'<' | b'>' | b'"' | b'\'')
}

/// Appends a text that has nothing to escape.
fn push(html: &mut String, text: &str) {
    html.push_str(text);
}

fn push_escaped(html: &mut String, text: &str) {
    let mut from = 0;
    for (at, byte) in text.bytes().enumerate() {
        let escaped = match byte {
            b'&' => "&amp;",
            b'<' => "&lt;",
            b'>' => "&gt;",
            b'"' => "&quot;",
            b'\'' => "&#39;",
            _ => continue,
        };
        html.push_str(&text[from..at]);
        html.push_str(escaped);
        from = at + 1;
    }
    html.push_str(&text[from..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_records_own_markup_is_escaped() {
        let text = "<script>audit</script> & \"more\"";
        let start = text.find("audit").expect("it is there");
        assert_eq!(
            html(text, &[(start, start + 5)]),
            "&lt;script&gt;<mark>audit</mark>&lt;/script&gt; &amp; &quot;more&quot;"
        );
    }

    #[test]
    fn two_words_are_compared_with_one_of_any_script() {
        assert!(is_compound("Lock", "out", "lockout"));
        assert!(!is_compound("Lock", "out", "lookout"));
        // As many bytes, and none of them starts a letter where the first word ends.
        assert!(!is_compound("ab", "cdef", "安全"));
        assert!(is_compound("Über", "sicht", "ubersicht"));
    }

    #[test]
    fn a_long_text_is_shown_around_its_first_match() {
        let text = format!("{}audit {}", "lorem ipsum ".repeat(30), "dolor sit ".repeat(60));
        let start = text.find("audit").expect("it is there");
        let html = html(&text, &[(start, start + 5)]);
        assert!(html.starts_with('…') && html.ends_with('…'), "{html}");
        assert!(html.contains("<mark>audit</mark>"), "{html}");
        assert!(html.chars().count() < 280, "{html}");
    }
}
