//! The first layer: is the file JSON (RFC 8259) in UTF-8, without a byte order mark, limited in
//! depth, and without duplicate keys? Produces a document with the location of every value.
//!
//! After a mistake that can be skipped (a comment, a trailing comma, an invalid escape), parsing
//! continues, so that one check shows as much as possible. Any other mistake is the file's last
//! finding.

mod lexeme;
mod locator;
mod parser;
mod stop;
mod tape;

pub(super) use locator::Locator;
pub(super) use tape::{Document, Kind, Value};

use super::Code;
use super::finding::{Fault, Faults};

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Parses a file. Returns a document if the text could be read to the end, even if there are
/// faults.
pub(super) fn parse(bytes: &[u8], max_depth: usize) -> (Option<Document<'_>>, Faults) {
    let mut faults = Faults::default();
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        let message = "the file is UTF-16, not UTF-8";
        faults.add(Fault::new(Code::InvalidUtf8, 0..2, "", message, "save it as UTF-8, without a byte order mark"));
        return (None, faults);
    }
    if let Some(fault) = stop::recognise(bytes) {
        faults.add(fault);
        return (None, faults);
    }
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            faults.add(invalid_utf8(bytes, error));
            return (None, faults);
        }
    };
    let start = if bytes.starts_with(BYTE_ORDER_MARK) {
        faults.add(Fault::new(
            Code::ByteOrderMark,
            0..BYTE_ORDER_MARK.len(),
            "",
            "the file begins with a byte order mark",
            "save it as UTF-8 without a byte order mark (\"UTF-8\", not \"UTF-8 with BOM\")",
        ));
        BYTE_ORDER_MARK.len()
    } else {
        0
    };
    if text[start..].trim_ascii().is_empty() {
        let help =
            "an export is a JSON object with `name`, `license` and `software`; if it isn't wanted, remove the file";
        faults.add(Fault::new(Code::EmptyFile, text.len()..text.len(), "", "the file is empty", help));
        return (None, faults);
    }
    let (nodes, found) = parser::Parser::new(text, start, max_depth).run();
    faults.append(found);
    (nodes.map(|nodes| Document { text, nodes }), faults)
}

/// Parses as much of a file as can be read, without reporting faults. Arrays and objects that are
/// still open at that point extend to the end of the file, so their text isn't reliable.
pub(super) fn parse_prefix(bytes: &[u8], max_depth: usize) -> Option<Document<'_>> {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default(),
    };
    let start = if bytes.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
    let nodes = parser::Parser::new(text, start, max_depth).run_to_stop(bytes.len());
    (!nodes.is_empty()).then_some(Document { text, nodes })
}

fn invalid_utf8(bytes: &[u8], error: std::str::Utf8Error) -> Fault {
    let at = error.valid_up_to();
    let end = error.error_len().map_or(bytes.len(), |length| at + length);
    let found = bytes[at..end].iter().map(|byte| format!("{byte:02X}")).collect::<Vec<_>>().join(" ");
    let (message, help) = if error.error_len().is_none() {
        (format!("the file ends inside a character (byte {found})"), "the file is cut off: export or copy it again")
    } else {
        (
            format!("byte {found} is not valid UTF-8"),
            "save the file as UTF-8; it may currently be in Windows-1252 or ISO 8859-1, or damaged",
        )
    };
    Fault::new(Code::InvalidUtf8, at..end, "", message, help)
}

#[cfg(test)]
mod tests;
