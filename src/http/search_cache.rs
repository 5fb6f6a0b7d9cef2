//! The cache of search results, keyed by generation and normalised query.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use quick_cache::Weighter;
use quick_cache::sync::Cache;

use crate::service::{SearchResults, SearchSoftware};

/// The maximum total size of the entries, in bytes.
const CAPACITY_BYTES: u64 = 64 << 20;

/// The typical size of an entry in bytes, used to size the cache's tables: a page of twenty hits
/// without highlights.
const USUAL_ENTRY_BYTES: u64 = 1100;

/// The overhead of an entry in the cache's tables, in bytes.
const ENTRY_OVERHEAD_BYTES: usize = 96;

/// A search result cache with a size limit. Eviction uses S3-FIFO (Yang et al., SOSP 2023), so a
/// series of one-off queries doesn't evict frequent ones.
#[derive(Debug)]
pub(super) struct SearchCache {
    results: Cache<CacheKey, Arc<SearchResults>, WeighBytes>,
    /// The generation of the last insertion. Entries from other generations would keep those
    /// generations' text in memory.
    generation: Mutex<Box<str>>,
    /// Whether there has been a lookup since the last call to [`Self::clear_if_idle`].
    used: AtomicBool,
}

/// The generation and the query in a canonical form: parameters in a fixed order, with defaults
/// filled in.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct CacheKey(Box<[u8]>);

impl CacheKey {
    /// The key for a query in a generation; `None` if the query can't be serialized, in which case
    /// it isn't cached.
    pub(super) fn new(generation: &str, query: &SearchSoftware) -> Option<Self> {
        postcard::to_allocvec(&(generation, query)).ok().map(|key| Self(key.into()))
    }
}

impl Default for SearchCache {
    fn default() -> Self {
        Self::with_capacity(CAPACITY_BYTES)
    }
}

impl SearchCache {
    fn with_capacity(bytes: u64) -> Self {
        let entries = usize::try_from(bytes / USUAL_ENTRY_BYTES).unwrap_or(usize::MAX);
        Self {
            results: Cache::with_weighter(entries, bytes, WeighBytes),
            generation: Mutex::default(),
            used: AtomicBool::new(false),
        }
    }

    pub(super) fn get(&self, key: &CacheKey) -> Option<Arc<SearchResults>> {
        self.used.store(true, Ordering::Relaxed);
        self.results.get(key)
    }

    /// Inserts a search's results, and removes those from other generations.
    pub(super) fn insert(&self, generation: &str, key: CacheKey, results: Arc<SearchResults>) {
        let mut last = self.generation.lock().unwrap_or_else(PoisonError::into_inner);
        if **last != *generation {
            *last = generation.into();
            self.results.clear();
        }
        drop(last);
        self.results.insert(key, results);
    }

    /// Clears the cache if there hasn't been a lookup since the last call.
    pub(super) fn clear_if_idle(&self) {
        if !self.used.swap(false, Ordering::Relaxed) {
            self.results.clear();
        }
    }
}

/// Weighs an entry by its memory use.
#[derive(Debug, Clone)]
struct WeighBytes;

impl Weighter<CacheKey, Arc<SearchResults>> for WeighBytes {
    fn weight(&self, key: &CacheKey, results: &Arc<SearchResults>) -> u64 {
        (ENTRY_OVERHEAD_BYTES + key.0.len() + results.size_bytes()) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generation::Snapshot;
    use crate::service::{Budget, find_software_within};

    fn key(generation: &str, q: &str) -> CacheKey {
        CacheKey::new(generation, &SearchSoftware::new(q)).expect("a key")
    }

    fn results() -> Arc<SearchResults> {
        let snapshot = Snapshot::build(Vec::new()).expect("an empty generation");
        let query = SearchSoftware::new("permit");
        Arc::new(find_software_within(&snapshot, &query, &Budget::new(u64::MAX)).expect("results"))
    }

    #[test]
    fn only_results_for_the_last_generation_and_the_same_query_are_found() {
        let cache = SearchCache::default();
        cache.insert("one", key("one", "permit"), results());
        assert!(cache.get(&key("one", "permit")).is_some());
        assert!(cache.get(&key("two", "permit")).is_none());
        assert!(cache.get(&key("one", "permits")).is_none());
        cache.insert("two", key("two", "permit"), results());
        assert!(cache.get(&key("one", "permit")).is_none());
        assert!(cache.get(&key("two", "permit")).is_some());
    }

    #[test]
    fn entries_never_exceed_the_capacity() {
        const CAPACITY: u64 = 20_000;
        let (cache, results) = (SearchCache::with_capacity(CAPACITY), results());
        for number in 0..1000 {
            cache.insert("one", key("one", &format!("permit {number}")), Arc::clone(&results));
        }
        assert!(cache.results.weight() <= CAPACITY && cache.results.len() > 10, "{}", cache.results.len());
    }

    #[test]
    fn cache_is_only_cleared_if_it_is_idle() {
        let cache = SearchCache::default();
        cache.insert("one", key("one", "permit"), results());
        assert!(cache.get(&key("one", "permit")).is_some());
        cache.clear_if_idle();
        assert_eq!(cache.results.len(), 1, "used since the last call");
        cache.clear_if_idle();
        assert_eq!(cache.results.len(), 0);
    }
}
