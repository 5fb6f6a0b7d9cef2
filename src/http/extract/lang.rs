//! The `Lang` extractor.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::header::{ACCEPT_LANGUAGE, CONTENT_LANGUAGE};
use axum::http::request::Parts;
use axum::http::{Extensions, HeaderMap, HeaderValue};
use axum::response::Response;

use super::Served;
use crate::catalogue::Catalogue;
use crate::http::middleware::RequestContext;
use crate::http::pages::language::PageLanguage;
use crate::http::problem::ApiError;
use crate::http::state::AppState;
use crate::record::Language;
use crate::service::find_language;
use crate::service::parameter::definition::LANG;
use crate::service::parameter::{Given, Interface, Values};

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
        let query = RequestContext::of(&parts.extensions)?.query();
        let mut values = Values::new(Interface::Http);
        for (_, value) in query.pairs().filter(|(name, _)| *name == LANG.name.as_bytes()) {
            values.push(LANG.name, std::str::from_utf8(value).ok().map(Given::Text));
        }
        let asked = values.read(|values| values.one(&LANG))?;
        let language = find_language(served.catalogue(), asked.as_deref());
        language.map(Self).map_err(|refusal| vec![refusal].into())
    }
}

/// The language for records on a page: the page's own, if records are available in it.
pub(in crate::http) fn language_of_texts<'c>(
    extensions: &Extensions,
    catalogue: &'c Catalogue,
) -> Option<&'c Language> {
    let page = extensions.get::<PageLanguage>().filter(|page| page.is_in_path);
    let tag = page.map_or_else(|| catalogue.own_language(), |page| page.texts().tag);
    catalogue.tables.languages.find(tag).filter(|_| catalogue.tables.languages.are_several())
}

/// The languages that a caller accepts, as sent in `Accept-Language`.
pub(in crate::http) fn accepted(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    headers.get_all(ACCEPT_LANGUAGE).iter().filter_map(|value| value.to_str().ok())
}
