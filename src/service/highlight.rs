//! Marks in a hit's texts what the query matched.

use serde::Deserialize;

use crate::catalogue::Ordinal;
use crate::resource::{Highlight, TextRange};
use crate::search::analyse::{Word, words};
use crate::search::expand::Expansion;
use crate::search::index::compound;
use crate::snapshot::Snapshot;

/// A text longer than this, in characters, is shown in part.
const EXCERPT: usize = 240;
/// How much of it stands before the first match, in characters.
const LEAD: usize = 60;

/// The texts of a product that can be marked, as its answer holds them.
#[derive(Debug, Deserialize)]
struct Answer {
    data: Texts,
}

#[derive(Debug, Deserialize)]
struct Texts {
    name: String,
    aliases: Vec<String>,
    tagline: Option<String>,
    categories: Vec<Named>,
    tags: Vec<String>,
    vendor: Option<String>,
    standards: Vec<String>,
    features: Vec<String>,
    description: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Named {
    name: String,
}

/// The fields of a product that the query matched, in the order of their weight; of a list each value that has a match.
pub(super) fn highlights(snapshot: &Snapshot, expansion: &Expansion, ordinal: Ordinal) -> Vec<Highlight> {
    if expansion.slots.is_empty() {
        return Vec::new();
    }
    // The answer was written from these very fields; were it otherwise, nothing would be marked.
    let Ok(Answer { data }) = serde_json::from_slice(&snapshot.catalogue.detail(ordinal)) else { return Vec::new() };
    let Texts { name, aliases, tagline, categories, tags, vendor, standards, features, description } = data;
    let fields = [
        ("name", vec![name]),
        ("aliases", aliases),
        ("tagline", tagline.into_iter().collect()),
        ("categories", categories.into_iter().map(|category| category.name).collect()),
        ("tags", tags),
        ("vendor", vendor.into_iter().collect()),
        ("standards", standards),
        ("features", features),
        ("description", description.into_iter().collect()),
    ];
    let values = fields.iter().flat_map(|(field, texts)| texts.iter().map(move |text| (*field, text)));
    values.filter_map(|(field, text)| highlight(snapshot, expansion, field, text)).collect()
}

fn highlight(snapshot: &Snapshot, expansion: &Expansion, field: &str, text: &str) -> Option<Highlight> {
    let words = words(text);
    let mut marked = vec![false; words.len()];
    for at in 0..words.len() {
        marked[at] |= is_match(snapshot, expansion, &words[at]);
        if let Some(next) = words.get(at + 1)
            && expansion.slots.iter().any(|slot| slot.word.folded == compound(&words[at], next))
        {
            (marked[at], marked[at + 1]) = (true, true);
        }
    }
    let search = &snapshot.search;
    for mention in search.thesaurus.mentions(text, &words, &search.stems, false) {
        if mention.means.iter().any(|concept| expansion.concepts.contains(concept)) {
            marked[mention.start..mention.end].fill(true);
        }
    }
    let spans = merged(text, words.iter().zip(marked).filter_map(|(word, is)| is.then_some((word.start, word.end))));
    if spans.is_empty() {
        return None;
    }
    let ranges = spans.iter().map(|(start, end)| TextRange {
        start: text[..*start].chars().count() as u64,
        length: text[*start..*end].chars().count() as u64,
    });
    Some(Highlight { field: field.to_owned(), ranges: ranges.collect(), html: html(text, &spans) })
}

/// Whether a word stands for one of the query's.
fn is_match(snapshot: &Snapshot, expansion: &Expansion, word: &Word) -> bool {
    let lexicon = &snapshot.search.lexicon;
    let is_stem = lexicon.word(&word.folded).is_some_and(|word| expansion.stems.contains_key(&lexicon.stem_of(word)));
    is_stem
        || expansion
            .slots
            .iter()
            .any(|slot| slot.prefix.as_ref().is_some_and(|prefix| word.folded.starts_with(prefix.as_str())))
}

/// Matches side by side, with nothing but white space between them, are one.
fn merged(text: &str, spans: impl Iterator<Item = (usize, usize)>) -> Vec<(usize, usize)> {
    let mut merged: Vec<(usize, usize)> = Vec::new();
    for (start, end) in spans {
        match merged.last_mut() {
            Some(last) if start <= last.1 || text[last.1..start].chars().all(char::is_whitespace) => {
                last.1 = end.max(last.1);
            }
            _ => merged.push((start, end)),
        }
    }
    merged
}

/// The text, or the part of it that has the first match, with everything escaped but our own marks.
fn html(text: &str, spans: &[(usize, usize)]) -> String {
    let (from, to) = excerpt(text, spans.first().map_or(0, |span| span.0));
    let mut html = String::with_capacity(to - from + spans.len() * 16);
    if from > 0 {
        html.push('…');
    }
    let mut at = from;
    for (start, end) in spans.iter().copied().filter(|(start, end)| *start >= from && *end <= to) {
        escape(&text[at..start], &mut html);
        html.push_str("<mark>");
        escape(&text[start..end], &mut html);
        html.push_str("</mark>");
        at = end;
    }
    escape(&text[at..to], &mut html);
    if to < text.len() {
        html.push('…');
    }
    html
}

/// The part of a text to show, in bytes; it begins and ends between words where it can.
fn excerpt(text: &str, first_match: usize) -> (usize, usize) {
    if text.chars().count() <= EXCERPT {
        return (0, text.len());
    }
    let start = text[..first_match].char_indices().rev().nth(LEAD).map_or(0, |(at, _)| at);
    let from = if start == 0 {
        0
    } else {
        text[start..first_match].find(char::is_whitespace).map_or(start, |at| start + at).min(first_match)
    };
    let from = first_match - text[from..first_match].trim_start().len();
    let end = text[from..].char_indices().nth(EXCERPT).map_or(text.len(), |(at, _)| from + at);
    if end == text.len() {
        return (from, end);
    }
    let to = text[from..end].rfind(char::is_whitespace).map_or(end, |at| from + at);
    (from, if to > first_match { to } else { end })
}

fn escape(text: &str, out: &mut String) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
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
    fn a_long_text_is_shown_around_its_first_match() {
        let text = format!("{}audit {}", "lorem ipsum ".repeat(30), "dolor sit ".repeat(60));
        let start = text.find("audit").expect("it is there");
        let html = html(&text, &[(start, start + 5)]);
        assert!(html.starts_with('…') && html.ends_with('…'), "{html}");
        assert!(html.contains("<mark>audit</mark>"), "{html}");
        assert!(html.chars().count() < 280, "{html}");
    }
}
