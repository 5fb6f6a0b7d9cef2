//! A data folder, an index folder, and an updater between them that records its steps.

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use software_directory::export::{IdPrefixes, Limits, Report};
use software_directory::generation::builder::Builder;
use software_directory::generation::source::Source;
use software_directory::generation::store::{Manifest, Store};
use software_directory::generation::{
    BuildFailure, MeaningOption, Observer, Phase, Processors, RenderedReport, Settings, Snapshot,
};
use software_directory::service::{ListSoftware, PageRequest, Stop, list_software};
use software_directory::update::files::ExportFiles;
use software_directory::update::{Directory, Updater};
use tempfile::TempDir;

/// A folder with `data/` and, once something has been written, `index/`.
pub(crate) struct Place {
    path: PathBuf,
    /// Deletes the folder when dropped.
    _folder: Option<TempDir>,
}

/// An updater, its directory, and the events that were observed.
pub(crate) struct Running {
    pub(crate) updater: Updater<ExportFiles>,
    pub(crate) directory: Arc<Directory>,
    seen: Arc<Mutex<Seen>>,
}

/// The events that an observer saw.
#[derive(Debug, Clone, Default)]
pub(crate) struct Seen {
    /// The phases in the order they began.
    pub(crate) phases: Vec<Phase>,
    /// The number of reports on the exports so far.
    pub(crate) reports: usize,
}

struct Witness(Arc<Mutex<Seen>>);

impl Observer for Witness {
    fn progress(&mut self, phase: Phase, _: u64, _: u64) -> ControlFlow<()> {
        let mut seen = self.0.lock().expect("no panic");
        if seen.phases.last() != Some(&phase) {
            seen.phases.push(phase);
        }
        ControlFlow::Continue(())
    }

    fn report(&mut self, _: &Report) {
        self.0.lock().expect("no panic").reports += 1;
    }

    fn relay(&mut self, _: RenderedReport) {
        self.0.lock().expect("no panic").reports += 1;
    }
}

impl Place {
    /// Creates a folder with one export, `tools`, that contains these products.
    pub(crate) fn with(ids: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let place = Self { path: folder.path().to_owned(), _folder: Some(folder) };
        fs::create_dir(place.data()).expect("a folder");
        place.write("tools.json", &export(ids));
        place
    }

    /// Uses a folder that already exists.
    pub(crate) fn at(path: &Path) -> Self {
        Self { path: path.to_owned(), _folder: None }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.path.join("data")
    }

    pub(crate) fn index(&self) -> PathBuf {
        self.path.join("index")
    }

    pub(crate) fn store(&self) -> Store {
        Store::new(&self.index())
    }

    /// Replaces a file the way editors do: a complete new file takes the old one's name.
    pub(crate) fn write(&self, name: &str, text: &str) {
        let next = self.data().join(".next");
        fs::write(&next, text).expect("written");
        fs::rename(next, self.data().join(name)).expect("renamed");
    }

    pub(crate) fn settings(&self) -> Settings {
        Settings {
            source: Source::Folder(self.data()),
            index: Some(self.index()),
            read_only: false,
            skip_invalid: false,
            max_removed: 50,
            id_prefixes: IdPrefixes::default(),
            meaning: MeaningOption::On,
            limits: Limits::default(),
            process: None,
        }
    }

    /// An updater that has done nothing yet.
    pub(crate) fn updater(&self) -> Running {
        running(self.settings())
    }

    /// An updater that has started successfully.
    pub(crate) fn started(&self) -> Running {
        let mut running = self.updater();
        running.updater.start().expect("it serves");
        running
    }

    /// Builds a generation and makes it current, as `--reindex` does.
    pub(crate) fn reindex(&self) -> Result<Manifest, BuildFailure> {
        self.reindex_with(&self.settings())
    }

    /// Like [`reindex`](Self::reindex), with these settings.
    pub(crate) fn reindex_with(&self, settings: &Settings) -> Result<Manifest, BuildFailure> {
        let observer = &mut Witness(Arc::default());
        Ok(Builder { settings, observer, served: None, processors: Processors::One }
            .build_on_disk(&self.store())?
            .manifest)
    }

    /// The manifest of the current generation on disk.
    pub(crate) fn current(&self) -> Manifest {
        self.store().current().expect("a current generation")
    }

    /// The names in the index folder, sorted; empty if it doesn't exist.
    pub(crate) fn index_names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.index()).into_iter().flatten();
        let mut names: Vec<_> =
            entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("text")).collect();
        names.sort();
        names
    }

    /// The folders of the generations, sorted.
    pub(crate) fn generation_names(&self) -> Vec<String> {
        self.index_names().into_iter().filter(|name| self.index().join(name).is_dir()).collect()
    }
}

/// An updater with these settings that has done nothing yet.
pub(crate) fn running(settings: Settings) -> Running {
    let (directory, seen) = (Arc::<Directory>::default(), Arc::<Mutex<Seen>>::default());
    let updater =
        Updater::new(ExportFiles::new(settings, Box::new(Witness(Arc::clone(&seen)))), Arc::clone(&directory));
    Running { updater, directory, seen }
}

impl Running {
    pub(crate) fn seen(&self) -> Seen {
        self.seen.lock().expect("no panic").clone()
    }

    pub(crate) fn snapshot(&self) -> Arc<Snapshot> {
        self.directory.current().expect("a generation")
    }

    /// The ids of the products being served, ordered by name.
    pub(crate) fn ids(&self) -> Vec<String> {
        ids(&self.snapshot())
    }

    /// The current reasons' codes.
    pub(crate) fn reasons(&self) -> Vec<&'static str> {
        self.directory.degraded().iter().map(|reason| reason.code).collect()
    }

    /// The only reason's detail.
    pub(crate) fn detail(&self) -> String {
        let degraded = self.directory.degraded();
        assert_eq!(degraded.len(), 1, "{degraded:?}");
        degraded[0].detail.clone()
    }
}

/// The ids of all products, ordered by name.
pub(crate) fn ids(snapshot: &Snapshot) -> Vec<String> {
    let all = ListSoftware { page: PageRequest { limit: 100, offset: 0 }, ..ListSoftware::default() };
    let page = list_software(snapshot, &all, &Stop::default()).expect("no engine is involved");
    page.data
        .iter()
        .map(|item| {
            let item: Value = serde_json::from_slice(item).expect("JSON");
            item["id"].as_str().expect("an id").to_owned()
        })
        .collect()
}

/// A minimal product.
pub(crate) fn product(id: &str) -> Value {
    json!({
        "id": id, "name": format!("Product {id}"), "url": format!("https://{id}.example.org/"),
        "evidence_status": "pending-review"
    })
}

/// An export whose products have these ids, as text.
pub(crate) fn export(ids: &[&str]) -> String {
    export_of(&ids.iter().map(|id| product(id)).collect::<Vec<_>>())
}

/// An export with these products, as text.
pub(crate) fn export_of(software: &[Value]) -> String {
    let document =
        json!({"name": "Tools", "license": "https://creativecommons.org/licenses/by/4.0/", "software": software});
    serde_json::to_string_pretty(&document).expect("JSON")
}
