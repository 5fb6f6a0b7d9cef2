//! The rules for values of each shape, and the messages for breaking them.

use std::borrow::Cow;

use percent_encoding::{AsciiSet, CONTROLS, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::export::Code;
use crate::export::finding::{Fault, Faults};
use crate::export::near_miss::misspelled;
use crate::export::pointer::Path;
use crate::export::schema::is_uri;
use crate::export::text::{Kind, Value};
use crate::record::{CalendarDate, Property, Shape};
use crate::text::shorten::is_longer;

impl Faults {
    /// Reports a value.
    pub(in crate::export) fn report(
        &mut self,
        code: Code,
        value: Value<'_>,
        path: Path<'_>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.add(Fault::new(code, value.head(), path, message, help));
    }

    pub(super) fn wrong_type(&mut self, value: Value<'_>, path: Path<'_>, wanted: &str, help: &str) {
        // A word that isn't a JSON value has already been reported.
        if value.kind() != Kind::Invalid {
            let message = format!("{} must be {wanted}, but is {}", subject(path), value.describe());
            self.report(Code::WrongType, value, path, message, help);
        }
    }

    pub(super) fn missing(
        &mut self,
        object: Value<'_>,
        path: Path<'_>,
        known: &'static Property,
        because: &str,
        help: &str,
    ) {
        let key = known.name;
        let message = format!("the required property `{key}` is missing{because}");
        let help = match misspelled(object, known) {
            Some(other) => format!("`{other}` is probably meant to be `{key}`: rename it"),
            None => help.to_owned(),
        };
        self.report(Code::MissingProperty, object, path, message, help);
    }

    /// Checks a value's shape. Shapes that a schema doesn't restrict are always right.
    pub(super) fn shape(&mut self, shape: Shape, value: Value<'_>, path: Path<'_>, help: &str) {
        match shape {
            Shape::Text => _ = self.string(value, path, help),
            Shape::Name => self.non_empty(value, path, help),
            Shape::Uri => self.uri(value, path, help),
            Shape::Date => self.date(value, path, help),
            Shape::OneOf(allowed) => self.one_of(value, path, allowed),
            Shape::Number if matches!(value.kind(), Kind::Number | Kind::Null) => {}
            Shape::Number => self.wrong_type(value, path, "a number or null", help),
            Shape::Count => self.whole_number(value, path, help),
            Shape::Sources => self.sources(value, path, help),
            Shape::Entries(_) if value.kind() != Kind::Array => self.wrong_type(value, path, "an array", help),
            Shape::Label
            | Shape::IdPrefix
            | Shape::Texts
            | Shape::Boolean
            | Shape::Source
            | Shape::Evidence
            | Shape::Translations
            | Shape::Entries(_) => {}
        }
    }

    /// Checks the length of an id or an address, which lists can't shorten.
    pub(super) fn length(&mut self, known: &Property, value: Value<'_>, path: Path<'_>) {
        let Some(most) = known.max_chars else { return };
        let (is_uri_shaped, text) = (known.shape == Shape::Uri, value.as_str().unwrap_or_default());
        if !is_longer(&text, most) || is_uri_shaped && !is_uri(&text) {
            return;
        }
        let (code, what, help) = if is_uri_shaped {
            (Code::UrlTooLong, "URL", "shorten it, for example the part after `?`")
        } else {
            (Code::IdTooLong, "id", "shorten it")
        };
        self.report(code, value, path, format!("the {what} is too long; at most {most} characters are allowed"), help);
    }

    fn string<'d>(&mut self, value: Value<'d>, path: Path<'_>, help: &str) -> Option<Cow<'d, str>> {
        let text = value.as_str();
        if text.is_none() {
            self.wrong_type(value, path, "a string", help);
        }
        text
    }

    fn non_empty(&mut self, value: Value<'_>, path: Path<'_>, help: &str) {
        if self.string(value, path, help).is_some_and(|text| text.is_empty()) {
            self.report(Code::EmptyText, value, path, format!("{} must not be empty", subject(path)), help);
        }
    }

    pub(super) fn uri(&mut self, value: Value<'_>, path: Path<'_>, help: &str) {
        let Some(text) = self.string(value, path, help) else { return };
        if !is_uri(&text) {
            let (why, other_help) = why_no_uri(&text);
            let help = other_help.unwrap_or_else(|| help.to_owned());
            self.report(Code::InvalidUri, value, path, format!("{} is not a URI: {why}", subject(path)), help);
        }
    }

    /// Requires a URI. `help` is shown whatever is wrong with it.
    pub(super) fn uri_or(&mut self, value: Value<'_>, path: Path<'_>, help: &str) {
        let Some(text) = self.string(value, path, help) else { return };
        if !is_uri(&text) {
            let message = format!("{} is not a URI: {}", subject(path), why_no_uri(&text).0);
            self.report(Code::InvalidUri, value, path, message, help);
        }
    }

    fn one_of(&mut self, value: Value<'_>, path: Path<'_>, allowed: &[&str]) {
        let list = allowed.iter().map(|value| format!("\"{value}\"")).collect::<Vec<_>>().join(" or ");
        let Some(text) = self.string(value, path, &format!("write {list}")) else { return };
        if !allowed.contains(&&*text) {
            let distance = |value: &str| strsim::osa_distance(value, &text.to_lowercase());
            // A megabyte-long string can't resemble an allowed value, and comparing the two would
            // take minutes.
            let near = allowed.iter().filter(|value| text.len() <= 2 * value.len()).min_by_key(|value| distance(value));
            let near = near.filter(|value| distance(value) <= value.len() / 3);
            let help = near.map_or_else(|| format!("write {list}"), |near| format!("did you mean \"{near}\"?"));
            let message = format!("{} must be {list}", subject(path));
            self.report(Code::UnknownValue, value, path, message, help);
        }
    }

    fn date(&mut self, value: Value<'_>, path: Path<'_>, help: &str) {
        let Some(text) = self.string(value, path, help) else { return };
        if !CalendarDate::has_form(&text) {
            let message = format!("{} isn't written as YYYY-MM-DD", subject(path));
            self.report(Code::InvalidDateForm, value, path, message, help);
        }
    }

    /// A count must be a whole number of 0 or more, or null.
    fn whole_number(&mut self, value: Value<'_>, path: Path<'_>, help: &str) {
        match value.kind() {
            Kind::Null => {}
            Kind::Number => match count(value.raw()) {
                Count::Fits(_) | Count::TooLarge => {}
                Count::Negative => {
                    let message = format!("{} must not be below 0", subject(path));
                    self.report(Code::BelowMinimum, value, path, message, help);
                }
                Count::Fractional => {
                    let message = format!("{} must be a whole number", subject(path));
                    self.report(Code::WrongType, value, path, message, help);
                }
            },
            _ => self.wrong_type(value, path, "a whole number or null", help),
        }
    }

    fn sources(&mut self, list: Value<'_>, path: Path<'_>, help: &str) {
        if list.kind() != Kind::Array {
            return self.wrong_type(list, path, "an array", help);
        }
        if list.elements().next().is_none() {
            let help = "name at least one source, or leave the property out if the evidence hasn't been reviewed";
            self.report(Code::NoSources, list, path, "`sources` must not be empty", help);
        }
        for (index, source) in list.elements().enumerate() {
            self.source(source, path.element(index));
        }
    }

    fn source(&mut self, source: Value<'_>, path: Path<'_>) {
        let help = "write the source like [\"Product page\", \"https://example.org/\"]";
        if source.kind() != Kind::Array {
            return self.wrong_type(source, path, "an array of a label and an address", help);
        }
        let length = source.elements().count();
        if length != 2 {
            let message = format!("a source is a pair of a label and an address, but this array has length {length}");
            self.report(Code::SourceNotAPair, source, path, message, help);
        }
        let mut entries = source.elements();
        if let Some(label) = entries.next() {
            self.string(label, path.element(0), help);
        }
        if let Some(address) = entries.next() {
            self.uri(address, path.element(1), help);
        }
    }
}

/// How a message refers to the value at a path.
pub(super) fn subject(path: Path<'_>) -> String {
    match path {
        Path::Root => "an export".to_owned(),
        Path::Member(_, key) => format!("`{key}`"),
        Path::Element(Path::Member(_, "software"), _) => "a record".to_owned(),
        Path::Element(Path::Member(_, "sources"), _) => "a source".to_owned(),
        Path::Element(_, 0) => "the label of a source".to_owned(),
        Path::Element(..) => "the address of a source".to_owned(),
    }
}

/// The likely reason why a string isn't a URI, and more specific help, if any.
fn why_no_uri(text: &str) -> (String, Option<String>) {
    if text.is_empty() {
        return ("it is empty".to_owned(), None);
    }
    if text.trim() != text {
        return ("it begins or ends with white space".to_owned(), Some("remove the white space".to_owned()));
    }
    let scheme = text.split_once(':').map(|(scheme, _)| scheme);
    if !scheme.is_some_and(is_scheme) {
        let host = text.trim_start_matches('/');
        let is_host = host.split('/').next().is_some_and(|host| host.contains('.') && is_scheme(host));
        let url = if is_host { Some(format!("https://{host}")) } else { ascii_url(&format!("https://{host}")) };
        let help = url.map(|url| format!("write \"{url}\""));
        return ("it has no scheme, such as https:".to_owned(), help);
    }
    let is_allowed =
        |c: &char| c.is_ascii_graphic() && !matches!(c, '"' | '<' | '>' | '\\' | '^' | '`' | '{' | '|' | '}');
    if let Some(c) = text.chars().find(|c| !is_allowed(c)) {
        if let Some(url) = ascii_url(text) {
            let help = format!("write the host in Punycode: \"{url}\"");
            return (format!("its host contains `{}`", c.escape_debug()), Some(help));
        }
        let encoded = utf8_percent_encode(c.encode_utf8(&mut [0; 4]), NON_ALPHANUMERIC).to_string();
        return (format!("it contains `{}`", c.escape_debug()), Some(format!("write `{encoded}` instead")));
    }
    let help = "check the host, the port, and that every `%` is followed by two hexadecimal digits";
    ("it is malformed".to_owned(), Some(help.to_owned()))
}

/// The URL with its internationalised host in ASCII (Punycode, UTS 46) and all other invalid
/// characters percent-encoded. `None` if the host is already ASCII or isn't a domain name.
pub fn ascii_url(text: &str) -> Option<String> {
    // A domain name has up to 253 characters of up to 4 bytes. Encoding takes quadratic time.
    const HOST_BYTES: usize = 1_012;
    const OTHERS: &AsciiSet =
        &CONTROLS.add(b' ').add(b'"').add(b'<').add(b'>').add(b'\\').add(b'^').add(b'`').add(b'{');
    const NOT_ALLOWED: &AsciiSet = &OTHERS.add(b'|').add(b'}');

    let (scheme, rest) = text.split_once("://")?;
    let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let (user, address) = authority.split_at(authority.rfind('@').map_or(0, |at| at + 1));
    let (host, port) = address.split_at(address.find(':').unwrap_or(address.len()));
    if host.is_ascii() || !host.contains('.') || host.len() > HOST_BYTES {
        return None;
    }
    let host = idna::domain_to_ascii_cow(host.as_bytes(), idna::AsciiDenyList::URL).ok()?;
    let url = format!("{scheme}://{user}{host}{port}{}", utf8_percent_encode(path, NOT_ALLOWED));
    is_uri(&url).then_some(url)
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::export) enum Count {
    Fits(u64),
    /// A whole number that doesn't fit into 64 bits.
    TooLarge,
    Negative,
    Fractional,
}

/// Reads a JSON number as a count. `1.0` and `1e2` are whole numbers. Like other JSON Schema
/// implementations, it reads numbers with a fraction or exponent in double precision.
pub(in crate::export) fn count(text: &str) -> Count {
    if let Ok(whole) = text.parse::<u64>() {
        return Count::Fits(whole);
    }
    let Ok(value) = text.parse::<f64>() else { return Count::Fractional };
    if value.is_finite() && value.fract() != 0.0 {
        Count::Fractional
    } else if value < 0.0 {
        Count::Negative
    } else if value == 0.0 {
        Count::Fits(0)
    } else {
        // The number has no fraction, so this prints its exact value.
        format!("{value:.0}").parse().map_or(Count::TooLarge, Count::Fits)
    }
}

#[cfg(test)]
mod tests {
    use super::{Count, count};

    #[test]
    fn a_count_may_be_written_in_several_ways() {
        for (text, expected) in [
            ("0", Count::Fits(0)),
            ("-0", Count::Fits(0)),
            ("-0.0", Count::Fits(0)),
            ("1.0", Count::Fits(1)),
            ("1e2", Count::Fits(100)),
            ("12.5E1", Count::Fits(125)),
            ("18446744073709551615", Count::Fits(u64::MAX)),
            ("18446744073709551616", Count::TooLarge),
            ("1e400", Count::TooLarge),
            ("-1", Count::Negative),
            ("-1e400", Count::Negative),
            ("0.5", Count::Fractional),
            ("-1.5", Count::Fractional),
        ] {
            assert_eq!(count(text), expected, "{text}");
        }
    }
}
