//! The directory in other catalogues' formats: publiccode.yml, codemeta.json, DCAT-AP and schema.org.

use std::sync::Arc;

use serde_json::{Value, json};
use software_directory::curate::{publiccode, yaml};
use software_directory::http::{Face, HttpConfig, PublicUrl};
use software_directory::key::Rate;
use software_directory::update::Directory;

use crate::api::fixture;
use crate::api::service::{Answer, BROWSER, Service, Setup};

fn document() -> Value {
    let record = |id: &str, name: &str, more: Value| {
        let mut record = json!({
            "id": id, "name": name, "url": format!("https://{id}.example/"), "evidence_status": "pending-review"
        });
        record.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        record
    };
    json!({
        "name": "Tools", "license": "https://creativecommons.org/licenses/by/4.0/", "as_of": "2026-06-30",
        "description": "Tools that public bodies share.",
        "attributes": [{"property": "license", "label": "Licence"}, {"property": "version", "label": "V", "hidden": true}],
        "software": [
            record("moss", "Moss", json!({
                "tagline": "Keeps registers", "repository": "https://github.com/moss/moss", "software_version": "2.10",
                "platforms": ["linux", "web"], "license": "EUPL-1.2", "maintenance": "community", "pricing": "Free",
                "localisation_ready": true, "is_based_on": "https://github.com/fern/fern", "categories": ["Audits"],
                "translations": {"de": {"tagline": "Führt Verzeichnisse"}}, "other_languages": {"de": {"features": ["A"]}},
                "alternative_to": ["Slack", "FernDesk"]
            })),
            record("fern", "Fern", json!({"aliases": ["FernDesk"], "alternative_to": ["SLACK"], "version": "9"})),
            record("reed", "Reed", json!({"license": "A or B", "alternative_to": ["Fern", "Fern"]})),
        ]
    })
}

fn service(document: &Value, site: &Value, public_url: Option<&str>) -> Service {
    let directory = Directory::default();
    directory.publish(fixture::snapshot(&[("tools", &document.to_string())]));
    let public_url = public_url.map(|url| PublicUrl::parse(url).expect("an address"));
    let site = Face::read(&site.to_string()).expect("settings");
    let config = HttpConfig { site, public_url, public_page: Rate::new(10_000), ..HttpConfig::default() };
    Setup { directory: Arc::new(directory), config, ..Setup::default() }.start()
}

fn public() -> Service {
    service(&document(), &json!({"publisher": "City of Moss"}), Some("https://dir.example"))
}

async fn page(service: &Service, path: &str) -> Answer {
    service.send(axum::http::Method::GET, path, &[BROWSER, ("host", "dir.example")]).await
}

/// A page's JSON-LD documents.
async fn json_ld(service: &Service, path: &str) -> Vec<Value> {
    let page = page(service, path).await;
    let scripts = page.text().split("<script type=\"application/ld+json\">").skip(1);
    scripts.map(|rest| serde_json::from_str(rest.split("</script>").next().expect("an end")).expect("JSON")).collect()
}

#[tokio::test]
async fn a_product_is_available_as_publiccode_yml() {
    let service = public();
    let file = service.get("/v1/software/moss/publiccode.yml").await;
    assert_eq!((file.status.as_u16(), file.header("content-type")), (200, "application/yaml"));
    let read: Value = serde_json::from_str(&yaml::to_json(file.text(), 10_000).expect("YAML")).expect("JSON");
    let expected = json!({
        "publiccodeYmlVersion": "0", "name": "Moss", "url": "https://github.com/moss/moss",
        "landingURL": "https://moss.example/", "isBasedOn": "https://github.com/fern/fern", "softwareVersion": "2.10",
        "platforms": ["linux", "web"], "categories": ["Audits"], "legal": {"license": "EUPL-1.2"},
        "maintenance": {"type": "community"}, "localisation": {"localisationReady": true},
        "description": {
            "en": {"shortDescription": "Keeps registers"},
            "de": {"shortDescription": "Führt Verzeichnisse", "features": ["A"]}
        }
    });
    assert_eq!(read, expected, "nothing is invented");
    let Value::Object(read) = read else { panic!("not an object") };
    let again = publiccode::read(read, "en");
    let (_, tagline) = again.iter().find(|(head, _)| head == "tagline:de").expect("a translation");
    assert_eq!(tagline, "Führt Verzeichnisse");
    assert_eq!(service.get("/v1/software/x/publiccode.yml").await.problem(), (404, "software_not_found".to_owned()));
}

#[tokio::test]
async fn codemeta_has_only_what_the_record_has() {
    let service = public();
    let answer = service.get("/v1/software/moss/codemeta.json").await;
    assert_eq!(answer.header("content-type"), "application/ld+json");
    let expected = json!({
        "@context": "https://w3id.org/codemeta/3.0", "@type": "SoftwareSourceCode", "identifier": {"@value": "moss"},
        "name": "Moss",
        "description": "Keeps registers", "url": "https://moss.example/", "codeRepository": "https://github.com/moss/moss",
        "applicationCategory": [{"@value": "Audits"}], "operatingSystem": ["linux", "web"], "softwareVersion": "2.10",
        "license": "https://spdx.org/licenses/EUPL-1.2"
    });
    assert_eq!(answer.json(), expected);
    let other = service.get("/v1/software/reed/codemeta.json").await.json();
    assert_eq!(other["license"], json!({"@type": "CreativeWork", "name": "A or B"}));
    assert_eq!(other["@type"], "SoftwareApplication");
}

#[tokio::test]
async fn the_catalogue_has_a_dataset_for_each_export() {
    let service = public();
    let answer = service.send(axum::http::Method::GET, "/catalog.jsonld", &[("host", "dir.example")]).await;
    assert_eq!((answer.status.as_u16(), answer.header("content-type")), (200, "application/ld+json"));
    let catalog = answer.json();
    assert_eq!(catalog["dct:publisher"]["foaf:name"], "City of Moss");
    let dataset = &catalog["dcat:dataset"][0];
    assert_eq!(dataset["dct:description"], json!({"@value": "Tools that public bodies share.", "@language": "en"}));
    assert_eq!(dataset["dct:issued"], json!({"@value": "2026-06-30", "@type": "xsd:date"}));
    let distribution = &dataset["dcat:distribution"][0];
    assert_eq!(distribution["dct:license"]["@id"], "https://creativecommons.org/licenses/by/4.0/");
    assert_eq!(distribution["dcat:accessURL"]["@id"], "https://dir.example/exports/tools");
    assert_eq!(page(&service, "/exports/tools").await.text(), document().to_string());
    assert_eq!(dataset["dcat:distribution"].as_array().map(Vec::len), Some(2));
}

#[tokio::test]
async fn a_catalogue_says_what_it_lacks() {
    let mut undescribed = document();
    undescribed.as_object_mut().expect("an object").remove("description");
    let (site, url) = (json!({"publisher": "City"}), Some("https://dir.example"));
    for (service, missing) in [
        (service(&document(), &json!({}), url), "the setting `publisher` in [site]."),
        (service(&undescribed, &site, url), "the `description` in the export \"tools\"."),
        (service(&document(), &site, None), "the server's option --public-url."),
    ] {
        let answer = service.get("/catalog.jsonld").await;
        assert_eq!(answer.problem(), (404, "format_unavailable".to_owned()));
        assert_eq!(answer.json()["detail"], format!("The catalogue needs {missing}"));
    }
    let private = Setup { directory: fixture::directory(), ..Setup::default() }.start();
    let answer = private.send(axum::http::Method::GET, "/catalog.jsonld", &[("host", "x")]).await;
    assert_eq!(answer.problem(), (401, "missing_api_key".to_owned()));
}

#[tokio::test]
async fn pages_tell_search_engines_what_the_record_says_and_nothing_else() {
    let service = public();
    let moss = &json_ld(&service, "/software/moss").await[0];
    assert_eq!(moss["offers"], json!({"@type": "Offer", "description": "Free"}));
    assert_eq!((&moss["operatingSystem"], &moss["softwareVersion"]), (&json!(["linux", "web"]), &json!("2.10")));
    assert_eq!(moss["license"], "https://spdx.org/licenses/EUPL-1.2");
    assert_eq!(moss["isBasedOn"], "https://github.com/fern/fern");
    let fern = &json_ld(&service, "/software/fern").await[0];
    for absent in ["offers", "operatingSystem", "softwareVersion", "license", "isBasedOn", "description"] {
        assert!(fern.get(absent).is_none(), "{absent}: {fern}");
    }
    let data = &json_ld(&service, "/exports").await[0];
    assert_eq!((&data["@type"], &data["dataset"][0]["@type"]), (&json!("DataCatalog"), &json!("Dataset")));
    assert_eq!(data["dataset"][0]["license"], "https://creativecommons.org/licenses/by/4.0/");
    assert_eq!(data["dataset"][0]["distribution"][1]["contentUrl"], "https://dir.example/exports/tools?format=ndjson");
}

#[tokio::test]
async fn whatever_products_replace_has_a_page_with_its_alternatives() {
    let service = public();
    for (path, name, ids, canonical) in [
        ("/alternatives/slack", "Slack", &["moss", "fern"][..], "/alternatives/slack"),
        ("/software/fern/alternatives", "Fern", &["moss", "reed"], "/software/fern/alternatives"),
        ("/alternatives/fern", "Fern", &["reed"], "/software/fern/alternatives"),
    ] {
        let shown = page(&service, path).await;
        assert_eq!(shown.status, 200, "{path}");
        assert!(shown.text().contains(&format!("<title>Alternatives to {name} · ")), "{}", shown.text());
        let link = format!("<link rel=\"canonical\" href=\"https://dir.example{canonical}\">");
        assert!(shown.text().contains(&link), "{link}: {}", shown.text());
        let list = &json_ld(&service, path).await[0];
        assert_eq!((&list["@type"], &list["numberOfItems"]), (&json!("ItemList"), &json!(ids.len())));
        let urls = list["itemListElement"].as_array().expect("items").iter().map(|item| item["url"].as_str());
        let expected: Vec<_> = ids.iter().map(|id| format!("https://dir.example/software/{id}")).collect();
        assert_eq!(urls.flatten().collect::<Vec<_>>(), expected);
    }
    for missing in ["/alternatives/moss", "/software/reed/alternatives", "/software/x/alternatives"] {
        assert_eq!(page(&service, missing).await.status, 404, "{missing}");
    }
    let map = page(&service, "/sitemap.xml").await;
    for path in ["/alternatives/slack", "/software/fern/alternatives"] {
        assert!(map.text().contains(&format!("<loc>https://dir.example{path}</loc>")), "{}", map.text());
    }
    assert!(page(&service, "/software/fern").await.text().contains("href=\"/software/fern/alternatives\""));
    assert!(page(&service, "/software/moss").await.text().contains("href=\"/alternatives/slack\""));
}
