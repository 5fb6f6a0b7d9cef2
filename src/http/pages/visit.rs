//! What every page that shows a generation needs to know about its request.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::response::Response;

use super::edition::Edition;
use super::frame::Frame;
use super::language::{PageLanguage, Texts};
use super::links::Base;
use super::site::Site;
use crate::http::extract::query::RawQuery;
use crate::http::extract::{Snapshot, language_of_texts};
use crate::http::middleware::RequestContext;
use crate::http::problem::ApiError;
use crate::http::state::AppState;
use crate::record;
use crate::service::Stop;

#[derive(Debug, Clone)]
pub(super) struct Visit {
    pub(super) state: Arc<AppState>,
    pub(super) language: PageLanguage,
    /// The language to show records in where available; `None` shows each in its own language.
    pub(super) of_texts: Option<record::Language>,
    pub(super) snapshot: Snapshot,
    pub(super) query: Arc<RawQuery>,
}

impl FromRequestParts<Arc<AppState>> for Visit {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &Arc<AppState>) -> Result<Self, ApiError> {
        let Ok(language) = PageLanguage::from_request_parts(parts, state).await;
        let snapshot = Snapshot::from_request_parts(parts, state).await?;
        Ok(Self {
            state: Arc::clone(state),
            language,
            of_texts: language_of_texts(&parts.extensions, &snapshot.catalogue).cloned(),
            snapshot,
            query: Arc::clone(RequestContext::of(&parts.extensions)?.query()),
        })
    }
}

impl Visit {
    pub(super) const fn t(&self) -> &'static Texts {
        self.language.texts()
    }

    pub(super) fn site(&self) -> &Site {
        &self.state.site
    }

    /// What links to pages start with.
    pub(super) fn base(&self) -> Base<'_> {
        self.site().base_in(self.language)
    }

    pub(super) fn edition(&self) -> Edition<'_> {
        let site = self.site();
        Edition {
            t: self.t(),
            base: self.base(),
            root: site.root(),
            assets: &site.assets,
            catalogue: &self.snapshot.catalogue,
            language: self.of_texts.as_ref(),
        }
    }

    pub(super) fn frame(&self) -> Frame<'_> {
        Frame::new(self.site(), self.language, &self.snapshot)
    }

    /// Writes a page on the search pool.
    pub(super) async fn on_pool(
        self,
        write: impl FnOnce(&Self, &Stop) -> Result<Response, ApiError> + Send + 'static,
    ) -> Result<Response, ApiError> {
        let state = Arc::clone(&self.state);
        state.search(move |stop: Stop| write(&self, &stop)).await?
    }
}
