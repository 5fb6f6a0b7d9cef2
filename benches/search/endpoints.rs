//! The worst request to every endpoint, sent through the whole service in this process. The
//! benchmark measures the process's CPU time, since a request may run on several threads. If a
//! response is unexpected, the run fails.
//!
//! The directory is the corpus, all of it new to the change log, plus an export with more
//! categories, glossary terms, and reviews of a single product than any real directory has.

use std::convert::Infallible;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use fastrand::Rng;
use http_body_util::BodyExt as _;
use jiff::Timestamp;
use serde_json::{Value, json};
use software_directory::export::{Export, IdPrefixes, Limits};
use software_directory::generation::source::Source;
use software_directory::generation::{MeaningOption, Settings, Snapshot, Unobserved};
use software_directory::http::{self, AppState, HttpConfig, PublicUrl};
use software_directory::key::file::{self, NewKey};
use software_directory::key::{KeyStore, Rate};
use software_directory::service::Facet;
use software_directory::update::files::ExportFiles;
use software_directory::update::{Directory, Updater};
use tokio::runtime::Runtime;
use tower::ServiceExt as _;
use tower::util::BoxCloneService;

use crate::corpus::Failure;
use crate::cpu_time;
use crate::goals::WORST;
use crate::worst::by_frequency;

const CATEGORIES: usize = 60_000;
const TERMS: usize = 100_000;
const WORDS_OF_A_TERM: usize = 20;
const REVIEWS: usize = 100_000;
/// How many unknown parameters and arguments a request can have.
const UNKNOWN: usize = 600;
const UNKNOWN_ARGUMENTS: usize = 920;
/// The number of products whose similar products are requested.
const PRODUCTS: usize = 200;
/// How many times each request is measured; the median is used.
const ROUNDS: usize = 5;
/// The largest page. Each round requests one product fewer, so that no result comes from a cache.
const LIMIT: usize = 100;

/// A path, the path of a request that will be rejected, or a tool call's body. In all of them,
/// `LIMIT` is replaced with the page size.
pub(crate) enum Ask {
    Get(String),
    Refused(String),
    Tool(Value),
}

/// Measures the worst request to each endpoint, and prints the results.
pub(crate) fn report(path: &Path, exports: &[Export], snapshot: &Snapshot, seed: u64) -> Result<(), Failure> {
    let folder = tempfile::tempdir()?;
    let words = by_frequency(snapshot);
    std::fs::write(folder.path().join("large.json"), large_export(&words, seed).to_string())?;
    let settings = Settings {
        source: Source::Folder(folder.path().to_owned()),
        index: None,
        read_only: false,
        skip_invalid: false,
        max_removed: 100,
        id_prefixes: IdPrefixes::default(),
        meaning: MeaningOption::On,
        limits: Limits::default(),
        process: None,
    };
    let directory = Arc::<Directory>::default();
    let mut updater = Updater::new(ExportFiles::new(settings, Box::new(Unobserved)), Arc::clone(&directory));
    updater.start().map_err(|failure| format!("{failure:?}"))?;
    let first = directory.current().ok_or("no generation")?.generation().to_owned();
    std::fs::copy(path, folder.path().join("corpus.json"))?;
    updater.refresh().map_err(|failure| format!("{failure:?}"))?;

    let server = Server::start(directory)?;
    println!("\n{:44} {:>8} {:>7}   (goal: {} ms)", "worst request of an endpoint", "µs", "status", WORST.as_millis());
    for (endpoint, asks) in endpoints(exports, &words, &first, seed) {
        let measured = asks.iter().map(|ask| {
            let mut status = 0;
            let mut times: Vec<_> = (0..ROUNDS)
                .map(|round| {
                    let (time, of) = server.measure(ask, LIMIT - round);
                    status = of;
                    time
                })
                .collect();
            times.sort_unstable();
            let is_expected = status == if matches!(ask, Ask::Refused(_)) { 400 } else { 200 };
            let measured = (times[ROUNDS / 2], status, ask);
            is_expected.then_some(measured).ok_or_else(|| format!("{endpoint}: {status} for {}", ask.short()))
        });
        let measured = measured.collect::<Result<Vec<_>, _>>()?;
        let Some((time, status, ask)) = measured.into_iter().max_by_key(|(time, ..)| *time) else { continue };
        let missed = if time <= WORST { "" } else { "  missed" };
        println!("{endpoint:44} {:8} {status:7}   {}{missed}", time.as_micros(), ask.short());
    }
    Ok(())
}

type Answers = BoxCloneService<Request, Response, Infallible>;

/// The whole service, which visitors may use too.
pub(crate) struct Server {
    service: Answers,
    runtime: Runtime,
    /// The authorization header.
    bearer: String,
}

impl Server {
    pub(crate) fn start(directory: Arc<Directory>) -> Result<Self, Failure> {
        let folder = tempfile::tempdir()?;
        let key_file = folder.path().join("keys");
        let rate = Rate::new(100_000).ok_or("no such rate")?;
        let new = NewKey { name: "bench".to_owned(), expires: None, rate, origins: Vec::new() };
        let (key, _) = file::create(&key_file, new, Timestamp::now(), |_| Ok(()))?;
        let public_url = Some(PublicUrl::parse("http://localhost")?);
        let config = HttpConfig { public_url, public_page: Some(rate), ..HttpConfig::default() };
        let state = AppState::new(directory, None, Arc::new(KeyStore::open(&key_file)?), config)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let service = BoxCloneService::new(http::service(state));
        Ok(Self { service, runtime, bearer: format!("Bearer {}", key.expose()) })
    }

    /// How much CPU time a request takes, and the response's status.
    pub(crate) fn measure(&self, ask: &Ask, limit: usize) -> (Duration, u16) {
        let request = ask.request(&self.bearer, limit);
        let start = cpu_time::of_process();
        let status = self.runtime.block_on(async {
            let Ok(response) = self.service.clone().oneshot(request).await;
            let status = response.status().as_u16();
            std::hint::black_box(response.into_body().collect().await.expect("a body").to_bytes());
            status
        });
        (cpu_time::of_process().saturating_sub(start), status)
    }
}

impl Ask {
    fn request(&self, bearer: &str, limit: usize) -> Request {
        let request = Request::builder().header("host", "localhost").header("authorization", bearer);
        match self {
            Self::Get(path) | Self::Refused(path) => {
                let path = path.replace("LIMIT", &limit.to_string());
                request.uri(path).body(Body::empty())
            }
            Self::Tool(call) => {
                let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}).to_string();
                let request = request.method("POST").uri("/mcp").header("content-type", "application/json");
                let request = request.header("accept", "application/json, text/event-stream");
                request.body(Body::from(body.replace("\"LIMIT\"", &limit.to_string())))
            }
        }
        .expect("a request")
    }

    fn short(&self) -> String {
        let text = match self {
            Self::Get(path) | Self::Refused(path) => path.clone(),
            Self::Tool(call) => call.to_string(),
        };
        text.chars().take(90).collect()
    }
}

/// The endpoints, each with candidates for its worst request.
#[expect(clippy::too_many_lines, reason = "a table")]
fn endpoints(exports: &[Export], words: &[String], since: &str, seed: u64) -> Vec<(&'static str, Vec<Ask>)> {
    let mut random = Rng::with_seed(seed);
    let products: Vec<_> = exports.iter().flat_map(|export| &export.software).collect();
    let some: Vec<_> = (0..PRODUCTS).map(|_| encoded(&products[random.usize(0..products.len())].id)).collect();
    let largest = products.iter().max_by_key(|of| of.description.as_deref().map_or(0, str::len));
    let largest = largest.map_or("", |of| &*of.id);
    let some_categories: Vec<_> = (0..50).map(|number| format!("Category {number}")).collect();
    // Long words that no product contains.
    let misspelled: Vec<_> =
        words.iter().filter(|word| word.len() > 8).take(20).map(|word| format!("{word}qx")).collect();
    let misspelled = misspelled.join("+").chars().take(250).collect::<String>();
    let letters: Vec<_> = ('a'..='z').map(String::from).collect();
    let frequent = words[..40].join("+");
    let frequent = &frequent[..frequent.char_indices().nth(250).map_or(frequent.len(), |(at, _)| at)];
    let categories = |count: usize| {
        let some: Vec<_> = (0..count).map(|number| format!("category=Category+{number}")).collect();
        some.join("&")
    };
    let get = |paths: Vec<String>| paths.into_iter().map(Ask::Get).collect::<Vec<_>>();
    let each = |of: &[String], path: &str| of.iter().map(|one| Ask::Get(path.replace("{}", one))).collect::<Vec<_>>();
    let ids: Vec<_> = some.iter().map(|id| format!("id={id}")).collect();
    let every_filter =
        "offering_type=software&evidence_status=pending-review&min_rating=0&evidence_checked_after=2000-01-01&tags=a";
    let facets: Vec<_> = Facet::all().map(|facet| format!("facets={}", facet.as_str())).collect();
    let facets = facets.join("&");
    // Similar to a real parameter's name, so that the server looks for the nearest match.
    let unknown = (0..UNKNOWN).map(|number| format!("offste{number}=1")).collect::<Vec<_>>().join("&");
    let unknown_arguments: serde_json::Map<_, _> = (0..UNKNOWN_ARGUMENTS)
        .map(|number| (format!("evidence_checked_befro{number}"), "x".repeat(30).into()))
        .collect();
    let tool = |name: &str, arguments: Value| Ask::Tool(json!({"name": name, "arguments": arguments}));
    let mut lists = get(vec![
        "/v1/software?limit=LIMIT&offset=59000".to_owned(),
        format!("/v1/software?limit=LIMIT&offset=9000&{every_filter}"),
        format!("/v1/software?limit=LIMIT&{}", categories(300)),
        format!("/v1/software?limit=LIMIT&{}", ids[..150].join("&")),
        format!("/v1/software?q={frequent}&limit=LIMIT"),
        format!("/v1/software?limit=LIMIT&offset=50000&sort=-rating&{every_filter}"),
        "/v1/software?limit=LIMIT&fields=name&fields=categories".to_owned(),
    ]);
    lists.extend(each(&letters, "/v1/software?q={}&limit=LIMIT&offset=9900"));
    lists.push(Ask::Refused(format!("/v1/software?{unknown}")));
    vec![
        ("/healthz", get(vec!["/healthz".to_owned()])),
        ("/readyz", get(vec!["/readyz".to_owned()])),
        ("documents", get(["/docs", "/openapi.json", "/llms.txt"].map(str::to_owned).to_vec())),
        (
            "pages",
            get(vec![
                "/".to_owned(),
                format!("/?q={frequent}"),
                format!("/?q={misspelled}"),
                format!("/?q={}&page=100", words[0]),
                format!("/?{}", categories(300)),
                format!("/?q={misspelled}&{}", categories(7)),
                format!("/?q={frequent}&{}", categories(7)),
                "/glossary".to_owned(),
                format!("/glossary?q={}", words[0]),
                "/categories".to_owned(),
                "/exports".to_owned(),
            ]),
        ),
        (
            "pages that find nothing, with filters",
            get(vec![
                format!("/?q={misspelled}&{}", categories(7)),
                format!("/?q={frequent}&{}&min_rating=5", categories(7)),
                format!("/?{}&{every_filter}", categories(7)),
            ]),
        ),
        ("/software/{id}", each(&some, "/software/{}")),
        ("/v1/software", lists),
        (
            "/v1/software/{id}",
            [each(&some, "/v1/software/{}"), each(&[encoded(largest)], "/v1/software/{}")]
                .into_iter()
                .flatten()
                .collect(),
        ),
        ("/v1/software/{id}/similar", each(&some, "/v1/software/{}/similar?limit=LIMIT&offset=9900")),
        (
            "/v1/search",
            get(vec![
                format!("/v1/search?q={frequent}&limit=LIMIT&highlight=true&{facets}"),
                format!("/v1/search?q={}&limit=LIMIT&highlight=true&{facets}", words[0]),
                format!("/v1/search?limit=LIMIT&offset=9900&{facets}&{every_filter}"),
                format!("/v1/search?q={}&limit=LIMIT&{}", words[0], categories(300)),
                format!(
                    "/v1/search?q={}&limit=LIMIT&offset=9900&highlight=true&{facets}&{}",
                    words[0],
                    categories(250)
                ),
                format!("/v1/search?q={misspelled}&limit=LIMIT&highlight=true&{facets}"),
            ]),
        ),
        (
            "/v1/suggest",
            [
                each(&letters, "/v1/suggest?q={}&limit=20"),
                get(vec![
                    "/v1/suggest?q=category&limit=20".to_owned(),
                    "/v1/suggest?q=category+1&limit=20".to_owned(),
                    "/v1/suggest?q=categroy+1&limit=20".to_owned(),
                    format!("/v1/suggest?q={frequent}&limit=20"),
                    format!("/v1/suggest?q={misspelled}&limit=20"),
                ]),
            ]
            .into_iter()
            .flatten()
            .collect(),
        ),
        ("/v1/categories", get(vec!["/v1/categories?limit=LIMIT&offset=59900".to_owned()])),
        ("/v1/categories/{id}", get(vec!["/v1/categories/category-59999".to_owned()])),
        (
            "/v1/glossary",
            [
                each(&letters, "/v1/glossary?q={}&limit=LIMIT&offset=9900"),
                each(&words[..20], "/v1/glossary?q={}&limit=LIMIT&offset=9900"),
                get(vec![
                    "/v1/glossary?limit=LIMIT&offset=99900".to_owned(),
                    "/v1/glossary?q=term&limit=LIMIT&offset=9900".to_owned(),
                    format!("/v1/glossary?q={frequent}"),
                    format!("/v1/glossary?q={}+{}+{}&limit=LIMIT", words[0], words[1], words[2]),
                ]),
            ]
            .into_iter()
            .flatten()
            .collect(),
        ),
        ("/v1/glossary/{id}", get(vec!["/v1/glossary/term-99999".to_owned()])),
        (
            "/v1/reviews/{id}",
            each(
                &["-created_at", "created_at", "-rating", "rating"].map(str::to_owned),
                "/v1/reviews/large?sort={}&min_rating=2&verified=true&limit=LIMIT&offset=30000",
            ),
        ),
        ("/v1/exports", get(vec!["/v1/exports?limit=LIMIT".to_owned()])),
        (
            "/v1/changes",
            get(vec![
                format!("/v1/changes?since={since}&limit=LIMIT"),
                format!("/v1/changes?since={since}&limit=LIMIT&offset=59000"),
            ]),
        ),
        (
            "/feed.atom",
            get(vec![
                "/feed.atom".to_owned(),
                "/feed.atom?category=category+1".to_owned(),
                format!("/feed.json?q={frequent}"),
                format!("/feed.atom?{}", categories(300)),
                format!("/feed.atom?category={}", encoded(products[0].categories.first().map_or("", |name| name))),
            ]),
        ),
        (
            "/mcp search_software",
            vec![
                tool("search_software", json!({"q": frequent.replace('+', " "), "limit": "LIMIT"})),
                tool("search_software", json!({"q": words[0], "category": some_categories, "limit": "LIMIT"})),
            ],
        ),
        ("/mcp with unknown arguments", vec![tool("search_software", unknown_arguments.into())]),
        ("/mcp get_software", vec![tool("get_software", json!({"id": largest}))]),
        ("/mcp list_categories", vec![tool("list_categories", json!({"limit": "LIMIT", "offset": 59_000}))]),
        ("/mcp search_glossary", vec![tool("search_glossary", json!({"q": words[0], "limit": "LIMIT"}))]),
        ("/mcp list_reviews", vec![tool("list_reviews", json!({"id": "large", "sort": "rating", "limit": "LIMIT"}))]),
    ]
}

fn encoded(text: &str) -> String {
    percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC).to_string()
}

fn large_export(words: &[String], seed: u64) -> Value {
    let mut random = Rng::with_seed(seed);
    let mut text = |count: usize| {
        let words: Vec<_> = (0..count).map(|_| &*words[crate::generated::skewed(&mut random, words.len())]).collect();
        words.join(" ")
    };
    let glossary: Vec<_> = (0..TERMS)
        .map(|number| json!({"term": format!("term {number}"), "definition": text(WORDS_OF_A_TERM)}))
        .collect();
    let categories: Vec<_> =
        (0..CATEGORIES).map(|number| json!({"name": format!("Category {number}"), "description": text(5)})).collect();
    let reviews: Vec<_> = (0..REVIEWS)
        .map(|number| {
            json!({
                "id": format!("r{number}"), "software_id": "large", "rating": number % 5 + 1, "verified": number % 3 == 0,
                "created_at": format!("20{:02}-0{}-1{}", number % 20 + 1, number % 9 + 1, number % 10), "body": text(5)
            })
        })
        .collect();
    json!({
        "name": "Large", "license": "https://example.org/licence",
        "software": [{
            "id": "large", "name": "Large", "url": "https://large.example/", "evidence_status": "pending-review"
        }],
        "categories": categories, "glossary": glossary, "reviews": reviews,
    })
}
