//! Reads the attributes that an export declares.

use super::{Entry, Reader};
use crate::export::SectionKind;
use crate::export::budget::{LABEL_CHARS, PROPERTY_CHARS};
use crate::export::near_miss::NearMiss;
use crate::export::pointer::Path;
use crate::export::text::{Kind, Value};
use crate::record::{ATTRIBUTE, Attribute, AttributeType, Language, Translations};
use crate::text::shorten::is_longer;

impl Reader {
    /// Reads an export's attributes. `language` is the export's language; `None` if that's English.
    pub(super) fn attributes(&mut self, root: Value<'_>, language: Option<&Language>) -> Vec<Entry<Attribute>> {
        let mut known = NearMiss::new(&ATTRIBUTE);
        let parent = Path::Root.member(SectionKind::Attributes.key());
        let mut attributes = Vec::new();
        for (index, entry) in self.optional_section(root, SectionKind::Attributes) {
            let path = parent.element(index);
            self.near_misses(&mut known, entry, path);
            let Some((property, key)) = self.required(entry, path, "property", "an attribute") else { continue };
            let Some((label, _)) = self.required(entry, path, "label", "an attribute") else { continue };
            match attribute(entry, property, label) {
                Ok(value) => {
                    let translations = self.entry_translations(entry, path, &ATTRIBUTE);
                    let value = Attribute { language: language.cloned(), translations, ..value };
                    attributes.push(Entry { index, key: key.span(), value });
                }
                Err(why) => self.left_out(entry, path, why),
            }
        }
        attributes
    }
}

fn attribute(entry: Value<'_>, property: Box<str>, label: Box<str>) -> Result<Attribute, &'static str> {
    let given = |key: &str| entry.get(key).filter(|value| value.kind() != Kind::Null);
    // A request separates an attribute from its value with a colon.
    if property.contains(':') || is_longer(&property, PROPERTY_CHARS) {
        return Err("an attribute's `property` can have at most 100 characters and can't contain a colon");
    }
    if is_longer(&label, LABEL_CHARS) {
        return Err("an attribute's `label` can have at most 500 characters");
    }
    let kind = match given("type") {
        Some(value) => AttributeType::ALL.into_iter().find(|kind| value.is_text(kind.as_str())),
        None => Some(AttributeType::Text),
    };
    let kind = kind.ok_or("an attribute's `type` must be `text`, `number`, `boolean` or `date`")?;
    let unit = match given("unit") {
        Some(value) => Some(
            value
                .as_str()
                .filter(|unit| !is_longer(unit, LABEL_CHARS))
                .ok_or("an attribute's `unit` must be a string of at most 500 characters")?,
        ),
        None => None,
    };
    let flag = |key: &str, default: bool| match given(key).map(|value| value.kind()) {
        None => Ok(default),
        Some(Kind::True) => Ok(true),
        Some(Kind::False) => Ok(false),
        Some(_) => Err("`searchable` and `hidden` must be true or false"),
    };
    let (searchable, hidden) = (flag("searchable", true)?, flag("hidden", false)?);
    let (unit, translations) = (unit.map(Into::into), Translations::default());
    Ok(Attribute { property, label, kind, unit, searchable, hidden, language: None, translations })
}
