//! Fills the indices of a generation in two passes over the records: the first one finds all words, the second one writes the
//! documents. In memory are the words alone.

use std::io;
use std::num::NonZeroU16;
use std::ops::ControlFlow;
use std::sync::Arc;

use bytes::Bytes;

use crate::catalogue::{
    AttributeValues, AttributeValuesBuilder, Bulk, CatalogueBuildError, MergedProduct, ProductVersion, ScratchCatalogue,
};
use crate::engine::opensearch::cluster::{Cluster, ClusterError};
use crate::engine::opensearch::{
    self, DocumentText, DocumentWriter, Fill, FilledGeneration, IndexPrefix, Parts, PublishError, Published, Publisher,
};
use crate::generation::BuildError;
use crate::generation::Generation;
use crate::generation::artifact::{CHANGES, DOWNLOADS, SEARCH, TABLES, TEXTS, VERSIONS};
use crate::generation::cluster::{FillError, MergedSet, PARTS_FORMAT};
use crate::generation::log::{ChangeLog, ScratchFormer};
use crate::generation::versions::{VersionReader, VersionWriter};
use crate::scratch::Scratch;
use crate::search::forward::Forward;
use crate::search::score::{LengthStatistics, TermScores};
use crate::search::{DocumentAnalyzer, Numbering, Ranking, SearchIndex, SearchParts, StemId};

/// Gets the products done and their number, of both passes together; may stop the fill.
type Progress<'p> = dyn FnMut(u64, u64) -> ControlFlow<()> + Send + 'p;

/// Fills and publishes a generation.
pub struct Filler<'f> {
    pub cluster: Arc<Cluster>,
    /// The prefix of the directory's indices.
    pub prefix: IndexPrefix,
    /// The shards of the products' index; by default as many as their number takes.
    pub shards: Option<NonZeroU16>,
    /// Called with the owner of the lease where another build has its turn.
    pub waits: &'f mut (dyn FnMut(&str) + Send),
    /// Called after each product.
    pub progress: &'f mut Progress<'f>,
}

impl std::fmt::Debug for Filler<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Filler").field("cluster", &self.cluster).finish_non_exhaustive()
    }
}

/// Returns the generation in service if it is this one.
pub async fn published_already(
    cluster: &Arc<Cluster>,
    prefix: &IndexPrefix,
    generation: &Generation,
) -> Result<Option<Published>, ClusterError> {
    let published = Publisher::new(Arc::clone(cluster), prefix.clone()).published().await?;
    Ok(published.map(|(published, _)| published).filter(|published| is_of(published, prefix, generation)))
}

fn is_of(published: &Published, prefix: &IndexPrefix, generation: &Generation) -> bool {
    published.index == prefix.generation(generation.as_str()) && published.format == PARTS_FORMAT
}

/// The tables that the documents of a generation are written with, once all words are known.
struct Words {
    analyzer: DocumentAnalyzer,
    numbering: Numbering,
    scores: TermScores,
    stems: Arc<[StemId]>,
    attributes: AttributeValues,
    /// The part [`SEARCH`].
    part: Bytes,
}

impl Filler<'_> {
    /// Fills the indices of a generation and publishes it; one that is published already stays as it is.
    pub async fn fill_and_publish(mut self, set: MergedSet) -> Result<Published, FillError> {
        let state = Publisher::new(Arc::clone(&self.cluster), self.prefix.clone());
        let owner = format!("{} on {}", std::process::id(), rustix::system::uname().nodename().to_string_lossy());
        let lease = state.lease(&owner, &mut self.waits).await?;
        let before = state.published().await?;
        let (former, version) = before.map_or((None, None), |(published, version)| (Some(published), Some(version)));
        if let Some(published) = former.as_ref().filter(|published| is_of(published, &self.prefix, &set.generation)) {
            lease.release().await;
            return Ok(published.clone());
        }
        let at = jiff::Timestamp::now().to_string();
        let log = former_log(&self.cluster, former.as_ref(), &set.scratch).await;
        let (generation, skipped) = (set.generation.to_string(), set.skipped);
        let filled = self.fill(set, log, &at).await?;
        let published = Published {
            previous: former.map(|of| of.index).filter(|of| *of != filled.index),
            index: filled.index,
            generation,
            products: filled.products,
            shards: filled.shards,
            skipped: [skipped.exports, skipped.records],
            published_at: at,
            format: PARTS_FORMAT,
        };
        if lease.is_lost() {
            return Err(PublishError::Overtaken.into());
        }
        state.publish(&published, version).await?;
        for index in state.delete_old(&published).await? {
            tracing::info!(index, "the index of an old generation is deleted");
        }
        lease.release().await;
        Ok(published)
    }

    /// Fills the indices of a generation.
    pub(crate) async fn fill(
        &mut self,
        set: MergedSet,
        former: Option<ScratchFormer>,
        at: &str,
    ) -> Result<FilledGeneration, FillError> {
        let MergedSet { generation, catalogue, parts, scratch, .. } = set;
        let unusable = |error: io::Error| FillError::from(scratch.error(error));
        let (by_catalogue, by_engine) = (
            |error: CatalogueBuildError| FillError::catalogue(error, &scratch),
            |error: opensearch::FillError| FillError::engine(error, &scratch),
        );
        let count = catalogue.software_count();
        let mut words = self.words(&catalogue, &scratch)?;
        let index = self.prefix.generation(generation.as_str());
        let mut fill = Fill::begin(Arc::clone(&self.cluster), index, count, self.shards, &scratch).await?;
        for review in catalogue.reviews() {
            fill.push_review(&review.map_err(by_catalogue)?).await?;
        }
        let writer = DocumentWriter { scores: &words.scores, stems: &words.stems };
        let mut versions = VersionWriter::new(&scratch);
        for (done, product) in (1..).zip(catalogue.products(&words.attributes)) {
            let product = product.map_err(by_catalogue)?;
            words.analyzer.analyse(&product.software, catalogue.categories(&product.categories));
            let terms: Vec<_> = words.analyzer.terms().collect();
            let sequence: Vec<_> = words.numbering.of(words.analyzer.words()).collect();
            let text = DocumentText { terms: &terms, words: &sequence, lengths: words.analyzer.lengths() };
            fill.push(&writer, &product, text).await.map_err(by_engine)?;
            versions.push(version(&product)).map_err(unusable)?;
            self.advance(count + done, 2 * count)?;
        }
        let versions = versions.finish().map_err(unusable)?;
        let log = VersionReader::new(&versions).and_then(|of| ChangeLog::after_external(former, &generation, of, at));
        let log = log.map_err(unusable)?.encode().map_err(BuildError::Encode)?;
        let parts: [(&str, Bulk); 6] = [
            (SEARCH, Bulk::Memory(words.part)),
            (TABLES, parts.tables),
            (TEXTS, parts.arena),
            (DOWNLOADS, parts.downloads),
            (VERSIONS, versions),
            (CHANGES, Bulk::Memory(log)),
        ];
        fill.finish(parts.map(|(name, content)| (name.to_owned(), content)).into()).await.map_err(by_engine)
    }

    /// The first pass: finds all words and values.
    fn words(&mut self, catalogue: &ScratchCatalogue, scratch: &Scratch) -> Result<Words, FillError> {
        let count = catalogue.software_count();
        let mut analyzer = DocumentAnalyzer::new(catalogue.synonyms());
        let mut lengths = LengthStatistics::default();
        let mut attributes = AttributeValuesBuilder::new(scratch);
        for (done, product) in (1..).zip(catalogue.software()) {
            let (software, categories) = product.map_err(|error| FillError::catalogue(error, scratch))?;
            analyzer.analyse(&software, catalogue.categories(&categories));
            lengths.push(&analyzer.lengths());
            attributes.push(&software).map_err(|error| scratch.error(error))?;
            self.advance(done, 2 * count)?;
        }
        let (lexicon, thesaurus, numbering) = analyzer.lexicon().map_err(BuildError::Words)?;
        let part = SearchParts { lexicon, forward: Forward::default(), thesaurus, lengths: Vec::new() };
        let part = part.encode().map_err(BuildError::Encode)?;
        let documents = usize::try_from(count).unwrap_or(usize::MAX);
        Ok(Words {
            numbering,
            scores: TermScores::new(&lengths, &Ranking::default()),
            stems: SearchIndex::open_words(&part, documents)?.lexicon.stems(),
            attributes: attributes.finish().map_err(|error| scratch.error(error))?,
            part: part.into(),
            analyzer,
        })
    }

    fn advance(&mut self, done: u64, count: u64) -> Result<(), BuildError> {
        if (self.progress)(done, count).is_break() { Err(BuildError::Stopped) } else { Ok(()) }
    }
}

fn version(product: &MergedProduct) -> ProductVersion {
    ProductVersion {
        id: product.software.id.clone(),
        hash: product.content_hash(),
        evidence_checked_on: product.evidence_checked_on,
    }
}

/// The generation before with its log; `None` where it can't be read: then the log begins again.
async fn former_log(cluster: &Arc<Cluster>, former: Option<&Published>, scratch: &Scratch) -> Option<ScratchFormer> {
    let former = former?;
    let parts = Parts::open(Arc::clone(cluster), &former.index).await.ok()?;
    let log = ChangeLog::decode(&parts.get(CHANGES)?.read().await.ok()?).ok()?;
    let mut versions = scratch.file().ok()?;
    parts.get(VERSIONS)?.copy_to(&mut versions).await.ok()?;
    let versions = VersionReader::new(&Bulk::File(Arc::new(versions))).ok()?;
    Some(ScratchFormer { generation: Generation::named(&former.generation), versions, log })
}
