//! The W3C Reconciliation Service API 0.2, with which `OpenRefine` matches the rows of a table to
//! products and adds columns from them. It isn't part of the OpenAPI document. Its clients send
//! parameters of their own, so unknown ones are ignored.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use axum::Router;
use axum::body::to_bytes;
use axum::extract::{Request, State};
use axum::http::header::HOST;
use axum::http::{HeaderMap, Method};
use axum::response::Response;
use axum::routing::get;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::catalogue::resource::SoftwareItem;
use crate::curate::publiccode::property;
use crate::http::content_coding::has_media_type;
use crate::http::extract::Snapshot;
use crate::http::extract::query::RawQuery;
use crate::http::middleware::{Cost, RECONCILE, RequestContext};
use crate::http::problem::{ApiError, ErrorCode, ParameterProblem};
use crate::http::response;
use crate::http::state::AppState;
use crate::service::{self, CERTAIN, NameMatch, Reason, ServiceError, Stop};

/// The maximum number of queries in a request.
const MAX_BATCH: usize = 10;

/// The maximum number of products to extend at once. `OpenRefine` previews up to this many rows.
const MAX_EXTENDED: usize = 1000;

/// How many extended products count as one request.
const EXTENDED_PER_REQUEST: usize = 10;

/// The maximum number of properties to fetch at once.
const MAX_PROPERTIES: usize = 100;

/// The maximum size of the records to extend together, in bytes.
const MAX_EXTENDED_BYTES: usize = 8 * 1024 * 1024;

/// The maximum size of the form, in bytes.
const MAX_FORM_BYTES: usize = 64 * 1024;

/// How many products a query without a limit returns, and how many are suggested at once.
const FEW: usize = 10;

/// How many suggestions may be skipped.
const MAX_SKIPPED: usize = 90;

/// The properties of every product that are proposed, in addition to attributes.
const PROPERTIES: [(&str, &str); 9] = [
    ("tagline", "Tagline"),
    ("description", "Description"),
    ("url", "Website"),
    ("categories", "Categories"),
    ("rating", "Rating"),
    ("review_count", "Number of reviews"),
    ("offering_type", "Kind of offering"),
    ("evidence_status", "Evidence status"),
    ("evidence_checked_on", "Evidence checked on"),
];

pub(in crate::http) fn router() -> Router<Arc<AppState>> {
    let [service, entities, properties, proposals] = RECONCILE;
    Router::new()
        .route(service, get(answer).post(answer))
        .route(entities, get(suggest_products))
        .route(properties, get(suggest_properties))
        .route(proposals, get(propose_properties))
}

/// Answers a batch of queries or extends products. Without either, describes the service.
async fn answer(
    State(state): State<Arc<AppState>>,
    snapshot: Snapshot,
    request: Request,
) -> Result<Response, ApiError> {
    let (parts, body) = request.into_parts();
    let form = if parts.method == Method::POST {
        if !has_media_type(&parts.headers, "application/x-www-form-urlencoded") {
            return Err(ApiError::UnsupportedMediaType);
        }
        let body = to_bytes(body, MAX_FORM_BYTES).await.map_err(|_| ApiError::ContentTooLarge)?;
        &RawQuery::parse(&String::from_utf8_lossy(&body))
    } else {
        RequestContext::of(&parts.extensions)?.query()
    };
    if let Some(queries) = read(form, "queries")? {
        reconcile(&state, snapshot, queries).await
    } else if let Some(extension) = read(form, "extend")? {
        extend(&state, snapshot, extension).await
    } else if parts.method == Method::POST {
        Err(refused("queries", "is required unless there's `extend`"))
    } else {
        Ok(response::json(manifest(&state, &parts.headers).to_string()))
    }
}

fn parameter(form: &RawQuery, name: &str) -> Option<String> {
    form.first(name).map(|value| String::from_utf8_lossy(value).into_owned())
}

fn read<T: DeserializeOwned>(form: &RawQuery, name: &str) -> Result<Option<T>, ApiError> {
    let Some(json) = parameter(form, name) else { return Ok(None) };
    serde_json::from_str(&json).map(Some).map_err(|error| refused(name, &format!("isn't valid: {error}")))
}

fn refused(name: &str, message: &str) -> ApiError {
    let problem =
        ParameterProblem { param: name.to_owned(), code: ErrorCode::InvalidParameter, message: message.to_owned() };
    ApiError::Parameters(vec![problem])
}

fn manifest(state: &AppState, headers: &HeaderMap) -> Value {
    let host = headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let base = match state.config.base() {
        "" => format!("http://{host}"),
        public => public.to_owned(),
    };
    let service = |path: &str| json!({"service_url": base, "service_path": path});
    let [_, entities, properties, proposals] = RECONCILE;
    json!({
        "versions": ["0.1", "0.2"],
        "name": state.config.site_title,
        "identifierSpace": format!("{base}/software/"),
        "schemaSpace": "https://schema.org/SoftwareApplication",
        "defaultTypes": [software()],
        "documentation": format!("{base}/docs"),
        "serviceVersion": env!("CARGO_PKG_VERSION"),
        "view": {"url": format!("{base}/software/{{{{id}}}}")},
        "suggest": {"entity": service(entities), "property": service(properties)},
        "extend": {"propose_properties": service(proposals), "property_settings": []},
        "batchSize": MAX_BATCH,
    })
}

/// The type of all products.
fn software() -> Value {
    json!({"id": "software", "name": "Software"})
}

#[derive(Deserialize)]
struct Query {
    #[serde(rename = "query")]
    name: Option<String>,
    limit: Option<usize>,
    #[serde(default)]
    properties: Vec<GivenProperty>,
}

#[derive(Deserialize)]
struct GivenProperty {
    pid: String,
    v: Value,
}

impl Query {
    fn property(&self, name: &str) -> Option<&str> {
        let given = &self.properties.iter().find(|property| property.pid == name)?.v;
        let first = given.as_array().and_then(|all| all.first()).unwrap_or(given);
        first.as_str().or_else(|| first["name"].as_str()).map(str::trim).filter(|text| !text.is_empty())
    }
}

async fn reconcile(
    state: &AppState,
    snapshot: Snapshot,
    queries: BTreeMap<String, Query>,
) -> Result<Response, ApiError> {
    check_size("queries", "queries", queries.len(), MAX_BATCH)?;
    let cost = queries.len();
    let mut results = Map::new();
    for (key, query) in queries {
        let snapshot = snapshot.clone();
        let candidates = state.search(move |stop: Stop| candidates(&snapshot, &query, &stop)).await??;
        results.insert(key, json!({ "result": candidates }));
    }
    Ok(charged(cost, &Value::Object(results)))
}

fn check_size(name: &str, what: &str, size: usize, most: usize) -> Result<(), ApiError> {
    if size <= most {
        return Ok(());
    }
    Err(refused(name, &format!("has {size} {what}; a request may have at most {most}")))
}

/// A response that counts as several requests.
fn charged(cost: usize, body: &Value) -> Response {
    let mut response = response::json(body.to_string());
    response.extensions_mut().insert(Cost(cost as u64));
    response
}

/// The products that a query may refer to, best first: one with this id, then those with similar names.
fn candidates(snapshot: &Snapshot, query: &Query, stop: &Stop) -> Result<Vec<Value>, ServiceError> {
    let name = query.name.as_deref().unwrap_or_default().trim();
    if name.is_empty() {
        return Ok(Vec::new());
    }
    let limit = query.limit.unwrap_or(FEW).max(1);
    let budget = service::budget(snapshot, stop);
    let by_id = service::get_items(snapshot, &[name.to_owned()], None)?.into_iter().map(|item| (1.0, "id", item));
    let (vendor, url) = (query.property("vendor"), query.property("url"));
    let named = service::match_name(snapshot, name, [vendor, url], limit, &budget)?;
    let named = named.into_iter().map(|NameMatch { item, score, reason }| (score, feature(reason), item));
    let mut seen = BTreeSet::new();
    let mut candidates = Vec::new();
    for (score, feature, item) in by_id.chain(named) {
        let item: SoftwareItem<'_> = serde_json::from_slice(&item)?;
        if candidates.len() < limit && seen.insert(item.id.clone().into_owned()) {
            let mut candidate = entity(&item, "type");
            let percent = f64::from((score * 1000.0).round()) / 10.0;
            candidate["score"] = percent.into();
            candidate["match"] = (candidates.is_empty() && score >= CERTAIN).into();
            candidate["features"] = json!([{"id": feature, "value": percent}]);
            candidates.push(candidate);
        }
    }
    Ok(candidates)
}

/// A product, with its type under the given key.
fn entity(item: &SoftwareItem<'_>, kind: &str) -> Value {
    let mut entity = json!({"id": item.id, "name": item.name, kind: [software()]});
    if let Some(tagline) = &item.tagline {
        entity["description"] = (**tagline).into();
    }
    entity
}

const fn feature(reason: Reason) -> &'static str {
    match reason {
        Reason::Name => "name",
        Reason::Base => "base_name",
        Reason::Abbreviation => "abbreviation",
        Reason::Spelling => "spelling",
        Reason::Words => "words",
    }
}

#[derive(Deserialize)]
struct Extension {
    ids: BTreeSet<String>,
    properties: Vec<Wanted>,
}

#[derive(Deserialize)]
struct Wanted {
    id: String,
}

async fn extend(state: &AppState, snapshot: Snapshot, extension: Extension) -> Result<Response, ApiError> {
    let Extension { ids, properties } = extension;
    check_size("extend", "ids", ids.len(), MAX_EXTENDED)?;
    check_size("extend", "properties", properties.len(), MAX_PROPERTIES)?;
    let known = known_properties(&snapshot);
    let mut wanted = BTreeSet::new();
    let mut meta = Vec::new();
    for Wanted { id } in properties {
        if wanted.insert(id.clone()) {
            let label = known.iter().find(|(property, _)| *property == id).map_or(&id, |(_, label)| label);
            meta.push(json!({"id": id, "name": label}));
        }
    }
    let cost = ids.len().div_ceil(EXTENDED_PER_REQUEST);
    let rows = move |stop: Stop| {
        let (mut rows, mut size) = (Map::new(), 0);
        for id in ids.into_iter().take_while(|_| !stop.is_set()) {
            let found = service::get_software(&snapshot, &id, None)?;
            size += found.as_ref().map_or(0, |(record, _)| record.body.len());
            if size > MAX_EXTENDED_BYTES {
                let most = MAX_EXTENDED_BYTES / (1024 * 1024);
                let message = format!("asks for records of more than {most} MiB together; ask for fewer ids");
                return Err(refused("extend", &message));
            }
            let record = found.map_or(Ok(Value::Null), |(record, _)| serde_json::from_slice(&record.body));
            let record: Value = record.map_err(ServiceError::from)?;
            let cells = wanted.iter().map(|name| (name.clone(), cells(property(&record["data"], name))));
            rows.insert(id, Value::Object(cells.collect()));
        }
        Ok(rows)
    };
    let rows = state.search(rows).await??;
    Ok(charged(cost, &json!({"meta": meta, "rows": rows})))
}

/// A property's values. The protocol has no booleans and no dates without a time, so these are text.
fn cells(value: Option<Value>) -> Value {
    let one = |value: Value| match value {
        Value::Number(number) if number.is_i64() || number.is_u64() => json!({ "int": number }),
        Value::Number(number) => json!({ "float": number }),
        Value::String(text) => json!({ "str": text }),
        other => json!({ "str": other.to_string() }),
    };
    match value {
        None => json!([]),
        Some(Value::Array(values)) => values.into_iter().map(one).collect(),
        Some(value) => json!([one(value)]),
    }
}

/// The ids and labels of the properties that are proposed. Any other property of a record may be
/// fetched too.
fn known_properties(snapshot: &Snapshot) -> Vec<(String, String)> {
    let every = PROPERTIES.into_iter().map(|(property, label)| (property.to_owned(), label.to_owned()));
    let attributes = snapshot.catalogue.tables.attributes.iter().filter(|(_, attribute)| !attribute.hidden);
    let attributes = attributes.map(|(_, attribute)| (attribute.property.to_string(), attribute.label.to_string()));
    every.chain(attributes).collect()
}

/// Suggests products by name or id while either is being typed.
async fn suggest_products(
    State(state): State<Arc<AppState>>,
    snapshot: Snapshot,
    request: Request,
) -> Result<Response, ApiError> {
    let form = RequestContext::of(request.extensions())?.query();
    let (prefix, skipped) = (parameter(form, "prefix").unwrap_or_default(), cursor(form)?);
    let suggest = move |stop: Stop| {
        let budget = service::budget(&snapshot, &stop);
        let limit = u32::try_from(skipped + FEW).unwrap_or(u32::MAX);
        let mut found = service::get_items(&snapshot, std::slice::from_ref(&prefix), None)?;
        let suggested = service::suggest(&snapshot, &prefix, limit, None, &budget)?.software;
        let ids: Vec<_> = suggested.into_iter().map(|product| product.id).filter(|id| *id != prefix).collect();
        found.extend(service::get_items(&snapshot, &ids, None)?);
        let result = found.iter().skip(skipped).take(FEW);
        let result = result.map(|item| Ok(entity(&serde_json::from_slice(item)?, "notable")));
        result.collect::<Result<Vec<_>, ServiceError>>()
    };
    let result = state.search(suggest).await??;
    Ok(response::json(json!({ "result": result }).to_string()))
}

fn cursor(form: &RawQuery) -> Result<usize, ApiError> {
    let Some(cursor) = parameter(form, "cursor") else { return Ok(0) };
    let allowed = || refused("cursor", &format!("must be a whole number from 0 to {MAX_SKIPPED}"));
    cursor.parse().ok().filter(|skipped| *skipped <= MAX_SKIPPED).ok_or_else(allowed)
}

/// Suggests properties by label or id.
async fn suggest_properties(snapshot: Snapshot, request: Request) -> Result<Response, ApiError> {
    let form = RequestContext::of(request.extensions())?.query();
    let (prefix, skipped) = (parameter(form, "prefix").unwrap_or_default().to_lowercase(), cursor(form)?);
    let starts = |text: &str| text.to_lowercase().split([' ', '_']).any(|word| word.starts_with(&prefix));
    let found = known_properties(&snapshot).into_iter().filter(|(id, label)| {
        starts(label) || id.to_lowercase().starts_with(&prefix) || label.to_lowercase().starts_with(&prefix)
    });
    let result: Vec<_> = found.skip(skipped).take(FEW).map(|(id, name)| json!({"id": id, "name": name})).collect();
    Ok(response::json(json!({ "result": result }).to_string()))
}

/// Proposes properties to fetch.
async fn propose_properties(snapshot: Snapshot, request: Request) -> Result<Response, ApiError> {
    let form = RequestContext::of(request.extensions())?.query();
    let limit = parameter(form, "limit").and_then(|limit| limit.parse().ok()).unwrap_or(usize::MAX);
    let properties = known_properties(&snapshot).into_iter().map(|(id, name)| json!({"id": id, "name": name}));
    let properties: Vec<_> = properties.take(limit).collect();
    Ok(response::json(json!({"type": "software", "properties": properties}).to_string()))
}
