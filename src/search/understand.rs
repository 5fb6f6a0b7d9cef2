//! Resolves a query's intent (`intent.rs`) by checking which of its names are in the index.

use std::ops::Range;

use super::SearchIndex;
use super::conjunction;
use super::cue::{self, Certainty, names_kind};
use super::intent::{Intent, is_intent_word};
use super::plan::{Alternative, MatchKind, Phrase, Term, TermLookup};
use super::query::{LONG_QUERY, ParsedQuery};
use crate::text::analyse::{Word, compound, name_key, written};
use crate::text::english;

#[derive(Debug, Default)]
pub(super) struct Understood {
    /// The product that the query asks for alternatives to.
    pub(super) subject: Option<Subject>,
    /// The indices of the words that express the intent, which aren't searched for.
    pub(super) cues: Vec<usize>,
    /// The exclusion after a `not`, as written.
    pub(super) left_out: Option<String>,
    pub(super) excluded: Exclusion,
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
    let intent = Intent::of(text, words);
    let is_plain = |of: &Range<usize>| !of.clone().any(|at| query.is_in_phrase(at));
    let key = |of: &Range<usize>| name_key(&words[of.clone()]);
    if let Some(excluded) = intent.excluded.filter(|of| words.len() < LONG_QUERY && is_plain(&of.words)) {
        let name = Term::Name(key(&excluded.words).into());
        let is_name = lookup.document_frequency(&name)? > 0;
        if is_name || excluded.is_certain {
            understood.cues.extend(std::iter::once(excluded.not).chain(excluded.words.clone()));
            if is_name {
                understood.excluded.terms.push(name);
            } else {
                understood.excluded.add(index, text, &words[excluded.words.clone()]);
            }
            understood.left_out = Some(written(text, &words[excluded.words]).to_owned());
        }
    }
    if let Some(sides) = intent.compared.filter(|sides| sides.iter().all(is_plain)) {
        understood.is_comparison = true;
        understood.cues.extend(sides[0].end..sides[1].start);
        understood.names.extend(sides.iter().map(|side| Term::Name(key(side).into())));
    }
    for subject in intent.subjects.into_iter().filter(|of| is_plain(&of.words)) {
        let is_cue = |at: &usize| {
            let word = &words[*at];
            subject.cue.contains(at)
                || is_intent_word(text, word)
                || names_kind(&word.folded)
                || english::is_function_word(&word.folded)
        };
        let (cues, others): (Vec<_>, Vec<_>) =
            (0..words.len()).filter(|at| !subject.words.contains(at)).partition(is_cue);
        let Some(standing) = standing(index, lookup, words, &subject, others.is_empty())? else { continue };
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

/// Whether a name next to a cue is a product to replace. `is_all` means that the query contains
/// nothing else.
fn standing<L: TermLookup>(
    index: &SearchIndex,
    lookup: &L,
    words: &[Word],
    subject: &cue::Subject,
    is_all: bool,
) -> Result<Option<Standing>, L::Error> {
    let key = name_key(&words[subject.words.clone()]);
    let is_known = |term: &Term| lookup.document_frequency(term).map(|frequency| frequency > 0);
    let is_replaced = is_known(&Term::AlternativeTo(key.as_str().into()))?;
    match subject.certainty {
        Certainty::Description if !is_replaced || !is_all => return Ok(None),
        Certainty::Likely if !is_replaced && !is_all => return Ok(None),
        Certainty::Explicit | Certainty::Likely if is_replaced => return Ok(Some(Standing::Replaced)),
        _ => {}
    }
    let is_named = is_known(&Term::Name(key.into()))?;
    match subject.certainty {
        Certainty::Description => return Ok((!is_named).then_some(Standing::Replaced)),
        Certainty::Likely if is_named && subject.words.end == subject.cue.start => {
            // Two words that appear next to each other in records belong together: `git clone`.
            let joined = compound(&words[subject.words.end - 1], &words[subject.cue.start]);
            let is_one = is_known(&Term::Compound(index.stems.of(&joined).into()))?;
            return Ok((!is_one).then_some(Standing::Named));
        }
        Certainty::Explicit | Certainty::Likely => {}
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
    let mut alternatives = vec![Alternative { kind: MatchKind::AlternativeTo, term: replaced, weight: 1.0 }];
    let weight = index.ranking.subject_category;
    alternatives.extend(categories.into_iter().map(|id| Alternative {
        kind: MatchKind::Category,
        term: Term::Category(id.into()),
        weight,
    }));
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
    alternatives.extend(rarest.map(|(_, term)| Alternative {
        kind: MatchKind::Mention,
        term,
        weight: index.ranking.mention,
    }));
    Ok(alternatives)
}
