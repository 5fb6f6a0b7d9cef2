//! A product in the formats of other catalogues: publiccode.yml and codemeta.json.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use serde_json::{Map, Value, json};

use crate::curate::publiccode::{self, property};
use crate::http::extract::{PathId, Served};
use crate::http::openapi::{ApiErrors, NotFound};
use crate::http::problem::ApiError;
use crate::http::response;
use crate::http::state::AppState;
use crate::service;

/// Get a product as publiccode.yml
///
/// The record in the format in which public bodies describe their software (version 0.x), with the properties that
/// `import` reads from such a file. Keys that the format requires, such as `url`, are missing if the record has no value
/// for them.
#[utoipa::path(
    get,
    path = "/v1/software/{id}/publiccode.yml",
    operation_id = "getPubliccode",
    tag = "Software",
    params(("id" = String, Path, description = "The product's id, percent-encoded", example = "demo-permit-penguin")),
    responses((status = 200, description = "The file", body = HashMap<String, Value>, content_type = "application/yaml"), NotFound, ApiErrors),
)]
pub(in crate::http) async fn get_publiccode(
    State(state): State<Arc<AppState>>,
    served: Served,
    PathId(id): PathId,
) -> Result<Response, ApiError> {
    Ok(response::of_type("application/yaml", write(&state, served, id, publiccode::write).await?))
}

/// Get a product as codemeta.json
///
/// The record in the vocabulary of `CodeMeta` 3.0 (JSON-LD), with every property that the vocabulary has a term for.
#[utoipa::path(
    get,
    path = "/v1/software/{id}/codemeta.json",
    operation_id = "getCodemeta",
    tag = "Software",
    params(("id" = String, Path, description = "The product's id, percent-encoded", example = "demo-permit-penguin")),
    responses(
        (status = 200, description = "The document", body = HashMap<String, Value>, content_type = "application/ld+json"),
        NotFound,
        ApiErrors,
    ),
)]
pub(in crate::http) async fn get_codemeta(
    State(state): State<Arc<AppState>>,
    served: Served,
    PathId(id): PathId,
) -> Result<Response, ApiError> {
    Ok(response::of_type("application/ld+json", write(&state, served, id, codemeta).await?))
}

/// Writes a record. It may be large, so that's done on the search pool.
async fn write<T: Send + 'static>(
    state: &AppState,
    served: Served,
    id: String,
    write: fn(&Value) -> T,
) -> Result<T, ApiError> {
    let not_found = ApiError::SoftwareNotFound(id.clone());
    let (snapshot, found) = match served {
        Served::Snapshot(snapshot) => (Some(snapshot), None),
        Served::OpenSearch(directory) => (None, directory.get_software(&id, None).await?),
    };
    let write = move |_| {
        let found = match snapshot {
            Some(snapshot) => service::get_software(&snapshot, &id, None)?,
            None => found,
        };
        let (record, _) = found.ok_or(not_found)?;
        let body: Value = serde_json::from_slice(&record.body).map_err(ApiError::internal)?;
        Ok(write(&body["data"]))
    };
    state.search(write).await?
}

/// The terms of `CodeMeta` for properties. The first one that a record has counts.
const TERMS: [(&str, &[&str]); 14] = [
    ("identifier", &["id"]),
    ("name", &["name"]),
    ("description", &["description", "tagline"]),
    ("url", &["url"]),
    ("codeRepository", &["repository"]),
    ("applicationCategory", &["categories"]),
    ("keywords", &["tags"]),
    ("softwareHelp", &["documentation"]),
    ("developmentStatus", &["development_status"]),
    ("datePublished", &["release_date"]),
    ("programmingLanguage", &["programming_languages", "programming_language"]),
    ("operatingSystem", OPERATING_SYSTEMS),
    ("softwareVersion", VERSIONS),
    ("license", LICENSES),
];

/// The terms whose values are addresses, unless they say that they're text.
const ADDRESSES: [&str; 5] = ["identifier", "url", "codeRepository", "applicationCategory", "developmentStatus"];

pub(in crate::http) const OPERATING_SYSTEMS: &[&str] = &["operating_systems", "operating_system", "platforms"];
pub(in crate::http) const VERSIONS: &[&str] = &["software_version", "version"];
pub(in crate::http) const LICENSES: &[&str] = &["license", "licence"];

fn is_address(text: &str) -> bool {
    text.starts_with("https://") || text.starts_with("http://")
}

/// A value of one of [`ADDRESSES`]. A processor would take bare text for an address relative to the
/// document's own.
fn address_or_text(value: Value) -> Value {
    match value {
        Value::Array(values) => values.into_iter().map(address_or_text).collect(),
        Value::String(text) if is_address(&text) => text.into(),
        text => json!({ "@value": text }),
    }
}

fn codemeta(record: &Value) -> String {
    let kind = if property(record, "repository").is_some() { "SoftwareSourceCode" } else { "SoftwareApplication" };
    let mut document = Map::new();
    document.insert("@context".to_owned(), "https://w3id.org/codemeta/3.0".into());
    document.insert("@type".to_owned(), kind.into());
    for (term, names) in TERMS {
        let value = names.iter().find_map(|name| property(record, name));
        let value = match term {
            "license" => value.map(|value| license(&value)),
            _ if ADDRESSES.contains(&term) => value.map(address_or_text),
            _ => value,
        };
        document.extend(value.map(|value| (term.to_owned(), value)));
    }
    let organisation = |name| json!({"@type": "Organization", "name": name});
    document.extend(property(record, "vendor").map(|name| ("author".to_owned(), organisation(name))));
    Value::Object(document).to_string()
}

/// A licence in JSON-LD: a URL, also for the identifier of a licence in the SPDX list, or else a work
/// with this name.
pub(in crate::http) fn license(value: &Value) -> Value {
    let Some(text) = value.as_str() else { return value.clone() };
    let is_identifier = |byte: u8| byte.is_ascii_alphanumeric() || b"-.+".contains(&byte);
    if is_address(text) {
        text.into()
    } else if text.bytes().all(is_identifier) && text.bytes().any(|byte| byte.is_ascii_digit()) {
        format!("https://spdx.org/licenses/{text}").into()
    } else {
        json!({"@type": "CreativeWork", "name": text})
    }
}
