//! Searches for products, using the search cache or the search pool.

use std::sync::Arc;

use super::extract::Snapshot;
use super::problem::ApiError;
use super::search_cache::CacheKey;
use super::state::AppState;
use crate::service::{self, SearchPage, SearchSoftware};

/// Searches, and writes the page of results on the same thread: this one if the results are cached,
/// otherwise one of the pool's.
pub(super) async fn with_page<T: Send + 'static>(
    state: &Arc<AppState>,
    snapshot: Snapshot,
    query: SearchSoftware,
    write: impl FnOnce(&SearchPage<'_>) -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    let key = CacheKey::new(snapshot.generation(), &query);
    if let Some(results) = key.as_ref().and_then(|key| state.search_cache.get(key)) {
        let page = results.page(&snapshot, &query);
        state.count_search(&query, page.total_by_words());
        return write(&page);
    }
    let (generation, counts) = (Snapshot::clone(&snapshot), Arc::clone(state));
    let search = async move {
        let results = service::find_software(&snapshot, &query).await?;
        let page = results.page(&snapshot, &query);
        let written = write(&page)?;
        counts.count_search(&query, page.total_by_words());
        drop(page);
        Ok::<_, ApiError>((written, results))
    };
    let (written, results) = state.search(search).await??;
    if let Some(key) = key {
        state.search_cache.insert(generation.generation(), key, Arc::new(results));
    }
    Ok(written)
}
