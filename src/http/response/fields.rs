//! Selects product fields in lists.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::convert::identity;

use serde_json::value::RawValue;

use crate::catalogue::ObjectWriter;
use crate::catalogue::resource::SoftwareItem;
use crate::http::problem::ApiError;
use crate::service::parameter::value::OneOf;
use crate::service::parameter::{Parameter, Values};

/// The field that's always included, selected or not.
const ID: &str = SoftwareItem::FIELDS[0];

/// Selects product fields in lists.
pub(in crate::http) static FIELDS: Parameter<OneOf<&str>> = Parameter::new(
    "fields",
    "Include only these fields of each product, plus its `id`. All fields by default.",
    "name",
    OneOf { values: &SoftwareItem::FIELDS, name: identity, default: None },
)
.repeatable();

/// The fields that a request selects; empty means all.
#[derive(Debug, Clone)]
pub(in crate::http) struct Fields(Vec<&'static str>);

impl Fields {
    pub(in crate::http) fn read(values: &mut Values<'_>) -> Self {
        Self(values.many(&FIELDS))
    }

    /// A product as a JSON object with only the selected fields.
    pub(in crate::http) fn select<'i>(&self, item: &'i [u8]) -> Result<Cow<'i, [u8]>, ApiError> {
        if self.0.is_empty() {
            return Ok(Cow::Borrowed(item));
        }
        let values: BTreeMap<&str, &RawValue> = serde_json::from_slice(item).map_err(ApiError::internal)?;
        let mut selected = ObjectWriter::new(Vec::with_capacity(item.len()));
        for name in SoftwareItem::FIELDS.into_iter().filter(|name| *name == ID || self.0.contains(name)) {
            let Some(value) = values.get(name) else { continue };
            selected.json_member(name, value.get().as_bytes());
        }
        Ok(Cow::Owned(selected.finish()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selected_fields_keep_their_order_and_text() {
        let item = br#"{"id":"a","name":"A \"b\"","rating":4.50,"categories":[{"id":"c"}]}"#;
        let select = |fields: &[&'static str]| {
            let selected = Fields(fields.to_vec()).select(item).expect("JSON").into_owned();
            String::from_utf8(selected).expect("text")
        };
        assert_eq!(select(&[]).as_bytes(), item);
        assert_eq!(select(&["rating", "name"]), r#"{"id":"a","name":"A \"b\"","rating":4.50}"#);
        assert_eq!(select(&["categories"]), r#"{"id":"a","categories":[{"id":"c"}]}"#);
    }
}
