//! Publishes a directory as files: requests every page and record from the service, in-process, and
//! says which file each response belongs in.

use std::convert::Infallible;
use std::io;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::Request;
use axum::http::header::{ACCEPT, CONTENT_TYPE, HOST, LINK};
use axum::http::uri::PathAndQuery;
use axum::http::{Extensions, HeaderValue, StatusCode};
use axum::response::Response;
use http_body_util::BodyExt as _;
use memchr::memmem;
use tower::ServiceExt as _;
use tower::util::BoxCloneSyncService;

use super::config::Publication;
use super::extract::{Snapshot, language_of_texts};
use super::middleware::FEEDS;
use super::pages::history::history_of;
use super::pages::language::{Language, PageLanguage};
use super::pages::links::{self, Address, Base, file_of};
use super::pages::{alternatives, frame, glossary, home, sitemap};
use super::problem::ApiError;
use super::state::AppState;
use crate::catalogue::{Catalogue, StoredProduct};
use crate::generation;
use crate::service::{self, ListReviews, PageRequest, Stop};

impl Publication {
    /// # Errors
    /// What's wrong with the path or a language's tag.
    pub fn new(base_path: &str, tags: &[String], catalogue: &Catalogue) -> Result<Self, String> {
        let path = base_path.trim_end_matches('/');
        let is_odd = path.contains(['"', '?', '#']) || path.contains("/.") || path.contains("//");
        if !path.is_empty() && (!path.starts_with('/') || is_odd || path.parse::<PathAndQuery>().is_err()) {
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
        Ok(Self { base_path: path.to_owned(), languages })
    }
}

/// A page's or file's URL, given what links start with.
type Link = Box<dyn Fn(Base<'_>) -> Address + Send + Sync>;

/// What's published together, such as everything about a product. Each link has the language of its
/// page.
#[derive(Default)]
pub struct Item(Vec<(PageLanguage, Link)>);

/// A directory's files.
pub struct Publisher {
    state: Arc<AppState>,
    service: BoxCloneSyncService<Request, Response, Infallible>,
    snapshot: Snapshot,
}

/// The page for an unknown address, as web servers expect it.
const NOT_FOUND: &str = "/404.html";

/// What a link to a list's next page says, on a page and in a header. Text on pages is escaped, so
/// nothing else on them contains it.
const NEXT: &[u8] = b"rel=\"next\"";

impl Publisher {
    pub(super) fn new(
        state: Arc<AppState>,
        service: BoxCloneSyncService<Request, Response, Infallible>,
        snapshot: Arc<generation::Snapshot>,
    ) -> Self {
        Self { state, service, snapshot: Snapshot(snapshot) }
    }

    /// The number of items.
    pub fn count(&self) -> u64 {
        (self.snapshot.software_count() + self.snapshot.catalogue.tables.categories.len() + 1) as u64
    }

    /// Everything to publish, lists last.
    pub async fn items(&self) -> io::Result<impl Iterator<Item = io::Result<Item>> + Send + '_> {
        let lists = self.lists().await.map_err(io::Error::other)?;
        let products = self.snapshot.records.ids().map(|id| self.product(&id));
        let categories = self.snapshot.catalogue.tables.categories.iter().map(|category| {
            let (mut item, id) = (Item::default(), category.id.clone());
            self.add_record(&mut item, "categories", &id);
            self.add(&mut item, move |base| Address::record(links::of_category(base, &id), base));
            item
        });
        Ok(products.chain(categories.chain(std::iter::once(lists)).map(Ok)))
    }

    /// Adds a page in each language.
    fn add(&self, item: &mut Item, link: impl Fn(Base<'_>) -> Address + Clone + Send + Sync + 'static) {
        item.0.extend(self.languages().map(|language| (language, Box::new(link.clone()) as Link)));
    }

    /// The directory's own language isn't in the path.
    fn languages(&self) -> impl Iterator<Item = PageLanguage> + '_ {
        let languages = self.state.site.languages().iter().enumerate();
        languages.map(|(at, language)| PageLanguage { language: *language, is_in_path: at > 0 })
    }

    /// Adds a file that doesn't depend on the language.
    fn add_file(&self, item: &mut Item, link: impl Fn(Base<'_>) -> Address + Send + Sync + 'static) {
        item.0.push((PageLanguage { language: self.state.site.languages()[0], is_in_path: false }, Box::new(link)));
    }

    /// Adds a record in the API.
    fn add_record(&self, item: &mut Item, kind: &'static str, id: &str) {
        let id = id.to_owned();
        self.add_file(item, move |base| Address::one(links::of_record(base, kind, &id)));
    }

    fn product(&self, id: &str) -> io::Result<Item> {
        let (mut item, id, first) = (Item::default(), Arc::<str>::from(id), PageRequest { limit: 1, offset: 0 });
        self.add_record(&mut item, "software", &id);
        let reviews = service::list_reviews(&self.snapshot, &id, &ListReviews::all(first), &Stop::default());
        if reviews.is_some_and(|reviews| reviews.page.pagination.total > 0) {
            let path = format!("/v1/reviews/{}", links::segment(&id));
            self.add_file(&mut item, move |base| Address::data(&path, base));
        }
        let of = Arc::clone(&id);
        self.add(&mut item, move |base| Address::record(links::of_software(base, &of), base));
        if self.has_alternatives(&id)? {
            let of = Arc::clone(&id);
            self.add(&mut item, move |base| links::of_alternatives_to(base, &of));
        }
        let history = service::list_history(&self.snapshot, &id, first).map_err(io::Error::other)?;
        if history.is_some_and(|history| !history.data.is_empty()) {
            let of = Arc::clone(&id);
            self.add(&mut item, move |base| history_of(base, &of));
        }
        if !self.state.config.base().is_empty() {
            self.add(&mut item, move |base| Address::one(links::of_badge(base, &id)));
        }
        Ok(item)
    }

    fn has_alternatives(&self, id: &str) -> io::Result<bool> {
        let stored = service::read_software(&self.snapshot, id).map_err(io::Error::other)?;
        let product = stored.as_ref().map(StoredProduct::read).transpose()?;
        Ok(product.is_some_and(|product| !alternatives::ordinals(&self.snapshot, &product).is_empty()))
    }

    /// Lists and what isn't about a single record.
    async fn lists(&self) -> Result<Item, ApiError> {
        let (state, tables, mut item) = (&self.state, &self.snapshot.catalogue.tables, Item::default());
        let fixed = state.docs.paths(&state.site).map(str::to_owned).chain(state.site.asset_paths());
        let absolute = FEEDS.map(str::to_owned).into_iter().chain(sitemap::paths(&state.site, &self.snapshot));
        let absolute = absolute.filter(|_| !state.config.base().is_empty());
        for path in fixed.chain(absolute).chain([NOT_FOUND.to_owned()]) {
            self.add_file(&mut item, move |base| Address::one(format!("{base}{path}")));
        }
        for list in ["/v1/software", "/v1/categories", "/v1/glossary", "/v1/exports"] {
            self.add_file(&mut item, move |base| Address::data(list, base));
        }
        for (export, format) in tables.exports.iter().flat_map(|export| [(export, "json"), (export, "ndjson")]) {
            let id = export.resource.id.clone();
            self.add_file(&mut item, move |base| Address::one(links::of_export(base, &id, format)));
        }
        for of in &tables.alternatives {
            let id = of.id.clone();
            self.add(&mut item, move |base| links::of_alternatives(base, &id));
        }
        tables.glossary.iter().for_each(|entry| self.add_record(&mut item, "glossary", &entry.term.id));
        let pages = ["/", "/exports", "/glossary"].map(str::to_owned);
        for path in state.docs.page_paths().chain(pages) {
            self.add(&mut item, move |base| Address::one(base.page(&path)));
        }
        self.add(&mut item, links::all_products);
        self.add(&mut item, |base| Address::list(base.page("/categories"), base));
        let overview = home::overview(state, &self.snapshot).await?;
        for language in self.languages() {
            let mut extensions = Extensions::new();
            extensions.insert(language);
            let of_texts = language_of_texts(&extensions, &self.snapshot.catalogue);
            for letter in glossary::split_letters(&overview, of_texts).map(str::to_owned) {
                item.0.push((language, Box::new(move |base| glossary::of_letter(base, &letter))));
            }
        }
        Ok(item)
    }

    /// Requests an item's files, writes each to what `create` returns for its path in the folder, and
    /// calls `finish`. Returns the number of files and bytes.
    pub async fn write<W: io::Write>(
        &self,
        Item(links): Item,
        create: impl Fn(&str) -> io::Result<W>,
        finish: impl Fn(&str, &W) -> io::Result<()>,
    ) -> io::Result<[u64; 2]> {
        let (site, [mut files, mut bytes]) = (&self.state.site, [0; 2]);
        for (language, link) in links {
            let path = if language.is_in_path { format!("/{}", language.texts().tag) } else { String::new() };
            let (served, published) = (link(Base { path: &path, is_published: false }), link(site.base_in(language)));
            let mut next = Some(1);
            while let Some(page) = next.take() {
                let (head, mut body) = self.get(&served.at_page(page)).await?.into_parts();
                let has_next = |text: &[u8]| memmem::find(text, NEXT).is_some();
                let mut is_last = !head.headers.get(LINK).is_some_and(|link| has_next(link.as_bytes()));
                let kind = head.headers.get(CONTENT_TYPE).map_or(&b""[..], HeaderValue::as_bytes);
                let path = file_of(&published.at_page(page), site.root().path);
                let mut file = create(&path)?;
                while let Some(frame) = body.frame().await.transpose().map_err(io::Error::other)? {
                    let Ok(data) = frame.into_data() else { continue };
                    // A page is rendered as a whole.
                    is_last &= !(kind.starts_with(b"text/html") && published.has_pages() && has_next(&data));
                    file.write_all(&data)?;
                    bytes += data.len() as u64;
                }
                finish(&path, &file)?;
                files += 1;
                next = (!is_last).then_some(page + 1);
            }
        }
        Ok([files, bytes])
    }

    async fn get(&self, address: &str) -> io::Result<Response> {
        let request = Request::get(address).header(HOST, "localhost").header(ACCEPT, "text/html, */*;q=0.1");
        let request = request.body(Body::empty()).map_err(io::Error::other)?;
        let Ok(response) = self.service.clone().oneshot(request).await;
        let (status, is_unknown) = (response.status(), address == NOT_FOUND);
        if status == if is_unknown { StatusCode::NOT_FOUND } else { StatusCode::OK } {
            return Ok(response);
        }
        Err(io::Error::other(format!("{address} can't be published: its response has the status {status}")))
    }
}
