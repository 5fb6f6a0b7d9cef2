//! Mistakes after which reading can't continue, and their messages.

use super::parser::{Parser, Stop};
use super::tape::Kind;
use crate::export::Code;
use crate::export::finding::Fault;

impl Parser<'_> {
    fn stop(&mut self, code: Code, length: usize, message: impl Into<String>, help: &str) -> Stop {
        self.report(code, self.at..self.at + length, message, help);
        Stop
    }

    /// A byte's line number. Counts lines on demand, because each file needs this at most once.
    fn line(&self, at: usize) -> usize {
        1 + self.text[..at].matches('\n').count()
    }

    /// The current character and its length in bytes; `None` at the end of the file.
    fn character(&self) -> Option<(char, usize)> {
        self.text[self.at..].chars().next().map(|c| (c, c.len_utf8()))
    }

    pub(super) fn truncated(&mut self) -> Stop {
        self.at = self.bytes.len();
        let Some(open) = self.open.last() else {
            return self.stop(
                Code::Truncated,
                0,
                "the file ends before its value is complete",
                "export or copy the file again",
            );
        };
        let node = self.nodes[open.node as usize];
        let (what, bracket) = if node.kind == Kind::Object { ("object", '}') } else { ("array", ']') };
        let start = node.start as usize;
        let message = format!("the file ends inside the {what} opened on line {}", self.line(start));
        let help = format!("the file is cut off, or a `{bracket}` is missing: export or copy it again");
        let pointer = self.container_pointer();
        let fault = Fault::new(Code::Truncated, self.at..self.at, pointer.clone(), message, help);
        self.faults.add(fault.with_related(start..start + 1, pointer, format!("this {what} is never closed")));
        Stop
    }

    pub(super) fn truncated_string(&mut self, start: usize) -> Stop {
        let message = format!("the file ends inside the string opened on line {}", self.line(start));
        let help = "the file is cut off, or a closing quote is missing: export or copy it again";
        let pointer = self.pointer();
        let end = self.bytes.len();
        let fault = Fault::new(Code::Truncated, end..end, pointer.clone(), message, help);
        self.faults.add(fault.with_related(start..start + 1, pointer, "this string is never closed"));
        Stop
    }

    /// Stops at a string that isn't closed on its line.
    pub(super) fn open_string(&mut self, start: usize) -> Stop {
        let help = r"close it with a double quote; write a line break in a string as \n";
        self.report(Code::ControlCharacter, start..self.at, "this string isn't closed on its line", help);
        Stop
    }

    pub(super) fn open_comment(&mut self) -> Stop {
        self.stop(Code::Comment, 2, "this comment is never closed; JSON doesn't allow comments", "remove it")
    }

    pub(super) fn comment(&mut self, length: usize) {
        let end = self.bytes[self.at..self.at + length].iter().position(|byte| *byte == b'\n').unwrap_or(length);
        let help = "remove it; if readers should see it, put it into a property";
        self.report(Code::Comment, self.at..self.at + end, "JSON doesn't allow comments", help);
    }

    pub(super) fn too_deep(&mut self) -> Stop {
        let message = format!("arrays and objects are nested more than {} deep", self.max_depth);
        self.stop(Code::TooDeep, 1, message, "flatten the data; no export needs that much nesting")
    }

    pub(super) fn trailing_content(&mut self) -> Stop {
        let message = "something follows the end of the document";
        let help = "a file contains one JSON object: remove what follows, or merge it into the object";
        let length = self.character().map_or(0, |(_, length)| length);
        self.stop(Code::TrailingContent, length, message, help)
    }

    pub(super) fn no_value(&mut self) -> Stop {
        self.unexpected("a value", "write a string, number, object, array, true, false or null here")
    }

    pub(super) fn no_key(&mut self) -> Stop {
        match self.character() {
            Some((c, _)) if c.is_alphanumeric() || c == '_' || c == '$' => {
                let rest = &self.text[self.at..];
                let length = rest.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '$').unwrap_or(rest.len());
                let key = rest[..length.min(80)].chars().take(20).collect::<String>();
                let message = format!("the key `{key}` isn't in quotes");
                self.stop(Code::UnquotedKey, length, message, &format!("write \"{key}\""))
            }
            _ => self.unexpected("a key", "write a member of an object as \"key\": value"),
        }
    }

    pub(super) fn no_colon(&mut self) -> Stop {
        self.unexpected("a colon", "write a member of an object as \"key\": value")
    }

    /// Stops if an element or member is followed by neither a comma nor the end of its container.
    pub(super) fn no_comma(&mut self) -> Stop {
        let is_array = self.open.last().is_some_and(|open| self.nodes[open.node as usize].kind == Kind::Array);
        let (what, end) = if is_array { ("elements", ']') } else { ("members", '}') };
        match self.character() {
            Some(('"' | '{' | '[' | '-', length)) => self.missing_comma(what, length),
            Some((c, length)) if c.is_alphanumeric() => self.missing_comma(what, length),
            _ => self.unexpected(
                &format!("a comma or `{end}`"),
                "a bracket, quote or comma is missing, or there is one too many",
            ),
        }
    }

    fn missing_comma(&mut self, what: &str, length: usize) -> Stop {
        let message = format!("a comma is missing between two {what}");
        self.stop(
            Code::MissingComma,
            length,
            message,
            "write a comma before this, or a \\ before a quote inside the preceding string",
        )
    }

    fn unexpected(&mut self, wanted: &str, help: &str) -> Stop {
        let Some((c, length)) = self.character() else { return self.truncated() };
        match c {
            '\'' | '`' | '‘' | '’' | '“' | '”' | '„' | '«' | '»' => {
                let message = format!("`{c}` isn't a JSON quote");
                self.stop(Code::WrongQuotes, length, message, "write strings and keys in double quotes (\")")
            }
            '\u{feff}' => {
                let help = "remove it; two files were probably joined";
                self.stop(
                    Code::UnexpectedCharacter,
                    length,
                    "there is a byte order mark in the middle of the file",
                    help,
                )
            }
            _ if c.is_whitespace() => {
                let message = format!("U+{:04X} isn't JSON white space", u32::from(c));
                let help = "replace it with an ordinary space";
                self.stop(Code::UnexpectedCharacter, length, message, help)
            }
            _ => {
                let message = format!("expected {wanted}, found `{}`", c.escape_debug());
                self.stop(Code::UnexpectedCharacter, length, message, help)
            }
        }
    }
}

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
    use super::*;

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
