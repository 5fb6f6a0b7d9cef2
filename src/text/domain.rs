//! Top-level domains, from the public suffix list: <https://publicsuffix.org>.

/// Whether names can be registered below this label, in any case, and be found on the Internet.
pub(crate) fn is_top_level_domain(label: &str) -> bool {
    // The list has no rule for `za` itself, only for second levels such as `co.za`.
    let name = format!("any.{}", label.to_ascii_lowercase());
    name == "any.za" || psl::suffix(name.as_bytes()).is_some_and(|suffix| suffix.is_known())
}

#[cfg(test)]
mod tests {
    use super::is_top_level_domain;

    #[test]
    fn labels_on_the_public_suffix_list_are_top_level_domains() {
        // Below `ck`, every name is itself a suffix.
        for right in ["com", "COM", "de", "zip", "onion", "xn--p1ai", "arpa", "ck", "za", "ZA"] {
            assert!(is_top_level_domain(right), "{right}");
        }
        for wrong in ["", "cmo", "local", "localhost", "internal", "example", "test", "invalid", "3"] {
            assert!(!is_top_level_domain(wrong), "{wrong}");
        }
    }
}
