//! URLs of pages and filtered product lists, and web addresses that records link to.

use std::borrow::Cow;

use fluent_uri::Uri;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::http::extract::query::RawQuery;
use crate::text::printable::is_invisible;

/// The characters to encode in a segment. Dots are included, because `.` and `..` would change the
/// path.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'~');

/// Encodes text as one path segment.
pub(super) fn segment(text: &str) -> impl std::fmt::Display + '_ {
    utf8_percent_encode(text, ENCODED)
}

pub(super) fn of_software(base: &str, id: &str) -> String {
    format!("{base}/software/{}", segment(id))
}

/// The page with the alternatives to something that may be no record, by the slug of its name.
pub(super) fn of_alternatives(base: &str, id: &str) -> String {
    format!("{base}/alternatives/{}", segment(id))
}

pub(super) fn of_category(base: &str, id: &str) -> String {
    format!("{base}/categories/{}", segment(id))
}

pub(super) fn of_search(base: &str, name: &str, value: &str) -> String {
    Address::new(format!("{base}/")).with(name, value)
}

/// The glossary page that shows a term, reached by searching for it: a large glossary has several
/// pages.
pub(super) fn of_term(base: &str, term: &str) -> String {
    Address::new(format!("{base}/glossary")).with("q", term)
}

/// The URL of a full record as JSON. `kind` is `software`, `categories` or `glossary`.
pub(super) fn of_record(base: &str, kind: &str, id: &str) -> String {
    format!("{base}/records/{kind}/{}", segment(id))
}

/// A product list's URL: a path, and the parameters that have a value.
#[derive(Debug, Clone)]
pub(super) struct Address {
    path: String,
    pairs: Vec<(&'static str, String)>,
}

/// The parameter for the page number, counted from 1.
pub(super) const PAGE: &str = "page";

/// The parameter for a product chosen for comparison.
pub(super) const COMPARED: &str = "id";

impl Address {
    pub(super) fn new(path: String) -> Self {
        Self { path, pairs: Vec::new() }
    }

    /// Reads the parameters with these names. Others, such as tracking parameters, are dropped, and
    /// so are the empty ones that forms send.
    pub(super) fn read(path: String, query: &RawQuery, names: &[&'static str]) -> Self {
        let pairs = query.pairs().filter(|(_, value)| !value.is_empty());
        let known = pairs.filter_map(|(name, value)| {
            let name = names.iter().find(|known| known.as_bytes() == name)?;
            Some((*name, String::from_utf8_lossy(value).into_owned()))
        });
        Self { path, pairs: known.collect() }
    }

    pub(super) fn path(&self) -> &str {
        &self.path
    }

    pub(super) fn pairs(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.pairs.iter().map(|(name, value)| (*name, value.as_str()))
    }

    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.pairs().find(|(of, _)| *of == name).map(|(_, value)| value)
    }

    /// Removes a parameter.
    pub(super) fn take(&mut self, name: &str) -> Option<String> {
        let at = self.pairs.iter().position(|(of, _)| *of == name)?;
        Some(self.pairs.remove(at).1)
    }

    /// The same list without the parameters that `is_left_out` selects.
    pub(super) fn without(&self, is_left_out: impl Fn(&str) -> bool) -> Self {
        let pairs = self.pairs.iter().filter(|(name, _)| !is_left_out(name)).cloned().collect();
        Self { path: self.path.clone(), pairs }
    }

    /// The page number, counted from 1.
    pub(super) fn page(&self) -> u64 {
        self.get(PAGE).and_then(|page| page.parse().ok()).unwrap_or(1).max(1)
    }

    /// The URL with only the pairs that `keep` selects. It leads to the first page, because it's a
    /// different list.
    pub(super) fn keeping(&self, keep: impl Fn(usize, &str) -> bool) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        for (at, (name, value)) in self.pairs().enumerate() {
            if name != PAGE && keep(at, name) {
                query.append_pair(name, value);
            }
        }
        self.joined(&query.finish())
    }

    /// The URL with a parameter set to a single value.
    pub(super) fn with(&self, name: &str, value: &str) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.extend_pairs(self.pairs().filter(|(of, _)| *of != name && *of != PAGE)).append_pair(name, value);
        self.joined(&query.finish())
    }

    /// The URL with more parameters.
    pub(super) fn adding<'p>(&self, pairs: impl Iterator<Item = (&'p str, String)>) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.extend_pairs(self.pairs().filter(|(of, _)| *of != PAGE)).extend_pairs(pairs);
        self.joined(&query.finish())
    }

    /// The URL with a parameter's value replaced, or without it if it's replaced by nothing.
    pub(super) fn replacing(&self, name: &str, value: &str, by: &str) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        let pairs = self.pairs().filter(|(of, _)| *of != PAGE);
        let pairs = pairs.map(|(of, old)| (of, if (of, old) == (name, value) { by } else { old }));
        query.extend_pairs(pairs.filter(|(_, value)| !value.is_empty()));
        self.joined(&query.finish())
    }

    pub(super) fn at_page(&self, page: u64) -> String {
        if page > 1 { self.with(PAGE, &page.to_string()) } else { self.keeping(|_, _| true) }
    }

    fn joined(&self, query: &str) -> String {
        match query {
            // Without parameters, the URL would be the home page instead of a list.
            "" if self.path.ends_with('/') => format!("{}?q=", self.path),
            "" => self.path.clone(),
            query => format!("{}?{query}", self.path),
        }
    }
}

/// A URL that a record links to.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct WebAddress<'t> {
    pub(super) url: &'t str,
    pub(super) host: &'t str,
}

/// Parses a web URL (`http` or `https`). Anything else is shown as text.
pub(super) fn web_address(text: &str) -> Option<WebAddress<'_>> {
    let uri = Uri::parse(text).ok()?;
    let is_web = ["http", "https"].iter().any(|scheme| uri.scheme().as_str().eq_ignore_ascii_case(scheme));
    let host = uri.authority().map(|authority| authority.host()).filter(|host| !host.is_empty());
    // `host` borrows from the parsed URI, so find it again in the text.
    let host = host.filter(|_| is_web)?;
    let at = text.find(host)?;
    Some(WebAddress { url: text, host: &text[at..at + host.len()] })
}

/// Text for use without markup, as in a window title: one line without invisible characters.
pub(super) fn single_line(text: &str) -> String {
    let visible =
        |c: char| if c.is_whitespace() { Some(' ') } else { (!is_invisible(c) && !c.is_control()).then_some(c) };
    let line: String = text.chars().filter_map(visible).collect();
    let words: Vec<_> = line.split_whitespace().collect();
    words.join(" ")
}

/// The first visible character of a name, which stands in for the product's picture.
pub(super) fn initial(name: &str) -> Cow<'static, str> {
    let first = name.chars().find(|c| c.is_alphanumeric());
    first.map_or(Cow::Borrowed("·"), |first| first.to_uppercase().collect::<String>().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 4] = ["q", "category", "sort", "page"];

    fn address(path: &str, query: &str) -> Address {
        Address::read(path.to_owned(), &RawQuery::parse(query), &NAMES)
    }

    #[test]
    fn url_keeps_known_parameters_that_have_a_value() {
        let address = address("/", "category=b&q=a+%26+b&utm_source=x&sort=&category=a&page=3");
        assert_eq!(address.page(), 3);
        assert_eq!(address.keeping(|_, _| true), "/?category=b&q=a+%26+b&category=a");
        assert_eq!(address.keeping(|at, _| at != 0), "/?q=a+%26+b&category=a");
        assert_eq!(address.with("sort", "name"), "/?category=b&q=a+%26+b&category=a&sort=name");
        assert_eq!(address.at_page(2), "/?category=b&q=a+%26+b&category=a&page=2");
    }

    #[test]
    fn list_of_all_products_is_not_the_home_page() {
        assert_eq!(address("/", "q=&category=").keeping(|_, _| true), "/?q=");
        assert_eq!(address("/categories/a", "q=").at_page(1), "/categories/a");
        for page in ["0", "-1", "x", "1e3", ""] {
            assert_eq!(address("/", &format!("page={page}")).page(), 1, "{page}");
        }
    }

    #[test]
    fn only_web_urls_are_links() {
        let host = |text| web_address(text).map(|address| address.host);
        assert_eq!(host("https://a.example/path?x=1#y"), Some("a.example"));
        assert_eq!(host("HTTP://A.example:8080"), Some("A.example"));
        for other in [
            "javascript:alert(1)",
            "data:text/html,x",
            "//a.example/",
            "/a",
            "https://",
            "https:a",
            " https://a.example",
            "https://a.example/\"><b>",
            "urn:isbn:0",
            "",
        ] {
            assert_eq!(host(other), None, "{other}");
        }
    }

    #[test]
    fn window_title_is_one_line_without_control_characters() {
        assert_eq!(single_line("a\u{202e}b\n c\u{0}\t d"), "ab c d");
        assert_eq!((initial("«ätna»"), initial("—")), ("Ä".into(), "·".into()));
    }
}
