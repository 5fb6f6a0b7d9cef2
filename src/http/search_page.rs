//! Searches for products, using the search cache or the search pool.

use std::sync::Arc;

use super::extract::Snapshot;
use super::problem::ApiError;
use super::search_cache::CacheKey;
use super::state::AppState;
use crate::service::{self, SearchPage, SearchResults, SearchSoftware, Stop};

/// Searches, and writes the page of results on the same thread: this one if the results are cached,
/// otherwise one of the pool's.
pub(super) async fn with_page<T: Send + 'static>(
    state: &Arc<AppState>,
    snapshot: Snapshot,
    query: SearchSoftware,
    write: impl FnOnce(&SearchPage<'_>, &SearchResults) -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    let key = CacheKey::new(snapshot.generation(), &query);
    if let Some(results) = key.as_ref().and_then(|key| state.search_cache.get(key)) {
        let page = results.page(&snapshot, &query);
        state.count_search(&query, page.total_by_words());
        return write(&page, &results);
    }
    let generation = Snapshot::clone(&snapshot);
    let search = move |stop: Stop| {
        let budget = service::budget(&snapshot, &stop);
        let results = service::find_software_within(&snapshot, &query, &budget)?;
        let page = results.page(&snapshot, &query);
        let (written, total) = (write(&page, &results)?, page.total_by_words());
        drop(page);
        Ok::<_, ApiError>((written, results, query, total))
    };
    let (written, results, query, total) = state.search(search).await??;
    state.count_search(&query, total);
    if let Some(key) = key {
        state.search_cache.insert(generation.generation(), key, Arc::new(results));
    }
    Ok(written)
}
