//! A search as callers send it.

use software_directory::generation::Snapshot;
use software_directory::service::{Facet, PageRequest, SearchPage, SearchSoftware, search_software};

/// The search that `GET /v1/search?q=…` runs if there are no other parameters.
pub(crate) fn plain(q: &str) -> SearchSoftware {
    SearchSoftware::new(q)
}

/// Like [`plain`], with `typo=false`.
pub(crate) fn strict(q: &str) -> SearchSoftware {
    SearchSoftware { typo: false, ..plain(q) }
}

/// With every facet.
pub(crate) fn with_facets(q: &str) -> SearchSoftware {
    SearchSoftware { facets: Facet::all().collect(), ..plain(q) }
}

/// With highlights.
pub(crate) fn with_highlights(q: &str) -> SearchSoftware {
    SearchSoftware { highlight: true, ..plain(q) }
}

/// A search with every facet, highlights and this page.
pub(crate) fn with_all(q: &str, limit: u32, offset: u64) -> SearchSoftware {
    SearchSoftware { facets: Facet::all().collect(), highlight: true, page: PageRequest { limit, offset }, ..plain(q) }
}

/// The response.
pub(crate) fn answer<'s>(snapshot: &'s Snapshot, query: &SearchSoftware) -> SearchPage<'s> {
    search_software(snapshot, query).expect("an index in memory can be read")
}
