//! A catalogue's content as plain values, for a store that keeps them as documents of its own.

use serde::Serialize;

use super::exports::ExportDocument;
use super::merge::Merged;
use super::{AttributeSummary, Catalogue, CatalogueError, GlossaryEntry, Tables, glossary};
use crate::catalogue::resource::{CategoryResource, ExportResource, GlossaryTermResource};
use crate::record::{Attributes, Languages};
use crate::scratch::Span;

/// The content of a [`Catalogue`], apart from the exports' documents.
#[derive(Debug, Clone, Default)]
pub struct Contents {
    pub attributes: Attributes,
    /// Indexed by attribute number.
    pub attribute_summaries: Vec<AttributeSummary>,
    pub languages: Languages,
    /// Sorted by name.
    pub categories: Vec<CategoryResource>,
    /// Sorted by term.
    pub glossary: Vec<GlossaryTermResource>,
    /// Sorted by id.
    pub exports: Vec<ExportResource>,
}

impl Merged {
    /// The merged directory's catalogue, given its attributes' summaries.
    pub fn contents(&self, attribute_summaries: Vec<AttributeSummary>) -> Contents {
        Contents {
            attributes: self.attributes.clone(),
            attribute_summaries,
            languages: self.languages.clone(),
            categories: self.categories.clone(),
            glossary: glossary::terms(self.exports.iter().map(|merged| &merged.set.export), &self.collation),
            exports: self.exports.iter().map(|merged| merged.resource.clone()).collect(),
        }
    }
}

impl Catalogue {
    /// A catalogue whose exports can't be downloaded.
    pub fn of(contents: Contents) -> Result<Self, CatalogueError> {
        let mut arena = Vec::new();
        let category_objects =
            contents.categories.iter().map(|category| push(&mut arena, category)).collect::<Result<_, _>>()?;
        let glossary =
            contents.glossary.into_iter().map(|term| Ok(GlossaryEntry { object: push(&mut arena, &term)?, term }));
        let glossary = glossary.collect::<Result<_, CatalogueError>>()?;
        let exports = contents.exports.into_iter().map(|export| {
            let object = push(&mut arena, &export)?;
            Ok(ExportDocument::without_document(export, object))
        });
        let exports = exports.collect::<Result<_, CatalogueError>>()?;
        let tables = Tables {
            attributes: contents.attributes,
            attribute_summaries: contents.attribute_summaries,
            languages: contents.languages,
            categories: Vec::new(),
            category_objects,
            glossary,
            exports,
        };
        Self::of_tables(tables, arena.into(), Vec::new())
    }
}

/// Appends a value to an arena as a JSON object.
fn push(arena: &mut Vec<u8>, value: &impl Serialize) -> Result<Span, CatalogueError> {
    let start = arena.len();
    serde_json::to_writer(&mut *arena, value).map_err(CatalogueError::Object)?;
    Ok(Span { start: start as u64, length: (arena.len() - start) as u64 })
}
