//! What the pages show about an entire generation, computed once: the home page, the index of
//! terms, and examples.

use std::cmp::Reverse;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use unicode_normalization::UnicodeNormalization as _;

use super::part::terms::TermIndex;
use crate::catalogue::{Collation, GlossaryEntry};
use crate::generation::Snapshot;
use crate::http::problem::ApiError;
use crate::record::{CalendarDate, Language};
use crate::service::{self, News, NewsKind, PageRequest, SearchSoftware, SearchSort, ServiceError, SoftwareFilter};

/// How many categories the home page shows.
const CATEGORIES: usize = 12;

/// How many products each list on the home page shows.
const PRODUCTS: u32 = 5;

/// The number of example queries.
const EXAMPLES: usize = 3;

#[derive(Debug)]
pub(super) struct Overview {
    /// The generation's name, and when its log last changed.
    version: [String; 2],
    pub(super) software_count: u64,
    pub(super) term_count: u64,
    /// The categories with the most products, as indices.
    pub(super) categories: Vec<usize>,
    /// Products with the newest evidence, as list items.
    pub(super) newest_evidence: Vec<Bytes>,
    /// The most recently added products, as list items.
    pub(super) recently_added: Vec<Bytes>,
    /// Queries that find something in the directory.
    pub(super) examples: Vec<String>,
    pub(super) terms: TermIndex,
    /// The glossary's letters for each language it can be shown in; `None` means each term's own.
    letters: Vec<(Option<Language>, Letters)>,
}

/// The letters under which terms are listed, each with its terms as indices.
type Letters = Vec<(String, Vec<usize>)>;

/// The overview of the most recently requested generation. It doesn't keep the generation in
/// memory.
#[derive(Debug, Default)]
pub(in crate::http) struct Overviews(Mutex<Option<Arc<Overview>>>);

impl Overviews {
    /// A generation's overview, if it has already been computed.
    pub(super) fn known(&self, snapshot: &Snapshot) -> Option<Arc<Overview>> {
        let last = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        last.filter(|overview| overview.version == version(snapshot))
    }

    /// A generation's overview. Computing it involves searches, so run it on the search pool.
    pub(super) async fn of(&self, snapshot: &Snapshot) -> Result<Arc<Overview>, ApiError> {
        if let Some(overview) = self.known(snapshot) {
            return Ok(overview);
        }
        let overview = Arc::new(Overview::compute(snapshot).await?);
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&overview));
        Ok(overview)
    }
}

fn version(snapshot: &Snapshot) -> [String; 2] {
    [snapshot.generation().to_owned(), snapshot.changes.changed_at().to_owned()]
}

impl Overview {
    async fn compute(snapshot: &Snapshot) -> Result<Self, ApiError> {
        let tables = &snapshot.catalogue.tables;
        let mut categories: Vec<_> = (0..tables.categories.len()).collect();
        categories.retain(|at| tables.categories[*at].software_count > 0);
        // The sort is stable: categories of the same size stay in name order.
        categories.sort_by_key(|at| Reverse(tables.categories[*at].software_count));
        categories.truncate(CATEGORIES);
        let few = PageRequest { limit: PRODUCTS, offset: 0 };
        let newest = SearchSoftware {
            q: None,
            sort: SearchSort::EvidenceCheckedOn,
            // Excludes products without a date.
            filter: SoftwareFilter {
                evidence_checked_after: CalendarDate::parse("0001-01-01"),
                ..SoftwareFilter::default()
            },
            page: few,
            ..SearchSoftware::new("")
        };
        let newest = service::search_software(snapshot, &newest).await?;
        let added = service::list_news(snapshot, &[]).await?;
        let added: Vec<_> =
            added.into_iter().filter(|news| news.kind == NewsKind::Added).take(PRODUCTS as usize).collect();
        Ok(Self {
            version: version(snapshot),
            software_count: snapshot.software_count() as u64,
            term_count: tables.glossary.len() as u64,
            categories,
            newest_evidence: newest.data.iter().map(|hit| Bytes::copy_from_slice(&hit.item)).collect(),
            recently_added: items(snapshot, &added).await?,
            examples: service::example_queries(snapshot, EXAMPLES).await?,
            terms: TermIndex::new(&tables.glossary),
            letters: letters_by_language(&tables.glossary, &tables.languages.all())?,
        })
    }

    /// The glossary's letters, with the terms in this language if they're translated into it.
    pub(super) fn letters(&self, language: Option<&Language>) -> &[(String, Vec<usize>)] {
        let shown_in = |language: Option<&Language>| self.letters.iter().find(|(of, _)| of.as_ref() == language);
        shown_in(language).or_else(|| shown_in(None)).map_or(&[], |(_, letters)| letters)
    }
}

fn letters_by_language<'g>(
    glossary: &'g [GlossaryEntry],
    languages: &[&Language],
) -> Result<Vec<(Option<Language>, Letters)>, ApiError> {
    let collation = Collation::new().map_err(ApiError::internal)?;
    let mut all = vec![(None, letters(glossary.iter().map(|entry| &*entry.term.term).enumerate()))];
    for language in languages {
        let shown = |entry: &'g GlossaryEntry| entry.term.find_term(language).unwrap_or(&entry.term.term);
        let mut terms: Vec<_> = glossary.iter().map(shown).enumerate().collect();
        terms.sort_by_cached_key(|(_, term)| collation.key(term));
        all.push((Some((*language).clone()), letters(terms.into_iter())));
    }
    Ok(all)
}

/// The letters that terms are listed under, each with its terms' indices, in term order.
fn letters<'t>(terms: impl Iterator<Item = (usize, &'t str)>) -> Letters {
    let mut letters = Letters::new();
    for (at, term) in terms {
        let letter = letter(term);
        // A term's letter is nearly always the last one added.
        match letters.iter_mut().rfind(|(of, _)| *of == letter) {
            Some((_, terms)) => terms.push(at),
            None => letters.push((letter, vec![at])),
        }
    }
    letters
}

/// The letter under which a term is listed: its first letter without accents, or `#` if it starts
/// with something else.
fn letter(term: &str) -> String {
    let first = term.nfd().find(|c| c.is_alphanumeric()).filter(|c| c.is_alphabetic());
    first.map_or_else(|| "#".to_owned(), |first| first.to_uppercase().collect())
}

/// The products that these news entries are about, in the same order.
async fn items(snapshot: &Snapshot, news: &[News]) -> Result<Vec<Bytes>, ServiceError> {
    let ids: Vec<_> = news.iter().map(|news| news.id.clone()).collect();
    let items = service::get_items(snapshot, &ids, None).await?;
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
}
