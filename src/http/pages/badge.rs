//! A product's badge: an image for the vendor's own site that says when its evidence was checked.

use std::io;

use axum::http::HeaderValue;
use axum::http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::response::{IntoResponse as _, Response};
use quick_xml::Writer;
use quick_xml::events::BytesText;

use super::evidence::label;
use super::language::Texts;
use super::visit::Visit;
use crate::catalogue::resource::SoftwareItem;
use crate::http::api::feed::legal;
use crate::http::extract::PathId;
use crate::http::problem::ApiError;
use crate::record::EvidenceStatus;
use crate::service;
use crate::text::shorten::in_list;

/// Only the image's own style sheet.
const CONTENT_POLICY: HeaderValue =
    HeaderValue::from_static("default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'");

const STYLE: &str = "rect{fill:#f3f4f3;stroke:#6b726d}text{fill:#1d2420;font:12px system-ui,sans-serif}\
                     @media(prefers-color-scheme:dark){rect{fill:#1d2420;stroke:#98a39c}text{fill:#f3f4f3}}";

/// A character's average width in pixels. Text is stretched or shrunk to fit.
const CHARACTER_WIDTH: usize = 7;

pub(super) async fn get_badge(visit: Visit, PathId(id): PathId) -> Result<Response, ApiError> {
    if visit.site().config.public_page.is_none() {
        return Err(ApiError::RouteNotFound);
    }
    let stored = service::read_software(&visit.snapshot, &id)?.ok_or_else(|| ApiError::SoftwareNotFound(id))?;
    let product = stored.read().map_err(ApiError::internal)?;
    let image = image(visit.t(), &product.item).map_err(ApiError::internal)?;
    let headers =
        [(CONTENT_TYPE, HeaderValue::from_static("image/svg+xml")), (CONTENT_SECURITY_POLICY, CONTENT_POLICY)];
    Ok((headers, image).into_response())
}

/// What a badge says.
fn text(t: &'static Texts, item: &SoftwareItem<'_>) -> String {
    let is_reviewed = item.evidence_status == EvidenceStatus::VendorSourcesReviewed.as_str();
    match item.evidence_checked_on.as_deref().and_then(|day| t.month(day)) {
        Some(month) if is_reviewed => format!("{} {month}", t.evidence_checked),
        _ => label(t, &item.evidence_status).into_owned(),
    }
}

fn image(t: &'static Texts, item: &SoftwareItem<'_>) -> io::Result<Vec<u8>> {
    let text = legal(&text(t, item));
    let length = text.chars().count() * CHARACTER_WIDTH;
    let (length, width) = (length.to_string(), (length + 16).to_string());
    let title = legal(&format!("{}{} {text}", in_list(&item.name), t.colon));
    let mut xml = Writer::new(Vec::new());
    let svg = xml.create_element("svg").with_attributes([
        ("xmlns", "http://www.w3.org/2000/svg"),
        ("width", &*width),
        ("height", "22"),
        ("role", "img"),
        ("aria-label", &*title),
        ("lang", t.tag),
    ]);
    svg.write_inner_content(|xml| {
        xml.create_element("title").write_text_content(BytesText::new(&title))?;
        xml.create_element("style").write_text_content(BytesText::new(STYLE))?;
        let frame = [("x", "0.5"), ("y", "0.5"), ("rx", "4"), ("width", "100%"), ("height", "21")];
        xml.create_element("rect")
            .with_attributes(frame)
            .with_attribute(("style", "width:calc(100% - 1px)"))
            .write_empty()?;
        let place = [("x", "8"), ("y", "15"), ("textLength", &*length), ("lengthAdjust", "spacingAndGlyphs")];
        xml.create_element("text").with_attributes(place).write_text_content(BytesText::new(&text))?;
        Ok(())
    })?;
    Ok(xml.into_inner())
}
