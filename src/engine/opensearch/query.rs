//! Translates a plan into an OpenSearch query.
//!
//! Nothing depends on per-shard statistics: features store weighted frequencies, and the query
//! supplies the inverse document frequency. So scores equal the embedded engine's, except for
//! rounding.

use std::cmp::Reverse;

use serde_json::{Value, json};

use super::clauses::{any, any_best, constant, has_any, has_term, in_a_row, multiplied, scored};
use super::signals::{neighbour_shares, spelling_shares};
use super::statistics::Statistics;
use super::term;
use crate::catalogue::Ordinal;
use crate::search::collect::pinned_score;
use crate::search::{Alternative, Group, Phrase, Plan, Related, Rerank};

/// Added to the score of a product whose full name is the query. Larger than any other score, but
/// small enough to leave three decimals for scores of about ten.
pub(super) const EXACT_NAME: f32 = 8192.0;

/// Added to the score of a product that's pinned to the query. Larger than any other score except a
/// full name's.
pub(super) const PINNED: f32 = 4096.0;

/// Added to the score of a product that has all the words, if the same list also has products with
/// only some of them and isn't sorted by relevance.
pub(super) const COMPLETE: f32 = 32_768.0;

/// Up to this many of a group's alternatives are always scored individually.
const FEW: usize = 16;

/// The total number of alternatives that are scored individually in larger groups. OpenSearch
/// rejects queries with more than 1,024 clauses, and a prefix may have thousands of alternatives,
/// so the rarer ones all get the same score.
const MAX_SCORED: usize = 384;

/// The score of a rare alternative that isn't scored individually: the same as for a word in a
/// description of average length.
const RARE_SCORE: f32 = 0.5;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Match {
    All,
    Some,
}

pub(super) struct PlanQuery<'p> {
    plan: &'p Plan,
    /// Documents that contain all the words only by accident. They're treated as containing only
    /// some of the words.
    pub(super) accidental: Vec<Ordinal>,
    /// The groups' scored queries, in plan order.
    groups: Vec<Value>,
    /// The groups' conditions, without scores.
    conditions: Vec<Value>,
    /// Filters for the spellings, each with the share of words it stands for. `neighbours` has the
    /// same structure.
    spellings: Vec<(Value, f32)>,
    neighbours: Vec<(Value, f32)>,
}

impl<'p> PlanQuery<'p> {
    pub(super) fn new(plan: &'p Plan, statistics: &impl Statistics) -> Self {
        let long = plan.groups.iter().filter(|group| group.alternatives.len() > FEW).count();
        let most = MAX_SCORED / long.max(1);
        let (mut groups, mut conditions) = (Vec::new(), Vec::new());
        for group in &plan.groups {
            let with_documents = |of: &&Alternative| statistics.frequency(&of.term) > 0;
            let alternatives: Vec<_> = group.alternatives.iter().filter(with_documents).collect();
            conditions.push(has_any(alternatives.iter().map(|of| &of.term)));
            groups.push(scored_group(alternatives, statistics, statistics.scale(group), most.max(FEW)));
        }
        let (mut spellings, mut neighbours) = (Vec::new(), Vec::new());
        if let Rerank::Signals(signals) = &plan.rerank {
            (spellings, neighbours) = (spelling_shares(signals, statistics), neighbour_shares(signals));
        }
        Self { plan, accidental: Vec::new(), groups, conditions, spellings, neighbours }
    }

    /// The query sorted by relevance. A full-name match scores [`EXACT_NAME`] more.
    pub(super) fn ranked(&self, matching: Match) -> Value {
        let words = self.words(matching);
        let ranked = match &self.plan.rerank {
            // Names are reranked by length when the candidates are put into their final order.
            Rerank::None | Rerank::ShortestName => words,
            Rerank::Signals(signals) => {
                let shares = |shares: &[(Value, f32)], weight: f32| {
                    let function = |(filter, share): &(Value, f32)| json!({"filter": filter, "weight": share * weight});
                    shares.iter().map(function).collect::<Vec<_>>()
                };
                let mut functions = shares(&self.spellings, signals.spelling);
                functions.extend(shares(&self.neighbours, signals.proximity));
                multiplied(words, functions)
            }
        };
        let ranked = self.with_pinned(ranked);
        if self.plan.names.is_empty() {
            return self.restricted(ranked);
        }
        // Full-name matches are ranked by spelling alone, if spelling counts at all.
        let whole = match &self.plan.rerank {
            Rerank::Signals(_) => {
                let spelled = |(filter, share): &(Value, f32)| json!({"filter": filter, "weight": share});
                let mut functions: Vec<_> = self.spellings.iter().map(spelled).collect();
                functions.push(json!({"filter": {"match_all": {}}, "weight": EXACT_NAME}));
                let named = constant(&json!({"bool": {"filter": [self.named(), self.condition(Match::All)]}}), 1.0);
                let whole = json!({"function_score": {
                    "query": named, "functions": functions, "score_mode": "sum", "boost_mode": "replace",
                }});
                json!({"dis_max": {"queries": [ranked, whole]}})
            }
            _ => json!({"bool": {"must": [ranked], "should": [constant(&self.named(), EXACT_NAME)]}}),
        };
        self.restricted(whole)
    }

    /// The query for a custom sort order. Scores encode the tiers: [`EXACT_NAME`], [`PINNED`], and
    /// [`COMPLETE`] if products with only some of the words are also found.
    pub(super) fn unranked(&self, matching: Match) -> Value {
        let mut tiers = Vec::new();
        if !self.plan.names.is_empty() {
            tiers.push(constant(&json!({"bool": {"filter": [self.named(), self.condition(Match::All)]}}), EXACT_NAME));
        }
        if !self.plan.pinned.is_empty() {
            tiers.push(constant(&real(&has_any(self.plan.pinned.iter())), PINNED));
        }
        if matching == Match::Some {
            tiers.push(constant(&self.with_all_words(), COMPLETE));
        }
        self.restricted(json!({"bool": {"must": [self.words(matching)], "should": tiers}}))
    }

    /// A filter for the documents that contain all the words.
    pub(super) fn complete(&self) -> Value {
        self.restricted(self.with_all_words())
    }

    /// A filter for the documents that the words match.
    pub(super) fn found(&self, matching: Match) -> Value {
        self.restricted(self.condition(matching))
    }

    /// Documents that share topics with the query, scored by topic weight. Those that the words
    /// match are excluded. The weights are whole numbers, so the order is the same as the embedded
    /// engine's.
    pub(super) fn sharing_topics(&self, related: &Related, matching: Match) -> Value {
        let shared: Vec<_> =
            related.topics().map(|(topic, weight)| constant(&has_term(&topic), f32::from(weight))).collect();
        let query = json!({"bool": {
            "should": shared, "minimum_should_match": 1, "must_not": [self.condition(matching)],
        }});
        self.restricted(query)
    }

    fn with_all_words(&self) -> Value {
        let condition = self.condition(Match::All);
        if self.accidental.is_empty() {
            return condition;
        }
        json!({"bool": {"filter": [condition], "must_not": [{"terms": {"ordinal": self.accidental}}]}})
    }

    /// Matches the words. Scores are 0 for the documents that come last.
    fn words(&self, matching: Match) -> Value {
        let words = self.scored_words(matching);
        if self.plan.last.is_empty() {
            return words;
        }
        let last = json!({"filter": has_any(self.plan.last.iter()), "weight": 0.0});
        json!({"function_score": {"query": words, "functions": [last], "boost_mode": "multiply"}})
    }

    fn scored_words(&self, matching: Match) -> Value {
        let (mut must, mut should) = (Vec::new(), Vec::new());
        for (group, query) in self.plan.groups.iter().zip(&self.groups) {
            let is_must = match matching {
                Match::All => group.required || group.indispensable,
                Match::Some => self.is_given() && group.indispensable,
            };
            if is_must && self.has_required() { must.push(query.clone()) } else { should.push(query.clone()) }
        }
        if self.plan.groups.is_empty() {
            return constant(&json!({"match_all": {}}), 0.0);
        }
        if must.is_empty() {
            // A document with only optional words isn't a match.
            let required = self.has_required() && self.plan.groups.iter().any(|group| !group.required);
            let filter: Vec<_> = required.then(|| self.condition(matching)).into_iter().collect();
            return json!({"bool": {"should": should, "filter": filter, "minimum_should_match": 1}});
        }
        json!({"bool": {"must": must, "should": should}})
    }

    /// A filter for the documents that satisfy the words.
    fn condition(&self, matching: Match) -> Value {
        let of = |is_wanted: &dyn Fn(&Group) -> bool| -> Vec<Value> {
            let groups = self.plan.groups.iter().zip(&self.conditions);
            groups.filter(|(group, _)| is_wanted(group)).map(|(_, condition)| condition.clone()).collect()
        };
        match matching {
            _ if self.plan.groups.is_empty() => json!({"match_all": {}}),
            _ if !self.has_required() => any(of(&|_| true)),
            Match::All => json!({"bool": {"filter": of(&|group| group.required || group.indispensable)}}),
            Match::Some if self.is_given() => json!({"bool": {"filter": of(&|group| group.indispensable)}}),
            Match::Some => any(of(&|group| group.required)),
        }
    }

    /// Matches real products whose full name may be what the query means.
    fn named(&self) -> Value {
        let names: Vec<_> = self.plan.names.iter().map(term::name).collect();
        real(&json!({"terms": {"names": names}}))
    }

    /// Puts the products pinned to the query first, in pin order.
    fn with_pinned(&self, ranked: Value) -> Value {
        if self.plan.pinned.is_empty() {
            return ranked;
        }
        let pinned = self
            .plan
            .pinned
            .iter()
            .enumerate()
            .map(|(place, term)| constant(&real(&has_term(term)), PINNED + pinned_score(place)));
        let queries: Vec<_> = std::iter::once(ranked).chain(pinned).collect();
        json!({"dis_max": {"queries": queries}})
    }

    /// Applies exclusions and phrases to a query.
    fn restricted(&self, query: Value) -> Value {
        let in_a_row = |phrase: &Phrase| any(phrase.iter().map(|form| in_a_row("words", form)).collect());
        let mut excluded: Vec<_> = self.plan.excluded.iter().map(has_term).collect();
        excluded.extend(self.plan.excluded_phrases.iter().map(in_a_row));
        let phrases: Vec<_> = self.plan.phrases.iter().map(in_a_row).collect();
        if excluded.is_empty() && phrases.is_empty() {
            return query;
        }
        json!({"bool": {"must": [query], "filter": phrases, "must_not": excluded}})
    }

    /// Whether documents with only some of the words are added if too few have all of them.
    pub(super) fn may_fall_back(&self) -> bool {
        self.has_required() && self.plan.enough > 0
    }

    fn has_required(&self) -> bool {
        self.plan.groups.iter().any(|group| group.required)
    }

    /// Whether a required group is indispensable, so every hit satisfies it anyway.
    fn is_given(&self) -> bool {
        self.plan.groups.iter().any(|group| group.required && group.indispensable)
    }
}

/// Restricts a filter to products that aren't demo records.
fn real(filter: &Value) -> Value {
    json!({"bool": {"filter": [filter, {"term": {"demo": 0}}]}})
}

/// Scores a group by its best alternative. If the group has more than `most` alternatives, only the
/// most frequent ones are scored individually.
fn scored_group(mut alternatives: Vec<&Alternative>, statistics: &impl Statistics, scale: f32, most: usize) -> Value {
    let mut rest = Vec::new();
    if alternatives.len() > most {
        let key = |of: &&Alternative| (term::stem(&of.term).is_some(), Reverse(statistics.frequency(&of.term)));
        alternatives.sort_by_cached_key(key);
        rest = alternatives.split_off(most);
    }
    let mut queries: Vec<_> = alternatives.iter().map(|of| scored(of, scale)).collect();
    if let Some(first) = rest.first() {
        queries.push(constant(&has_any(rest.iter().map(|of| &of.term)), first.weight * scale * RARE_SCORE));
    }
    any_best(queries)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::search::stem_slots::StemSlots;
    use crate::search::{Kind, Ranking, Signals, StemId, Term};
    use crate::text::meaning::Sum;

    struct Known;

    impl Statistics for Known {
        fn scale(&self, _: &Group) -> f32 {
            4.0
        }

        fn frequency(&self, term: &Term) -> u32 {
            match term {
                Term::Word(99) => 0,
                Term::Word(stem) => *stem,
                _ => 1,
            }
        }

        fn stem_of(&self, word: u32) -> StemId {
            word / 10
        }
    }

    fn group(words: &[StemId], required: bool) -> Group {
        let alternative = |word: &StemId| Alternative { kind: Kind::Exact, term: Term::Word(*word), weight: 0.5 };
        Group { alternatives: words.iter().map(alternative).collect(), required, indispensable: false }
    }

    fn feature(word: &str) -> Value {
        json!({"rank_feature": {"field": word, "boost": 2.0, "saturation": {"pivot": 1}}})
    }

    #[test]
    fn required_groups_must_match_and_optional_ones_add_to_the_score() {
        let plan = Plan {
            groups: vec![group(&[1, 99], true), group(&[2, 3], true), group(&[4], false)],
            enough: 10,
            ..Plan::default()
        };
        let query = PlanQuery::new(&plan, &Known);
        let either = json!({"dis_max": {"queries": [feature("terms.w2"), feature("terms.w3")]}});
        let must = json!([feature("terms.w1"), either]);
        let all = json!({"bool": {"must": must, "should": [feature("terms.w4")]}});
        assert_eq!(query.ranked(Match::All), all, "a term that no document contains is left out");
        assert!(query.may_fall_back());
        let some = query.ranked(Match::Some);
        let should = json!([feature("terms.w1"), either, feature("terms.w4")]);
        assert_eq!(some["bool"]["should"], should);
        // A document with only the optional word isn't a match.
        let found = json!([{"terms": {"stems": ["1"]}}, {"terms": {"stems": ["2", "3"]}}]);
        assert_eq!(some["bool"]["filter"][0]["bool"]["should"], found);
    }

    #[test]
    fn the_rarest_of_many_alternatives_share_one_clause() {
        let words: Vec<_> = (100..2000).collect();
        let plan = Plan { groups: vec![group(&words, true)], ..Plan::default() };
        let query = PlanQuery::new(&plan, &Known).ranked(Match::All);
        let queries = query["bool"]["must"][0]["dis_max"]["queries"].as_array().expect("several");
        assert_eq!(queries.len(), MAX_SCORED + 1);
        assert_eq!(queries[0], feature("terms.w7cf"), "the most frequent ones first");
        let rest = &queries[MAX_SCORED]["constant_score"];
        assert_eq!(rest["filter"]["terms"]["stems"].as_array().map(Vec::len), Some(words.len() - MAX_SCORED));
        assert_eq!(rest["boost"], json!(1.0));
    }

    #[test]
    fn each_spelling_and_each_neighbour_becomes_a_function_weighted_by_its_share() {
        let stems = [vec![(1, 1.0)], vec![(2, 1.0)]];
        let signals = Signals {
            stems: Arc::new(StemSlots::new(stems.into_iter().map(Vec::into_iter))),
            // The first word is spelled as in the query; the second word's spelling is unknown.
            spellings: vec![Some(10), None],
            spelling: 0.05,
            proximity: 0.02,
            meaning: None,
        };
        let plan = Plan { groups: vec![group(&[1], true)], rerank: Rerank::Signals(signals), ..Plan::default() };
        let query = PlanQuery::new(&plan, &Known).ranked(Match::All);
        let near = json!({"span_near": {
            "clauses": [{"span_term": {"near": "1"}}, {"span_term": {"near": "2"}}], "slop": 0, "in_order": true,
        }});
        let functions = json!([
            {"filter": {"terms": {"short": ["a"]}}, "weight": 0.025_f32},
            {"filter": near, "weight": 0.02_f32},
            {"filter": {"match_all": {}}, "weight": 1.0},
        ]);
        assert_eq!(query["function_score"]["functions"], functions);
    }

    #[test]
    fn documents_that_come_last_score_zero() {
        let last = vec![Term::Name("acme".into())];
        let plan = Plan { groups: vec![group(&[1], false)], last, ..Plan::default() };
        let query = PlanQuery::new(&plan, &Known).ranked(Match::All);
        let function = json!({"filter": {"term": {"names": "tacme"}}, "weight": 0.0});
        assert_eq!(query["function_score"]["functions"], json!([function]));
        assert_eq!(query["function_score"]["boost_mode"], "multiply");
    }

    #[test]
    fn related_products_share_topics_but_are_not_matched_by_words() {
        let reference = Sum::of(&[100]).reference().expect("a direction");
        let related = Related::new(&reference, &Ranking::default(), 10);
        let plan = Plan { groups: vec![group(&[1], true)], excluded: vec![Term::Word(7)], ..Plan::default() };
        let query = PlanQuery::new(&plan, &Known).sharing_topics(&related, Match::Some);
        assert_eq!(query["bool"]["must_not"], json!([{"term": {"stems": "7"}}]));
        let shared = &query["bool"]["must"][0]["bool"];
        assert_eq!(shared["must_not"], json!([{"terms": {"stems": ["1"]}}]));
        let topics = shared["should"].as_array().expect("topics");
        assert_eq!(topics.len(), related.topics().count());
        for ((topic, weight), query) in related.topics().zip(topics) {
            let feature = format!("terms.{}", term::name(&topic));
            let filter = json!({"rank_feature": {"field": feature, "saturation": {"pivot": 1}}});
            assert_eq!(*query, json!({"constant_score": {"filter": filter, "boost": f32::from(weight)}}));
        }
    }

    #[test]
    fn exclusions_and_phrases_restrict_every_query() {
        let plan = Plan {
            excluded: vec![Term::Word(7), Term::Name("acme".into())],
            phrases: vec![vec![vec![vec![2], vec![3, 4]]]],
            ..Plan::default()
        };
        let query = PlanQuery::new(&plan, &Known).ranked(Match::All);
        assert_eq!(query["bool"]["must_not"][1], json!({"term": {"names": "tacme"}}));
        let clauses = &query["bool"]["filter"][0]["span_near"]["clauses"];
        let either = json!({"span_or": {"clauses": [{"span_term": {"words": "3"}}, {"span_term": {"words": "4"}}]}});
        assert_eq!(*clauses, json!([{"span_term": {"words": "2"}}, either]));
    }
}
