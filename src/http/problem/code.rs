//! The closed list of error codes. Each has one row with its status and its wording for problem
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
        "A parameter has a value outside of what is allowed, isn't valid UTF-8, or appears more than once.",
        "The errors array names each parameter and its allowed values. Values are never adjusted silently.";

    UnknownParameter = "unknown_parameter", BAD_REQUEST, "Unknown parameter",
        "The endpoint has no parameter of this name.",
        "The errors array names the nearest valid parameter. Check the spelling, or leave it out.";

    OffsetTooLarge = "offset_too_large", BAD_REQUEST, "Offset too large",
        "With a query (q), results can be paged up to offset 10000.",
        "Narrow the query with filters, or download the whole directory from /v1/exports.";

    BadRequest = "bad_request", BAD_REQUEST, "Bad request",
        "The path can't be read, for instance because an id isn't valid UTF-8 once decoded.",
        "Percent-encode ids as UTF-8.";

    MissingApiKey = "missing_api_key", UNAUTHORIZED, "API key missing",
        "Every request under /v1 needs an API key, and this one had none.",
        "Send the header Authorization: Bearer YOUR_API_KEY.";

    InvalidApiKey = "invalid_api_key", UNAUTHORIZED, "API key invalid",
        "The key isn't known here: mistyped, cut off, revoked, or of another service.",
        "Compare it with the key you were given, or ask the operator of this service for a new one.";

    ExpiredApiKey = "expired_api_key", UNAUTHORIZED, "API key expired",
        "The key was valid until a date that has passed.",
        "Ask the operator of this service for a new key.";

    OriginNotAllowed = "origin_not_allowed", FORBIDDEN, "Origin not allowed",
        "The key is bound to certain web origins, and the request came from another one.",
        "Use the key on the sites it was issued for, or ask the operator to add this origin.";

    ReplicateNotAllowed = "replicate_not_allowed", FORBIDDEN, "Replication not allowed",
        "The key may not pull the index.",
        "Use a key made with `keys create --replicate`.";

    SoftwareNotFound = "software_not_found", NOT_FOUND, "Product not found",
        "No product has this id. Ids are compared exactly, upper and lower case included.",
        "Take ids from /v1/software or /v1/search, and percent-encode them in the path.";

    CategoryNotFound = "category_not_found", NOT_FOUND, "Category not found",
        "No category has this id.",
        "Take ids from /v1/categories, and percent-encode them in the path.";

    TermNotFound = "term_not_found", NOT_FOUND, "Glossary term not found",
        "No glossary term has this id.",
        "Take ids from /v1/glossary, and percent-encode them in the path.";

    ExportNotFound = "export_not_found", NOT_FOUND, "Export not found",
        "No export with this id is loaded.",
        "Take ids from /v1/exports.";

    RouteNotFound = "route_not_found", NOT_FOUND, "Route not found",
        "There is nothing at this path.",
        "Compare the path with /openapi.json.";

    MethodNotAllowed = "method_not_allowed", METHOD_NOT_ALLOWED, "Method not allowed",
        "The service is read-only: it answers GET, HEAD and OPTIONS, and POST at /mcp, /sign-in and /sign-out.",
        "Use a method of the header Allow.";

    NotAcceptable = "not_acceptable", NOT_ACCEPTABLE, "Not acceptable",
        "The header Accept leaves out application/json, in which /mcp answers.",
        "Send Accept: application/json, text/event-stream, or leave it out.";

    RequestTimeout = "request_timeout", REQUEST_TIMEOUT, "Request timed out",
        "The request could not be answered in the time allowed for one.",
        "Try again; if it stays so, ask for less at once (a smaller limit, fewer facets).";

    GenerationGone = "generation_gone", GONE, "Generation gone",
        "The changes since this generation aren't known: it is older than the last hundred, from before a very large \
         change, or was never served here.",
        "Download the whole directory from /v1/exports, and go on from the generation in its X-Generation header.";

    ContentTooLarge = "content_too_large", PAYLOAD_TOO_LARGE, "Content too large",
        "A message to /mcp has more than 64 KiB.",
        "Send a smaller one: arguments of tools are short.";

    UriTooLong = "uri_too_long", URI_TOO_LONG, "Address too long",
        "Path and query together are longer than 8 KiB.",
        "Shorten the query; q takes at most 256 characters.";

    UnsupportedMediaType = "unsupported_media_type", UNSUPPORTED_MEDIA_TYPE, "Unsupported media type",
        "A message to /mcp isn't sent as JSON.",
        "Send the header Content-Type: application/json.";

    RangeNotSatisfiable = "range_not_satisfiable", RANGE_NOT_SATISFIABLE, "Range not satisfiable",
        "The range in the Range header begins after the end of the download.",
        "Content-Range has the length; leave Range out for the whole.";

    RateLimited = "rate_limited", TOO_MANY_REQUESTS, "Too many requests",
        "The quota of the key, or without a key that of the caller's address, is used up for the moment; every answer \
         tells what is left in its RateLimit header. Or too many downloads are in progress. Or too many requests from \
         the caller's address had a key that isn't valid; a valid one is answered from there all the same.",
        "Wait for the seconds in retry_after_seconds (the Retry-After header), then go on.";

    HeadersTooLarge = "headers_too_large", REQUEST_HEADER_FIELDS_TOO_LARGE, "Headers too large",
        "The request's headers together are larger than 16 KiB.",
        "Send fewer or shorter headers.";

    InternalError = "internal_error", INTERNAL_SERVER_ERROR, "Internal error",
        "The service failed. It isn't the request's fault.",
        "Try again later; if it stays so, tell the operator the request_id.";

    IndexUnavailable = "index_unavailable", SERVICE_UNAVAILABLE, "Directory not available",
        "The service is still loading the directory, or can't reach its index.",
        "Try again after the seconds in retry_after_seconds (the Retry-After header).";

    Overloaded = "overloaded", SERVICE_UNAVAILABLE, "Overloaded",
        "The service has more requests at hand than it takes at once.",
        "Try again after the seconds in retry_after_seconds (the Retry-After header).";
}
