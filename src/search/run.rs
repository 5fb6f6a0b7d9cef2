//! Runs a query through its stages.

use super::SearchIndex;
use super::budget::Budget;
use super::collect::{Candidate, Collector, FacetCounts, RERANKED, Tier};
use super::expand::{Expansion, expand};
use super::forward::Sequence;
use super::lexicon::WordId;
use super::plan::{Alternative, Group, Plan, Term};
use super::query::parse;
use super::rerank;
use crate::catalogue::{Columns, Filter, Ordinal, SortedOrder};
use crate::engine::{Engine, EngineError, Match, Passed, Visitor};
use crate::search::analyse::{Gap, words};
use crate::search::index::{compound, title_key};

/// If fewer products than this have all words, those that have some follow.
const ENOUGH: usize = 10;

/// What a search works on.
#[derive(Debug, Clone, Copy)]
pub struct Scope<'s> {
    /// The words of the generation.
    pub index: &'s SearchIndex,
    /// Its engine.
    pub engine: &'s dyn Engine,
    /// What products are filtered by.
    pub columns: &'s Columns,
    /// Which products may be found.
    pub filter: &'s Filter,
    /// The order of the products where the best match isn't to come first.
    pub order: Option<&'s SortedOrder>,
    /// How many are wanted, from the first.
    pub wanted: usize,
    /// The work that the search may do.
    pub budget: &'s Budget,
}

/// What was found.
#[derive(Debug)]
pub struct Found {
    /// The best, best first, or the first in the order asked for; at least as many as wanted, where there are.
    pub best: Vec<Candidate>,
    /// How many there are in all.
    pub total: u64,
    /// The facets' counts, where asked for.
    pub counts: Option<FacetCounts>,
    /// How the query was understood.
    pub expansion: Expansion,
}

/// Searches products for a text.
///
/// # Errors
/// Where the engine fails.
pub fn search(scope: Scope<'_>, text: &str, typo: bool, counts: Option<FacetCounts>) -> Result<Found, EngineError> {
    let query = parse(text);
    let expansion = expand(scope.index, scope.engine, text, &query, typo, scope.budget)?;
    if expansion.is_hopeless {
        return Ok(Found { best: Vec::new(), total: 0, counts, expansion });
    }
    let plan = expansion.plan();
    let titles = titles(scope, &expansion.titles)?;
    let phrases = phrases(scope.index, &expansion.phrases);
    let most = rerank::most(scope.index, &expansion);
    let collector = collector(scope, counts).within_reach(scope.wanted, most);
    let required = || plan.groups.iter().filter(|group| group.required);
    // Where every required word is one of a phrase, no product has only some of them.
    let more = (required().count() > 1 && required().any(|group| !group.indispensable)).then(|| collector.clone());
    let mut gathering = Gathering { phrases: &phrases, more, ..Gathering::new(scope, &titles, collector) };
    scope.engine.visit(&plan, &mut gathering, scope.budget)?;
    let mut collector = gathering.finish();
    let (total, counts) = (collector.total, collector.take_counts());
    let mut best = collector.into_best();
    if scope.order.is_none() {
        let head = best.len().min(RERANKED);
        rerank::rerank(scope.index, &expansion, &mut best[..head], scope.wanted);
    }
    Ok(Found { best, total, counts, expansion })
}

fn collector(scope: Scope<'_>, counts: Option<FacetCounts>) -> Collector<'_> {
    match scope.order {
        None => Collector::new(scope.columns, scope.filter, scope.wanted.max(RERANKED), counts),
        Some(order) => Collector::new(scope.columns, scope.filter, scope.wanted, counts).ordered_by(order),
    }
}

/// Gathers what is visited: tells the tiers apart and verifies phrases.
struct Gathering<'a> {
    index: &'a SearchIndex,
    budget: &'a Budget,
    phrases: &'a [Phrase<'a>],
    /// The products whose whole name is asked for, sorted.
    titles: &'a [Ordinal],
    /// Whether their scores matter beside their being there.
    scores_titles: bool,
    collector: Collector<'a>,
    /// What gathers products that have some of the words, where too few have all; `None`: they aren't wanted.
    more: Option<Collector<'a>>,
    /// While they are gathered: the products with all words, which are among the best already, by ordinal.
    complete: Option<Vec<Ordinal>>,
    /// The first products visited, up to [`ENOUGH`]; while those with some words are gathered, the ones not counted again yet.
    first: Vec<Ordinal>,
}

impl<'a> Gathering<'a> {
    fn new(scope: Scope<'a>, titles: &'a [Ordinal], collector: Collector<'a>) -> Self {
        Self {
            index: scope.index,
            budget: scope.budget,
            phrases: &[],
            titles,
            scores_titles: false,
            collector,
            more: None,
            complete: None,
            first: Vec::new(),
        }
    }

    /// Returns the collector. Where the search stopped early, the products with all words count nevertheless.
    fn finish(mut self) -> Collector<'a> {
        if self.complete.is_some() {
            for ordinal in self.first {
                self.collector.count(ordinal);
            }
        }
        self.collector
    }

    /// Notes that a product was visited.
    fn note(&mut self, ordinal: Ordinal) {
        if self.complete.is_some() {
            self.first.retain(|first| *first != ordinal);
        } else if self.more.is_some() && self.first.len() < ENOUGH {
            self.first.push(ordinal);
        }
    }

    /// Whether a product was taken in as one that has all words.
    fn is_taken(&self, ordinal: Ordinal) -> bool {
        self.complete.as_ref().is_some_and(|complete| complete.binary_search(&ordinal).is_ok())
    }
}

impl Visitor for Gathering<'_> {
    fn is_selective(&self) -> bool {
        !self.phrases.is_empty()
    }

    fn admits(&mut self, ordinal: Ordinal) -> bool {
        self.budget.allows_more() && self.phrases.iter().all(|phrase| phrase.is_in(self.index, ordinal, self.budget))
    }

    fn visit(&mut self, found: &[Match]) {
        for found in found {
            self.note(found.ordinal);
            if self.is_taken(found.ordinal) {
                self.collector.count(found.ordinal);
                continue;
            }
            let tier = if self.titles.binary_search(&found.ordinal).is_ok() {
                Tier::Title
            } else if self.complete.is_some() {
                Tier::Some
            } else {
                Tier::All
            };
            self.collector.take(Candidate { tier, score: found.score, ordinal: found.ordinal });
        }
    }

    fn pass(&mut self, over: Passed<'_>) {
        self.collector.pass(over);
        if self.complete.is_some() {
            self.first.retain(|first| !over.has(*first));
        } else if self.more.is_some() {
            self.first.extend(over.ordinals().take(ENOUGH - self.first.len()));
        }
        // A whole name comes first however low it scores.
        for ordinal in self.titles.iter().copied().filter(|ordinal| over.has(*ordinal)) {
            if !self.is_taken(ordinal) {
                self.collector.take_passed(Candidate { tier: Tier::Title, score: 0.0, ordinal });
            }
        }
    }

    fn least(&self) -> Option<f32> {
        // Of more whole names than are kept the scores decide who is.
        let titles_at_most = if self.scores_titles { 0 } else { RERANKED };
        if self.titles.len() <= titles_at_most { self.collector.least() } else { None }
    }

    fn is_enough(&mut self) -> bool {
        if self.collector.visited >= ENOUGH as u64 || self.more.is_none() || !self.budget.allows_more() {
            return true;
        }
        let Some(more) = self.more.take() else { return true };
        let complete = std::mem::replace(&mut self.collector, more).into_best();
        for candidate in &complete {
            self.collector.take_passed(*candidate);
        }
        let mut complete: Vec<_> = complete.into_iter().map(|candidate| candidate.ordinal).collect();
        complete.sort_unstable();
        self.complete = Some(complete);
        false
    }
}

/// Takes down whatever is visited.
struct All<'a>(&'a mut Vec<Ordinal>);

impl Visitor for All<'_> {
    fn visit(&mut self, found: &[Match]) {
        self.0.extend(found.iter().map(|found| found.ordinal));
    }

    fn pass(&mut self, _: Passed<'_>) {}

    fn least(&self) -> Option<f32> {
        None
    }
}

/// The products whose whole name or alias is one of these, sorted; those of the first key that any has.
fn titles(scope: Scope<'_>, keys: &[String]) -> Result<Vec<Ordinal>, EngineError> {
    let engine = scope.engine;
    let mut found = Vec::new();
    for key in keys {
        let term = Term::Title(key.as_str().into());
        if engine.document_frequency(&term)? == 0 {
            continue;
        }
        let group =
            Group { alternatives: vec![Alternative { term, weight: 1.0 }], required: true, indispensable: false };
        engine.visit(&Plan { groups: vec![group], excluded: Vec::new() }, &mut All(&mut found), scope.budget)?;
        if !found.is_empty() {
            break;
        }
    }
    Ok(found)
}

/// The units of verifying a phrase in a document, beside its bytes.
const VERIFIED: usize = 8;

/// How many bytes are compared in a unit of the budget.
const COMPARED_AT_ONCE: usize = 32;

/// More ways than this to spell a phrase are verified word by word.
const SPELLINGS: usize = 16;

/// The phrases that a product must have, those that fewest have first.
fn phrases<'a>(index: &SearchIndex, phrases: &'a [Option<Vec<WordId>>]) -> Vec<Phrase<'a>> {
    let mut phrases: Vec<&[WordId]> = phrases.iter().flatten().map(Vec::as_slice).collect();
    let frequency = |phrase: &[WordId]| phrase.iter().map(|word| index.lexicon.document_frequency(*word)).min();
    phrases.sort_by_cached_key(|phrase| (frequency(phrase), *phrase));
    phrases.dedup();
    phrases.into_iter().map(|phrase| Phrase::new(index, phrase)).collect()
}

/// A phrase, ready to be looked for.
enum Phrase<'a> {
    /// Each way to spell it, as products hold it.
    Spelled(Vec<Sequence>),
    /// Its folded words.
    Words(&'a [WordId]),
}

impl<'a> Phrase<'a> {
    fn new(index: &SearchIndex, words: &'a [WordId]) -> Self {
        let spellings: Vec<_> = words.iter().map(|word| index.lexicon.spellings(*word)).collect();
        if spellings.iter().map(Vec::len).fold(1, usize::saturating_mul) > SPELLINGS {
            return Self::Words(words);
        }
        let mut ways: Vec<Vec<WordId>> = vec![Vec::new()];
        for spellings in spellings {
            let longer = |way: &Vec<WordId>| {
                let way = way.clone();
                spellings.clone().into_iter().map(move |word| [&way[..], &[word]].concat())
            };
            ways = ways.iter().flat_map(longer).collect();
        }
        Self::Spelled(ways.iter().map(|way| Sequence::new(way)).collect())
    }

    /// Whether a value of the document has its words in a row.
    fn is_in(&self, index: &SearchIndex, ordinal: Ordinal, budget: &Budget) -> bool {
        let bytes = index.forward.size_bytes(ordinal);
        budget.spend(match self {
            Self::Spelled(ways) => ways.len() * (VERIFIED + bytes / COMPARED_AT_ONCE),
            Self::Words(words) => VERIFIED + bytes * words.len(),
        });
        match self {
            Self::Spelled(ways) => ways.iter().any(|way| index.forward.has(ordinal, way)),
            Self::Words(words) => has_words(index, ordinal, words),
        }
    }
}

/// Whether a value of the document has these folded words in a row.
fn has_words(index: &SearchIndex, ordinal: Ordinal, phrase: &[WordId]) -> bool {
    // How many words of the phrase end here, for every start that still fits: a bit each.
    let mut running: u64 = 0;
    let whole = 1_u64 << (phrase.len().clamp(1, 64) - 1);
    for word in index.forward.words(ordinal) {
        let word = index.lexicon.folded_of(word);
        let fits =
            phrase.iter().take(64).enumerate().fold(0, |bits, (at, wanted)| bits | (u64::from(*wanted == word) << at));
        running = ((running << 1) | 1) & fits;
        if running & whole != 0 {
            return true;
        }
    }
    phrase.is_empty()
}

/// Finds products by name: every word must start a word of the name or of an alias; neighbours may be written as one.
///
/// # Errors
/// Where the engine fails.
pub fn search_names(scope: Scope<'_>, text: &str) -> Result<Found, EngineError> {
    let asked = words(text);
    let mut groups = Vec::with_capacity(asked.len());
    for (at, word) in asked.iter().enumerate() {
        let mut alternatives = vec![
            Alternative { term: Term::NameWord(word.folded.as_str().into()), weight: 1.0 },
            Alternative { term: Term::NamePrefix(word.folded.as_str().into()), weight: 0.5 },
        ];
        for second in [at, at + 1] {
            let Some(first) = second.checked_sub(1) else { continue };
            let Some(next) = asked.get(second).filter(|next| matches!(next.gap, Gap::Joined | Gap::Space)) else {
                continue;
            };
            let joined = compound(&asked[first], next);
            alternatives.push(Alternative { term: Term::NameWord(joined.as_str().into()), weight: 1.0 });
            alternatives.push(Alternative { term: Term::NamePrefix(joined.into()), weight: 0.5 });
        }
        groups.push(Group { alternatives, required: true, indispensable: false });
    }
    if groups.is_empty() {
        return Ok(Found { best: Vec::new(), total: 0, counts: None, expansion: Expansion::default() });
    }
    let titles = titles(scope, &[title_key(&asked)])?;
    let collector = collector(scope, None);
    let mut gathering = Gathering { scores_titles: true, ..Gathering::new(scope, &titles, collector) };
    scope.engine.visit(&Plan { groups, excluded: Vec::new() }, &mut gathering, scope.budget)?;
    let collector = gathering.finish();
    let total = collector.total;
    let mut best = collector.into_best();
    if scope.order.is_none() {
        let head = best.len().min(RERANKED);
        for candidate in &mut best[..head] {
            // Of names that match alike the shorter is the likelier.
            candidate.score /= rerank::title_length(scope.index, candidate.ordinal);
        }
        best[..head].sort_by(|a, b| b.cmp(a));
    }
    Ok(Found { best, total, counts: None, expansion: Expansion::default() })
}
