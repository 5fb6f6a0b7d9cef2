//! A server's side of a directory in a cluster: follows what's published, and keeps it in memory
//! except for products and reviews.

use std::sync::Arc;
use std::time::Duration;

use arc_swap::{ArcSwap, ArcSwapOption};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::time::MissedTickBehavior;

use super::connection::{Call, Connection, blocking};
use super::document::{DirectoryDocument, StoredAttribute, kind};
use super::form::Part;
use super::form::bundled_synonyms;
use super::response::{Got, Scan};
use super::{Error, ErrorKind, IndexPrefix};
use crate::catalogue::{AttributeSummary, Catalogue, Collation, Contents};
use crate::error::chain;
use crate::export::Skipped;
use crate::generation::{ChangeLog, Generation, LogStep, MergedChanges};
use crate::record::{Attributes, Languages, Pin, SynonymGroup};
use crate::search::headings::HeadingIndex;
use crate::search::pins::Pins;
use crate::search::synonym::Thesaurus;

/// How often the publication is checked.
const INTERVAL: Duration = Duration::from_secs(1);

/// A directory's indices in a cluster, with a view of what's published.
#[derive(Debug)]
pub struct Index {
    pub(super) connection: Arc<Connection>,
    pub(super) prefix: IndexPrefix,
    view: ArcSwapOption<View>,
    status: ArcSwap<Status>,
}

/// The directory as of one publication. Each request uses one from start to finish.
#[derive(Debug, Clone)]
pub struct Directory {
    pub(super) index: Arc<Index>,
    pub view: Arc<View>,
}

/// Whether the directory can be served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Status {
    Ready,
    /// It can't, for this reason, given as a stable code and as text.
    Failing {
        code: &'static str,
        detail: String,
    },
}

impl Index {
    /// Doesn't send anything yet.
    pub fn new(connection: Arc<Connection>, prefix: IndexPrefix) -> Arc<Self> {
        let detail = "the directory is being loaded".to_owned();
        Arc::new(Self {
            connection,
            prefix,
            view: ArcSwapOption::empty(),
            status: ArcSwap::from_pointee(Status::Failing { code: "starting", detail }),
        })
    }

    /// The directory as last published; `None` until it has been loaded.
    pub fn current(self: &Arc<Self>) -> Option<Directory> {
        Some(Directory { index: Arc::clone(self), view: self.view.load_full()? })
    }

    /// Whether the last check succeeded.
    pub fn status(&self) -> Arc<Status> {
        self.status.load_full()
    }

    /// Checks what's published, and loads it if it's new. Returns whether it was.
    pub async fn check(&self) -> Result<bool, Error> {
        let outcome = self.load_new().await;
        self.status.store(Arc::new(match &outcome {
            Ok(_) => Status::Ready,
            Err(error) => Status::Failing { code: self.code(error), detail: chain(error) },
        }));
        outcome
    }

    async fn load_new(&self) -> Result<bool, Error> {
        let current = self.view.load_full();
        let published = published(&self.connection, &self.prefix).await?.ok_or(Error::NothingPublished)?;
        if current.is_some_and(|view| view.version == published.1) {
            return Ok(false);
        }
        self.view.store(Some(Arc::new(View::load(&self.connection, published).await?)));
        Ok(true)
    }

    /// Follows what's published until the future is dropped. Logs when the status changes, and
    /// passes it on.
    pub async fn follow(self: Arc<Self>, on_change: impl Fn(&Status)) {
        let mut interval = tokio::time::interval(INTERVAL);
        interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            interval.tick().await;
            let before = self.status();
            let outcome = self.check().await;
            match (&*self.status(), outcome) {
                (_, Ok(true)) => tracing::info!("serving a new publication from the cluster"),
                (after, _) if *after == *before => continue,
                (Status::Ready, _) => tracing::info!("following the cluster again"),
                (Status::Failing { detail, .. }, _) => tracing::warn!("can't follow the cluster: {detail}; retrying"),
            }
            on_change(&self.status());
        }
    }

    fn code(&self, error: &Error) -> &'static str {
        match error {
            Error::NothingPublished if self.view.load().is_some() => "generation_lost",
            Error::NothingPublished => "nothing_published",
            Error::Cluster(error) => match error.kind {
                ErrorKind::Authentication => "cluster_authentication",
                ErrorKind::Unavailable | ErrorKind::Overloaded => "cluster_unavailable",
                _ => "cluster_failed",
            },
            _ => "generation_damaged",
        }
    }
}

/// How many documents are read at once.
const PAGE: usize = 500;

/// What's published. It's the last document that a run writes.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Publication {
    pub(super) generation: Generation,
    /// When it was published (RFC 3339 in UTC).
    pub(super) published_at: String,
    pub(super) software_count: u64,
    pub(super) skipped: Skipped,
    pub(super) languages: Languages,
    /// When the oldest generation in the change log was published.
    pub(super) begun_at: String,
}

/// Identifies a write of the publication.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Version {
    index: String,
    seq_no: u64,
    primary_term: u64,
}

/// A directory without its products and reviews, as of one publication.
#[derive(Debug)]
pub struct View {
    pub(super) version: Version,
    publication: Publication,
    /// Categories, the glossary, exports and attributes.
    pub catalogue: Catalogue,
    /// The glossary, for searches.
    pub glossary: HeadingIndex,
    /// The categories, for searches.
    pub categories: HeadingIndex,
    pub changes: ChangeLog,
    /// The same changes, merged.
    pub merged_changes: MergedChanges,
    /// The exports' synonyms that aren't in the index's analyzers.
    pub(super) thesaurus: Thesaurus,
    pub(super) pins: Pins,
}

/// Reads the publication and its version; `None` if there's none.
pub(super) async fn published(
    connection: &Connection,
    prefix: &IndexPrefix,
) -> Result<Option<(Publication, Version)>, Error> {
    let index = prefix.alias(Part::Directory);
    read(connection, &index, kind::PUBLICATION).await
}

/// Reads a document of which there's only one of its kind.
pub(super) async fn read<T: for<'de> Deserialize<'de>>(
    connection: &Connection,
    index: &str,
    kind: &str,
) -> Result<Option<(T, Version)>, Error> {
    let answer = match connection.send(Call::get(format!("/{index}/_doc/{kind}:{kind}?preference=_local"))).await {
        Ok(answer) => answer,
        Err(error) if matches!(error.kind, ErrorKind::NotFound | ErrorKind::NoIndex) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let got: Got<DirectoryDocument> = answer.json().await?;
    let data = serde_json::from_str(got.source.data.get());
    let data = data.map_err(|source| Error::Document { index: index.to_owned(), source })?;
    Ok(Some((data, Version { index: got.index, seq_no: got.seq_no, primary_term: got.primary_term })))
}

impl View {
    /// Loads what's published.
    pub(super) async fn load(
        connection: &Connection,
        (publication, version): (Publication, Version),
    ) -> Result<Self, Error> {
        let mut loaded = Loaded::default();
        let others = json!({"terms": {"kind": [kind::REVIEW, kind::PUBLICATION, kind::PENDING]}});
        let search = json!({"size": PAGE, "sort": [{"key": "asc"}], "query": {"bool": {"must_not": others}}});
        let mut scan = Scan::new(connection, &version.index, search);
        loop {
            let hits = scan.next::<DirectoryDocument>().await?;
            if hits.is_empty() {
                return blocking(move || loaded.finish(publication, version)).await?;
            }
            for document in hits.into_iter().filter_map(|hit| hit.source) {
                let read = loaded.add(&document);
                read.map_err(|source| Error::Document { index: version.index.clone(), source })?;
            }
        }
    }

    pub fn generation(&self) -> &str {
        self.publication.generation.as_str()
    }

    /// When it was published (RFC 3339 in UTC).
    pub fn published_at(&self) -> &str {
        &self.publication.published_at
    }

    pub const fn software_count(&self) -> u64 {
        self.publication.software_count
    }

    pub const fn skipped(&self) -> Skipped {
        self.publication.skipped
    }
}

/// The documents read so far.
#[derive(Debug, Default)]
struct Loaded {
    attributes: Vec<StoredAttribute>,
    contents: Contents,
    synonyms: Vec<SynonymGroup>,
    pins: Vec<Pin>,
    steps: Vec<LogStep>,
}

impl Loaded {
    fn add(&mut self, document: &DirectoryDocument) -> Result<(), serde_json::Error> {
        let data = document.data.get();
        match &*document.kind {
            kind::ATTRIBUTE => self.attributes.push(serde_json::from_str(data)?),
            kind::CATEGORY => self.contents.categories.push(serde_json::from_str(data)?),
            kind::TERM => self.contents.glossary.push(serde_json::from_str(data)?),
            kind::EXPORT => self.contents.exports.push(serde_json::from_str(data)?),
            kind::SYNONYMS => self.synonyms.extend(serde_json::from_str::<Vec<_>>(data)?),
            kind::PINS => self.pins.extend(serde_json::from_str::<Vec<_>>(data)?),
            kind::STEP => self.steps.push(serde_json::from_str(data)?),
            _ => {}
        }
        Ok(())
    }

    fn finish(mut self, publication: Publication, version: Version) -> Result<View, Error> {
        let collation = Collation::new()?;
        self.attributes.sort_by_key(|attribute| attribute.number);
        let mut attributes = Attributes::default();
        for StoredAttribute { attribute, products, ranges, .. } in self.attributes {
            attributes.declare(attribute);
            self.contents.attribute_summaries.push(AttributeSummary { products, ranges });
        }
        self.contents.attribute_summaries.resize_with(attributes.len(), Default::default);
        let Contents { categories, glossary, exports, .. } = &mut self.contents;
        categories.sort_by_cached_key(|category| (collation.key(&category.name), category.name.clone()));
        glossary.sort_by_cached_key(|term| (collation.key(&term.term), term.term.clone()));
        exports.sort_by(|a, b| a.id.cmp(&b.id));
        let contents = Contents { attributes, languages: publication.languages.clone(), ..self.contents };
        let catalogue = Catalogue::of(contents)?;
        // A step that isn't published yet.
        self.steps.retain(|step| step.at <= publication.published_at);
        self.steps.sort_by(|a, b| a.at.cmp(&b.at));
        let changes = ChangeLog::of(publication.begun_at.clone(), self.steps);
        let bundled = bundled_synonyms();
        Ok(View {
            glossary: HeadingIndex::glossary(&catalogue.tables.glossary),
            categories: HeadingIndex::categories(&catalogue.tables.categories),
            merged_changes: MergedChanges::new(&changes),
            thesaurus: Thesaurus::new(self.synonyms.iter().filter(|group| !bundled.contains(group))),
            pins: Pins::new(&self.pins),
            version,
            publication,
            catalogue,
            changes,
        })
    }
}
