//! Links glossary terms in other text: the first mention of each, with its definition.

use std::cmp::Reverse;
use std::ops::Range;

use aho_corasick::{AhoCorasick, AhoCorasickKind, BuildError};
use foldhash::{HashMap, HashSet};

use super::edition::tag_of;
use crate::catalogue::GlossaryEntry;
use crate::record::Language;
use crate::text::append;
use crate::text::html::escape;
use crate::text::shorten::shortened;

/// Any terms beyond this many are ignored, and so are any of their names beyond this many.
const MAX_TERMS: usize = 5000;
const MAX_NAMES: usize = 20_000;

/// Longer names, in bytes, are ignored.
const MAX_NAME: usize = 100;

/// The maximum number of names that only differ in their plurals or their case.
const MAX_ALIKE: usize = 8;

/// How much of a page's text is searched for terms, in bytes, and how many places that could be a
/// mention are checked. Everything after that is only escaped.
const MAX_TEXT: usize = 64 * 1024;
const MAX_CHECKED: usize = 4000;

/// The maximum length of a definition shown next to a mention, in characters.
const MAX_DEFINITION: usize = 300;

/// An upper-case name up to this length, in bytes, counts as an abbreviation, which only matches in
/// its own case: CAPA is an abbreviation, but "capa" is a different word.
const MAX_ABBREVIATION: usize = 5;

/// Finds mentions of terms.
#[derive(Debug)]
pub(super) struct TermIndex {
    /// Finds each name's [`pattern`].
    automaton: AhoCorasick,
    /// The names by pattern; all names with the same pattern have equally many words.
    names: Vec<Vec<Name>>,
}

#[derive(Debug, PartialEq)]
struct Name {
    /// The words, folded.
    words: Vec<String>,
    /// The name exactly as it must be written; `None` if case doesn't matter.
    exact: Option<String>,
    term: usize,
}

/// A word of a text.
struct Word {
    /// Where it starts in the text's [`pattern`].
    at: usize,
    place: Range<usize>,
    folded: String,
}

impl TermIndex {
    pub(super) fn new(glossary: &[GlossaryEntry]) -> Result<Self, BuildError> {
        let names =
            glossary.iter().take(MAX_TERMS).enumerate().flat_map(|(term, GlossaryEntry { term: entry, .. })| {
                let is_short = |name: &str| name.len() <= MAX_ABBREVIATION && name == name.to_uppercase();
                let translated = entry.translations.of("term").map(|(_, name)| name);
                let written = std::iter::once(&entry.term).chain(&entry.synonyms).map(String::as_str).chain(translated);
                let written = written.map(move |name| (name, is_short(name)));
                let all = written.chain(entry.abbreviations.iter().map(|name| (&**name, true)));
                all.map(move |(name, is_exact)| (term, name, is_exact))
            });
        let mut by_pattern: HashMap<String, Vec<Name>> = HashMap::default();
        for (term, name, is_exact) in names.filter(|(_, name, _)| name.len() <= MAX_NAME).take(MAX_NAMES) {
            let (mut pattern, words) = pattern(name);
            // Between the words of a mention, there's only space or a hyphen.
            pattern.retain(|c| c != GAP);
            let words: Vec<_> = words.into_iter().map(|word| word.folded).collect();
            let exact = is_exact.then(|| name.to_owned());
            let alike = by_pattern.entry(pattern).or_default();
            let is_new = alike.iter().all(|other| (&other.words, &other.exact) != (&words, &exact));
            if is_new && !words.is_empty() && alike.len() < MAX_ALIKE {
                alike.push(Name { words, exact, term });
            }
        }
        by_pattern.remove("");
        let (patterns, names): (Vec<_>, Vec<_>) = by_pattern.into_iter().unzip();
        let automaton = AhoCorasick::builder().kind(Some(AhoCorasickKind::ContiguousNFA)).build(patterns)?;
        Ok(Self { automaton, names })
    }

    /// The terms that the text mentions, with each mention's place, in the text's order. Checks at
    /// most `left` places that could be a mention. Of several names that start at the same word, it
    /// returns the longest.
    fn find(&self, text: &str, left: &mut usize) -> Vec<(usize, Range<usize>)> {
        let (pattern, words) = pattern(text);
        let found = self.automaton.find_overlapping_iter(&pattern).take(*left).filter_map(|found| {
            let first = words.binary_search_by_key(&found.start(), |word| word.at).ok()?;
            let alike = &self.names[found.pattern().as_usize()];
            Some((first, Reverse(alike.first()?.words.len()), alike))
        });
        let mut found: Vec<_> = found.collect();
        *left -= found.len();
        found.sort_unstable_by_key(|(first, length, _)| (*first, *length));
        let mentions = found.into_iter().filter_map(|(first, Reverse(length), alike)| {
            let words = words.get(first..first + length)?;
            let place = words.first()?.place.start..words.last()?.place.end;
            let name = alike.iter().find(|name| name.is_written(words, &text[place.clone()]))?;
            Some((name.term, place))
        });
        let mut mentions: Vec<_> = mentions.collect();
        mentions.dedup_by_key(|(_, place)| place.start);
        mentions
    }
}

impl Name {
    fn is_written(&self, words: &[Word], mention: &str) -> bool {
        let is_form = |(wanted, word): (&String, &Word)| {
            let ends = ["", "s", "es"];
            word.folded.strip_prefix(wanted.as_str()).is_some_and(|end| ends.contains(&end))
        };
        let is_exact = |exact: &String| mention.strip_prefix(exact.as_str()).is_some_and(|end| matches!(end, "" | "s"));
        self.words.iter().zip(words).all(is_form) && self.exact.as_ref().is_none_or(is_exact)
    }
}

/// Marks where a word starts in a pattern.
const START: char = '\u{1}';

/// Marks where a word ends.
const END: char = '\u{2}';

/// Marks that there's more than space or a hyphen between two words.
const GAP: char = '\u{3}';

/// A text's words, folded and without their plural endings, and where they are. A mention's pattern
/// contains its term's pattern; the reverse isn't always true.
fn pattern(text: &str) -> (String, Vec<Word>) {
    let (mut pattern, mut words, mut end) = (String::with_capacity(text.len() * 2), Vec::new(), 0);
    while let Some(start) = text[end..].find(char::is_alphanumeric).map(|at| end + at) {
        let is_joined = text[end..start].chars().all(|c| c.is_whitespace() || c == '-' || c == '\u{2010}');
        end = text[start..].find(|c: char| !c.is_alphanumeric()).map_or(text.len(), |length| start + length);
        let folded = text[start..end].to_lowercase();
        pattern.extend((!is_joined).then_some(GAP));
        let at = pattern.len();
        pattern.push(START);
        pattern.push_str(folded.trim_end_matches(['e', 's']));
        pattern.push(END);
        words.push(Word { at, place: start..end, folded });
    }
    (pattern, words)
}

/// Links the terms in a page's text.
pub(super) struct TermLinker<'a> {
    index: &'a TermIndex,
    glossary: &'a [GlossaryEntry],
    /// A term's URL; empty if it has none.
    href: &'a dyn Fn(usize) -> String,
    /// Of the definitions.
    language: Option<&'a Language>,
    mentioned: HashSet<usize>,
    /// How many bytes of text may still be searched.
    text_left: usize,
    /// How many places may still be checked.
    checks_left: usize,
}

impl<'a> TermLinker<'a> {
    pub(super) fn new(
        index: &'a TermIndex,
        glossary: &'a [GlossaryEntry],
        href: &'a dyn Fn(usize) -> String,
        language: Option<&'a Language>,
    ) -> Self {
        let (text_left, checks_left) = (MAX_TEXT, MAX_CHECKED);
        Self { index, glossary, href, language, mentioned: HashSet::default(), text_left, checks_left }
    }

    /// The text as HTML.
    pub(super) fn link(&mut self, text: &str) -> String {
        let Some(text_left) = self.text_left.checked_sub(text.len()) else { return escape(text) };
        self.text_left = text_left;
        let (mut html, mut done) = (String::with_capacity(text.len()), 0);
        for (term, place) in self.index.find(text, &mut self.checks_left) {
            if place.start < done {
                continue;
            }
            let Some(entry) = self.glossary.get(term).filter(|_| self.mentioned.insert(term)) else { continue };
            html.push_str(&escape(&text[done..place.start]));
            let shown = entry.term.localised(self.language);
            let definition = shortened(&shown.definition, MAX_DEFINITION);
            // The surrounding text may be in another language.
            let tag = tag_of(self.language, shown.language.as_ref(), &shown.untranslated, "definition");
            append(
                &mut html,
                format_args!(
                    "<span class=\"term\"><a href=\"{}\" aria-describedby=\"about-{id}\">{}</a>\
                 <span class=\"about-term\" role=\"tooltip\" id=\"about-{id}\"><bdi lang=\"{}\">{}</bdi></span></span>",
                    escape(&(self.href)(term)),
                    escape(&text[place.clone()]),
                    escape(tag),
                    escape(&definition),
                    id = escape(&entry.term.id)
                ),
            );
            done = place.end;
        }
        html.push_str(&escape(&text[done..]));
        html
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::resource::GlossaryTermResource;
    use crate::scratch::Span;

    fn href(term: usize) -> String {
        format!("/glossary?q=a&b#{term}")
    }

    fn entry(term: &str, abbreviation: &str) -> GlossaryEntry {
        let term = GlossaryTermResource {
            id: term.to_lowercase().replace(' ', "-"),
            term: term.to_owned(),
            definition: "What <it> means.".to_owned(),
            abbreviations: vec![abbreviation.to_owned()],
            ..GlossaryTermResource::default()
        };
        GlossaryEntry { term, object: Span { start: 0, length: 0 } }
    }

    /// The linked mentions in some text.
    fn mentions(text: &str) -> Vec<String> {
        let glossary = [entry("Near miss", "NM"), entry("Permit to work", "PTW"), entry("Permit", "CAPA")];
        let index = TermIndex::new(&glossary).expect("few names");
        let html = TermLinker::new(&index, &glossary, &href, None).link(text);
        let links = html.split("<a href").skip(1).filter_map(|link| link.split_once('>')?.1.split_once("</a>"));
        links.map(|(text, _)| text.to_owned()).collect()
    }

    #[test]
    fn first_mention_of_each_term_is_linked() {
        assert_eq!(mentions("Near-misses, near misses and a permit to  work"), ["Near-misses", "permit to  work"]);
        assert_eq!(mentions("Permits to work for a permit"), ["Permits to work", "permit"]);
        assert_eq!(
            mentions("capa CAPAs Permit"),
            ["CAPAs"],
            "abbreviations match only in their own case, and each term is linked once"
        );
        assert_eq!(mentions("nearmiss permitted near, miss"), [""; 0]);
    }

    #[test]
    fn longest_name_at_a_word_is_linked_once_and_its_parts_are_not() {
        assert_eq!(mentions("permit to work, permit to work, a permit"), ["permit to work", "permit"]);
        assert_eq!(mentions("NMs, near misses' permits; mis, permite"), ["NMs", "permits"]);
    }

    #[test]
    fn work_for_a_page_is_bounded_whatever_the_terms_are() {
        // Each word of the text could begin any of these names, and each name ends differently.
        let glossary: Vec<_> =
            (0..MAX_TERMS).map(|number| entry(&format!("{} {number}", "a ".repeat(20)), "")).collect();
        let index = TermIndex::new(&glossary).expect("built");
        let mut linker = TermLinker::new(&index, &glossary, &href, None);
        let text = format!("{} 4999", "a ".repeat(1000));
        assert!(linker.link(&text).contains("4999</a>"));
        assert_eq!(linker.checks_left, MAX_CHECKED - 1, "only the one place where a name ends");
        // Every word ends twenty names.
        let glossary: Vec<_> = (1..=20).map(|words| entry("a ".repeat(words).trim_end(), "")).collect();
        let index = TermIndex::new(&glossary).expect("built");
        let mut linker = TermLinker::new(&index, &glossary, &href, None);
        assert!(linker.link(&"a ".repeat(1000)).starts_with("<span"));
        assert_eq!(linker.checks_left, 0, "the rest of the text is left as it is");
        // A page's texts share the limits.
        let glossary = [entry("Near miss", "NM")];
        let index = TermIndex::new(&glossary).expect("built");
        let mut linker = TermLinker::new(&index, &glossary, &href, None);
        for _ in 0..2 {
            let text = "x".repeat(MAX_TEXT / 2);
            assert_eq!(linker.link(&text), text);
        }
        assert_eq!(linker.link("near miss"), "near miss");
    }

    #[test]
    fn text_and_definitions_are_escaped() {
        let glossary = [entry("Near miss", "NM")];
        let index = TermIndex::new(&glossary).expect("few names");
        let html = TermLinker::new(&index, &glossary, &href, None).link("<b> near miss & \"more\"");
        assert!(html.starts_with("&lt;b&gt; <span class=\"term\"><a href=\"/glossary?q=a&amp;b#0\""), "{html}");
        assert!(html.contains("What &lt;it&gt; means.") && html.ends_with(" &amp; &quot;more&quot;"), "{html}");
    }
}
