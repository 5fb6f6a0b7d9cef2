//! Guesses at which of the known properties an unknown key was meant to be.

use foldhash::{HashMap, HashMapExt as _};

use super::text::{Kind, Value};
use crate::record::{EvidenceStatus, Property, Shape};

impl Shape {
    /// Whether a value could be meant for a property of this shape, going by its type alone.
    fn admits(self, value: Value<'_>) -> bool {
        let kind = value.kind();
        let is_text = matches!(kind, Kind::Plain | Kind::Escaped);
        match self {
            Self::Text | Self::Name | Self::Label | Self::Uri | Self::Date | Self::OneOf(_) | Self::IdPrefix => is_text,
            Self::Texts => is_text || kind == Kind::Array,
            Self::Number | Self::Count => kind == Kind::Number,
            Self::Boolean => matches!(kind, Kind::True | Kind::False),
            Self::Sources | Self::Entries(_) => kind == Kind::Array,
            Self::Translations | Self::Evidence => kind == Kind::Object,
            Self::Source => is_text || kind == Kind::Object,
        }
    }
}

/// Finds the known property that an unknown key was probably meant to be. Results are cached,
/// because the same few keys occur many times in a file.
pub(super) struct NearMiss {
    known: Vec<&'static Property>,
    /// Whether the objects contain translations, which can't lack anything.
    is_translation: bool,
    cache: HashMap<String, Option<&'static Property>>,
}

impl NearMiss {
    pub(super) fn new(known: &'static [Property]) -> Self {
        Self { known: known.iter().collect(), is_translation: false, cache: HashMap::new() }
    }

    /// For objects with the translated properties of another one.
    pub(super) fn translated(known: &'static [Property]) -> Self {
        let known = known.iter().filter(|property| property.is_translated).collect();
        Self { known, is_translation: true, cache: HashMap::new() }
    }

    /// The known property nearest to this key, if it's close enough and could have this value.
    pub(super) fn meant(&mut self, key: &str, value: Value<'_>) -> Option<&'static Property> {
        let known = if let Some(known) = self.cache.get(key) {
            *known
        } else {
            let known = nearest(&self.known, key);
            self.cache.insert(key.to_owned(), known);
            known
        };
        known.filter(|property| property.shape.admits(value))
    }

    /// Whether it's an error if the object lacks this property. That error already names the
    /// misspelled key.
    pub(super) fn is_required(&self, property: &Property, object: Value<'_>) -> bool {
        let reviewed = EvidenceStatus::VendorSourcesReviewed.as_str();
        let is_reviewed = || object.get("evidence_status").is_some_and(|status| status.is_text(reviewed));
        !self.is_translation && property.is_strict && property.is_required(is_reviewed)
    }

    pub(super) fn present(&self, object: Value<'_>) -> Vec<&'static Property> {
        self.known.iter().copied().filter(|property| object.get(property.name).is_some()).collect()
    }
}

/// The property that a key most likely misspells.
pub(super) fn nearest(known: &[&'static Property], key: &str) -> Option<&'static Property> {
    let folded = fold(key);
    if known.iter().any(|property| property.name == key) {
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
    let close = known.iter().filter_map(|property| Some((distance(property.name)?, *property)));
    close.min_by_key(|(distance, _)| *distance).map(|(_, property)| property)
}

/// The key in an object that is probably a misspelling of `wanted`, by the same rules.
pub(super) fn misspelled(object: Value<'_>, wanted: &'static Property) -> Option<String> {
    object
        .members()
        .filter(|(_, value)| wanted.shape.admits(*value))
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
    use super::nearest;
    use crate::record::SOFTWARE;

    fn meant(key: &str) -> Option<&'static str> {
        nearest(&SOFTWARE.iter().collect::<Vec<_>>(), key).map(|property| property.name)
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
        for property in &SOFTWARE {
            assert_eq!(meant(property.name), None, "{}", property.name);
        }
    }
}
