//! URLs of pages and filtered product lists, and web addresses that records link to.

use std::borrow::Cow;
use std::fmt;

use fluent_uri::Uri;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use crate::http::extract::query::RawQuery;
use crate::text::printable::is_invisible;

/// The characters to encode in a segment. Dots are included, because `.` and `..` would change the
/// path.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'~');

/// Encodes text as one path segment.
pub(in crate::http) fn segment(text: &str) -> impl std::fmt::Display + '_ {
    utf8_percent_encode(text, ENCODED)
}

/// The characters to encode in a file's name. Upper-case letters are included, so that no two names
/// are the same on a file system that ignores case, and `~`, which marks a shortened name.
const IN_FILES: &AsciiSet = &{
    let (mut set, mut letter) = (ENCODED.add(b'~'), b'A');
    while letter <= b'Z' {
        set = set.add(letter);
        letter += 1;
    }
    set
};

/// The maximum length of a file's name without its extension, in bytes.
const MAX_NAME: usize = 200;

/// A record's id as a file's name, different for each id. It contains no dot or slash, and it's never
/// the name of a list's page, such as `page-2`.
fn file_name(id: &str) -> String {
    let mut name = utf8_percent_encode(id, IN_FILES).to_string();
    if name.strip_prefix("page-").is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit())) {
        name.replace_range(..1, "%70");
    }
    if name.len() > MAX_NAME {
        // An escape has three bytes, so there's one to end before among the last three.
        let end = MAX_NAME - 40;
        let end = (end - 2..end).find(|at| name.as_bytes()[*at] == b'%').unwrap_or(end);
        name.truncate(end);
        name.push('~');
        name.push_str(&blake3::hash(id.as_bytes()).to_hex()[..32]);
    }
    name
}

/// What links to pages start with: the public URL or its path, and the page's language.
#[derive(Debug, Clone, Copy)]
pub(in crate::http) struct Base<'a> {
    pub(in crate::http) path: &'a str,
    /// Whether the pages are files. Then addresses have no query, and a page is a folder's
    /// `index.html`.
    pub(in crate::http) is_published: bool,
}

impl fmt::Display for Base<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.path)
    }
}

impl Base<'_> {
    /// A page's URL, given the path at which it's served.
    pub(in crate::http) fn page(self, path: &str) -> String {
        if !self.is_published {
            return format!("{self}{path}");
        }
        // A web server decodes the names in an address once.
        let names = path.split('/').filter(|segment| !segment.is_empty());
        let names = names.map(|name| file_name(&percent_decode_str(name).decode_utf8_lossy()).replace('%', "%25"));
        names.fold(format!("{self}/"), |url, name| url + &name + "/")
    }

    /// The list of all products.
    pub(in crate::http) fn products(self) -> String {
        if self.is_published { self.page("/software") } else { format!("{self}/?q=") }
    }

    /// The URL of a link to a path in the operator's text; `None` if files can't answer it.
    pub(super) fn of_own_link(self, path: &str) -> Option<String> {
        let (path, fragment) = path.split_at(path.find('#').unwrap_or(path.len()));
        if path == "/?q=" {
            return Some(self.products() + fragment);
        }
        let first = path.split('/').nth(1).unwrap_or_default();
        let is_page = ["", "software", "categories", "glossary", "pages"].contains(&first);
        let is_page = (is_page || ["/exports", "/docs"].contains(&path)) && !path.contains('?');
        let can_answer = is_page || !self.is_published;
        can_answer.then(|| self.page(path) + fragment)
    }
}

/// The path in the published folder of the file that answers a URL below a base.
pub(in crate::http) fn file_of(url: &str, base: &str) -> String {
    let path = url.strip_prefix(base).unwrap_or(url).trim_start_matches('/').replace("%25", "%");
    if path.is_empty() || path.ends_with('/') { path + "index.html" } else { path }
}

/// The pages of the list of all products.
pub(in crate::http) fn all_products(base: Base<'_>) -> Address {
    Address::list(if base.is_published { base.products() } else { base.page("/") }, base)
}

pub(in crate::http) fn of_software(base: Base<'_>, id: &str) -> String {
    base.page(&format!("/software/{}", segment(id)))
}

pub(in crate::http) fn of_category(base: Base<'_>, id: &str) -> String {
    base.page(&format!("/categories/{}", segment(id)))
}

/// The page with the alternatives to something that may be no record, by the slug of its name.
pub(in crate::http) fn of_alternatives(base: Base<'_>, id: &str) -> Address {
    Address::list(base.page(&format!("/alternatives/{}", segment(id))), base)
}

/// The page with the alternatives to a product.
pub(in crate::http) fn of_alternatives_to(base: Base<'_>, id: &str) -> Address {
    Address::list(base.page(&format!("/software/{}/alternatives", segment(id))), base)
}

/// The image that says when a product's evidence was checked.
pub(in crate::http) fn of_badge(base: Base<'_>, id: &str) -> String {
    format!("{}/badge.svg", of_software(base, id).trim_end_matches('/'))
}

/// The products with a value; empty if files can't be searched for it.
pub(super) fn of_search(base: Base<'_>, name: &str, value: &str) -> String {
    if base.is_published { String::new() } else { Address::new(format!("{base}/")).with(name, value) }
}

/// The glossary page that shows a term, reached by searching for it: a large glossary has several
/// pages.
pub(super) fn of_term(base: Base<'_>, term: &str) -> String {
    Address::new(base.page("/glossary")).with("q", term)
}

/// The URL of a full record as JSON. `kind` is `software`, `reviews`, `categories` or `glossary`.
pub(in crate::http) fn of_record(root: Base<'_>, kind: &str, id: &str) -> String {
    if !root.is_published {
        return format!("{root}/records/{kind}/{}", segment(id));
    }
    let name = file_name(id).replace('%', "%25");
    let page = if kind == "reviews" { "/page-1" } else { "" };
    format!("{root}/v1/{kind}/{name}{page}.json")
}

/// The URL of an export's download. `format` is `json` or `ndjson`.
pub(in crate::http) fn of_export(root: Base<'_>, id: &str, format: &str) -> String {
    if root.is_published {
        return format!("{root}/v1/exports/{}.{format}", file_name(id).replace('%', "%25"));
    }
    format!("{root}/exports/{}{}", segment(id), if format == "json" { "" } else { "?format=ndjson" })
}

/// A product list's URL: a path, and the parameters that have a value.
#[derive(Debug, Clone)]
pub(in crate::http) struct Address {
    path: String,
    pairs: Vec<(&'static str, String)>,
    /// How to write a page's number.
    pages: Pages,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pages {
    /// As a parameter.
    Served,
    /// There's only one page.
    One,
    /// As an offset in the API.
    Offset,
    /// As a path: what the number starts and ends with.
    Published(&'static str, &'static str),
}

/// The parameter for the page number, counted from 1.
pub(super) const PAGE: &str = "page";

/// The parameter for a product chosen for comparison.
pub(super) const COMPARED: &str = "id";

impl Address {
    pub(super) fn new(path: String) -> Self {
        Self { path, pairs: Vec::new(), pages: Pages::Served }
    }

    /// A page that isn't a list.
    pub(in crate::http) fn one(path: String) -> Self {
        Self { pages: Pages::One, ..Self::new(path) }
    }

    fn published(self, base: Base<'_>, start: &'static str) -> Self {
        Self { pages: if base.is_published { Pages::Published(start, "/") } else { Pages::Served }, ..self }
    }

    /// A record's page, which may have further pages.
    pub(in crate::http) fn record(path: String, base: Base<'_>) -> Self {
        Self::new(path).published(base, "")
    }

    /// A list of records, whose pages are published beside them.
    pub(in crate::http) fn list(path: String, base: Base<'_>) -> Self {
        Self::new(path).published(base, "page-")
    }

    /// A list in the API, given its path there.
    pub(in crate::http) fn data(path: &str, base: Base<'_>) -> Self {
        let pages = if base.is_published { Pages::Published("page-", ".json") } else { Pages::Offset };
        Self { pages, ..Self::new(base.page(path)) }
    }

    /// Reads the parameters with these names. Others, such as tracking parameters, are dropped, and
    /// so are the empty ones that forms send.
    pub(super) fn reading(self, query: &RawQuery, names: &[&'static str]) -> Self {
        let pairs = query.pairs().filter(|(_, value)| !value.is_empty());
        let known = pairs.filter_map(|(name, value)| {
            let name = names.iter().find(|known| known.as_bytes() == name)?;
            Some((*name, String::from_utf8_lossy(value).into_owned()))
        });
        Self { pairs: known.collect(), ..self }
    }

    pub(super) fn and(mut self, name: &'static str, value: &str) -> Self {
        self.pairs.push((name, value.to_owned()));
        self
    }

    pub(super) fn path(&self) -> &str {
        &self.path
    }

    /// Whether further pages are published.
    pub(in crate::http) fn has_pages(&self) -> bool {
        !matches!(self.pages, Pages::Served | Pages::One)
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
        Self { pairs, ..self.clone() }
    }

    /// The page number, counted from 1.
    pub(super) fn page(&self) -> u64 {
        self.get(PAGE).and_then(|page| page.parse().ok()).unwrap_or(1).max(1)
    }

    /// The URL with only the pairs that `keep` selects. It leads to the first page, because it's a
    /// different list.
    pub(super) fn keeping(&self, keep: impl Fn(usize, &str) -> bool) -> String {
        self.url(self.pairs().enumerate().filter(|(at, (name, _))| *name != PAGE && keep(*at, name)).map(|(_, of)| of))
    }

    /// The URL with a parameter set to a single value.
    pub(super) fn with(&self, name: &str, value: &str) -> String {
        self.without(|of| of == name).adding(std::iter::once((name, value.to_owned())))
    }

    /// The URL with more parameters.
    pub(super) fn adding<'p>(&self, pairs: impl Iterator<Item = (&'p str, String)>) -> String {
        let own = self.pairs.iter().filter(|(of, _)| *of != PAGE).map(|(of, value)| (*of, value.clone()));
        self.url(own.chain(pairs))
    }

    /// The URL with a parameter's value replaced, or without it if it's replaced by nothing.
    pub(super) fn replacing(&self, name: &str, value: &str, by: &str) -> String {
        let pairs = self.pairs().filter(|(of, _)| *of != PAGE);
        let pairs = pairs.map(|(of, old)| (of, if (of, old) == (name, value) { by } else { old }));
        self.url(pairs.filter(|(_, value)| !value.is_empty()))
    }

    pub(in crate::http) fn at_page(&self, page: u64) -> String {
        match self.pages {
            Pages::Offset => return format!("{}?limit=100&offset={}", self.path, (page - 1) * 100),
            Pages::Published(_, "/") if page == 1 => return self.path.clone(),
            Pages::Published(start, end) => return format!("{}{start}{page}{end}", self.path),
            Pages::One => return self.path.clone(),
            Pages::Served => {}
        }
        if page > 1 { self.with(PAGE, &page.to_string()) } else { self.keeping(|_, _| true) }
    }

    fn url<'p>(&self, pairs: impl Iterator<Item = (&'p str, impl AsRef<str>)>) -> String {
        let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish();
        match &*query {
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
        Address::new(path.to_owned()).reading(&RawQuery::parse(query), &NAMES)
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
    fn file_names_are_safe_and_differ_even_without_case() {
        let long = |end: &str| format!("{}{end}", "ä".repeat(400));
        let ids =
            ["moss", "Moss", "a/b", "a%2Fb", "..", ".", "page-2", "%70age-2", "page-x", "~", "a~b", "é", "e\u{301}"];
        let ids: Vec<_> = ids
            .into_iter()
            .map(str::to_owned)
            .chain(["a", "b"].map(long))
            .chain((158..=202).map(|n| "ü".repeat(n)))
            .collect();
        let names: Vec<_> = ids.iter().map(|id| file_name(id)).collect();
        assert_eq!(&names[..8], ["moss", "%4Doss", "a%2Fb", "a%252%46b", "%2E%2E", "%2E", "%70age-2", "%2570age-2"]);
        let is_safe = |byte: u8| byte.is_ascii_alphanumeric() || b"-_~%".contains(&byte);
        assert!(names.iter().all(|name| name.len() <= MAX_NAME && name.bytes().all(is_safe)), "{names:?}");
        let folded: std::collections::BTreeSet<_> = names.iter().map(|name| name.to_lowercase()).collect();
        assert_eq!(folded.len(), names.len(), "{names:?}");
        for name in &names {
            let cut = name.split('~').next().expect("a part");
            let escapes = cut.split('%').skip(1);
            assert!(escapes.into_iter().all(|escape| escape.len() >= 2), "{name} ends in half an escape");
        }
    }

    #[test]
    fn published_links_are_paths_to_files() {
        let [served, published] = [false, true].map(|is_published| Base { path: "/x/de", is_published });
        let links = |base: Base<'_>| {
            let category = Address::record(of_category(base, "A/b"), base);
            [base.page("/"), base.products(), of_software(base, ".."), category.at_page(1), category.at_page(2)]
        };
        assert_eq!(
            links(served),
            ["/x/de/", "/x/de/?q=", "/x/de/software/%2E%2E", "/x/de/categories/A%2Fb", "/x/de/categories/A%2Fb?page=2"]
        );
        let links = links(published);
        assert_eq!(
            links,
            [
                "/x/de/",
                "/x/de/software/",
                "/x/de/software/%252E%252E/",
                "/x/de/categories/%2541%252Fb/",
                "/x/de/categories/%2541%252Fb/2/"
            ]
        );
        assert_eq!(file_of(&links[4], "/x"), "de/categories/%41%2Fb/2/index.html");
        let own = |link: &str| published.of_own_link(link).unwrap_or_default();
        assert_eq!(own("/software/a#b"), "/x/de/software/a/#b");
        assert_eq!([own("/?q="), own("/?q=x"), own("/v1/software")], ["/x/de/software/", "", ""]);
        assert_eq!(served.of_own_link("/v1/software?q=x"), Some("/x/de/v1/software?q=x".to_owned()));
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
