//! The complete list of error codes. Each has one row with its status and its wording for problem
//! documents and the documentation.

use axum::http::StatusCode;

/// Declares the codes, so that everything about a code is in one row.
macro_rules! codes {
    ($($code:ident = $name:literal, $status:ident, $title:literal, $cause:literal, $cure:literal;)+) => {
        /// A machine-readable error code, the `code` of a problem document. Codes are never renamed or reused.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum ErrorCode {
            $($code,)+
        }

        impl ErrorCode {
            /// All codes, in the order the documentation lists them.
            pub const ALL: &'static [Self] = &[$(Self::$code),+];

            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$code => $name,)+
                }
            }

            pub const fn status(self) -> StatusCode {
                match self {
                    $(Self::$code => StatusCode::$status,)+
                }
            }

            /// The meaning in a few words, the same for every occurrence.
            pub const fn title(self) -> &'static str {
                match self {
                    $(Self::$code => $title,)+
                }
            }

            /// What went wrong, in a sentence or two.
            pub const fn cause(self) -> &'static str {
                match self {
                    $(Self::$code => $cause,)+
                }
            }

            /// What the caller can do about it.
            pub const fn cure(self) -> &'static str {
                match self {
                    $(Self::$code => $cure,)+
                }
            }
        }
    };
}

codes! {
    InvalidParameter = "invalid_parameter", BAD_REQUEST, "Invalid parameter",
        "A parameter's value isn't allowed or isn't valid UTF-8, or the parameter appears more than once.",
        "The errors array names each parameter and its allowed values. Values are never silently adjusted.";

    UnknownParameter = "unknown_parameter", BAD_REQUEST, "Unknown parameter",
        "The endpoint has no parameter with this name.",
        "The errors array names the nearest valid parameter. Check the spelling, or leave the parameter out.";

    OffsetTooLarge = "offset_too_large", BAD_REQUEST, "Offset too large",
        "With a query (q), results can only be paged up to offset 10000; in a directory in OpenSearch, this applies to \
         every list of products and reviews.",
        "Narrow the query with filters, or download the whole directory from /v1/exports.";

    BadRequest = "bad_request", BAD_REQUEST, "Bad request",
        "The path can't be read, for instance because an id isn't valid UTF-8 once decoded.",
        "Percent-encode ids as UTF-8.";

    MissingApiKey = "missing_api_key", UNAUTHORIZED, "API key missing",
        "Every request under /v1 needs an API key, and this one had none.",
        "Send the header Authorization: Bearer YOUR_API_KEY.";

    InvalidApiKey = "invalid_api_key", UNAUTHORIZED, "API key invalid",
        "This service doesn't know the key. It may be mistyped, cut off, revoked, or meant for another service.",
        "Compare it with the key you were given, or ask the operator of this service for a new one.";

    ExpiredApiKey = "expired_api_key", UNAUTHORIZED, "API key expired",
        "The key's expiry date has passed.",
        "Ask the operator of this service for a new key.";

    OriginNotAllowed = "origin_not_allowed", FORBIDDEN, "Origin not allowed",
        "The key is restricted to certain web origins, and the request came from a different one.",
        "Use the key on the sites it was issued for, or ask the operator to add this origin.";

    HostNotAllowed = "host_not_allowed", FORBIDDEN, "Host not allowed",
        "The request is for a host name that isn't the service's own, or comes from another site's page.",
        "Use the address under which the service is published, or ask the operator to set it with --public-url.";

    SoftwareNotFound = "software_not_found", NOT_FOUND, "Product not found",
        "No product has this id. Ids must match exactly, including upper and lower case.",
        "Use ids from /v1/software or /v1/search, and percent-encode them in the path.";

    CategoryNotFound = "category_not_found", NOT_FOUND, "Category not found",
        "No category has this id.",
        "Use ids from /v1/categories, and percent-encode them in the path.";

    TermNotFound = "term_not_found", NOT_FOUND, "Glossary term not found",
        "No glossary term has this id.",
        "Use ids from /v1/glossary, and percent-encode them in the path.";

    ExportNotFound = "export_not_found", NOT_FOUND, "Export not found",
        "No export with this id is loaded.",
        "Use ids from /v1/exports.";

    SignatureNotFound = "signature_not_found", NOT_FOUND, "Signature not found",
        "The directory has no signature of this export: it doesn't check signatures, or it left out invalid records.",
        "Exports that are signed have a signed_by in /v1/exports.";

    FormatUnavailable = "format_unavailable", NOT_FOUND, "Format not available",
        "The directory lacks something that this format requires.",
        "The detail says what's missing. Use another format, or ask the operator to add it.";

    RouteNotFound = "route_not_found", NOT_FOUND, "Route not found",
        "There is nothing at this path.",
        "Check the path against /openapi.json.";

    MethodNotAllowed = "method_not_allowed", METHOD_NOT_ALLOWED, "Method not allowed",
        "The service is read-only: it accepts GET, HEAD and OPTIONS, and POST at /mcp, /sign-in and /sign-out.",
        "Use one of the methods in the Allow header.";

    NotAcceptable = "not_acceptable", NOT_ACCEPTABLE, "Not acceptable",
        "The Accept header doesn't allow application/json, which is what /mcp responds with.",
        "Send Accept: application/json, text/event-stream, or no Accept header at all.";

    RequestTimeout = "request_timeout", REQUEST_TIMEOUT, "Request timed out",
        "The request took longer than the time allowed.",
        "Try again. If it keeps happening, ask for less at once (a smaller limit, fewer facets).";

    GenerationGone = "generation_gone", GONE, "Generation gone",
        "The changes since this generation aren't known: it is older than the last hundred, predates a very large \
         change, or was never served here.",
        "Download the whole directory from /v1/exports, and continue from the generation in its X-Generation header.";

    ContentTooLarge = "content_too_large", PAYLOAD_TOO_LARGE, "Content too large",
        "The message to /mcp or the form for /reconcile is larger than 64 KiB.",
        "Send a smaller message. Tool arguments are meant to be short.";

    UriTooLong = "uri_too_long", URI_TOO_LONG, "URL too long",
        "The path and query together are longer than 8 KiB.",
        "Shorten the query; q takes at most 256 characters.";

    UnsupportedMediaType = "unsupported_media_type", UNSUPPORTED_MEDIA_TYPE, "Unsupported media type",
        "The message to /mcp wasn't sent as JSON, or the one to /reconcile not as a form.",
        "Send the header Content-Type: application/json to /mcp, and application/x-www-form-urlencoded to /reconcile.";

    RangeNotSatisfiable = "range_not_satisfiable", RANGE_NOT_SATISFIABLE, "Range not satisfiable",
        "The range in the Range header begins after the end of the download.",
        "The Content-Range header states the length. Leave out Range to get the whole download.";

    RateLimited = "rate_limited", TOO_MANY_REQUESTS, "Too many requests",
        "The quota for the key (or, without a key, for the caller's address) is used up for now; the RateLimit header \
         of every response says how much is left. Or too many downloads are in progress. Or too many requests from the \
         caller's address had an invalid key; a valid key still works from there.",
        "Wait for the number of seconds in retry_after_seconds (the Retry-After header), then continue.";

    HeadersTooLarge = "headers_too_large", REQUEST_HEADER_FIELDS_TOO_LARGE, "Headers too large",
        "The request's headers together are larger than 16 KiB.",
        "Send fewer or shorter headers.";

    InternalError = "internal_error", INTERNAL_SERVER_ERROR, "Internal error",
        "The service failed. There's nothing wrong with the request.",
        "Try again later. If it keeps happening, give the operator the request_id.";

    NotOffered = "not_offered", NOT_IMPLEMENTED, "Not offered",
        "This directory is in OpenSearch, which doesn't offer this path or parameter.",
        "The differences are listed in docs/opensearch.md.";

    IndexUnavailable = "index_unavailable", SERVICE_UNAVAILABLE, "Directory not available",
        "The service is still loading the directory, or can't reach its index.",
        "Try again after the number of seconds in retry_after_seconds (the Retry-After header).";

    Overloaded = "overloaded", SERVICE_UNAVAILABLE, "Overloaded",
        "The service is getting more requests than it can handle.",
        "Try again after the number of seconds in retry_after_seconds (the Retry-After header).";
}
