//! Suggests the valid name nearest to a misspelled one.

/// The most similar of `names`, if it's similar enough to suggest. Ignores the case of `written`.
pub(crate) fn name<'n>(written: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    /// Below this similarity (0 to 1), a suggestion confuses more than it helps.
    const SIMILAR: f64 = 0.6;
    /// The longest text compared, in bytes, because the cost is quadratic.
    const LONGEST: usize = 64;

    if written.len() > LONGEST {
        return None;
    }
    let written = written.to_lowercase();
    names
        .map(|name| (name, strsim::normalized_damerau_levenshtein(&written, name)))
        .filter(|(_, similarity)| *similarity >= SIMILAR)
        .max_by(|a, b| a.1.total_cmp(&b.1))
        .map(|(name, _)| name)
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_slip_of_the_finger_finds_its_name() {
        let names = ["limit", "offset", "q", "category"];
        let near = |written| super::name(written, names.into_iter());
        assert_eq!(near("limt"), Some("limit"));
        assert_eq!(near("Offset"), Some("offset"));
        assert_eq!(near("categories"), Some("category"));
        assert_eq!(near("page"), None);
        assert_eq!(near(&"limit".repeat(20_000)), None);
    }
}
