//! The categories of a directory.

use std::collections::BTreeMap;

use foldhash::HashMap;

use crate::catalogue::Collation;
use crate::catalogue::resource::CategoryResource;
use crate::record::{Category, Ids, identity};

/// Collects the categories that exports describe and that products use. Exports come in the order of their ids. The first
/// description of a category wins, and so does the first name, a described one before one that's only used.
#[derive(Debug, Default)]
pub(super) struct CategoriesBuilder {
    /// By identity, the names and descriptions.
    described: BTreeMap<String, (Box<str>, Option<Box<str>>)>,
    /// By identity, its number, the name as the first product writes it, and the products.
    used: HashMap<String, (u32, Box<str>, u64)>,
}

/// All categories by name, and how they are found.
pub(super) struct MergedCategories {
    pub(super) categories: Vec<CategoryResource>,
    /// By the number that [`CategoriesBuilder::number`] gave to each, its place among all.
    pub(super) places: Vec<u32>,
}

impl CategoriesBuilder {
    /// Adds a category with its description.
    pub(super) fn describe(&mut self, category: &Category) {
        let (_, description) =
            self.described.entry(identity(&category.name)).or_insert_with(|| (category.name.clone(), None));
        if description.is_none() {
            description.clone_from(&category.description);
        }
    }

    /// Adds a product's category. Returns its number, in the order of the first uses.
    pub(super) fn number(&mut self, name: &str) -> u32 {
        let next = u32::try_from(self.used.len()).unwrap_or(u32::MAX);
        let (number, _, products) = self.used.entry(identity(name)).or_insert_with(|| (next, name.into(), 0));
        *products += 1;
        *number
    }

    pub(super) fn finish(mut self, collation: &Collation) -> MergedCategories {
        let mut numbered: Vec<(CategoryResource, Option<u32>)> = Vec::new();
        let names = self.described.values().map(|(name, _)| &**name);
        let ids = Ids::of(names.chain(self.used.values().map(|(_, name, _)| &**name)));
        for (identity, (name, description)) in self.described {
            let (number, products) =
                self.used.remove(&identity).map_or((None, 0), |(number, _, count)| (Some(number), count));
            let (id, name, description) = (ids.id(&name), name.into(), description.map(Into::into));
            numbered.push((CategoryResource { id, name, description, software_count: products }, number));
        }
        for (number, name, software_count) in self.used.into_values() {
            let category = CategoryResource { id: ids.id(&name), name: name.into(), description: None, software_count };
            numbered.push((category, Some(number)));
        }
        numbered.sort_by_cached_key(|(category, _)| (collation.key(&category.name), category.id.clone()));
        let mut places = vec![0; numbered.iter().filter(|(_, number)| number.is_some()).count()];
        for (place, (_, number)) in (0..).zip(&numbered) {
            if let Some(number) = number {
                places[*number as usize] = place;
            }
        }
        MergedCategories { categories: numbered.into_iter().map(|(category, _)| category).collect(), places }
    }
}
