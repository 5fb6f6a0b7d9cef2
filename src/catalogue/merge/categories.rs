//! A directory's categories.

use std::io;

use std::collections::BTreeMap;

use foldhash::HashMap;

use crate::catalogue::Collation;
use crate::catalogue::resource::CategoryResource;
use crate::record::{Category, Ids, Language, Translations, identity};

/// Collects the categories that exports describe and products use. Exports must be added in id
/// order. A category's first description wins, and so does its first name, but names from
/// descriptions take precedence over names that products use.
#[derive(Debug, Default)]
pub(super) struct CategoriesBuilder {
    /// Keyed by identity.
    described: BTreeMap<String, Described>,
    /// Keyed by identity.
    used: HashMap<String, Used>,
}

#[derive(Debug)]
struct Described {
    /// The name as spelled in the first export that has it, whose language is `language`.
    name: Box<str>,
    language: Option<Language>,
    description: Option<Box<str>>,
    translations: Translations,
}

#[derive(Debug)]
struct Used {
    number: u32,
    /// The name as spelled in the first product that has it, whose language is `language`.
    name: Box<str>,
    language: Option<Language>,
    products: u64,
}

/// All categories, sorted by name, and how to find them.
pub(super) struct MergedCategories {
    pub(super) categories: Vec<CategoryResource>,
    /// For each number from [`CategoriesBuilder::number`], its position among all categories.
    pub(super) places: Vec<u32>,
}

impl CategoriesBuilder {
    /// Adds a category described by an export in this language.
    pub(super) fn describe(&mut self, category: &Category, language: Option<&Language>) {
        let described = self.described.entry(identity(&category.name)).or_insert_with(|| Described {
            name: category.name.clone(),
            language: language.cloned(),
            description: None,
            translations: Translations::default(),
        });
        if described.description.is_none() {
            described.description.clone_from(&category.description);
        }
        described.translations.merge(&category.translations);
    }

    /// Adds a category used by a product in this language. Returns the category's number, in order
    /// of first use.
    pub(super) fn number(&mut self, name: &str, language: Option<&Language>) -> io::Result<u32> {
        let number = u32::try_from(self.used.len()).map_err(io::Error::other)?;
        let first = || Used { number, name: name.into(), language: language.cloned(), products: 0 };
        let used = self.used.entry(identity(name)).or_insert_with(first);
        used.products += 1;
        Ok(used.number)
    }

    pub(super) fn finish(mut self, collation: &Collation) -> MergedCategories {
        let mut numbered: Vec<(CategoryResource, Option<u32>)> = Vec::new();
        let names = self.described.values().map(|described| &*described.name);
        let ids = Ids::of(names.chain(self.used.values().map(|used| &*used.name)));
        for (identity, Described { name, language, description, translations }) in self.described {
            let (number, software_count) =
                self.used.remove(&identity).map_or((None, 0), |used| (Some(used.number), used.products));
            let (id, name, description) = (ids.id(&name), name.into(), description.map(Into::into));
            let untranslated = Vec::new();
            let category =
                CategoryResource { id, name, description, software_count, language, translations, untranslated };
            numbered.push((category, number));
        }
        for Used { number, name, language, products: software_count } in self.used.into_values() {
            let (id, name, translations) = (ids.id(&name), name.into(), Translations::default());
            let (description, untranslated) = (None, Vec::new());
            let category =
                CategoryResource { id, name, description, software_count, language, translations, untranslated };
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
