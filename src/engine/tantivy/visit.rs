//! Goes through the documents of a plan, window by window.

use std::cell::Cell;

use ::tantivy::{DocId, TERMINATED};

use super::TantivyEngine;
use super::cursor::{GroupCursor, List};
use super::window::{WIDTH, Window};
use crate::engine::{EngineError, Match, Visitor};
use crate::search::{Plan, Want};

/// Visits every document that the plan finds.
pub(super) fn visit(
    engine: &TantivyEngine,
    plan: &Plan,
    want: Want,
    visitor: &mut dyn Visitor,
) -> Result<(), EngineError> {
    let mut excluded = Vec::with_capacity(plan.excluded.len());
    for term in &plan.excluded {
        if let Some(term) = engine.find(term)? {
            excluded.push(List::new(engine.read(&term)?));
        }
    }
    let mut visit = Visit { excluded, buffers: BUFFERS.take().unwrap_or_default(), least: None };
    let cursors = plan.groups.iter().map(|group| GroupCursor::open(engine, group)).collect::<Result<Vec<_>, _>>()?;
    let (required, optional): (Vec<_>, Vec<_>) = cursors.into_iter().partition(|cursor| cursor.required);
    let wanted = u8::try_from(required.len()).unwrap_or(u8::MAX);
    match want {
        _ if plan.groups.is_empty() => visit.everything(engine.scorer.documents(), visitor),
        _ if required.is_empty() => visit.some(optional, Vec::new(), (0, u8::MAX), visitor),
        Want::All => visit.all(required, optional, visitor),
        Want::Some => visit.some(required, optional, (wanted, wanted), visitor),
    }
    BUFFERS.set(Some(visit.buffers));
    Ok(())
}

thread_local! {
    /// The buffers of the thread's last visit, for its next one: making them anew took 3 % of a search's instructions.
    static BUFFERS: Cell<Option<Box<Buffers>>> = const { Cell::new(None) };
}

/// What a visit writes to.
struct Buffers {
    found: Window,
    scratch: Window,
    matches: Vec<Match>,
    documents: Vec<DocId>,
}

impl Default for Buffers {
    fn default() -> Self {
        Self {
            found: Window::new(),
            scratch: Window::new(),
            matches: Vec::with_capacity(TOLD_AT_ONCE),
            documents: Vec::with_capacity(WIDTH),
        }
    }
}

struct Visit {
    excluded: Vec<List>,
    buffers: Box<Buffers>,
    /// The score below which a document only counts.
    least: Option<f32>,
}

/// So many documents are told at once. Then it is asked how much the next ones have to score.
const TOLD_AT_ONCE: usize = 256;

/// What the worths of several groups come to at most, whatever the order in which they are added.
const ROUNDING: f32 = 1.000_01;

impl Visit {
    fn everything(&mut self, documents: usize, visitor: &mut dyn Visitor) {
        for start in (0..documents).step_by(WIDTH) {
            let found = &mut self.buffers.found;
            found.move_to(DocId::try_from(start).unwrap_or(TERMINATED));
            found.add_first(documents - start);
            self.exclude();
            self.tell(0, u8::MAX, visitor);
        }
    }

    /// What has every required group: the documents of the rarest, of which each other group leaves some.
    fn all(
        &mut self,
        mut required: Vec<GroupCursor<'_>>,
        mut optional: Vec<GroupCursor<'_>>,
        visitor: &mut dyn Visitor,
    ) {
        required.sort_by_key(|cursor| cursor.cost);
        let bonus: f32 = optional.iter().map(|cursor| cursor.worth).sum();
        let Some((lead, rest)) = required.split_first_mut() else { return };
        loop {
            let document = lead.document();
            if document == TERMINATED {
                return;
            }
            let Buffers { found, scratch, .. } = &mut *self.buffers;
            found.move_to(document);
            // Alone, it has to bring a document to the least score.
            let least = self.least.filter(|_| rest.is_empty()).map_or(f32::MIN, |least| least / ROUNDING - bonus);
            lead.unite(found, scratch, least);
            for cursor in rest.iter_mut() {
                if found.count() == 0 {
                    break;
                }
                cursor.narrow(found, scratch);
            }
            self.exclude();
            self.reward(&mut optional, u8::MAX);
            self.tell(0, u8::MAX, visitor);
        }
    }

    /// What has any of some groups; others only add to the score. For `all` and `always` see [`tell`](Self::tell).
    ///
    /// Groups that all together can't bring a document to the least score aren't gone through for documents, as in `MaxScore`
    /// (Turtle and Flood, 1995): what has them alone only counts. One group is always gone through, so that documents with
    /// all of them are told.
    fn some(
        &mut self,
        mut cursors: Vec<GroupCursor<'_>>,
        mut optional: Vec<GroupCursor<'_>>,
        (all, always): (u8, u8),
        visitor: &mut dyn Visitor,
    ) {
        cursors.sort_by(|a, b| b.worth.total_cmp(&a.worth));
        let bonus: f32 = optional.iter().map(|cursor| cursor.worth).sum();
        let mut essential = cursors.len();
        loop {
            if let Some(least) = self.least {
                let most = |count: usize| bonus + cursors[count..].iter().map(|cursor| cursor.worth).sum::<f32>();
                while essential > 1 && most(essential - 1) * ROUNDING < least {
                    essential -= 1;
                }
            }
            let document = cursors.iter().map(GroupCursor::document).min().unwrap_or(TERMINATED);
            if document == TERMINATED {
                return;
            }
            let Buffers { found, scratch, .. } = &mut *self.buffers;
            found.move_to(document);
            for (at, cursor) in cursors.iter_mut().enumerate() {
                if at < essential {
                    cursor.unite(found, scratch, f32::MIN);
                } else {
                    cursor.accompany(found, scratch);
                }
            }
            self.exclude();
            self.reward(&mut optional, always);
            self.tell(all, always, visitor);
        }
    }

    fn exclude(&mut self) {
        let found = &mut self.buffers.found;
        for list in &mut self.excluded {
            list.seek(found.start());
            list.for_each_until(found.end(), |document, _| found.remove(document));
        }
    }

    /// Adds the scores of groups that no document needs, where they can matter: to documents that satisfy as many groups as
    /// told, and to those that may come up to the least score with them.
    fn reward(&mut self, groups: &mut [GroupCursor<'_>], always: u8) {
        if groups.is_empty() {
            return;
        }
        let most: f32 = groups.iter().map(|group| group.worth).sum();
        let least = self.least.unwrap_or(0.0);
        let Buffers { found, scratch, documents, .. } = &mut *self.buffers;
        documents.clear();
        documents.extend(
            found
                .counted()
                .filter(|(_, score, satisfied)| *satisfied >= always || score + most >= least)
                .map(|(document, ..)| document),
        );
        if !documents.is_empty() {
            for group in groups {
                group.reward(found, documents, scratch);
            }
        }
    }

    /// Tells the visitor the documents of the window, those that satisfy `all` groups as complete ones. Documents whose score
    /// doesn't matter are passed over, but for those that satisfy as many groups as told.
    fn tell(&mut self, all: u8, always: u8, visitor: &mut dyn Visitor) {
        let mut least = self.least.unwrap_or(f32::NEG_INFINITY);
        let Buffers { found, matches, .. } = &mut *self.buffers;
        let mut passed = found.all();
        matches.clear();
        for (ordinal, score, satisfied) in found.counted() {
            if satisfied >= always || score >= least {
                passed.remove(ordinal);
                matches.push(Match { ordinal, score, complete: satisfied >= all });
                if matches.len() == TOLD_AT_ONCE {
                    visitor.visit(matches);
                    matches.clear();
                    least = visitor.least().unwrap_or(least);
                }
            }
        }
        if !matches.is_empty() {
            visitor.visit(matches);
        }
        visitor.pass(passed.passed());
        self.least = visitor.least();
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::LazyLock;

    use proptest::prelude::*;

    use super::*;
    use crate::engine::{Engine as _, Passed, TantivyBuilder};
    use crate::search::field::Field;
    use crate::search::score::{Occurrences, Scorer};
    use crate::search::{Alternative, Group, Ranking, Term};

    /// More than two windows.
    const DOCUMENTS: u32 = 9000;
    const STEMS: u32 = 24;

    /// Whether a document has a stem, and where: stem 0 is in every one, later ones are rarer.
    fn occurrences(document: u32, stem: u32) -> Option<Occurrences> {
        let mixed =
            (document.wrapping_mul(0x9E37_79B1) ^ stem.wrapping_mul(0x85EB_CA6B)).wrapping_mul(0xC2B2_AE35) >> 8;
        let fields = [Field::Description, Field::Tagline, Field::Name];
        let field = fields[(mixed >> 16) as usize % fields.len()];
        mixed.is_multiple_of(stem * stem + 1).then(|| Occurrences::one(field))
    }

    fn scorer() -> Scorer {
        let lengths: Vec<_> = (0..DOCUMENTS).map(|document| [2, 5, 20 + document % 50]).collect();
        Scorer::new(&lengths, &Ranking::default())
    }

    static ENGINE: LazyLock<TantivyEngine> = LazyLock::new(|| {
        let mut builder = TantivyBuilder::new().expect("an index");
        for document in 0..DOCUMENTS {
            let terms: Vec<_> =
                (0..STEMS).filter_map(|stem| Some((Term::Word(stem), occurrences(document, stem)?))).collect();
            builder.push(terms.iter().map(|(term, occurrences)| (term, *occurrences))).expect("a document");
        }
        TantivyEngine::open(&builder.finish().expect("an index"), scorer()).expect("it opens")
    });

    #[derive(Default)]
    struct Told {
        found: BTreeMap<u32, (f32, bool)>,
        passed: Vec<u32>,
        least: Option<f32>,
    }

    impl Visitor for Told {
        fn visit(&mut self, found: &[Match]) {
            for one in found {
                let before = self.found.insert(one.ordinal, (one.score, one.complete));
                assert!(before.is_none() && self.found.keys().next_back() == Some(&one.ordinal), "in rising order");
            }
        }

        fn pass(&mut self, over: Passed<'_>) {
            let before = self.passed.len();
            self.passed.extend(over.ordinals());
            assert_eq!(over.count(), (self.passed.len() - before) as u64);
        }

        fn least(&self) -> Option<f32> {
            self.least
        }
    }

    fn told(plan: &Plan, want: Want, least: Option<f32>) -> Told {
        let mut told = Told { least, ..Told::default() };
        ENGINE.visit(plan, want, &mut told).expect("an index in memory");
        told
    }

    /// The same, document by document.
    #[expect(clippy::cast_precision_loss, reason = "thousands")]
    fn plain(plan: &Plan, want: Want) -> BTreeMap<u32, (f32, bool)> {
        let formula = scorer();
        let has = |document: u32, term: &Term| match term {
            Term::Word(stem) if *stem < STEMS => occurrences(document, *stem),
            _ => None,
        };
        let frequency = |term: &Term| (0..DOCUMENTS).filter(|document| has(*document, term).is_some()).count() as f32;
        let idf = |group: &Group| {
            let most = group.alternatives.iter().map(|alternative| frequency(&alternative.term)).fold(0.0, f32::max);
            (1.0 + (DOCUMENTS as f32 - most + 0.5).max(0.5) / (most + 0.5)).ln() * 2.2
        };
        let worth: Vec<_> = plan.groups.iter().map(idf).collect();
        let mut found = BTreeMap::new();
        for document in 0..DOCUMENTS {
            if plan.excluded.iter().any(|term| has(document, term).is_some()) {
                continue;
            }
            let scores: Vec<Option<f32>> = plan
                .groups
                .iter()
                .zip(&worth)
                .map(|(group, worth)| {
                    let scores = group.alternatives.iter().filter_map(|alternative| {
                        let occurrences = has(document, &alternative.term)?;
                        Some(worth * alternative.weight * formula.worth(occurrences.code(), document))
                    });
                    scores.reduce(f32::max)
                })
                .collect();
            let required = || plan.groups.iter().zip(&scores).filter(|(group, _)| group.required);
            let all = required().all(|(_, score)| score.is_some());
            let any = required().any(|(_, score)| score.is_some());
            if all || (want == Want::Some && any) {
                found.insert(document, (scores.iter().flatten().sum(), all));
            }
        }
        found
    }

    fn plans() -> impl Strategy<Value = Plan> {
        let alternative = (0..STEMS + 2, 1..=4_u8)
            .prop_map(|(stem, weight)| Alternative { term: Term::Word(stem), weight: f32::from(weight) / 4.0 });
        let group = (prop::collection::vec(alternative, 1..14), any::<bool>())
            .prop_map(|(alternatives, required)| Group { alternatives, required });
        (prop::collection::vec(group, 1..4), prop::collection::vec(1..STEMS, 0..2)).prop_map(
            |(mut groups, excluded)| {
                groups[0].required = true;
                Plan { groups, excluded: excluded.into_iter().map(Term::Word).collect() }
            },
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn going_by_windows_finds_what_going_document_by_document_finds(plan in plans(), some: bool) {
            let want = if some { Want::Some } else { Want::All };
            let (found, plain) = (told(&plan, want, None), plain(&plan, want));
            prop_assert!(found.passed.is_empty());
            prop_assert_eq!(found.found.keys().collect::<Vec<_>>(), plain.keys().collect::<Vec<_>>());
            for (document, (score, complete)) in &found.found {
                let (wanted, all) = plain[document];
                prop_assert!((score - wanted).abs() < 1e-3 && *complete == all, "{document}: {score} {wanted}");
            }
        }

        #[test]
        fn what_scores_too_little_is_passed_over(plan in plans(), some: bool, place in 0.0..1.0_f32) {
            let want = if some { Want::Some } else { Want::All };
            let plain = plain(&plan, want);
            let most = plain.values().map(|(score, _)| *score).fold(0.0, f32::max);
            let least = most * place;
            let found = told(&plan, want, Some(least));
            let mut all: Vec<u32> = found.found.keys().chain(&found.passed).copied().collect();
            all.sort_unstable();
            prop_assert!(all.iter().eq(plain.keys()), "each is told or passed over, once");
            for (document, (score, complete)) in plain {
                // The first window is told before anything is asked.
                if score > least + 1e-3 || (some && complete) {
                    let told = found.found.get(&document).copied().unwrap_or_default();
                    prop_assert!((told.0 - score).abs() < 1e-3 && told.1 == complete, "{document}: {score} {told:?}");
                }
            }
        }
    }

    #[test]
    fn without_a_word_everything_is_found_but_what_is_excluded() {
        let plan = Plan { groups: Vec::new(), excluded: vec![Term::Word(1)] };
        let found = told(&plan, Want::All, None).found;
        let wanted = (0..DOCUMENTS).filter(|document| occurrences(*document, 1).is_none());
        assert!(found.keys().copied().eq(wanted));
    }
}
