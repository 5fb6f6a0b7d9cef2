//! The second layer: the rules of the published JSON Schema, and nothing else.
//!
//! [`PUBLISHED`] and the code here say the same thing twice, once for other tools and once with places, reasons and
//! help; a property test holds the two against each other.

mod envelope;
mod license;
mod number;
mod record;
mod rule;

pub(super) use envelope::check;
pub(super) use number::{Count, count};

/// The JSON Schema of export documents: draft 2020-12, `format` to be asserted.
pub(super) const PUBLISHED: &str = include_str!("../export.schema.json");

/// Whether a text is of the form YYYY-MM-DD; the day need not exist.
pub(super) fn is_date_form(text: &str) -> bool {
    let is_right = |(at, byte): (usize, u8)| if matches!(at, 4 | 7) { byte == b'-' } else { byte.is_ascii_digit() };
    text.len() == 10 && text.bytes().enumerate().all(is_right)
}

/// Whether a text is a URI (RFC 3986), with a scheme.
pub(super) fn is_uri(text: &str) -> bool {
    fluent_uri::Uri::parse(text).is_ok()
}
