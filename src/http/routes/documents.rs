//! Documents that need no key: a way in, the OpenAPI document, the schema of exports and the meaning of error codes.

use std::fmt::Write as _;

use axum::Router;
use axum::body::Body;
use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::Response;
use axum::routing::get;
use bytes::Bytes;

use crate::export;
use crate::http::conditional::{Condition, EntityTag};
use crate::http::config::HttpConfig;
use crate::http::problem::ErrorCode;

const HTML: &str = "text/html; charset=utf-8";

/// The documents, made once.
#[derive(Debug, Clone)]
pub(super) struct Documents {
    home: Document,
    errors: Document,
    openapi: Document,
    export_schema: Document,
}

#[derive(Debug, Clone)]
struct Document {
    content: Bytes,
    content_type: HeaderValue,
    tag: EntityTag,
}

impl Documents {
    pub(super) fn new(config: &HttpConfig, openapi: String) -> Self {
        let prefix = config.path_prefix();
        Self {
            home: Document::new(HTML, home(prefix).into()),
            errors: Document::new(HTML, errors().into()),
            openapi: Document::new("application/json", openapi.into()),
            export_schema: Document::new("application/schema+json", Bytes::from_static(export::schema().as_bytes())),
        }
    }
}

impl Document {
    fn new(content_type: &'static str, content: Bytes) -> Self {
        Self { tag: EntityTag::of_content(&content), content_type: HeaderValue::from_static(content_type), content }
    }

    fn answer(&self, request: &HeaderMap) -> Response {
        let changed = self.tag.condition(request) == Condition::Changed;
        let mut response = Response::new(if changed { Body::from(self.content.clone()) } else { Body::empty() });
        if !changed {
            *response.status_mut() = StatusCode::NOT_MODIFIED;
        }
        let headers = response.headers_mut();
        if changed {
            headers.insert(CONTENT_TYPE, self.content_type.clone());
            headers.insert(
                CONTENT_SECURITY_POLICY,
                HeaderValue::from_static("default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"),
            );
        }
        headers.insert(ETAG, self.tag.header());
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        response
    }
}

/// Their routes.
pub(super) fn router(documents: Documents) -> Router {
    let Documents { home, errors, openapi, export_schema } = documents;
    let serve = |document: Document| get(async move |headers: HeaderMap| document.answer(&headers));
    Router::new()
        .route("/", serve(home))
        .route("/docs/errors", serve(errors))
        .route("/openapi.json", serve(openapi))
        .route("/schemas/export.json", serve(export_schema))
}

const HEAD: &str = "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
    <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
    <style>:root{color-scheme:light dark}body{font:1rem/1.5 system-ui,sans-serif;max-width:44rem;margin:2rem auto;\
    padding:0 1rem}code,pre{font:.9em ui-monospace,monospace}pre{overflow:auto}h2{margin-top:2rem}</style>\n";

fn home(prefix: &str) -> String {
    format!(
        "{HEAD}<title>Software Directory</title>\n</head>\n<body>\n<main>\n<h1>Software Directory</h1>\n\
         <p>A read-only directory of software products as a JSON API: list, look up, search.</p>\n\
         <p>Requests under <code>/v1</code> need an API key:</p>\n\
         <pre>curl -H \"Authorization: Bearer $API_KEY\" {prefix}/v1/software</pre>\n<ul>\n\
         <li><a href=\"{prefix}/openapi.json\">OpenAPI document</a>: every endpoint, parameter and answer</li>\n\
         <li><a href=\"{prefix}/docs/errors\">Errors</a>: every code, its cause and its cure</li>\n\
         <li><a href=\"{prefix}/schemas/export.json\">JSON Schema of exports</a></li>\n</ul>\n\
         <p>The directory asserts neither the truth nor the freshness of what it says about products: each record names \
         its sources and when they were checked.</p>\n</main>\n</body>\n</html>\n",
        prefix = escape(prefix)
    )
}

fn errors() -> String {
    let mut page = format!(
        "{HEAD}<title>Errors · Software Directory</title>\n</head>\n<body>\n<main>\n<h1>Errors</h1>\n\
         <p>An error is answered as <code>application/problem+json</code> (RFC 9457). Its <code>code</code> is one of \
         these; quote its <code>request_id</code> when you ask for help.</p>\n"
    );
    for code in ErrorCode::ALL {
        // Writing to a string can't fail.
        let _ = writeln!(
            page,
            "<section id=\"{name}\">\n<h2><code>{name}</code></h2>\n<p><strong>{status} {title}.</strong> {cause}</p>\n\
             <p>{cure}</p>\n</section>",
            name = code.as_str(),
            status = code.status().as_u16(),
            title = escape(code.title()),
            cause = escape(code.cause()),
            cure = escape(code.cure()),
        );
    }
    page.push_str("</main>\n</body>\n</html>\n");
    page
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
