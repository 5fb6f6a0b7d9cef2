//! The closed list of error codes, each with its status, meaning and cure.

use axum::http::StatusCode;

/// A machine-readable error code, the `code` of a problem document. Codes are never renamed or reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorCode {
    /// A parameter has an invalid value.
    InvalidParameter,
    /// A parameter that the endpoint doesn't have.
    UnknownParameter,
    /// A page too deep in the result of a query.
    OffsetTooLarge,
    /// The request itself is malformed.
    BadRequest,
    /// No API key was sent.
    MissingApiKey,
    /// The key isn't known, or isn't one.
    InvalidApiKey,
    /// The key is past its expiry.
    ExpiredApiKey,
    /// The key may not be used from this web origin.
    OriginNotAllowed,
    /// The key may not pull the index.
    ReplicateNotAllowed,
    /// No product with this id.
    SoftwareNotFound,
    /// No category with this id.
    CategoryNotFound,
    /// No glossary term with this id.
    TermNotFound,
    /// No export with this id.
    ExportNotFound,
    /// The log of changes doesn't have this generation.
    GenerationGone,
    /// There is no route at this path.
    RouteNotFound,
    /// The path exists, but not for this method.
    MethodNotAllowed,
    /// The request timed out.
    RequestTimeout,
    /// The request's address is too long.
    UriTooLong,
    /// The request's headers are too large.
    HeadersTooLarge,
    /// A range beyond the end of a download.
    RangeNotSatisfiable,
    /// The key's quota is used up for now.
    RateLimited,
    /// The service failed.
    InternalError,
    /// No generation of the directory is loaded yet.
    IndexUnavailable,
    /// More requests than the service can serve.
    Overloaded,
}

/// The texts of an error code, in problem documents and in the documentation.
#[derive(Debug, Clone, Copy)]
pub(super) struct Facts {
    pub(super) code: &'static str,
    pub(super) status: StatusCode,
    pub(super) title: &'static str,
    pub(super) cause: &'static str,
    pub(super) cure: &'static str,
}

impl ErrorCode {
    /// All codes, by status.
    pub const ALL: [Self; 24] = [
        Self::InvalidParameter,
        Self::UnknownParameter,
        Self::OffsetTooLarge,
        Self::BadRequest,
        Self::MissingApiKey,
        Self::InvalidApiKey,
        Self::ExpiredApiKey,
        Self::OriginNotAllowed,
        Self::ReplicateNotAllowed,
        Self::SoftwareNotFound,
        Self::CategoryNotFound,
        Self::TermNotFound,
        Self::ExportNotFound,
        Self::RouteNotFound,
        Self::MethodNotAllowed,
        Self::RequestTimeout,
        Self::GenerationGone,
        Self::UriTooLong,
        Self::RangeNotSatisfiable,
        Self::RateLimited,
        Self::HeadersTooLarge,
        Self::InternalError,
        Self::IndexUnavailable,
        Self::Overloaded,
    ];

    /// The code as problem documents write it.
    pub const fn as_str(self) -> &'static str {
        self.facts().code
    }

    /// The HTTP status.
    pub const fn status(self) -> StatusCode {
        self.facts().status
    }

    /// The meaning in a few words, the same for every occurrence.
    pub const fn title(self) -> &'static str {
        self.facts().title
    }

    /// The condition that it reports.
    pub const fn cause(self) -> &'static str {
        self.facts().cause
    }

    /// The remedy for the caller.
    pub const fn cure(self) -> &'static str {
        self.facts().cure
    }

    #[expect(clippy::too_many_lines, reason = "a table: one entry a code")]
    const fn facts(self) -> Facts {
        match self {
            Self::InvalidParameter => Facts {
                code: "invalid_parameter",
                status: StatusCode::BAD_REQUEST,
                title: "Invalid parameter",
                cause: "A parameter has a value outside of what is allowed, isn't valid UTF-8, or appears more than once.",
                cure: "The errors array names each parameter and its allowed values. Values are never adjusted silently.",
            },
            Self::UnknownParameter => Facts {
                code: "unknown_parameter",
                status: StatusCode::BAD_REQUEST,
                title: "Unknown parameter",
                cause: "The endpoint has no parameter of this name.",
                cure: "The errors array names the nearest valid parameter. Check the spelling, or leave it out.",
            },
            Self::OffsetTooLarge => Facts {
                code: "offset_too_large",
                status: StatusCode::BAD_REQUEST,
                title: "Offset too large",
                cause: "With a query (q), results can be paged up to offset 10000.",
                cure: "Narrow the query with filters, or download the whole directory from /v1/exports.",
            },
            Self::BadRequest => Facts {
                code: "bad_request",
                status: StatusCode::BAD_REQUEST,
                title: "Bad request",
                cause: "The path can't be read, for instance because an id isn't valid UTF-8 once decoded.",
                cure: "Percent-encode ids as UTF-8.",
            },
            Self::MissingApiKey => Facts {
                code: "missing_api_key",
                status: StatusCode::UNAUTHORIZED,
                title: "API key missing",
                cause: "Every request under /v1 needs an API key, and this one had none.",
                cure: "Send the header Authorization: Bearer YOUR_API_KEY.",
            },
            Self::InvalidApiKey => Facts {
                code: "invalid_api_key",
                status: StatusCode::UNAUTHORIZED,
                title: "API key invalid",
                cause: "The key isn't known here: mistyped, cut off, revoked, or of another service.",
                cure: "Compare it with the key you were given, or ask the operator of this service for a new one.",
            },
            Self::ExpiredApiKey => Facts {
                code: "expired_api_key",
                status: StatusCode::UNAUTHORIZED,
                title: "API key expired",
                cause: "The key was valid until a date that has passed.",
                cure: "Ask the operator of this service for a new key.",
            },
            Self::OriginNotAllowed => Facts {
                code: "origin_not_allowed",
                status: StatusCode::FORBIDDEN,
                title: "Origin not allowed",
                cause: "The key is bound to certain web origins, and the request came from another one.",
                cure: "Use the key on the sites it was issued for, or ask the operator to add this origin.",
            },
            Self::ReplicateNotAllowed => Facts {
                code: "replicate_not_allowed",
                status: StatusCode::FORBIDDEN,
                title: "Replication not allowed",
                cause: "The key may not pull the index.",
                cure: "Use a key made with `keys create --replicate`.",
            },
            Self::SoftwareNotFound => Facts {
                code: "software_not_found",
                status: StatusCode::NOT_FOUND,
                title: "Product not found",
                cause: "No product has this id. Ids are compared exactly, upper and lower case included.",
                cure: "Take ids from /v1/software or /v1/search, and percent-encode them in the path.",
            },
            Self::CategoryNotFound => Facts {
                code: "category_not_found",
                status: StatusCode::NOT_FOUND,
                title: "Category not found",
                cause: "No category has this id.",
                cure: "Take ids from /v1/categories, and percent-encode them in the path.",
            },
            Self::TermNotFound => Facts {
                code: "term_not_found",
                status: StatusCode::NOT_FOUND,
                title: "Glossary term not found",
                cause: "No glossary term has this id.",
                cure: "Take ids from /v1/glossary, and percent-encode them in the path.",
            },
            Self::ExportNotFound => Facts {
                code: "export_not_found",
                status: StatusCode::NOT_FOUND,
                title: "Export not found",
                cause: "No export with this id is loaded.",
                cure: "Take ids from /v1/exports.",
            },
            Self::GenerationGone => Facts {
                code: "generation_gone",
                status: StatusCode::GONE,
                title: "Generation gone",
                cause: "The changes since this generation aren't known: it is older than the last hundred, from before a very large \
                        change, or was never served here.",
                cure: "Download the whole directory from /v1/exports, and go on from the generation in its X-Generation header.",
            },
            Self::RouteNotFound => Facts {
                code: "route_not_found",
                status: StatusCode::NOT_FOUND,
                title: "Route not found",
                cause: "Nothing lives at this path.",
                cure: "Compare the path with /openapi.json.",
            },
            Self::MethodNotAllowed => Facts {
                code: "method_not_allowed",
                status: StatusCode::METHOD_NOT_ALLOWED,
                title: "Method not allowed",
                cause: "The service is read-only: it answers GET, HEAD and OPTIONS, and POST at /mcp.",
                cure: "Use a method of the header Allow.",
            },
            Self::RequestTimeout => Facts {
                code: "request_timeout",
                status: StatusCode::REQUEST_TIMEOUT,
                title: "Request timed out",
                cause: "The request could not be answered in the time allowed for one.",
                cure: "Try again; if it stays so, ask for less at once (a smaller limit, fewer facets).",
            },
            Self::UriTooLong => Facts {
                code: "uri_too_long",
                status: StatusCode::URI_TOO_LONG,
                title: "Address too long",
                cause: "Path and query together are longer than 8 KiB.",
                cure: "Shorten the query; q takes at most 256 characters.",
            },
            Self::HeadersTooLarge => Facts {
                code: "headers_too_large",
                status: StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
                title: "Headers too large",
                cause: "The request's headers together are larger than 16 KiB.",
                cure: "Send fewer or shorter headers; cookies aren't needed.",
            },
            Self::RangeNotSatisfiable => Facts {
                code: "range_not_satisfiable",
                status: StatusCode::RANGE_NOT_SATISFIABLE,
                title: "Range not satisfiable",
                cause: "The range in Range begins behind the end of the download.",
                cure: "Content-Range has the length; leave Range out for the whole.",
            },
            Self::RateLimited => Facts {
                code: "rate_limited",
                status: StatusCode::TOO_MANY_REQUESTS,
                title: "Too many requests",
                cause: "The quota of the key, or without a key that of the caller's address, is used up for the moment; every answer \
                        tells what is left in its RateLimit header. Or too many downloads are in progress. Or too many requests from the caller's address had a key that isn't valid; a valid one is answered \
                        from there all the same.",
                cure: "Wait for the seconds in retry_after_seconds (the Retry-After header), then go on.",
            },
            Self::InternalError => Facts {
                code: "internal_error",
                status: StatusCode::INTERNAL_SERVER_ERROR,
                title: "Internal error",
                cause: "The service failed. It isn't the request's fault.",
                cure: "Try again later; if it stays so, tell the operator the request_id.",
            },
            Self::IndexUnavailable => Facts {
                code: "index_unavailable",
                status: StatusCode::SERVICE_UNAVAILABLE,
                title: "Directory not available",
                cause: "The service is still loading the directory, or can't reach its index.",
                cure: "Try again after the seconds in retry_after_seconds (the Retry-After header).",
            },
            Self::Overloaded => Facts {
                code: "overloaded",
                status: StatusCode::SERVICE_UNAVAILABLE,
                title: "Overloaded",
                cause: "The service has more requests at hand than it takes at once.",
                cure: "Try again after the seconds in retry_after_seconds (the Retry-After header).",
            },
        }
    }
}
