//! Derives ids from names.

use unicode_normalization::UnicodeNormalization;

/// The id of a name in URLs and filters: lower case, without accents, with each run of characters
/// other than letters and digits replaced by one `-`. Letters of any script are kept. Names with
/// the same slug are the same category or glossary term.
///
/// A name without any letter or digit has an empty slug.
pub fn slug(name: &str) -> String {
    let mut slug = String::with_capacity(name.len());
    let folded = name.nfkd().filter(|c| !unicode_normalization::char::is_combining_mark(*c));
    for c in folded.flat_map(char::to_lowercase) {
        if c.is_alphanumeric() {
            slug.push(c);
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    slug.truncate(slug.trim_end_matches('-').len());
    slug
}

#[cfg(test)]
mod tests {
    use super::slug;

    #[test]
    fn a_slug_folds_case_accents_and_punctuation() {
        assert_eq!(slug("Integrated management systems (QHSE/IMS)"), "integrated-management-systems-qhse-ims");
        assert_eq!(slug("  Évaluation -- des Risques!"), "evaluation-des-risques");
        assert_eq!(slug("安全 管理"), "安全-管理");
        assert_eq!(slug("***"), "");
    }
}
