//! Queries for free text.
//!
//! A search is at most two requests: a strict one for products with all the words, and, only if
//! that finds few, a loose one for products with any of them, misspelled or not. Both put exact names
//! first. Boosts keep the kinds of matches apart, because scores by words stay far below them.

use serde_json::{Value, json};

use super::filter::ids;
use super::index::View;
use crate::catalogue::resource::Correction;
use crate::search::query::{ParsedQuery, parse};
use crate::service::Prefix;
use crate::text::analyse::{Word, words, written};
use crate::text::stem::Stems;

/// Words beyond this number are left out. A query may have 1,024 clauses.
const MAX_WORDS: usize = 60;
/// Only this many words are looked up in single fields, which takes a clause for each field.
const MAX_FIELD_WORDS: usize = 20;
/// Queries with more words than this are looked up in single fields without synonyms, and have no
/// variants or misspellings, all of which takes many clauses for each word.
const MAX_VARIED_WORDS: usize = 12;
/// How many variants of a query, with synonyms instead of words, are searched for at most.
const MAX_VARIANTS: usize = 6;
/// If a strict search finds fewer products than this, a loose one follows.
pub(super) const FEW: u64 = 10;

/// The boost of an exact name, of the first pinned product, and of the next.
const NAME: f64 = 1e5;
const PINNED: f64 = 5e4;
const NEXT_PINNED: f64 = 1e3;
/// The boost of products with all the words in a loose search.
const ALL: f64 = 1e4;

/// The score that's shown as one half. Scores by words are rarely far from it.
const MIDDLE_SCORE: f32 = 20.0;

/// The names of clauses, reported with each hit.
pub(super) const IS_NAME: &str = "name";
pub(super) const IS_PINNED: &str = "pinned";

/// The fields that words are looked up in, with boosts.
const FIELDS: [&str; 11] = [
    "name^3",
    "aliases^3",
    "tagline^2",
    "categories.name^2",
    "tags^2",
    "features^2",
    "alternative_to^2",
    "standards",
    "vendor",
    "description",
    "directory.text",
];

/// The fields with text in languages other than English.
const OTHER_LANGUAGES: [&str; 3] = ["directory.german", "directory.french", "directory.other"];

/// A query, understood as far as that's possible without the index.
#[derive(Debug)]
pub(super) struct TextQuery<'q> {
    pub(super) text: &'q str,
    pub(super) parsed: ParsedQuery,
    /// The words to find, without exclusions.
    plain: String,
    /// The first of these words, for scores.
    scored: String,
    /// The same as `plain` with exports' synonyms instead of words.
    variants: Vec<String>,
    pub(super) synonyms: Vec<Correction>,
    pub(super) pinned: Vec<String>,
    /// Whether there's text in other languages than English.
    has_languages: bool,
    prefix: Prefix,
}

impl<'q> TextQuery<'q> {
    pub(super) fn new(text: &'q str, prefix: Prefix, view: &View) -> Self {
        let mut parsed = parse(text.trim());
        let text = text.trim();
        parsed.words.truncate(MAX_WORDS);
        parsed.phrases.retain(|phrase| phrase.end <= parsed.words.len());
        parsed.excluded.truncate(MAX_WORDS);
        let first = |count: usize| {
            let words = &parsed.words[..count.min(parsed.words.len())];
            match words.last() {
                None => String::new(),
                Some(last) if parsed.excluded.is_empty() => text[..last.end].to_owned(),
                Some(_) => words.iter().map(|word| &text[word.start..word.end]).collect::<Vec<_>>().join(" "),
            }
        };
        let (plain, scored) = (first(MAX_WORDS), first(MAX_FIELD_WORDS));
        let folded = parsed.words.iter().map(|word| word.folded.as_str());
        let pinned = view.pins.of(folded).into_iter().map(|(_, id)| id.to_owned()).collect();
        let is_short = parsed.words.len() <= MAX_VARIED_WORDS;
        let (variants, synonyms) = if is_short { variants(&plain, view) } else { Default::default() };
        let has_languages = view.catalogue.tables.languages.all().iter().any(|language| !language.is_english());
        Self { text, parsed, plain, scored, variants, synonyms, pinned, has_languages, prefix }
    }

    fn is_short(&self) -> bool {
        self.parsed.words.len() <= MAX_VARIED_WORDS
    }

    /// What the query excludes, as written.
    pub(super) fn excluded(&self) -> Vec<String> {
        self.parsed.excluded.iter().map(|words| written(self.text, words).to_owned()).collect()
    }

    /// A query for products with all the words, including those that are named or pinned.
    pub(super) fn strict(&self) -> Value {
        let mut scores = vec![self.by_fields("query"), json!({"match": {"all": all(&self.plain)}})];
        scores.extend(self.by_languages());
        self.with_names(json!({"bool": {"filter": [self.all_words()], "should": scores}}))
    }

    /// A query for products with any of the words.
    pub(super) fn loose(&self, typo: bool) -> Value {
        let any = |text: &String| json!({"match": {"all": {"query": text, "analyzer": "loose_synonyms"}}});
        let mut any: Vec<_> = std::iter::once(&self.plain).chain(&self.variants).map(any).collect();
        any.extend(self.by_languages());
        if typo && self.is_short() {
            any.push(json!({"match": {"all": {
                "query": self.plain, "analyzer": "loose", "operator": "and", "fuzziness": "AUTO", "prefix_length": 1,
                "max_expansions": 20, "boost": 5,
            }}}));
        }
        if self.prefix != Prefix::Never && self.parsed.last_is_open {
            any.push(
                json!({"match_bool_prefix": {"all": {"query": self.plain, "operator": "and", "max_expansions": 20}}}),
            );
        }
        let has_all = json!({"constant_score": {"filter": self.all_words(), "boost": ALL}});
        let must = json!({"bool": {"should": any, "minimum_should_match": 1}});
        self.with_names(json!({"bool": {"must": [must], "should": [has_all, self.by_fields("loose_synonyms")]}}))
    }

    /// A filter for products with all the words and phrases, in any language, or with synonyms.
    pub(super) fn all_words(&self) -> Value {
        let texts = || std::iter::once(&self.plain).chain(&self.variants);
        let mut any: Vec<_> = texts().map(|text| json!({"match": {"all": all(text)}})).collect();
        if self.has_languages {
            any.extend(OTHER_LANGUAGES.map(|field| json!({"match": {field: all(&self.plain)}})));
        }
        if self.prefix == Prefix::Always {
            any.push(json!({"match_bool_prefix": {"all": {"query": self.plain, "operator": "and"}}}));
        }
        let phrases = self.parsed.phrases.iter().map(|phrase| self.phrase(&self.parsed.words[phrase.clone()]));
        json!({"bool": {"filter": phrases.collect::<Vec<_>>(), "should": any, "minimum_should_match": 1}})
    }

    fn by_fields(&self, analyzer: &str) -> Value {
        let analyzer = if self.is_short() { analyzer } else { "loose" };
        json!({"multi_match": {
            "query": self.scored, "type": "best_fields", "tie_breaker": 0.3, "fields": FIELDS, "analyzer": analyzer,
        }})
    }

    fn by_languages(&self) -> impl Iterator<Item = Value> {
        let fields = OTHER_LANGUAGES.into_iter().filter(|_| self.has_languages);
        fields.map(|field| json!({"match": {field: self.scored}}))
    }

    fn phrase(&self, words: &[Word]) -> Value {
        json!({"match_phrase": {"all": {"query": written(self.text, words)}}})
    }

    /// Adds exact names and pinned products. Exclusions don't apply to a name that contains them.
    fn with_names(&self, query: Value) -> Value {
        let excluded: Vec<_> = self.parsed.excluded.iter().map(|words| self.phrase(words)).collect();
        let pinned = (0..).zip(&self.pinned).map(|(place, id)| {
            let boost = PINNED - NEXT_PINNED * f64::from(place);
            json!({"constant_score": {"filter": ids(std::iter::once(&**id)), "boost": boost, "_name": IS_PINNED}})
        });
        let without: Vec<_> = pinned.chain([query]).collect();
        let without = json!({"bool": {"should": without, "minimum_should_match": 1, "must_not": excluded}});
        json!({"bool": {"should": [named(self.text), without], "minimum_should_match": 1}})
    }
}

/// A clause for products with exactly this name.
fn named(text: &str) -> Value {
    let any = ["name", "aliases"].map(|field| json!({"term": {format!("{field}.keyword"): text}}));
    let filter = json!({"bool": {"should": any}});
    json!({"constant_score": {"boost": NAME, "filter": filter, "_name": IS_NAME}})
}

fn all(text: &str) -> Value {
    json!({"query": text, "operator": "and"})
}

/// The text with exports' synonyms instead of the terms that they stand for.
fn variants(text: &str, view: &View) -> (Vec<String>, Vec<Correction>) {
    let (mut variants, mut synonyms) = (Vec::new(), Vec::new());
    let words = words(text);
    for mention in view.thesaurus.mentions(text, &words, &Stems::default(), true) {
        let range = words[mention.start].start..words[mention.end - 1].end;
        let terms = mention.asks.iter().flat_map(|concept| view.thesaurus.terms_of(*concept));
        for term in terms.filter(|term| ***term != *mention.term) {
            let variant = [&text[..range.start], term, &text[range.end..]].concat();
            if variants.len() < MAX_VARIANTS && !variants.contains(&variant) {
                variants.push(variant);
                synonyms.push(Correction { from: text[range.clone()].to_owned(), to: term.to_string() });
            }
        }
    }
    (variants, synonyms)
}

/// A query for names that have each of the words, or one that starts with it; `None` if there are no
/// words. Names that are or start with the text come first.
pub(super) fn names(text: &str) -> Option<Value> {
    let text = text.trim();
    let words = words(text);
    let each = words.iter().take(MAX_WORDS).map(|word| {
        json!({"multi_match": {
            "query": &text[word.start..word.end], "type": "bool_prefix",
            "fields": ["name.prefix", "aliases.prefix"],
        }})
    });
    let each: Vec<_> = each.collect();
    let starts = json!({"constant_score": {"boost": 1e3, "filter": {"prefix": {"name.keyword": {"value": text}}}}});
    (!each.is_empty()).then(|| json!({"bool": {"must": each, "should": [named(text), starts]}}))
}

/// A query for products like these.
pub(super) fn like(documents: &[Value], fields: &[&str]) -> Value {
    json!({"more_like_this": {
        "fields": fields, "like": documents, "min_term_freq": 1, "min_doc_freq": 2, "max_query_terms": 25,
        "minimum_should_match": 1,
    }})
}

/// Scales a score to 0 to 1.
pub(super) fn scaled(score: f32) -> f32 {
    score / (score + MIDDLE_SCORE)
}
