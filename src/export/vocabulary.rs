//! The keys that exports use, and guesses at which of them an unknown key was meant to be.

use foldhash::{HashMap, HashMapExt as _};

use super::text::{Kind, Value};
use crate::record::EvidenceStatus;

/// The form of a known property's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    Text,
    /// An array of strings; a lone string counts as one element.
    Texts,
    Number,
    Boolean,
    Array,
    Object,
    /// A string or an object.
    Source,
}

/// A key and the shape of its value.
pub(crate) type Known = (&'static str, Shape);

pub(super) const ENVELOPE: &[Known] = &[
    ("name", Shape::Text),
    ("license", Shape::Text),
    ("as_of", Shape::Text),
    ("language", Shape::Text),
    ("id_prefix", Shape::Text),
    ("software", Shape::Array),
    ("categories", Shape::Array),
    ("reviews", Shape::Array),
    ("glossary", Shape::Array),
    ("synonyms", Shape::Array),
    ("pins", Shape::Array),
    ("attributes", Shape::Array),
];

pub(crate) const RECORD: &[Known] = &[
    ("id", Shape::Text),
    ("name", Shape::Text),
    ("url", Shape::Text),
    ("evidence_status", Shape::Text),
    ("evidence_checked_on", Shape::Text),
    ("sources", Shape::Array),
    ("rating", Shape::Number),
    ("review_count", Shape::Number),
    ("offering_type", Shape::Text),
    ("tagline", Shape::Text),
    ("description", Shape::Text),
    ("category", Shape::Text),
    ("categories", Shape::Texts),
    ("vendor", Shape::Text),
    ("tags", Shape::Texts),
    ("features", Shape::Texts),
    ("standards", Shape::Texts),
    ("alternative_to", Shape::Texts),
    ("aliases", Shape::Texts),
    ("deployment", Shape::Texts),
    ("pricing", Shape::Text),
    ("languages", Shape::Texts),
    ("translations", Shape::Object),
];

pub(super) const CATEGORY: &[Known] =
    &[("name", Shape::Text), ("description", Shape::Text), ("translations", Shape::Object)];

pub(super) const REVIEW: &[Known] = &[
    ("id", Shape::Text),
    ("software_id", Shape::Text),
    ("rating", Shape::Number),
    ("title", Shape::Text),
    ("body", Shape::Text),
    ("author", Shape::Text),
    ("created_at", Shape::Text),
    ("verified", Shape::Boolean),
];

pub(super) const GLOSSARY: &[Known] = &[
    ("term", Shape::Text),
    ("definition", Shape::Text),
    ("abbreviations", Shape::Texts),
    ("synonyms", Shape::Texts),
    ("related", Shape::Texts),
    ("source", Shape::Source),
    ("translations", Shape::Object),
];

pub(super) const SYNONYMS: &[Known] =
    &[("terms", Shape::Texts), ("from", Shape::Texts), ("to", Shape::Text), ("ambiguous", Shape::Texts)];

pub(super) const ATTRIBUTE: &[Known] = &[
    ("property", Shape::Text),
    ("label", Shape::Text),
    ("type", Shape::Text),
    ("unit", Shape::Text),
    ("searchable", Shape::Boolean),
    ("hidden", Shape::Boolean),
    ("translations", Shape::Object),
];

/// A record's translatable properties.
pub(crate) const TRANSLATED: &[Known] =
    &[("name", Shape::Text), ("tagline", Shape::Text), ("description", Shape::Text)];

pub(super) const TRANSLATED_CATEGORY: &[Known] = &[("name", Shape::Text), ("description", Shape::Text)];

pub(super) const TRANSLATED_TERM: &[Known] = &[("term", Shape::Text), ("definition", Shape::Text)];

pub(super) const TRANSLATED_ATTRIBUTE: &[Known] = &[("label", Shape::Text)];

pub(super) const PIN: &[Known] = &[("queries", Shape::Texts), ("software", Shape::Texts)];

impl Shape {
    /// Whether a value could be meant for a property of this shape, going by its type alone.
    fn admits(self, value: Value<'_>) -> bool {
        let kind = value.kind();
        let is_text = matches!(kind, Kind::Plain | Kind::Escaped);
        match self {
            Self::Text => is_text,
            Self::Texts => is_text || kind == Kind::Array,
            Self::Number => kind == Kind::Number,
            Self::Boolean => matches!(kind, Kind::True | Kind::False),
            Self::Array => kind == Kind::Array,
            Self::Object => kind == Kind::Object,
            Self::Source => is_text || kind == Kind::Object,
        }
    }
}

/// Finds the known key that an unknown key was probably meant to be. Results are cached, because
/// the same few keys occur many times in a file.
pub(super) struct NearMiss {
    vocabulary: &'static [Known],
    cache: HashMap<String, Option<Known>>,
}

impl NearMiss {
    pub(super) fn new(vocabulary: &'static [Known]) -> Self {
        Self { vocabulary, cache: HashMap::new() }
    }

    /// The known key nearest to this key, if it's close enough and could have this value.
    pub(super) fn meant(&mut self, key: &str, value: Value<'_>) -> Option<&'static str> {
        let known = if let Some(known) = self.cache.get(key) {
            *known
        } else {
            let known = nearest(self.vocabulary, key);
            self.cache.insert(key.to_owned(), known);
            known
        };
        let (name, shape) = known?;
        shape.admits(value).then_some(name)
    }

    /// Whether this key is required in the object. If it's missing, there's already an error that
    /// names the misspelled key.
    pub(super) fn is_required(&self, key: &str, object: Value<'_>) -> bool {
        if self.vocabulary == ENVELOPE {
            return matches!(key, "name" | "license" | "software");
        }
        let is_reviewed = || {
            let reviewed = EvidenceStatus::VendorSourcesReviewed.as_str();
            object.get("evidence_status").is_some_and(|status| status.is_text(reviewed))
        };
        self.vocabulary == RECORD
            && match key {
                "id" | "name" | "url" | "evidence_status" => true,
                "evidence_checked_on" | "sources" => is_reviewed(),
                _ => false,
            }
    }

    /// The known keys in an object.
    pub(super) fn present(&self, object: Value<'_>) -> Vec<&'static str> {
        let names = self.vocabulary.iter().map(|(name, _)| *name);
        names.filter(|name| object.get(name).is_some()).collect()
    }
}

fn nearest(vocabulary: &[Known], key: &str) -> Option<Known> {
    let folded = fold(key);
    if vocabulary.iter().any(|(known, _)| *known == key) {
        return None;
    }
    let distance = |known: &str| {
        let wanted = fold(known);
        if folded == wanted {
            return Some(0);
        }
        if known.len() >= 4 && differ_in_number(&folded, &wanted) {
            return Some(1);
        }
        let allowed = match known.len() {
            0..6 => 0,
            6..8 => 1,
            _ => 2,
        };
        let is_close = folded.chars().next() == wanted.chars().next() && folded.len().abs_diff(wanted.len()) <= allowed;
        is_close.then(|| strsim::osa_distance(&folded, &wanted)).filter(|distance| *distance <= allowed)
    };
    vocabulary
        .iter()
        .filter_map(|known| Some((distance(known.0)?, *known)))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, known)| known)
}

/// The key in an object that is probably a misspelling of `wanted`, by the same rules.
pub(super) fn misspelled(object: Value<'_>, wanted: Known) -> Option<String> {
    object
        .members()
        .filter(|(_, value)| wanted.1.admits(*value))
        .filter_map(|(key, _)| key.as_str())
        .find(|key| nearest(&[wanted], key).is_some())
        .map(Into::into)
}

/// Keeps only letters and digits, in lower case: `evidenceStatus`, `Evidence-Status` and
/// `evidence_status` become the same key.
fn fold(key: &str) -> String {
    key.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Whether one of two words is the plural of the other.
fn differ_in_number(one: &str, other: &str) -> bool {
    let is_plural = |plural: &str, word: &str| matches!(plural.strip_prefix(word), Some("s" | "es"));
    is_plural(one, other) || is_plural(other, one)
}

#[cfg(test)]
mod tests {
    use super::{RECORD, nearest};

    fn meant(key: &str) -> Option<&'static str> {
        nearest(RECORD, key).map(|(known, _)| known)
    }

    #[test]
    fn a_misspelled_key_is_recognised() {
        for (key, known) in [
            ("evidence_checkedon", "evidence_checked_on"),
            ("Tagline", "tagline"),
            ("catagory", "category"),
            ("evidenceStatus", "evidence_status"),
            ("reveiw_count", "review_count"),
            ("tag", "tags"),
            ("alias", "aliases"),
            ("URL", "url"),
        ] {
            assert_eq!(meant(key), Some(known), "{key}");
        }
    }

    #[test]
    fn other_words_are_left_alone() {
        let others = [
            "version",
            "status",
            "licenses",
            "platforms",
            "stars",
            "homepage",
            "view_count",
            "type",
            "ids",
            "data",
            "file",
            "maintainer_name",
            "category_group",
            "license_id",
            "project",
            "logo",
            "price",
            "last_updated",
            "offer",
        ];
        for key in others {
            assert_eq!(meant(key), None, "{key}");
        }
    }

    #[test]
    fn a_known_key_is_not_a_misspelling_of_another() {
        for (known, _) in RECORD {
            assert_eq!(meant(known), None, "{known}");
        }
    }
}
