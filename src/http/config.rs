//! The HTTP service's settings.

use std::sync::Arc;
use std::thread::available_parallelism;
use std::time::Duration;

use axum::http::Uri;
use ipnet::IpNet;

use super::face::Face;
use super::pages::language::Language;
use super::pages::links::Base;
use super::preview::Preview;
use super::search_pool::MaxQueueDelay;
use crate::curate::queries::EmptyQueries;
use crate::key::{Origin, Rate};

#[derive(Debug, Clone)]
pub struct HttpConfig {
    /// The URL at which callers reach the service, for absolute links.
    pub public_url: Option<PublicUrl>,
    /// Networks of proxies whose `X-Forwarded-For` is trusted.
    pub trusted_proxies: Vec<IpNet>,
    /// Whether the access log shows query strings, which may contain personal data.
    pub log_queries: bool,
    /// The build's name. It's part of every entity tag, so a response cached from another build
    /// isn't mistaken for one from this build. Replicas of the same build share it.
    pub build: String,
    /// The time limit for a response's first byte.
    pub request_timeout: Duration,
    /// How many threads run searches. With zero, every search is shed.
    pub search_threads: usize,
    /// How long a search may wait in the queue.
    pub max_queue_delay: MaxQueueDelay,
    /// How many downloads may run at once for all keys together. Visitors get half as many. A
    /// download uses up to 1.25 MiB of memory, plus one record for `ndjson`.
    pub max_downloads: usize,
    /// How many downloads may run at once for a single key or visitor.
    pub max_downloads_per_key: usize,
    /// How many requests per minute each client address may send to the page without a key; `None`
    /// if the page needs a key.
    pub public_page: Option<Rate>,
    /// The same for the API.
    pub public_api: Option<Rate>,
    /// Counts searches without hits; `None` if they aren't counted.
    pub empty_queries: Option<Arc<EmptyQueries>>,
    /// The preview's state; `None` for an ordinary server.
    pub preview: Option<Arc<Preview>>,
    /// The maximum number of URLs in one sitemap file.
    pub sitemap_addresses: u64,
    /// The plain-text title of the page and the documentation.
    pub site_title: String,
    /// The plain-text introduction on the page's first screen.
    pub site_introduction: Option<String>,
    /// The rest of the site's settings, and its title and introduction by language.
    pub site: Face,
    /// The sites that may embed public pages in frames.
    pub embed_origins: Vec<Origin>,
    /// How the directory is published as files; `None` if it's served.
    pub publication: Option<Publication>,
}

/// How a directory is published as files.
#[derive(Debug, Clone)]
pub struct Publication {
    /// The path that the folder is served at, without a trailing slash.
    pub(super) base_path: String,
    /// The pages' languages, the directory's own first.
    pub(super) languages: Vec<Language>,
}

impl Default for HttpConfig {
    fn default() -> Self {
        Self {
            public_url: None,
            trusted_proxies: Vec::new(),
            log_queries: false,
            build: env!("CARGO_PKG_VERSION").to_owned(),
            request_timeout: Duration::from_secs(10),
            search_threads: available_parallelism().map_or(1, usize::from),
            max_queue_delay: MaxQueueDelay::default(),
            max_downloads: 32,
            max_downloads_per_key: 4,
            public_page: None,
            public_api: None,
            empty_queries: None,
            preview: None,
            // The sitemap protocol's limit.
            sitemap_addresses: 50_000,
            site_title: "Software Directory".to_owned(),
            site_introduction: None,
            site: Face::default(),
            embed_origins: Vec::new(),
            publication: None,
        }
    }
}

impl HttpConfig {
    /// The public URL without a trailing slash; empty if none is set, which makes links
    /// relative.
    pub(super) fn base(&self) -> &str {
        self.public_url.as_ref().map_or("", |url| &url.base)
    }

    /// Who publishes the directory; its title if that isn't known.
    pub(super) fn publisher(&self) -> &str {
        self.site.publisher.as_deref().unwrap_or(&self.site_title)
    }

    /// The URL of the page that explains error codes.
    pub(super) fn errors_url(&self) -> String {
        format!("{}/docs/errors", self.base())
    }

    /// The public URL's host and port.
    pub(super) fn authority(&self) -> Option<&str> {
        let base = &self.public_url.as_ref()?.base;
        let (_, rest) = base.split_once("://")?;
        rest.split('/').next()
    }

    /// What absolute URLs of pages start with.
    pub(super) fn absolute(&self) -> Base<'_> {
        Base { path: self.base(), is_published: self.publication.is_some() }
    }

    /// The path of the public URL without a trailing slash; empty if there is none.
    pub(super) fn path_prefix(&self) -> &str {
        match (&self.public_url, &self.publication) {
            (Some(url), _) => &url.base[url.path_start..],
            (None, Some(publication)) => &publication.base_path,
            (None, None) => "",
        }
    }
}

/// An absolute `http` or `https` URL at which callers reach the service, optionally with a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicUrl {
    base: String,
    path_start: usize,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} can't be the public URL: give an http or https URL without a query, such as https://api.example.org")]
pub struct PublicUrlError(String);

impl PublicUrl {
    /// The URL without a trailing slash.
    pub fn as_str(&self) -> &str {
        &self.base
    }

    pub fn parse(text: &str) -> Result<Self, PublicUrlError> {
        let wrong = || PublicUrlError(text.to_owned());
        let uri: Uri = text.parse().map_err(|_| wrong())?;
        let absolute = matches!(uri.scheme_str(), Some("http" | "https")) && uri.authority().is_some();
        if !absolute || text.contains(['?', '#']) {
            return Err(wrong());
        }
        let base = text.trim_end_matches('/').to_owned();
        let path_start = base.len() - uri.path().trim_end_matches('/').len();
        Ok(Self { base, path_start })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(url: &str) -> HttpConfig {
        HttpConfig { public_url: Some(PublicUrl::parse(url).expect("an address")), ..HttpConfig::default() }
    }

    #[test]
    fn links_start_with_the_public_urls_path() {
        let with_path = config("https://example.org/directory/");
        assert_eq!((with_path.base(), with_path.path_prefix()), ("https://example.org/directory", "/directory"));
        let without = config("http://localhost:8080");
        assert_eq!((without.base(), without.path_prefix()), ("http://localhost:8080", ""));
        assert_eq!(config("https://example.org/").path_prefix(), "");
    }

    #[test]
    fn only_absolute_web_urls_can_be_public() {
        for wrong in
            ["", "example.org", "/api", "ftp://example.org", "https://", "https://a.example/?x=1", "https://a/#b"]
        {
            assert!(PublicUrl::parse(wrong).is_err(), "{wrong}");
        }
    }
}
