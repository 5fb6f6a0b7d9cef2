//! The operations themselves.

use bytes::Bytes;

use super::{GlossaryPage, ListGlossary, ListSoftware, Page, PageRequest, ReviewsPage, SearchPage, SearchSoftware};
use crate::snapshot::{ExportDocument, Snapshot};

/// Why an operation failed through no fault of the caller.
#[derive(Debug, thiserror::Error)]
pub enum ServiceError {
    /// The engine could not carry out the query.
    #[error("the search engine failed")]
    Engine(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// Lists products (`GET /v1/software`).
///
/// # Errors
/// Where the engine fails; only with `q`.
pub fn list_software<'s>(snapshot: &'s Snapshot, query: &ListSoftware) -> Result<Page<'s>, ServiceError> {
    todo!("{snapshot:p} {query:?}")
}

/// One product as a whole answer, `{"data": {…}}`; `None` where there is none with this id.
#[must_use]
pub fn get_software(snapshot: &Snapshot, id: &str) -> Option<Bytes> {
    todo!("{snapshot:p} {id}")
}

/// Lists categories by name.
#[must_use]
pub fn list_categories(snapshot: &Snapshot, page: PageRequest) -> Page<'_> {
    todo!("{snapshot:p} {page:?}")
}

/// Lists a product's reviews, newest first; `None` where there is no such product.
#[must_use]
pub fn list_reviews<'s>(snapshot: &'s Snapshot, software_id: &str, page: PageRequest) -> Option<ReviewsPage<'s>> {
    todo!("{snapshot:p} {software_id} {page:?}")
}

/// Lists glossary terms by term, or with `q` best match first.
#[must_use]
pub fn list_glossary<'s>(snapshot: &'s Snapshot, query: &ListGlossary) -> GlossaryPage<'s> {
    todo!("{snapshot:p} {query:?}")
}

/// Searches products.
///
/// # Errors
/// Where the engine fails.
pub fn search_software<'s>(snapshot: &'s Snapshot, query: &SearchSoftware) -> Result<SearchPage<'s>, ServiceError> {
    todo!("{snapshot:p} {query:?}")
}

/// Lists the loaded exports by id.
#[must_use]
pub fn list_exports(snapshot: &Snapshot, page: PageRequest) -> Page<'_> {
    todo!("{snapshot:p} {page:?}")
}

/// One export for download; `None` where there is none with this id.
#[must_use]
pub fn get_export<'s>(snapshot: &'s Snapshot, id: &str) -> Option<&'s ExportDocument> {
    todo!("{snapshot:p} {id}")
}
