//! The export files that make up the directory, each under its own licence.

use askama::Template;
use axum::http::StatusCode;
use axum::response::Response;

use super::call::{Call, Calls};
use super::catalog::data_catalog;
use super::edition::Lang;
use super::frame::{Frame, JsonLd, Section};
use super::language::Texts;
use super::licence;
use super::links::{self, Base, of_export};
use super::respond;
use super::visit::Visit;
use crate::catalogue::ExportDocument;
use crate::catalogue::resource::ExportResource;
use crate::http::problem::ApiError;

#[derive(Debug, Template)]
#[template(path = "exports.html")]
struct ExportsPage<'a> {
    frame: Frame<'a>,
    t: &'static Texts,
    root: Base<'a>,
    exports: &'a [ExportDocument],
    calls: Calls,
}

impl ExportsPage<'_> {
    fn href(&self, export: &ExportResource, format: &str) -> String {
        of_export(self.root, &export.id, format)
    }

    fn lang<'e>(&self, export: &'e ExportResource) -> Lang<'e> {
        Lang::own(self.t, export.language.as_ref())
    }

    fn contents(&self, export: &ExportResource) -> String {
        let t = self.t;
        let counts = [
            (&t.products_count, export.software_count),
            (&t.categories_count, export.category_count),
            (&t.reviews_count, export.review_count),
            (&t.terms_count, export.glossary_count),
        ];
        let counted =
            counts.into_iter().filter(|(_, count)| *count > 0).map(|(counted, count)| t.count(counted, count));
        counted.collect::<Vec<_>>().join(", ")
    }
}

pub(super) async fn list_exports(visit: Visit) -> Result<Response, ApiError> {
    let (t, site, documents) = (visit.t(), visit.site(), &visit.snapshot.catalogue.tables.exports);
    let mut frame = visit.frame().titled(t.sources).described(t.sources_note).at(&visit.base().page("/exports"));
    frame.section = Section::Sources;
    if !site.config.base().is_empty() {
        let exports: Vec<_> = documents.iter().map(|export| &export.resource).collect();
        frame.json_ld = vec![JsonLd::new("DataCatalog", &data_catalog(site, site.title_in(t), &exports))];
    }
    let page = ExportsPage {
        frame,
        t,
        root: site.root(),
        exports: documents,
        calls: Calls::new(t, site, &[Call::new("/v1/exports", "exports.list")]),
    };
    respond::html(StatusCode::OK, t, &page)
}
