//! Generations with damaged parts whose hashes are correct, as a faulty or hostile leader might
//! send them.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use axum::body::Body;
use axum::http::{Request, StatusCode};
use http_body_util::BodyExt as _;
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::{TestCaseError, TestRunner};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use software_directory::export::{self, ExportSet, Limits, SourceFile};
use software_directory::generation::{Artifact, Generation, MeaningOption, Processors, Snapshot, build};
use software_directory::http::{self, AppState, HttpConfig};
use software_directory::key::KeyStore;
use software_directory::record::CalendarDate;
use software_directory::scratch::Scratch;
use software_directory::service::{ListSoftware, PageRequest, list_software, probe};
use software_directory::update::Directory;
use tower::ServiceExt as _;

/// How much memory the tests in this process may use, in bytes. Trusting a damaged length would use
/// more.
const MAX_MEMORY: u64 = 4 << 30;

/// A way to damage bytes.
#[derive(Debug, Clone)]
enum Damage {
    /// Replaces eight bytes.
    Eight(Index, [u8; 8]),
    /// Flips a bit.
    Bit(Index, u8),
    /// Fills a run of bytes with one value.
    Run(Index, u8, usize),
    Cut(Index),
    Longer(Vec<u8>),
}

impl Damage {
    fn any() -> impl Strategy<Value = Self> {
        prop_oneof![
            4 => (any::<Index>(), any::<[u8; 8]>()).prop_map(|(at, bytes)| Self::Eight(at, bytes)),
            3 => (any::<Index>(), 0..8_u8).prop_map(|(at, bit)| Self::Bit(at, bit)),
            2 => (any::<Index>(), prop_oneof![Just(0), Just(0x7f), Just(0x80), Just(0xff), any::<u8>()], 1..40_usize)
                .prop_map(|(at, byte, length)| Self::Run(at, byte, length)),
            1 => any::<Index>().prop_map(Self::Cut),
            1 => prop::collection::vec(any::<u8>(), 1..20).prop_map(Self::Longer),
        ]
    }

    fn apply(&self, content: &mut Vec<u8>) {
        let length = content.len();
        let place = |at: &Index| if length == 0 { 0 } else { at.index(length) };
        match self {
            Self::Eight(at, bytes) => content.iter_mut().skip(place(at)).zip(bytes).for_each(|(to, from)| *to = *from),
            Self::Bit(at, bit) => content.iter_mut().skip(place(at)).take(1).for_each(|byte| *byte ^= 1 << bit),
            Self::Run(at, byte, run) => content.iter_mut().skip(place(at)).take(*run).for_each(|to| *to = *byte),
            Self::Cut(at) => content.truncate(place(at)),
            Self::Longer(more) => content.extend_from_slice(more),
        }
    }
}

fn generation() -> (Generation, Artifact) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("data");
    let mut sources = vec![SourceFile::open(&folder.join("demo.json"), &Limits::default())];
    let extra = include_bytes!("generation.json");
    sources.push(SourceFile::from_bytes(Path::new("extra.json"), extra.to_vec().into()));
    let today = CalendarDate::parse("2026-01-01").expect("a date");
    let report = export::examine(sources, &Limits::default(), today, &|_| {}).expect("in memory");
    assert!(report.is_valid(), "{:?}", report.findings);
    let scratch = Scratch::in_memory();
    let set = ExportSet::of(report.exports, &scratch).expect("in memory");
    let generation = Generation::of(&set).expect("in memory");
    let parts = build(set, &scratch, Processors::One, MeaningOption::On, &mut |_, _| ControlFlow::Continue(()))
        .expect("a generation");
    (generation, Artifact::read(parts).expect("in memory"))
}

/// The ids of the first products, ordered by name.
fn listed(snapshot: &Snapshot) -> Vec<String> {
    let all = ListSoftware { page: PageRequest { limit: 100, offset: 0 }, ..ListSoftware::default() };
    let Ok(page) = pollster::block_on(list_software(snapshot, &all)) else { return Vec::new() };
    let items = page.data.iter().filter_map(|item| serde_json::from_slice::<serde_json::Value>(item).ok());
    items.filter_map(|item| item["id"].as_str().map(str::to_owned)).collect()
}

/// Requests for everything in a generation.
fn requests(snapshot: &Snapshot) -> Vec<String> {
    let sound = [
        "/v1/software?limit=100&sort=-rating",
        "/v1/software?limit=100&sort=name",
        "/v1/software?limit=100&sort=-review_count&category=Safety",
        "/v1/software?limit=100&sort=-evidence_checked_on&min_rating=2",
        "/v1/search?limit=100&q=audit&facets=category,rating,standards,vendor,tags,languages,deployment,offering_type",
        "/v1/search?limit=100&q=%22permit+to+work%22&highlight=true",
        "/v1/search?limit=100&q=lockot+plner&highlight=true&facets=category",
        "/v1/search?limit=100&q=loto+software+-tools&sort=name",
        "/v1/search?limit=100&q=alternatives+to+rated+gauge",
        "/v1/search?limit=100&q=iso+9001+saf&vendor=Gauge+Makers",
        "/v1/suggest?q=lo",
        "/v1/suggest?q=a",
        "/v1/suggest?q=saf",
        "/v1/categories?limit=100",
        "/v1/categories/safety",
        "/v1/glossary?limit=100",
        "/v1/glossary?q=loto",
        "/v1/exports",
        "/v1/changes",
        "/feed.atom",
        "/",
        "/v1/exports/extra",
        "/v1/exports/extra?format=ndjson",
        "/v1/exports/demo",
        "/v1/exports/demo?format=ndjson",
    ];
    let ids = ["tool-rated", "tool-reviewed", "tool-01", "extra"].map(str::to_owned).into_iter();
    let ids = ids.chain(listed(snapshot)).take(40);
    let of = |id: String| {
        let id: String = form_urlencoded::byte_serialize(id.as_bytes()).collect::<String>().replace('+', "%20");
        ["", "/reviews?limit=100", "/similar"].map(|rest| format!("/v1/software/{id}{rest}"))
    };
    sound.map(str::to_owned).into_iter().chain(ids.flat_map(of)).collect()
}

/// Sends all requests, and returns those whose failure is the service's fault.
async fn failures(snapshot: Arc<Snapshot>) -> Vec<(String, String)> {
    let requests = requests(&snapshot);
    let directory = Arc::<Directory>::default();
    directory.publish(snapshot);
    let config = HttpConfig::default();
    let (key, keys) = (software_directory::key::development::obtain(None).expect("a key").key, Path::new(""));
    let keys = Arc::new(KeyStore::development(&key, keys));
    let state = AppState::new(directory, keys, config).expect("the state");
    let service = http::service(state);
    let mut failures = Vec::new();
    for path in requests {
        let request = Request::get(&path).header("host", "localhost");
        let request = request.header("authorization", format!("Bearer {}", key.expose()));
        let Ok(response) = service.clone().oneshot(request.body(Body::empty()).expect("a request")).await;
        let status = response.status();
        match response.into_body().collect().await {
            Err(error) => failures.push((path, format!("{error:?}"))),
            Ok(body) if status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS => {
                failures.push((path, String::from_utf8_lossy(&body.to_bytes()).into_owned()));
            }
            Ok(_) => {}
        }
    }
    failures
}

/// Opens a generation the way a follower does; a panic counts as a refusal.
fn open(generation: &Generation, artifact: Artifact) -> Option<Arc<Snapshot>> {
    let opened = catch_unwind(AssertUnwindSafe(|| {
        let snapshot = Snapshot::open(generation.clone(), artifact).map_err(|error| error.to_string())?;
        probe(&snapshot).map_err(|error| error.to_string())?;
        Ok::<_, String>(snapshot)
    }));
    opened.ok()?.ok()
}

#[test]
fn a_generation_with_a_damaged_part_is_refused_or_answers_every_request() {
    let before = getrlimit(Resource::Data);
    setrlimit(Resource::Data, Rlimit { current: Some(MAX_MEMORY), ..before }).expect("bounded");
    let (generation, artifact) = generation();
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
    let sound = open(&generation, artifact.clone()).expect("an undamaged generation");
    assert_eq!(runtime.block_on(failures(sound)), []);
    let (accepted, refused) = (Cell::new(0), Cell::new(0));
    for (part, _) in &artifact.parts {
        let mut runner = TestRunner::new(crate::cases::cases(25));
        let outcome = runner.run(&Damage::any(), |damage| {
            let mut artifact = artifact.clone();
            let content = artifact.parts.iter_mut().find(|(name, _)| name == part).map(|(_, content)| content);
            let content = content.expect("a part");
            let mut damaged = content.to_vec();
            damage.apply(&mut damaged);
            *content = damaged.into();
            let Some(snapshot) = open(&generation, artifact) else {
                refused.set(refused.get() + 1);
                return Ok(());
            };
            accepted.set(accepted.get() + 1);
            let failures = runtime.block_on(failures(snapshot));
            if failures.is_empty() { Ok(()) } else { Err(TestCaseError::fail(format!("{failures:?}"))) }
        });
        outcome.unwrap_or_else(|error| panic!("{part}: {error}"));
    }
    println!("{} generations could answer every request, {} were refused", accepted.get(), refused.get());
    assert!(refused.get() > 100, "{}", refused.get());
}
