//! Links glossary terms in other text: the first mention of each, with its definition.

use std::fmt::Write as _;

use foldhash::{HashMap, HashSet};

use crate::catalogue::GlossaryEntry;
use crate::http::pages::edition::tag_of;
use crate::http::pages::links::of_term;
use crate::record::Language;
use crate::text::html::escape;
use crate::text::shorten::shortened;

/// Any terms beyond this many are ignored.
const MAX_TERMS: usize = 5000;

/// Text longer than this, in bytes, is escaped but not searched for terms.
const MAX_TEXT: usize = 64 * 1024;

/// The maximum length of a definition shown next to a mention, in characters.
const MAX_DEFINITION: usize = 300;

/// An upper-case name up to this length, in bytes, counts as an abbreviation, which only matches in
/// its own case: CAPA is an abbreviation, but "capa" is a different word.
const MAX_ABBREVIATION: usize = 5;

/// Finds mentions of terms.
#[derive(Debug, Default)]
pub(in crate::http::pages) struct TermIndex {
    /// Names by their folded first word, longest first.
    names: HashMap<String, Vec<Name>>,
}

#[derive(Debug)]
struct Name {
    /// The words after the first one, folded.
    words: Vec<String>,
    /// The name exactly as it must be written; `None` if case doesn't matter.
    exact: Option<String>,
    term: usize,
}

impl TermIndex {
    pub(in crate::http::pages) fn new(glossary: &[GlossaryEntry]) -> Self {
        let mut names: HashMap<String, Vec<Name>> = HashMap::default();
        for (term, GlossaryEntry { term: entry, .. }) in glossary.iter().take(MAX_TERMS).enumerate() {
            let is_short = |name: &str| name.len() <= MAX_ABBREVIATION && name == name.to_uppercase();
            let translated = entry.translations.of("term").map(|(_, name)| name);
            let written = std::iter::once(&entry.term).chain(&entry.synonyms).map(String::as_str).chain(translated);
            let written = written.map(|name| (name, is_short(name)));
            for (name, is_exact) in written.chain(entry.abbreviations.iter().map(|name| (&**name, true))) {
                let mut words = words(name).map(|(_, word)| word.to_lowercase());
                let Some(first) = words.next() else { continue };
                let exact = is_exact.then(|| name.to_owned());
                names.entry(first).or_default().push(Name { words: words.collect(), exact, term });
            }
        }
        for names in names.values_mut() {
            names.sort_by_key(|name| std::cmp::Reverse(name.words.len()));
        }
        Self { names }
    }

    /// The term that starts at the text's first word, and the end of the mention in bytes.
    fn find(&self, text: &str, first: &str) -> Option<(usize, usize)> {
        let first_forms = forms(first);
        first_forms.iter().filter_map(|form| self.names.get(form)).flatten().find_map(|name| {
            let mut end = first.len();
            let mut following = words(&text[end..]);
            for wanted in &name.words {
                let (at, word) = following.next()?;
                let start = first.len() + at;
                let is_joined = text[end..start].chars().all(|c| c.is_whitespace() || c == '-' || c == '\u{2010}');
                if !is_joined || !forms(word).contains(wanted) {
                    return None;
                }
                end = start + word.len();
            }
            let mention = &text[..end];
            let is_exact = name.exact.as_ref().is_none_or(|exact| {
                mention == exact || mention.strip_suffix('s').is_some_and(|singular| singular == exact)
            });
            is_exact.then_some((name.term, end))
        })
    }
}

/// A folded word, and the singulars that it might be the plural of.
fn forms(word: &str) -> Vec<String> {
    let folded = word.to_lowercase();
    let singulars: Vec<_> = ["s", "es"].iter().filter_map(|end| folded.strip_suffix(end)).map(str::to_owned).collect();
    std::iter::once(folded).chain(singulars).filter(|form| !form.is_empty()).collect()
}

/// A text's words, each with the byte offset where it starts.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + text[at..].find(char::is_alphanumeric)?;
        let end = text[start..].find(|c: char| !c.is_alphanumeric()).map_or(text.len(), |length| start + length);
        at = end;
        Some((start, &text[start..end]))
    })
}

/// Links the terms in a page's text.
#[derive(Debug)]
pub(in crate::http::pages) struct TermLinker<'a> {
    index: &'a TermIndex,
    glossary: &'a [GlossaryEntry],
    base: &'a str,
    /// Of the definitions.
    language: Option<&'a Language>,
    mentioned: HashSet<usize>,
}

impl<'a> TermLinker<'a> {
    pub(in crate::http::pages) fn new(
        index: &'a TermIndex,
        glossary: &'a [GlossaryEntry],
        base: &'a str,
        language: Option<&'a Language>,
    ) -> Self {
        Self { index, glossary, base, language, mentioned: HashSet::default() }
    }

    /// The text as HTML.
    pub(in crate::http::pages) fn link(&mut self, text: &str) -> String {
        if self.index.names.is_empty() || text.len() > MAX_TEXT {
            return escape(text);
        }
        let (mut html, mut done) = (String::with_capacity(text.len()), 0);
        for (at, word) in words(text) {
            if at < done {
                continue;
            }
            let Some((term, length)) = self.index.find(&text[at..], word) else { continue };
            let Some(entry) = self.glossary.get(term).filter(|_| self.mentioned.insert(term)) else { continue };
            html.push_str(&escape(&text[done..at]));
            let shown = entry.term.localised(self.language);
            let definition = shortened(&shown.definition, MAX_DEFINITION);
            // The surrounding text may be in another language.
            let tag = tag_of(self.language, shown.language.as_ref(), &shown.untranslated, "definition");
            // Writing to a string can't fail.
            let _ = write!(
                html,
                "<span class=\"term\"><a href=\"{}\" aria-describedby=\"about-{id}\">{}</a>\
                 <span class=\"about-term\" role=\"tooltip\" id=\"about-{id}\"><bdi lang=\"{}\">{}</bdi></span></span>",
                escape(&of_term(self.base, &entry.term.term)),
                escape(&text[at..at + length]),
                escape(tag),
                escape(&definition),
                id = escape(&entry.term.id),
            );
            done = at + length;
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
        let index = TermIndex::new(&glossary);
        let html = TermLinker::new(&index, &glossary, "", None).link(text);
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
    fn text_and_definitions_are_escaped() {
        let glossary = [entry("Near miss", "NM")];
        let index = TermIndex::new(&glossary);
        let html = TermLinker::new(&index, &glossary, "/base", None).link("<b> near miss & \"more\"");
        assert!(html.starts_with("&lt;b&gt; <span class=\"term\"><a href=\"/base/glossary?q=Near+miss\""), "{html}");
        assert!(html.contains("What &lt;it&gt; means.") && html.ends_with(" &amp; &quot;more&quot;"), "{html}");
    }
}
