//! `--reindex`: brings a directory's indices up to date by sending only the documents that differ.
//!
//! A run compares the hash of every document with the one in the index, sends what's new or changed,
//! deletes what's gone, and refreshes both indices, which makes all of it visible. Then it writes the
//! publication. If it's killed, the next run finds the remaining differences; it starts the change
//! log over, since it can't tell what was published from what was stored later. If the form of an
//! index has changed, new indices are filled and the aliases moved to them.

use std::collections::HashMap;
use std::io;
use std::num::NonZeroU16;
use std::sync::Arc;

use bytes::Bytes;
use http::Method;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::bulk::BulkLoader;
use super::connection::{Call, Connection, PATIENCE};
use super::document::{self, DirectoryDocument, Document, ReviewFields, StoredAttribute, kind};
use super::form;
use super::form::Part;
use super::index::{Publication, Version, View, published, read};
use super::response::{Hit, Scan};
use super::{ClusterError, Error, ErrorKind, IndexPrefix};
use crate::catalogue::{AttributeLabels, AttributeSummary, Collation, Contents, Merged, ProductVersion};
use crate::generation::builder::MergedSet;
use crate::generation::{ChangeLog, Generation, LogStep, ProductChange};
use crate::record::CalendarDate;
use crate::scratch::{Keyed, Peeked, Scratch, ScratchSorter};

#[derive(Deserialize)]
struct Id {
    id: String,
}

/// How many hashes are read at once.
const PAGE: usize = 10_000;
/// A log step with more changes than this starts the log over.
const MAX_CHANGES: usize = 200_000;
/// The id of the document that announces a run.
const PENDING: &str = "pending:pending";
/// The field with the evidence date.
const CHECKED_ON: &str = "directory.checked_on";

/// A run.
pub struct Update<'u> {
    pub connection: Arc<Connection>,
    pub prefix: IndexPrefix,
    /// The number of shards of the product index; `None` chooses one.
    pub shards: Option<NonZeroU16>,
    /// The highest percentage of the products that may be removed.
    pub max_removed: u8,
    /// Receives the number of products done and the total, twice that of the products.
    pub progress: &'u mut dyn FnMut(u64, u64),
}

/// What a run did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Updated {
    pub generation: String,
    pub software_count: u64,
    /// How many products were added, changed and removed.
    pub added: u64,
    pub changed: u64,
    pub removed: u64,
    /// How many documents of both indices were sent or deleted.
    pub sent: u64,
    /// Whether new indices were filled.
    pub is_new: bool,
}

/// Documents in a fixed order.
type Documents<'d> = Box<dyn Iterator<Item = Result<Document, Error>> + 'd>;

/// A run that hasn't finished.
#[derive(Debug, Serialize, Deserialize)]
struct Pending {
    run: String,
}

/// The differences between an index and what it should contain.
#[derive(Debug, Default)]
struct Difference {
    /// The places of the documents to send, in ascending order.
    send: Vec<u64>,
    /// The keys of the documents to delete.
    gone: Vec<String>,
    /// How many documents the index had, and how many of them have changed.
    before: u64,
    changed: u64,
    /// How many documents there should be.
    after: u64,
    /// The products' changes since the last publication.
    changes: Vec<ProductChange>,
}

impl Difference {
    fn is_empty(&self) -> bool {
        self.send.is_empty() && self.gone.is_empty()
    }
}

/// A directory's indices.
#[derive(Debug, Default)]
struct Indices {
    /// The indices with an alias.
    used: Vec<(Part, String)>,
    /// The indices without one, and whether they have today's form.
    left_over: Vec<(String, bool)>,
    /// Whether there's an index of each kind in use, and they have the form that they'd be created
    /// with.
    are_current: bool,
}

/// A document that there should be.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Wanted {
    place: u64,
    hash: u64,
    version: Option<ProductVersion>,
}

/// A document in an index.
#[derive(Debug)]
struct Present {
    key: String,
    hash: Option<u64>,
    content: Option<u64>,
    evidence_checked_on: Option<CalendarDate>,
}

impl Update<'_> {
    /// Brings the indices up to date with merged exports, and publishes them.
    pub async fn run(mut self, set: MergedSet) -> Result<Updated, Error> {
        let merged = &set.merged;
        let Indices { used, left_over, are_current } = self.indices(merged.software_count()).await?;
        for (index, _) in left_over {
            tracing::info!(index, "deleting an index that isn't in use");
            self.delete(&index).await?;
        }
        let is_new = !are_current;
        let former = published(&self.connection, &self.prefix).await?.filter(|_| used.len() == Part::ALL.len());
        let at = Timestamp::now();
        let [products, directory] =
            Part::ALL.map(|part| if is_new { self.prefix.index(part, at) } else { self.prefix.alias(part) });
        let (run, is_repair) = self.begin(former.is_some(), is_new).await?;

        let collation = Collation::new()?;
        let scratch = merged.scratch();
        let of_products = || -> Documents<'_> {
            let documents = merged.products().map(|product| Ok(document::product(merged, &product?, &collation)?));
            Box::new(documents)
        };
        let mut labels = AttributeLabels::new(&merged.attributes);
        for product in merged.products() {
            labels.push(&product?.software)?;
        }
        let total = 2 * merged.software_count();
        let difference = self.compare(Part::Products, former.is_some(), &of_products, scratch, total).await?;
        self.check_removed(&difference)?;

        if is_new {
            let shards = form::shards(self.shards, merged.software_count());
            for (part, index) in Part::ALL.into_iter().zip([&products, &directory]) {
                self.send(Call::put(format!("/{index}"), form::creation(part, shards)).within(PATIENCE)).await?;
            }
        }
        let mut documents = self.store(&products, &of_products, &difference, is_new, run.as_deref(), total).await?;
        let log = self.log(former.as_ref().filter(|_| !is_repair), &set.generation, &difference, at).await?;
        let contents = merged.contents(labels.summaries());
        let of_directory = || directory_documents(merged, &contents, &log);
        let of_others = self.compare(Part::Directory, former.is_some(), &of_directory, scratch, 0).await?;
        documents += self.store(&directory, &of_directory, &of_others, is_new, run.as_deref(), 0).await?;

        let is_changed = is_new
            || !difference.is_empty()
            || !of_others.is_empty()
            || former.as_ref().is_none_or(|(former, _)| former.generation != set.generation);
        if is_changed {
            self.send(Call::new(Method::POST, format!("/{products},{directory}/_refresh"), "").within(PATIENCE))
                .await?;
            self.check_run(run.as_deref()).await?;
            let publication = Publication {
                generation: set.generation.clone(),
                published_at: at.to_string(),
                software_count: merged.software_count(),
                skipped: set.skipped,
                languages: merged.languages.clone(),
                begun_at: log.begun_at().to_owned(),
            };
            self.write(&directory, kind::PUBLICATION, &publication).await?;
            documents += 1;
        }
        if is_new {
            // Another run may have deleted them in the meantime.
            let unused = self.indices(merged.software_count()).await?.left_over;
            if [&products, &directory].iter().any(|index| !unused.contains(&((*index).clone(), true))) {
                return Err(Error::Overtaken);
            }
            self.move_aliases(used, [products, directory]).await?;
        } else {
            self.delete(&format!("{directory}/_doc/{PENDING}")).await?;
        }
        let (removed, added) = (difference.gone.len() as u64, difference.after + difference.gone.len() as u64);
        Ok(Updated {
            generation: set.generation.as_str().to_owned(),
            software_count: merged.software_count(),
            added: added.saturating_sub(difference.before),
            changed: difference.changed,
            removed,
            sent: documents,
            is_new,
        })
    }

    async fn send(&self, call: Call) -> Result<Bytes, ClusterError> {
        Ok(self.connection.send(call).await?.body)
    }

    /// Deletes an index or a document, if it exists.
    async fn delete(&self, what: &str) -> Result<(), ClusterError> {
        match self.send(Call::new(Method::DELETE, format!("/{what}"), "").within(PATIENCE)).await {
            Err(error) if !matches!(error.kind, ErrorKind::NotFound | ErrorKind::NoIndex) => Err(error),
            _ => Ok(()),
        }
    }

    async fn indices(&self, products: u64) -> Result<Indices, Error> {
        #[derive(Deserialize)]
        struct Described {
            #[serde(default)]
            aliases: HashMap<String, Value>,
            #[serde(default)]
            mappings: Value,
            #[serde(default)]
            settings: Value,
        }
        let target = |part| format!("{}-*", self.prefix.alias(part));
        let target = format!("/{},{}", target(Part::Products), target(Part::Directory));
        let call =
            Call::get(format!("{target}?filter_path=*.aliases,*.mappings._meta,*.settings.index.number_of_shards"));
        let described: HashMap<String, Described> = self.connection.send(call).await?.json().await?;
        let (mut indices, mut current) = (Indices::default(), 0);
        for (index, described) in described {
            let Some(part) = Part::ALL.into_iter().find(|part| self.prefix.is_own(*part, &index)) else { continue };
            let has_form = described.mappings["_meta"]["form"] == form::hash(part);
            if !described.aliases.contains_key(&self.prefix.alias(part)) {
                indices.left_over.push((index, has_form));
                continue;
            }
            let shards = described.settings["index"]["number_of_shards"].as_str().and_then(|count| count.parse().ok());
            let is_split =
                part == Part::Directory || self.shards.is_none() || shards == Some(form::shards(self.shards, products));
            current += usize::from(has_form && is_split);
            indices.used.push((part, index));
        }
        indices.are_current = current == Part::ALL.len() && indices.used.len() == Part::ALL.len();
        Ok(indices)
    }

    /// Announces the run, unless it fills new indices that nobody else knows. If an earlier run
    /// hasn't finished, makes visible what it left. Returns the run's name, and whether there was
    /// one.
    async fn begin(&self, is_filled: bool, is_new: bool) -> Result<(Option<String>, bool), Error> {
        if !is_filled {
            return Ok((None, false));
        }
        let (products, directory) = (self.prefix.alias(Part::Products), self.prefix.alias(Part::Directory));
        let is_repair = read::<Pending>(&self.connection, &directory, kind::PENDING).await?.is_some();
        let run = format!("{}-{}", Timestamp::now(), std::process::id());
        if !is_new {
            self.write(&directory, kind::PENDING, &Pending { run: run.clone() }).await?;
        }
        if is_repair {
            tracing::warn!("an earlier run hasn't finished; this one repairs what it left");
            let refresh = format!("/{products},{directory}/_refresh");
            self.send(Call::new(Method::POST, refresh, "").within(PATIENCE)).await?;
        }
        Ok((Some(run).filter(|_| !is_new), is_repair))
    }

    /// Fails if another run has announced itself.
    async fn check_run(&self, run: Option<&str>) -> Result<(), Error> {
        let Some(run) = run else { return Ok(()) };
        match read::<Pending>(&self.connection, &self.prefix.alias(Part::Directory), kind::PENDING).await? {
            Some((pending, _)) if pending.run == run => Ok(()),
            _ => Err(Error::Overtaken),
        }
    }

    async fn write(&self, index: &str, kind: &str, data: &impl Serialize) -> Result<(), Error> {
        let document = DirectoryDocument { key: format!("{kind}:{kind}"), ..DirectoryDocument::new(kind, "", data)? };
        let call = Call::put(format!("/{index}/_doc/{}", document.key), serde_json::to_vec(&document)?);
        self.send(call.within(PATIENCE)).await?;
        Ok(())
    }

    /// Compares the documents that there should be with an index's.
    async fn compare<'d>(
        &mut self,
        part: Part,
        is_filled: bool,
        documents: &dyn Fn() -> Documents<'d>,
        scratch: &Scratch,
        total: u64,
    ) -> Result<Difference, Error> {
        let unusable = |error: io::Error| Error::Scratch(scratch.error(error));
        let mut wanted: ScratchSorter<Keyed<String, Wanted>> = scratch.sorter();
        for (place, document) in (0..).zip(documents()) {
            let Document { key, hash, version, .. } = document?;
            wanted.push(Keyed { key, value: Wanted { place, hash, version } }).map_err(unusable)?;
            if total > 0 {
                (self.progress)(place + 1, total);
            }
        }
        let mut wanted = Peeked::new(wanted.finish().map_err(unusable)?).map_err(unusable)?;
        let mut present = PresentDocuments::new(&self.connection, &self.prefix.alias(part), part, is_filled);
        let mut difference = Difference::default();
        let mut next = present.next().await?;
        loop {
            let order = match (&next, &wanted.row) {
                (None, None) => break,
                (Some(present), Some(wanted)) => present.key.cmp(&wanted.key),
                (Some(_), None) => std::cmp::Ordering::Less,
                (None, Some(_)) => std::cmp::Ordering::Greater,
            };
            let old = if order.is_le() { std::mem::replace(&mut next, present.next().await?) } else { None };
            let new = if order.is_ge() { wanted.take().map_err(unusable)? } else { None };
            difference.before += u64::from(old.is_some());
            difference.after += u64::from(new.is_some());
            if let Some(new) = &new
                && old.as_ref().and_then(|old| old.hash) != Some(new.value.hash)
            {
                difference.send.push(new.value.place);
                difference.changed += u64::from(old.is_some());
            }
            let version = new.and_then(|new| new.value.version);
            let before = old.as_ref().and_then(|old| old.content);
            let after = version.as_ref().map(|version| version.hash);
            if before != after && difference.changes.len() <= MAX_CHANGES {
                let dates = version.as_ref().zip(old.as_ref());
                let is_evidence_renewed =
                    dates.is_some_and(|(new, old)| new.evidence_checked_on > old.evidence_checked_on);
                let id = version.map(|version| version.id).or_else(|| old.as_ref().map(|old| old.key.as_str().into()));
                let id = id.unwrap_or_default();
                difference.changes.push(ProductChange { before, after, ..ProductChange::of(id, is_evidence_renewed) });
            }
            if let (Some(old), true) = (old, order.is_lt()) {
                difference.gone.push(old.key);
            }
        }
        difference.send.sort_unstable();
        difference.changes.sort_by(|a, b| a.id.cmp(&b.id));
        Ok(difference)
    }

    fn check_removed(&self, difference: &Difference) -> Result<(), Error> {
        let (removed, of) = (difference.gone.len() as u64, difference.before);
        if removed * 100 > of * u64::from(self.max_removed) {
            return Err(Error::Removes { removed, of, max_percent: self.max_removed });
        }
        Ok(())
    }

    /// Sends what differs, or everything. Returns the number of documents sent and deleted.
    async fn store<'d>(
        &mut self,
        index: &str,
        documents: &dyn Fn() -> Documents<'d>,
        difference: &Difference,
        is_new: bool,
        run: Option<&str>,
        total: u64,
    ) -> Result<u64, Error> {
        let mut loader = BulkLoader::new(Arc::clone(&self.connection), index);
        if is_new || !difference.is_empty() {
            for (place, document) in (0..).zip(documents()) {
                let is_sent = is_new || difference.send.binary_search(&place).is_ok();
                if is_sent && loader.push(&document?)? {
                    self.check_run(run).await?;
                    loader.send().await?;
                }
                if total > 0 {
                    (self.progress)(total / 2 + place + 1, total);
                }
            }
            for key in difference.gone.iter().filter(|_| !is_new) {
                if loader.delete(key)? {
                    self.check_run(run).await?;
                    loader.send().await?;
                }
            }
            self.check_run(run).await?;
        }
        loader.finish().await?;
        Ok(loader.sent)
    }

    /// The change log that follows the published one.
    async fn log(
        &self,
        former: Option<&(Publication, Version)>,
        generation: &Generation,
        difference: &Difference,
        at: Timestamp,
    ) -> Result<ChangeLog, Error> {
        let Some(former) = former.filter(|_| difference.changes.len() <= MAX_CHANGES) else {
            return Ok(ChangeLog::begun(&at.to_string()));
        };
        let log = match View::load(&self.connection, former.clone()).await {
            Ok(view) => view.changes,
            Err(error @ Error::Cluster(_)) => return Err(error),
            Err(error) => {
                tracing::warn!(error = &error as &dyn std::error::Error, "starting a new change log");
                return Ok(ChangeLog::begun(&at.to_string()));
            }
        };
        if former.0.generation == *generation && difference.changes.is_empty() {
            return Ok(log);
        }
        Ok(log.with(former.0.generation.clone(), &at.to_string(), difference.changes.clone()))
    }

    /// Makes requests use these indices from now on.
    async fn move_aliases(&self, used: Vec<(Part, String)>, indices: [String; 2]) -> Result<(), Error> {
        let of = |part, index| json!({"index": index, "alias": self.prefix.alias(part)});
        let removed = used.into_iter().map(|(part, index)| json!({"remove": of(part, index)}));
        let added = Part::ALL.into_iter().zip(indices).map(|(part, index)| json!({"add": of(part, index)}));
        let body = json!({"actions": removed.chain(added).collect::<Vec<_>>()});
        self.send(Call::post("/_aliases", body.to_string()).within(PATIENCE)).await?;
        Ok(())
    }
}

/// The documents of the directory's index, except the publication.
fn directory_documents<'d>(merged: &'d Merged, contents: &'d Contents, log: &'d ChangeLog) -> Documents<'d> {
    let attributes =
        contents.attributes.iter().zip(&contents.attribute_summaries).map(|((number, attribute), summary)| {
            let AttributeSummary { products, ranges } = summary.clone();
            let stored = StoredAttribute { number, attribute: attribute.clone(), products, ranges };
            DirectoryDocument::new(kind::ATTRIBUTE, &attribute.property, &stored)
        });
    let categories = contents.categories.iter().map(|of| DirectoryDocument::new(kind::CATEGORY, &of.id, of));
    let terms = contents.glossary.iter().map(|of| DirectoryDocument::new(kind::TERM, &of.id, of));
    let exports = contents.exports.iter().map(|of| DirectoryDocument::new(kind::EXPORT, &of.id, of));
    let of_exports = || merged.exports();
    let synonyms = of_exports().filter(|export| !export.synonyms.is_empty());
    let synonyms = synonyms.map(|export| DirectoryDocument::new(kind::SYNONYMS, &export.id, &export.synonyms));
    let pins = of_exports().filter(|export| !export.pins.is_empty());
    let pins = pins.map(|export| DirectoryDocument::new(kind::PINS, &export.id, &export.pins));
    let steps = log.steps().map(|(_, step): (u32, &LogStep)| DirectoryDocument::new(kind::STEP, &step.at, step));
    let all = attributes.chain(categories).chain(terms).chain(exports).chain(synonyms).chain(pins).chain(steps);
    let reviews = merged.reviews().map(|review| {
        let review = review?;
        let Id { id } = serde_json::from_slice(&review.row.object)?;
        let data: Box<serde_json::value::RawValue> = serde_json::from_slice(&review.row.object)?;
        let fields = ReviewFields {
            software: document::key(&review.product).into_owned(),
            rating: review.row.rating,
            verified: review.row.verified.unwrap_or(false),
            created_at_seconds: review.row.created_at_seconds,
        };
        Ok(DirectoryDocument { review: Some(fields), ..DirectoryDocument::new(kind::REVIEW, &id, &data)? }
            .document()?)
    });
    Box::new(all.map(|document| Ok(document?.document()?)).chain(reviews))
}

/// Reads the keys and hashes of an index's documents, sorted by key.
struct PresentDocuments<'c> {
    scan: Option<Scan<'c>>,
    /// The prefix of the fields.
    prefix: &'static str,
    page: std::vec::IntoIter<Hit<Value>>,
}

impl<'c> PresentDocuments<'c> {
    /// If nothing is published, there are none.
    fn new(connection: &'c Connection, index: &str, part: Part, is_filled: bool) -> Self {
        let prefix = if part == Part::Products { "directory." } else { "" };
        let field = |name: &str| format!("{prefix}{name}");
        let mut search = json!({
            "size": PAGE, "_source": false, "stored_fields": "_none_", "sort": [{field("key"): "asc"}],
            "docvalue_fields": [field("key"), field("hash")],
        });
        if part == Part::Products {
            let date = json!({"field": CHECKED_ON, "format": "strict_date"});
            search["docvalue_fields"] = json!([field("key"), field("hash"), field("content"), date]);
        } else {
            let others = json!({"terms": {"kind": [kind::PUBLICATION, kind::PENDING]}});
            search["query"] = json!({"bool": {"must_not": others}});
        }
        let scan = is_filled.then(|| Scan::new(connection, index, search));
        Self { scan, prefix, page: Vec::new().into_iter() }
    }

    async fn next(&mut self) -> Result<Option<Present>, Error> {
        let Some(scan) = &mut self.scan else { return Ok(None) };
        if self.page.len() == 0 {
            self.page = scan.next().await?.into_iter();
        }
        let Some(mut hit) = self.page.next() else { return Ok(None) };
        let mut first = |field: &str| hit.fields.remove(field)?.pop();
        let number = |text: String| u64::from_str_radix(&text, 16).ok();
        Ok(Some(Present {
            key: first(&format!("{}key", self.prefix)).unwrap_or_default(),
            hash: first(&format!("{}hash", self.prefix)).and_then(number),
            content: first(&format!("{}content", self.prefix)).and_then(number),
            evidence_checked_on: first(CHECKED_ON).and_then(|date| CalendarDate::parse(&date)),
        }))
    }
}
