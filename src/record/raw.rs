//! Serialises raw JSON as strings, for rows in scratch files.

use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};
use serde_json::value::RawValue;

use super::AdditionalProperty;

fn parse<E: serde::de::Error>(text: String) -> Result<Box<RawValue>, E> {
    RawValue::from_string(text).map_err(E::custom)
}

pub(super) fn serialize<S: Serializer>(value: &RawValue, serializer: S) -> Result<S::Ok, S::Error> {
    value.get().serialize(serializer)
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Box<RawValue>, D::Error> {
    parse(String::deserialize(deserializer)?)
}

/// Properties, each with a raw value.
pub(super) mod properties {
    use serde::{Deserialize as _, Deserializer, Serializer};

    use super::{AdditionalProperty, parse};

    pub(in crate::record) fn serialize<S: Serializer>(
        properties: &[AdditionalProperty],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(properties.iter().map(|(name, value)| (name, value.get())))
    }

    pub(in crate::record) fn deserialize<'de, D: Deserializer<'de>, P: FromIterator<AdditionalProperty>>(
        deserializer: D,
    ) -> Result<P, D::Error> {
        let properties = Vec::<(Box<str>, String)>::deserialize(deserializer)?;
        properties.into_iter().map(|(name, value)| Ok((name, parse(value)?))).collect()
    }
}
