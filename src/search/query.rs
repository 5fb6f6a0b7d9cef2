//! The query parser: words, "quoted phrases" and -exclusions. Typographic quotes and dashes are
//! operators like their ASCII forms.

use std::ops::Range;

use crate::text::analyse::{Gap, Word, is_dash, is_quote, words};

/// A query with at least this many words is treated as a question or sentence, in which function
/// words don't count.
pub const LONG_QUERY: usize = 5;

/// A parsed query. Any text is a valid query.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ParsedQuery {
    /// The words to find, including those in phrases, in order. Offsets refer to the query text.
    pub words: Vec<Word>,
    /// Ranges of indices into `words`.
    pub phrases: Vec<Range<usize>>,
    /// Each exclusion's words.
    pub excluded: Vec<Vec<Word>>,
    /// Whether the last word may be incomplete, because nothing follows it.
    pub last_is_open: bool,
}

/// Parses a query. An unpaired quote is punctuation. A hyphen excludes what follows only if it's
/// after white space (so `lock-out` excludes nothing) or at the start, and if it's before a word or
/// a quote.
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
            PartKind::Plain => query.words.append(&mut found),
            PartKind::Phrase => {
                let start = query.words.len();
                query.words.append(&mut found);
                if query.words.len() > start {
                    query.phrases.push(start..query.words.len());
                }
            }
            PartKind::Excluded if !found.is_empty() => query.excluded.push(found),
            PartKind::Excluded => {}
        }
        rest = next;
    }
    if let Some(first) = query.words.first_mut() {
        first.gap = Gap::Break;
    }
    query.last_is_open = query.words.last().is_some_and(|word| word.end == text.len());
    query
}

impl ParsedQuery {
    /// Parses a query without treating any symbols as operators.
    pub(super) fn plain(text: &str) -> Self {
        let words = words(text);
        let last_is_open = words.last().is_some_and(|word| word.end == text.len());
        Self { words, last_is_open, ..Self::default() }
    }

    pub fn is_in_phrase(&self, word: usize) -> bool {
        self.phrases.iter().any(|phrase| phrase.contains(&word))
    }

    /// Turns the words in phrases into plain words.
    #[must_use]
    pub fn without_phrases(mut self) -> Self {
        self.phrases.clear();
        self
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PartKind {
    Plain,
    Phrase,
    Excluded,
}

/// The next part of the query starting at `from`, and the offset of the part after it.
fn next_part(text: &str, from: usize) -> (Range<usize>, PartKind, usize) {
    let rest = &text[from..];
    if let Some(inside) = rest.strip_prefix(is_quote) {
        let start = text.len() - inside.len();
        return match quoted(text, start) {
            Some((phrase, next)) => (phrase, PartKind::Phrase, next),
            None => (start..text.len(), PartKind::Plain, text.len()),
        };
    }
    if let Some(behind) = rest.strip_prefix(is_dash).filter(|behind| excludes(&text[..from], behind)) {
        let start = text.len() - behind.len();
        if let Some(inside) = behind.strip_prefix(is_quote)
            && let Some((phrase, next)) = quoted(text, text.len() - inside.len())
        {
            return (phrase, PartKind::Excluded, next);
        }
        let end = start + behind.find(char::is_whitespace).unwrap_or(behind.len());
        return (start..end, PartKind::Excluded, end);
    }
    // The part ends at the next quote, or at the next hyphen that starts an exclusion.
    let mut before = None;
    let mut end = text.len();
    for (at, c) in rest.char_indices() {
        if at > 0 && (is_quote(c) || (is_dash(c) && before.is_some_and(char::is_whitespace))) {
            end = from + at;
            break;
        }
        before = Some(c);
    }
    (from..end, PartKind::Plain, end)
}

/// The text up to the next quote, and the offset after that.
fn quoted(text: &str, start: usize) -> Option<(Range<usize>, usize)> {
    let (length, quote) = text[start..].char_indices().find(|(_, c)| is_quote(*c))?;
    Some((start..start + length, start + length + quote.len_utf8()))
}

/// Whether a hyphen between these two strings excludes what follows it.
fn excludes(before: &str, behind: &str) -> bool {
    let mut next = behind.chars();
    let is_before_word = match next.next() {
        Some('.') => next.next().is_some_and(char::is_alphabetic),
        first => first.is_some_and(|c| c.is_alphanumeric() || is_quote(c)),
    };
    is_before_word && before.chars().next_back().is_none_or(char::is_whitespace) && !goes_on(before)
}

/// Whether the text ends with the first half of a pair of German compounds:
/// `Fehlermöglichkeits- und -einflussanalyse`.
fn goes_on(before: &str) -> bool {
    let mut words = before.split_whitespace().rev();
    let is_and = matches!(words.next(), Some("und" | "oder" | "and" | "or" | "&"));
    is_and && words.next().is_some_and(|first| first.len() > 1 && first.ends_with(is_dash))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folded(words: &[Word]) -> Vec<&str> {
        words.iter().map(|word| word.folded.as_str()).collect()
    }

    #[test]
    fn a_query_is_split_into_words_phrases_and_exclusions() {
        let query = parse("audit \"permit to work\" -legacy lock-out -\"on premises\" tool");
        assert_eq!(folded(&query.words), ["audit", "permit", "to", "work", "lock", "out", "tool"]);
        assert_eq!(query.phrases, vec![1..4]);
        let excluded: Vec<_> = query.excluded.iter().map(|words| folded(words)).collect();
        assert_eq!(excluded, [vec!["legacy"], vec!["on", "premises"]]);
    }

    #[test]
    fn the_second_half_of_a_compound_pair_is_not_an_exclusion() {
        let query = parse("Fehlermöglichkeits- und -einflussanalyse");
        assert_eq!(folded(&query.words), ["fehlermoglichkeits", "und", "einflussanalyse"]);
        assert!(query.excluded.is_empty());
        assert_eq!(parse("audit and -legacy").excluded.len(), 1);
    }

    #[test]
    fn a_hyphen_excludes_only_between_a_space_and_a_word() {
        let excluded = |text| parse(text).excluded.iter().map(|words| folded(words).concat()).collect::<Vec<_>>();
        assert_eq!(excluded("audit -legacy -.net -c++"), ["legacy", ".net", "c++"]);
        for text in ["lock-out", "lock -", "lock -- out", "lock -(out)", "lock -/out", "lock(-out"] {
            assert_eq!(excluded(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn stray_operators_are_punctuation() {
        for text in ["\"audit", "audit -", "- audit", "\"\" audit", "audit\"", "((audit", "--audit"] {
            let query = parse(text);
            assert_eq!(folded(&query.words), ["audit"], "{text}");
            assert!(query.phrases.is_empty() && query.excluded.is_empty(), "{text}");
        }
    }

    #[test]
    fn the_last_word_is_open_until_something_follows_it() {
        assert!(parse("permit wo").last_is_open);
        assert!(!parse("permit wo ").last_is_open);
        assert!(!parse("permit \"wo\"").last_is_open);
        assert!(!parse("").last_is_open);
    }
}
