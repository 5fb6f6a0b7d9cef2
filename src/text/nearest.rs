//! Suggests the valid name nearest to a misspelled one.

/// Searches for the nearest name only once, because a caller may send thousands of wrong names and
/// a comparison takes quadratic time.
#[derive(Debug, Default)]
pub struct Nearest {
    is_spent: bool,
}

impl Nearest {
    /// The most similar of `names`, if it's similar enough to suggest. Ignores the case of
    /// `written`. `None` if another name has already been compared.
    pub fn name<'n>(&mut self, written: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
        /// Below this similarity (0 to 1), a suggestion confuses more than it helps.
        const SIMILAR: f64 = 0.6;
        /// The longest text compared, in bytes.
        const LONGEST: usize = 64;

        if written.len() > LONGEST || std::mem::replace(&mut self.is_spent, true) {
            return None;
        }
        let written = written.to_lowercase();
        names
            .map(|name| (name, strsim::normalized_damerau_levenshtein(&written, name)))
            .filter(|(_, similarity)| *similarity >= SIMILAR)
            .max_by(|a, b| a.1.total_cmp(&b.1))
            .map(|(name, _)| name)
    }
}

#[cfg(test)]
mod tests {
    use super::Nearest;

    const NAMES: [&str; 4] = ["limit", "offset", "q", "category"];

    #[test]
    fn a_typo_finds_the_intended_name() {
        let near = |written| Nearest::default().name(written, NAMES.into_iter());
        assert_eq!(near("limt"), Some("limit"));
        assert_eq!(near("Offset"), Some("offset"));
        assert_eq!(near("categories"), Some("category"));
        assert_eq!(near("page"), None);
        assert_eq!(near(&"limit".repeat(20_000)), None);
    }

    #[test]
    fn only_one_name_is_compared() {
        let mut nearest = Nearest::default();
        assert_eq!(nearest.name(&"limit".repeat(20_000), NAMES.into_iter()), None, "too long to compare");
        assert_eq!(nearest.name("limt", NAMES.into_iter()), Some("limit"));
        let untouched = NAMES.into_iter().inspect(|name| panic!("{name} is compared"));
        assert_eq!(nearest.name("ofset", untouched), None);
    }
}
