//! Former records as a small generation in memory, so that the ordinary filters and searches decide
//! which of them matched. It also has today's records of the products that changed: whether other
//! products have a word or a category can't make two versions of a record match differently.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::ops::ControlFlow;
use std::path::Path;

use super::artifact::Parts;
use super::build::{BuildError, build_parts};
use super::history::FormerRecord;
use super::log::{ChangeLog, ChangePlace, MAX_FORMER_BYTES};
use super::name::MeaningOption;
use crate::catalogue::{Catalogue, Merged, Records};
use crate::export::{Export, ExportSet, Limits, SourceFile, examine, latest_day};
use crate::record::Category;
use crate::scratch::Scratch;
use crate::text::append;

/// What the change log remembers.
#[derive(Debug)]
pub(super) struct Recalled {
    /// The versions as a generation, each with its number as its id; `None` if nothing changed.
    pub(super) parts: Option<Parts>,
    /// The changes whose versions are known, newest first, and by id within a step.
    pub(super) changes: Vec<(ChangePlace, Option<u32>, Option<u32>)>,
    /// When the last change happened whose versions aren't known.
    pub(super) lost_at: Option<String>,
}

/// A version's number among all of them. The outer `None` means that it isn't known.
type Version = Option<Option<u32>>;

impl Recalled {
    pub(super) fn of(log: &ChangeLog, catalogue: &Catalogue, records: &Records) -> Result<Self, BuildError> {
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
            return Ok(Self { parts: None, changes, lost_at });
        }
        let exports = exports(&versions, catalogue)?;
        let scratch = Scratch::in_memory();
        let set = ExportSet::of(exports, &scratch).map_err(BuildError::scratch)?;
        let mut merged = Merged::of(set, &scratch, |_, _| {})?;
        merged.attributes = catalogue.tables.attributes.clone();
        let parts = build_parts(&merged, false, MeaningOption::Off, &mut |_, _| ControlFlow::Continue(()), |_| ())?;
        Ok(Self { parts: Some(parts), changes, lost_at })
    }
}

/// The versions as exports. Everything but the products is as it's today.
fn exports(versions: &[Cow<'_, FormerRecord>], catalogue: &Catalogue) -> Result<Vec<Export>, BuildError> {
    let mut documents: BTreeMap<&str, String> = BTreeMap::new();
    for (number, record) in versions.iter().enumerate() {
        let products = documents.entry(&record.export).or_default();
        products.push_str(if products.is_empty() { "" } else { "," });
        let members = record.json.strip_prefix('{').unwrap_or("}");
        append(products, format_args!("{{\"id\":\"{number}\",{members}"));
    }
    let limits = Limits { max_file_bytes: u64::MAX, ..Limits::default() };
    let sources = documents.into_iter().map(|(export, products)| {
        let document = format!(r#"{{"name":"Past","license":"https://past.invalid/","software":[{products}]}}"#);
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
