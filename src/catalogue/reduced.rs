//! A catalogue without products, for a server whose engine has these: categories, glossary and exports.

use super::arena::Arena;
use super::products::ProductWriter;
use super::records::RecordTables;
use super::{Catalogue, CatalogueBuildError, CatalogueParts, Columns, GlossaryEntry, Records, Reviews, Tables};

impl Catalogue {
    /// The parts of the catalogue without products and reviews, but with the number of those that aren't demo records; documents for
    /// download and versions stay apart.
    ///
    /// # Errors
    /// Where something can't be written.
    pub fn without_products(&self, records: &Records) -> Result<CatalogueParts, CatalogueBuildError> {
        let mut arena = Arena::default();
        let products = ProductWriter::new(&mut arena, &[]).map_err(CatalogueBuildError::Product)?.finish();
        let columns = Columns { category_bounds: vec![0], real: records.columns.real, ..Columns::default() };
        let tables = &self.tables;
        let category_objects = tables.category_objects.iter().map(|span| arena.push(&self.object(*span))).collect();
        let glossary = tables
            .glossary
            .iter()
            .map(|entry| GlossaryEntry { term: entry.term.clone(), object: arena.push(&self.object(entry.object)) });
        let glossary = glossary.collect();
        let exports = tables.exports.iter();
        let exports = exports.map(|export| export.with_object(arena.push(&self.object(export.object)))).collect();
        let tables = Tables { categories: tables.categories.clone(), category_objects, glossary, exports };
        let records = RecordTables { products, columns, reviews: Reviews::default() };
        Ok(CatalogueParts {
            tables: postcard::to_stdvec(&(records, tables))?,
            arena: arena.into_bytes(),
            downloads: Vec::new(),
            versions: Vec::new(),
        })
    }
}
