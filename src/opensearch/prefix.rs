//! The names of a directory's indices in a cluster.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use jiff::Timestamp;

/// The maximum length in bytes. The rest of an index name takes up to 32 bytes, and OpenSearch
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

/// One of a directory's two indices. Requests use its alias; each new form gets an index of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Products,
    /// Categories, the glossary, exports, reviews, the change log and the publication.
    Directory,
}

impl Part {
    pub(super) const ALL: [Self; 2] = [Self::Products, Self::Directory];

    const fn as_str(self) -> &'static str {
        match self {
            Self::Products => "products",
            Self::Directory => "directory",
        }
    }
}

impl IndexPrefix {
    /// The alias that requests use.
    pub(super) fn alias(&self, part: Part) -> String {
        format!("{self}-{}", part.as_str())
    }

    /// The name of an index created at this time.
    pub(super) fn index(&self, part: Part, at: Timestamp) -> String {
        format!("{}-{}", self.alias(part), at.as_millisecond())
    }

    /// Whether an index was created by [`Self::index`]. Another directory's prefix may start with
    /// this one.
    pub(super) fn is_own(&self, part: Part, index: &str) -> bool {
        let number = index.strip_prefix(&self.alias(part)).and_then(|rest| rest.strip_prefix('-'));
        number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
    }
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

    #[test]
    fn prefixes_produce_names_that_opensearch_allows_and_own_the_indices_with_them() {
        let prefix = |text: &str| text.parse::<IndexPrefix>();
        let longest = "a".repeat(MAX_BYTES);
        for right in ["a", "0", "software-directory", "a.b_c-", longest.as_str()] {
            assert!(prefix(right).expect("a prefix").index(Part::Directory, Timestamp::MAX).len() <= 255);
        }
        for wrong in
            ["", "A", "-a", "_a", ".", ".a", "a b", "a/b", "a*", "a,b", "a:b", "a#", "ä", &format!("{longest}a")]
        {
            assert!(prefix(wrong).is_err(), "{wrong}");
        }
        for one in ["a", "a-products", "a-products-1", "ab"] {
            for other in ["a", "a-products", "a-products-1", "ab"] {
                let index = prefix(other).expect("a prefix").index(Part::Products, Timestamp::UNIX_EPOCH);
                assert_eq!(
                    prefix(one).expect("a prefix").is_own(Part::Products, &index),
                    one == other,
                    "{one} {index}"
                );
            }
        }
    }
}
