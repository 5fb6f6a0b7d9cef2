//! Examples: responses recorded from a server with the bundled data (`example/`, replayed by
//! tests), and each error as the service writes it.

use serde_json::Value;
use utoipa::openapi::example::{Example, ExampleBuilder};
use utoipa::openapi::{OpenApi, RefOr};

use crate::http::problem::{self, ApiError, ErrorCode, ParameterProblem};

/// A request id like the ones that the service generates.
const REQUEST_ID: &str = "af47911fad49d57f00000000";

macro_rules! recorded {
    ($($operation:literal),* $(,)?) => {
        [$(($operation, include_str!(concat!("example/", $operation, ".json")))),*]
    };
}

/// The recorded examples by operation id: `{"request": "/v1/…", "answer": …}`.
static RECORDED: [(&str, &str); 17] = recorded![
    "listSoftware",
    "getSoftware",
    "listSimilarSoftware",
    "searchSoftware",
    "suggest",
    "listAttributes",
    "listCategories",
    "getCategory",
    "listReviews",
    "listGlossary",
    "getGlossaryTerm",
    "listExports",
    "getExport",
    "listChanges",
    "listSoftwareHistory",
    "getHealth",
    "getReadiness",
];

pub(super) fn add_recorded(document: &mut OpenApi) {
    for operation in document.paths.paths.values_mut().filter_map(|item| item.get.as_mut()) {
        let id = operation.operation_id.as_deref();
        let recorded = RECORDED.iter().find(|(operation, _)| Some(*operation) == id);
        // Recorded responses always parse: they're compiled in, and a test reads them all.
        let Some(recorded) = recorded.and_then(|(_, text)| serde_json::from_str::<Value>(text).ok()) else { continue };
        let Some(RefOr::T(answer)) = operation.responses.responses.get_mut("200") else { continue };
        let Some(RefOr::T(content)) = answer.content.get_mut("application/json") else { continue };
        let request = recorded["request"].as_str().unwrap_or_default();
        let example =
            ExampleBuilder::new().summary(format!("GET {request}")).value(Some(recorded["answer"].clone())).build();
        content.examples.insert("recorded".to_owned(), RefOr::T(example));
    }
}

pub(super) fn error_examples(codes: &[ErrorCode]) -> impl Iterator<Item = (String, RefOr<Example>)> {
    codes.iter().map(|code| {
        let error = error(*code);
        let problem = problem::describe(&error, REQUEST_ID, "/docs/errors");
        // Can't fail: a problem contains only strings and numbers, under fixed names.
        let problem = serde_json::to_value(problem).unwrap_or_default();
        let example = ExampleBuilder::new()
            .summary(code.title())
            .description(format!("{} {}", code.cause(), code.cure()))
            .value(Some(problem))
            .build();
        (code.as_str().to_owned(), RefOr::T(example))
    })
}

fn error(code: ErrorCode) -> ApiError {
    let parameter = |param: &str, message: &str| {
        ApiError::Parameters(vec![ParameterProblem { param: param.to_owned(), code, message: message.to_owned() }])
    };
    match code {
        ErrorCode::InvalidParameter => parameter("limit", "limit must be a whole number from 1 to 100."),
        ErrorCode::UnknownParameter => {
            parameter("limt", "There is no parameter \"limt\". Did you mean limit? Allowed: lang, limit, offset.")
        }
        ErrorCode::OffsetTooLarge => parameter(
            "offset",
            "offset must be at most 10000 with q; narrow the query, or download everything from /v1/exports.",
        ),
        ErrorCode::BadRequest => {
            ApiError::BadRequest("The id in the path isn't valid UTF-8 once decoded. Percent-encode ids as UTF-8.")
        }
        ErrorCode::MissingApiKey => ApiError::MissingApiKey,
        ErrorCode::InvalidApiKey => ApiError::InvalidApiKey,
        ErrorCode::ExpiredApiKey => ApiError::ExpiredApiKey,
        ErrorCode::OriginNotAllowed => ApiError::OriginNotAllowed("https://elsewhere.example".to_owned()),
        ErrorCode::HostNotAllowed => ApiError::HostNotAllowed,
        ErrorCode::SoftwareNotFound => ApiError::SoftwareNotFound("nowhere".to_owned()),
        ErrorCode::CategoryNotFound => ApiError::CategoryNotFound { id: "nowhere".to_owned(), renamed: Vec::new() },
        ErrorCode::TermNotFound => ApiError::TermNotFound { id: "nowhere".to_owned(), renamed: Vec::new() },
        ErrorCode::FormatUnavailable => {
            ApiError::FormatUnavailable("The catalogue needs the `description` in the export \"demo\".".to_owned())
        }
        ErrorCode::SignatureNotFound => ApiError::SignatureNotFound("demo".to_owned()),
        ErrorCode::ExportNotFound => ApiError::ExportNotFound("nowhere".to_owned()),
        ErrorCode::GenerationGone => ApiError::GenerationGone("0123456789abcdef".to_owned()),
        ErrorCode::RouteNotFound => ApiError::RouteNotFound,
        ErrorCode::MethodNotAllowed => ApiError::MethodNotAllowed,
        ErrorCode::NotAcceptable => ApiError::NotAcceptable,
        ErrorCode::RequestTimeout => ApiError::RequestTimeout,
        ErrorCode::ContentTooLarge => ApiError::ContentTooLarge,
        ErrorCode::UnsupportedMediaType => ApiError::UnsupportedMediaType,
        ErrorCode::UriTooLong => ApiError::UriTooLong,
        ErrorCode::HeadersTooLarge => ApiError::HeadersTooLarge,
        ErrorCode::RangeNotSatisfiable => ApiError::RangeNotSatisfiable { length: 4096 },
        ErrorCode::RateLimited => ApiError::RateLimited { retry_after_seconds: 3 },
        ErrorCode::InternalError => ApiError::Panicked(String::new()),
        ErrorCode::NotOffered => ApiError::NotOffered("highlighting"),
        ErrorCode::IndexUnavailable => ApiError::IndexUnavailable,
        ErrorCode::Overloaded => ApiError::Overloaded,
    }
}
