//! Publishes a directory as files: requests every page and record from the service, in-process, and
//! says which file each response belongs in.

use std::convert::Infallible;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::header::{ACCEPT, CONTENT_TYPE, HOST, LINK};
use axum::http::{Extensions, HeaderValue, StatusCode};
use axum::response::Response;
use http_body_util::BodyExt as _;
use memchr::memmem;
use tower::util::BoxCloneSyncService;
use tower::{Service as _, ServiceExt as _};

use super::extract::{Snapshot, language_of_texts};
use super::middleware::FEEDS;
use super::pages::language::{Language, PageLanguage};
use super::pages::links::{self, Base, file_of};
use super::pages::{categories, frame, glossary, history, home, sitemap, software};
use super::problem::ApiError;
use super::state::AppState;
use crate::catalogue::Catalogue;
use crate::service::{self, PageRequest};

/// How a directory is published.
#[derive(Debug, Clone)]
pub struct Publication {
    /// The path that the folder is served at, without a trailing slash.
    pub(super) base_path: String,
    /// The languages of the pages, the directory's own first.
    pub(super) languages: Vec<Language>,
}

impl Publication {
    /// # Errors
    /// What's wrong with the path or a language's tag.
    pub fn new(base_path: &str, tags: &[String], catalogue: &Catalogue) -> Result<Self, String> {
        let base_path = base_path.trim_end_matches('/');
        let is_name = |name: &str| {
            let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_~.".contains(&byte);
            !["", ".", ".."].contains(&name) && name.bytes().all(is_allowed)
        };
        if !base_path.is_empty() && !base_path.strip_prefix('/').is_some_and(|path| path.split('/').all(is_name)) {
            return Err(format!("{base_path:?} can't be the base path: write a path such as /directory"));
        }
        let mut languages = vec![frame::own_language(catalogue)];
        for tag in tags {
            let known = Language::ALL.into_iter().find(|language| language.texts().tag == tag);
            let language = known.ok_or_else(|| {
                let tags = Language::ALL.map(|language| language.texts().tag).join(", ");
                format!("pages aren't available in {tag:?}; their languages are {tags}")
            })?;
            if !languages.contains(&language) {
                languages.push(language);
            }
        }
        Ok(Self { base_path: base_path.to_owned(), languages })
    }
}

#[derive(Debug, thiserror::Error)]
pub enum PublishError {
    #[error("{address} can't be published: its response has the status {status}")]
    Refused { address: String, status: StatusCode },
    #[error("a response can't be read")]
    Body(#[from] axum::Error),
    #[error(transparent)]
    Api(#[from] ApiError),
    #[error("{0} isn't an address")]
    Address(String),
}

/// A link's URL under a base, given a page's number, counted from 1; `None` if there is no such page.
type Link = Box<dyn Fn(Base<'_>, u64) -> Option<String> + Send + Sync>;

/// Pages or records that are published together, such as those about one product. Each link has the
/// language of its page.
pub struct Item {
    links: Vec<(PageLanguage, Link)>,
    pub is_product: bool,
}

/// A directory's files.
pub struct Publisher {
    state: Arc<AppState>,
    service: BoxCloneSyncService<Request, Response, Infallible>,
    snapshot: Snapshot,
}

impl Publisher {
    /// `state` must have a generation and settings to publish it; its pages and API must be public.
    pub fn new(state: Arc<AppState>) -> Result<Self, PublishError> {
        let snapshot = state.directory.current().ok_or(ApiError::IndexUnavailable)?;
        let service = BoxCloneSyncService::new(super::service(Arc::clone(&state)));
        Ok(Self { state, service, snapshot: Snapshot(snapshot) })
    }

    /// The languages of the pages: the directory's own isn't in the path.
    fn languages(&self) -> impl Iterator<Item = PageLanguage> + '_ {
        let languages = self.state.site.languages().iter().enumerate();
        languages.map(|(at, language)| PageLanguage { language: *language, is_in_path: at > 0 })
    }

    /// The number of items that aren't about products, and of those that are.
    pub fn counts(&self) -> [u64; 2] {
        [1 + self.snapshot.catalogue.tables.categories.len() as u64, self.snapshot.software_count() as u64]
    }

    /// Everything to publish, products last.
    pub async fn items(&self) -> Result<impl Iterator<Item = Item> + Send + '_, PublishError> {
        let lists = self.lists().await?;
        let categories = self.snapshot.catalogue.tables.categories.iter().map(|category| {
            let id: Arc<str> = category.id.as_str().into();
            let mut links = vec![(self.root(), record("categories", &id))];
            self.on_pages(&mut links, move |base, page| Some(categories::category_pages(base, &id).at_page(page)));
            Item { links, is_product: false }
        });
        let products = self.snapshot.records.ids().map(|id| self.product(&id));
        Ok(std::iter::once(lists).chain(categories).chain(products))
    }

    /// For what has no language in its path.
    fn root(&self) -> PageLanguage {
        PageLanguage { language: self.state.site.languages()[0], is_in_path: false }
    }

    /// Adds a page in each language.
    fn on_pages<F>(&self, links: &mut Vec<(PageLanguage, Link)>, link: F)
    where
        F: Fn(Base<'_>, u64) -> Option<String> + Clone + Send + Sync + 'static,
    {
        links.extend(self.languages().map(|language| (language, Box::new(link.clone()) as Link)));
    }

    fn product(&self, id: &str) -> Item {
        let (site, id): (_, Arc<str>) = (&self.state.site, id.into());
        let mut links = vec![(self.root(), record("software", &id))];
        if self.has_reviews(&id) {
            links.push((self.root(), list(format!("/v1/reviews/{}", links::segment(&id)))));
        }
        let of = Arc::clone(&id);
        self.on_pages(&mut links, move |base, page| Some(software::software_pages(base, &of).at_page(page)));
        let first = PageRequest { limit: 1, offset: 0 };
        let history = service::list_history(&self.snapshot, &id, first).ok().flatten();
        if history.is_some_and(|history| !history.data.is_empty()) {
            let of = Arc::clone(&id);
            self.on_pages(&mut links, move |base, page| Some(history::history_of(base, &of).at_page(page)));
        }
        if site.is_indexable() && !self.state.config.base().is_empty() {
            self.on_pages(&mut links, move |base, page| (page == 1).then(|| links::of_badge(base, &id)));
        }
        Item { links, is_product: true }
    }

    fn has_reviews(&self, id: &str) -> bool {
        let list = service::ListReviews::all(PageRequest { limit: 1, offset: 0 });
        let reviews = service::list_reviews(&self.snapshot, id, &list, &service::Stop::default());
        reviews.is_some_and(|reviews| reviews.page.pagination.total > 0)
    }

    /// Lists and what isn't about a single record, in the root and in each language.
    async fn lists(&self) -> Result<Item, PublishError> {
        let (state, tables) = (&self.state, &self.snapshot.catalogue.tables);
        let mut links: Vec<(PageLanguage, Link)> = Vec::new();
        let mut file = |path: String| {
            let link = move |base: Base<'_>, page: u64| (page == 1).then(|| format!("{base}{path}"));
            links.push((self.root(), Box::new(link) as Link));
        };
        state.docs.paths(&state.site).for_each(|path| file(path.to_owned()));
        state.site.asset_paths().for_each(&mut file);
        if !state.config.base().is_empty() {
            FEEDS.map(str::to_owned).into_iter().for_each(&mut file);
            sitemap::paths(&state.site, &self.snapshot).for_each(&mut file);
        }
        for of in ["software", "categories", "glossary", "exports"] {
            links.push((self.root(), list(format!("/v1/{of}"))));
        }
        for export in &tables.exports {
            let id = export.resource.id.clone();
            for format in ["json", "ndjson"] {
                let id = id.clone();
                let link = move |base: Base<'_>, page| (page == 1).then(|| links::of_export(base, &id, format));
                links.push((self.root(), Box::new(link)));
            }
        }
        for entry in &tables.glossary {
            links.push((self.root(), record("glossary", &entry.term.id.as_str().into())));
        }
        for path in state.docs.page_paths() {
            self.on_pages(&mut links, move |base, page| (page == 1).then(|| base.page(&path)));
        }
        for path in ["/", "/exports", "/glossary"] {
            self.on_pages(&mut links, move |base, page| (page == 1).then(|| base.page(path)));
        }
        self.on_pages(&mut links, |base, page| Some(base.products_address().at_page(page)));
        self.on_pages(&mut links, |base, page| Some(categories::all_categories(base).at_page(page)));
        let overview = home::overview(state, &self.snapshot).await?;
        for language in self.languages() {
            let mut extensions = Extensions::new();
            extensions.insert(language);
            let of_texts = language_of_texts(&extensions, &self.snapshot.catalogue);
            for letter in glossary::split_letters(&overview, of_texts).map(str::to_owned) {
                let link = move |base: Base<'_>, page| Some(glossary::of_letter(base, &letter).at_page(page));
                links.push((language, Box::new(link)));
            }
        }
        links.push((self.root(), Box::new(|base, page| (page == 1).then(|| format!("{base}{NOT_FOUND}")))));
        Ok(Item { links, is_product: false })
    }

    /// An item's files.
    pub fn files(&self, item: Item) -> Files<'_> {
        Files { publisher: self, links: item.links.into_iter(), current: None }
    }

    async fn get(&self, address: &str) -> Result<Response, PublishError> {
        let request = Request::get(address).header(HOST, "localhost").header(ACCEPT, "text/html, */*;q=0.1");
        let request = request.body(Body::empty()).map_err(|_| PublishError::Address(address.to_owned()))?;
        let mut service = self.service.clone();
        let Ok(response) = match service.ready().await {
            Ok(service) => service.call(request).await,
            Err(never) => match never {},
        };
        let status = response.status();
        let expected = if address == NOT_FOUND { StatusCode::NOT_FOUND } else { StatusCode::OK };
        if status == expected {
            Ok(response)
        } else {
            Err(PublishError::Refused { address: address.to_owned(), status })
        }
    }
}

/// The page for an unknown address, as web servers expect it.
const NOT_FOUND: &str = "/404.html";

/// A record in the API.
fn record(kind: &'static str, id: &Arc<str>) -> Link {
    let id = Arc::clone(id);
    Box::new(move |base, page| (page == 1).then(|| links::of_record(base, kind, &id)))
}

/// A list in the API.
fn list(path: String) -> Link {
    Box::new(move |base, page| Some(links::of_data(base, &path, page)))
}

/// An item's files, one after the other.
pub struct Files<'p> {
    publisher: &'p Publisher,
    links: std::vec::IntoIter<(PageLanguage, Link)>,
    current: Option<Current>,
}

/// A file that's being read.
struct Current {
    language: PageLanguage,
    link: Link,
    page: u64,
    body: Body,
    is_page: bool,
    /// Whether another page of the same list follows.
    has_next: bool,
}

/// What a link to a list's next page says, on a page and in a header. Text on pages is escaped, so
/// nothing else on them contains it.
const NEXT: &[u8] = b"rel=\"next\"";

impl Files<'_> {
    /// The next file's path in the folder. Its content follows in [`Self::chunk`].
    pub async fn next(&mut self) -> Result<Option<String>, PublishError> {
        let site = &self.publisher.state.site;
        loop {
            let following = self.current.take().filter(|current| current.has_next);
            let following = following.map(|Current { language, link, page, .. }| (language, link, page + 1));
            let Some((language, link, page)) =
                following.or_else(|| self.links.next().map(|(language, link)| (language, link, 1)))
            else {
                return Ok(None);
            };
            let served = if language.is_in_path { format!("/{}", language.texts().tag) } else { String::new() };
            let served = link(Base { path: &served, is_published: false }, page);
            let published = link(site.base_in(language), page);
            let (Some(served), Some(published)) = (served, published) else { continue };
            let (head, body) = self.publisher.get(&served).await?.into_parts();
            let starts_with = |kind: &HeaderValue| kind.as_bytes().starts_with(b"text/html");
            let is_page = head.headers.get(CONTENT_TYPE).is_some_and(starts_with);
            let has_next = head.headers.get(LINK).is_some_and(|link| memmem::find(link.as_bytes(), NEXT).is_some());
            self.current = Some(Current { language, link, page, body, is_page, has_next });
            return Ok(Some(file_of(&published, site.root().path)));
        }
    }

    /// The next part of the current file's content; `None` at its end.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, PublishError> {
        let Some(current) = &mut self.current else { return Ok(None) };
        loop {
            let Some(frame) = current.body.frame().await.transpose()? else { return Ok(None) };
            if let Ok(data) = frame.into_data() {
                // A page is rendered as a whole.
                current.has_next |= current.is_page && memmem::find(&data, NEXT).is_some();
                return Ok(Some(data));
            }
        }
    }
}
