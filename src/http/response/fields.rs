//! Selects fields of the products in lists.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::value::RawValue;

use crate::http::problem::ApiError;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::http) struct Field(&'static str);

/// Included whether or not it's selected.
const ID: Field = Field("id");

const fn named(name: &'static str) -> (&'static str, Field) {
    (name, Field(name))
}

impl Field {
    /// All fields by name, in the order of
    /// [`SoftwareItem`](crate::catalogue::resource::SoftwareItem).
    pub(in crate::http) const NAMED: [(&'static str, Self); 12] = [
        named("id"),
        named("name"),
        named("tagline"),
        named("category"),
        named("categories"),
        named("rating"),
        named("review_count"),
        named("website"),
        named("vendor"),
        named("offering_type"),
        named("evidence_status"),
        named("evidence_checked_on"),
    ];
}

/// The fields that a request selects; empty means all.
#[derive(Debug, Clone)]
pub(in crate::http) struct Fields(pub(in crate::http) Vec<Field>);

impl Fields {
    /// Reduces a product, which is a JSON object, to the selected fields.
    pub(in crate::http) fn select<'i>(&self, item: &'i [u8]) -> Result<Cow<'i, [u8]>, ApiError> {
        if self.0.is_empty() {
            return Ok(Cow::Borrowed(item));
        }
        let values: BTreeMap<&str, &RawValue> = serde_json::from_slice(item).map_err(ApiError::internal)?;
        let mut json = Vec::with_capacity(item.len());
        for (name, field) in Field::NAMED.iter().filter(|(_, field)| *field == ID || self.0.contains(field)) {
            let Some(value) = values.get(name) else { continue };
            json.push(if json.is_empty() { b'{' } else { b',' });
            for part in ["\"", field.0, "\":", value.get()] {
                json.extend_from_slice(part.as_bytes());
            }
        }
        json.push(b'}');
        Ok(Cow::Owned(json))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selected_fields_keep_their_order_and_text() {
        let item = br#"{"id":"a","name":"A \"b\"","rating":4.50,"categories":[{"id":"c"}]}"#;
        let select = |fields: &[&str]| {
            let fields = Field::NAMED.iter().filter(|(name, _)| fields.contains(name)).map(|(_, field)| *field);
            let selected = Fields(fields.collect()).select(item).expect("JSON").into_owned();
            String::from_utf8(selected).expect("text")
        };
        assert_eq!(select(&[]).as_bytes(), item);
        assert_eq!(select(&["rating", "name"]), r#"{"id":"a","name":"A \"b\"","rating":4.50}"#);
        assert_eq!(select(&["categories"]), r#"{"id":"a","categories":[{"id":"c"}]}"#);
    }
}
