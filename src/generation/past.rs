//! Former records as a small generation in memory, so that the ordinary filters and searches decide
//! which of them matched. It also has today's records of the products that changed: whether other
//! products have a word or a category can't make two versions of a record match differently.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use serde_json::json;

use super::artifact::Artifact;
use super::build::{BuildError, build_parts};
use super::history::FormerRecord;
use super::log::{ChangeLog, ChangePlace, LogStep, MAX_FORMER_BYTES, ProductChange};
use super::name::{Generation, MeaningOption};
use super::snapshot::{OpenError, Snapshot};
use crate::catalogue::{Catalogue, Merged, Ordinal, Records};
use crate::export::{Export, ExportSet, Limits, SourceFile, examine, latest_day};
use crate::record::Category;
use crate::scratch::Scratch;
use crate::text::append;

#[derive(Debug, Default)]
pub struct Past {
    /// `None` if nothing changed.
    versions: Option<Arc<Snapshot>>,
    /// Newest first, and by id within a step.
    transitions: Vec<(ChangePlace, Transition)>,
    /// When the last change happened whose versions aren't known.
    lost_at: Option<String>,
}

/// The versions of a product before and after a change; `None` if it didn't exist.
#[derive(Debug, Clone, Copy)]
pub struct Transition {
    pub before: Option<Ordinal>,
    pub after: Option<Ordinal>,
}

/// A version's number among those of [`Past`]. The outer `None` means that it isn't known.
type Version = Option<Option<u32>>;

impl Past {
    pub(super) fn of(
        log: &ChangeLog,
        generation: &Generation,
        catalogue: &Catalogue,
        records: &Records,
    ) -> Result<Self, OpenError> {
        let (mut versions, mut changes, mut lost_at) = (Vec::new(), Vec::new(), None);
        let mut latest: HashMap<&str, Version> = HashMap::new();
        let mut bytes_today = 0;
        for (number, step) in log.steps().rev() {
            for (of_step, change) in (0..).zip(&step.changes) {
                let mut push = |record| {
                    versions.push(record);
                    u32::try_from(versions.len() - 1).ok()
                };
                let mut today = || {
                    let Some(_) = change.after else { return Some(None) };
                    let ordinal = records.find(&change.id).filter(|_| bytes_today < MAX_FORMER_BYTES)?;
                    let record = FormerRecord::of(&records.stored(ordinal).ok()?, log.hidden()).ok()??;
                    bytes_today += record.bytes();
                    Some(push(Cow::Owned(record)))
                };
                let after = latest.get(&*change.id).copied().unwrap_or_else(&mut today);
                let before = match &change.former {
                    Some(former) => Some(push(Cow::Borrowed(&**former))),
                    None => change.before.is_none().then_some(None),
                };
                latest.insert(&change.id, before);
                match (before, after) {
                    (Some(before), Some(after)) => {
                        changes.push((ChangePlace { step: number, change: of_step }, before, after));
                    }
                    _ => lost_at = lost_at.or_else(|| Some(step.at.clone())),
                }
            }
        }
        if changes.is_empty() {
            return Ok(Self { lost_at, ..Self::default() });
        }
        let exports = exports(&versions, catalogue)?;
        let scratch = Scratch::in_memory();
        let set = ExportSet::of(exports, &scratch).map_err(BuildError::scratch)?;
        let mut merged = Merged::of(set, &scratch, |_, _| {}).map_err(BuildError::from)?;
        merged.attributes = catalogue.tables.attributes.clone();
        let parts = build_parts(&merged, false, MeaningOption::Off, &mut |_, _| ControlFlow::Continue(()), |_| ())?;
        let versions = Snapshot::open(generation.clone(), Artifact::read(parts).map_err(BuildError::scratch)?)?;
        let known = |version: Option<u32>| match version {
            None => Some(None),
            Some(number) => versions.records.find(&number.to_string()).map(Some),
        };
        let transitions = changes.into_iter().filter_map(|(place, before, after)| {
            Some((place, Transition { before: known(before)?, after: known(after)? }))
        });
        Ok(Self { transitions: transitions.collect(), versions: Some(versions), lost_at })
    }

    /// The records before and after each change, under ids of their own.
    pub fn versions(&self) -> Option<&Snapshot> {
        self.versions.as_deref()
    }

    /// The changes whose versions are known, newest first, and by id within a step.
    pub fn changes<'l>(
        &'l self,
        log: &'l ChangeLog,
    ) -> impl Iterator<Item = (&'l LogStep, &'l ProductChange, Transition)> {
        self.transitions.iter().map(|(place, transition)| {
            let (step, change) = log.entry(*place);
            (step, change, *transition)
        })
    }

    /// Since when all changes' versions are known (RFC 3339 in UTC); empty if unknown.
    pub fn since<'l>(&'l self, log: &'l ChangeLog) -> &'l str {
        self.lost_at.as_deref().unwrap_or_else(|| log.begun_at())
    }
}

/// The versions as exports. Everything but the products is as it's today.
fn exports(versions: &[Cow<'_, FormerRecord>], catalogue: &Catalogue) -> Result<Vec<Export>, OpenError> {
    let mut documents: BTreeMap<&str, String> = BTreeMap::new();
    for (number, record) in versions.iter().enumerate() {
        let products = documents.entry(&record.export).or_default();
        products.push_str(if products.is_empty() { "" } else { "," });
        let members = record.json.strip_prefix('{').unwrap_or("}");
        append(products, format_args!("{{\"id\":\"{number}\",{members}"));
    }
    let limits = Limits { max_file_bytes: u64::MAX, ..Limits::default() };
    let sources = documents.into_iter().map(|(export, products)| {
        let head = json!({"name": "Past", "license": "https://past.invalid/"}).to_string();
        let document = format!("{},\"software\":[{products}]}}", head.trim_end_matches('}'));
        SourceFile::from_bytes(Path::new(&format!("{export}.json")), document.into())
    });
    let today = latest_day(jiff::Timestamp::now());
    let report = examine(sources.collect(), &limits, today, &|_| {}).map_err(BuildError::scratch)?;
    let mut exports = report.exports;
    for export in &mut exports {
        let of_today = catalogue.export(&export.id).map(|of_today| &of_today.resource);
        export.license = of_today.map(|of_today| of_today.license.as_str().into()).unwrap_or_default();
        export.language = of_today.and_then(|of_today| of_today.language.clone());
    }
    if let Some(first) = exports.first_mut() {
        let categories = catalogue.tables.categories.iter().map(|category| Category {
            name: category.name.as_str().into(),
            description: category.description.as_deref().map(Into::into),
            translations: category.translations.clone(),
        });
        first.categories = categories.collect();
    }
    Ok(exports)
}
