//! Properties of the tantivy engine: it returns what a brute-force scan of all documents returns.

mod scan;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, LazyLock};

use proptest::prelude::*;
use serde_json::{Value, json};

use self::scan::ScanEngine;
use super::{Engine, EngineError, Explain as _, Hit, SearchRequest};
use crate::catalogue::{AttributeCondition, Merged, Order, SoftwareFilter, SortedBy};
use crate::export::{self, Export, ExportSet, Limits, SourceFile};
use crate::generation::Snapshot;
use crate::record::{AttributeNumber, BUILT_IN, OfferingType};
use crate::scratch::Scratch;
use crate::search::Documents;
use crate::search::budget::Budget;
use crate::search::collect::{RERANKED, Tier};
use crate::search::expand::{Options, Prefix, expand};
use crate::search::identity::read;
use crate::search::rerank::MEANT;
use crate::search::{
    DocumentAnalyzer, DocumentTables, Meaning, Plan, Ranking, Rerank, SearchBuilder, SearchIndex, Term, names,
};

/// Words that share stems, prefixes and compounds, are misspellings of each other, or are optional; frequent ones first.
const WORDS: [&str; 24] = [
    "audit",
    "software",
    "the",
    "audits",
    "permit",
    "work",
    "to",
    "management",
    "permits",
    "lock",
    "out",
    "lockout",
    "iso",
    "9001",
    "iso9001",
    "safety",
    "saftey",
    "of",
    "zürich",
    "zurich",
    "c++",
    "auditing",
    "risk",
    "x",
];

/// The numbers of the attributes of these exports, and of those that products can be sorted by.
const ATTRIBUTES: std::ops::Range<AttributeNumber> = 0..BUILT_IN.len() + 5;
const SORTABLE: std::ops::Range<AttributeNumber> = BUILT_IN.len() + 1..BUILT_IN.len() + 4;

/// Conditions on attributes, with values that no product has and an attribute that isn't there.
const CONDITIONS: [(&str, &str); 16] = [
    ("tags", "SAFETY"),
    ("tags", "audit"),
    ("tags", "other"),
    ("licence", "lock-out"),
    ("licence", "AUDIT"),
    ("licence", "other"),
    ("price", "10..50"),
    ("price", "..20.5"),
    ("price", "21"),
    ("price", "-1e3..0"),
    ("open_source", "true"),
    ("open_source", "false"),
    ("released_on", "2005-01-01.."),
    ("released_on", "2001-02-03"),
    ("platforms", "linux"),
    ("unknown", "audit"),
];

/// A directory in both engines.
pub(super) struct Engines {
    pub(super) snapshot: Arc<Snapshot>,
    pub(super) scan: ScanEngine,
}

/// How a hit is reranked.
struct Reranked {
    /// The best score of its tier by words alone.
    best_of_tier: f32,
    /// Whether its meaning counts.
    is_meant: bool,
}

pub(super) fn exports(software: &[Value]) -> Vec<Export> {
    let document = json!({
        "name": "test", "license": "https://example.org/licence", "software": software,
        "synonyms": [{"terms": ["permit to work", "lockout"]}],
        "pins": [
            {"queries": ["audit", "safety permit"], "software": ["p3", "p9", "p0"]},
            {"queries": ["rare"], "software": ["p7", "p11", "p300"]},
        ],
        "attributes": [
            {"property": "licence", "label": "Licence"},
            {"property": "price", "label": "Price", "type": "number"},
            {"property": "open_source", "label": "Open source", "type": "boolean"},
            {"property": "released_on", "label": "Released", "type": "date"},
            {"property": "platforms", "label": "Platforms", "searchable": false},
        ],
    });
    let file = SourceFile::from_bytes(Path::new("test.json"), document.to_string().into_bytes().into());
    let today = export::latest_day(jiff::Timestamp::UNIX_EPOCH);
    let report = export::examine(vec![file], &Limits::default(), today, &|_| {}).expect("in memory");
    assert!(report.is_valid(), "{:?}", report.findings);
    report.exports
}

/// Exports merged into one directory.
pub(super) fn merged(exports: Vec<Export>, scratch: &Scratch) -> Merged {
    let set = ExportSet::of(exports, scratch).expect("written");
    Merged::of(set, scratch, |_, _| {}).expect("merged")
}

impl Engines {
    pub(super) fn new(software: &[Value]) -> Self {
        let snapshot = Snapshot::build(exports(software)).expect("it builds");
        let merged = merged(exports(software), &Scratch::in_memory());
        let mut analyzer = DocumentAnalyzer::new(merged.synonyms(), merged.pins(), &merged.attributes).with_meanings();
        let mut builder = SearchBuilder::new(merged.scratch());
        let mut documents = Vec::new();
        for product in merged.products() {
            let product = product.expect("a record");
            analyzer.analyse(&product.software, merged.categories(&product.categories));
            builder.push(&analyzer).expect("in memory");
            documents.push(ScanEngine::document(analyzer.terms()));
        }
        let vocabulary = analyzer.vocabulary().expect("words");
        let parts = builder.finish(&vocabulary).and_then(|parts| parts.read_all());
        let parts = parts.expect("in memory");
        let (_, DocumentTables { scorer, forward, meanings }) =
            SearchIndex::open(&parts, documents.len(), Ranking::default()).expect("it opens");
        let (catalogue, records) = (Arc::clone(&snapshot.catalogue), snapshot.records());
        let (ranks_by_meaning, reranked) = (true, RERANKED);
        let scan = ScanEngine { documents, scorer, forward, meanings, ranks_by_meaning, catalogue, reranked, records };
        Self { snapshot, scan }
    }

    /// Compares the engines on a plan.
    fn compare(&self, plan: &Plan, query: &Query) -> Result<(), TestCaseError> {
        let budget = Budget::new(u64::MAX);
        let request = query.request(plan, &budget);
        let hits = pollster::block_on(self.snapshot.engine.search(&request)).expect("an index in memory");
        let expected = pollster::block_on(self.scan.search(&request)).expect("a scan");
        prop_assert_eq!(hits.total, expected.total);
        prop_assert_eq!(hits.complete, expected.complete);
        prop_assert_eq!(hits.related, expected.related);
        prop_assert_eq!(hits.unfiltered_total, expected.unfiltered_total);
        prop_assert_eq!(hits.facets, expected.facets);
        let keys = |hits: &[Hit]| {
            // With an order of its own a search has no use for scores.
            let score = |score: f32| if query.order.is_none() { score.to_bits() } else { 0 };
            hits.iter().map(|hit| (hit.ordinal, hit.tier, score(hit.score), hit.item.clone())).collect::<Vec<_>>()
        };
        prop_assert_eq!(keys(&hits.hits), keys(&expected.hits));
        prop_assert_eq!(hits.texts.len(), if query.texts { hits.hits.len() } else { 0 });
        prop_assert_eq!(&hits.texts, &expected.texts);
        if query.order.is_none() && matches!(plan.rerank, Rerank::Signals(_)) {
            // Meaning adds to a score by the best one of the tier.
            let unranked = Plan { rerank: Rerank::None, ..plan.clone() };
            let all = SearchRequest { plan: &unranked, page: 0..RERANKED, facets: None, texts: false, ..request };
            let by_words = pollster::block_on(self.scan.search(&all)).expect("a scan").hits;
            for (place, hit) in (query.start..).zip(&hits.hits) {
                let best_of_tier = by_words.iter().find(|of| of.tier == hit.tier).map_or(0.0, |of| of.score);
                let is_meant = by_words.iter().take(MEANT).any(|of| of.ordinal == hit.ordinal);
                let reranked = (place < RERANKED).then_some(Reranked { best_of_tier, is_meant });
                self.compare_explanation(&request, hit, reranked)?;
            }
        }
        Ok(())
    }

    /// Compares the explanation of a hit with its score. Among whole names the spelling decides, and among pinned products
    /// their place.
    fn compare_explanation(
        &self,
        request: &SearchRequest<'_>,
        hit: &Hit,
        reranked: Option<Reranked>,
    ) -> Result<(), TestCaseError> {
        let explainer = self.snapshot.engine.explainer().expect("an embedded engine");
        let explanation = explainer.explain(request, hit.ordinal).expect("an index in memory");
        prop_assert!(
            explanation.excluded.is_empty() && !explanation.has_excluded_phrase && explanation.lacking.is_empty()
        );
        prop_assert!(explanation.admission.passed());
        let shares = explanation.signals;
        // Behind the reranked ones a score is that of the words alone.
        let score = match (&request.plan.rerank, reranked) {
            _ if hit.tier == Tier::Pinned => hit.score,
            _ if hit.tier.is_related() => shares.meaning,
            (_, Some(_)) if hit.tier == Tier::ExactName => shares.spelling,
            (Rerank::Signals(signals), Some(reranked)) => {
                let score = explanation.score();
                let meaning = signals.meaning.as_ref().filter(|_| reranked.is_meant);
                let worth = |of: &Meaning| of.worth(score, reranked.best_of_tier, shares.meaning);
                (score + meaning.map_or(0.0, worth)) * signals.factor(shares)
            }
            _ => explanation.score(),
        };
        let is_near = (score - hit.score).abs() <= 1e-4 * score.abs().max(1.0);
        prop_assert!(is_near, "{hit:?}: {explanation:?}, {shares:?}");
        let of_scan = self.scan.explain(request, hit.ordinal).expect("a scan");
        for (ours, theirs) in explanation.groups.iter().zip(&of_scan.groups) {
            prop_assert_eq!(ours.map(|of| of.score.to_bits()), theirs.map(|of| of.score.to_bits()));
            let sum = ours.map_or(1.0, |of| of.shares.iter().sum());
            prop_assert!((sum - 1.0).abs() < 1e-4, "{ours:?}");
        }
        Ok(())
    }

    fn compare_search(&self, query: &Query) -> Result<(), TestCaseError> {
        query.plans(&self.snapshot.search, self).iter().try_for_each(|plan| self.compare(plan, query))
    }
}

impl Documents for Engines {
    type Error = EngineError;

    fn document_frequency(&self, term: &Term) -> Result<u32, Self::Error> {
        let frequency = self.snapshot.engine.document_frequency(term)?;
        assert_eq!(frequency, self.scan.document_frequency(term)?, "{term:?}");
        Ok(frequency)
    }

    fn categories(&self, term: &Term) -> Result<Vec<String>, Self::Error> {
        self.snapshot.categories(term)
    }
}

#[derive(Debug, Clone)]
pub(super) struct Query {
    pub(super) text: String,
    pub(super) options: Options,
    pub(super) filter: SoftwareFilter,
    pub(super) order: Option<SortedBy>,
    pub(super) start: usize,
    pub(super) limit: usize,
    pub(super) facets: Option<Vec<AttributeNumber>>,
    pub(super) texts: bool,
}

impl Query {
    /// The plans of a search and of a search by name.
    pub(super) fn plans(&self, index: &SearchIndex, documents: &impl Documents<Error = EngineError>) -> Vec<Plan> {
        let (parsed, budget) = (read(documents, &self.text).expect("frequencies"), Budget::new(u64::MAX));
        let expansion = expand(index, documents, &self.text, &parsed, self.options, &budget).expect("frequencies");
        let plan = (!expansion.finds_nothing()).then_some(expansion.plan);
        plan.into_iter().chain(names::plan(&self.text)).collect()
    }

    pub(super) fn request<'q>(&'q self, plan: &'q Plan, budget: &'q Budget) -> SearchRequest<'q> {
        SearchRequest {
            plan,
            filter: &self.filter,
            order: self.order,
            page: self.start..self.start + self.limit,
            facets: self.facets.as_deref(),
            texts: self.texts,
            budget,
        }
    }
}

pub(super) fn query() -> impl Strategy<Value = Query> {
    let word = prop_oneof![8 => prop::sample::select(&WORDS[..]), 3 => prop::sample::select(&["pe", "aud", "sfaety", "rare", "alternative", "vs", "not"][..])];
    let text = prop::collection::vec((word, 0..12_u8), 0..5).prop_map(|words| {
        let written = words.iter().map(|(word, how)| match how {
            0 => format!("\"{word}\""),
            1 => format!("-{word}"),
            2 => format!("\"{word} the\""),
            3 => format!("-\"{word} audit\""),
            4 => format!("-\"{word} permit to\""),
            _ => (*word).to_owned(),
        });
        written.collect::<Vec<_>>().join(" ")
    });
    let set = |max: u32| prop::option::weighted(0.3, prop::collection::btree_set(0..max, 0..3));
    let condition = || prop::sample::select(&CONDITIONS[..]);
    let conditions = prop_oneof![
        3 => Just(Vec::new()),
        2 => condition().prop_map(|condition| vec![condition]),
        1 => prop::collection::vec(condition(), 2..4),
    ];
    let filter = (set(3), any::<bool>(), 0..6_u8, conditions, set(40)).prop_map(
        |(categories, is_software, stars, conditions, ids)| {
            let named = |of: Option<BTreeSet<u32>>, name: fn(u32) -> String| -> Vec<String> {
                of.into_iter().flatten().map(name).collect()
            };
            SoftwareFilter {
                categories: named(categories, |category| ["audit", "Risk", "other"][category as usize].to_owned()),
                attributes: (conditions.into_iter())
                    .map(|(property, value)| AttributeCondition::new(property, value))
                    .collect(),
                except_id: is_software.then(|| format!("p{stars}")),
                ids: named(ids, |id| format!("p{id}")),
                offering_type: is_software.then_some(OfferingType::Software),
                min_rating: (stars > 3).then_some(f64::from(stars) - 1.5),
                ..SoftwareFilter::default()
            }
        },
    );
    let filter = prop_oneof![2 => Just(SoftwareFilter::default()), 1 => filter];
    let order = prop_oneof![
        3 => Just(None),
        1 => prop::sample::select(&Order::ALL[..]).prop_map(|order| Some(SortedBy::Stored(order))),
        1 => (SORTABLE, any::<bool>())
            .prop_map(|(attribute, descending)| Some(SortedBy::Attribute { attribute, descending })),
    ];
    let start = prop_oneof![3 => Just(0), 1 => 0..30_usize, 1 => 150..300_usize];
    let prefix = prop::sample::select(&[Prefix::Auto, Prefix::Always, Prefix::Never][..]);
    let options = (any::<bool>(), prefix).prop_map(|(typo, prefix)| Options { typo, prefix });
    let facets = prop::option::of(prop::sample::subsequence(ATTRIBUTES.collect::<Vec<_>>(), 0..ATTRIBUTES.len()));
    (text, options, filter, order, start, 1..40_usize, facets, any::<bool>()).prop_map(
        |(text, options, filter, order, start, limit, facets, texts)| Query {
            text,
            options,
            filter,
            order,
            start,
            limit,
            facets,
            texts,
        },
    )
}

/// A product with these words.
pub(super) fn product(id: usize, words: &[&str], kind: u8) -> Value {
    let text = |range: std::ops::Range<usize>| {
        let words = words.iter().cycle().skip(range.start).take(range.len());
        words.copied().collect::<Vec<_>>().join(" ")
    };
    let category = ["Audit", "Permit", "Risk"][usize::from(kind) % 3];
    let mut product = json!({
        "id": format!("p{id}"), "name": text(0..1 + usize::from(kind % 3)), "tagline": text(1..4),
        "description": text(2..2 + words.len() * 2),
        // One in seven is a demo record.
        "url": if kind.is_multiple_of(7) { "https://acme.example/" } else { "https://example.org/" },
        "evidence_status": "pending-review",
        "categories": [category],
        "tags": &["safety", "Audit"][..usize::from(kind % 3)],
        "languages": if kind.is_multiple_of(2) { json!(["de"]) } else { json!([]) },
        "offering_type": if kind.is_multiple_of(5) { "document-templates" } else { "software" },
    });
    if !kind.is_multiple_of(3) {
        product["price"] = json!(f64::from(kind / 3) / 2.0 - 5.0);
        product["open_source"] = json!(kind.is_multiple_of(2));
        product["licence"] = ["Lock out", "lock-out", "audit"][usize::from(kind) % 3].into();
        product["platforms"] = json!([WORDS[usize::from(kind) % WORDS.len()], "Linux"]);
    }
    if kind.is_multiple_of(3) || kind.is_multiple_of(5) {
        product["released_on"] = format!("{}-02-03", 1990 + u32::from(kind) % 20).into();
        product["price"] = json!("on request");
    }
    if kind.is_multiple_of(4) {
        product["rating"] = json!(f64::from(kind % 5) + 0.5);
        product["review_count"] = json!(u32::from(kind));
        product["rating_source"] = json!({"label": "Reviews", "url": "https://example.org/reviews"});
    }
    product
}

pub(super) fn software() -> impl Strategy<Value = Vec<Value>> {
    let product = (prop::collection::vec(prop::sample::select(&WORDS[..]), 1..12), any::<u8>());
    prop::collection::vec(product, 0..40)
        .prop_map(|all| all.iter().enumerate().map(|(id, (words, kind))| self::product(id, words, *kind)).collect())
}

/// More documents than two blocks have, so that some words are frequent; some others are prefixed alike, so that a prefix has
/// many alternatives.
pub(super) fn large() -> Vec<Value> {
    let mut random = fastrand::Rng::with_seed(7);
    let rare: Vec<_> = ('a'..='z').flat_map(|first| ["ck", "dd"].map(|last| format!("rare{first}{last}"))).collect();
    (0..9_000)
        .map(|id| {
            // Words at the front are far more frequent.
            let word = |random: &mut fastrand::Rng| WORDS[random.usize(..WORDS.len()).min(random.usize(..WORDS.len()))];
            let mut words: Vec<_> = (0..random.usize(1..9)).map(|_| word(&mut random)).collect();
            if id % 5 == 0 {
                words.insert(random.usize(..words.len()), &rare[random.usize(..rare.len())]);
            }
            product(id, &words, random.u8(..))
        })
        .collect()
}

static LARGE: LazyLock<Engines> = LazyLock::new(|| Engines::new(&large()));

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn small_directory_is_searched_as_by_a_scan(software in software(), queries in prop::collection::vec(query(), 12)) {
        let engines = Engines::new(&software);
        for query in &queries {
            engines.compare_search(query)?;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn large_directory_is_searched_as_by_a_scan(query in query()) {
        LARGE.compare_search(&query)?;
    }
}
