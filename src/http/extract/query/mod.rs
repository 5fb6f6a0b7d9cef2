//! The strict `Query` extractor. Each endpoint lists its parameters once, in a table. The extractor
//! rejects any others, and the OpenAPI document is generated from the same table.

mod raw;

pub(in crate::http) use raw::RawQuery;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use utoipa::IntoParams;
use utoipa::openapi::path::{Parameter as OpenApiParameter, ParameterBuilder, ParameterIn, ParameterStyle};
use utoipa::openapi::schema::{ArrayBuilder, KnownFormat, Schema, SchemaFormat, SchemaType, Type};
use utoipa::openapi::{RefOr, Required};

use crate::http::middleware::RequestContext;
use crate::http::problem::{ApiError, ErrorCode, ParameterProblem};
use crate::service::parameter::definition::{LANG, LIMIT, LONG_LIMIT, OFFSET, QUERIED_OFFSET};
use crate::service::parameter::{AnyParameter, Given, Interface, Reason, Refusal, Values};
use crate::service::{MAX_QUERY_OFFSET, PageRequest};

/// An endpoint's parameters, in groups that endpoints can share.
pub(in crate::http) type Parameters = &'static [&'static [&'static dyn AnyParameter]];

/// The typed parameters of an endpoint.
pub(in crate::http) trait FromParameters: Sized {
    const PARAMETERS: Parameters;

    fn parameters() -> impl Iterator<Item = &'static dyn AnyParameter> {
        Self::PARAMETERS.iter().copied().flatten().copied()
    }

    /// Reads the parameters. A value that can't be read is recorded in `values` as rejected, and
    /// the result isn't used.
    fn read(values: &mut Values<'_>) -> Self;
}

/// An endpoint whose only parameter is the language, which [`Lang`](super::Lang) reads.
#[derive(Debug)]
pub(in crate::http) struct InLanguage;

impl FromParameters for InLanguage {
    const PARAMETERS: Parameters = &[&[&LANG]];

    fn read(_: &mut Values<'_>) -> Self {
        Self
    }
}

/// An endpoint's query parameters after validation. Rejects a request with
/// [`ApiError::Parameters`], which lists everything wrong with it.
#[derive(Debug)]
pub(in crate::http) struct Query<T>(pub(in crate::http) T);

impl<T: FromParameters, S: Sync> FromRequestParts<S> for Query<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let query = RequestContext::of(&parts.extensions)?.query();
        let read = collect(query, &T::parameters().collect::<Vec<_>>()).read(T::read);
        read.map(Self).map_err(ApiError::from)
    }
}

impl<T: FromParameters> IntoParams for Query<T> {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<OpenApiParameter> {
        T::parameters().map(describe).collect()
    }
}

/// An endpoint with pages of up to a hundred items, in a language.
pub(in crate::http) struct LongPages(pub(in crate::http) PageRequest);

impl FromParameters for LongPages {
    const PARAMETERS: Parameters = &[&[&LANG, &LONG_LIMIT, &OFFSET]];

    fn read(values: &mut Values<'_>) -> Self {
        Self(values.page(&LONG_LIMIT, &OFFSET))
    }
}

/// An endpoint with pages of the usual length, and no other parameters.
pub(in crate::http) struct Pages(pub(in crate::http) PageRequest);

impl FromParameters for Pages {
    const PARAMETERS: Parameters = &[&[&LIMIT, &OFFSET]];

    fn read(values: &mut Values<'_>) -> Self {
        Self(values.page(&LIMIT, &OFFSET))
    }
}

/// Rejects an offset that is too large in a list that's restricted by `q` or has no stored order.
pub(in crate::http) fn check_offset(values: &mut Values<'_>, bounded_by: Option<&str>, page: PageRequest) {
    if let Some(with) = bounded_by.filter(|_| page.offset > MAX_QUERY_OFFSET) {
        let allowed = format!(
            "must be at most {MAX_QUERY_OFFSET} with {with}; narrow the query, or download everything from /v1/exports"
        );
        values.refuse(QUERIED_OFFSET.name, Reason::OffsetTooLarge, &allowed);
    }
}

fn collect<'q>(query: &'q RawQuery, known: &[&dyn AnyParameter]) -> Values<'q> {
    let mut values = Values::new(Interface::Http);
    for (name, value) in query.pairs() {
        match known.iter().find(|parameter| parameter.name().as_bytes() == name) {
            Some(parameter) => values.push(parameter.name(), std::str::from_utf8(value).ok().map(Given::Text)),
            None => values.refuse_unknown(name, known),
        }
    }
    values
}

impl From<Refusal> for ParameterProblem {
    fn from(refusal: Refusal) -> Self {
        let code = match refusal.reason {
            Reason::Invalid => ErrorCode::InvalidParameter,
            Reason::Unknown => ErrorCode::UnknownParameter,
            Reason::OffsetTooLarge => ErrorCode::OffsetTooLarge,
        };
        Self { param: refusal.parameter, code, message: refusal.message }
    }
}

impl From<Vec<Refusal>> for ApiError {
    fn from(refusals: Vec<Refusal>) -> Self {
        Self::Parameters(refusals.into_iter().map(ParameterProblem::from).collect())
    }
}

fn describe(parameter: &dyn AnyParameter) -> OpenApiParameter {
    let mut schema = parameter.schema(Interface::Http);
    // Code generators choose a number type based on this format.
    match schema.schema_type {
        SchemaType::Type(Type::Integer) => schema.format = Some(SchemaFormat::KnownFormat(KnownFormat::Int64)),
        SchemaType::Type(Type::Number) => schema.format = Some(SchemaFormat::KnownFormat(KnownFormat::Double)),
        _ => {}
    }
    let (one, example) = (Schema::Object(schema), parameter.example());
    let several = if parameter.is_repeatable() { " Repeat it for several values." } else { "" };
    let described = ParameterBuilder::new()
        .name(parameter.name())
        .parameter_in(ParameterIn::Query)
        .required(Required::False)
        .description(Some(parameter.about().to_owned() + several));
    if parameter.is_repeatable() {
        let many = ArrayBuilder::new().items(RefOr::T(one)).build();
        let described = described.style(Some(ParameterStyle::Form)).explode(Some(true));
        described.schema(Some(Schema::Array(many))).example(Some([example].into_iter().collect())).build()
    } else {
        described.schema(Some(one)).example(Some(example)).build()
    }
}
