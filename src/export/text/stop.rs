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
