//! A static document with its headers and compressed forms.

use std::io::{self, Write as _};

use axum::body::Body;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_ENCODING, CONTENT_LANGUAGE, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, REFERRER_POLICY,
    VARY,
};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::Response;
use bytes::Bytes;
use flate2::write::GzEncoder;
use foldhash::HashMap;
use tokio::task::spawn_blocking;

use super::language::Texts;
use super::links::segment;
use super::once::Once;
use super::respond::{self, BY_LANGUAGE, HTML};
use crate::error::chain;
use crate::http::content_coding::Coding;
use crate::http::entity_tag::{Condition, EntityTag};
use crate::http::face::{self, Face};
use crate::http::middleware::{FinalCoding, MIN_COMPRESSED_BYTES};
use crate::http::problem::ApiError;

/// The content security policy for a document that isn't a page.
const NOTHING: HeaderValue = HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'");

/// The content security policy for an SVG file, which can contain scripts.
const SANDBOX: HeaderValue =
    HeaderValue::from_static("default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'none'");

/// A document that stays the same as long as the process runs.
#[derive(Debug, Clone)]
pub(super) struct Document {
    content: Bytes,
    content_type: HeaderValue,
    /// The language of a page.
    language: Option<HeaderValue>,
    tag: EntityTag,
    caching: &'static str,
    policy: HeaderValue,
    /// The compressed forms, indexed by coding; each is created on first use.
    compressed: [Once<Bytes>; Coding::ALL.len()],
}

impl Document {
    /// A document that isn't a page and is revalidated on each use.
    pub(super) fn new(content_type: &'static str, content: impl Into<Bytes>) -> Self {
        let content = content.into();
        let tag = EntityTag::from_content(&content);
        let content_type = HeaderValue::from_static(content_type);
        Self {
            content,
            content_type,
            language: None,
            tag,
            caching: "no-cache",
            policy: NOTHING,
            compressed: <[_; Coding::ALL.len()]>::default(),
        }
    }

    /// A page in a given language.
    pub(super) fn page(t: &Texts, html: String) -> Self {
        Self { content_type: HTML, language: Some(HeaderValue::from_static(t.tag)), ..Self::new("", html) }
    }

    /// Makes a document cacheable for a year. Its URL must change with its content.
    pub(super) fn immutable(self) -> Self {
        Self { caching: "public, max-age=31536000, immutable", ..self }
    }

    /// Responds with the document, or with 304 if the caller already has it.
    pub(super) async fn respond(&self, request: &HeaderMap) -> Response {
        let changed = self.tag.condition(request) == Condition::Changed;
        let (coding, body) = if changed { self.body(request).await } else { (None, Bytes::new()) };
        let mut response = Response::new(Body::from(body));
        response.extensions_mut().insert(FinalCoding);
        let headers = response.headers_mut();
        if changed {
            headers.insert(CONTENT_TYPE, self.content_type.clone());
            headers.extend(self.language.clone().map(|language| (CONTENT_LANGUAGE, language)));
        }
        headers.extend(coding.map(|coding| (CONTENT_ENCODING, coding.header())));
        if self.language.is_some() {
            headers.insert(VARY, HeaderValue::from_static("Accept-Encoding"));
            headers.append(VARY, BY_LANGUAGE);
            respond::protect(headers);
        } else {
            headers.insert(VARY, HeaderValue::from_static("Accept-Encoding"));
            headers.insert(CONTENT_SECURITY_POLICY, self.policy.clone());
            headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
        }
        headers.insert(ETAG, self.tag.header());
        headers.insert(CACHE_CONTROL, HeaderValue::from_static(self.caching));
        if !changed {
            *response.status_mut() = StatusCode::NOT_MODIFIED;
        }
        response
    }

    async fn body(&self, request: &HeaderMap) -> (Option<Coding>, Bytes) {
        let is_long = self.content.len() as u64 >= MIN_COMPRESSED_BYTES;
        let coding = Coding::preferred(request, &Coding::ALL).filter(|_| is_long);
        if let Some(coding) = coding {
            match self.compressed(coding).await {
                Ok(body) => return (Some(coding), body),
                Err(error) => {
                    let error = chain(&error);
                    tracing::error!(error, "couldn't compress a static document; sending it uncompressed");
                }
            }
        }
        (None, self.content.clone())
    }

    /// Compresses the content just once, on a blocking thread.
    async fn compressed(&self, coding: Coding) -> Result<Bytes, ApiError> {
        let content = self.content.clone();
        let compress = async move {
            let compressed = spawn_blocking(move || compress(&content, coding)).await.map_err(ApiError::internal)?;
            compressed.map_err(ApiError::internal)
        };
        self.compressed[coding as usize].clone().get_or_compute(|| compress).await
    }
}

/// Compresses a document that is sent many times, so spending up to 0.1 s on the largest one pays
/// off.
fn compress(content: &[u8], coding: Coding) -> io::Result<Bytes> {
    const ZSTD_LEVEL: i32 = 9;
    let compressed = match coding {
        Coding::Gzip => {
            let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::default());
            encoder.write_all(content)?;
            encoder.finish()?
        }
        Coding::Zstd => zstd::bulk::compress(content, ZSTD_LEVEL)?,
    };
    Ok(compressed.into())
}

macro_rules! assets {
    ($($path:literal),* $(,)?) => {
        [$(($path, include_bytes!(concat!("../../../templates/static/", $path)).as_slice())),*]
    };
}

/// All files in `templates/static/`.
static FILES: [(&str, &[u8]); 6] =
    assets!["icon.svg", "page.js", "preview.js", "reference.js", "style.css", "theme.js"];

#[derive(Debug, Clone)]
pub(super) struct Assets {
    /// The folder's URL, whose last segment is the fingerprint.
    pub(super) url: String,
    files: HashMap<String, Document>,
}

impl Assets {
    /// `base` is the path of the public URL.
    pub(super) fn new(base: &str, face: &Face) -> Self {
        let own = face.files.iter().map(|(path, content)| (path.clone(), content.clone()));
        let css = Some((SITE_CSS.to_owned(), Bytes::from(face.css.clone()))).filter(|(_, css)| !css.is_empty());
        let files = FILES.iter().map(|(path, content)| ((*path).to_owned(), Bytes::from_static(content)));
        let files: Vec<_> = files.chain(own).chain(css).collect();
        let mut hasher = blake3::Hasher::new();
        for (path, content) in &files {
            hasher.update(path.as_bytes()).update(&(content.len() as u64).to_le_bytes()).update(content);
        }
        let fingerprint = &hasher.finalize().to_hex()[..16];
        let file = |(path, content): (String, Bytes)| {
            let is_image = face.files.contains_key(&path);
            let kind = if is_image { face::format(&content).unwrap_or_default() } else { extension(&path) };
            let policy = if kind == "svg" { SANDBOX } else { NOTHING };
            let document = Document { policy, ..Document::new(content_type(kind), content).immutable() };
            (path, document)
        };
        Self { url: format!("{base}/assets/{fingerprint}"), files: files.into_iter().map(file).collect() }
    }

    pub(super) fn urls(&self) -> impl Iterator<Item = String> + '_ {
        self.files.keys().filter_map(|path| self.url_of(path))
    }

    /// The URL of a file, if there is one.
    pub(super) fn url_of(&self, path: &str) -> Option<String> {
        self.files.contains_key(path).then(|| match path.split_once('/') {
            Some((folder, name)) => format!("{}/{folder}/{}", self.url, segment(name)),
            None => format!("{}/{path}", self.url),
        })
    }

    pub(super) fn find(&self, fingerprint: &str, path: &str) -> Option<&Document> {
        let document = self.files.get(path)?;
        Some(document).filter(|_| self.url.ends_with(&format!("/{fingerprint}")))
    }
}

/// The file with the operator's styles.
pub(super) const SITE_CSS: &str = "site.css";

fn extension(path: &str) -> &str {
    path.rsplit_once('.').map_or("", |(_, extension)| extension)
}

fn content_type(extension: &str) -> &'static str {
    match extension {
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn every_static_file_is_compiled_in() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("templates/static");
        let entries = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").file_name());
        let mut found: Vec<_> = entries.map(|name| name.into_string().expect("UTF-8")).collect();
        found.sort();
        assert_eq!(found, FILES.map(|(path, _)| path.to_owned()));
    }
}
