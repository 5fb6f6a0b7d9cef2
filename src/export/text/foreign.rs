//! Recognises files in other formats that are named like an export, by their first bytes.

use crate::export::Code;
use crate::export::finding::Fault;

/// Number of bytes examined.
const LOOKED_AT: usize = 4096;

const IMPORT: &str = "turn it into an export: `software-directory import FILE`";

/// Returns a finding that names the file's format, if it's a known one other than JSON.
pub(super) fn recognise(bytes: &[u8]) -> Option<Fault> {
    let (what, help) = binary(bytes).or_else(|| text(bytes))?;
    let message = format!("the file is {what}, not JSON");
    Some(Fault::new(Code::NotJson, 0..0, "", message, help))
}

fn binary(bytes: &[u8]) -> Option<(&'static str, &'static str)> {
    let head = &bytes[..bytes.len().min(LOOKED_AT)];
    let is_workbook =
        || memchr::memmem::find(head, b"xl/").is_some() || memchr::memmem::find(head, b"[Content_Types]").is_some();
    let unpack = "unpack it, and put the JSON file in its place";
    match head {
        [b'P', b'K', 3, 4, ..] if is_workbook() => Some(("an Office document, such as an Excel workbook", IMPORT)),
        [b'P', b'K', 3 | 5, 4 | 6, ..] => Some(("a ZIP archive", unpack)),
        [0x1f, 0x8b, ..] => Some(("compressed with gzip", unpack)),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(("compressed with Zstandard", unpack)),
        [b'%', b'P', b'D', b'F', ..] => Some(("a PDF document", "export the data itself, as JSON")),
        _ => None,
    }
}

fn text(bytes: &[u8]) -> Option<(&'static str, &'static str)> {
    let head = bytes[..bytes.len().min(LOOKED_AT)].trim_ascii_start();
    // Returns early, because every record is also parsed on its own and begins with a brace.
    if head.starts_with(b"{") {
        return None;
    }
    let starts = |prefix: &[u8]| head.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix));
    if starts(b"<!doctype html") || starts(b"<html") {
        return Some(("an HTML page", "a server probably returned an error page: download the file again"));
    }
    if starts(b"<?xml") {
        return Some(("an XML document", "convert its records to an export, a JSON object"));
    }
    if starts(b"<<<<<<< ") {
        return Some(("the unfinished result of a merge", "resolve the conflict, and remove the conflict markers"));
    }
    if starts(b"---\n") || starts(b"---\r\n") {
        return Some(("a YAML document", "convert it to JSON"));
    }
    let line = head.split(|byte| matches!(byte, b'\n' | b'\r')).next().unwrap_or_default();
    let columns = line.split(|byte| matches!(byte, b',' | b';' | b'\t')).map(<[u8]>::trim_ascii);
    let is_title = |column: &[u8]| {
        let column = column.strip_prefix(b"\"").and_then(|column| column.strip_suffix(b"\"")).unwrap_or(column);
        column.first().is_some_and(u8::is_ascii_alphabetic)
            && column.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b' '))
    };
    let columns: Vec<_> = columns.collect();
    // A single quoted string is JSON; `"a","b"` isn't.
    (columns.len() > 1 && columns.into_iter().all(is_title)).then_some(("a table (CSV)", IMPORT))
}

#[cfg(test)]
mod tests {
    use super::recognise;

    #[test]
    fn other_formats_are_named() {
        for (bytes, what) in [
            (
                &b"PK\x03\x04\x14\0[Content_Types].xml"[..],
                "the file is an Office document, such as an Excel workbook, not JSON",
            ),
            (b"PK\x03\x04\x14\0data.json", "the file is a ZIP archive, not JSON"),
            (b"\x1f\x8b\x08\0", "the file is compressed with gzip, not JSON"),
            (b"\n<!DOCTYPE html><p>", "the file is an HTML page, not JSON"),
            (b"<?xml version=\"1.0\"?>", "the file is an XML document, not JSON"),
            (b"<<<<<<< HEAD\n{}", "the file is the unfinished result of a merge, not JSON"),
            (b"---\nname: x\n", "the file is a YAML document, not JSON"),
            (b"id,name,url\na,A,https://a.example/\n", "the file is a table (CSV), not JSON"),
            (b"\"id\";\"name\"\r\n", "the file is a table (CSV), not JSON"),
        ] {
            assert_eq!(recognise(bytes).map(|fault| fault.message).as_deref(), Some(what));
        }
    }

    #[test]
    fn text_that_is_nearly_json_is_left_to_the_parser() {
        let texts = [
            "{\"id\": 1, \"name\": 2}",
            "[1, 2]",
            "\"a\"",
            "{a: 1, b: 2}",
            "// note, with comma\n{}",
            "null",
            "name",
            "- 1",
            "",
        ];
        for text in texts {
            assert_eq!(recognise(text.as_bytes()), None, "{text}");
        }
    }
}
