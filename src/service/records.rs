//! Lists and looks up stored objects: categories, reviews, glossary terms and exports.

use std::io;

use bytes::Bytes;

use super::{GlossaryPage, ListGlossary, ListReviews, Page, PageRequest, ReviewsPage, ServiceError};
use crate::catalogue::{Catalogue, ExportDocument, StoredExport};
use crate::engine::ReviewsRequest;
use crate::generation::Snapshot;

/// Lists categories by name.
pub fn list_categories(snapshot: &Snapshot, page: PageRequest) -> Page {
    Page::from_objects(&snapshot.catalogue, &snapshot.catalogue.tables.category_objects, |span| *span, page)
}

/// Returns a category as a JSON object; `None` if the id is unknown.
pub fn get_category(snapshot: &Snapshot, id: &str) -> Option<Bytes> {
    let at = snapshot.catalogue.find_category(id)?;
    Some(snapshot.catalogue.object(snapshot.catalogue.tables.category_objects[at as usize]))
}

/// Lists a product's reviews; `None` if the product is unknown. The summary covers all its reviews.
pub async fn list_reviews(
    snapshot: &Snapshot,
    software_id: &str,
    query: &ListReviews,
) -> Result<Option<ReviewsPage>, ServiceError> {
    let request = ReviewsRequest { filter: query.filter.clone(), sort: query.sort, page: query.page.range() };
    let found = snapshot.engine.reviews(software_id, &request).await?;
    Ok(found.map(|found| ReviewsPage {
        page: Page { data: found.reviews, pagination: query.page.pagination(found.total) },
        summary: found.summary,
    }))
}

/// Lists glossary terms by term; with `q`, best match first.
pub fn list_glossary(snapshot: &Snapshot, query: &ListGlossary) -> GlossaryPage {
    let entries = &snapshot.catalogue.tables.glossary;
    let Some(q) = query.q.as_deref().filter(|q| !q.trim().is_empty()) else {
        return Page::from_objects(&snapshot.catalogue, entries, |entry| entry.object, query.page);
    };
    let (found, page) = (snapshot.glossary.search(q), query.page.range());
    let data = found.iter().skip(page.start).take(page.len()).map(|at| snapshot.catalogue.object(entries[at].object));
    Page { data: data.collect(), pagination: query.page.pagination(found.total()) }
}

/// Returns a glossary term as a JSON object; `None` if the id is unknown.
pub fn get_term(snapshot: &Snapshot, id: &str) -> Option<Bytes> {
    Some(snapshot.catalogue.object(snapshot.catalogue.term(id)?.object))
}

/// Lists the loaded exports by id.
pub fn list_exports(snapshot: &Snapshot, page: PageRequest) -> Page {
    Page::from_objects(&snapshot.catalogue, &snapshot.catalogue.tables.exports, |export| export.object, page)
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
    /// The URI of its licence.
    pub fn license(&self) -> &str {
        &self.document.resource.license
    }

    /// Opens the document and verifies it. Blocks on disk I/O.
    pub fn open(&self) -> io::Result<StoredExport> {
        self.document.open(self.catalogue)
    }
}
