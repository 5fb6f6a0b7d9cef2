//! Reads a whole catalogue and cross-checks everything that's stored twice. Opening a catalogue
//! does only the quick checks.

use std::io;

use serde::de::IgnoredAny;

use super::products::content_hash;
use super::{Catalogue, CatalogueError, DamagedText, Records};

impl Catalogue {
    /// Reads the export documents; everything else was read on opening.
    pub fn verify(&self) -> Result<(), CatalogueError> {
        let exports = &self.tables.exports;
        exports.iter().try_for_each(|export| export.read_through(self)).map_err(CatalogueError::Downloads)
    }
}

impl Records {
    /// Reads every product and review, and checks the products against their hashes.
    pub fn verify(&self) -> Result<(), CatalogueError> {
        let mut fields = Vec::new();
        for ordinal in (0..).take(self.len()) {
            fields.clear();
            self.append_detail_fields(ordinal, &mut fields)?;
            let item = self.item(ordinal);
            let is_whole = content_hash(item, &fields) == self.content_hash(ordinal);
            if !is_whole || !is_object(item) || !is_object(&fields) {
                let source = io::Error::new(io::ErrorKind::InvalidData, "the text doesn't match its hash");
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
