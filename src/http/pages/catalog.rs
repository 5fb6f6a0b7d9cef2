//! The directory as a catalogue of data sets, one for each export, for data portals: DCAT-AP 3 in
//! JSON-LD.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use serde_json::{Map, Value, json};

use super::frame::own_language;
use super::language::PageLanguage;
use super::links::{of_export, segment};
use super::site::Site;
use crate::catalogue::resource::ExportResource;
use crate::http::extract::Snapshot;
use crate::http::middleware::CATALOG;
use crate::http::problem::ApiError;
use crate::http::response;
use crate::http::state::AppState;
use crate::record::CalendarDate;

/// The formats in which exports can be downloaded, with their media types.
const FORMATS: [(&str, &str); 2] = [("json", "application/json"), ("ndjson", "application/x-ndjson")];

pub(super) async fn get_catalog(State(state): State<Arc<AppState>>, snapshot: Snapshot) -> Result<Response, ApiError> {
    let (site, exports) = (&state.site, &snapshot.catalogue.tables.exports);
    let language = PageLanguage { language: own_language(&snapshot.catalogue), is_in_path: false };
    let publisher = site.face().publisher.as_deref().filter(|name| !name.is_empty());
    let undescribed = exports.iter().map(|export| &export.resource).filter(|export| export.description.is_none());
    let missing = [
        site.config.base().is_empty().then(|| "the server's option --public-url".to_owned()),
        publisher.is_none().then(|| "the setting `publisher` in [site]".to_owned()),
        undescribed.map(|export| format!("the `description` in the export {:?}", export.id)).next(),
    ];
    let missing: Vec<_> = missing.into_iter().flatten().collect();
    if !missing.is_empty() {
        return Err(ApiError::FormatUnavailable(format!("The catalogue needs {}.", missing.join(", "))));
    }
    let (t, address) = (language.texts(), format!("{}{CATALOG}", site.config.base()));
    let publisher = json!({"@id": format!("{address}#publisher"), "@type": "foaf:Agent", "foaf:name": publisher});
    let datasets = exports.iter().map(|export| dataset(site, &address, &export.resource));
    let catalog = json!({
        "@context": {
            "dcat": "http://www.w3.org/ns/dcat#",
            "dct": "http://purl.org/dc/terms/",
            "foaf": "http://xmlns.com/foaf/0.1/",
            "spdx": "http://spdx.org/rdf/terms#",
            "xsd": "http://www.w3.org/2001/XMLSchema#",
        },
        "@id": address,
        "@type": "dcat:Catalog",
        "dct:title": {"@value": site.title_in(t), "@language": t.tag},
        "dct:description": {"@value": site.introduction_in(language).plain, "@language": t.tag},
        "dct:publisher": publisher,
        "foaf:homepage": {"@id": format!("{}/", site.config.base()), "@type": "foaf:Document"},
        "dcat:dataset": datasets.collect::<Vec<_>>(),
    });
    Ok(response::of_type("application/ld+json", catalog.to_string()))
}

fn dataset(site: &Site, catalog: &str, export: &ExportResource) -> Value {
    let language = export.language.as_ref().map_or("en", |language| language.as_str());
    let text = |text: &str| json!({"@value": text, "@language": language});
    let address = format!("{catalog}#{}", segment(&export.id));
    let distribution = |(format, media_type): (&str, &str)| {
        let download = of_export(site.absolute(), &export.id, format);
        let mut distribution = json!({
            "@id": format!("{address}-{format}"),
            "@type": "dcat:Distribution",
            "dcat:accessURL": {"@id": download},
            "dcat:downloadURL": {"@id": download},
            "dcat:mediaType": {
                "@id": format!("https://www.iana.org/assignments/media-types/{media_type}"), "@type": "dct:MediaType"
            },
            "dct:license": {"@id": export.license, "@type": "dct:LicenseDocument"},
        });
        if format == "json" {
            let file_type = "http://publications.europa.eu/resource/authority/file-type/JSON";
            distribution["dct:format"] = json!({"@id": file_type, "@type": "dct:MediaTypeOrExtent"});
            distribution["dcat:byteSize"] =
                json!({"@value": export.size_bytes.to_string(), "@type": "xsd:nonNegativeInteger"});
            distribution["spdx:checksum"] = json!({
                "@type": "spdx:Checksum",
                "spdx:algorithm": {
                    "@id": "http://spdx.org/rdf/terms#checksumAlgorithm_sha256", "@type": "spdx:ChecksumAlgorithm"
                },
                "spdx:checksumValue": {"@value": export.sha256, "@type": "xsd:hexBinary"},
            });
        }
        distribution
    };
    let mut dataset = json!({
        "@id": address,
        "@type": "dcat:Dataset",
        "dct:identifier": export.id,
        "dct:title": text(&export.name),
        "dct:description": export.description.as_deref().map(text),
        "dct:publisher": {"@id": format!("{catalog}#publisher")},
        "dcat:landingPage": {"@id": format!("{}/exports", site.config.base()), "@type": "foaf:Document"},
        "dcat:distribution": FORMATS.map(distribution),
    });
    let issued = export.as_of.as_deref().filter(|day| CalendarDate::parse(day).is_some());
    for (term, kind, time) in [("issued", "date", issued), ("modified", "dateTime", export.changed_at.as_deref())] {
        if let Some(time) = time {
            dataset[format!("dct:{term}")] = json!({"@value": time, "@type": format!("xsd:{kind}")});
        }
    }
    dataset
}

/// The same in schema.org's vocabulary, for search engines.
pub(super) fn data_catalog(site: &Site, title: &str, exports: &[&ExportResource]) -> Vec<(&'static str, Value)> {
    let dataset = |export: &&ExportResource| {
        let download = |(format, media_type): (&str, &str)| {
            let address = of_export(site.absolute(), &export.id, format);
            json!({"@type": "DataDownload", "encodingFormat": media_type, "contentUrl": address})
        };
        let mut dataset = Map::new();
        let members = [
            ("@type", json!("Dataset")),
            ("name", json!(export.name)),
            ("description", json!(export.description)),
            ("license", json!(export.license)),
            ("dateModified", json!(export.changed_at)),
            ("distribution", json!(FORMATS.map(download))),
        ];
        dataset
            .extend(members.into_iter().filter(|(_, value)| !value.is_null()).map(|(name, of)| (name.to_owned(), of)));
        Value::Object(dataset)
    };
    let publisher = site.face().publisher.as_ref().map(|name| json!({"@type": "Organization", "name": name}));
    vec![
        ("name", title.into()),
        ("url", site.absolute().page("/exports").into()),
        ("publisher", json!(publisher)),
        ("dataset", exports.iter().map(dataset).collect()),
    ]
}
