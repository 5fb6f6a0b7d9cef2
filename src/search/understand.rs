//! Resolves a query's intent (`intent.rs`): which of its names are in the index.

use std::ops::Range;

use super::SearchIndex;
use super::conjunction;
use super::intent::{Intent, is_intent_word, is_kind};
use super::plan::{Alternative, Documents, Kind, Phrase, Term};
use super::query::{LONG_QUERY, ParsedQuery};
use crate::text::analyse::{Word, compound, name_key, written};
use crate::text::english;

#[derive(Debug, Default)]
pub(super) struct Understood {
    /// The name whose alternatives are sought.
    pub(super) subject: Option<Subject>,
    /// Indices of the words that express the intent. They aren't searched.
    pub(super) cues: Vec<usize>,
    /// The exclusion after a `not`, as written.
    pub(super) left_out: Option<String>,
    pub(super) excluded: Exclusion,
    /// Product names to match as a whole.
    pub(super) names: Vec<Term>,
    /// Whether two products are compared, so that no product has to have all words.
    pub(super) is_comparison: bool,
}

/// What no hit has.
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
}

/// Resolves a query's intent. Only names in the index count.
pub(super) fn understand<D: Documents>(
    index: &SearchIndex,
    documents: &D,
    text: &str,
    query: &ParsedQuery,
) -> Result<Understood, D::Error> {
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
        let is_name = documents.document_frequency(&name)? > 0;
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
        let name = &words[subject.words.clone()];
        let Some(alternatives) = alternatives_to(index, documents, name, subject.is_certain)? else { continue };
        let is_cue = |word: &Word| {
            is_intent_word(text, word) || is_kind(&word.folded) || english::is_function_word(&word.folded)
        };
        let others = (0..words.len()).filter(|at| !subject.words.contains(at));
        understood.cues.extend(others.filter(|at| is_cue(&words[*at])));
        understood.excluded.terms.push(Term::Name(name_key(name).into()));
        let written = written(text, name).to_owned();
        understood.subject = Some(Subject { words: subject.words, written, alternatives });
        break;
    }
    Ok(understood)
}

impl Exclusion {
    /// Excludes products with a word in any form, or with several words in a row. Two words written
    /// as one are excluded too.
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

/// The alternatives for a name to replace: records that call themselves an alternative to it; the
/// categories of the product, or else of those records; and the rarest word of the name. `None` if
/// no record is an alternative and, for a `certain` intent, none has the name.
fn alternatives_to<D: Documents>(
    index: &SearchIndex,
    documents: &D,
    name: &[Word],
    certain: bool,
) -> Result<Option<Vec<Alternative>>, D::Error> {
    let key = name_key(name);
    let replaced = Term::AlternativeTo(key.as_str().into());
    let is_replaced = documents.document_frequency(&replaced)? > 0;
    let mut categories = Vec::new();
    if is_replaced || certain {
        categories = documents.categories(&Term::Name(key.into()))?;
    }
    if categories.is_empty() && is_replaced {
        categories = documents.categories(&replaced)?;
    }
    if !is_replaced && categories.is_empty() {
        return Ok(None);
    }
    let mut alternatives = vec![Alternative { kind: Kind::AlternativeTo, term: replaced, weight: 1.0 }];
    let weight = index.ranking.subject_category;
    alternatives.extend(categories.into_iter().map(|id| Alternative {
        kind: Kind::Category,
        term: Term::Category(id.into()),
        weight,
    }));
    let mut rarest = None;
    for word in name {
        let Some(word) = index.lexicon.word(&word.folded) else { continue };
        let term = Term::Word(index.lexicon.stem_of(word));
        let frequency = documents.document_frequency(&term)?;
        if frequency > 0 && rarest.as_ref().is_none_or(|(least, _)| frequency < *least) {
            rarest = Some((frequency, term));
        }
    }
    // A product that merely mentions the name may be an add-on for it.
    alternatives.extend(rarest.map(|(_, term)| Alternative {
        kind: Kind::Mention,
        term,
        weight: index.ranking.mention,
    }));
    Ok(Some(alternatives))
}
