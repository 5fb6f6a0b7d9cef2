//! The query parser: words, "quoted phrases" and -exclusions.

use crate::text::analyse::{Gap, Word, words};

/// From this many words on, a query is a question or sentence, and function words don't count.
pub const LONG_QUERY: usize = 5;

/// A parsed query. Any text is a valid query.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ParsedQuery {
    /// The words to find, including those in phrases, in order. Offsets refer to the query text.
    pub words: Vec<Word>,
    /// Ranges of indices into `words`.
    pub phrases: Vec<std::ops::Range<usize>>,
    /// The words of each exclusion.
    pub excluded: Vec<Vec<Word>>,
    /// Whether the last word may still be typed: nothing follows it.
    pub last_is_open: bool,
}

/// Parses a query. An unpaired quote is punctuation. A hyphen excludes only at the start of a word
/// after white space (so `lock-out` excludes nothing), and only if something follows it.
pub fn parse(text: &str) -> ParsedQuery {
    let mut query = ParsedQuery::default();
    let mut rest = 0;
    while rest < text.len() {
        let (part, kind, next) = next_part(text, rest);
        let offset = part.start;
        let mut found = words(&text[part.clone()]);
        for word in &mut found {
            word.start += offset;
            word.end += offset;
        }
        match kind {
            Kind::Plain => query.words.append(&mut found),
            Kind::Phrase => {
                let start = query.words.len();
                query.words.append(&mut found);
                if query.words.len() > start {
                    query.phrases.push(start..query.words.len());
                }
            }
            Kind::Excluded if !found.is_empty() => query.excluded.push(found),
            Kind::Excluded => {}
        }
        rest = next;
    }
    if let Some(first) = query.words.first_mut() {
        first.gap = Gap::Break;
    }
    let ends_with_word = query.words.last().is_some_and(|word| word.end == text.len());
    query.last_is_open = ends_with_word;
    query
}

impl ParsedQuery {
    pub fn is_in_phrase(&self, word: usize) -> bool {
        self.phrases.iter().any(|phrase| phrase.contains(&word))
    }

    /// Turns the words of phrases into plain words.
    #[must_use]
    pub fn without_phrases(mut self) -> Self {
        self.phrases.clear();
        self
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Plain,
    Phrase,
    Excluded,
}

/// The next part of the query from `from` on, and the offset of the one that follows.
fn next_part(text: &str, from: usize) -> (std::ops::Range<usize>, Kind, usize) {
    let rest = &text[from..];
    if let Some(inside) = rest.strip_prefix('"') {
        return match inside.find('"') {
            Some(length) => (from + 1..from + 1 + length, Kind::Phrase, from + length + 2),
            None => (from + 1..text.len(), Kind::Plain, text.len()),
        };
    }
    let starts_word = text[..from].chars().next_back().is_none_or(char::is_whitespace);
    if starts_word
        && !goes_on(&text[..from])
        && rest.starts_with('-')
        && rest[1..].starts_with(|c: char| !c.is_whitespace() && c != '-')
    {
        if let Some(inside) = rest[1..].strip_prefix('"')
            && let Some(length) = inside.find('"')
        {
            return (from + 2..from + 2 + length, Kind::Excluded, from + length + 3);
        }
        let length = rest.find(char::is_whitespace).unwrap_or(rest.len());
        return (from + 1..from + length, Kind::Excluded, from + length);
    }
    // Ends at the next quote, or the next hyphen that starts an exclusion.
    let mut before = None;
    let mut end = text.len();
    for (at, c) in rest.char_indices() {
        if at > 0 && (c == '"' || (c == '-' && before.is_some_and(char::is_whitespace))) {
            end = from + at;
            break;
        }
        before = Some(c);
    }
    (from..end, Kind::Plain, end)
}

/// Whether the text ends like the first half of a German pair of compounds: `Fehlermöglichkeits-
/// und -einflussanalyse`.
fn goes_on(before: &str) -> bool {
    let mut words = before.split_whitespace().rev();
    let is_and = matches!(words.next(), Some("und" | "oder" | "and" | "or" | "&"));
    is_and && words.next().is_some_and(|first| first.len() > 1 && first.ends_with('-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folded(words: &[Word]) -> Vec<&str> {
        words.iter().map(|word| word.folded.as_str()).collect()
    }

    #[test]
    fn phrases_and_exclusions_are_told_from_words() {
        let query = parse("audit \"permit to work\" -legacy lock-out -\"on premises\" tool");
        assert_eq!(folded(&query.words), ["audit", "permit", "to", "work", "lock", "out", "tool"]);
        assert_eq!(query.phrases, vec![1..4]);
        let excluded: Vec<_> = query.excluded.iter().map(|words| folded(words)).collect();
        assert_eq!(excluded, [vec!["legacy"], vec!["on", "premises"]]);
    }

    #[test]
    fn second_half_of_a_pair_of_compounds_is_no_exclusion() {
        let query = parse("Fehlermöglichkeits- und -einflussanalyse");
        assert_eq!(folded(&query.words), ["fehlermoglichkeits", "und", "einflussanalyse"]);
        assert!(query.excluded.is_empty());
        assert_eq!(parse("audit and -legacy").excluded.len(), 1);
    }

    #[test]
    fn stray_signs_are_punctuation() {
        for text in ["\"audit", "audit -", "- audit", "\"\" audit", "audit\"", "((audit", "--audit"] {
            let query = parse(text);
            assert_eq!(folded(&query.words), ["audit"], "{text}");
            assert!(query.phrases.is_empty() && query.excluded.is_empty(), "{text}");
        }
    }

    #[test]
    fn the_last_word_is_open_until_something_follows() {
        assert!(parse("permit wo").last_is_open);
        assert!(!parse("permit wo ").last_is_open);
        assert!(!parse("permit \"wo\"").last_is_open);
        assert!(!parse("").last_is_open);
    }
}
