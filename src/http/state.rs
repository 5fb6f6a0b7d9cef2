//! The state shared by handlers and middleware.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::config::HttpConfig;
use super::downloads::Downloads;
use super::entity_tag::EntityTags;
use super::extract::{Served, Snapshot};
use super::metrics::{Metrics, MetricsError};
use super::middleware;
use super::pages::docs::Docs;
use super::pages::site::Site;
use super::problem::ApiError;
use super::search_cache::{CacheKey, SearchCache};
use super::search_pool::{self, SearchPool};
use super::shares::Shares;
use crate::key::{AddressQuotas, KeyStore, SignInCodes};
use crate::opensearch::Index;
use crate::service::{self, Prefix, SearchPage, SearchResults, SearchSoftware, SoftwareFilter, Stop};
use crate::update::Directory;

/// How often the search cache is cleared if it's idle.
const CACHE_IDLE: Duration = Duration::from_mins(1);

/// The HTTP service's state, shared by all requests behind an [`Arc`].
#[derive(Debug)]
pub struct AppState {
    pub directory: Arc<Directory>,
    /// The index of a directory in OpenSearch, which is served instead of a generation.
    pub opensearch: Option<Arc<Index>>,
    pub keys: Arc<KeyStore>,
    pub metrics: Metrics,
    pub config: Arc<HttpConfig>,
    pub sign_in_codes: SignInCodes,
    /// What all pages share.
    pub(super) site: Site,
    pub(super) docs: Docs,
    pub(super) entity_tags: EntityTags,
    pub(super) downloads: Downloads,
    /// The budget for large bodies in memory.
    pub(super) bodies: Shares,
    pub(super) failed_attempts: AddressQuotas,
    /// Requests from visitors without a key.
    pub(super) visitors: Arc<AddressQuotas>,
    search_pool: SearchPool,
    search_cache: SearchCache,
}

#[derive(Debug, thiserror::Error)]
pub enum AppStateError {
    #[error(transparent)]
    Metrics(#[from] MetricsError),
    /// A documentation page couldn't be rendered.
    #[error(transparent)]
    Docs(#[from] askama::Error),
    #[error("the search threads couldn't be started")]
    SearchPool(#[source] io::Error),
}

impl AppState {
    /// Sets up the state and starts the search pool's threads.
    pub fn new(
        directory: Arc<Directory>,
        opensearch: Option<Arc<Index>>,
        keys: Arc<KeyStore>,
        config: HttpConfig,
    ) -> Result<Arc<Self>, AppStateError> {
        let search_pool =
            SearchPool::start(config.search_threads, config.max_queue_delay).map_err(AppStateError::SearchPool)?;
        let config = Arc::new(config);
        let site = Site::new(&config, Arc::clone(&keys));
        let docs = Docs::new(&site, super::openapi(&config))?;
        Ok(Arc::new(Self {
            directory,
            opensearch,
            keys,
            metrics: Metrics::new()?,
            sign_in_codes: SignInCodes::default(),
            site,
            docs,
            entity_tags: EntityTags::new(&config.build),
            downloads: Downloads::new(config.max_downloads, config.max_downloads_per_key),
            bodies: middleware::body_budget(),
            config,
            failed_attempts: AddressQuotas::new(Instant::now()),
            visitors: Arc::new(AddressQuotas::new(Instant::now())),
            search_pool,
            search_cache: SearchCache::default(),
        }))
    }

    /// Runs work on one of the search pool's threads. Once its stop signal is set, nobody is waiting
    /// for its result any more, so that's never sent, cached or counted.
    ///
    /// # Errors
    ///
    /// [`ApiError::Overloaded`] if the queue is full or the delay too long, [`ApiError::Panicked`]
    /// if the work panics.
    pub(super) async fn search<T: Send + 'static>(
        &self,
        work: impl FnOnce(Stop) -> T + Send + 'static,
    ) -> Result<T, ApiError> {
        self.search_pool.run(search_pool::holder(), work).await
    }

    /// Searches, and writes the page of results on the same thread: this one if the results are cached,
    /// otherwise one of the pool's.
    pub(super) async fn search_page<T: Send + 'static>(
        &self,
        snapshot: Snapshot,
        query: SearchSoftware,
        write: impl FnOnce(&SearchPage<'_>, &SearchResults) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let key = CacheKey::new(snapshot.generation(), &query);
        if let Some(results) = key.as_ref().and_then(|key| self.search_cache.get(key)) {
            let page = results.page(&snapshot, &query);
            self.count_search(&query, page.total_by_words());
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
        let (written, results, query, total) = self.search(search).await??;
        self.count_search(&query, total);
        if let Some(key) = key {
            self.search_cache.insert(generation.generation(), key, Arc::new(results));
        }
        Ok(written)
    }

    /// What's being served; `None` until there's something to serve.
    pub(super) fn served(&self) -> Option<Served> {
        match &self.opensearch {
            Some(index) => Some(Served::OpenSearch(index.current()?)),
            None => Some(Served::Snapshot(Snapshot(self.directory.current()?))),
        }
    }

    /// Ends downloads in progress whose key has been revoked or has expired.
    pub fn end_downloads_of_invalid_keys(&self) {
        self.downloads.end_of_invalid_keys(&self.keys, Timestamp::now());
    }

    /// Counts a search, which found `total` products, if it had a query.
    pub(super) fn count_search(&self, search: &SearchSoftware, total: u64) {
        let Some(q) = &search.q else { return };
        self.metrics.observe_search(total);
        // If there's a filter, that may be why nothing was found, and text that's still being typed
        // isn't a query yet.
        let is_whole = search.filter == SoftwareFilter::default() && search.prefix != Prefix::Always;
        if total == 0
            && is_whole
            && let Some(queries) = &self.config.empty_queries
        {
            queries.count(q, Instant::now(), Timestamp::now().to_zoned(TimeZone::UTC).date());
        }
    }

    /// Clears the search cache whenever it has been idle for a minute. Never completes.
    pub async fn evict_idle_searches(&self) {
        let mut interval = tokio::time::interval(CACHE_IDLE);
        loop {
            interval.tick().await;
            self.search_cache.clear_if_idle();
        }
    }
}
