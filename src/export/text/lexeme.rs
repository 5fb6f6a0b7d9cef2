//! Reads strings, numbers and words: all tokens except brackets, commas and colons.

use super::parser::{Parser, Stop};
use super::tape::{Kind, code_unit, is_high_surrogate, is_low_surrogate, unescape};
use crate::export::Code;
use crate::export::budget::{NUMBER_CHARS, TEXT_CHARS};

impl Parser<'_> {
    /// Reads a string, starting at its opening quote.
    pub(super) fn string(&mut self) -> Result<Kind, Stop> {
        let start = self.at;
        let mut kind = Kind::Plain;
        self.at += 1;
        loop {
            while self.peek().is_some_and(|byte| byte >= b' ' && !matches!(byte, b'"' | b'\\')) {
                self.at += 1;
            }
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    self.check_length(start, kind);
                    return Ok(kind);
                }
                Some(b'\\') => {
                    kind = Kind::Escaped;
                    self.escape(start)?;
                }
                Some(b'\n' | b'\r') => return Err(self.open_string(start)),
                Some(control) => {
                    let message = format!("a string contains the unescaped control character U+{control:04X}");
                    let help = match control {
                        b'\t' => r"write a tab as \t".to_owned(),
                        _ => format!(r"write it as \u{control:04x}, or remove it"),
                    };
                    self.report(Code::ControlCharacter, self.at..self.at + 1, message, &help);
                    self.at += 1;
                }
                None => return Err(self.truncated_string(start)),
            }
        }
    }

    /// Reads an escape, starting at its backslash.
    fn escape(&mut self, string: usize) -> Result<(), Stop> {
        let start = self.at;
        match self.bytes.get(start + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 2,
            Some(b'u') => self.unicode_escape(string)?,
            None => {
                self.at = self.bytes.len();
                return Err(self.truncated_string(string));
            }
            Some(b'\n' | b'\r') => return Err(self.open_string(string)),
            Some(_) => {
                let letter = self.text[start + 1..].chars().next().unwrap_or_default();
                self.at += 1 + letter.len_utf8();
                let message = format!("`\\{}` isn't a JSON escape", letter.escape_default());
                let help = r#"write a backslash itself as \\; JSON allows \" \\ \/ \b \f \n \r \t and \uXXXX"#;
                self.report(Code::InvalidEscape, start..self.at, message, help);
            }
        }
        Ok(())
    }

    fn unicode_escape(&mut self, string: usize) -> Result<(), Stop> {
        let start = self.at;
        let unit_at = |at: usize| self.text.get(at..).and_then(code_unit);
        let Some(unit) = unit_at(start) else {
            if self.bytes[start + 2..].len() < 4 && self.bytes[start + 2..].iter().all(u8::is_ascii_hexdigit) {
                self.at = self.bytes.len();
                return Err(self.truncated_string(string));
            }
            self.at += 2;
            let help = r"write four hexadecimal digits, such as \u00e9; write a backslash itself as \\";
            self.report(Code::InvalidEscape, start..self.at, r"`\u` without four hexadecimal digits", help);
            return Ok(());
        };
        let is_pair = is_high_surrogate(unit) && unit_at(start + 6).is_some_and(is_low_surrogate);
        self.at += if is_pair { 12 } else { 6 };
        if !is_pair && (is_high_surrogate(unit) || is_low_surrogate(unit)) {
            let message = format!("`{}` is half of a surrogate pair", &self.text[start..start + 6]);
            let help = "write the character itself, or both halves of the pair; the text was probably cut off in the middle of a character";
            self.report(Code::LoneSurrogate, start..start + 6, message, help);
        }
        Ok(())
    }

    fn check_length(&mut self, start: usize, kind: Kind) {
        let inner = &self.text[start + 1..self.at - 1];
        if inner.len() <= TEXT_CHARS {
            return;
        }
        let length = if kind == Kind::Escaped { unescape(inner).chars().count() } else { inner.chars().count() };
        if length > TEXT_CHARS {
            let message = format!("a string of {length} characters is too long; at most {TEXT_CHARS} are allowed");
            self.report(Code::TextTooLong, start..self.at, message, "shorten it, or put it elsewhere and link to it");
        }
    }

    /// Reports a number that other JSON readers can't represent.
    fn check_range(&mut self, start: usize) {
        let raw = &self.text[start..self.at];
        let may_be_large = raw.len() > f64::MAX_10_EXP.unsigned_abs() as usize || raw.contains(['e', 'E']);
        let message = if raw.len() > NUMBER_CHARS {
            format!("a number of {} characters is too long; at most {NUMBER_CHARS} are allowed", raw.len())
        } else if may_be_large && !raw.parse::<f64>().is_ok_and(f64::is_finite) {
            format!("the number `{raw}` doesn't fit in double precision")
        } else {
            return;
        };
        let help = "most JSON readers would change it: round it, or write it in double quotes";
        self.report(Code::NumberOutOfRange, start..self.at, message, help);
    }

    /// Reads a number or something that looks like one. Either way, reading continues after it.
    pub(super) fn number(&mut self) -> Result<Kind, Stop> {
        let start = self.at;
        let length = number_length(&self.bytes[start..]);
        let continues = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'+' | b'-' | b'_');
        let end = start + self.bytes[start..].iter().take_while(|byte| continues(byte)).count();
        if length == Some(end - start) {
            self.at = end;
            self.check_range(start);
            return Ok(Kind::Number);
        }
        if end == self.bytes.len() && !self.open.is_empty() {
            self.at = end;
            return Err(self.truncated());
        }
        self.at = end;
        let raw = &self.text[start..end];
        if raw.trim_start_matches(['-', '+']).starts_with(['I', 'N', 'i', 'n']) {
            self.report_literal(start);
        } else {
            let message = format!("`{raw}` isn't a JSON number");
            self.report(Code::InvalidNumber, start..end, message, number_help(raw));
        }
        Ok(Kind::Invalid)
    }

    /// Reads a word: `true`, `false`, `null`, or something that isn't a JSON value.
    pub(super) fn word(&mut self) -> Kind {
        let start = self.at;
        let continues = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$');
        self.at += self.bytes[start..].iter().take_while(|byte| continues(byte)).count();
        match &self.text[start..self.at] {
            "true" => Kind::True,
            "false" => Kind::False,
            "null" => Kind::Null,
            _ => {
                self.report_literal(start);
                Kind::Invalid
            }
        }
    }

    fn report_literal(&mut self, start: usize) {
        let word = &self.text[start..self.at];
        let help = match word.trim_start_matches(['-', '+']).to_ascii_lowercase().as_str() {
            "nan" | "inf" | "infinity" => "JSON has no such number: write null, or leave the property out",
            "none" | "nil" | "undefined" => "write null, or leave the property out",
            "true" => "write true, in lower case",
            "false" => "write false, in lower case",
            "null" => "write null, in lower case",
            _ => "if it is text, write it in double quotes; otherwise write true, false or null",
        };
        let message = format!("`{word}` isn't a JSON value");
        self.report(Code::InvalidLiteral, start..self.at, message, help);
    }
}

/// The length of the JSON number at the start, if there is one.
fn number_length(bytes: &[u8]) -> Option<usize> {
    let digits = |from: usize| bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut at = usize::from(bytes.first() == Some(&b'-'));
    at += match bytes.get(at)? {
        b'0' => 1,
        b'1'..=b'9' => digits(at),
        _ => return None,
    };
    if bytes.get(at) == Some(&b'.') {
        let fraction = digits(at + 1);
        if fraction == 0 {
            return None;
        }
        at += 1 + fraction;
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        at += 1 + usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
        let exponent = digits(at);
        if exponent == 0 {
            return None;
        }
        at += exponent;
    }
    Some(at)
}

fn number_help(raw: &str) -> &'static str {
    let unsigned = raw.strip_prefix('-').unwrap_or(raw);
    let after_zero = unsigned.strip_prefix('0').unwrap_or_default();
    if raw.starts_with('+') {
        "remove the plus sign"
    } else if unsigned.starts_with('.') {
        "write a digit before the point, such as 0.5"
    } else if after_zero.starts_with(['x', 'X', 'o', 'b']) {
        "write it in decimal digits"
    } else if after_zero.starts_with(|c: char| c.is_ascii_digit()) {
        "remove the leading zeros; if it is an identifier, write it in double quotes"
    } else if raw.ends_with('.') {
        "write a digit after the point, or remove the point"
    } else {
        "write a number like 12, -0.5 or 1.5e3; if it is text, write it in double quotes"
    }
}
