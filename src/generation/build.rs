//! Builds the parts of a generation out of validated exports.

use std::io;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::mpsc::sync_channel;
use std::thread;

use bytes::Bytes;

use crate::catalogue::{Bulk, CatalogueBuildError, CatalogueBuilder, CatalogueParts};
use crate::engine::{Documents, EngineError, EngineFiles, TantivyBuilder};
use crate::export::Export;
use crate::generation::artifact::{Artifact, DOWNLOADS, ENGINE, SEARCH, TABLES, TEXTS, VERSIONS};
use crate::generation::failpoint::{Step, pass};
use crate::panics::ScopedThread;
use crate::search::SearchBuilder;
use crate::search::lexicon::LexiconError;

/// The documents that go from the analysis to the index together: some hundred kilobytes of terms.
const BATCH: usize = 64;
/// The exports that are built by several threads, in bytes at most. These take half as much memory again as one: 3.3 GiB for
/// a million records, 740 MB.
const MOST_AT_ONCE: usize = 256 * 1024 * 1024;
/// The batches that wait for the index at most.
const WAITING_BATCHES: usize = 4;

/// Why a generation can't be built.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    #[error("the records can't be laid out")]
    Catalogue(#[from] CatalogueBuildError),
    #[error("the words can't be indexed")]
    Words(#[from] LexiconError),
    /// The engine failed.
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error("the search tables can't be encoded")]
    Encode(#[from] postcard::Error),
    #[error("a thread can't be started")]
    Thread(#[source] io::Error),
    #[error("building was stopped")]
    Stopped,
}

/// The processors that a build may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Processors {
    /// One, with as little memory as possible: a server needs the others.
    One,
    All,
}

/// The parts as they are built.
type Parts = (Bytes, EngineFiles, CatalogueParts);

/// Gets the products indexed so far and their number; may stop the build.
type Progress<'p> = dyn FnMut(u64, u64) -> ControlFlow<()> + 'p;

/// Builds the parts of a generation. With a folder for scratch files, less is held in memory.
pub fn build(
    exports: Vec<Export>,
    scratch: Option<&Path>,
    processors: Processors,
    progress: &mut Progress<'_>,
) -> Result<Artifact, BuildError> {
    let bytes: usize = exports.iter().map(|export| export.document.len()).sum();
    let has_processors = || thread::available_parallelism().is_ok_and(|count| count.get() > 1);
    let at_once = processors == Processors::All && bytes <= MOST_AT_ONCE && has_processors();
    // So few documents may stay in memory, for time.
    let scratch = scratch.filter(|_| !at_once);
    let records = CatalogueBuilder::new(exports, scratch)?;
    pass(Step::BuildBegun);
    let (search, engine, catalogue) =
        if at_once { build_at_once(&records, progress)? } else { build_in_turn(&records, scratch, progress)? };
    let mut parts = vec![(SEARCH.to_owned(), search)];
    parts.extend(engine.into_iter().map(|(name, content)| (format!("{ENGINE}{name}"), content)));
    let catalogue = [
        (TABLES, catalogue.tables),
        (TEXTS, catalogue.arena),
        (DOWNLOADS, catalogue.downloads),
        (VERSIONS, catalogue.versions),
    ];
    parts.extend(catalogue.map(|(name, content)| (name.to_owned(), Bytes::from(content))));
    pass(Step::BuildOpen);
    Ok(Artifact { parts, downloads: None })
}

/// Builds one part after the other.
fn build_in_turn(
    records: &CatalogueBuilder,
    scratch: Option<&Path>,
    progress: &mut Progress<'_>,
) -> Result<Parts, BuildError> {
    let mut search = SearchBuilder::new(records.synonyms());
    let mut engine = TantivyBuilder::new()?;
    analyse(records, &mut search, progress, |documents| Ok(engine.add(&documents)?))?;
    pass(Step::BuildFinish);
    let unusable = |error| BuildError::from(CatalogueBuildError::Scratch(error));
    // Out of memory while the engine takes the most of it.
    let search = Bulk::store(search.finish()?.encode()?.into(), scratch).map_err(unusable)?;
    let engine = engine.finish()?;
    // Last, so that the texts and the index aren't in memory at once.
    let catalogue = records.finish()?;
    Ok((search.read_all().map_err(unusable)?, engine, catalogue))
}

/// Builds the same parts with three threads: one analyses, one indexes, and one writes the catalogue. That starts when a
/// quarter of the products are analysed: earlier it would only delay the analysis, which the index waits for.
fn build_at_once(records: &CatalogueBuilder, progress: &mut Progress<'_>) -> Result<Parts, BuildError> {
    let mut search = SearchBuilder::new(records.synonyms());
    let mut engine = TantivyBuilder::new()?;
    thread::scope(|scope| {
        let write_catalogue = || ScopedThread::spawn(scope, "catalogue", || records.finish());
        let mut catalogue = None;
        let mut progress = |done, count| {
            if done == count / 4 {
                catalogue = Some(write_catalogue());
            }
            progress(done, count)
        };
        let (sender, batches) = sync_channel::<Documents>(WAITING_BATCHES);
        let index = move || batches.iter().try_for_each(|documents| engine.add(&documents)).map(|()| engine);
        let index = ScopedThread::spawn(scope, "index", index).map_err(BuildError::Thread)?;
        // The channel is closed early only where indexing failed.
        let send = |documents| sender.send(documents).map_err(|_| BuildError::Stopped);
        let analysed = analyse(records, &mut search, &mut progress, send);
        drop(sender);
        let engine = index.join()?;
        analysed?;
        pass(Step::BuildFinish);
        let catalogue = catalogue.unwrap_or_else(write_catalogue).map_err(BuildError::Thread)?;
        let engine = ScopedThread::spawn(scope, "index", || engine.finish()).map_err(BuildError::Thread)?;
        let search = search.finish()?.encode()?;
        Ok((search.into(), engine.join()?, catalogue.join()?))
    })
}

/// Analyses all products and emits their terms in batches.
fn analyse(
    records: &CatalogueBuilder,
    search: &mut SearchBuilder,
    progress: &mut Progress<'_>,
    mut emit: impl FnMut(Documents) -> Result<(), BuildError>,
) -> Result<(), BuildError> {
    let count = records.software_count() as u64;
    let mut documents = Documents::default();
    for (done, product) in (1..).zip(records.software()) {
        pass(Step::BuildProduct);
        let (software, categories) = product?;
        documents.push(search.push(&software, categories));
        if documents.len() == BATCH {
            emit(std::mem::take(&mut documents))?;
        }
        if progress(done, count).is_break() {
            return Err(BuildError::Stopped);
        }
    }
    emit(documents)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::{IdPrefixes, Limits};
    use crate::generation::source::Source;

    const GO_ON: ControlFlow<()> = ControlFlow::Continue(());

    fn records() -> CatalogueBuilder {
        let set =
            Source::Embedded.read(&Limits::default(), &IdPrefixes::default(), &|_, _| {}).expect("they are there");
        CatalogueBuilder::new(set.report.exports, None).expect("in memory")
    }

    /// The content of all parts, without the random name of the engine's segment.
    fn contents((search, engine, catalogue): Parts) -> Vec<Vec<u8>> {
        let content = |(name, content): (String, Bytes)| (name != "meta.json").then(|| content.to_vec());
        let engine = engine.into_iter().filter_map(content);
        [search.to_vec(), catalogue.tables, catalogue.arena, catalogue.downloads].into_iter().chain(engine).collect()
    }

    #[test]
    fn threads_make_the_same_parts_as_one() {
        let records = records();
        assert!(records.software_count() > BATCH, "more than one batch");
        let one = build_in_turn(&records, None, &mut |_, _| GO_ON).expect("built");
        let (mut done, count) = (0, records.software_count() as u64);
        let mut progress = |now, total| {
            assert_eq!((now, total), (done + 1, count));
            done = now;
            GO_ON
        };
        let several = build_at_once(&records, &mut progress).expect("built");
        assert_eq!(done, count);
        assert!(contents(one) == contents(several));
    }

    #[test]
    fn build_stops_when_progress_says_so() {
        let records = records();
        let mut last = 0;
        let mut progress = |done, _| {
            last = done;
            if done == 5 { ControlFlow::Break(()) } else { GO_ON }
        };
        let stopped = [build_in_turn(&records, None, &mut progress), build_at_once(&records, &mut progress)];
        assert!(stopped.iter().all(|stopped| matches!(stopped, Err(BuildError::Stopped))));
        assert_eq!(last, 5);
    }
}
