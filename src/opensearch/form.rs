//! A directory's indices: their names, mappings, analyzers and bundled synonyms.

use std::fmt;
use std::num::NonZeroU16;
use std::str::FromStr;
use std::sync::{Arc, LazyLock};

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::record::SynonymGroup;
use crate::search::intent;
use crate::text::english::function_words;

/// The synonyms that every directory's queries get.
const BUNDLED: &str = include_str!("../../data/software-terms.json");

/// Products per shard, if the number of shards isn't given.
const PRODUCTS_PER_SHARD: u64 = 4_000_000;

/// The settings and mappings of each index. Its `_meta` has a hash of them, so an index of another
/// form is recognised.
static FORMS: LazyLock<[(Value, String); 2]> = LazyLock::new(|| {
    let read = |text| serde_json::from_str(text).unwrap_or_default();
    let mut products: Value = read(include_str!("products.json"));
    let filters = &mut products["settings"]["index"]["analysis"]["filter"];
    filters["synonyms"]["synonyms"] = synonym_rules(&bundled_synonyms()).into();
    let stop_words = function_words().chain(intent::WORDS.split(' ')).chain(intent::KIND.split(' '));
    filters["intent"]["stopwords"] = stop_words.collect();
    [products, read(include_str!("directory.json"))].map(|mut form| {
        let hash = blake3::hash(form.to_string().as_bytes()).to_hex()[..16].to_owned();
        form["mappings"]["_meta"] = json!({"form": hash});
        (form, hash)
    })
});

/// The hash of an index's form.
pub(super) fn hash(part: Part) -> &'static str {
    &FORMS[part as usize].1
}

/// The body of the request that creates an index.
pub(super) fn creation(part: Part, shards: u64) -> String {
    let mut form = FORMS[part as usize].0.clone();
    if part == Part::Products {
        form["settings"]["index"]["number_of_shards"] = shards.into();
    }
    form.to_string()
}

/// The number of shards for this many products.
pub(super) fn shards(given: Option<NonZeroU16>, products: u64) -> u64 {
    given.map_or_else(|| products.div_ceil(PRODUCTS_PER_SHARD).clamp(1, 1024), |given| u64::from(given.get()))
}

/// The synonym groups that are part of the search analyzers.
pub(super) fn bundled_synonyms() -> Vec<SynonymGroup> {
    let file: Value = serde_json::from_str(BUNDLED).unwrap_or_default();
    let texts = |list: &Value| -> Option<Vec<Box<str>>> {
        list.as_array().map(|texts| texts.iter().filter_map(Value::as_str).map(Into::into).collect())
    };
    let group = |group: &Value| match (texts(&group["terms"]), texts(&group["from"]), texts(&group["ambiguous"])) {
        (Some(terms), ..) => Some(SynonymGroup::Equivalent(terms)),
        (_, Some(from), _) => Some(SynonymGroup::OneWay { from, to: group["to"].as_str()?.into() }),
        (.., ambiguous) => ambiguous.map(SynonymGroup::Ambiguous),
    };
    file["synonyms"].as_array().into_iter().flatten().filter_map(group).collect()
}

/// Rules for `synonym_graph`. An ambiguous term is only found by the others, because an analyzer
/// can't tell how it's written.
fn synonym_rules(groups: &[SynonymGroup]) -> Vec<String> {
    let ambiguous = groups.iter().filter_map(|group| match group {
        SynonymGroup::Ambiguous(terms) => Some(terms),
        _ => None,
    });
    let ambiguous: &Vec<String> = &ambiguous.flatten().map(|term| plain(term)).collect();
    let rules = groups.iter().flat_map(|group| {
        let (from, to) = match group {
            SynonymGroup::Equivalent(terms) => (&**terms, &**terms),
            SynonymGroup::OneWay { from, to } => (&**from, std::slice::from_ref(to)),
            SynonymGroup::Ambiguous(_) => (&[][..], &[][..]),
        };
        let from = from.iter().map(|term| plain(term)).filter(move |term| !ambiguous.contains(term));
        let to: Vec<_> = to.iter().map(|term| plain(term)).collect();
        from.map(move |term| {
            let others: Vec<_> = to.iter().filter(|other| **other != term).map(String::as_str).collect();
            format!("{term} => {term}, {}", others.join(", "))
        })
    });
    rules.collect()
}

/// A term without the characters that have a meaning in rules.
fn plain(term: &str) -> String {
    term.to_lowercase().replace([',', '\\', '#'], " ").replace("=>", " ")
}

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
    fn bundled_synonyms_become_rules() {
        let group = |terms: &[&str]| terms.iter().map(|term| (*term).into()).collect::<Vec<Box<str>>>();
        let rules = synonym_rules(&[
            SynonymGroup::Equivalent(group(&["Permit to Work", "PTW"])),
            SynonymGroup::Equivalent(group(&["point of sale", "pos"])),
            SynonymGroup::OneWay { from: group(&["crm"]), to: "sales".into() },
            SynonymGroup::Ambiguous(group(&["POS"])),
        ]);
        let expected = ["permit to work => permit to work, ptw", "ptw => ptw, permit to work"];
        assert_eq!(rules[..2], expected);
        assert_eq!(rules[2..], ["point of sale => point of sale, pos", "crm => crm, sales"]);
        assert!(bundled_synonyms().len() > 10);
    }

    #[test]
    fn both_forms_are_valid_and_have_a_hash() {
        for part in Part::ALL {
            let form: Value = serde_json::from_str(&creation(part, 3)).expect("JSON");
            assert_eq!(form["mappings"]["_meta"]["form"], hash(part));
            assert!(form["settings"]["index"]["max_result_window"].is_number());
        }
        assert_eq!([shards(None, 0), shards(None, 4_000_001), shards(NonZeroU16::new(7), 1)], [1, 2, 7]);
    }

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
