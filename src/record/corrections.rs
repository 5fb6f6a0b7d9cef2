//! Where readers can suggest corrections: an issue form, an editor, or a mail address.

use fluent_uri::Uri;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::URL_CHARS;
use crate::text::shorten::is_longer;

/// Everything but what's unreserved (RFC 3986, 2.3).
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// What a template's variables stand for, in the order of [`Corrections::url`]'s values.
pub const VARIABLES: [&str; 4] = ["{id}", "{name}", "{export}", "{url}"];

/// An https or mailto URI template (RFC 6570, level 1), whose variables come after the host or the
/// recipient.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Corrections(Box<str>);

impl Corrections {
    /// The template; otherwise, what's wrong with the text.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        if is_longer(text, URL_CHARS) {
            return Err("it's longer than 2000 characters");
        }
        let template = Self(text.into());
        let example = template.url(["a", "a", "a", "a"]);
        if example.contains(['{', '}']) {
            return Err("its variables can only be {id}, {name}, {export} and {url}");
        }
        let uri = Uri::parse(&*example).map_err(|_| "it isn't a URI")?;
        let fixed = text.split('{').next().unwrap_or_default();
        let has_variables = fixed.len() < text.len();
        match (uri.scheme().as_str(), uri.authority()) {
            ("https", Some(authority)) if authority.host().is_empty() || authority.has_userinfo() => {
                Err("it needs a host, without a user name")
            }
            ("https", Some(_)) if has_variables && !fixed["https://".len()..].contains(['/', '?', '#']) => {
                Err("its host can't contain a variable")
            }
            ("mailto", None) if !fixed.contains('@') || (has_variables && !fixed.contains('?')) => {
                Err("it needs a mail address, and variables only after its `?`")
            }
            ("https", Some(_)) | ("mailto", None) => Ok(template),
            _ => Err("it must begin with `https://` or `mailto:`"),
        }
    }

    /// The address for a record with this id, name, export's id, and website.
    pub fn url(&self, values: [&str; 4]) -> String {
        // Encoded values don't contain braces, so none is taken for a variable.
        let with = |url: String, (variable, value): (&str, &str)| {
            url.replace(variable, &utf8_percent_encode(value, ENCODED).to_string())
        };
        VARIABLES.into_iter().zip(values).fold(self.0.to_string(), with)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_encoded_and_never_taken_for_variables() {
        let template = Corrections::parse("https://a.example/new?title={name}&id={id}&in={export}&of={url}");
        let url = template.expect("a template").url(["{name}", "R&D \"é\"\r\n", "x#y", "https://b.example/?q=1"]);
        assert_eq!(
            url,
            "https://a.example/new?title=R%26D%20%22%C3%A9%22%0D%0A&id=%7Bname%7D&in=x%23y&of=https%3A%2F%2Fb.example%2F%3Fq%3D1"
        );
        let mail = Corrections::parse("mailto:a@b.example?subject={name}").expect("a template");
        assert_eq!(mail.url(["", "x&cc=c@d.example", "", ""]), "mailto:a@b.example?subject=x%26cc%3Dc%40d.example");
    }

    #[test]
    fn a_template_leads_to_a_fixed_host_or_recipient() {
        for right in ["https://a.example", "https://a.example/{id}", "https://a.example?id={id}", "mailto:a@b.example"]
        {
            assert!(Corrections::parse(right).is_ok(), "{right}");
        }
        let long = format!("https://a.example/{}", "a".repeat(URL_CHARS));
        for wrong in [
            "",
            "a.example/{id}",
            "http://a.example/{id}",
            "javascript:alert({id})",
            "https:a",
            "https:///{id}",
            "https://{id}",
            "https://{name}.a.example/",
            "https://a.example:{id}/",
            "https://me@a.example/{id}",
            "https://a.example/{vendor}",
            "https://a.example/{id",
            "https://a.example/ {id}",
            "mailto:{name}",
            "mailto:a@{name}?subject=b",
            "mailto:?to={name}",
            &long,
        ] {
            assert!(Corrections::parse(wrong).is_err(), "{wrong}");
        }
    }
}
