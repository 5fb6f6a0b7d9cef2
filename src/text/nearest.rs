//! Suggests the valid names nearest to a misspelled one.

/// Below this similarity (0 to 1), a suggestion confuses more than it helps.
const SIMILAR: f64 = 0.6;

/// The longest text compared, in bytes.
const LONGEST: usize = 64;

/// At most three of the known values, most similar first: those whose keys are similar to the
/// written one or begin with it. Each value comes with its key. Compares at most 2,000 keys.
pub fn nearest_values<'n>(written: &str, known: impl Iterator<Item = (&'n str, &'n str)>) -> Vec<String> {
    const MAX_COMPARED: usize = 2_000;
    const MAX_FOUND: usize = 3;
    /// Shorter beginnings say too little.
    const MIN_BEGINNING: usize = 3;

    if written.len() > LONGEST {
        return Vec::new();
    }
    let begins = |key: &str| written.len() >= MIN_BEGINNING && key.starts_with(written);
    let is_near = |key: &str| key.len() <= LONGEST && (key.len().abs_diff(written.len()) < LONGEST / 2 || begins(key));
    let compared = known.filter(|(key, _)| is_near(key)).take(MAX_COMPARED).map(|(key, value)| {
        let similarity = strsim::normalized_damerau_levenshtein(written, key);
        (if begins(key) { similarity.max(SIMILAR) } else { similarity }, value)
    });
    let mut found: Vec<_> = compared.filter(|(similarity, _)| *similarity >= SIMILAR).collect();
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    found.into_iter().take(MAX_FOUND).map(|(_, value)| value.to_owned()).collect()
}

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
    use super::{Nearest, nearest_values};

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
    fn the_most_similar_values_come_first() {
        let known = ["audits", "audit-management", "audio-management", "waste"];
        let near = |written: &str| nearest_values(written, known.into_iter().map(|key| (key, key)));
        assert_eq!(near("audit-managment"), ["audit-management", "audio-management"]);
        assert_eq!(near("audit"), ["audits", "audit-management"], "also longer ones that begin with it");
        assert_eq!(near("permits"), Vec::<String>::new());
        assert_eq!(near(&"audit".repeat(20_000)), Vec::<String>::new());
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
