//! What the pages show about an entire generation, computed once: the home page, the index of
//! terms, examples, and the sitemap.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use foldhash::HashMap;
use unicode_normalization::UnicodeNormalization as _;

use super::language::PageLanguage;
use super::once::Once;
use super::row;
use super::terms::TermIndex;
use crate::catalogue::resource::CategoryResource;
use crate::catalogue::{Collation, GlossaryEntry, StoredProduct, Tables};
use crate::generation::Snapshot;
use crate::http::problem::ApiError;
use crate::record::{CalendarDate, EvidenceStatus, Language};
use crate::service::{
    self, FeedKind, Order, PageRequest, SearchSoftware, SearchSort, ServiceError, SoftwareFilter, Stop,
};

/// How many categories the home page shows.
const CATEGORIES: usize = 12;

/// How many products each list on the home page shows.
const PRODUCTS: usize = 5;

/// How many products are looked at for each of these lists: fictional ones are left out.
const LOOKED_AT: u32 = 100;

/// The number of example queries.
const EXAMPLES: usize = 3;

/// What terms are listed under if they don't start with a letter.
const OTHER: &str = "#";

/// The maximum number of letters that terms are listed under. All other terms are listed under
/// [`OTHER`].
const MAX_LETTERS: usize = 200;

#[derive(Debug)]
pub(in crate::http) struct Overview {
    pub(super) software_count: u64,
    pub(super) term_count: u64,
    /// Products with the newest evidence, as list items.
    pub(super) newest_evidence: Vec<Bytes>,
    /// The most recently added products, as list items.
    pub(super) recently_added: Vec<Bytes>,
    /// The full records of the products in these two lists.
    pub(super) records: Vec<Option<StoredProduct>>,
    pub(super) terms: TermIndex,
    /// For each language that pages show records in; `None` means each record's own.
    localised: Vec<(Option<Language>, Localised)>,
}

/// What's sorted by the names shown, or made of them.
#[derive(Debug)]
pub(super) struct Localised {
    /// The categories, as indices.
    pub(super) categories: Vec<usize>,
    /// The glossary's letters.
    pub(super) letters: Letters,
    /// Queries that find something in the directory.
    pub(super) examples: Vec<String>,
}

/// The letters under which terms are listed, each with its terms as indices.
pub(super) type Letters = Vec<(String, Vec<usize>)>;

/// What was derived from the most recently requested generation. It doesn't keep the generation in
/// memory.
#[derive(Debug, Default)]
pub(in crate::http) struct Overviews(Mutex<Derived>);

/// What was derived from a generation, each part on first use.
#[derive(Debug, Default)]
struct Derived {
    /// The generation's name, and when its log last changed.
    version: [String; 2],
    overview: Once<Arc<Overview>>,
    /// The sitemap's files by number.
    sitemap: BTreeMap<u64, Once<SitemapFile>>,
}

/// A file of a generation's sitemap.
#[derive(Debug, Clone)]
pub(super) struct SitemapFile {
    pub(super) gzip: Bytes,
    /// Its uncompressed size in bytes.
    pub(super) size: u64,
}

impl Overviews {
    pub(super) fn overview(&self, snapshot: &Snapshot) -> Once<Arc<Overview>> {
        self.derived(snapshot, |derived| derived.overview.clone())
    }

    /// A file of the sitemap.
    pub(super) fn sitemap(&self, snapshot: &Snapshot, number: u64) -> Once<SitemapFile> {
        self.derived(snapshot, |derived| derived.sitemap.entry(number).or_default().clone())
    }

    fn derived<T>(&self, snapshot: &Snapshot, get: impl FnOnce(&mut Derived) -> T) -> T {
        let version = [snapshot.generation(), snapshot.changes.changed_at()];
        let mut derived = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if derived.version != version {
            *derived = Derived { version: version.map(str::to_owned), ..Derived::default() };
        }
        get(&mut derived)
    }
}

impl Overview {
    /// Computes the overview. That involves searches, so run it on the search pool.
    pub(super) fn compute(snapshot: &Snapshot) -> Result<Self, ApiError> {
        let tables = &snapshot.catalogue.tables;
        // Unless all products are fictional, none leads the home page.
        let is_demo = |ordinal| snapshot.records.columns.is_demo(ordinal);
        let is_real = |id: &str| is_demo(0) || snapshot.records.find(id).is_some_and(|ordinal| !is_demo(ordinal));
        let newest = SearchSoftware {
            q: None,
            sort: SearchSort::Stored(Order::EvidenceCheckedOn),
            // Excludes products without a date.
            filter: SoftwareFilter {
                evidence_checked_after: CalendarDate::parse("0001-01-01"),
                evidence_status: Some(EvidenceStatus::VendorSourcesReviewed),
                ..SoftwareFilter::default()
            },
            page: PageRequest { limit: LOOKED_AT, offset: 0 },
            ..SearchSoftware::new("")
        };
        let newest = service::search_software(snapshot, &newest)?;
        let changes = service::list_feed(snapshot, None, &SoftwareFilter::default(), &Stop::default())?;
        let added = changes.into_iter().filter(|entry| entry.kind == FeedKind::Added && is_real(&entry.id));
        let added = added.map(|entry| entry.id).filter(|id| snapshot.records.find(id).is_some());
        let added: Vec<_> = added.take(PRODUCTS).collect();
        let recently_added = items(snapshot, &added)?;
        let newest_items = row::items(newest.data.iter().map(|hit| &hit.item))?.into_iter().zip(&newest.data);
        let newest_items = newest_items.filter(|(item, _)| is_real(&item.id)).take(PRODUCTS);
        let (mut listed, newest_evidence): (Vec<_>, Vec<_>) =
            newest_items.map(|(item, hit)| (item, Bytes::copy_from_slice(&hit.item))).unzip();
        listed.extend(row::items(recently_added.iter())?);
        Ok(Self {
            software_count: snapshot.software_count() as u64,
            term_count: tables.glossary.len() as u64,
            records: row::records(snapshot, &listed)?,
            newest_evidence,
            recently_added,
            terms: TermIndex::new(&tables.glossary).map_err(ApiError::internal)?,
            localised: localised(snapshot)?,
        })
    }

    pub(super) fn localised(&self, language: Option<&Language>) -> Option<&Localised> {
        self.localised.iter().find(|(of, _)| of.as_ref() == language).map(|(_, localised)| localised)
    }
}

/// The categories with the most products, given all of them in the order shown.
pub(super) fn largest(all: &[CategoryResource], sorted: &[usize]) -> Vec<usize> {
    let mut largest: Vec<_> = sorted.iter().copied().filter(|at| all[*at].software_count > 0).collect();
    largest.sort_by_key(|at| Reverse(all[*at].software_count));
    largest.truncate(CATEGORIES);
    largest
}

fn localised(snapshot: &Snapshot) -> Result<Vec<(Option<Language>, Localised)>, ApiError> {
    let Tables { languages, categories, glossary, .. } = &snapshot.catalogue.tables;
    let tags = PageLanguage::all().map(|page| page.texts().tag).chain([snapshot.catalogue.own_language()]);
    let shown: BTreeSet<_> = tags.map(|tag| languages.find(tag)).chain([None]).collect();
    let collation = Collation::new().map_err(ApiError::internal)?;
    let localise = |language: Option<&Language>| {
        let name = |at: &usize| categories[*at].name_in(language);
        let term = |entry: &'_ GlossaryEntry| {
            language.and_then(|language| entry.term.find_term(language)).unwrap_or(&entry.term.term).to_owned()
        };
        let mut order: Vec<_> = (0..categories.len()).collect();
        order.sort_by_cached_key(|at| collation.key(name(at)));
        let mut terms: Vec<_> = glossary.iter().map(term).enumerate().collect();
        terms.sort_by_cached_key(|(_, term)| collation.key(term));
        Ok::<_, ApiError>(Localised {
            examples: service::example_queries(snapshot, language, EXAMPLES)?,
            categories: order,
            letters: letters(terms.iter().map(|(at, term)| (*at, term.as_str()))),
        })
    };
    shown.into_iter().map(|language| Ok((language.cloned(), localise(language)?))).collect()
}

/// The letters that terms are listed under, each with its terms' indices, in term order.
fn letters<'t>(terms: impl Iterator<Item = (usize, &'t str)>) -> Letters {
    let (mut letters, mut places) = (Letters::new(), HashMap::default());
    for (at, term) in terms {
        let letter = letter(term);
        let is_listed = letters.len() < MAX_LETTERS || places.contains_key(&letter);
        let place = places.entry(if is_listed { letter } else { OTHER.to_owned() });
        let place = *place.or_insert_with_key(|letter| {
            letters.push((letter.clone(), Vec::new()));
            letters.len() - 1
        });
        letters[place].1.push(at);
    }
    letters
}

/// The letter under which a term is listed: its first letter without accents, or [`OTHER`] if it
/// starts with something else.
fn letter(term: &str) -> String {
    let first = term.nfd().find(|c| c.is_alphanumeric()).filter(|c| c.is_alphabetic());
    first.map_or_else(|| OTHER.to_owned(), |first| first.to_uppercase().collect())
}

/// The products with these ids, in the same order.
fn items(snapshot: &Snapshot, ids: &[String]) -> Result<Vec<Bytes>, ServiceError> {
    let items = service::get_items(snapshot, ids, None)?;
    Ok(items.iter().map(|item| Bytes::copy_from_slice(item)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_are_listed_under_their_first_letter_without_accents() {
        for (term, of) in
            [("Übung", "U"), ("éclair", "E"), ("ISO 9001", "I"), ("5S", "#"), ("«a»", "A"), ("…", "#"), ("ß", "SS")]
        {
            assert_eq!(letter(term), of, "{term}");
        }
        let grouped = letters(["5S", "Ärger", "art", "Bau", "8D"].into_iter().enumerate());
        let grouped: Vec<_> = grouped.iter().map(|(letter, terms)| (&**letter, &terms[..])).collect();
        assert_eq!(grouped, [("#", &[0, 4][..]), ("A", &[1, 2]), ("B", &[3])]);
    }

    #[test]
    fn terms_in_a_script_with_thousands_of_letters_are_listed_under_a_limited_number() {
        let terms: Vec<_> = ('一'..='龥').chain('一'..='龥').map(String::from).collect();
        let letters = letters(terms.iter().map(String::as_str).enumerate());
        assert_eq!((letters.len(), &*letters[MAX_LETTERS].0), (MAX_LETTERS + 1, OTHER));
        assert_eq!(letters[0], ("一".to_owned(), vec![0, terms.len() / 2]));
        assert_eq!(letters.iter().map(|(_, terms)| terms.len()).sum::<usize>(), terms.len());
    }
}
