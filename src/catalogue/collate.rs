//! Sorts names in the order people expect.

use icu_collator::options::CollatorOptions;
use icu_collator::preferences::CollationNumericOrdering;
use icu_collator::{Collator, CollatorBorrowed, CollatorPreferences};

/// Natural, accent-aware order: the root collation of the Unicode Collation Algorithm (CLDR), with
/// numbers compared by value. So `é` sorts next to `e`, and `ISO 9` before `ISO 10`.
#[derive(Debug)]
pub struct Collation(CollatorBorrowed<'static>);

#[derive(Debug, thiserror::Error)]
#[error("the collation data can't be loaded: {0}")]
pub struct CollationError(String);

impl Collation {
    pub fn new() -> Result<Self, CollationError> {
        let mut preferences = CollatorPreferences::default();
        preferences.numeric_ordering = Some(CollationNumericOrdering::True);
        let collator = Collator::try_new(preferences, CollatorOptions::default());
        collator.map(Self).map_err(|error| CollationError(error.to_string()))
    }

    /// A name's sort key. Comparing keys byte by byte compares the names.
    pub fn key(&self, name: &str) -> Vec<u8> {
        let mut key = Vec::with_capacity(name.len() * 2);
        // Writing to a vector can't fail.
        let Ok(()) = self.0.write_sort_key_to(name, &mut key);
        key
    }
}

#[cfg(test)]
mod tests {
    use super::Collation;

    #[test]
    fn names_sort_as_people_expect() {
        let collation = Collation::new().expect("compiled data");
        let mut names = ["zebra", "ISO 10", "Éclair", "eclair", "ISO 9", "Echo", "Ångström", "apple"];
        names.sort_by_key(|name| collation.key(name));
        assert_eq!(names, ["Ångström", "apple", "Echo", "eclair", "Éclair", "ISO 9", "ISO 10", "zebra"]);
    }
}
