//! Recognises a query's intent (`alternative to Slack`, `Jira vs Asana`, `audit software not
//! spreadsheets`), and resolves it by checking which of its names are in the index.

use std::ops::Range;
use std::sync::LazyLock;

use foldhash::HashSet;

use super::alternatives::{MOST_WORDS, Words};
use super::plan::{Alternative, MatchKind, Phrase, Term, TermLookup};
use super::query::{LONG_QUERY, ParsedQuery};
use super::{SearchIndex, conjunction};
use crate::text::analyse::{Gap, Word, compound, is_dash, name_key, written};
use crate::text::{is_listed, language};

/// Intent words. They describe the kind of answer (a program, a good one, another one) rather than
/// its subject, so they don't count if other words match something.
pub(crate) const WORDS: Words = "alternative alternatives apps best clone competitor competitors equivalent equivalents \
    free instead like replace replacement replacements replaces similar software something substitute substitutes \
    tools top versus vs";

/// Whether a folded word names a kind of product but, unlike `tools`, can also be part of a
/// product's description (`a merge tool`). Such words are optional.
pub(super) fn is_kind(folded: &str) -> bool {
    matches!(folded, "app" | "tool")
}

/// Whether a word expresses intent rather than being part of another word: `rogue-like`.
pub(crate) fn is_intent_word(text: &str, word: &Word) -> bool {
    static LISTED: LazyLock<HashSet<&str>> = LazyLock::new(|| WORDS.split(' ').collect());
    word.gap != Gap::Joined && !text[word.end..].starts_with(is_dash) && LISTED.contains(&*word.folded)
}

/// The words on both sides of a `vs` or an `or`.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Compared {
    sides: [Range<usize>; 2],
    /// Whether it's a `vs`. Otherwise, one of the sides must be the name of a product.
    is_certain: bool,
}

/// A name or words after a `not` or `without`.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Excluded {
    /// Index of the `not`.
    not: usize,
    words: Range<usize>,
    kind: Negation,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Negation {
    /// Written `NOT`, as a search operator.
    Operator,
    /// `not`, which excludes a name.
    Not,
    /// `without`, `no`: what follows is merely unwanted.
    Without,
}

const NEGATIONS: Words = "no not ohne sans senza sin without";
const OR: Words = "o oder or ou";
const VERSUS: Words = "versus vs";

fn is(words: &[Word], at: usize, any: Words) -> bool {
    words.get(at).is_some_and(|word| is_listed(any, &word.folded))
}

/// The words on both sides of a query's only `vs` or `or`, if both sides are short enough to be
/// names.
fn compared(words: &[Word]) -> Option<Compared> {
    let is_certain = (0..words.len()).any(|at| is(words, at, VERSUS));
    let between = if is_certain { VERSUS } else { OR };
    let mut all = (0..words.len()).filter(|at| is(words, *at, between));
    let (at, None) = (all.next()?, all.next()) else { return None };
    let sides = [0..at, at + 1..words.len()];
    sides.iter().all(|side| (1..=MOST_WORDS).contains(&side.len())).then_some(Compared { sides, is_certain })
}

/// The words after the last `not` or `without`, up to the next function word, if other words
/// precede it.
fn excluded(text: &str, words: &[Word]) -> Option<Excluded> {
    let not = (1..words.len()).rfind(|at| is(words, *at, NEGATIONS))?;
    let kind = match &text[words[not].start..words[not].end] {
        "NOT" => Negation::Operator,
        _ if words[not].folded == "not" => Negation::Not,
        _ => Negation::Without,
    };
    let most = if kind == Negation::Operator { 1 } else { words.len() };
    let behind = words[not + 1..].iter().take(most);
    let count =
        behind.take_while(|word| kind == Negation::Operator || !language::is_function_word(&word.folded)).count();
    let words = not + 1..not + 1 + count;
    ((1..=MOST_WORDS).contains(&count)).then_some(Excluded { not, words, kind })
}

/// A `NOT` or `without` with the words after it, and whether these are excluded rather than merely
/// unwanted.
pub(super) fn negated(text: &str, words: &[Word]) -> Option<(Range<usize>, bool)> {
    let Excluded { not, words, kind } = excluded(text, words).filter(|of| of.kind != Negation::Not)?;
    Some((not..words.end, kind == Negation::Operator))
}

/// What it takes for a name next to a cue to count as the product to replace. A name always counts
/// if some record is listed as an alternative to it, except with
/// [`Description`](Certainty::Description).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Certainty {
    /// The cue hardly ever means anything else, so it's enough if a product has the name.
    Explicit,
    /// Like [`Explicit`](Self::Explicit), but in a query with many other words, the cue is part of a
    /// description (`types keys, similar to xdotool for X11`), as if it were [`Likely`](Self::Likely).
    Clear,
    /// The cue may mean something else (`git clone`, `replace text`). It's enough if a product has
    /// the name, as long as the query contains nothing else.
    Likely,
    /// The cue describes the product that's wanted (`open source Trello`), which may be the named
    /// product itself. So some record must be listed as an alternative to it, no product may have
    /// the name, and the query may not contain anything else.
    Description,
}

struct Cue {
    /// The words that may appear at each position; any word if there are none.
    words: &'static [Words],
    /// Whether the cue comes before the name.
    precedes: bool,
    certainty: Certainty,
}

const ALTERNATIVE: Words = "alternativa alternativas alternative alternativen alternatives competitor competitors";
const REPLACEMENT: Words = "clone clones equivalent equivalents ersatz reemplazo remplacant replacement replacements \
    sostituto substitute substitutes sustituto";
const SIMILAR: Words =
    "ahnlich ahnliche ahnliches parecido parecidos similaire similaires similar similares simile simili";
const PREPOSITION: Words = "a al au de di for fur of para per pour to von wie zu";
const REPLACE: Words = "reemplazar remplacer replace replaces replacing sostituire";
const MOVE: Words = "migrate migrating migration move moving switch switching away";
const INSTEAD: Words = "anstelle instead invece lieu lugar place posto vez";
const OF: Words = "de del di du of von";
pub(crate) const KIND: Words =
    "anything app application applications apps program programs service services software something tool tools";
const PLATFORM: Words = "android ios linux mac macos ubuntu windows";

/// How many words beside a product to replace are optional. A query with more of them describes
/// something.
pub(super) const MOST_BESIDE: usize = 3;

const fn before(words: &'static [Words], certainty: Certainty) -> Cue {
    Cue { words, precedes: true, certainty }
}

const fn after(words: &'static [Words], certainty: Certainty) -> Cue {
    Cue { words, precedes: false, certainty }
}

/// All cues, which come before or after a name. If several begin with the same word, the first one
/// with a known name counts.
const CUES: [Cue; 19] = [
    before(&[ALTERNATIVE, PREPOSITION], Certainty::Explicit),
    before(&[ALTERNATIVE, "", PREPOSITION], Certainty::Explicit),
    after(&[ALTERNATIVE], Certainty::Explicit),
    before(&[REPLACEMENT, PREPOSITION], Certainty::Likely),
    after(&[REPLACEMENT], Certainty::Likely),
    before(&[SIMILAR, PREPOSITION], Certainty::Clear),
    after(&[OR, SIMILAR], Certainty::Clear),
    before(&[KIND, "like"], Certainty::Clear),
    before(&["etwas so", "wie"], Certainty::Clear),
    before(&["algo chose qualcosa", "come comme como"], Certainty::Clear),
    before(&[REPLACE], Certainty::Likely),
    after(&["ersetzen"], Certainty::Likely),
    before(&[INSTEAD, OF], Certainty::Clear),
    before(&["anstatt statt"], Certainty::Clear),
    before(&[MOVE, "from"], Certainty::Likely),
    before(&["open", "source"], Certainty::Description),
    before(&["self", "hosted"], Certainty::Description),
    before(&["opensource foss selfhosted"], Certainty::Description),
    after(&["auf en for fur on para pour sur", PLATFORM], Certainty::Description),
];

/// The name of a product that the query may be asking for alternatives to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PossibleSubject {
    pub(crate) words: Range<usize>,
    pub(crate) cue: Range<usize>,
    pub(crate) certainty: Certainty,
}

impl PossibleSubject {
    /// The certainty in a query with this many other words, which is never
    /// [`Clear`](Certainty::Clear).
    pub(crate) fn certainty_beside(&self, others: usize) -> Certainty {
        match self.certainty {
            Certainty::Clear if others > MOST_BESIDE => Certainty::Likely,
            Certainty::Clear => Certainty::Explicit,
            certain => certain,
        }
    }
}

/// The names of products that a query may be asking for alternatives to, longest first for each
/// cue.
pub(crate) fn subjects(words: &[Word]) -> Vec<PossibleSubject> {
    static FIRST: LazyLock<HashSet<&str>> =
        LazyLock::new(|| CUES.iter().flat_map(|cue| cue.words[0].split(' ')).collect());
    let mut subjects = Vec::new();
    for at in (0..words.len()).filter(|at| FIRST.contains(&*words[*at].folded)) {
        for cue in CUES.iter().filter(|cue| cue.is_at(words, at)) {
            let range = at..at + cue.words.len();
            let (start, end) = (range.start, range.end);
            let beside = if cue.precedes { words.len() - end } else { start };
            let names = (1..=beside.min(MOST_WORDS))
                .rev()
                .map(|length| if cue.precedes { end..end + length } else { start - length..start });
            subjects.extend(names.map(|words| PossibleSubject { words, cue: range.clone(), certainty: cue.certainty }));
        }
    }
    subjects
}

/// Whether a folded word next to the name of the product to replace only says what kind of thing is
/// wanted.
pub(crate) fn names_kind(folded: &str) -> bool {
    is_listed(KIND, folded)
}

impl Cue {
    /// Whether the cue starts at this word in the query, with a name next to it.
    fn is_at(&self, words: &[Word], at: usize) -> bool {
        let end = at + self.words.len();
        let Some(found) = words.get(at..end) else { return false };
        (if self.precedes { end < words.len() } else { at > 0 })
            && found.iter().zip(self.words).all(|(word, any)| any.is_empty() || is_listed(any, &word.folded))
    }
}

#[derive(Debug, Default)]
pub(super) struct Understood {
    /// The product that the query asks for alternatives to.
    pub(super) subject: Option<Subject>,
    /// The indices of the words that express the intent, which aren't searched for.
    pub(super) cues: Vec<usize>,
    /// The exclusion after a `not`, as written.
    pub(super) left_out: Option<String>,
    pub(super) excluded: Exclusion,
    /// The words after a `without`.
    pub(super) unwanted: Option<Range<usize>>,
    /// Product names to match as a whole.
    pub(super) names: Vec<Term>,
    /// Whether the query compares two products, so that no product has to contain all the words.
    pub(super) is_comparison: bool,
}

/// The terms and phrases that no hit may contain.
#[derive(Debug, Default)]
pub(super) struct Exclusion {
    pub(super) terms: Vec<Term>,
    pub(super) phrases: Vec<Phrase>,
}

#[derive(Debug)]
pub(super) struct Subject {
    pub(super) words: Range<usize>,
    pub(super) written: String,
    pub(super) alternatives: Vec<Alternative>,
    /// The product itself, if no record is listed as an alternative to it.
    pub(super) similar_to: Option<Term>,
}

/// Resolves a query's intent. Only names in the index count.
pub(super) fn understand<L: TermLookup>(
    index: &SearchIndex,
    lookup: &L,
    text: &str,
    query: &ParsedQuery,
) -> Result<Understood, L::Error> {
    let words = &query.words;
    let mut understood = Understood::default();
    if words.len() < 2 {
        return Ok(understood);
    }
    let is_plain = |of: &Range<usize>| !of.clone().any(|at| query.is_in_phrase(at));
    let key = |of: &Range<usize>| name_key(&words[of.clone()]);
    let is_known = |term: &Term| lookup.document_frequency(term).map(|frequency| frequency > 0);
    if let Some(Excluded { not, words: of, kind }) = excluded(text, words)
        .filter(|of| (of.kind == Negation::Without || words.len() < LONG_QUERY) && is_plain(&of.words))
    {
        let name = Term::Name(key(&of).into());
        let is_name = kind != Negation::Without && is_known(&name)?;
        // In `no code`, the words belong together.
        let joined = Term::Compound(index.stems.of(&compound(&words[not], &words[of.start])).into());
        let is_one = is(words, not, "no not") && is_known(&joined)?;
        if is_name || kind == Negation::Operator {
            understood.cues.extend(not..of.end);
            understood.left_out = Some(written(text, &words[of.clone()]).to_owned());
            if is_name {
                understood.excluded.terms.push(name);
            } else {
                understood.excluded.add(index, text, &words[of]);
            }
        } else if !is_one {
            understood.cues.extend(not..of.end);
            understood.unwanted = Some(of);
        }
    }
    if let Some(Compared { sides, is_certain }) = compared(words).filter(|of| of.sides.iter().all(is_plain)) {
        let names = sides.clone().map(|side| Term::Name(key(&side).into()));
        if is_certain || is_known(&names[0])? || is_known(&names[1])? {
            understood.is_comparison = true;
            understood.cues.extend(sides[0].end..sides[1].start);
            understood.names.extend(names);
        }
    }
    for subject in subjects(words).into_iter().filter(|of| is_plain(&of.words)) {
        let is_cue = |at: &usize| {
            let word = &words[*at];
            subject.cue.contains(at)
                || is_intent_word(text, word)
                || names_kind(&word.folded)
                || language::is_function_word(&word.folded)
        };
        let (cues, others): (Vec<_>, Vec<_>) =
            (0..words.len()).filter(|at| !subject.words.contains(at)).partition(is_cue);
        let Some(standing) = standing(index, lookup, words, &subject, others.len())? else { continue };
        let name = &words[subject.words.clone()];
        let term = Term::Name(name_key(name).into());
        understood.cues.extend(cues);
        understood.excluded.terms.push(term.clone());
        understood.subject = Some(Subject {
            words: subject.words,
            written: written(text, name).to_owned(),
            alternatives: alternatives_to(index, lookup, name, standing)?,
            similar_to: (standing == Standing::Named).then_some(term),
        });
        break;
    }
    Ok(understood)
}

impl Exclusion {
    /// Excludes products that contain a word in any form, or several words in a row. Two words
    /// count even if they're written as one.
    pub(super) fn add(&mut self, index: &SearchIndex, text: &str, words: &[Word]) {
        let lexicon = &index.lexicon;
        if let [word] = words {
            self.terms.extend(lexicon.word(&word.folded).map(|word| Term::Word(lexicon.stem_of(word))));
            if !text[word.start..word.end].contains('&') {
                return;
            }
        }
        if let [first, second] = words {
            let joined = compound(first, second);
            self.terms.extend(lexicon.word(&joined).map(|word| Term::Word(lexicon.stem_of(word))));
            self.terms.push(Term::Compound(index.stems.of(&joined).into()));
        }
        self.phrases.extend(conjunction::phrase(lexicon, text, words));
    }
}

/// What the records indicate about a product to replace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    /// Some records are listed as alternatives to the product.
    Replaced,
    /// A record has the product's name, and none is listed as an alternative to it.
    Named,
}

/// Whether a name next to a cue is a product to replace, in a query with this many other words.
fn standing<L: TermLookup>(
    index: &SearchIndex,
    lookup: &L,
    words: &[Word],
    subject: &PossibleSubject,
    others: usize,
) -> Result<Option<Standing>, L::Error> {
    let key = name_key(&words[subject.words.clone()]);
    let is_known = |term: &Term| lookup.document_frequency(term).map(|frequency| frequency > 0);
    let is_replaced = is_known(&Term::AlternativeTo(key.as_str().into()))?;
    let (certainty, is_all) = (subject.certainty_beside(others), others == 0);
    match certainty {
        Certainty::Description if !is_replaced || !is_all => return Ok(None),
        Certainty::Likely if !is_replaced && !is_all => return Ok(None),
        Certainty::Explicit | Certainty::Clear | Certainty::Likely if is_replaced => {
            return Ok(Some(Standing::Replaced));
        }
        _ => {}
    }
    let is_named = is_known(&Term::Name(key.into()))?;
    match certainty {
        Certainty::Description => return Ok((!is_named).then_some(Standing::Replaced)),
        Certainty::Likely if is_named && subject.words.end == subject.cue.start => {
            // Two words that appear next to each other in records belong together: `git clone`.
            let joined = compound(&words[subject.words.end - 1], &words[subject.cue.start]);
            let is_one = is_known(&Term::Compound(index.stems.of(&joined).into()))?;
            return Ok((!is_one).then_some(Standing::Named));
        }
        Certainty::Explicit | Certainty::Clear | Certainty::Likely => {}
    }
    Ok(is_named.then_some(Standing::Named))
}

/// The alternatives to a name: records listed as alternatives to the product; the product's
/// categories, or those records' categories if there's no such product; and the name's rarest word.
fn alternatives_to<L: TermLookup>(
    index: &SearchIndex,
    lookup: &L,
    name: &[Word],
    standing: Standing,
) -> Result<Vec<Alternative>, L::Error> {
    let key = name_key(name);
    let replaced = Term::AlternativeTo(key.as_str().into());
    let mut categories = lookup.categories(&Term::Name(key.into()))?;
    if categories.is_empty() && standing == Standing::Replaced {
        categories = lookup.categories(&replaced)?;
    }
    let mut alternatives = vec![Alternative::new(MatchKind::AlternativeTo, replaced, 1.0)];
    let weight = index.ranking.subject_category;
    alternatives.extend(
        categories.into_iter().map(|id| Alternative::new(MatchKind::Category, Term::Category(id.into()), weight)),
    );
    let mut rarest = None;
    for word in name {
        let Some(word) = index.lexicon.word(&word.folded) else { continue };
        let term = Term::Word(index.lexicon.stem_of(word));
        let frequency = lookup.document_frequency(&term)?;
        if frequency > 0 && rarest.as_ref().is_none_or(|(least, _)| frequency < *least) {
            rarest = Some((frequency, term));
        }
    }
    // A product that merely mentions the name may be an add-on for that product.
    alternatives.extend(rarest.map(|(_, term)| Alternative::new(MatchKind::Mention, term, index.ranking.loose)));
    Ok(alternatives)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::analyse::words;

    #[test]
    fn a_clear_cue_is_part_of_a_description_in_a_longer_query() {
        let found = super::subjects(&words("something like Trello"));
        assert_eq!(found[0].certainty_beside(MOST_BESIDE), Certainty::Explicit);
        assert_eq!(found[0].certainty_beside(MOST_BESIDE + 1), Certainty::Likely);
        let found = super::subjects(&words("alternative to Trello"));
        assert_eq!(found[0].certainty_beside(MOST_BESIDE + 1), Certainty::Explicit);
    }

    #[test]
    fn two_names_are_compared() {
        let compared = |text| super::compared(&words(text)).map(|of| (of.sides, of.is_certain));
        assert_eq!(compared("jira vs asana"), Some(([0..1, 2..3], true)));
        assert_eq!(compared("power bi versus tableau"), Some(([0..2, 3..4], true)));
        for text in ["jira or asana", "jira oder asana", "jira ou asana", "jira o asana"] {
            assert_eq!(compared(text), Some(([0..1, 2..3], false)), "{text}");
        }
        for text in ["vs code", "a vs b vs c", "jira vs", "a or b or c"] {
            assert_eq!(compared(text), None, "{text}");
        }
    }

    #[test]
    fn a_not_between_words_excludes_what_follows_it() {
        let excluded = |text| super::excluded(text, &words(text)).map(|of| (of.not, of.words, of.kind));
        assert_eq!(excluded("audit NOT legacy tools"), Some((1, 2..3, Negation::Operator)));
        assert_eq!(excluded("crm not acme cloud"), Some((1, 2..4, Negation::Not)));
        assert_eq!(excluded("wiki without database for teams"), Some((1, 2..3, Negation::Without)));
        assert_eq!(excluded("Wiki ohne Datenbank"), Some((1, 2..3, Negation::Without)));
        for text in ["not acme", "audit not", "whether or not a b c d e"] {
            assert_eq!(excluded(text), None, "{text}");
        }
    }

    fn subjects(text: &str) -> Vec<String> {
        let words = words(text);
        let written = |of: &PossibleSubject| text[words[of.words.start].start..words[of.words.end - 1].end].to_owned();
        super::subjects(&words).iter().map(written).collect()
    }

    #[test]
    fn subjects_are_found_on_either_side_of_a_cue() {
        assert_eq!(subjects("alternative to google drive"), ["google drive", "google"]);
        assert_eq!(subjects("free google drive replacement"), ["free google drive", "google drive", "drive"]);
        assert_eq!(subjects("something like zapier"), ["zapier"]);
        assert_eq!(subjects("programs like zapier"), ["zapier"]);
        assert_eq!(subjects("apps similar to jira"), ["jira"]);
        assert_eq!(subjects("replace power bi"), ["power bi", "power"]);
        assert_eq!(subjects("switch from power bi"), ["power bi", "power"]);
        assert_eq!(subjects("open-source Trello"), ["Trello"]);
        assert_eq!(subjects("self hosted Trello"), ["Trello"]);
        assert_eq!(subjects("photoshop for linux"), ["photoshop"]);
        let texts = "Alternative zu Trello, Trello Alternative, Ersatz für Trello, etwas wie Trello, statt Trello, \
            alternative à Trello, quelque chose comme Trello, à la place de Trello, Trello ou similaire, \
            alternativa a Trello, algo como Trello, en lugar de Trello, Trello or similar, qualcosa come Trello, \
            al posto di Trello, simile a Trello, what can I use instead of Trello";
        for text in texts.split(", ") {
            assert!(subjects(text).contains(&"Trello".to_owned()), "{text}");
        }
        for text in ["audit software", "i like slack", "alternative", "similar audits", "open doors", "for linux"] {
            assert_eq!(subjects(text), [""; 0], "{text}");
        }
    }
}
