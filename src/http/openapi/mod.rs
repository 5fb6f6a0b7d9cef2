//! Builds the OpenAPI 3.1 document: its frame, and the parts common to all operations. Operations
//! are described next to their handlers, parameters by the table that parses them, and responses by the
//! types they're serialised from.

mod example;
mod schema;

use std::collections::BTreeMap;

use utoipa::openapi::header::{Header, HeaderBuilder};
use utoipa::openapi::response::{Response, ResponseBuilder};
use utoipa::openapi::schema::{Object, ObjectBuilder, Schema, Type};
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityRequirement, SecurityScheme};
use utoipa::openapi::server::Server;
use utoipa::openapi::tag::TagBuilder;
use utoipa::openapi::{
    ComponentsBuilder, Contact, ContentBuilder, Info, InfoBuilder, LicenseBuilder, OpenApi, OpenApiBuilder, Ref, RefOr,
};
use utoipa::{IntoResponses, PartialSchema, ToSchema};

use super::config::HttpConfig;
use super::problem::{ErrorCode, Problem};

const PROBLEM_JSON: &str = "application/problem+json";
const NOT_MODIFIED: &str = "NotModified";
const SECURITY: &str = "apiKey";

const REQUEST_ID_ONLY: &[&str] = &["X-Request-Id"];

/// Responses with errors: the status that the errors share, the response's name, and its headers.
const ERRORS: [(u16, &str, &[&str]); 13] = [
    (400, "BadRequest", REQUEST_ID_ONLY),
    (401, "Unauthorized", &["X-Request-Id", "WWW-Authenticate"]),
    (403, "Forbidden", REQUEST_ID_ONLY),
    (404, "NotFound", REQUEST_ID_ONLY),
    (408, "RequestTimeout", REQUEST_ID_ONLY),
    (410, "GenerationGone", &["X-Request-Id", "X-Generation", "RateLimit", "RateLimit-Policy"]),
    (414, "UriTooLong", REQUEST_ID_ONLY),
    (416, "RangeNotSatisfiable", &["X-Request-Id", "Content-Range"]),
    (429, "TooManyRequests", &["X-Request-Id", "Retry-After", "RateLimit", "RateLimit-Policy"]),
    (431, "HeadersTooLarge", REQUEST_ID_ONLY),
    (500, "InternalError", REQUEST_ID_ONLY),
    (501, "NotOffered", REQUEST_ID_ONLY),
    (503, "Unavailable", &["X-Request-Id", "Retry-After"]),
];

/// Response headers: the name, whether it's a number, and the description.
const HEADERS: [(&str, bool, &str); 13] = [
    ("X-Request-Id", false, "The request's id. A client's own id is used if it matches `[A-Za-z0-9_-]{1,64}`."),
    ("X-Generation", false, "The generation that the response comes from."),
    (
        "ETag",
        false,
        "The response's tag. Send it as `If-None-Match` to get a 304, which doesn't count against the quota. For a \
         record, the categories, the glossary or an export, the tag changes only with the content; for a list of \
         products or a search, it changes with every generation.",
    ),
    ("Link", false, "Links to other pages of the list (RFC 8288): first, prev, next, last."),
    ("RateLimit", false, "What's left of the quota: `r` requests, with more available after `t` seconds."),
    (
        "RateLimit-Policy",
        false,
        "The quota: `q` requests, which may be sent at once and become available again steadily over `w` seconds.",
    ),
    (
        "Cache-Control",
        false,
        "`private, no-cache`: may be cached, but must be revalidated before each use. Responses without a key, if the API \
         needs none: `public, max-age=60`.",
    ),
    ("Vary", false, "The request headers that the response depends on."),
    ("Retry-After", true, "Seconds to wait before trying again."),
    ("WWW-Authenticate", false, "Indicates that a `Bearer` key is required."),
    ("Accept-Ranges", false, "`bytes`: parts can be requested with `Range`."),
    ("Content-Disposition", false, "The file name to save the download under."),
    ("Content-Range", false, "Which part of the document this is; for 416, the document's length."),
];

/// Headers on every successful response under `/v1`; lists also have `Link`.
const ANSWER_HEADERS: [&str; 7] =
    ["X-Request-Id", "X-Generation", "ETag", "RateLimit", "RateLimit-Policy", "Cache-Control", "Vary"];

/// Errors that any operation under `/v1` may respond with.
pub(super) struct ApiErrors;

/// Errors that any operation may respond with, even outside `/v1`.
pub(super) struct RequestErrors;

/// The errors with a status, for operations that respond with it.
pub(super) struct ErrorsWith<const STATUS: u16>;

/// The error for an unknown id.
pub(super) type NotFound = ErrorsWith<404>;

/// The error for a generation that is too old or unknown.
pub(super) type GenerationGone = ErrorsWith<410>;

/// The error for a range that can't be satisfied.
pub(super) type RangeNotSatisfiable = ErrorsWith<416>;

/// The error for what a directory in OpenSearch doesn't offer.
pub(super) type NotOffered = ErrorsWith<501>;

/// The error returned while there's nothing to serve.
pub(super) type Unavailable = ErrorsWith<503>;

impl IntoResponses for ApiErrors {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        references(|status| !matches!(status, 404 | 410 | 416 | 501))
    }
}

impl IntoResponses for RequestErrors {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        references(|status| matches!(status, 408 | 414 | 431 | 500))
    }
}

impl<const STATUS: u16> IntoResponses for ErrorsWith<STATUS> {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        references(|status| status == STATUS)
    }
}

fn references(which: impl Fn(u16) -> bool) -> BTreeMap<String, RefOr<Response>> {
    let errors = ERRORS.into_iter().filter(|(status, ..)| which(*status));
    errors.map(|(status, name, _)| (status.to_string(), RefOr::Ref(Ref::from_response_name(name)))).collect()
}

pub(super) fn document(operations: OpenApi, config: &HttpConfig) -> String {
    let mut document = frame(config);
    document.merge(operations);
    finish(document, config)
}

/// The document without its operations.
fn frame(config: &HttpConfig) -> OpenApi {
    let tags = [
        ("Software", "The directory's products."),
        ("Search", "Ranked search for products."),
        ("Categories", "What kinds of products there are."),
        ("Reviews", "What users say about a product."),
        ("Glossary", "Terms used in the field."),
        ("Exports", "The files that make up the directory, for download."),
        ("Health", "For operators; no key is needed."),
    ];
    let mut schemas = Vec::new();
    Problem::schemas(&mut schemas);
    let components = ComponentsBuilder::new()
        .schema(Problem::name(), Problem::schema())
        .schemas_from_iter(schemas)
        .responses_from_iter(ERRORS.map(|(status, name, headers)| (name, error_response(status, headers))))
        .response(NOT_MODIFIED, not_modified())
        .security_scheme(SECURITY, SecurityScheme::Http(bearer()));
    let with_key = SecurityRequirement::new::<_, [&str; 0], &str>(SECURITY, []);
    let mut components = components.build();
    components.headers = HEADERS.iter().map(|header| (header.0.to_owned(), RefOr::T(describe(header)))).collect();
    OpenApiBuilder::new()
        .info(info(config))
        .components(Some(components))
        .security(Some(config.public_api.map(|_| SecurityRequirement::default()).into_iter().chain([with_key])))
        .tags(Some(tags.map(|(name, about)| TagBuilder::new().name(name).description(Some(about)).build())))
        .build()
}

fn info(config: &HttpConfig) -> Info {
    // The contact is the operator, known only by the site's title and the URL of its documentation.
    let mut contact = Contact::new();
    contact.name = Some(config.publisher().to_owned());
    contact.url = config.public_url.as_ref().map(|_| format!("{}/docs", config.base()));
    InfoBuilder::new()
        .title("Software Directory API")
        .version(env!("CARGO_PKG_VERSION"))
        .description(Some(
            "A read-only directory of software products: list, look up, search.\n\nThe directory doesn't vouch \
             for the accuracy or freshness of what it says about products: each record names its sources and when they were \
             checked.\n\nNew members may be added to responses, and new values to enumerations. Within `/v1`, none will be \
             removed. Ignore anything you don't recognise.",
        ))
        .contact(Some(contact))
        .license(Some(LicenseBuilder::new().name("MIT OR Apache-2.0").identifier(Some("MIT OR Apache-2.0")).build()))
        .build()
}

fn bearer() -> Http {
    let mut scheme = Http::new(HttpAuthScheme::Bearer);
    scheme.description = Some("An API key, as `Authorization: Bearer <API_KEY>`.".to_owned());
    scheme
}

fn error_response(status: u16, headers: &[&str]) -> Response {
    let codes: Vec<_> = ErrorCode::ALL.iter().copied().filter(|code| code.status() == status).collect();
    let names: Vec<_> = codes.iter().map(|code| format!("`{}`", code.as_str())).collect();
    let problem = ContentBuilder::new()
        .schema(Some(RefOr::Ref(Ref::from_schema_name(Problem::name()))))
        .examples_from_iter(example::error_examples(&codes))
        .build();
    let mut response = ResponseBuilder::new()
        .description(format!("{}: {}", codes.first().map_or("", |code| code.title()), names.join(", ")))
        .content(PROBLEM_JSON, problem)
        .build();
    response.headers = header_references(headers.iter().copied());
    response
}

fn not_modified() -> Response {
    let mut response =
        ResponseBuilder::new().description("The version named in `If-None-Match` is still current").build();
    response.headers = header_references(ANSWER_HEADERS.into_iter());
    response
}

fn header_references<'n>(names: impl Iterator<Item = &'n str>) -> BTreeMap<String, RefOr<Header>> {
    names.map(|name| (name.to_owned(), RefOr::Ref(Ref::new(format!("#/components/headers/{name}"))))).collect()
}

fn describe((_, number, about): &(&str, bool, &str)) -> Header {
    let schema: Object = if *number {
        ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(0)).build()
    } else {
        ObjectBuilder::new().schema_type(Type::String).build()
    };
    HeaderBuilder::new().schema(Some(Schema::Object(schema))).description(Some(*about)).build()
}

fn finish(mut document: OpenApi, config: &HttpConfig) -> String {
    let base = config.base();
    document.servers = Some(vec![Server::new(if base.is_empty() { "/" } else { base })]);
    for (path, item) in &mut document.paths.paths {
        let Some(operation) = item.get.as_mut().filter(|_| path.starts_with("/v1/")) else { continue };
        let paged = operation.parameters.iter().flatten().any(|parameter| match parameter {
            RefOr::T(parameter) => parameter.name == "offset",
            RefOr::Ref(_) => false,
        });
        if let Some(RefOr::T(answer)) = operation.responses.responses.get_mut("200") {
            answer.headers = header_references(ANSWER_HEADERS.into_iter().chain(paged.then_some("Link")));
        }
        let not_modified = RefOr::Ref(Ref::from_response_name(NOT_MODIFIED));
        operation.responses.responses.insert("304".to_owned(), not_modified);
    }
    example::add_recorded(&mut document);
    if let Some(components) = &mut document.components {
        schema::flatten(&mut components.schemas);
        schema::describe_listed(&mut components.schemas);
    }
    schema::remove_unused(&mut document);
    schema::add_links(&mut document);
    // Can't fail: the document contains only strings, numbers and maps with string keys.
    let mut text = document.to_pretty_json().unwrap_or_default();
    text.push('\n');
    text
}
