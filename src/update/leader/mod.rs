//! A leader as the source of generations. It's another server, a web server or object storage that
//! publishes an index folder as files.
//!
//! The files are `CURRENT` and, for each generation, `manifest.json` and the parts it names.
//! They're pulled into this server's own index folder, verified, and published as if they had been
//! built here.

mod client;
mod error;
mod pull;

pub use client::{Leader, LeaderError};
pub use error::{FollowError, UnreadableKey};

use crate::error::chain;
use crate::generation::process::ProbeProcess;
use crate::generation::store::{Manifest, Store};
use crate::generation::{BuildFailure, Change, Generation, Snapshot};
use crate::update::reload::Outcome;
use crate::update::state::{About, Health, Problem};
use crate::update::stored::{load, load_any, may_open, skipped};
use crate::update::{Opened, Origin, Start};
use client::Pointer;

/// Pulls generations from a leader.
#[derive(Debug)]
pub struct Follower {
    leader: Leader,
    store: Store,
    /// The entity tag of the pointer to the served generation.
    tag: Option<String>,
    /// The generation on disk that's being served.
    saved: Option<Manifest>,
    /// Tries out a generation before it's opened here.
    probe: Option<ProbeProcess>,
    /// The leader's name for a generation that failed the probe, and why. It isn't tried again.
    refused: Option<(String, BuildFailure)>,
}

impl Follower {
    /// A follower with its own index folder.
    pub fn new(leader: Leader, store: Store) -> Self {
        Self { leader, store, tag: None, saved: None, probe: None, refused: None }
    }

    /// Has a child process try each generation first, so that if one is fatal, the child dies
    /// instead of this process.
    #[must_use]
    pub fn probed_by(self, probe: ProbeProcess) -> Self {
        Self { probe: Some(probe), ..self }
    }

    /// The leader's address.
    pub fn leader(&self) -> &str {
        self.leader.url()
    }

    /// The generation on disk, if it's being served, complete, and current in the index folder.
    fn settled(&self, health: &Health) -> Option<&Manifest> {
        self.saved.as_ref().filter(|saved| {
            let name = saved.folder_name();
            health.serves(&saved.generation)
                && !health.serves_damaged()
                && self.store.current_name().as_ref() == Some(&name)
                && self.store.manifest(&name).is_some()
        })
    }

    /// Opens the leader's generation: from the index folder if it's already there, otherwise from
    /// the leader.
    fn take(&mut self, name: &str, generation: &str, health: &Health) -> Result<Opened, FollowError> {
        if let Some((_, failure)) = self.refused.as_ref().filter(|(refused, _)| refused == name) {
            return Err(FollowError::Unusable(failure.clone()));
        }
        may_open(&self.store, &Generation::named(generation)).map_err(FollowError::Unusable)?;
        let same = |manifest: &Manifest| manifest.generation.as_str() == generation;
        let on_disk =
            self.store.candidates().into_iter().filter(same).find(|manifest| self.store.verify(manifest).is_ok());
        let served = health.directory().current();
        let is_back = served.as_ref().is_some_and(|served| served.generation() != generation);
        let (manifest, pulled, outcome) = match on_disk {
            // If the leader has gone back to a generation that's already here, only its change log
            // differs.
            Some(manifest) if is_back => {
                (pull::pull_log(&self.leader, &self.store, name, &manifest)?, 0, Outcome::Loaded)
            }
            Some(manifest) => (manifest, 0, Outcome::Loaded),
            None => {
                let (manifest, pulled) = pull::pull(&self.leader, &self.store, name)?;
                (manifest, pulled, Outcome::Published)
            }
        };
        if let Some(Err(failure)) = self.probe.as_ref().map(|probe| probe.run(&manifest.folder_name())) {
            if !failure.is_transient {
                self.store.discard(&manifest);
                self.refused = Some((name.to_owned(), failure.clone()));
            }
            return Err(FollowError::Unusable(failure));
        }
        let snapshot = load(&self.store, &manifest).map_err(|failure| {
            // A generation that can't be loaded mustn't replace a good one.
            self.store.discard(&manifest);
            FollowError::Unusable(failure)
        })?;
        self.saved = Some(self.store.make_current(&manifest, manifest.inputs.clone())?);
        self.store.tidy();
        let served = served.as_ref().map(|served| served.contents());
        let change = Change::between(served, snapshot.contents(), (None, None));
        Ok(Opened { snapshot, outcome, change: Some(change), pulled_bytes: Some(pulled) })
    }
}

impl Origin for Follower {
    type Error = FollowError;

    const NEW: &'static str = "published a new generation from the leader";
    const RECOVERED: &'static str = "following the leader again";

    /// The newest intact generation in the index folder is served immediately. It counts as current
    /// only once the leader has confirmed it.
    fn restore(&mut self, health: &mut Health) -> Start {
        if let Some(problem) = skipped(&self.store) {
            health.begin(problem);
        }
        let Some((snapshot, manifest)) = load_any(&self.store, |_| true) else { return Start::Wait };
        let current_at = manifest.built_at.parse().ok();
        self.saved = Some(manifest);
        Start::Serve(snapshot, current_at)
    }

    fn fetch(&mut self, _: Option<&Snapshot>, health: &mut Health) -> Result<Option<Opened>, FollowError> {
        let settled = self.settled(health);
        let (name, tag) = match self.leader.current(settled.and(self.tag.as_deref()))? {
            Pointer::Unchanged => return Ok(None),
            Pointer::Current { name, tag } => (name, tag),
        };
        let generation = name.split('-').next().unwrap_or_default();
        // Another build of the same generation contains the same data.
        let is_same = settled.is_some_and(|saved| saved.generation.as_str() == generation);
        let opened = if is_same { None } else { Some(self.take(&name, generation, health)?) };
        health.end(|about| about == About::Index);
        self.tag = tag;
        Ok(opened)
    }

    fn panicked(panic: String) -> FollowError {
        FollowError::Panicked(panic)
    }

    fn problem(&self, error: &FollowError, last_good: Option<&Snapshot>, health: &Health) -> Problem {
        let (code, text) = (error.code(), chain(error));
        let stays = last_good.map_or_else(
            || "there is nothing to serve until this succeeds".to_owned(),
            |last_good| format!("keeping generation {}", last_good.generation()),
        );
        let served = health.directory().reloads().current_at.map_or_else(
            || "nothing is being served yet".to_owned(),
            |at| format!("the served generation was last known to be current at {at}"),
        );
        let detail = format!("{text}; {served}; retrying");
        let log = format!("can't follow the leader: {text}; {stays}; retrying");
        Problem::new(About::Remote, code, detail, Some(log))
    }
}
