//! A column's target, and how a mapping spells it.

use std::fmt;

use super::json_of;
use crate::record::{AttributeType, EVIDENCE as MEMBERS, Language, Property, Shape};

/// How a column is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// A property that the directory knows.
    Property(&'static str),
    /// A property with any name, whose cells contain JSON.
    Json(String),
    /// Text in another language: the property and the language's tag, such as `tagline:de`.
    Translation(Translation),
    /// A member of the evidence for a property, such as `evidence.pricing.source`.
    Evidence(String),
    /// An additional property, as text.
    Additional(String),
    /// An additional property that the export declares as an attribute. If the type isn't given,
    /// it's inferred from the values.
    Attribute(String, Option<AttributeType>),
    Ignored,
}

impl Target {
    /// The property; `None` for an unused column.
    pub fn property(&self) -> Option<&str> {
        match self {
            Self::Property(name) => Some(name),
            Self::Json(name) | Self::Evidence(name) | Self::Additional(name) | Self::Attribute(name, _) => Some(name),
            Self::Translation(translation) => Some(&translation.head),
            Self::Ignored => None,
        }
    }

    /// Whether the column contains addresses.
    pub(super) fn is_uri(&self) -> bool {
        let Self::Property(name) = self else { return false };
        Property::shape_of(name) == Some(Shape::Uri)
    }

    pub fn parse(text: &str) -> Option<Self> {
        if let Some(name) = text.strip_prefix("json:") {
            let quoted = || serde_json::from_str(name).ok();
            return Some(Self::Json(if name.starts_with('"') { quoted()? } else { name.to_owned() }));
        }
        if evidence_part(text).is_some() {
            return Some(Self::Evidence(text.to_owned()));
        }
        let is_free = |name: &&str| !name.is_empty() && known(name).is_none() && Translation::of(name, known).is_none();
        if let Some(name) = text.strip_prefix("additional:").filter(is_free) {
            return Some(Self::Additional(name.to_owned()));
        }
        if let Some(attribute) = text.strip_prefix("attribute:") {
            return Self::attribute(attribute);
        }
        let property = known(text).map(Self::Property);
        property.or_else(|| Translation::of(text, known).map(Self::Translation))
    }

    /// Reads `NAME` or `NAME:TYPE`. The name can't contain a colon, because requests put one
    /// between an attribute and its value.
    fn attribute(text: &str) -> Option<Self> {
        let (name, kind) = match text.split_once(':') {
            Some((name, kind)) => (name, Some(AttributeType::ALL.into_iter().find(|of| of.as_str() == kind)?)),
            None => (text, None),
        };
        (!name.trim().is_empty() && known(name).is_none()).then(|| Self::Attribute(name.to_owned(), kind))
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Property(name) => f.write_str(name),
            Self::Json(name) => f.write_str(&json_head(name)),
            Self::Translation(translation) => f.write_str(&translation.head),
            Self::Evidence(head) => f.write_str(head),
            Self::Additional(name) => write!(f, "additional:{name}"),
            Self::Attribute(name, None) => write!(f, "attribute:{name}"),
            Self::Attribute(name, Some(kind)) => write!(f, "attribute:{name}:{}", kind.as_str()),
            Self::Ignored => f.write_str("not used"),
        }
    }
}

/// A property's text in another language.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Translation {
    pub(super) property: &'static str,
    pub(super) language: Language,
    /// The property and the language with a colon between them.
    head: String,
}

impl Translation {
    /// The translation that a header stands for: a property that `find` knows, a colon, and a
    /// language tag.
    pub(super) fn of(head: &str, find: impl Fn(&str) -> Option<&'static str>) -> Option<Self> {
        let (property, tag) = head.rsplit_once(':')?;
        let property = find(property.trim())
            .filter(|name| Property::of_software(name).is_some_and(|known| known.is_translated))?;
        let language = Language::parse(tag.trim()).filter(Language::is_known)?;
        let head = format!("{property}:{language}");
        Some(Self { property, language, head })
    }
}

/// The property with the evidence for other properties.
pub(super) const EVIDENCE: &str = "evidence";

/// The property and the member of its evidence that a header such as `evidence.pricing.source` names.
pub(super) fn evidence_part(head: &str) -> Option<(&str, &'static str)> {
    let (property, member) = head.strip_prefix(EVIDENCE)?.strip_prefix('.')?.rsplit_once('.')?;
    let member = MEMBERS.iter().find(|of| of.name == member).filter(|_| !property.is_empty())?;
    Some((property, member.name))
}

/// The header of a JSON column: `json:` and the property's name, as a JSON string if it couldn't be
/// read back otherwise.
pub(super) fn json_head(name: &str) -> String {
    let is_plain = !name.is_empty() && name.trim() == name && !name.starts_with('"');
    format!("json:{}", if is_plain { name.to_owned() } else { json_of(name) })
}

/// The record property with this name.
pub(super) fn known(name: &str) -> Option<&'static str> {
    Property::of_software(name).map(|known| known.name)
}
