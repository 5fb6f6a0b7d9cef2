//! Explains a search: how the query was understood, what ranked each hit, and why a record isn't
//! found.

use fst::{IntoStreamer as _, Streamer as _};
use serde::Serialize;

use super::parameter::definition::{CATEGORY, EVIDENCE_STATUS, MIN_RATING, OFFERING_TYPE};
use super::search::{budget, report, shown_score, understood};
use super::{PageRequest, SearchSoftware, SearchSort, ServiceError};
use crate::catalogue::resource::{QueryReport, SoftwareItem};
use crate::catalogue::{Admission, Ordinal};
use crate::generation::Snapshot;
use crate::index::{Hit, SearchRequest};
use crate::search::budget::Stop;
use crate::search::collect::Tier;
use crate::search::expand::Expansion;
use crate::search::rerank::Shares;
use crate::search::{MatchKind, Plan, StemId, Term};

/// The tier of a product whose full name or alias is the query.
pub const WHOLE_NAME: &str = "whole name";

const PINNED: &str = "pinned to the query";

const MOST_SPELLINGS: usize = 4;

#[derive(Debug, Serialize)]
pub struct SearchExplanation {
    pub query: QueryReport,
    pub words: Vec<ExplainedWord>,
    /// The number of phrases that every hit must contain.
    pub phrases: usize,
    pub total: u64,
    /// Whether products with only some of the words are included.
    pub falls_back: bool,
    /// Best first.
    pub hits: Vec<ExplainedProduct>,
    /// The product whose id was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub product: Option<ExplainedProduct>,
}

#[derive(Debug, Serialize)]
pub struct ExplainedWord {
    pub word: String,
    /// Whether a product must match this word to count as having all the words.
    pub required: bool,
    pub in_phrase: bool,
    pub alternatives: Vec<ExplainedAlternative>,
}

#[derive(Debug, Clone, Serialize)]
pub struct ExplainedAlternative {
    pub kind: MatchKind,
    /// The words with the alternative's stem, or its term.
    pub text: String,
    /// From 0 to 1.
    pub weight: f32,
}

#[derive(Debug, Serialize)]
pub struct ExplainedProduct {
    pub id: String,
    /// The product's position among the hits, from 1; `None` if the product isn't found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rank: Option<u64>,
    /// `None` if the product isn't found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tier: Option<&'static str>,
    /// The score that a search returns; `None` if the product isn't found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<f32>,
    pub words_score: f32,
    /// What the product's meaning adds to that score.
    pub meaning_score: f32,
    /// The share of words spelled the same, the share of adjacent query words that are adjacent in
    /// the product, and how similar the product's meaning is.
    pub signals: Shares,
    /// The factor that spelling and adjacency contribute to the score.
    pub factor: f32,
    /// The product's position when products are sorted by quality, from 1. Breaks ties.
    pub quality: u64,
    /// The scores in the order of the query's words.
    pub words: Vec<ExplainedScore>,
    pub lacking_phrases: usize,
    pub is_excluded: bool,
    pub is_last: bool,
    pub filters: Vec<String>,
}

#[derive(Debug, Serialize)]
pub struct ExplainedScore {
    pub word: String,
    pub required: bool,
    /// The highest-scoring alternative; `None` if the product doesn't match any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<ExplainedAlternative>,
    pub score: f32,
    /// The shares of the score that come from the name, short fields, long fields and category
    /// descriptions.
    pub shares: [f32; 4],
}

/// Explains a search sorted by relevance: its hits and, if an id is given, that product. Returns
/// `None` if there's no such product.
pub fn explain_search(
    snapshot: &Snapshot,
    query: &SearchSoftware,
    id: Option<&str>,
) -> Result<Option<SearchExplanation>, ServiceError> {
    let product = match id {
        None => None,
        Some(id) => match snapshot.records.find(id) {
            None => return Ok(None),
            Some(ordinal) => Some((id, ordinal)),
        },
    };
    let query = SearchSoftware { sort: SearchSort::Relevance, facets: Vec::new(), highlight: false, ..query.clone() };
    let budget = budget(snapshot, &Stop::default());
    let (expansion, found) = understood(snapshot, &query, &budget)?;
    let words: Vec<_> = explained_words(snapshot, &expansion);
    let explain = |id: &str, ordinal, hit| explain_product(snapshot, &query, &expansion, &words, (id, ordinal), hit);
    let places = (query.page.offset + 1..).zip(&found.hits);
    let hits = places.map(|(rank, hit)| explain(&id_of(&hit.item)?, hit.ordinal, Some((rank, hit))));
    let hits = hits.collect::<Result<_, _>>()?;
    let product = match product {
        Some((id, ordinal)) => {
            let place = place(snapshot, &query, ordinal)?;
            Some(explain(id, ordinal, place.as_ref().map(|(rank, hit)| (*rank, hit)))?)
        }
        None => None,
    };
    Ok(Some(SearchExplanation {
        phrases: expansion.plan.phrases.len(),
        query: report(expansion.report.clone(), found.complete, found.related, &budget),
        total: found.total,
        falls_back: found.complete + found.related < found.total,
        words,
        hits,
        product,
    }))
}

fn place(snapshot: &Snapshot, query: &SearchSoftware, ordinal: Ordinal) -> Result<Option<(u64, Hit)>, ServiceError> {
    let page = PageRequest { limit: u32::try_from(snapshot.software_count()).unwrap_or(u32::MAX), offset: 0 };
    let (_, found) =
        understood(snapshot, &SearchSoftware { page, ..query.clone() }, &budget(snapshot, &Stop::default()))?;
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
        budget: &budget(snapshot, &Stop::default()),
    };
    let explanation = snapshot.index.explain(&request, ordinal)?;
    let (words_score, factor) = (explanation.score(), plan.signals.factor(explanation.signals));
    // An exact name's score doesn't come from its words. If meaning adds nothing, other scores
    // differ from the words' scores only by rounding.
    let meaning_score = match hit {
        // A related product's score doesn't depend on words.
        Some((_, hit)) if hit.tier.is_related() => hit.score,
        Some((_, hit)) if hit.tier != Tier::ExactName && hit.score > words_score * factor * 1.0001 => {
            hit.score / factor - words_score
        }
        _ => 0.0,
    };
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
        words_score,
        meaning_score,
        signals: explanation.signals,
        factor,
        quality: u64::from(ordinal) + 1,
        words: scores.collect(),
        lacking_phrases: explanation.lacking.len(),
        is_excluded: !explanation.excluded.is_empty() || explanation.has_excluded_phrase,
        is_last: explanation.is_last,
        filters: failed(snapshot, explanation.admission),
    })
}

fn id_of(item: &[u8]) -> Result<String, ServiceError> {
    let item: SoftwareItem<'_> = serde_json::from_slice(item)?;
    Ok(item.id.into_owned())
}

/// A tier's name. If the query has no words, all products are in the same tier.
const fn tier(tier: Tier, plan: &Plan) -> &'static str {
    match tier {
        _ if plan.names.is_empty() => "every product",
        Tier::ExactName => WHOLE_NAME,
        Tier::Pinned => PINNED,
        Tier::Words => "words",
        Tier::Demo => "words, demo record",
        Tier::Related => "related",
        Tier::RelatedDemo => "related, demo record",
    }
}

fn failed(snapshot: &Snapshot, admission: Admission) -> Vec<String> {
    let parts = [
        (Admission::CATEGORY, CATEGORY.name),
        (Admission::OFFERING_TYPE, OFFERING_TYPE.name),
        (Admission::EVIDENCE_STATUS, EVIDENCE_STATUS.name),
        (Admission::RATING, MIN_RATING.name),
        (Admission::EVIDENCE_CHECKED, "evidence_checked"),
    ];
    let attributes = snapshot.catalogue.tables.attributes.iter();
    let attributes = attributes.map(|(number, attribute)| (Admission::attribute(number), &*attribute.property));
    let failed = parts.into_iter().chain(attributes).filter(|(part, _)| admission.has_failed(*part));
    failed.map(|(_, name)| name.to_owned()).collect()
}

fn explained_words(snapshot: &Snapshot, expansion: &Expansion) -> Vec<ExplainedWord> {
    let alternative = |of: &crate::search::Alternative| ExplainedAlternative {
        kind: of.kind,
        text: text(snapshot, &of.term),
        weight: of.weight,
    };
    let word = |slot: &crate::search::expand::Slot| ExplainedWord {
        word: slot.word.folded.clone(),
        required: slot.required,
        in_phrase: slot.in_phrase,
        alternatives: slot.alternatives.iter().map(alternative).collect(),
    };
    expansion.slots.iter().map(word).collect()
}

/// A term as shown to people.
fn text(snapshot: &Snapshot, term: &Term) -> String {
    match term {
        Term::Word(stem) => spellings(snapshot, *stem),
        Term::Concept(concept) => snapshot.search.thesaurus.terms_of(*concept).join(", "),
        Term::Topic(topic) => format!("topic {topic}"),
        Term::Prefix(text) | Term::NamePrefix(text) => format!("{text}…"),
        Term::Value(text) => text.split_once(' ').map_or("", |(_, key)| key).to_owned(),
        Term::Compound(text)
        | Term::Name(text)
        | Term::AlternativeTo(text)
        | Term::Category(text)
        | Term::NameWord(text)
        | Term::Identity(text)
        | Term::Inner(text)
        | Term::Pinned { query: text, .. } => text.to_string(),
    }
}

/// The first few words with this stem.
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
