//! Lists and looks up stored objects: categories, reviews, glossary terms and exports.

use std::io;
use std::ops::Range;

use super::{ListGlossary, ListReviews, LocalisedObject, Page, PageRequest, ReviewsPage, ServiceError};
use crate::catalogue::{Catalogue, ExportDocument, GlossaryEntry, StoredExport};
use crate::generation::Snapshot;
use crate::record::Language;
use crate::search::budget::Stop;
use crate::search::headings::HeadingIndex;

/// Lists categories by name, with their text in the given language.
pub fn list_categories(
    catalogue: &Catalogue,
    page: PageRequest,
    language: Option<&Language>,
) -> Result<Page, ServiceError> {
    let all = 0..catalogue.tables.categories.len();
    let objects = all.clone().skip(page.range().start).take(page.range().len());
    Page::localised(objects.map(|at| category(catalogue, at, language)), page.pagination(all.len() as u64))
}

/// Returns a category, with its text in the given language; `None` if the id is unknown.
pub fn get_category(
    catalogue: &Catalogue,
    id: &str,
    language: Option<&Language>,
) -> Result<Option<LocalisedObject>, ServiceError> {
    let at = catalogue.find_category(id);
    at.map(|at| category(catalogue, at as usize, language)).transpose()
}

fn category(catalogue: &Catalogue, at: usize, language: Option<&Language>) -> Result<LocalisedObject, ServiceError> {
    let tables = &catalogue.tables;
    let Some(language) = language else { return Ok((catalogue.object(tables.category_objects[at]), false)) };
    let (category, is_any) = tables.categories[at].in_language(language);
    Ok((serde_json::to_vec(&category)?.into(), is_any))
}

/// Lists a product's reviews; `None` if the product is unknown. The summary covers all of the
/// product's reviews.
pub fn list_reviews(snapshot: &Snapshot, software_id: &str, query: &ListReviews, stop: &Stop) -> Option<ReviewsPage> {
    let records = &snapshot.records;
    let reviews = records.reviews.of(records.find(software_id)?);
    let (found, total) = reviews.page(&query.filter, query.sort, &query.page.range(), |_| !stop.is_set());
    let data = found.into_iter().map(|review| records.object(review.object)).collect();
    let page = Page { data, pagination: query.page.pagination(total as u64), is_in_language: false };
    Some(ReviewsPage { page, summary: reviews.summary.clone() })
}

/// Lists glossary terms, sorted by term or, with `q`, best match first. Their text is in the given
/// language. `index` is the index of the catalogue's glossary.
pub fn list_glossary(
    catalogue: &Catalogue,
    index: &HeadingIndex,
    query: &ListGlossary,
    language: Option<&Language>,
    stop: &Stop,
) -> Result<Page, ServiceError> {
    let entries = &catalogue.tables.glossary;
    let (Range { start, end }, page) = (query.page.range(), query.page);
    let Some(q) = query.q.as_deref().filter(|q| !q.trim().is_empty()) else {
        let shown = query.page.slice(entries).iter().map(|entry| term(catalogue, entry, language));
        return Page::localised(shown, page.pagination(entries.len() as u64));
    };
    let found = index.search(q, stop);
    let shown = found.iter().skip(start).take(end - start).map(|at| term(catalogue, &entries[at], language));
    Page::localised(shown, page.pagination(found.total()))
}

/// Returns a glossary term, with its text in the given language; `None` if the id is unknown.
pub fn get_term(
    catalogue: &Catalogue,
    id: &str,
    language: Option<&Language>,
) -> Result<Option<LocalisedObject>, ServiceError> {
    catalogue.term(id).map(|entry| term(catalogue, entry, language)).transpose()
}

fn term(
    catalogue: &Catalogue,
    entry: &GlossaryEntry,
    language: Option<&Language>,
) -> Result<LocalisedObject, ServiceError> {
    let Some(language) = language else { return Ok((catalogue.object(entry.object), false)) };
    let (term, is_any) = entry.term.in_language(language);
    Ok((serde_json::to_vec(&term)?.into(), is_any))
}

/// Lists the loaded exports by id.
pub fn list_exports(catalogue: &Catalogue, page: PageRequest) -> Page {
    let exports = &catalogue.tables.exports;
    let data = page.slice(exports).iter().map(|export| catalogue.object(export.object)).collect();
    Page { data, pagination: page.pagination(exports.len() as u64), is_in_language: false }
}

/// Returns an export for download; `None` if the id is unknown.
pub fn get_export<'s>(snapshot: &'s Snapshot, id: &str) -> Option<ExportDownload<'s>> {
    let document = snapshot.catalogue.export(id)?;
    Some(ExportDownload { catalogue: &snapshot.catalogue, document })
}

#[derive(Debug, Clone, Copy)]
pub struct ExportDownload<'s> {
    catalogue: &'s Catalogue,
    document: &'s ExportDocument,
}

impl ExportDownload<'_> {
    /// The URI of the export's licence.
    pub fn license(&self) -> &str {
        &self.document.resource.license
    }

    /// The text of the document's signature, if the directory checks signatures.
    pub fn signature(&self) -> Option<&str> {
        self.document.signature.as_deref()
    }

    /// Opens the document and verifies it. Blocks on disk I/O.
    pub fn open(&self) -> io::Result<StoredExport> {
        self.document.open(self.catalogue)
    }
}
