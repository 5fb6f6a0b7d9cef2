//! The pages' scripts, styles and images, compiled in and served under a URL that changes with
//! their content.

use std::fmt::Write as _;

use bytes::Bytes;

use super::document::Document;
use super::frame::{fill, framed};
use crate::http::config::HttpConfig;
use crate::http::preview::Preview;
use crate::text::html::escape;

macro_rules! assets {
    ($($path:literal),* $(,)?) => {
        [$(($path, include_bytes!(concat!("page/", $path)).as_slice())),*]
    };
}

/// All files in `page/` except the page itself.
static OWN: [(&str, &[u8]); 37] = assets![
    "icon.svg",
    "style/base.css",
    "style/explore.css",
    "style/docs.css",
    "style/preview.css",
    "style/reference.css",
    "script/api.js",
    "script/docs.js",
    "script/dom.js",
    "script/key.js",
    "script/main.js",
    "script/preview.js",
    "script/reference.js",
    "script/route.js",
    "script/typing.js",
    "script/part/call.js",
    "script/part/evidence.js",
    "script/part/facets.js",
    "script/part/licence.js",
    "script/part/marked.js",
    "script/part/notice.js",
    "script/part/pager.js",
    "script/part/properties.js",
    "script/part/rating.js",
    "script/part/result.js",
    "script/part/reviews.js",
    "script/part/rows.js",
    "script/part/similar.js",
    "script/part/status.js",
    "script/part/suggestions.js",
    "script/part/terms.js",
    "script/part/understood.js",
    "script/view/categories.js",
    "script/view/exports.js",
    "script/view/glossary.js",
    "script/view/search.js",
    "script/view/software.js",
];

/// Scripts that belong to the documentation or a preview rather than the page itself.
const OF_OTHERS: [&str; 3] = ["script/docs.js", "script/preview.js", "script/reference.js"];

const PAGE: &str = include_str!("page/index.html");

const NOT_FOUND: &str = include_str!("not-found.html");

const PREVIEW: &str = include_str!("preview.html");

/// The page's description if the operator has written no introduction.
const DESCRIPTION: &str =
    "A directory of software products: search, compare the evidence, and see the API call behind each view.";

#[derive(Debug, Clone)]
pub(super) struct Assets {
    /// The path of the public URL, HTML-escaped.
    prefix: String,
    /// The site's title, HTML-escaped.
    title: String,
    fingerprint: String,
    /// What a preview adds to the head and to the top of each page.
    preview: [String; 2],
    files: Vec<(&'static str, Document)>,
}

impl Assets {
    pub(super) fn new(config: &HttpConfig) -> Self {
        let mut hasher = blake3::Hasher::new();
        for (path, content) in &OWN {
            hasher.update(path.as_bytes()).update(&(content.len() as u64).to_le_bytes()).update(content);
        }
        let mut fingerprint = hasher.finalize().to_hex().to_string();
        fingerprint.truncate(16);
        let files = OWN
            .iter()
            .map(|(path, content)| (*path, Document::new(content_type(path), Bytes::from_static(content)).immutable()));
        let (prefix, title) = (escape(config.path_prefix()), escape(&config.site_title));
        let preview = config.preview.as_deref().map(|preview| preview_parts(preview, &prefix, &fingerprint));
        Self { prefix, title, fingerprint, preview: preview.unwrap_or_default(), files: files.collect() }
    }

    pub(super) fn find(&self, fingerprint: &str, path: &str) -> Option<&Document> {
        let (_, document) = self.files.iter().find(|(of, _)| *of == path && fingerprint == self.fingerprint)?;
        Some(document)
    }

    /// Fills the site's URLs and title and the given values into a page.
    pub(super) fn fill(&self, html: &str, values: &[(&str, &str)]) -> String {
        let assets = self.url();
        let [head, banner] = &self.preview;
        let preview = [("preview-head", &**head), ("preview-banner", &**banner)];
        let common = [("assets", &*assets), ("base", &self.prefix), ("site", &self.title)];
        fill(html, &[common.as_slice(), &preview, values].concat())
    }

    fn url(&self) -> String {
        format!("{}/assets/{}", self.prefix, self.fingerprint)
    }

    /// The page for exploring the directory. It preloads all its scripts, so that none has to wait
    /// for the one that imports it.
    pub(super) fn page(&self, config: &HttpConfig) -> Document {
        let mut preload = String::new();
        for (path, _) in OWN.iter().filter(|(path, _)| path.starts_with("script/") && !OF_OTHERS.contains(path)) {
            // Writing to a string can't fail.
            let _ = writeln!(preload, "<link rel=\"modulepreload\" href=\"{}/{path}\">", self.url());
        }
        let feed = if config.public_page.is_some() {
            let (prefix, title) = (&self.prefix, &self.title);
            format!(
                "<link rel=\"alternate\" type=\"application/atom+xml\" title=\"{title}\" href=\"{prefix}/feed.atom\">\n"
            )
        } else {
            String::new()
        };
        let introduction = config.site_introduction.as_deref().map(escape);
        Document::page(self.fill(
            &framed(PAGE),
            &[
                ("preload", &preload),
                ("feed", &feed),
                ("key", if config.public_page.is_some() { "optional" } else { "required" }),
                ("introduction", introduction.as_deref().unwrap_or_default()),
                ("introduction-or-default", introduction.as_deref().unwrap_or(DESCRIPTION)),
            ],
        ))
    }

    pub(super) fn preview(&self) -> Document {
        Document::page(self.fill(&framed(PREVIEW), &[]))
    }

    pub(super) fn not_found(&self) -> Document {
        Document::not_found(self.fill(&framed(NOT_FOUND), &[]))
    }
}

/// What a preview adds to each page: a style and a script in the head, and a banner at the top.
fn preview_parts(preview: &Preview, prefix: &str, fingerprint: &str) -> [String; 2] {
    let assets = format!("{prefix}/assets/{fingerprint}");
    let head = format!(
        "<link rel=\"stylesheet\" href=\"{assets}/style/preview.css\">\n\
         <script type=\"module\" src=\"{assets}/script/preview.js\"></script>\n"
    );
    let banner = format!(
        "<aside class=\"preview-banner\" aria-label=\"Preview\">\n<div>\n\
         <p><strong>Preview</strong> <span>of <bdi>{}</bdi>, not published</span></p>\n\
         <p><span id=\"preview-line\" role=\"status\"></span> <a href=\"{prefix}/preview\" data-plain>What changes</a></p>\n\
         </div>\n</aside>\n",
        escape(preview.candidate())
    );
    [head, banner]
}

fn content_type(path: &str) -> &'static str {
    match path.rsplit_once('.') {
        Some((_, "js")) => "text/javascript; charset=utf-8",
        Some((_, "css")) => "text/css; charset=utf-8",
        Some((_, "svg")) => "image/svg+xml",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn walk(folder: &Path, root: &Path, found: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                walk(&path, root, found);
            } else {
                found.push(path.strip_prefix(root).expect("inside").to_str().expect("UTF-8").to_owned());
            }
        }
    }

    #[test]
    fn every_file_of_the_page_is_compiled_in() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/http/site/page");
        let mut found = Vec::new();
        walk(&root, &root, &mut found);
        found.retain(|path| path != "index.html");
        found.sort();
        let mut listed: Vec<_> = OWN.iter().map(|(path, _)| (*path).to_owned()).collect();
        listed.sort();
        assert_eq!(found, listed);
    }
}
