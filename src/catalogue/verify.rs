//! Reads a whole catalogue, and compares what is stored twice. Opening one compares only what is quick.

use std::io;

use serde::Serialize;
use serde::de::IgnoredAny;

use super::products::content_hash;
use super::{Catalogue, CatalogueError, DamagedText, Records, Span};

impl Catalogue {
    /// Reads the categories, the glossary and the exports with their documents.
    pub fn verify(&self) -> Result<(), CatalogueError> {
        let tables = &self.tables;
        let categories = tables.categories.iter().zip(&tables.category_objects);
        let is_whole = categories.into_iter().all(|(category, object)| self.is_stored(category, *object))
            && tables.glossary.iter().all(|entry| self.is_stored(&entry.term, entry.object))
            && tables.exports.iter().all(|export| self.is_stored(&export.resource, export.object));
        if !is_whole {
            return Err(CatalogueError::Misfit);
        }
        tables.exports.iter().try_for_each(|export| export.read_through(self)).map_err(CatalogueError::Downloads)
    }

    fn is_stored(&self, resource: &impl Serialize, object: Span) -> bool {
        serde_json::to_vec(resource).is_ok_and(|json| json == self.object(object))
    }
}

impl Records {
    /// Reads each product and review, and compares the products with their hashes.
    pub fn verify(&self) -> Result<(), CatalogueError> {
        let mut fields = Vec::new();
        for ordinal in (0..).take(self.len()) {
            fields.clear();
            self.append_detail_fields(ordinal, &mut fields)?;
            let item = self.item(ordinal);
            let is_whole = content_hash(item, &fields) == self.content_hash(ordinal);
            if !is_whole || !is_object(item) || !is_object(&fields) {
                let source = io::Error::new(io::ErrorKind::InvalidData, "it isn't what its hash says");
                return Err(DamagedText { ordinal, source }.into());
            }
        }
        let is_whole = self.reviews.spans().all(|span| is_object(&self.object(span)));
        if is_whole { Ok(()) } else { Err(CatalogueError::Misfit) }
    }
}

fn is_object(json: &[u8]) -> bool {
    json.starts_with(b"{") && serde_json::from_slice::<IgnoredAny>(json).is_ok()
}
