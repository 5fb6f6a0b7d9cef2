//! The glossary's entries.

use std::io;

use serde::{Deserialize, Serialize};

use super::collate::Collation;
use crate::catalogue::resource::{GlossarySourceResource, GlossaryTermResource};
use crate::export::Export;
use crate::record::Ids;
use crate::scratch::{BulkWriter, Span};

/// A glossary term, for glossary searches and as ready-made response data.
#[derive(Debug, Serialize, Deserialize)]
pub struct GlossaryEntry {
    /// Parsed from `object`.
    #[serde(skip)]
    pub term: GlossaryTermResource,
    /// The same data as a JSON object.
    pub object: Span,
}

/// Writes the combined glossary of all exports, sorted by term.
pub(super) fn entries<'e>(
    exports: impl Iterator<Item = &'e Export>,
    collation: &Collation,
    arena: &mut BulkWriter,
) -> io::Result<Vec<GlossaryEntry>> {
    let terms = terms(exports, collation).into_iter();
    terms.map(|term| Ok(GlossaryEntry { object: arena.push_json(&term)?, term })).collect()
}

/// The combined glossary of all exports, sorted by term.
pub(super) fn terms<'e>(exports: impl Iterator<Item = &'e Export>, collation: &Collation) -> Vec<GlossaryTermResource> {
    let terms = exports.flat_map(|export| export.glossary.iter().map(move |term| (term, export.language.as_ref())));
    let mut terms: Vec<_> = terms.collect();
    terms.sort_by_cached_key(|(term, _)| (collation.key(&term.term), term.term.clone()));
    let ids = Ids::of(terms.iter().map(|(term, _)| &*term.term));
    let owned = |texts: &[Box<str>]| texts.iter().map(ToString::to_string).collect();
    terms
        .into_iter()
        .map(|(term, language)| GlossaryTermResource {
            id: ids.id(&term.term),
            term: term.term.to_string(),
            definition: term.definition.to_string(),
            abbreviations: owned(&term.abbreviations),
            synonyms: owned(&term.synonyms),
            related: owned(&term.related),
            source: term.source.as_ref().map(|source| GlossarySourceResource {
                title: source.title.as_deref().map(str::to_owned),
                url: source.url.as_deref().map(str::to_owned),
            }),
            language: language.cloned(),
            translations: term.translations.clone(),
            untranslated: Vec::new(),
        })
        .collect()
}
