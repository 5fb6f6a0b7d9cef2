//! Recognises queries that, as a whole, refer to one product: by its name or an alias, a variant
//! spelling of either, its id, or its website.

use unicode_normalization::UnicodeNormalization;

use super::plan::{Alternative, MatchKind, Plan, Term, TermLookup, WordGroup};
use super::query::{ParsedQuery, parse};
use crate::record::{Software, normalised_url};
use crate::text::analyse::{Gap, Word, compound, is_dash, is_quote, key_without_conjunctions, name_key, words};

/// The products that a query names.
#[derive(Debug, Default)]
pub(super) struct Identified {
    pub(super) terms: Vec<Term>,
    /// Whether the query is a name, in which case its words don't express an intent.
    pub(super) is_name: bool,
    /// Whether the query's words don't need to be searched for, because it has none or is a URL.
    pub(super) is_all: bool,
}

/// Finds the products that the whole query refers to. The name as written takes precedence over a
/// variant spelling, any name over an id, and an id over a website.
pub(super) fn identify<L: TermLookup>(lookup: &L, text: &str, words: &[Word]) -> Result<Identified, L::Error> {
    let known = |term: &Term| Ok(lookup.document_frequency(term)? > 0);
    let key = whole_key(text, words);
    let text = text.trim();
    let is_url = text.contains("://");
    if !is_url {
        for term in name_terms(&key, words) {
            if known(&term)? {
                return Ok(Identified { terms: vec![term], is_name: true, is_all: words.is_empty() });
            }
        }
    }
    if text.contains(char::is_whitespace) {
        return Ok(Identified::default());
    }
    if !is_url {
        let id = text.to_lowercase();
        let is_other = id != key;
        let id = Term::Identity(id.into());
        if is_other && known(&id)? {
            return Ok(Identified { terms: vec![id], is_name: false, is_all: false });
        }
        if !text.contains('.') {
            return Ok(Identified::default());
        }
    }
    let website = if is_url { website(text) } else { website(&format!("https://{text}")) };
    if known(&website)? {
        return Ok(Identified { terms: vec![website], is_name: false, is_all: true });
    }
    Ok(Identified::default())
}

/// Parses a query. If it's a name that only looks as if it contained an exclusion (`gofmt -s`), its
/// symbols aren't operators.
pub fn read<L: TermLookup>(lookup: &L, text: &str) -> Result<ParsedQuery, L::Error> {
    let parsed = parse(text);
    if parsed.excluded.is_empty() || lookup.document_frequency(&signed(text, &words(text)))? == 0 {
        return Ok(parsed);
    }
    Ok(ParsedQuery::plain(text))
}

/// The term for text that's a whole name, even one without words.
pub(super) fn name(text: &str, words: &[Word]) -> Term {
    Term::Name(whole_key(text, words).into())
}

/// Adds the terms that let a query find this name or alias as a whole.
pub(super) fn add_name(text: &str, words: &[Word], mut add: impl FnMut(Term)) {
    let key = whole_key(text, words);
    for other in [spelled_out(words), without_conjunctions(words)].into_iter().flatten().filter(|other| *other != key) {
        add(Term::Identity(other.into()));
    }
    for other in short_forms(text).into_iter().filter(|other| *other != key) {
        add(Term::Identity(other.into()));
    }
    if text.contains(is_dash) && !parse(text).excluded.is_empty() {
        add(signed(text, words));
    }
    add(Term::Name(key.into()));
}

/// Adds the other terms that find a product if they make up the whole query: its id and its website.
pub(super) fn add_product(software: &Software, mut add: impl FnMut(Term)) {
    let id = software.id.to_lowercase();
    if name_key(&words(&software.name)) != name_key(&words(&id)) {
        add(Term::Identity(id.into()));
    }
    add(website(&software.url));
}

/// Endings of names that say what a product is made with or what kind of thing it is.
const SUFFIXES: [&str; 7] = [".js", "JS", "SQL", "DB", "-cli", "-db", "-js"];

/// The keys of other forms of a name that people use: `AWS` for `Amazon Web Services (AWS)`, `Vue` for
/// `Vue.js`, and `Csharp` for `C#`.
fn short_forms(name: &str) -> Vec<String> {
    let in_brackets = name.strip_suffix(')').and_then(|name| name.rsplit_once('('));
    let acronym = in_brackets.filter(|(_, inside)| words(inside).first().is_some_and(|word| word.is_acronym(inside)));
    // The `S` of `PostgreSQL` belongs to both parts.
    let shared = name.strip_suffix("QL").filter(|base| base.ends_with('S'));
    let bases = SUFFIXES.iter().filter_map(|suffix| name.strip_suffix(suffix)).chain(shared);
    let bases = bases.filter(|base| base.len() > 2 && base.ends_with(char::is_alphanumeric));
    let spelled = name.replace('#', "sharp").replace("++", "plusplus");
    let spelled = spelled.strip_prefix('.').map_or(spelled.clone(), |rest| format!("dot{rest}"));
    let forms = acronym.into_iter().flat_map(|(before, inside)| [before, inside]).chain(bases).chain([&*spelled]);
    forms.map(|form| name_key(&words(form))).collect()
}

fn name_terms(key: &str, words: &[Word]) -> Vec<Term> {
    let plain = [Some(name_key(words)), without_conjunctions(words), spelled_out(words)];
    let mut keys: Vec<_> = std::iter::once(key.to_owned()).chain(plain.into_iter().flatten()).collect();
    keys.dedup();
    keys.retain(|key| !key.is_empty());
    let term = |of: fn(Box<str>) -> Term| keys.iter().map(move |key| of(key.as_str().into()));
    term(Term::Name).chain(term(Term::Identity)).collect()
}

fn website(url: &str) -> Term {
    Term::Identity(format!("//{}", normalised_url(url)).into())
}

/// A name's key: its words joined, plus any `+` and `#` that stand alone at its end (`Calculator
/// ++`). For a name without words, the key is all its symbols.
fn whole_key(text: &str, words: &[Word]) -> String {
    let Some(last) = words.last() else { return signs(text) };
    let mut key = name_key(words);
    let end = text[last.end..].trim();
    if end.chars().all(|c| matches!(c, '+' | '#') || c.is_whitespace()) {
        key.extend(end.chars().filter(|c| !c.is_whitespace()));
    }
    key
}

fn signs(text: &str) -> String {
    /// The variation selector that requests the emoji form of the character before it.
    const VARIATION: char = '\u{fe0f}';
    let plain = |c| match c {
        c if is_dash(c) => '-',
        c if is_quote(c) => '"',
        '’' => '\'',
        c => c,
    };
    let kept = text.nfkc().filter(|c| !c.is_whitespace() && *c != VARIATION);
    kept.map(plain).flat_map(char::to_lowercase).collect()
}

/// The key of a name that has a hyphen at the start of a word: `gofmt-s` for `gofmt -s`.
fn signed(text: &str, words: &[Word]) -> Term {
    let mut key = String::new();
    for word in words {
        let before = text[..word.start].trim_end_matches(is_quote);
        let bare = before.trim_end_matches(is_dash);
        if bare.len() < before.len() && bare.chars().next_back().is_none_or(char::is_whitespace) {
            key.push('-');
        }
        key.push_str(&word.folded);
    }
    Term::Identity(key.into())
}

/// A name's key without the conjunctions between its words; `None` if it has none. For `R and D`,
/// the key is `rd`.
fn without_conjunctions(words: &[Word]) -> Option<String> {
    let key = key_without_conjunctions(words.iter().map(|word| word.folded.as_str()));
    (key.len() < words.iter().map(|word| word.folded.len()).sum()).then_some(key)
}

/// A name's key with its umlauts spelled out; `None` if it has none.
fn spelled_out(words: &[Word]) -> Option<String> {
    let spelled: Vec<_> = words.iter().map(Word::spelled_out).collect();
    let is_any = spelled.iter().any(Option::is_some);
    let joined =
        || spelled.into_iter().zip(words).map(|(spelled, word)| spelled.unwrap_or_else(|| word.folded.clone()));
    is_any.then(|| joined().collect())
}

/// Plans a search for the products with exactly this name or alias.
pub fn plan_by_whole_name(text: &str) -> Plan {
    let alternatives = vec![Alternative::new(MatchKind::Name, name(text, &words(text)), 1.0)];
    Plan { groups: vec![WordGroup { alternatives, required: true, indispensable: false }], ..Plan::default() }
}

/// Plans a search by name: every query word must be the beginning of a word in the name or an
/// alias. Neighbouring words may be written as one word. A name without words is found only as a
/// whole. Returns `None` if the text is blank.
pub fn plan_by_name(text: &str) -> Option<Plan> {
    let typed = words(text);
    let name = name(text, &typed);
    let mut groups = Vec::with_capacity(typed.len());
    for (at, word) in typed.iter().enumerate() {
        let mut alternatives = vec![
            Alternative::new(MatchKind::Name, Term::NameWord(word.folded.as_str().into()), 1.0),
            Alternative::new(MatchKind::Prefix, Term::NamePrefix(word.folded.as_str().into()), 0.5),
        ];
        for second in [at, at + 1] {
            let Some(first) = second.checked_sub(1) else { continue };
            let Some(next) = typed.get(second).filter(|next| matches!(next.gap, Gap::Joined | Gap::Space)) else {
                continue;
            };
            let joined = compound(&typed[first], next);
            alternatives.push(Alternative::new(MatchKind::Name, Term::NameWord(joined.as_str().into()), 1.0));
            alternatives.push(Alternative::new(MatchKind::Prefix, Term::NamePrefix(joined.into()), 0.5));
        }
        groups.push(WordGroup { alternatives, required: true, indispensable: false });
    }
    if typed.is_empty() && !text.trim().is_empty() {
        groups = plan_by_whole_name(text).groups;
    }
    (!groups.is_empty()).then(|| Plan { groups, names: vec![name], ..Plan::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(text: &str) -> String {
        whole_key(text, &words(text))
    }

    #[test]
    fn a_key_includes_symbols_that_stand_alone() {
        assert_eq!(key("Rocket.Chat"), key("rocketchat"));
        assert_eq!(
            [key("Calculator ++"), key("Calculator++"), key("Calculator")],
            ["calculator++", "calculator++", "calculator"]
        );
        assert_eq!([key("A + B"), key("Yahoo!"), key("C # (old)")], ["ab", "yahoo", "cold"]);
        assert_eq!([key("++"), key("🦔"), key(" ❤\u{fe0f} "), key("")], ["++", "🦔", "❤", ""]);
        assert_eq!(key("& – ’"), key("& - '"));
    }

    #[test]
    fn a_signed_key_keeps_a_hyphen_before_a_word() {
        let signed = |text: &str| signed(text, &words(text));
        assert_eq!(signed("gofmt -s"), Term::Identity("gofmt-s".into()));
        assert_eq!(signed("Gofmt  –S "), signed("gofmt -s"));
        assert_ne!(signed("gofmt-s"), signed("gofmt -s"));
        assert_eq!(signed("-“Minus”"), Term::Identity("-minus".into()));
    }

    #[test]
    fn conjunctions_count_only_between_words() {
        let key = |text: &str| without_conjunctions(&words(text));
        assert_eq!(key("Research und Development").as_deref(), Some("researchdevelopment"));
        assert_eq!([key("And"), key("ET phone"), key("R&D"), key("this and")], [None, None, None, None]);
    }
}
