//! The second layer: the rules of the published JSON Schema, and nothing else.
//!
//! [`PUBLISHED`] and this code state the same rules twice: once for other tools, and once with
//! locations, reasons and fixes. A property test compares the two.

mod envelope;
mod license;
mod number;
mod record;
mod rule;

pub(super) use envelope::check;
pub(super) use number::{Count, count};

/// The JSON Schema of export documents: draft 2020-12, with `format` asserted.
pub(super) const PUBLISHED: &str = include_str!("../export.schema.json");

/// Whether a string is a URI (RFC 3986) with a scheme.
pub(super) fn is_uri(text: &str) -> bool {
    fluent_uri::Uri::parse(text).is_ok()
}
