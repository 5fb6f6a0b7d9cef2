//! Builds a generation's parts: products are read in quality order, analysed and indexed.

use std::io;
use std::ops::ControlFlow;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{self, Scope};

use crate::catalogue::{CatalogueBuildError, CatalogueParts, CatalogueWriter, Merged, MergedProduct};
use crate::export::ExportSet;
use crate::generation::artifact::{INDEX, Parts, SEARCH, TABLES, TEXTS, VERSIONS, download_name};
use crate::generation::failpoint::{Step, pass};
use crate::generation::log::VersionWriter;
use crate::generation::name::MeaningOption;
use crate::index::{Documents, IndexBuildError, IndexBuilder, IndexError};
use crate::panics::ScopedThread;
use crate::scratch::{Bulk, SHARED_BYTES, Scratch};
use crate::search::lexicon::LexiconError;
use crate::search::{DocumentAnalyzer, SearchBuilder};

/// How many documents are passed from analysis to the index at a time: a few hundred kilobytes of
/// terms.
const BATCH: usize = 64;
/// Exports up to this size in bytes are built with several threads, which takes 50% more memory
/// than a single thread.
const MOST_AT_ONCE: u64 = 256 * 1024 * 1024;
/// How many batches may be waiting for the index.
const WAITING_BATCHES: usize = 4;

#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    #[error("the catalogue can't be written")]
    Catalogue(#[from] CatalogueBuildError),
    #[error("the words can't be indexed")]
    Words(#[from] LexiconError),
    #[error(transparent)]
    Index(#[from] IndexError),
    #[error("the search tables can't be encoded")]
    Encode(#[from] postcard::Error),
    #[error("a thread can't be started")]
    Thread(#[source] io::Error),
    #[error("the build was stopped")]
    Stopped,
}

impl From<IndexBuildError> for BuildError {
    fn from(error: IndexBuildError) -> Self {
        match error {
            IndexBuildError::Index(error) => error.into(),
            IndexBuildError::Scratch(error) => Self::scratch(error),
        }
    }
}

impl BuildError {
    pub(super) const fn scratch(error: io::Error) -> Self {
        Self::Catalogue(CatalogueBuildError::Scratch(error))
    }
}

/// How many processors a build may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Processors {
    /// One, with as little memory as possible, because a server needs the rest.
    One,
    All,
}

impl Processors {
    /// How many bytes of a build's scratch data stay in memory. With all processors, that's enough
    /// for 60,000 products, and cuts their build time by about a tenth.
    pub(super) const fn scratch_bytes(self) -> usize {
        match self {
            Self::One => SHARED_BYTES,
            Self::All => 256 * 1024 * 1024,
        }
    }

    /// The niceness of a build's process relative to its server's, on a machine with this many
    /// processors. It's fixed, because raising a priority takes privileges. At 1, a search that
    /// becomes ready usually interrupts the build, which still gets a third of a processor while
    /// all of the server's threads and one other are busy.
    pub const fn niceness(self, available: usize) -> i32 {
        match self {
            Self::One if available > 1 => 1,
            Self::One | Self::All => 0,
        }
    }
}

/// Receives the number of products indexed and the total; may stop the build.
type Progress<'p> = dyn FnMut(u64, u64) -> ControlFlow<()> + 'p;

pub fn build(
    set: ExportSet,
    scratch: &Scratch,
    processors: Processors,
    meaning: MeaningOption,
    progress: &mut Progress<'_>,
) -> Result<Parts, BuildError> {
    let merged = Merged::of(set, scratch, |_, _| {})?;
    pass(Step::BuildBegun);
    let has_processors = || thread::available_parallelism().is_ok_and(|count| count.get() > 1);
    let at_once = processors == Processors::All && merged.document_bytes() <= MOST_AT_ONCE && has_processors();
    let parts = build_parts(&merged, at_once, meaning, progress, pass)?;
    pass(Step::BuildOpen);
    Ok(parts)
}

/// Builds in this thread alone, or with two more threads: one for indexing, and one for writing the
/// catalogue. `pass` is called at each step.
pub(super) fn build_parts(
    merged: &Merged,
    at_once: bool,
    meaning: MeaningOption,
    progress: &mut Progress<'_>,
    pass: fn(Step),
) -> Result<Parts, BuildError> {
    let count = merged.software_count();
    thread::scope(|scope| {
        let index = IndexBuilder::new(merged.scratch());
        let index = if at_once { Indexing::beside(index, scope)? } else { Indexing::Here(Box::new(index)) };
        let (search, documents) = (SearchBuilder::new(merged.scratch()), Documents::default());
        let mut writer =
            PartsWriter { merged, scope: at_once.then_some(scope), search, documents, index, catalogue: None };
        let mut analyzer = DocumentAnalyzer::new(merged.synonyms(), merged.pins(), &merged.attributes);
        if meaning == MeaningOption::On {
            analyzer = analyzer.with_meanings();
        }
        for (done, product) in (1..).zip(merged.products()) {
            pass(Step::BuildProduct);
            let product = product?;
            analyzer.analyse(&product.software, merged.language(&product), merged.categories(&product.row.categories));
            writer.push(&product, &analyzer)?;
            if progress(done, count).is_break() {
                return Err(BuildError::Stopped);
            }
        }
        pass(Step::BuildFinish);
        writer.finish(analyzer)
    })
}

/// Writes the parts from analysed products.
struct PartsWriter<'scope, 'env> {
    merged: &'env Merged,
    /// Where to start threads; `None` to start none.
    scope: Option<&'scope Scope<'scope, 'env>>,
    search: SearchBuilder,
    documents: Documents,
    index: Indexing<'scope>,
    catalogue: Option<ScopedThread<'scope, Result<WrittenCatalogue, BuildError>>>,
}

/// The index being built, in this thread or another.
enum Indexing<'scope> {
    Here(Box<IndexBuilder>),
    Beside(SyncSender<Documents>, ScopedThread<'scope, Result<IndexBuilder, IndexBuildError>>),
}

impl<'scope> Indexing<'scope> {
    fn beside(mut builder: IndexBuilder, scope: &'scope Scope<'scope, '_>) -> Result<Self, BuildError> {
        let (sender, batches) = sync_channel::<Documents>(WAITING_BATCHES);
        let index = move || batches.iter().try_for_each(|documents| builder.add(&documents)).map(|()| builder);
        Ok(Self::Beside(sender, ScopedThread::spawn(scope, "index", index).map_err(BuildError::Thread)?))
    }

    fn add(&mut self, documents: Documents) -> Result<(), BuildError> {
        match self {
            Self::Here(builder) => builder.add(&documents)?,
            // The channel only closes early if indexing has failed.
            Self::Beside(sender, _) => sender.send(documents).map_err(|_| BuildError::Stopped)?,
        }
        Ok(())
    }

    fn finish(self) -> Result<IndexBuilder, BuildError> {
        match self {
            Self::Here(builder) => Ok(*builder),
            Self::Beside(sender, thread) => {
                drop(sender);
                Ok(thread.join()?)
            }
        }
    }
}

/// The catalogue, and the [`VERSIONS`] part.
type WrittenCatalogue = (CatalogueParts, Bulk);

fn write_catalogue(merged: &Merged) -> Result<WrittenCatalogue, BuildError> {
    let mut writer = CatalogueWriter::new(merged)?;
    let mut versions = VersionWriter::new(merged.scratch());
    for product in merged.products() {
        versions.push(writer.push(&product?)?).map_err(BuildError::scratch)?;
    }
    let versions = versions.finish(writer.dictionary()).map_err(BuildError::scratch)?;
    Ok((writer.finish()?, versions))
}

impl<'scope, 'env> PartsWriter<'scope, 'env> {
    fn write_catalogue_beside(
        merged: &'env Merged,
        scope: &'scope Scope<'scope, 'env>,
    ) -> Result<ScopedThread<'scope, Result<WrittenCatalogue, BuildError>>, BuildError> {
        ScopedThread::spawn(scope, "catalogue", || write_catalogue(merged)).map_err(BuildError::Thread)
    }

    fn push(&mut self, product: &MergedProduct<'_>, analyzer: &DocumentAnalyzer) -> Result<(), BuildError> {
        self.search.push(analyzer).map_err(BuildError::scratch)?;
        self.documents.push(analyzer.numbered_terms(), analyzer.reference());
        if self.documents.len() == BATCH {
            self.index.add(std::mem::take(&mut self.documents))?;
        }
        // Starting to write the catalogue any earlier would only delay analysis, which indexing is
        // waiting for.
        if let Some(scope) = self.scope
            && u64::from(product.ordinal) == self.merged.software_count() / 4
        {
            self.catalogue = Some(Self::write_catalogue_beside(self.merged, scope)?);
        }
        Ok(())
    }

    /// Adds the words of all products.
    fn finish(mut self, analyzer: DocumentAnalyzer) -> Result<Parts, BuildError> {
        self.index.add(self.documents)?;
        let index = self.index.finish()?;
        let search = |analyzer: DocumentAnalyzer| -> Result<Bulk, BuildError> {
            let vocabulary = analyzer.vocabulary()?;
            // Frees memory before the words are written.
            drop(analyzer);
            self.search.finish(&vocabulary).map_err(BuildError::scratch)
        };
        let (search, index, catalogue) = if let Some(scope) = self.scope {
            let beside = || Self::write_catalogue_beside(self.merged, scope);
            let catalogue = self.catalogue.map_or_else(beside, Ok)?;
            let index = ScopedThread::spawn(scope, "index", || index.finish()).map_err(BuildError::Thread)?;
            (search(analyzer)?, index.join()?, catalogue.join()?)
        } else {
            // Write the postings first, so that they and the text aren't in memory at the same
            // time.
            let index = index.finish()?;
            (search(analyzer)?, index, write_catalogue(self.merged)?)
        };
        Ok(parts(search, index, catalogue))
    }
}

fn parts(search: Bulk, index: Vec<(String, Bulk)>, (catalogue, versions): WrittenCatalogue) -> Parts {
    let CatalogueParts { tables, texts, downloads } = catalogue;
    let index = index.into_iter().map(|(name, content)| (format!("{INDEX}{name}"), content));
    let downloads = downloads.into_iter().enumerate().map(|(number, content)| (download_name(number), content));
    let catalogue = [(TABLES, tables), (TEXTS, texts), (VERSIONS, versions)];
    let catalogue = catalogue.map(|(name, content)| (name.to_owned(), content));
    std::iter::once((SEARCH.to_owned(), search)).chain(index).chain(catalogue).chain(downloads).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::{IdPrefixes, Limits};
    use crate::generation::source::Source;

    const GO_ON: ControlFlow<()> = ControlFlow::Continue(());

    fn merged(scratch: &Scratch) -> Merged {
        let read = Source::Embedded.read(&Limits::default(), &IdPrefixes::default(), scratch, &|_, _| {});
        Merged::of(read.expect("exports").set, scratch, |_, _| {}).expect("merged")
    }

    /// The content of all parts, ignoring the random name of the index's segment.
    fn contents(parts: Parts) -> Vec<Vec<u8>> {
        let parts = parts.into_iter().filter(|(name, _)| name != "engine.meta.json");
        parts.map(|(_, content)| content.read_all().expect("read").to_vec()).collect()
    }

    /// Whether a build gets a third of a processor on Linux while this many other threads are busy,
    /// by the weights of nice 0 to 2 (`sched_prio_to_weight`).
    fn gets_a_third(niceness: i32, available: usize, busy: usize) -> bool {
        let weight = [1024, 820, 655][usize::try_from(niceness).expect("not negative")];
        3 * available * weight >= busy * 1024 + weight
    }

    #[test]
    fn a_build_gets_a_third_of_a_processor_while_all_threads_of_its_server_are_busy() {
        for available in 1..=256_usize {
            // The search threads, and those that serve connections.
            let busy = available + available.div_ceil(2);
            let niceness = Processors::One.niceness(available);
            // On a single processor, a third is all there is.
            let others = usize::from(available > 1);
            assert!(gets_a_third(niceness, available, busy + others), "{available} processors");
            assert_eq!(Processors::All.niceness(available), 0, "nothing is being served yet");
        }
        assert!(!gets_a_third(2, 2, 4), "a lower priority isn't enough");
    }

    #[test]
    fn threads_and_scratch_files_produce_the_same_parts() {
        let in_memory = merged(&Scratch::in_memory());
        assert!(in_memory.software_count() > BATCH as u64, "more than one batch");
        let one = build_parts(&in_memory, false, MeaningOption::On, &mut |_, _| GO_ON, pass).expect("built");
        let (mut done, count) = (0, in_memory.software_count());
        let mut progress = |now, total| {
            assert_eq!((now, total), (done + 1, count));
            done = now;
            GO_ON
        };
        let several = build_parts(&in_memory, true, MeaningOption::On, &mut progress, pass).expect("built");
        assert_eq!(done, count);
        let folder = tempfile::tempdir().expect("a folder");
        let on_disk = merged(&Scratch::with_own_bytes(folder.path(), 100));
        let from_disk = build_parts(&on_disk, false, MeaningOption::On, &mut |_, _| GO_ON, pass).expect("built");
        let one = contents(one);
        assert!(one == contents(several));
        assert!(one == contents(from_disk));
    }

    #[test]
    fn a_build_stops_when_its_progress_callback_breaks() {
        let merged = merged(&Scratch::in_memory());
        let mut last = 0;
        let mut progress = |done, _| {
            last = done;
            if done == 5 { ControlFlow::Break(()) } else { GO_ON }
        };
        let stopped =
            [false, true].map(|at_once| build_parts(&merged, at_once, MeaningOption::On, &mut progress, pass));
        assert!(stopped.iter().all(|stopped| matches!(stopped, Err(BuildError::Stopped))));
        assert_eq!(last, 5);
    }
}
