//! Strict query parameters. Each endpoint names its parameters once, as a table; the parser reads by it, refuses what
//! isn't in it, and the OpenAPI document is written from it.
//!
//! All problems of a request are collected before it is refused, so that a caller mends them in one go.

pub(crate) mod definition;
mod nearest;
mod query;
pub(crate) mod value;

pub(crate) use query::RawQuery;

use std::marker::PhantomData;

use utoipa::IntoParams;
use utoipa::openapi::path::{Parameter as OpenApiParameter, ParameterBuilder, ParameterIn, ParameterStyle};
use utoipa::openapi::schema::{ArrayBuilder, Schema};
use utoipa::openapi::{RefOr, Required};

use self::value::{Flag, Integer, Text, Value};
use super::problem::{ApiError, ErrorCode, ParameterProblem};
use crate::service::PageRequest;

/// With a query (`q`), pages begin at this offset at most: nobody reads on by hand, and programs take an export.
pub(crate) const MAX_QUERY_OFFSET: u64 = 10_000;

/// A query parameter.
#[derive(Debug)]
pub(crate) struct Parameter<V> {
    pub(crate) name: &'static str,
    /// What it does, for the documentation.
    pub(crate) about: &'static str,
    pub(crate) value: V,
    /// Whether it may appear more than once.
    pub(crate) repeatable: bool,
}

/// A parameter whatever its kind of value: what an endpoint's table holds.
pub(crate) trait AnyParameter: Sync {
    fn name(&self) -> &'static str;
    fn describe(&self) -> OpenApiParameter;
}

impl<V: Value + Sync> AnyParameter for Parameter<V> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn describe(&self) -> OpenApiParameter {
        let one = Schema::Object(self.value.schema());
        let parameter = ParameterBuilder::new()
            .name(self.name)
            .parameter_in(ParameterIn::Query)
            .required(Required::False)
            .description(Some(self.about));
        if self.repeatable {
            let many = ArrayBuilder::new().items(RefOr::T(one)).build();
            parameter.style(Some(ParameterStyle::Form)).explode(Some(true)).schema(Some(Schema::Array(many))).build()
        } else {
            parameter.schema(Some(one)).build()
        }
    }
}

/// What an endpoint is asked, read from its parameters.
pub(crate) trait FromParameters: Sized {
    /// The endpoint's parameters.
    const PARAMETERS: &'static [&'static dyn AnyParameter];

    /// Reads them. Where a value can't be read the problem is noted in `values` and what is returned isn't used.
    fn read(values: &mut Values<'_>) -> Self;
}

/// An endpoint without parameters.
impl FromParameters for () {
    const PARAMETERS: &'static [&'static dyn AnyParameter] = &[];

    fn read(_: &mut Values<'_>) -> Self {}
}

/// The endpoint's parameters.
pub(crate) struct Params<T>(PhantomData<T>);

impl<T: FromParameters> Params<T> {
    /// Reads a query.
    ///
    /// # Errors
    /// [`ApiError::Parameters`] with everything that is wrong with it.
    pub(crate) fn read(query: &RawQuery) -> Result<T, ApiError> {
        let mut values = Values::collect(query, T::PARAMETERS);
        let read = T::read(&mut values);
        if values.problems.is_empty() { Ok(read) } else { Err(ApiError::Parameters(values.problems)) }
    }
}

impl<T: FromParameters> IntoParams for Params<T> {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<OpenApiParameter> {
        T::PARAMETERS.iter().map(|parameter| parameter.describe()).collect()
    }
}

/// The parameters of a request that the endpoint has, and what is wrong so far.
#[derive(Debug)]
pub(crate) struct Values<'q> {
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

    /// The parameter's value, if it is there once and can be read.
    pub(crate) fn one<V: Value>(&mut self, parameter: &Parameter<V>) -> Option<V::Output> {
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
    pub(crate) fn many<V: Value>(&mut self, parameter: &Parameter<V>) -> Vec<V::Output> {
        let given: Vec<_> = self.given(parameter.name).collect();
        given.into_iter().filter_map(|text| self.take(parameter, text)).collect()
    }

    /// What to look for; `None` where that is nothing but white space.
    pub(crate) fn query(&mut self, parameter: &Parameter<Text>) -> Option<String> {
        self.one(parameter).filter(|q| !q.trim().is_empty())
    }

    /// The flag, or what holds where it is absent.
    pub(crate) fn flag(&mut self, parameter: &Parameter<Flag>) -> bool {
        self.one(parameter).unwrap_or(parameter.value.default)
    }

    /// The page asked for, of a list that can be paged to its end.
    pub(crate) fn page(&mut self, limit: &Parameter<Integer>, offset: &Parameter<Integer>) -> PageRequest {
        let size = self.one(limit).unwrap_or(limit.value.default);
        let offset = self.one(offset).unwrap_or(offset.value.default);
        PageRequest { limit: u32::try_from(size).unwrap_or(u32::MAX), offset }
    }

    /// The page asked for, of a list that may be the answer to a query, which bounds the offset.
    pub(crate) fn queried_page(&mut self, limit: &Parameter<Integer>, q: Option<&str>) -> PageRequest {
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
        read.map_err(|allowed| self.refuse(parameter.name, ErrorCode::InvalidParameter, &allowed)).ok()
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
