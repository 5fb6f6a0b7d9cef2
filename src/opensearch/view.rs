//! What a server keeps in memory of a directory in a cluster.

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::connection::{Call, Connection, blocking};
use super::document::{DirectoryDocument, StoredAttribute, kind};
use super::form::bundled_synonyms;
use super::prefix::Part;
use super::response::{Got, Scan};
use super::{Error, ErrorKind, IndexPrefix};
use crate::catalogue::{AttributeSummary, Catalogue, Collation, Contents};
use crate::export::Skipped;
use crate::generation::{ChangeLog, Generation, MergedChanges, Step};
use crate::record::{Attributes, Languages, Pin, SynonymGroup};
use crate::search::headings::HeadingIndex;
use crate::search::pins::Pins;
use crate::search::synonym::Thesaurus;

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

    /// The name of the generation that was published last.
    pub fn generation(&self) -> &str {
        self.publication.generation.as_str()
    }

    /// When it was published (RFC 3339 in UTC).
    pub fn published_at(&self) -> &str {
        &self.publication.published_at
    }

    /// The number of products.
    pub const fn software_count(&self) -> u64 {
        self.publication.software_count
    }

    /// The invalid part of the exports, which was left out.
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
    steps: Vec<Step>,
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
