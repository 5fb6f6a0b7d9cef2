//! An index folder as the source of generations. Another tool fills it, usually with a copy of the
//! index of a server that builds, and this module only reads it.
//!
//! A copy may be interrupted or arrive in any order. `CURRENT` takes effect once the generation that
//! it names is complete, intact and not older than the served one.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use jiff::Timestamp;

use crate::generation::store::{Manifest, Store};
use crate::generation::{BuildFailure, Change, INDEX_FORMAT, Snapshot};
use crate::update::debounce::Debouncer;
use crate::update::directory::Outcome;
use crate::update::state::{About, Health, Problem};
use crate::update::stored::{load, load_any, may_open, skipped};
use crate::update::{Look, Opened, Origin, Start};

/// Opens the generations in an index folder.
#[derive(Debug)]
pub struct IndexFolder {
    store: Store,
    debouncer: Debouncer,
    /// The generation being served.
    served: Option<Manifest>,
}

/// Why the generation that `CURRENT` names isn't being served.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    #[error("{} doesn't exist or doesn't name a generation; copy an index folder there, CURRENT last", current.display())]
    Missing { current: PathBuf },
    #[error("CURRENT names {name}, which isn't complete yet: {what}; copy generations first and CURRENT last")]
    Incomplete { name: String, what: String },
    #[error(
        "CURRENT names {name}, which has index format {format}, and this version reads {INDEX_FORMAT}; run the same version as \
         the server that builds the index"
    )]
    Format { name: String, format: u32 },
    #[error(
        "CURRENT names {name}, which was built at {built_at}, before the served generation ({served_built_at}); copy the newest \
         index, or restart this server to serve the older one"
    )]
    Older { name: String, built_at: Timestamp, served_built_at: Timestamp },
    #[error("{0}; copy the generation again")]
    Damaged(BuildFailure),
    /// Processes died while opening it.
    #[error(transparent)]
    Skipped(BuildFailure),
    #[error("the program failed ({0}); please report it")]
    Panicked(String),
}

impl IndexError {
    /// The reason in `/readyz`.
    const fn code(&self) -> &'static str {
        match self {
            Self::Missing { .. } => "index_missing",
            Self::Incomplete { .. } => "generation_incomplete",
            Self::Format { .. } => "generation_format",
            Self::Older { .. } => "generation_older",
            Self::Damaged(_) => "generation_damaged",
            Self::Skipped(_) => "generation_skipped",
            Self::Panicked(_) => "update_panicked",
        }
    }
}

impl IndexFolder {
    pub fn new(store: Store) -> Self {
        Self { store, debouncer: Debouncer::new(None, Instant::now()), served: None }
    }

    /// Opens the generation with this folder name; `None` if it's being served and intact.
    fn open(&mut self, name: &str, health: &Health) -> Result<Option<Opened>, IndexError> {
        let Some(manifest) = self.store.manifest(name) else {
            let name = name.to_owned();
            return Err(match self.store.foreign_format() {
                Some(format) => IndexError::Format { name, format },
                None => IndexError::Incomplete { name, what: "its manifest.json can't be read".to_owned() },
            });
        };
        if let Some((built_at, served_built_at)) = self.times(&manifest).filter(|(built, served)| built < served) {
            return Err(IndexError::Older { name: name.to_owned(), built_at, served_built_at });
        }
        if let Some(what) = self.store.unfinished_part(&manifest) {
            return Err(IndexError::Incomplete { name: name.to_owned(), what });
        }
        let is_served = self.served.as_ref().is_some_and(|served| served.folder_name() == name);
        if is_served && !health.serves_damaged() {
            self.store.verify(&manifest).map_err(|error| IndexError::Damaged(error.into()))?;
            return Ok(None);
        }
        may_open(&self.store, &manifest.generation).map_err(IndexError::Skipped)?;
        let snapshot = load(&self.store, &manifest).map_err(IndexError::Damaged)?;
        self.served = Some(manifest);
        let before = health.directory().current();
        let before = before.as_ref().map(|before| before.contents());
        let change = Change::between(before, snapshot.contents(), (None, None));
        let outcome = if is_served { Outcome::Unchanged } else { Outcome::Loaded };
        Ok(Some(Opened { snapshot, outcome, change: Some(change) }))
    }

    /// When a generation and the served one were built.
    fn times(&self, manifest: &Manifest) -> Option<(Timestamp, Timestamp)> {
        Some((manifest.built_at.parse().ok()?, self.served.as_ref()?.built_at.parse().ok()?))
    }
}

impl Origin for IndexFolder {
    type Error = IndexError;

    const NEW: &'static str = "published a new generation from the index folder";
    const UNCHANGED: Option<&'static str> = Some("the index folder is unchanged");
    const RECOVERED: &'static str = "serving the index folder's current generation";

    /// The current generation or, failing that, the newest intact one is served. It counts as
    /// current only once the folder has been checked.
    fn restore(&mut self, health: &mut Health) -> Start {
        if let Some(problem) = skipped(&self.store) {
            health.begin(problem);
        }
        let Some((snapshot, manifest)) = load_any(&self.store, |_| true) else { return Start::Wait };
        let current_at = manifest.built_at.parse().ok();
        self.served = Some(manifest);
        Start::Serve(snapshot, current_at)
    }

    fn look(&mut self, now: Instant, _: &mut Health) -> Look {
        if self.debouncer.look(Some(self.store.stamp()), now) { Look::Due } else { Look::Nothing }
    }

    fn max_wait(&self) -> Duration {
        self.debouncer.max_wait()
    }

    fn fetch(&mut self, _: Option<&Snapshot>, health: &mut Health) -> Result<Option<Opened>, IndexError> {
        loop {
            self.debouncer.read(Some(self.store.stamp()), Instant::now());
            let name = self.store.current_name();
            let current = || self.store.folder().join("CURRENT");
            let opened = self.open(&name.clone().ok_or_else(|| IndexError::Missing { current: current() })?, health);
            // The tool that fills the folder may remove a generation once `CURRENT` names another.
            if opened.is_err() && self.store.current_name() != name {
                continue;
            }
            if opened.is_ok() {
                health.end(|about| about == About::Index);
            }
            return opened;
        }
    }

    fn panicked(panic: String) -> IndexError {
        IndexError::Panicked(panic)
    }

    fn problem(&self, error: &IndexError, last_good: Option<&Snapshot>, _: &Health) -> Problem {
        let served = last_good.map_or_else(
            || "nothing is being served yet".to_owned(),
            |last_good| format!("generation {} is still being served", last_good.generation()),
        );
        let log = format!("can't serve the index folder's current generation: {error}; {served}");
        Problem::new(About::Index, error.code(), format!("{error}; {served}"), Some(log))
    }
}
