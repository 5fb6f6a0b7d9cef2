//! The strict `Query` extractor. Each endpoint lists its parameters once, in a table. The extractor
//! rejects any others, and the OpenAPI document is generated from the same table. Further extractors
//! read the id in a path and the languages that a caller wants.

use std::borrow::Cow;
use std::sync::Arc;

use axum::extract::{FromRequestParts, Path};
use axum::http::header::{ACCEPT_LANGUAGE, CONTENT_LANGUAGE};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue};
use axum::response::Response;
use percent_encoding::percent_decode;
use utoipa::IntoParams;
use utoipa::openapi::path::{Parameter as OpenApiParameter, ParameterBuilder, ParameterIn, ParameterStyle};
use utoipa::openapi::schema::{ArrayBuilder, KnownFormat, Schema, SchemaFormat, SchemaType, Type};
use utoipa::openapi::{RefOr, Required};

use super::{Served, Snapshot};
use crate::http::problem::{ApiError, ErrorCode, ParameterProblem};
use crate::http::state::AppState;
use crate::record::Language;
use crate::service::parameter::definition::{LANG, QUERIED_OFFSET};
use crate::service::parameter::{AnyParameter, Given, Interface, Reason, Refusal, Values};
use crate::service::{MAX_QUERY_OFFSET, PageRequest, find_language};
use crate::text::append;

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

/// An endpoint without parameters.
impl FromParameters for () {
    const PARAMETERS: Parameters = &[];

    fn read(_: &mut Values<'_>) -> Self {}
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
        let query = RawQuery::parse(parts.uri.query().unwrap_or_default());
        let read = collect(&query, &T::parameters().collect::<Vec<_>>()).read(T::read);
        read.map(Self).map_err(ApiError::from)
    }
}

impl<T: FromParameters> IntoParams for Query<T> {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<OpenApiParameter> {
        T::parameters().map(describe).collect()
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

/// A query's pairs, decoded as `application/x-www-form-urlencoded`, in the given order; not
/// necessarily UTF-8.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::http) struct RawQuery {
    pairs: Vec<(Vec<u8>, Vec<u8>)>,
}

impl RawQuery {
    /// Decodes a query string. Nothing is rejected here: a `%` without two digits stands for
    /// itself.
    pub(in crate::http) fn parse(query: &str) -> Self {
        let pairs = query
            .split('&')
            .filter(|pair| !pair.is_empty())
            .map(|pair| {
                let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
                (decode(name), decode(value))
            })
            .collect();
        Self { pairs }
    }

    pub(in crate::http) fn pairs(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.pairs.iter().map(|(name, value)| (name.as_slice(), value.as_slice()))
    }

    /// The pairs, sorted.
    pub(in crate::http) fn sorted(&self) -> Vec<(&[u8], &[u8])> {
        let mut pairs: Vec<_> = self.pairs().collect();
        pairs.sort_unstable();
        pairs
    }

    /// The encoded query for other pages of the same list: all pairs except `limit` and `offset`,
    /// in their original order, followed by these two. The caller appends the offset itself.
    pub(in crate::http) fn for_pages(&self, limit: u32) -> String {
        let mut query = String::new();
        for (name, value) in self.pairs().filter(|(name, _)| !matches!(*name, b"limit" | b"offset")) {
            query.extend(form_urlencoded::byte_serialize(name));
            query.push('=');
            query.extend(form_urlencoded::byte_serialize(value));
            query.push('&');
        }
        append(&mut query, format_args!("limit={limit}&offset="));
        query
    }
}

fn decode(text: &str) -> Vec<u8> {
    let spaced: Cow<'_, [u8]> = if text.contains('+') {
        Cow::Owned(text.bytes().map(|b| if b == b'+' { b' ' } else { b }).collect())
    } else {
        Cow::Borrowed(text.as_bytes())
    };
    Cow::from(percent_decode(&spaced)).into_owned()
}

/// The id at the end of the path. It's percent-decoded once, and then only used for comparisons.
#[derive(Debug)]
pub(in crate::http) struct PathId(pub(in crate::http) String);

impl FromRequestParts<Arc<AppState>> for PathId {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &Arc<AppState>) -> Result<Self, ApiError> {
        let Path(id) = Path::from_request_parts(parts, state).await.map_err(|_| {
            ApiError::BadRequest("The id in the path isn't valid UTF-8 once decoded. Percent-encode ids as UTF-8.")
        })?;
        Ok(Self(id))
    }
}

/// The language for a response's text, from the `lang` parameter alone: browsers send
/// `Accept-Language` with every request. An endpoint that uses this extractor lists `lang` in its
/// parameter table.
#[derive(Debug)]
pub(in crate::http) struct Lang(pub(in crate::http) Option<Language>);

impl Lang {
    pub(in crate::http) const fn language(&self) -> Option<&Language> {
        self.0.as_ref()
    }

    /// Sets a response's `Content-Language` if any of its text is in this language.
    pub(in crate::http) fn mark(&self, is_in_language: bool, mut response: Response) -> Response {
        let language = self.0.as_ref().filter(|_| is_in_language);
        let tag = language.and_then(|language| HeaderValue::try_from(language.as_str()).ok());
        response.headers_mut().extend(tag.map(|tag| (CONTENT_LANGUAGE, tag)));
        response
    }
}

impl FromRequestParts<Arc<AppState>> for Lang {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &Arc<AppState>) -> Result<Self, ApiError> {
        let served = Served::from_request_parts(parts, state).await?;
        let query = RawQuery::parse(parts.uri.query().unwrap_or_default());
        let mut values = Values::new(Interface::Http);
        for (_, value) in query.pairs().filter(|(name, _)| *name == LANG.name.as_bytes()) {
            values.push(LANG.name, std::str::from_utf8(value).ok().map(Given::Text));
        }
        let asked = values.read(|values| values.one(&LANG))?;
        let language = find_language(served.catalogue(), asked.as_deref());
        language.map(Self).map_err(|refusal| vec![refusal].into())
    }
}

/// The language for text on a page, from `Accept-Language`.
#[derive(Debug)]
pub(in crate::http) struct Preferred(pub(in crate::http) Option<Language>);

impl FromRequestParts<Arc<AppState>> for Preferred {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &Arc<AppState>) -> Result<Self, ApiError> {
        let snapshot = Snapshot::from_request_parts(parts, state).await?;
        Ok(Self(snapshot.catalogue.tables.languages.preferred(accepted(&parts.headers)).cloned()))
    }
}

/// The languages that a caller accepts, as sent in `Accept-Language`.
pub(in crate::http) fn accepted(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    headers.get_all(ACCEPT_LANGUAGE).iter().filter_map(|value| value.to_str().ok())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn pairs_are_form_decoded() {
        let query = RawQuery::parse("q=a+b%20c%2B&&flag&x=1=2&bad=%FF&lone=%zz");
        let pairs: Vec<_> = query.pairs().collect();
        assert_eq!(
            pairs,
            [(&b"q"[..], &b"a b c+"[..]), (b"flag", b""), (b"x", b"1=2"), (b"bad", b"\xFF"), (b"lone", b"%zz"),]
        );
    }

    #[test]
    fn for_pages_keeps_the_other_parameters_in_order() {
        let query = RawQuery::parse("offset=40&q=c%2B%2B+%26+more&limit=3&category=b&category=a");
        assert_eq!(query.for_pages(20), "q=c%2B%2B+%26+more&category=b&category=a&limit=20&offset=");
    }

    proptest! {
        #[test]
        fn encoded_query_decodes_to_the_same_pairs(
            pairs in prop::collection::vec((any::<Vec<u8>>(), any::<Vec<u8>>()), 0..5)
        ) {
            let query = RawQuery { pairs };
            prop_assume!(query.pairs().all(|(name, _)| !matches!(name, b"limit" | b"offset")));
            let again = RawQuery::parse(&format!("{}2", query.for_pages(1)));
            let mut expected = query.pairs.clone();
            expected.push((b"limit".to_vec(), b"1".to_vec()));
            expected.push((b"offset".to_vec(), b"2".to_vec()));
            prop_assert_eq!(again.pairs, expected);
        }
    }
}
