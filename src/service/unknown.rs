//! Finds the values in a filter that no product has, and the existing values nearest to them.

use crate::catalogue::resource::UnknownValue;
use crate::catalogue::{Catalogue, Columns, SoftwareFilter};
use crate::record::{AttributeType, KeyRange, slug};
use crate::service::parameter::definition::{CATEGORY, EXPORT, attribute_filter};
use crate::text::nearest::nearest_values;

/// The maximum number of values to report.
const MAX_REPORTED: usize = 4;

/// The values in a filter that no product has. Ranges aren't values. Without `columns`, attributes
/// aren't checked.
pub fn unknown_values(catalogue: &Catalogue, columns: Option<&Columns>, filter: &SoftwareFilter) -> Vec<UnknownValue> {
    let is_unknown = |value: &&String| catalogue.categories_named(value).is_empty();
    let categories = filter.categories.iter().filter(is_unknown).map(|value| {
        let known = catalogue.tables.categories.iter().map(|category| (&*category.id, &*category.id));
        UnknownValue::new(CATEGORY.name, value, nearest_values(&slug(value), known))
    });
    let is_unknown = |id: &&String| catalogue.export(id).is_none();
    let exports = filter.exports.iter().filter(is_unknown).map(|value| {
        let known = catalogue.tables.exports.iter().map(|export| (&*export.resource.id, &*export.resource.id));
        UnknownValue::new(EXPORT.name, value, nearest_values(value, known))
    });
    let attributes = filter.attributes.iter().filter_map(|condition| {
        let number = catalogue.tables.attributes.number(&condition.property)?;
        let kind = catalogue.tables.attributes.get(number).kind;
        let column = columns?.attribute(number);
        let key = kind.key(&condition.value)?;
        if !column.find(&KeyRange::one(&key)).is_empty() {
            return None;
        }
        let known = (0..).take(if kind == AttributeType::Text { column.len() } else { 0 });
        let nearest = nearest_values(&key, known.map(|value| (column.key(value), column.label(value))));
        let (parameter, value) = attribute_filter(&condition.property, &condition.value);
        let nearest = nearest.iter().map(|near| attribute_filter(&condition.property, near).1);
        Some(UnknownValue::new(parameter, &value, nearest.collect()))
    });
    categories.chain(exports).chain(attributes).take(MAX_REPORTED).collect()
}
