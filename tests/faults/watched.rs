//! Updaters that are driven directly, and what they serve.

use std::collections::BTreeSet;
use std::io::{self, Read as _};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::JoinHandle;

use software_directory::export::{self, Limits, SourceFile};
use software_directory::generation::Snapshot;
use software_directory::service::{
    ListSoftware, PageRequest, SearchSoftware, Stop, get_export, get_software, list_software, search_software,
};
use software_directory::update::{Directory, Signal};

use crate::common::place::{Running, ids};
use crate::corpus::revisions;

/// All responses of a snapshot with up to a hundred products: every item and detail, a search, and
/// finally the download.
pub(crate) fn answers(snapshot: &Snapshot) -> Vec<Vec<u8>> {
    let mut answers = answers_from_memory(snapshot);
    answers.push(download(snapshot).expect("a document"));
    answers
}

/// The validated export, which may only be on disk.
pub(crate) fn download(snapshot: &Snapshot) -> io::Result<Vec<u8>> {
    let mut document = Vec::new();
    get_export(snapshot, "tools").expect("an export").open()?.json()?.read_to_end(&mut document)?;
    Ok(document)
}

/// All responses except the download, the only one that may need the disk.
pub(crate) fn answers_from_memory(snapshot: &Snapshot) -> Vec<Vec<u8>> {
    let page = PageRequest { limit: 100, offset: 0 };
    let list = ListSoftware { page, ..ListSoftware::default() };
    let mut answers: Vec<Vec<u8>> = Vec::new();
    let mut add = |write: &dyn Fn(&mut Vec<u8>)| {
        let mut text = Vec::new();
        write(&mut text);
        answers.push(text);
    };
    for item in list_software(snapshot, &list, &Stop::default()).expect("a list").data {
        add(&|text| text.extend(&item));
    }
    for id in ids(snapshot) {
        add(&|text| {
            text.extend(get_software(snapshot, &id, None).expect("whole").expect("a product").0.body);
        });
    }
    let search = SearchSoftware { page, ..SearchSoftware::new("product audit") };
    for hit in search_software(snapshot, &search).expect("a search").data {
        add(&|text| {
            text.extend(&hit.item);
            text.extend(hit.score.to_string().bytes());
        });
    }
    answers
}

/// The expected responses for an export document, from a separate build.
pub(crate) fn expected(document: &[u8]) -> Vec<Vec<u8>> {
    let file = SourceFile::from_bytes(Path::new("tools.json"), document.to_vec().into());
    let report = export::examine(vec![file], &Limits::default(), export::latest_day(jiff::Timestamp::now()), &|_| {})
        .expect("in memory");
    assert!(report.is_valid(), "{:?}", report.findings);
    answers(&Snapshot::build(report.exports).expect("it builds"))
}

/// The revision being served, which all records must have.
pub(crate) fn revision(directory: &Directory) -> usize {
    let revisions = revisions_of(&directory.current().expect("a generation"));
    assert_eq!(revisions.len(), 1, "revisions are mixed: {revisions:?}");
    revisions.first().copied().expect("one")
}

/// The revisions of a snapshot's records. There's more than one only if generations are mixed.
pub(crate) fn revisions_of(snapshot: &Snapshot) -> BTreeSet<usize> {
    let page = PageRequest { limit: u32::MAX, offset: 0 };
    let list = ListSoftware { page, ..ListSoftware::default() };
    let items = list_software(snapshot, &list, &Stop::default()).expect("an engine").data;
    let ids = items.iter().map(|item| serde_json::from_slice::<serde_json::Value>(item).expect("JSON")["id"].clone());
    let records = ids.map(|id| get_software(snapshot, id.as_str().expect("a string"), None));
    let records = records.map(|record| record.expect("whole").expect("a product").0);
    records.flat_map(|record| revisions(&record.body).collect::<Vec<_>>()).collect()
}

/// An updater that watches its folder in a thread, as in the server.
pub(crate) struct Watching {
    pub(crate) directory: Arc<Directory>,
    signals: SyncSender<Signal>,
    thread: Option<JoinHandle<()>>,
}

impl Watching {
    /// Starts watching with an updater that has already started.
    pub(crate) fn new(mut running: Running) -> Self {
        let directory = Arc::clone(&running.directory);
        let (signals, received) = sync_channel(16);
        running.updater.origin.watch(signals.clone());
        let thread = std::thread::spawn(move || running.updater.run(&received));
        Self { directory, signals, thread: Some(thread) }
    }

    /// The codes of the current reasons.
    pub(crate) fn reasons(&self) -> Vec<&'static str> {
        self.directory.degraded().iter().map(|reason| reason.code).collect()
    }

    /// How many generations have been built.
    pub(crate) fn builds(&self) -> u64 {
        self.directory.reloads().builds
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let _ = self.signals.send(Signal::Stop);
        let ended = self.thread.take().map(JoinHandle::join);
        assert!(std::thread::panicking() || ended.is_none_or(|ended| ended.is_ok()), "watching ended without an error");
    }
}
