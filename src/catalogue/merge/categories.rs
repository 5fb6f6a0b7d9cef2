//! A directory's categories.

use std::collections::BTreeMap;
use std::io;

use crate::catalogue::Collation;
use crate::catalogue::resource::CategoryResource;
use crate::record::{Category, Ids, Language, Translations, identity};

/// Collects the categories that exports describe and products use. Exports must be added in id
/// order. A category's first description wins, and so does its first name, but names from
/// descriptions take precedence over names that products use.
#[derive(Debug, Default)]
pub(super) struct CategoriesBuilder {
    /// Keyed by identity.
    collected: BTreeMap<String, Collected>,
    /// How many categories products use.
    used: u32,
}

#[derive(Debug, Default)]
struct Collected {
    /// The name as first spelled in an export's categories or, if none describes the category, in a
    /// product. Its language is `language`.
    name: Box<str>,
    language: Option<Language>,
    is_described: bool,
    description: Option<Box<str>>,
    translations: Translations,
    /// Numbers are in order of first use by a product.
    number: Option<u32>,
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
        let collected = self.collected.entry(identity(&category.name)).or_default();
        if !collected.is_described {
            collected.name.clone_from(&category.name);
            (collected.language, collected.is_described) = (language.cloned(), true);
        }
        if collected.description.is_none() {
            collected.description.clone_from(&category.description);
        }
        collected.translations.merge(&category.translations);
    }

    /// Adds a category used by a product in this language. Returns the category's number.
    pub(super) fn number(&mut self, name: &str, language: Option<&Language>) -> io::Result<u32> {
        let first = || Collected { name: name.into(), language: language.cloned(), ..Collected::default() };
        let collected = self.collected.entry(identity(name)).or_insert_with(first);
        collected.products += 1;
        if let Some(number) = collected.number {
            return Ok(number);
        }
        let number = self.used;
        collected.number = Some(number);
        self.used = number.checked_add(1).ok_or_else(|| io::Error::other("too many categories"))?;
        Ok(number)
    }

    pub(super) fn finish(self, collation: &Collation) -> MergedCategories {
        let ids = Ids::of(self.collected.values().map(|collected| &*collected.name));
        let numbered = self.collected.into_values().map(|collected| {
            let Collected { name, language, description, translations, number, products, .. } = collected;
            let category = CategoryResource {
                id: ids.id(&name),
                name: name.into(),
                description: description.map(Into::into),
                software_count: products,
                language,
                translations,
                untranslated: Vec::new(),
            };
            (category, number)
        });
        let mut numbered: Vec<_> = numbered.collect();
        numbered.sort_by_cached_key(|(category, _)| (collation.key(&category.name), category.id.clone()));
        let mut places = vec![0; self.used as usize];
        for (place, (_, number)) in (0..).zip(&numbered) {
            if let Some(number) = number {
                places[*number as usize] = place;
            }
        }
        MergedCategories { categories: numbered.into_iter().map(|(category, _)| category).collect(), places }
    }
}
