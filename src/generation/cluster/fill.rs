//! Fills a generation's indices. Analysed products are kept in scratch files and sent once all
//! words have their numbers. Only the words are kept in memory.

use std::num::NonZeroU16;
use std::ops::ControlFlow;
use std::sync::Arc;

use crate::catalogue::{
    AttributeLabels, Bulk, CatalogueBuildError, CatalogueParts, CatalogueWriter, Merged, MergedProduct, ProductVersion,
    content_hash, detail_hash,
};
use crate::engine::opensearch::cluster::Cluster;
use crate::engine::opensearch::{
    AnalysedProduct, DocumentWriter, Fill, FilledGeneration, IndexPrefix, Lease, Parts, Published, Publisher,
    find_whole,
};
use crate::engine::{self, EngineError};
use crate::generation::BuildError;
use crate::generation::artifact::{CHANGES, SEARCH, TABLES, TEXTS, VERSIONS, download_name};
use crate::generation::build::{Sink, build_into};
use crate::generation::cluster::{FillError, MergedSet, PARTS_FORMAT};
use crate::generation::log::{ChangeLog, Former};
use crate::generation::versions::VersionWriter;
use crate::generation::{Generation, MeaningOption};
use crate::scratch::{Scratch, Spool, SpoolWriter};
use crate::search::score::{LengthStatistics, TermScores};
use crate::search::{DocumentAnalyzer, Numbering, Ranking, SearchBuilder, StemId};
use crate::text::meaning::Vector;

/// Receives the number of products done and the total, counting both passes; may stop the build.
type Progress<'p> = dyn FnMut(u64, u64) -> ControlFlow<()> + Send + 'p;

/// Writes a generation to a cluster and publishes it.
pub struct Filler<'f> {
    pub cluster: Arc<Cluster>,
    /// The directory's index prefix.
    pub prefix: IndexPrefix,
    /// The number of shards for the product index; by default, it depends on the number of
    /// products.
    pub shards: Option<NonZeroU16>,
    /// Called with the lease owner while another build holds the lease.
    pub waits: &'f mut (dyn FnMut(&str) + Send),
    /// Called after each product.
    pub progress: &'f mut Progress<'f>,
}

impl std::fmt::Debug for Filler<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Filler").field("cluster", &self.cluster).finish_non_exhaustive()
    }
}

/// Returns this generation's publication, if it's the one in service and is complete in the
/// cluster.
pub async fn published_already(
    cluster: &Arc<Cluster>,
    prefix: &IndexPrefix,
    generation: &Generation,
) -> Result<Option<Published>, EngineError> {
    let published = Publisher::new(Arc::clone(cluster), prefix.clone()).published().await?;
    let Some((published, _)) = published.filter(|(published, _)| is_of(published, prefix, generation)) else {
        return Ok(None);
    };
    Ok(find_whole(cluster, &published.index).await?.map(|_| published))
}

fn is_of(published: &Published, prefix: &IndexPrefix, generation: &Generation) -> bool {
    prefix.is_fill(&published.index, generation.as_str()) && published.format == PARTS_FORMAT
}

/// Keeps analysed products in scratch files.
struct ClusterSink<'m> {
    merged: &'m Merged,
    labels: AttributeLabels<'m>,
    lengths: LengthStatistics,
    versions: VersionWriter,
    products: SpoolWriter<AnalysedProduct>,
}

/// A generation's analysed products, and the tables needed to write their documents.
struct Analysed<'m> {
    products: Spool<AnalysedProduct>,
    labels: AttributeLabels<'m>,
    numbering: Numbering,
    scores: TermScores,
    stems: Arc<[StemId]>,
    /// The [`SEARCH`] part.
    search: Bulk,
    /// The [`VERSIONS`] part.
    versions: Bulk,
}

impl<'m> ClusterSink<'m> {
    fn new(merged: &'m Merged) -> Self {
        let scratch = merged.scratch();
        Self {
            merged,
            labels: AttributeLabels::new(&merged.attributes),
            lengths: LengthStatistics::default(),
            versions: VersionWriter::new(scratch),
            products: scratch.spool(),
        }
    }
}

impl<'m> Sink for ClusterSink<'m> {
    type Output = Analysed<'m>;

    fn push(&mut self, product: MergedProduct<'_>, analyzer: &DocumentAnalyzer) -> Result<(), BuildError> {
        let (item, detail) = (self.merged.item(&product)?, self.merged.detail_fields(&product)?);
        let hash = content_hash(&item, &detail);
        let (id, evidence_checked_on) = (product.software.id.clone(), product.evidence_checked_on);
        self.lengths.push(&analyzer.lengths());
        let analysed = AnalysedProduct {
            ordinal: product.ordinal,
            id: id.clone(),
            offering_type: product.software.offering_type,
            evidence_status: product.software.evidence_status,
            evidence_checked_on,
            attributes: self.labels.push(&product.software),
            ranks: product.ranks,
            rating: product.rating(),
            is_demo: product.is_demo,
            content_hash: detail_hash(&item, &detail),
            item,
            detail,
            reviews: product.review_summary(),
            categories: product.categories,
            terms: analyzer.terms().collect(),
            words: analyzer.words().collect(),
            lengths: analyzer.lengths(),
            vector: analyzer.meaning().filter(|vector| *vector != Vector::NONE).map(|vector| vector.bytes().into()),
        };
        let version = ProductVersion { id, hash, evidence_checked_on };
        let pushed = self.versions.push(version).and_then(|()| self.products.push(analysed));
        pushed.map(drop).map_err(BuildError::scratch)
    }

    fn finish(self, analyzer: DocumentAnalyzer) -> Result<Analysed<'m>, BuildError> {
        let (vocabulary, has_meanings) = (analyzer.vocabulary()?, analyzer.has_meanings());
        drop(analyzer);
        let stems = vocabulary.lexicon.stems()?;
        let search = SearchBuilder::new(self.merged.scratch()).with_meanings(has_meanings).finish(&vocabulary);
        Ok(Analysed {
            products: self.products.finish().map_err(BuildError::scratch)?,
            labels: self.labels,
            numbering: vocabulary.numbering,
            scores: TermScores::new(&self.lengths, &Ranking::default()),
            stems,
            search: search.map_err(BuildError::scratch)?,
            versions: self.versions.finish().map_err(BuildError::scratch)?,
        })
    }
}

impl Filler<'_> {
    /// Publishes a generation, first filling its indices unless they already exist and are
    /// complete. If it's already published, nothing changes.
    pub async fn fill_and_publish(mut self, set: MergedSet) -> Result<Published, FillError> {
        let state = Publisher::new(Arc::clone(&self.cluster), self.prefix.clone());
        let owner = format!("{} on {}", std::process::id(), rustix::system::uname().nodename().to_string_lossy());
        let lease = Lease::take(state.clone(), &owner, &mut self.waits).await?;
        let published = self.publish(&state, &lease, set).await;
        lease.release().await;
        published
    }

    async fn publish(&mut self, state: &Publisher, lease: &Lease, set: MergedSet) -> Result<Published, FillError> {
        let (former, version) = state.published().await?.unzip();
        let whole = self.find_whole(lease, former.as_ref(), &set.generation).await?;
        let whole_index = whole.as_ref().map(|whole| whole.index.as_str());
        if let Some(former) = former.as_ref().filter(|former| Some(former.index.as_str()) == whole_index) {
            return Ok(former.clone());
        }
        // Do this first, so that whatever an interrupted build left behind stops taking up disk
        // space.
        let in_service = former.as_ref().map(indices).unwrap_or_default();
        delete_except(lease, in_service.into_iter().chain(whole_index)).await?;
        let at = jiff::Timestamp::now();
        let log = former_log(&self.cluster, former.as_ref(), set.merged.scratch()).await;
        let (generation, skipped) = (set.generation.to_string(), set.skipped);
        let filled = match whole {
            Some(whole) => {
                self.go_on_with_log(&whole, log, &set, &at.to_string()).await?;
                whole
            }
            None => self.fill(set, log, at).await?,
        };
        let published = Published {
            previous: former.map(|of| of.index),
            index: filled.index,
            generation,
            products: filled.products,
            shards: filled.shards,
            skipped: [skipped.exports, skipped.records],
            published_at: at.to_string(),
            format: PARTS_FORMAT,
        };
        lease.publish(&published, version).await?;
        delete_except(lease, indices(&published)).await?;
        Ok(published)
    }

    /// Finds a complete product index of a generation, whether it's in service or older.
    async fn find_whole(
        &self,
        lease: &Lease,
        former: Option<&Published>,
        generation: &Generation,
    ) -> Result<Option<FilledGeneration>, FillError> {
        let mut fills = lease.generations().await?;
        fills.retain(|index| self.prefix.is_fill(index, generation.as_str()));
        // Try the index in service first.
        fills.sort_by_key(|index| former.is_none_or(|former| former.index != *index));
        for index in fills {
            if let Some(whole) = find_whole(&self.cluster, &index).await? {
                return Ok(Some(whole));
            }
        }
        Ok(None)
    }

    /// Updates the change log of a generation that was built earlier so that it continues the
    /// published generation's log.
    async fn go_on_with_log(
        &self,
        whole: &FilledGeneration,
        former: Option<Former>,
        set: &MergedSet,
        at: &str,
    ) -> Result<(), FillError> {
        let scratch = set.merged.scratch();
        let mut parts = Parts::open(Arc::clone(&self.cluster), &whole.index).await.map_err(EngineError::from)?;
        let (Some(former), Some(stored)) = (former, parts.get(VERSIONS)) else { return Ok(()) };
        let mut versions = scratch.bulk();
        stored.copy_to(&mut versions).await.map_err(EngineError::from)?;
        let versions = versions.finish().map_err(|error| scratch.error(error))?;
        let log = ChangeLog::after(Some(former), &set.generation, &versions, at);
        let log = Bulk::Memory(log.encode().map_err(BuildError::Encode)?);
        parts.replace(CHANGES, log).await.map_err(|error| FillError::engine(error, scratch))
    }

    /// Fills a generation's indices.
    pub(crate) async fn fill(
        &mut self,
        set: MergedSet,
        former: Option<Former>,
        at: jiff::Timestamp,
    ) -> Result<FilledGeneration, FillError> {
        let MergedSet { generation, merged, meaning, .. } = set;
        let scratch = merged.scratch();
        let (by_catalogue, by_engine) = (
            |error: CatalogueBuildError| FillError::build(error.into(), scratch),
            |error: engine::FillError| FillError::engine(error, scratch),
        );
        let count = merged.software_count();
        let analyzer = DocumentAnalyzer::new(merged.synonyms(), merged.pins(), &merged.attributes);
        let analyzer = if meaning == MeaningOption::On { analyzer.with_meanings() } else { analyzer };
        let analysed =
            build_into(&merged, analyzer, ClusterSink::new(&merged), |done| (self.progress)(done, 2 * count));
        let analysed = analysed.map_err(|error| FillError::build(error, scratch))?;
        let index = self.prefix.fill(generation.as_str(), at);
        let mut fill = Fill::begin(Arc::clone(&self.cluster), index, count, self.shards, scratch).await?;
        for review in merged.reviews() {
            fill.push_review(&review.map_err(by_catalogue)?).await?;
        }
        let Analysed { products, labels, numbering, scores, stems, search, versions } = analysed;
        let writer = DocumentWriter { scores: &scores, stems: &stems, numbering: &numbering, labels: &labels };
        for (done, product) in (1..).zip(products.into_rows()) {
            fill.push(&writer, &product.map_err(|error| scratch.error(error))?).await.map_err(by_engine)?;
            if (self.progress)(count + done, 2 * count).is_break() {
                return Err(BuildError::Stopped.into());
            }
        }
        let log =
            ChangeLog::after(former, &generation, &versions, &at.to_string()).encode().map_err(BuildError::Encode)?;
        let catalogue =
            CatalogueWriter::without_products(&merged, labels.summaries()).and_then(CatalogueWriter::finish);
        let CatalogueParts { tables, texts, downloads } = catalogue.map_err(by_catalogue)?;
        let parts: [(&str, Bulk); 5] =
            [(SEARCH, search), (TABLES, tables), (TEXTS, texts), (VERSIONS, versions), (CHANGES, Bulk::Memory(log))];
        let parts = parts.map(|(name, content)| (name.to_owned(), content)).into_iter();
        let downloads = downloads.into_iter().enumerate().map(|(number, content)| (download_name(number), content));
        fill.finish(parts.chain(downloads).collect()).await.map_err(by_engine)
    }
}

/// The product indices of the generation in service and the one before it.
fn indices(published: &Published) -> Vec<&str> {
    [Some(&published.index), published.previous.as_ref()].into_iter().flatten().map(String::as_str).collect()
}

async fn delete_except<'i>(lease: &Lease, kept: impl IntoIterator<Item = &'i str>) -> Result<(), FillError> {
    for index in lease.delete_except(&kept.into_iter().collect::<Vec<_>>()).await? {
        tracing::info!(index, "deleting the index of an old generation or an interrupted build");
    }
    Ok(())
}

/// The previous generation with its log; `None` if it can't be read, in which case the log starts
/// over.
async fn former_log(cluster: &Arc<Cluster>, former: Option<&Published>, scratch: &Scratch) -> Option<Former> {
    let former = former?;
    let parts = Parts::open(Arc::clone(cluster), &former.index).await.ok()?;
    let log = parts.get(CHANGES)?.read().await.ok()?;
    let mut versions = scratch.bulk();
    parts.get(VERSIONS)?.copy_to(&mut versions).await.ok()?;
    Former::from_parts(Generation::named(&former.generation), versions.finish().ok()?, &log)
}
