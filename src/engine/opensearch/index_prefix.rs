//! The names of a directory's indices in a cluster.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use jiff::Timestamp;

use super::mapping::MAPPING_VERSION;
use super::parts::PARTS;
use super::records::REVIEWS;

/// The maximum length in bytes. The rest of an index name takes up to 60 bytes, and OpenSearch
/// allows 255.
const MAX_BYTES: usize = 128;

/// The prefix of a directory's index names. A cluster can have one directory per prefix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexPrefix(Arc<str>);

#[derive(Debug, thiserror::Error)]
#[error(
    "an index prefix consists of 1 to {MAX_BYTES} lower-case ASCII letters, digits and . _ -, starting with a letter or a \
     digit, such as software-directory"
)]
pub struct IndexPrefixError;

impl IndexPrefix {
    /// The product index's name for a fill that starts at this time. Each fill gets a new index, so
    /// servers never search an index that's being filled.
    pub fn fill(&self, generation: &str, at: Timestamp) -> String {
        format!("{}{}", self.fills(generation), at.as_millisecond())
    }

    /// Whether an index belongs to a fill of this generation and mapping.
    pub fn is_fill(&self, index: &str, generation: &str) -> bool {
        index.strip_prefix(&self.fills(generation)).is_some_and(is_number)
    }

    fn fills(&self, generation: &str) -> String {
        format!("{self}-{generation}-{MAPPING_VERSION}.")
    }

    /// The index that contains the publication documents.
    pub(super) fn state(&self) -> String {
        format!("{self}-state")
    }

    /// Matches all indices of the directory, but also those of another directory whose prefix
    /// starts with this one and a hyphen.
    pub(super) fn pattern(&self) -> String {
        format!("{self}-*")
    }

    /// The product index that an index belongs to. `None` for the state index and for indices of
    /// other directories or programs.
    pub(super) fn products_of<'i>(&self, index: &'i str) -> Option<&'i str> {
        let products = [REVIEWS, PARTS].iter().find_map(|end| index.strip_suffix(end)).unwrap_or(index);
        let rest = products.strip_prefix(&*self.0)?.strip_prefix('-')?;
        let (generation, version) = rest.split_once('-')?;
        let is_generation = !generation.is_empty() && generation.bytes().all(|byte| byte.is_ascii_hexdigit());
        // Up to version 2, a generation was filled only once, so the name had no timestamp.
        let is_version = version.split_once('.').map_or(is_number(version), |(of, at)| is_number(of) && is_number(at));
        (is_generation && is_version).then_some(products)
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

impl Default for IndexPrefix {
    fn default() -> Self {
        Self("software-directory".into())
    }
}

impl fmt::Display for IndexPrefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for IndexPrefix {
    type Err = IndexPrefixError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        let is_right = text.len() <= MAX_BYTES
            && text.bytes().next().is_some_and(is_plain)
            && text.bytes().all(|byte| is_plain(byte) || b"._-".contains(&byte));
        if is_right { Ok(Self(text.into())) } else { Err(IndexPrefixError) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GENERATION: &str = "0123456789abcdef";

    fn prefix(text: &str) -> IndexPrefix {
        text.parse().expect("a prefix")
    }

    #[test]
    fn prefixes_produce_names_that_opensearch_allows() {
        let longest = "a".repeat(MAX_BYTES);
        for right in ["a", "0", "software-directory", "a.b_c-", longest.as_str()] {
            assert!(format!("{}{REVIEWS}", prefix(right).fill(GENERATION, Timestamp::MAX)).len() <= 255);
        }
        let too_long = "a".repeat(MAX_BYTES + 1);
        for wrong in
            ["", "A", "-a", "_a", "+a", ".", "..", ".a", "a b", "a/b", "a*", "a,b", "a:b", "a#", "ä", &too_long]
        {
            assert!(wrong.parse::<IndexPrefix>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn indices_belong_to_the_prefix_that_created_them() {
        let prefixes =
            ["a", "a-b", "a-b-c", "a-0123456789abcdef", "a-0123456789abcdef-1", "a-state", "ab", "a-", "a.b"];
        for one in prefixes {
            for other in prefixes {
                let products = prefix(other).fill(GENERATION, Timestamp::UNIX_EPOCH);
                let of_version_2 = format!("{other}-{GENERATION}-2");
                assert!(prefix(other).is_fill(&products, GENERATION));
                for (products, end) in
                    [&products, &of_version_2].into_iter().flat_map(|of| ["", REVIEWS, PARTS].map(|end| (of, end)))
                {
                    let index = format!("{products}{end}");
                    assert_eq!(
                        prefix(one).products_of(&index),
                        (one == other).then_some(products.as_str()),
                        "{one} {index}"
                    );
                }
                assert_eq!(prefix(one).products_of(&prefix(other).state()), None);
            }
        }
        for strange in [
            "a",
            "a-",
            "a--1",
            "a-0123456789abcdef",
            "a-0123456789abcdef-",
            "a-0123456789abcdef-x",
            "a-0123456789abcdef-3.",
            "a-0123456789abcdef-3.x",
            "a-0123456789abcdef-3.1.2",
            "a-notes-1",
        ] {
            assert_eq!(prefix("a").products_of(strange), None, "{strange}");
        }
        for other in
            ["a-0123456789abcdef-2", "a-0123456789abcdef-2.1", "a-fedcba9876543210-3.1", "b-0123456789abcdef-3.1"]
        {
            assert!(!prefix("a").is_fill(other, GENERATION), "{other}");
        }
    }
}
