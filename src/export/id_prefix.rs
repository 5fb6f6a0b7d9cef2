//! Id prefixes, which let exports from different sources share a directory.

use std::collections::{BTreeMap, HashSet};

/// The longest prefix, in characters.
pub(super) const PREFIX_CHARS: usize = 32;

/// Whether a string can be an id prefix: 1 to 32 ASCII letters, digits and `. _ : ~ -`, which need
/// no escaping in a URL.
pub fn is_id_prefix(text: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._:~-".contains(&byte);
    (1..=PREFIX_CHARS).contains(&text.len()) && text.bytes().all(is_allowed)
}

/// Prepends a prefix to the ids of an export's products and reviews, and to references to its own
/// products.
pub fn prefix_ids<'i>(
    prefix: &str,
    products: Vec<&'i mut Box<str>>,
    reviews: Vec<&'i mut Box<str>>,
    references: Vec<&'i mut Box<str>>,
) {
    let prefixed = |id: &str| Box::<str>::from(format!("{prefix}{id}"));
    let own: HashSet<&str> = products.iter().map(|id| &***id).collect();
    for id in references.into_iter().filter(|id| own.contains(&***id)) {
        *id = prefixed(id);
    }
    for id in products.into_iter().chain(reviews) {
        *id = prefixed(id);
    }
}

/// The operator's prefixes by export id. Each overrides the one stated in the export, and an empty
/// one removes it.
pub type IdPrefixes = BTreeMap<Box<str>, Box<str>>;

#[cfg(test)]
mod tests {
    use super::is_id_prefix;

    #[test]
    fn a_prefix_is_short_and_needs_no_escaping() {
        for good in ["dpg:", "a", "A-1_b.~:", &"x".repeat(32)] {
            assert!(is_id_prefix(good), "{good}");
        }
        for bad in ["", "dpg/", "a b", "é", "a,b", "a=b", "a%3A", &"x".repeat(33)] {
            assert!(!is_id_prefix(bad), "{bad}");
        }
    }
}
