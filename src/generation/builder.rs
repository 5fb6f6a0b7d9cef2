//! Builds a generation from the current exports: on disk, as `--reindex` does, or in memory.

use std::cell::RefCell;
use std::sync::Arc;

use foldhash::HashSet;

use crate::catalogue::{CatalogueBuildError, Merged};
use crate::export::{ExportSet, Skipped};
use crate::generation::Generation;
use crate::generation::artifact::{CHANGES, Parts, TEXTS, VERSIONS};
use crate::generation::build::{BuildError, Processors, build};
use crate::generation::change::losses;
use crate::generation::failpoint::{Step, pass};
use crate::generation::failure::BuildFailure;
use crate::generation::log::{ChangeLog, Former, Versions};
use crate::generation::observer::{Observer, Phase};
use crate::generation::process::{ServedIds, Settings};
use crate::generation::source::{FolderStamp, ReadError, ReadSet};
use crate::generation::store::{MAX_DEATHS, Manifest, Store, StoreError, build_name};
use crate::generation::{Artifact, INDEX_FORMAT, Snapshot, open_catalogue};
use crate::record::Attributes;
use crate::scratch::{Bulk, Scratch};

/// A generation on disk, and whether it had to be built.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Built {
    pub manifest: Manifest,
    pub is_new: bool,
}

/// Merged exports.
#[derive(Debug)]
pub struct MergedSet {
    pub generation: Generation,
    pub skipped: Skipped,
    pub merged: Merged,
}

pub struct Builder<'b> {
    pub settings: &'b Settings,
    pub observer: &'b mut dyn Observer,
    /// The ids being served; `None` if removing any number of products has been confirmed.
    pub served: Option<ServedIds>,
    pub processors: Processors,
}

impl Builder<'_> {
    /// Builds a generation and makes it current on disk. If the generation already exists, it just
    /// becomes current, unless this run confirms removals.
    pub fn build_on_disk(&mut self, store: &Store) -> Result<Built, BuildFailure> {
        // Check this before spending minutes on a build that couldn't be saved.
        store.check_lock()?;
        let scratch = Scratch::new(store.folder(), self.processors.scratch_bytes());
        let ReadSet { set, stamp } = self.read(&scratch)?;
        let generation = self.name(&set, &scratch)?;
        if self.served.is_some() {
            self.check_removed(&set, Some(store), || store.current().is_some_and(|of| of.generation == generation))?;
            if let Some(manifest) = self.whole(store, &generation) {
                let manifest = make_current(store, &manifest, hidden(&set), stamp)?;
                return Ok(Built { manifest, is_new: false });
            }
        }
        let (skipped, software_count, hidden) = (set.report.skipped, set.software_count(), hidden(&set));
        store.create()?;
        let parts = self.build(set, &scratch)?;
        let built_at = jiff::Timestamp::now().to_string();
        if self.observer.progress(Phase::Writing, 0, 0).is_break() {
            return Err(BuildError::Stopped.into());
        }
        let about = Manifest {
            format: INDEX_FORMAT,
            generation,
            build: build_name(&built_at),
            built_at,
            software_count,
            inputs: stamp,
            id_prefixes: self.settings.id_prefixes.clone(),
            meaning: self.settings.meaning,
            trusted_keys: self.settings.limits.trusted_keys.clone(),
            skipped,
            parts: Vec::new(),
        };
        let manifest = loop {
            let (mut parts, before) = (parts.clone(), store.current_name());
            add_log(&mut parts, store.former(), &about.generation, hidden.clone(), &about.built_at)?;
            match store.save(&parts, about.clone(), before.as_deref()) {
                // Another process has changed the log that this generation continues.
                Err(StoreError::Overtaken) => {}
                saved => break saved?,
            }
        };
        if self.served.is_none() {
            store.forget_deaths(&manifest.generation);
        }
        Ok(Built { manifest, is_new: true })
    }

    /// Builds a generation's successor in memory, and returns it with the exports' stamp.
    pub fn build_in_memory(&mut self, former: Option<&Snapshot>) -> Result<(Arc<Snapshot>, FolderStamp), BuildFailure> {
        let scratch = Scratch::in_memory();
        let ReadSet { set, stamp } = self.read(&scratch)?;
        self.check_removed(&set, None, || false)?;
        let skipped = set.report.skipped;
        let (generation, hidden) = (self.name(&set, &scratch)?, hidden(&set));
        let mut parts = self.build(set, &scratch)?;
        let built_at = jiff::Timestamp::now().to_string();
        let former = former.map(Snapshot::former).transpose().map_err(BuildError::Encode)?;
        add_log(&mut parts, former, &generation, hidden, &built_at)?;
        let artifact = Artifact::read(parts).map_err(BuildError::scratch)?;
        Ok((Snapshot::open(generation, artifact, skipped)?, stamp))
    }

    /// Reads and merges the exports for an index that isn't a generation on this machine.
    pub fn merge(&mut self, scratch: &Scratch) -> Result<MergedSet, BuildFailure> {
        let set = self.read(scratch)?.set;
        let (generation, skipped) = (self.name(&set, scratch)?, set.report.skipped);
        let merged = Merged::of(set, scratch, |done, total| {
            let _ = self.observer.progress(Phase::Merging, done, total);
        });
        let merged = merged.map_err(|error| failure(error.into(), scratch))?;
        Ok(MergedSet { generation, skipped, merged })
    }

    fn name(&self, set: &ExportSet, scratch: &Scratch) -> Result<Generation, BuildFailure> {
        let generation = Generation::of(set).map_err(|error| ReadError::Scratch(scratch.error(error)))?;
        Ok(self.settings.name(generation).skipping(set.report.skipped))
    }

    /// Reads the exports. Fails if they can't be served.
    fn read(&mut self, scratch: &Scratch) -> Result<ReadSet, BuildFailure> {
        pass(Step::Read);
        let observer = RefCell::new(&mut *self.observer);
        let (limits, prefixes) = (&self.settings.limits, &self.settings.id_prefixes);
        let mut read = self.settings.source.read(limits, prefixes, scratch, &|done, total| {
            // The build can't be stopped before it indexes the first product.
            let _ = observer.borrow_mut().progress(Phase::Reading, done, total);
        })?;
        self.check(&read.set)?;
        // Free the files' bytes.
        read.set.report.files = Vec::new();
        Ok(read)
    }

    /// Reports on the exports. Fails if they can't be served.
    fn check(&mut self, set: &ExportSet) -> Result<(), BuildFailure> {
        let report = &set.report;
        self.observer.report(report);
        for export in report.unused_prefixes(&self.settings.id_prefixes) {
            tracing::warn!(
                "--id-prefix names the export `{export}`, which doesn't exist: use the name of its file without .json"
            );
        }
        let is_servable = report.is_valid() || (self.settings.skip_invalid && !set.exports.is_empty());
        if !is_servable {
            return Err(BuildFailure::invalid(report));
        }
        self.observer.exports(set);
        Ok(())
    }

    fn build(&mut self, set: ExportSet, scratch: &Scratch) -> Result<Parts, BuildFailure> {
        let (observer, processors) = (&mut *self.observer, self.processors);
        let mut progress = |done, total| observer.progress(Phase::Indexing, done, total);
        build(set, scratch, processors, self.settings.meaning, &mut progress).map_err(|error| failure(error, scratch))
    }

    /// Withholds exports that would remove so many products that it may be an accident, unless
    /// removal was confirmed.
    fn check_removed(
        &self,
        set: &ExportSet,
        store: Option<&Store>,
        is_confirmed: impl Fn() -> bool,
    ) -> Result<(), BuildFailure> {
        let Some(ServedIds(served)) = &self.served else { return Ok(()) };
        let mut missing: HashSet<&str> = served.iter().map(String::as_str).collect();
        let seen = set.exports.iter().try_for_each(|export| {
            set.for_each_product(export, |_, software| {
                missing.remove(&*software.id);
                Ok(())
            })
        });
        seen.map_err(BuildError::scratch)?;
        let removed: Vec<&str> = served.iter().map(String::as_str).filter(|id| missing.contains(id)).collect();
        if removed.len() * 100 > served.len() * usize::from(self.settings.max_removed) && !is_confirmed() {
            // Normally the served generation is current on disk. If it isn't, the message doesn't
            // name any files.
            let on_disk = store.and_then(|store| {
                let mut artifact = store.load_catalogue(&store.current()?).ok()?;
                open_catalogue(&mut artifact).ok()
            });
            let losses = on_disk.map(|on_disk| losses(&on_disk, &removed, set)).unwrap_or_default();
            return Err(BuildFailure::removes(removed.len(), served.len(), self.settings.max_removed, &losses));
        }
        Ok(())
    }

    /// The generation on disk, if it exists and is intact.
    fn whole(&self, store: &Store, generation: &Generation) -> Option<Manifest> {
        let is_wanted = |manifest: &Manifest| {
            manifest.generation == *generation && manifest.inputs.is_empty() == self.settings.source.folder().is_none()
        };
        // If processes have died while opening the generation, rebuild it.
        if store.deaths(generation) >= MAX_DEATHS {
            return None;
        }
        store.candidates().into_iter().filter(is_wanted).find(|manifest| match store.verify(manifest) {
            Ok(()) => true,
            Err(error) => {
                tracing::warn!(error = &error as &dyn std::error::Error, "the index is damaged; rebuilding it");
                false
            }
        })
    }
}

/// Why a build failed. If scratch files are the cause, this names their folder.
fn failure(error: BuildError, scratch: &Scratch) -> BuildFailure {
    match error {
        BuildError::Catalogue(CatalogueBuildError::Scratch(error)) => ReadError::Scratch(scratch.error(error)).into(),
        error => error.into(),
    }
}

/// Makes an existing generation current. If it replaces another generation, its log continues that
/// generation's log.
fn make_current(
    store: &Store,
    manifest: &Manifest,
    hidden: Vec<Box<str>>,
    stamp: FolderStamp,
) -> Result<Manifest, BuildFailure> {
    let before = store.current_name();
    let former = store.former().filter(|former| former.generation != manifest.generation);
    let Some((former, versions)) = former.zip(store.versions(manifest)) else {
        return Ok(store.make_current(manifest, stamp)?);
    };
    let built_at = jiff::Timestamp::now().to_string();
    let log = ChangeLog::after(Some(former), &manifest.generation, &versions, hidden, &built_at);
    let log = log.encode().map_err(BuildError::Encode)?;
    Ok(store.save_again(manifest, &log, built_at, stamp, before.as_deref())?)
}

/// Adds the new generation's log to its parts.
fn add_log(
    parts: &mut Parts,
    former: Option<Former>,
    generation: &Generation,
    hidden: Vec<Box<str>>,
    built_at: &str,
) -> Result<(), BuildFailure> {
    let part = |name: &str| parts.iter().find(|(of, _)| of == name).map(|(_, content)| content.clone());
    if let Some(versions) = part(VERSIONS) {
        let versions = Versions { versions, texts: part(TEXTS) };
        let log = ChangeLog::after(former, generation, &versions, hidden, built_at);
        let log = log.encode().map_err(BuildError::Encode)?;
        parts.push((CHANGES.to_owned(), Bulk::Memory(log)));
    }
    Ok(())
}

/// The properties that pages leave out, sorted.
fn hidden(set: &ExportSet) -> Vec<Box<str>> {
    let mut attributes = Attributes::default();
    let declared = set.by_id().flat_map(|export| &export.export.attributes);
    declared.for_each(|attribute| attributes.declare(attribute.clone()));
    let hidden = attributes.iter().filter(|(_, attribute)| attribute.hidden);
    let mut hidden: Vec<_> = hidden.map(|(_, attribute)| attribute.property.clone()).collect();
    hidden.sort_unstable();
    hidden
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::{IdPrefixes, Limits};
    use crate::generation::failure::FailureCode;
    use crate::generation::name::MeaningOption;
    use crate::generation::observer::Unobserved;
    use crate::generation::source::Source;

    #[test]
    fn an_error_about_scratch_files_names_the_folder_and_a_fix() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path().join("index");
        let settings = Settings {
            source: Source::Embedded,
            index: Some(folder.clone()),
            read_only: false,
            skip_invalid: false,
            max_removed: 100,
            id_prefixes: IdPrefixes::default(),
            meaning: MeaningOption::On,
            limits: Limits::default(),
            process: None,
        };
        let processors = Processors::One;
        let mut builder = Builder { settings: &settings, observer: &mut Unobserved, served: None, processors };
        let scratch = Scratch::with_own_bytes(&folder, 100);
        let set = builder.read(&scratch).expect("read").set;
        std::fs::remove_dir(&folder).expect("scratch files are unnamed");
        std::fs::write(&folder, "").expect("written");
        let failure = builder.build(set, &scratch).expect_err("no folder for scratch files");
        assert_eq!(failure.code, FailureCode::IndexNotWritten);
        let start = format!("can't read or write the scratch files in {}: free up disk space there", folder.display());
        assert!(failure.detail.starts_with(&start), "{}", failure.detail);
        assert!(failure.is_transient);
    }
}
