//! Expands each word of a query to the alternatives that match it, and plans the search.

mod attributes;
mod correction;
mod slot;
mod synonyms;
mod words;

pub use self::slot::Slot;

use std::ops::Range;
use std::sync::Arc;

use serde::Serialize;

use self::attributes::Recognised;
use self::slot::{MOST_SEARCHED, drop_where_others_find, relax};
use crate::catalogue::resource::QueryReport;
use crate::search::budget::Budget;
use crate::search::identity::{Identified, identify};
use crate::search::intent::{Exclusion, MOST_BESIDE, Understood, is_intent_word, negated, understand};
use crate::search::lexicon::WordId;
use crate::search::meaning::reference;
use crate::search::plan::{
    Alternative, MatchKind, Meaning, Phrase, Plan, Related, Signals, StemSlots, Term, TermLookup, WordGroup,
};
use crate::search::query::{LONG_QUERY, ParsedQuery, parse};
use crate::search::score::group_weight;
use crate::search::{SearchIndex, conjunction};
use crate::text::analyse::{Gap, Word, written};
use crate::text::english;
use crate::text::meaning::Reference;

/// The maximum number of query words that count.
pub const MOST_WORDS: usize = 10;

/// If fewer products than this have all the words, products with only some of them are added.
pub const ENOUGH: usize = 10;

#[derive(Debug, Clone, Default)]
pub struct Expansion {
    /// The query's words in order, except for dropped ones.
    pub slots: Vec<Slot>,
    pub plan: Plan,
    pub report: QueryReport,
    pub stems: Arc<StemSlots>,
    /// The synonym groups to search for.
    pub concepts: Vec<u32>,
    /// Whether the words can't match anything: all of them were dropped, or a phrase has an unknown
    /// word.
    pub is_hopeless: bool,
    /// The product's name, if the query only asks for alternatives to a product and no record is
    /// listed as one. In that case, [similar products](Self::seek_similar) may be shown instead.
    pub similar_to: Option<Term>,
}

impl Expansion {
    /// Whether nothing can be found.
    pub const fn finds_nothing(&self) -> bool {
        self.is_hopeless && self.plan.related.is_none()
    }
}

/// Whether a query's last word is also treated as a prefix.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize)]
pub enum Prefix {
    /// Yes, unless [`ENOUGH`] products contain it as a whole word.
    #[default]
    Auto,
    /// Yes, because the word is still being typed.
    Always,
    Never,
}

impl Prefix {
    pub const ALL: [Self; 3] = [Self::Auto, Self::Always, Self::Never];

    /// The option's name in requests.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Always => "always",
            Self::Never => "never",
        }
    }
}

/// How liberally a query is interpreted.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    pub typo: bool,
    pub prefix: Prefix,
}

pub fn expand<L: TermLookup>(
    index: &SearchIndex,
    lookup: &L,
    text: &str,
    query: &ParsedQuery,
    options: Options,
    budget: &Budget,
) -> Result<Expansion, L::Error> {
    let expander = |query| Expander::new(index, lookup, text, query, options, budget);
    let expansion = expander(query).run()?;
    if expansion.report.unknown.is_empty() {
        return Ok(expansion);
    }
    let Some((query, corrected)) = expander(query).split(&expansion.report)? else { return Ok(expansion) };
    let mut split = Expander::new(index, lookup, text, &query, options, budget).run()?;
    if budget.is_exceeded() {
        return Ok(expansion);
    }
    split.report.corrected.extend(corrected);
    Ok(split)
}

/// Plans a search for the products that have all of a query's words, as [`Tier::Words`] does, in any
/// form or as parts of compounds. Nothing is guessed or dropped for what other products have: no
/// corrections, completions, synonyms, names or intents.
///
/// [`Tier::Words`]: crate::search::collect::Tier::Words
pub fn with_all_words<L: TermLookup>(
    index: &SearchIndex,
    lookup: &L,
    text: &str,
    budget: &Budget,
) -> Result<Plan, L::Error> {
    let mut query = parse(text);
    if let Some((not, is_excluded)) =
        negated(text, &query.words).filter(|(not, _)| query.phrases.iter().all(|of| of.end <= not.start))
    {
        let words = query.words.drain(not).skip(1).collect();
        query.excluded.extend(is_excluded.then_some(words));
    }
    let options = Options { typo: false, prefix: Prefix::Never };
    let mut expander = Expander::new(index, lookup, text, &query, options, budget);
    if query.excluded.is_empty() {
        let identified = identify(lookup, text, &query.words)?;
        if identified.is_all {
            return Ok(expander.only(&identified.terms).plan);
        }
    }
    let joined = expander.joined();
    let slot = |(at, word): (usize, &Word)| expander.slot(at, index.lexicon.word(&word.folded), &joined);
    let mut slots: Vec<_> = query.words.iter().enumerate().map(slot).collect();
    if slots.len() >= LONG_QUERY {
        drop_where_others_find(&mut slots, |slot| slot.is_function_word);
    }
    drop_where_others_find(&mut slots, |slot| is_intent_word(text, &slot.word));
    relax(&mut slots);
    slots.retain(|slot| slot.required);
    slots.truncate(MOST_SEARCHED);
    let phrases = expander.planned_phrases();
    let is_hopeless = phrases.is_none() || (query.words.is_empty() && query.excluded.is_empty());
    let impossible = is_hopeless.then_some(WordGroup::IMPOSSIBLE);
    let groups = slots.iter().map(Slot::group).chain(impossible).collect();
    let excluded = expander.excluded(Exclusion::default());
    Ok(Plan {
        groups,
        phrases: phrases.unwrap_or_default(),
        excluded: excluded.terms,
        excluded_phrases: excluded.phrases,
        ..Plan::default()
    })
}

/// The alternative that matches a product that the query as a whole refers to.
fn identity(term: &Term) -> Alternative {
    Alternative::new(MatchKind::Name, term.clone(), 1.0)
}

struct Expander<'a, L> {
    index: &'a SearchIndex,
    lookup: &'a L,
    text: &'a str,
    query: &'a ParsedQuery,
    /// The forms of each phrase in the query; `None` if all of them contain an unknown word.
    phrases: Vec<Option<Phrase>>,
    options: Options,
    budget: &'a Budget,
    report: QueryReport,
    concepts: Vec<u32>,
    /// The number of words that have been spell-checked. Limited to [`MOST_WORDS`], because looking
    /// for other spellings costs more than everything else that's done for a word.
    corrections: usize,
}

/// A query's words after expansion and correction.
struct ExpandedWords {
    slots: Vec<Slot>,
    /// Each of the query's words, corrected.
    corrected: Vec<String>,
    /// The indices of the words that carry meaning, except for a word that's still being typed.
    meant: Vec<usize>,
}

impl<'a, L: TermLookup> Expander<'a, L> {
    fn new(
        index: &'a SearchIndex,
        lookup: &'a L,
        text: &'a str,
        query: &'a ParsedQuery,
        options: Options,
        budget: &'a Budget,
    ) -> Self {
        let phrase = |words: &Range<usize>| conjunction::phrase(&index.lexicon, text, &query.words[words.clone()]);
        Self {
            index,
            lookup,
            text,
            query,
            phrases: query.phrases.iter().map(phrase).collect(),
            options,
            budget,
            report: QueryReport::default(),
            concepts: Vec::new(),
            corrections: 0,
        }
    }

    fn run(mut self) -> Result<Expansion, L::Error> {
        let identified = match self.query.excluded[..] {
            [] => identify(self.lookup, self.text, &self.query.words)?,
            _ => Identified::default(),
        };
        if identified.is_all {
            return Ok(self.only(&identified.terms));
        }
        let mut understood = if identified.is_name {
            Understood::default()
        } else {
            understand(self.index, self.lookup, self.text, self.query)?
        };
        self.report.alternatives_to = understood.subject.as_ref().map(|subject| subject.written.clone());
        self.report.excluded.extend(understood.left_out.take());
        let recognised = self.recognise(&understood);
        let unwanted = understood.unwanted.as_ref().map(|words| self.unwanted(words)).transpose()?;
        let shown = understood.unwanted.iter().map(|of| written(self.text, &self.query.words[of.clone()]).to_owned());
        self.report.unwanted.extend(shown);
        let pinned = self.pinned(self.query.words.iter().map(|word| word.folded.as_str()))?;
        let mut words = self.expand_words(&understood, &recognised, &identified.terms, &pinned)?;
        self.add_synonyms_of(&words.corrected, &mut words.slots)?;
        self.correct_open_word(&mut words.slots)?;
        let pinned = self.pin(pinned, &words.corrected, &mut words.slots)?;
        let searched = words.slots.len();
        let reference = self.reference(&understood, &words);
        let names = whole_names(identified.terms, &words.corrected, std::mem::take(&mut understood.names));
        let related = self.related(reference.as_ref(), &names)?;
        let mut slots = self.select(words.slots, understood.is_comparison);
        self.weigh_values(recognised, &mut slots);
        self.subordinate(&understood, &mut slots);
        let phrases = self.planned_phrases();
        let is_hopeless = if searched > 0 {
            slots.is_empty() || phrases.is_none()
        } else {
            self.query.excluded.is_empty() && !self.text.trim().is_empty()
        };
        let excluded = self.excluded(understood.excluded);
        let signals = self.signals(&slots, reference);
        let stems = Arc::clone(&signals.stems);
        let (groups, enough) = self.groups(&slots, understood.is_comparison, is_hopeless);
        let plan = Plan {
            groups,
            excluded: excluded.terms,
            excluded_phrases: excluded.phrases,
            phrases: phrases.unwrap_or_default(),
            names: if searched == 0 { Vec::new() } else { names },
            pinned,
            last: unwanted.unwrap_or_default(),
            enough,
            signals,
            related,
        };
        let subject = understood.subject.filter(|_| plan.phrases.is_empty());
        let subject = subject.filter(|_| slots.iter().filter(|slot| slot.required).count() == 1);
        let similar_to = subject.and_then(|subject| subject.similar_to);
        let (report, concepts) = (self.report, self.concepts);
        Ok(Expansion { slots, plan, report, stems, concepts, is_hopeless, similar_to })
    }

    /// Expands and corrects each word, except for those that only express the query's intent.
    /// `identified` and `pinned` are the products that the whole query refers to or is pinned to.
    fn expand_words(
        &mut self,
        understood: &Understood,
        recognised: &[Recognised],
        identified: &[Term],
        pinned: &[Term],
    ) -> Result<ExpandedWords, L::Error> {
        let words = &self.query.words;
        let (synonyms, joined) = (self.synonyms()?, self.joined());
        let mut expanded = ExpandedWords {
            slots: Vec::with_capacity(words.len()),
            corrected: words.iter().map(|word| word.folded.clone()).collect(),
            meant: Vec::with_capacity(words.len()),
        };
        for (at, synonyms) in synonyms.into_iter().enumerate() {
            if let Some(subject) = understood.subject.as_ref().filter(|subject| subject.words.contains(&at)) {
                if at == subject.words.start {
                    expanded.slots.push(self.subject_slot(subject)?);
                }
                continue;
            }
            if understood.cues.contains(&at) {
                continue;
            }
            let known = self.index.lexicon.word(&words[at].folded);
            let mut slot = self.slot(at, known, &joined);
            slot.alternatives.extend(synonyms);
            slot.alternatives.extend(identified.iter().map(identity));
            slot.alternatives.extend(pinned.iter().map(pinned_alternative));
            slot.alternatives.extend(Self::value_alternatives(recognised, at));
            self.weigh(&mut slot)?;
            self.open_unknown_last_word(at, &mut slot, known)?;
            let corrected = &mut expanded.corrected[at];
            self.correct(&mut slot, known, corrected, false)?;
            let is_complete = slot.prefix.is_none() || known.is_some() || english::is_common(&slot.word.folded);
            if is_complete || *corrected != words[at].folded {
                expanded.meant.push(at);
            }
            expanded.slots.push(slot);
        }
        if !self.report.corrected.is_empty() {
            for slot in expanded.slots.iter_mut().filter(|slot| !slot.finds() && !slot.is_function_word) {
                let Some(at) = words.iter().position(|word| word.start == slot.word.start) else { continue };
                if expanded.corrected[at] != words[at].folded {
                    continue;
                }
                let known = self.index.lexicon.word(&slot.word.folded);
                self.correct(slot, known, &mut expanded.corrected[at], true)?;
            }
        }
        Ok(expanded)
    }

    /// Treats an unknown last word as a prefix even if something follows it: a space or punctuation
    /// completes only a known word.
    fn open_unknown_last_word(&mut self, at: usize, slot: &mut Slot, known: Option<WordId>) -> Result<(), L::Error> {
        let is_last = at + 1 == self.query.words.len() && !self.query.last_is_open;
        if is_last && !slot.in_phrase && !slot.finds() && !english::is_common(&slot.word.folded) {
            self.push_prefix(slot, known);
            self.weigh(slot)?;
            slot.prefix = slot.prefix.take().filter(|_| slot.finds());
        }
        Ok(())
    }

    /// Corrects a word that's still being typed, but only if the query would find nothing otherwise.
    fn correct_open_word(&mut self, slots: &mut [Slot]) -> Result<(), L::Error> {
        let finds_nothing = !slots.iter().any(Slot::finds);
        slots.last_mut().filter(|_| finds_nothing).map_or(Ok(()), |last| self.correct_prefix(last))
    }

    /// Drops the words that don't count, and decides which of the others a product must have.
    fn select(&mut self, mut slots: Vec<Slot>, is_comparison: bool) -> Vec<Slot> {
        if slots.len() >= LONG_QUERY {
            drop_where_others_find(&mut slots, |slot| slot.is_function_word && !slot.is_value());
        }
        drop_where_others_find(&mut slots, |slot| is_intent_word(self.text, &slot.word) && !slot.is_value());
        self.drop_words(&mut slots);
        if is_comparison {
            for slot in &mut slots {
                slot.required = false;
            }
        } else {
            relax(&mut slots);
        }
        slots
    }

    /// Makes the words beside the name of a product to replace optional. Together they count less than
    /// the name.
    fn subordinate(&self, understood: &Understood, slots: &mut [Slot]) {
        let Some(subject) = &understood.subject else { return };
        let start = self.query.words[subject.words.start].start;
        let weight = |slot: &Slot| group_weight(slot.document_frequency, self.index.documents);
        let (own, others): (Vec<_>, Vec<_>) = slots.iter_mut().partition(|slot| slot.word.start == start);
        if others.len() > MOST_BESIDE {
            return;
        }
        let most = self.index.ranking.beside_subject * own.iter().map(|slot| weight(slot)).sum::<f32>();
        let share = (most / others.iter().map(|slot| weight(slot)).sum::<f32>()).min(1.0);
        for slot in others {
            slot.required = false;
            slot.alternatives.iter_mut().for_each(|alternative| alternative.weight *= share);
        }
    }

    fn signals(&self, slots: &[Slot], reference: Option<Reference>) -> Signals {
        let documents = self.index.documents;
        let meaning = reference.map(|reference| Meaning {
            reference,
            weight: self.index.ranking.meaning,
            bound: slots.iter().map(|slot| group_weight(slot.document_frequency, documents)).sum(),
        });
        Signals {
            stems: Arc::new(StemSlots::new(slots.iter().map(Slot::stems))),
            spellings: slots.iter().map(|slot| slot.spelling).collect(),
            spelling: self.index.ranking.spelling,
            meaning,
        }
    }

    /// The meaning of the words after correction. `None` if the query asks for alternatives to a
    /// product or compares two products, because then meaning doesn't matter.
    fn reference(&self, understood: &Understood, words: &ExpandedWords) -> Option<Reference> {
        if !self.index.has_meanings || understood.subject.is_some() || understood.is_comparison {
            return None;
        }
        let is_content = |at: &usize| {
            let word = &self.query.words[*at];
            !english::is_function_word(&word.folded) && !is_intent_word(self.text, word)
        };
        let has_content = words.meant.iter().any(is_content);
        let meant = words.meant.iter().filter(|at| !has_content || is_content(at));
        reference(meant.map(|at| words.corrected[*at].as_str()))
    }

    /// What related products must be close to. `None` for a name or a phrase, because someone who
    /// types one wants exactly that.
    fn related(&self, reference: Option<&Reference>, names: &[Term]) -> Result<Option<Related>, L::Error> {
        let Some(reference) = reference.filter(|_| self.query.phrases.is_empty()) else { return Ok(None) };
        for name in names {
            if self.lookup.document_frequency(name)? > 0 {
                return Ok(None);
            }
        }
        Ok(Some(Related::new(reference, &self.index.ranking, ENOUGH)))
    }

    /// A search for just the products that the query names by symbols or a URL.
    fn only(self, terms: &[Term]) -> Expansion {
        let text = self.text.trim();
        let start = self.text.len() - self.text.trim_start().len();
        let word =
            Word { folded: text.to_lowercase(), accented: None, start, end: start + text.len(), gap: Gap::Break };
        let slot = Slot::new(word, terms.iter().map(identity).collect());
        let plan = Plan { groups: vec![slot.group()], names: terms.to_vec(), ..Plan::default() };
        Expansion { slots: vec![slot], plan, ..Expansion::default() }
    }

    fn written(&self, word: &Word) -> String {
        self.text[word.start..word.end].to_owned()
    }

    /// Adds the query's explicit exclusions to those inferred from its intent.
    fn excluded(&mut self, mut excluded: Exclusion) -> Exclusion {
        for words in &self.query.excluded {
            self.report.excluded.push(written(self.text, words).to_owned());
            excluded.add(self.index, self.text, words);
        }
        excluded
    }
}

/// The names that the whole query may stand for, as typed or as corrected, and the names that it
/// was understood to mean.
fn whole_names(mut names: Vec<Term>, corrected: &[String], understood: Vec<Term>) -> Vec<Term> {
    if names.is_empty() {
        names.push(Term::Name(corrected.concat().into()));
    }
    names.extend(understood);
    names.dedup();
    names
}

fn pinned_alternative(term: &Term) -> Alternative {
    Alternative::new(MatchKind::Pinned, term.clone(), 1.0)
}

impl<L: TermLookup> Expander<'_, L> {
    /// The terms of the products pinned to a query, given its words. Also adds those products to
    /// the report.
    pub(super) fn pinned<'w>(&mut self, words: impl Iterator<Item = &'w str> + Clone) -> Result<Vec<Term>, L::Error> {
        let mut terms = Vec::new();
        for (term, id) in self.index.pins.of(words) {
            if self.lookup.document_frequency(&term)? > 0 {
                self.report.pinned.push(id.to_owned());
                terms.push(term);
            }
        }
        Ok(terms)
    }

    /// Makes the pinned products alternatives in each slot. If none are pinned to the query as
    /// typed, uses the products pinned to the corrected query. Returns the ones used.
    pub(super) fn pin(
        &mut self,
        mut pinned: Vec<Term>,
        corrected: &[String],
        slots: &mut [Slot],
    ) -> Result<Vec<Term>, L::Error> {
        let is_corrected = corrected.iter().zip(&self.query.words).any(|(corrected, word)| *corrected != word.folded);
        if pinned.is_empty() && is_corrected {
            pinned = self.pinned(corrected.iter().map(String::as_str))?;
        }
        for slot in slots {
            let missing: Vec<_> =
                pinned.iter().map(pinned_alternative).filter(|pinned| !slot.alternatives.contains(pinned)).collect();
            slot.alternatives.extend(missing);
        }
        Ok(pinned)
    }
}

impl Expansion {
    /// Searches for products similar to [`similar_to`](Self::similar_to), which itself comes last.
    /// `shared` lists what that product may have in common with others, as written and as searched.
    pub fn seek_similar(&mut self, id: String, shared: Vec<(String, Vec<Alternative>)>, signals: Signals) {
        let Some(name) = self.similar_to.take() else { return };
        let at = self.slots.iter().position(|slot| !slot.others.is_empty());
        let Some(at) = at.filter(|_| !shared.is_empty()) else { return };
        let subject = self.slots.remove(at);
        let beside = std::mem::take(&mut self.slots);
        let slot = |(written, alternatives)| {
            let mut slot = Slot { alternatives, required: false, others: Vec::new(), ..subject.clone() };
            slot.word.folded = written;
            slot
        };
        let slots: Vec<_> = shared.into_iter().map(slot).chain(beside).collect();
        self.stems = Arc::new(StemSlots::new(slots.iter().map(Slot::stems)));
        self.slots = slots;
        self.report.alternatives_to_id = Some(id);
        let plan = &mut self.plan;
        plan.groups = self.slots.iter().map(Slot::group).collect();
        plan.excluded.retain(|term| *term != name);
        plan.last.push(name);
        (plan.enough, plan.signals) = (0, signals);
    }
}
