//! The strict `Query` extractor. Each endpoint lists its parameters once, as a table: the extractor reads by it and rejects
//! every other parameter, and the OpenAPI document is written from it.
//!
//! All problems of a request are collected before it is rejected, so that a caller can fix them in one go.

pub(in crate::http) mod definition;
mod raw;
pub(in crate::http) mod value;

pub(in crate::http) use raw::RawQuery;

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use utoipa::IntoParams;
use utoipa::openapi::path::{Parameter as OpenApiParameter, ParameterBuilder, ParameterIn, ParameterStyle};
use utoipa::openapi::schema::{ArrayBuilder, Schema};
use utoipa::openapi::{RefOr, Required};

use self::value::{Flag, Integer, Text, Value};
use crate::http::problem::{ApiError, ErrorCode, ParameterProblem};
use crate::http::state::AppState;
use crate::service::PageRequest;
use crate::text::nearest;

/// The largest offset of a page with a query (`q`): programs that need more download an export.
pub(in crate::http) const MAX_QUERY_OFFSET: u64 = 10_000;

/// A query parameter of an endpoint.
#[derive(Debug)]
pub(in crate::http) struct Parameter<V> {
    pub(in crate::http) name: &'static str,
    /// Its description in the documentation.
    pub(in crate::http) about: &'static str,
    pub(in crate::http) value: V,
    /// Whether it may appear more than once.
    pub(in crate::http) repeatable: bool,
    /// A value as a request has it, once decoded, with which the bundled exports have a result.
    pub(in crate::http) example: &'static str,
}

/// A parameter of any kind of value: an entry of an endpoint's table.
pub(in crate::http) trait AnyParameter: Sync {
    fn name(&self) -> &'static str;
    fn describe(&self) -> OpenApiParameter;
}

impl<V: Value + Sync> AnyParameter for Parameter<V> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn describe(&self) -> OpenApiParameter {
        let one = Schema::Object(self.value.schema());
        let example = self.value.example(self.example);
        let parameter = ParameterBuilder::new()
            .name(self.name)
            .parameter_in(ParameterIn::Query)
            .required(Required::False)
            .description(Some(self.about));
        if self.repeatable {
            let many = ArrayBuilder::new().items(RefOr::T(one)).build();
            let parameter = parameter.style(Some(ParameterStyle::Form)).explode(Some(true));
            parameter.schema(Some(Schema::Array(many))).example(Some([example].into_iter().collect())).build()
        } else {
            parameter.schema(Some(one)).example(Some(example)).build()
        }
    }
}

/// The typed parameters of an endpoint.
pub(in crate::http) trait FromParameters: Sized {
    /// The endpoint's parameters, in groups; some are shared with other endpoints.
    const PARAMETERS: &'static [&'static [&'static dyn AnyParameter]];

    /// The endpoint's parameters.
    fn parameters() -> impl Iterator<Item = &'static dyn AnyParameter> {
        Self::PARAMETERS.iter().copied().flatten().copied()
    }

    /// Reads them. A value that can't be read leaves a problem in `values`; then the result isn't used.
    fn read(values: &mut Values<'_>) -> Self;
}

/// An endpoint without parameters.
impl FromParameters for () {
    const PARAMETERS: &'static [&'static [&'static dyn AnyParameter]] = &[];

    fn read(_: &mut Values<'_>) -> Self {}
}

/// The endpoint's query parameters, checked. Rejects a request with [`ApiError::Parameters`], which lists all its problems.
#[derive(Debug)]
pub(in crate::http) struct Query<T>(pub(in crate::http) T);

impl<T: FromParameters> FromRequestParts<Arc<AppState>> for Query<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &Arc<AppState>) -> Result<Self, ApiError> {
        let query = RawQuery::parse(parts.uri.query().unwrap_or_default());
        let mut values = Values::collect(&query, &T::parameters().collect::<Vec<_>>());
        let read = T::read(&mut values);
        if values.problems.is_empty() { Ok(Self(read)) } else { Err(ApiError::Parameters(values.problems)) }
    }
}

impl<T: FromParameters> IntoParams for Query<T> {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<OpenApiParameter> {
        T::parameters().map(AnyParameter::describe).collect()
    }
}

/// The parameters of a request that the endpoint has, and the problems found so far.
#[derive(Debug)]
pub(in crate::http) struct Values<'q> {
    pairs: Vec<(&'static str, Option<&'q str>)>,
    problems: Vec<ParameterProblem>,
}

impl<'q> Values<'q> {
    fn collect(query: &'q RawQuery, known: &[&dyn AnyParameter]) -> Self {
        let mut values = Self { pairs: Vec::new(), problems: Vec::new() };
        for (name, value) in query.pairs() {
            match known.iter().find(|parameter| parameter.name().as_bytes() == name) {
                Some(parameter) => values.pairs.push((parameter.name(), std::str::from_utf8(value).ok())),
                None => values.problems.push(unknown(name, known)),
            }
        }
        values
    }

    /// The parameter's value, if it appears once and can be read.
    pub(in crate::http) fn one<V: Value>(&mut self, parameter: &Parameter<V>) -> Option<V::Output> {
        let mut given = self.given(parameter.name);
        let first = given.next()?;
        if given.next().is_some() {
            drop(given);
            self.refuse(parameter.name, ErrorCode::InvalidParameter, "must be given only once");
            return None;
        }
        drop(given);
        self.take(parameter, first)
    }

    /// All values of a repeatable parameter, in order.
    pub(in crate::http) fn many<V: Value>(&mut self, parameter: &Parameter<V>) -> Vec<V::Output> {
        let given: Vec<_> = self.given(parameter.name).collect();
        given.into_iter().filter_map(|text| self.take(parameter, text)).collect()
    }

    /// The text to search for; `None` for white space alone.
    pub(in crate::http) fn query(&mut self, parameter: &Parameter<Text>) -> Option<String> {
        self.one(parameter).filter(|q| !q.trim().is_empty())
    }

    /// The flag, or its default.
    pub(in crate::http) fn flag(&mut self, parameter: &Parameter<Flag>) -> bool {
        self.one(parameter).unwrap_or(parameter.value.default)
    }

    /// The requested page of a list that can be paged to its end.
    pub(in crate::http) fn page(&mut self, limit: &Parameter<Integer>, offset: &Parameter<Integer>) -> PageRequest {
        let size = self.one(limit).unwrap_or(limit.value.default);
        let offset = self.one(offset).unwrap_or(offset.value.default);
        PageRequest { limit: u32::try_from(size).unwrap_or(u32::MAX), offset }
    }

    /// The requested page of a list that `q` may restrict, which then bounds the offset.
    pub(in crate::http) fn queried_page(&mut self, limit: &Parameter<Integer>, q: Option<&str>) -> PageRequest {
        let offset = &definition::QUERIED_OFFSET;
        let page = self.page(limit, offset);
        if q.is_some() && page.offset > MAX_QUERY_OFFSET {
            self.refuse(
                offset.name,
                ErrorCode::OffsetTooLarge,
                &format!(
                    "must be at most {MAX_QUERY_OFFSET} with q; narrow the query, or download everything from \
                     /v1/exports"
                ),
            );
        }
        page
    }

    fn given(&self, name: &'static str) -> impl Iterator<Item = Option<&'q str>> + use<'_, 'q> {
        self.pairs.iter().filter(move |(given, _)| *given == name).map(|(_, value)| *value)
    }

    fn take<V: Value>(&mut self, parameter: &Parameter<V>, text: Option<&str>) -> Option<V::Output> {
        let read = match text {
            Some(text) => parameter.value.read(text),
            None => Err("must be UTF-8, percent-encoded".to_owned()),
        };
        let name = parameter.name;
        read.map_err(|allowed| {
            let is_list = parameter.repeatable && text.is_some_and(|text| text.contains(','));
            let hint = if is_list {
                format!("; for several, repeat the parameter: {name}=…&{name}=…")
            } else {
                String::new()
            };
            self.refuse(name, ErrorCode::InvalidParameter, &format!("{allowed}{hint}"));
        })
        .ok()
    }

    fn refuse(&mut self, name: &str, code: ErrorCode, allowed: &str) {
        let message = format!("{name} {allowed}.").replace("?.", "?");
        self.problems.push(ParameterProblem { param: name.to_owned(), code, message });
    }
}

fn unknown(name: &[u8], known: &[&dyn AnyParameter]) -> ParameterProblem {
    let Ok(name) = std::str::from_utf8(name) else {
        return ParameterProblem {
            param: String::from_utf8_lossy(name).into_owned(),
            code: ErrorCode::InvalidParameter,
            message: "A parameter's name must be UTF-8, percent-encoded.".to_owned(),
        };
    };
    let names = || known.iter().map(|parameter| parameter.name());
    let message = if known.is_empty() {
        format!("There is no parameter {name:?}: this endpoint takes none.")
    } else {
        let near = nearest::name(name, names()).map(|near| format!(" Did you mean {near}?")).unwrap_or_default();
        let allowed = names().collect::<Vec<_>>().join(", ");
        format!("There is no parameter {name:?}.{near} Allowed are: {allowed}.")
    };
    ParameterProblem { param: name.to_owned(), code: ErrorCode::UnknownParameter, message }
}
