//! Explanations of a search: what the query became, what ranked each hit, and why a record isn't there.

use fst::{IntoStreamer as _, Streamer as _};
use serde::Serialize;

use super::parameter::definition::{CATEGORY, EVIDENCE_STATUS, MIN_RATING, OFFERING_TYPE};
use super::search::{budget, shown_score, understood};
use super::{PageRequest, SearchSoftware, SearchSort, ServiceError};
use crate::catalogue::resource::QueryReport;
use crate::catalogue::{Admission, Attribute, Ordinal};
use crate::engine::{Hit, SearchRequest};
use crate::generation::Snapshot;
use crate::search::collect::Tier;
use crate::search::expand::Expansion;
use crate::search::rerank::Shares;
use crate::search::{Kind, Plan, StemId, Term};

/// The tier of a product with a whole name or alias that is the query.
pub const WHOLE_NAME: &str = "whole name";

/// The most words that are named for one stem.
const MOST_SPELLINGS: usize = 4;

/// An explained search.
#[derive(Debug, Serialize)]
pub struct SearchExplanation {
    /// How the query was understood.
    pub query: QueryReport,
    pub words: Vec<ExplainedWord>,
    /// The number of phrases that every hit has.
    pub phrases: usize,
    /// The number of products found.
    pub total: u64,
    /// Whether products with only some of the words follow.
    pub falls_back: bool,
    /// The hits, best first.
    pub hits: Vec<ExplainedProduct>,
    /// The requested product.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub product: Option<ExplainedProduct>,
}

/// A word of the query.
#[derive(Debug, Serialize)]
pub struct ExplainedWord {
    /// The word, folded.
    pub word: String,
    /// Whether a product needs it to have all words.
    pub required: bool,
    /// Whether it is a word of a phrase.
    pub in_phrase: bool,
    pub alternatives: Vec<ExplainedAlternative>,
}

/// An alternative of a word.
#[derive(Debug, Clone, Serialize)]
pub struct ExplainedAlternative {
    /// Why.
    pub kind: Kind,
    /// The words or the term.
    pub text: String,
    /// Its weight, 0 to 1.
    pub weight: f32,
}

/// How a product stands to the search.
#[derive(Debug, Serialize)]
pub struct ExplainedProduct {
    pub id: String,
    /// Its place among the hits, from 1; absent where it isn't found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rank: Option<u64>,
    /// The tier; absent where it isn't found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tier: Option<&'static str>,
    /// The score of the response; absent where it isn't found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<f32>,
    /// The sum of the words' scores.
    pub words_score: f32,
    /// The shares of the words in the same spelling and of neighbours that are neighbours.
    pub signals: Shares,
    /// The factor of the sum for these.
    pub factor: f32,
    /// The place in the order of quality, from 1, which decides between equals.
    pub quality: u64,
    /// By word of the query.
    pub words: Vec<ExplainedScore>,
    /// The phrases that it lacks, counted.
    pub lacking_phrases: usize,
    /// Whether it has what the query excludes.
    pub is_excluded: bool,
    /// The filters that it doesn't pass.
    pub filters: Vec<&'static str>,
}

/// The score of a product for a word.
#[derive(Debug, Serialize)]
pub struct ExplainedScore {
    pub word: String,
    /// Whether the product needs it to have all words.
    pub required: bool,
    /// The alternative that counts; absent where the product has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<ExplainedAlternative>,
    pub score: f32,
    /// The shares of name, short fields, long fields and descriptions of categories in it.
    pub shares: [f32; 4],
}

/// Explains a search in the order of relevance: its hits, and a product by its id. `None`: there is no such product.
pub async fn explain_search(
    snapshot: &Snapshot,
    query: &SearchSoftware,
    id: Option<&str>,
) -> Result<Option<SearchExplanation>, ServiceError> {
    let product = match id {
        None => None,
        Some(id) => match snapshot.engine.record(id).await? {
            None => return Ok(None),
            Some(record) => Some((id, record.ordinal)),
        },
    };
    let query = SearchSoftware { sort: SearchSort::Relevance, facets: Vec::new(), highlight: false, ..query.clone() };
    let budget = budget(snapshot);
    let (expansion, found) = understood(snapshot, &query, &budget).await?;
    let words: Vec<_> = explained_words(snapshot, &expansion);
    let explain = |id: &str, ordinal, hit| explain_product(snapshot, &query, &expansion, &words, (id, ordinal), hit);
    let places = (query.page.offset + 1..).zip(&found.hits);
    let hits = places.map(|(rank, hit)| explain(&id_of(&hit.item)?, hit.ordinal, Some((rank, hit))));
    let hits = hits.collect::<Result<_, _>>()?;
    let product = match product {
        Some((id, ordinal)) => {
            let place = place(snapshot, &query, ordinal).await?;
            Some(explain(id, ordinal, place.as_ref().map(|(rank, hit)| (*rank, hit)))?)
        }
        None => None,
    };
    Ok(Some(SearchExplanation {
        phrases: expansion.plan.phrases.len(),
        query: QueryReport {
            with_all_words: found.complete,
            incomplete: budget.is_exceeded(),
            ..expansion.report.clone()
        },
        total: found.total,
        falls_back: found.complete < found.total,
        words,
        hits,
        product,
    }))
}

/// The place of a product among all hits.
async fn place(
    snapshot: &Snapshot,
    query: &SearchSoftware,
    ordinal: Ordinal,
) -> Result<Option<(u64, Hit)>, ServiceError> {
    let page = PageRequest { limit: u32::try_from(snapshot.software_count()).unwrap_or(u32::MAX), offset: 0 };
    let (_, found) = understood(snapshot, &SearchSoftware { page, ..query.clone() }, &budget(snapshot)).await?;
    Ok((1..).zip(found.hits).find(|(_, hit)| hit.ordinal == ordinal))
}

fn explain_product(
    snapshot: &Snapshot,
    query: &SearchSoftware,
    expansion: &Expansion,
    words: &[ExplainedWord],
    (id, ordinal): (&str, Ordinal),
    hit: Option<(u64, &Hit)>,
) -> Result<ExplainedProduct, ServiceError> {
    let plan = &expansion.plan;
    let request = SearchRequest {
        plan,
        filter: &query.filter,
        order: None,
        page: query.page.range(),
        facets: None,
        texts: false,
        budget: &budget(snapshot),
    };
    let explanation = snapshot.engine.explain(&request, ordinal)?;
    let scores = words.iter().zip(&explanation.groups).map(|(word, group)| ExplainedScore {
        word: word.word.clone(),
        required: word.required,
        by: group.and_then(|group| word.alternatives.get(group.alternative).cloned()),
        score: group.map_or(0.0, |group| group.score),
        shares: group.map_or([0.0; 4], |group| group.shares),
    });
    Ok(ExplainedProduct {
        id: id.to_owned(),
        rank: hit.map(|(rank, _)| rank),
        tier: hit.map(|(_, hit)| tier(hit.tier, plan)),
        score: hit.map(|(_, hit)| shown_score(hit, plan)),
        words_score: explanation.score(),
        signals: explanation.signals,
        factor: plan.rerank.factor(explanation.signals),
        quality: u64::from(ordinal) + 1,
        words: scores.collect(),
        lacking_phrases: explanation.lacking.len(),
        is_excluded: !explanation.excluded.is_empty(),
        filters: failed(explanation.admission),
    })
}

fn id_of(item: &[u8]) -> Result<String, ServiceError> {
    #[derive(serde::Deserialize)]
    struct Item {
        id: String,
    }
    let item: Item = serde_json::from_slice(item)?;
    Ok(item.id)
}

/// The name of a tier. Without words each product is in the same one.
const fn tier(tier: Tier, plan: &Plan) -> &'static str {
    match tier {
        _ if plan.names.is_empty() => "every product",
        Tier::ExactName => WHOLE_NAME,
        Tier::All => "all words",
        Tier::Demo => "all words, demo record",
        Tier::Some => "some words",
        Tier::SomeDemo => "some words, demo record",
    }
}

/// The filters that a product fails.
fn failed(admission: Admission) -> Vec<&'static str> {
    let parts = [
        (Admission::CATEGORY, CATEGORY.name),
        (Admission::OFFERING_TYPE, OFFERING_TYPE.name),
        (Admission::EVIDENCE_STATUS, EVIDENCE_STATUS.name),
        (Admission::RATING, MIN_RATING.name),
        (Admission::EVIDENCE_CHECKED, "evidence_checked"),
    ];
    let attributes = Attribute::ALL.map(|attribute| (Admission::attribute(attribute), attribute.as_str()));
    parts.into_iter().chain(attributes).filter(|(part, _)| admission.has_failed(*part)).map(|(_, name)| name).collect()
}

fn explained_words(snapshot: &Snapshot, expansion: &Expansion) -> Vec<ExplainedWord> {
    let alternative = |of: &crate::search::Alternative| ExplainedAlternative {
        kind: of.kind,
        text: text(snapshot, &of.term),
        weight: of.weight,
    };
    let word = |slot: &crate::search::expand::slot::Slot| ExplainedWord {
        word: slot.word.folded.clone(),
        required: slot.required,
        in_phrase: slot.in_phrase,
        alternatives: slot.alternatives.iter().map(alternative).collect(),
    };
    expansion.slots.iter().map(word).collect()
}

/// A term as people read it.
fn text(snapshot: &Snapshot, term: &Term) -> String {
    match term {
        Term::Word(stem) => spellings(snapshot, *stem),
        Term::Concept(concept) => snapshot.search.thesaurus.terms_of(*concept).join(", "),
        Term::Prefix(text) | Term::NamePrefix(text) => format!("{text}…"),
        Term::Compound(text)
        | Term::Name(text)
        | Term::AlternativeTo(text)
        | Term::Category(text)
        | Term::NameWord(text) => text.to_string(),
    }
}

/// The first words with a stem.
fn spellings(snapshot: &Snapshot, stem: StemId) -> String {
    let lexicon = &snapshot.search.lexicon;
    let mut stream = lexicon.words().into_stream();
    let mut found: Vec<String> = Vec::new();
    while let Some((word, number)) = stream.next() {
        let Ok(number) = u32::try_from(number) else { continue };
        if lexicon.stem_of(number) != stem || lexicon.document_frequency(number) == 0 {
            continue;
        }
        if found.len() == MOST_SPELLINGS {
            found.push("…".to_owned());
            break;
        }
        found.push(String::from_utf8_lossy(word).into_owned());
    }
    found.join(", ")
}
