//! Text in several languages: which language is returned, how the response reports it, and that
//! words in any language are found.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};
use software_directory::update::Directory;

use crate::api::examples::bundled;
use crate::api::fixture;
use crate::api::service::{BROWSER, Service, Setup};

/// A directory in English, with one product that is translated into German and French, and an
/// export in German.
fn service() -> Service {
    let product = |id: &str, name: &str, more: Value| {
        let mut product = json!({
            "id": id, "name": name, "url": format!("https://{id}.example/"), "evidence_status": "pending-review",
        });
        product.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        product
    };
    let english = json!({
        "name": "English", "license": "https://opensource.org/license/mit",
        "attributes": [{"property": "licence", "label": "Licence", "translations": {"de": {"label": "Lizenz"}}}],
        "categories": [{
            "name": "Chemicals", "description": "Substances at work.",
            "translations": {"de": {"name": "Gefahrstoffe", "description": "Stoffe bei der Arbeit."}}
        }, {"name": "Audits"}],
        "glossary": [{
            "term": "Near miss", "definition": "An event that nearly harmed someone.",
            "translations": {"de": {"term": "Beinaheunfall", "definition": "Ein Ereignis, das fast schadete."}}
        }, {"term": "Audit", "definition": "A check."}],
        "software": [
            product("stoff", "Substance Keeper", json!({
                "category": "Chemicals", "tagline": "Inventory of substances", "description": "Lists what is stored where.",
                "licence": "MIT",
                "translations": {
                    "de": {"tagline": "Gefahrstoffkataster für Betriebe", "description": "Führt Verzeichnisse von Lagerorten."},
                    "fr": {"tagline": "Inventaire des produits chimiques"}
                }
            })),
            product("plain", "Plain Auditor", json!({"category": "Audits", "tagline": "Audits only"})),
        ]
    });
    let german = json!({
        "name": "Deutsch", "license": "https://opensource.org/license/mit", "language": "de",
        "software": [product("ordner", "Ordnerwächter", json!({"tagline": "Bewacht Ordner"}))]
    });
    start(&[("english", english), ("german", german)])
}

fn start(exports: &[(&str, Value)]) -> Service {
    let documents: Vec<_> = exports.iter().map(|(id, document)| (*id, document.to_string())).collect();
    let documents: Vec<_> = documents.iter().map(|(id, document)| (*id, document.as_str())).collect();
    let directory = Directory::default();
    directory.publish(fixture::snapshot(&documents));
    Setup { directory: Arc::new(directory), ..Setup::default() }.start()
}

fn item<'a>(answer: &'a Value, id: &str) -> &'a Value {
    let data = answer["data"].as_array().expect("a list");
    data.iter().find(|item| item["id"] == id).unwrap_or_else(|| panic!("no {id}: {answer}"))
}

async fn found(service: &Service, query: &str) -> Vec<String> {
    let answer = service.get(&format!("/v1/search?q={query}")).await.json();
    let ids =
        answer["data"].as_array().expect("a list").iter().map(|item| item["id"].as_str().expect("an id").to_owned());
    ids.collect()
}

#[tokio::test]
async fn the_requested_language_is_used_and_missing_text_falls_back() {
    let service = service();
    let answer = service.get("/v1/software?lang=de").await;
    assert_eq!((answer.status.as_u16(), answer.header("content-language")), (200, "de"), "{answer:?}");
    let list = answer.json();
    let stoff = item(&list, "stoff");
    assert_eq!(stoff["tagline"], "Gefahrstoffkataster für Betriebe");
    assert_eq!((&stoff["name"], &stoff["category"]), (&json!("Substance Keeper"), &json!("Gefahrstoffe")));
    assert_eq!(stoff["categories"], json!([{"id": "chemicals", "name": "Gefahrstoffe"}]));
    assert_eq!(stoff["untranslated"], json!(["name"]));
    assert_eq!(item(&list, "plain")["untranslated"], json!(["name", "tagline", "category", "categories"]));
    assert_eq!(item(&list, "ordner").get("untranslated"), None, "its own text is in German");
    assert_eq!((&item(&list, "ordner")["language"], stoff.get("language")), (&json!("de"), None));
    let french = service.get("/v1/software?lang=fr-CA").await;
    assert_eq!(french.header("content-language"), "fr");
    assert_eq!(item(&french.json(), "stoff")["tagline"], "Inventaire des produits chimiques");
    let english = service.get("/v1/software?lang=en").await;
    assert_eq!(english.header("content-language"), "en");
    assert_eq!(item(&english.json(), "ordner")["untranslated"], json!(["name", "tagline"]));
    let own = service.get("/v1/software").await;
    assert_eq!(own.header("content-language"), "");
    assert_eq!(item(&own.json(), "stoff")["tagline"], "Inventory of substances");
    assert!(!own.text().contains("untranslated"));
}

#[tokio::test]
async fn each_resource_has_text_in_the_requested_language() {
    let service = service();
    let get = async |path: &str| {
        let answer = service.get(path).await;
        (answer.header("content-language").to_owned(), answer.json())
    };
    let (language, record) = get("/v1/software/stoff?lang=de").await;
    let record = &record["data"];
    assert_eq!((&*language, &record["description"]), ("de", &json!("Führt Verzeichnisse von Lagerorten.")));
    assert_eq!(record["translations"]["fr"], json!({"tagline": "Inventaire des produits chimiques"}));
    assert_eq!((&record["untranslated"], &record["export"]["id"]), (&json!(["name"]), &json!("english")));
    assert_eq!(get("/v1/software/ordner").await.1["data"]["language"], "de");
    assert_eq!(get("/v1/software/plain?lang=de").await.0, "", "none of its text is in German");
    let (language, category) = get("/v1/categories/chemicals?lang=de").await;
    assert_eq!((&*language, &category["data"]["name"]), ("de", &json!("Gefahrstoffe")));
    assert_eq!(category["data"]["description"], "Stoffe bei der Arbeit.");
    let (_, categories) = get("/v1/categories?lang=de").await;
    assert_eq!(item(&categories, "audits")["untranslated"], json!(["name"]));
    let (language, term) = get("/v1/glossary/near-miss?lang=de").await;
    assert_eq!((&*language, &term["data"]["term"]), ("de", &json!("Beinaheunfall")));
    let (_, terms) = get("/v1/glossary?q=beinaheunfall&lang=de").await;
    assert_eq!(terms["data"][0]["definition"], "Ein Ereignis, das fast schadete.");
    let (language, attributes) = get("/v1/attributes?lang=de&offset=5").await;
    assert_eq!((&*language, &attributes["data"][0]["label"]), ("de", &json!("Lizenz")));
    let (_, found) = get("/v1/search?lang=de&facets=category&q=gefahrstoffkataster").await;
    assert_eq!(found["facets"]["category"][0]["label"], "Gefahrstoffe");
    let (language, suggested) = get("/v1/suggest?lang=de&q=gefahr").await;
    assert_eq!((&*language, &suggested["data"]["categories"][0]["name"]), ("de", &json!("Gefahrstoffe")));
    let (_, similar) = get("/v1/software/plain/similar?lang=de").await;
    assert_eq!(similar["pagination"]["total"], 0);
}

/// Browsers add `Accept-Language` to every request, so it must not change what a program gets.
#[tokio::test]
async fn accept_language_makes_no_difference_to_the_api() {
    let service = service();
    for path in [
        "/v1/software",
        "/v1/software/stoff",
        "/v1/software/stoff?lang=fr",
        "/v1/software/plain/similar",
        "/v1/search?q=keeper&facets=category&highlight=true",
        "/v1/suggest?q=chem",
        "/v1/categories",
        "/v1/categories/chemicals",
        "/v1/glossary/near-miss",
        "/v1/attributes",
    ] {
        let plain = service.get(path).await;
        assert_eq!(plain.header("content-language"), if path.contains("lang=fr") { "fr" } else { "" }, "{path}");
        assert_eq!(plain.header("vary"), "Authorization, Accept-Encoding, Origin", "{path}");
        let tag = plain.header("etag").to_owned();
        let german = service.get_with(path, &[("accept-language", "de")]).await;
        assert_eq!((german.text(), german.header("etag")), (plain.text(), &*tag), "{path}");
        let answer = service.get_with(path, &[("accept-language", "de"), ("if-none-match", &tag)]).await;
        assert_eq!((answer.status.as_u16(), answer.header("content-language")), (304, ""), "{path}");
    }
}

#[tokio::test]
async fn unavailable_language_is_refused_with_a_list_of_available_ones() {
    let service = service();
    for tag in ["it", "german", ""] {
        for path in
            ["/v1/software", "/v1/software/stoff", "/v1/search", "/v1/categories", "/v1/glossary", "/v1/attributes"]
        {
            let answer = service.get(&format!("{path}?lang={tag}")).await;
            assert_eq!(answer.problem(), (400, "invalid_parameter".to_owned()), "{path} {tag}");
            if tag == "it" {
                let message = &answer.json()["errors"][0]["message"];
                assert_eq!(message, "lang must be one of the directory's languages: de, en, fr.");
            }
        }
    }
    assert_eq!(service.get("/v1/software?lang=de&lang=fr").await.status, 400);
    assert_eq!(service.get("/v1/reviews/stoff?lang=de").await.problem().1, "unknown_parameter");
}

/// A product's hash doesn't cover the names of its categories in other languages.
#[tokio::test]
async fn renaming_a_category_in_one_language_changes_its_products_tags() {
    let export = |name: &str| {
        json!({
            "name": "Export", "license": "https://opensource.org/license/mit",
            "categories": [{"name": "Chemicals", "translations": {"de": {"name": name}}}],
            "software": [{
                "id": "stoff", "name": "Stoff", "url": "https://stoff.example/", "category": "Chemicals",
                "evidence_status": "pending-review"
            }]
        })
    };
    let service = start(&[("export", export("Gefahrstoffe"))]);
    let mut before = Vec::new();
    let paths = ["/v1/software/stoff?lang=de", "/v1/software?lang=de", "/v1/categories/chemicals?lang=de"];
    for path in paths {
        before.push(service.get(path).await.header("etag").to_owned());
    }
    let own = service.get("/v1/software/stoff").await.header("etag").to_owned();
    service.directory.publish(fixture::snapshot(&[("export", &export("Chemikalien").to_string())]));
    for (path, before) in paths.into_iter().zip(&before) {
        let answer = service.get_with(path, &[("if-none-match", before)]).await;
        assert!(answer.status == 200 && answer.text().contains("Chemikalien"), "{path}: {answer:?}");
    }
    let answer = service.get_with("/v1/software/stoff", &[("if-none-match", &own)]).await;
    assert_eq!(answer.status, 304, "its own text is the same");
}

/// Percent-encodes a parameter's value.
fn encoded(value: &str) -> String {
    utf8_percent_encode(value, NON_ALPHANUMERIC).to_string()
}

fn ids(answer: &Value) -> Vec<&str> {
    answer["data"].as_array().expect("a list").iter().map(|item| item["id"].as_str().expect("an id")).collect()
}

#[tokio::test]
async fn every_value_in_a_response_is_accepted_as_a_filter() {
    for service in [service(), bundled()] {
        for lang in ["", "lang=en", "lang=de", "lang=fr"] {
            let get = async |path: &str| service.get(path).await.json();
            let of_attributes = get("/v1/attributes").await;
            let properties = of_attributes["data"].as_array().expect("a list").iter().map(|of| &of["property"]);
            let facets: Vec<_> = properties.map(|of| format!("attribute.{}", of.as_str().expect("text"))).collect();
            let facets: Vec<_> = ["category", "offering_type", "evidence_status"]
                .into_iter()
                .chain(facets.iter().map(|of| &**of))
                .collect();
            let counted = get(&format!("/v1/search?{lang}&limit=1&facets={}", facets.join("&facets="))).await;
            for facet in facets {
                for of in counted["facets"][facet].as_array().expect("a facet") {
                    let (value, label) = (of["value"].as_str().expect("text"), of["label"].as_str().expect("text"));
                    // A category can be filtered by its label too, which is its name in the language.
                    for value in [value, label].into_iter().take(if facet == "category" { 2 } else { 1 }) {
                        let filter = match facet.strip_prefix("attribute.") {
                            Some(property) => format!("attribute={}", encoded(&format!("{property}:{value}"))),
                            None => format!("{facet}={}", encoded(value)),
                        };
                        let found = get(&format!("/v1/search?{lang}&limit=1&{filter}")).await;
                        assert_eq!(found["pagination"]["total"], of["count"], "{lang} {filter}");
                    }
                }
            }
            let mut shown: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
            let mut items = Vec::new();
            for offset in [0, 100] {
                let page = get(&format!("/v1/software?{lang}&limit=100&offset={offset}")).await;
                items.extend(page["data"].as_array().expect("a list").clone());
            }
            for item in &items {
                let names = item["categories"].as_array().expect("a list").iter().map(|of| &of["name"]);
                for name in names.chain([&item["category"]]).filter_map(Value::as_str) {
                    let id = item["id"].as_str().expect("an id").to_owned();
                    shown.entry(name.to_owned()).or_default().insert(id);
                }
            }
            for (name, products) in shown {
                let found = get(&format!("/v1/software?{lang}&limit=100&category={}", encoded(&name))).await;
                assert_eq!(
                    ids(&found).into_iter().map(str::to_owned).collect::<BTreeSet<_>>(),
                    products,
                    "{lang} {name}"
                );
            }
            for term in get(&format!("/v1/glossary?{lang}&limit=100")).await["data"].as_array().expect("a list") {
                let found =
                    get(&format!("/v1/glossary?{lang}&q={}", encoded(term["term"].as_str().expect("text")))).await;
                assert_eq!(ids(&found).first(), term["id"].as_str().as_ref(), "{lang} {}", term["term"]);
            }
        }
    }
}

#[tokio::test]
async fn an_id_takes_precedence_over_a_name_and_a_name_over_a_translation() {
    let category = |name: &str, german: &str| json!({"name": name, "translations": {"de": {"name": german}}});
    let product = |id: &str, category: &str| {
        json!({
            "id": id, "name": id, "url": format!("https://{id}.example/"), "category": category,
            "evidence_status": "pending-review"
        })
    };
    let term = |term: &str, german: &str| json!({"term": term, "definition": "A term.", "translations": {"de": {"term": german, "definition": "Ein Begriff."}}});
    let service = start(&[(
        "export",
        json!({
            "name": "Export", "license": "https://opensource.org/license/mit",
            "categories": [
                category("Audits", "Prüfungen"), category("Checks", "PRÜFUNGEN"), category("Reviews", "Audits"),
                category("C#", "Cis"), category("Keys", "C sharp")
            ],
            "software": [
                product("a", "Audits"), product("b", "Checks"), product("c", "Reviews"), product("d", "C#"),
                product("e", "Keys")
            ],
            "glossary": [term("Aaa", "Zzz"), term("Zzz", "Aaa")]
        }),
    )]);
    for (category, expected) in [
        ("audits", &["a"][..]),
        ("AUDITS", &["a"]),
        ("prüfungen", &["a", "b"]),
        ("Prufungen", &["a", "b"]),
        ("C sharp", &["d"]),
        ("cis", &["d"]),
        ("C#", &["d"]),
        ("Keys", &["e"]),
        ("Prüfung", &[]),
    ] {
        let category = encoded(category);
        for path in ["/v1/software?", "/v1/search?sort=name&", "/v1/software?lang=de&"] {
            let found = service.get(&format!("{path}category={category}")).await.json();
            assert_eq!(ids(&found), expected, "{path}{category}");
        }
    }
    for (q, expected) in [("aaa", ["aaa", "zzz"]), ("zzz", ["zzz", "aaa"])] {
        assert_eq!(ids(&service.get(&format!("/v1/glossary?q={q}")).await.json()), expected);
    }
    let listed = service.get("/v1/software?category=Pr%C3%BCfungen,Cis").await.json();
    assert!(listed["errors"][0]["message"].as_str().is_some_and(|message| message.contains("category")), "{listed}");
    let page = service.visit("/de/?q=&category=Pr%C3%BCfungen").await;
    for id in ["audits", "checks"] {
        assert!(page.text().contains(&format!("id=\"category-{id}\" form=\"find\" checked")), "{id}: {}", page.text());
    }
}

#[tokio::test]
async fn words_in_every_language_are_found_in_any_form() {
    let service = service();
    for query in [
        "Gefahrstoffkataster",
        "gefahrstoffkatastern",
        "Verzeichnis",
        "betrieb",
        "inventaires",
        "chimique",
        "substance",
        "Stoffe",
    ] {
        assert_eq!(found(&service, query).await.first().map(String::as_str), Some("stoff"), "{query}");
    }
    assert_eq!(found(&service, "ordners").await, ["ordner"]);
    assert_eq!(found(&service, "gefahrstoffe").await, ["stoff"], "found by its category's name");
}

#[tokio::test]
async fn highlights_come_from_the_text_that_matched() {
    let service = service();
    let highlights = async |query: &str| {
        let answer = service.get(&format!("/v1/search?highlight=true&{query}")).await.json();
        item(&answer, "stoff")["highlights"].clone()
    };
    assert_eq!(
        highlights("q=gefahrstoffkatastern").await,
        json!([{
            "field": "tagline", "html": "<mark>Gefahrstoffkataster</mark> für Betriebe",
            "ranges": [{"start": 0, "length": 19}], "language": "de"
        }])
    );
    let both = highlights("q=substances+kataster+lagerorten&lang=de").await;
    let fields: Vec<_> = both.as_array().expect("a list").iter().map(|of| (&of["field"], &of["language"])).collect();
    assert_eq!(fields[1], (&json!("tagline"), &Value::Null), "{both}");
    assert!(fields.contains(&(&json!("description"), &json!("de"))), "{both}");
    let description = &highlights("q=lagerort").await[0];
    assert_eq!(description["html"], "Führt Verzeichnisse von <mark>Lagerorten</mark>.");
    assert_eq!(highlights("q=stored").await[0]["language"], Value::Null);
    assert_eq!(highlights("q=gefahrstoffe").await[0]["html"], "<mark>Gefahrstoffe</mark>");
}

#[tokio::test]
async fn pages_are_in_the_language_in_their_path() {
    let service = service();
    for (path, german, english) in [
        ("/software/stoff", "Gefahrstoffkataster", "Inventory of substances"),
        ("/?q=keeper", "Gefahrstoffkataster", "Inventory of substances"),
        ("/categories", "Gefahrstoffe", "Chemicals"),
        ("/categories/chemicals", "Stoffe bei der Arbeit", "Substances at work"),
        ("/glossary", "Beinaheunfall", "Near miss"),
        ("/compare?id=stoff&id=plain", "Gefahrstoffe", "Chemicals"),
        ("/", "Gefahrstoffe", "Chemicals"),
    ] {
        let (of_german, of_italian) = (service.visit(&format!("/de{path}")).await, service.visit(path).await);
        assert!(
            of_german.text().contains(german) && !of_german.text().contains(english),
            "{path}: {}",
            of_german.text()
        );
        assert!(
            of_italian.text().contains(english) && !of_italian.text().contains(german),
            "{path}: {}",
            of_italian.text()
        );
        assert_ne!(of_german.header("etag"), of_italian.header("etag"), "{path}");
    }
}

/// Without a language in their path, pages are in the language of most products.
#[tokio::test]
async fn the_directorys_own_language_is_that_of_most_products() {
    let product = |id: &str| json!({"id": id, "name": id, "url": format!("https://{id}.example/"), "evidence_status": "pending-review"});
    let export = |language: &str, ids: &[&str]| {
        let category = json!({"name": language, "translations": {"fr": {"name": format!("{language} en français")}}});
        json!({
            "name": language, "license": "https://opensource.org/license/mit", "language": language,
            "software": ids.iter().map(|id| product(id)).collect::<Vec<_>>(), "categories": [category]
        })
    };
    let service = start(&[("english", export("en", &["a"])), ("german", export("de-AT", &["b", "c"]))]);
    for (path, tag, text) in [
        ("/categories", "de", "href=\"/categories/en\" data-row><bdi lang=\"en\">en<"),
        ("/de/categories", "de", "href=\"/de/categories/en\""),
        ("/en/categories", "en", "<bdi lang=\"de-AT\">de-AT<"),
        ("/fr/categories", "fr", "<bdi>en en français<"),
    ] {
        let page = service.visit(path).await;
        assert!(page.text().contains(&format!("<html lang=\"{tag}\">")), "{path}: {}", page.text());
        assert!(page.text().contains(text), "{path}: {text}: {}", page.text());
    }
    let away = service.visit_with("/", &[("accept-language", "en"), BROWSER]).await;
    assert_eq!((away.status.as_u16(), away.header("location")), (303, "/en/"));
}

#[tokio::test]
async fn the_language_of_an_export_that_does_not_state_it_is_detected() {
    let text = "Das ist ein Verzeichnis und eine Ablage, mit der Sie von einem Ort auf das Lager und zur Halle sehen.";
    let product = |id: &str, description: &str| {
        json!({
            "id": id, "name": id, "url": format!("https://{id}.example/"), "evidence_status": "pending-review",
            "description": description, "category": format!("Of {id}")
        })
    };
    let document = |attribute: &str, software: &[Value]| {
        json!({
            "name": "Plain", "license": "https://opensource.org/license/mit", "software": software,
            "attributes": [{"property": attribute, "label": attribute}]
        })
    };
    let clear = document("farbe", &[product("a", text), product("b", text)]);
    let service = start(&[("clear", clear), ("short", document("form", &[product("c", "Die Ablage.")]))]);
    for (path, language) in [
        ("/v1/software/a", Some("de")),
        ("/v1/categories/of-a", Some("de")),
        ("/v1/software/c", None),
        ("/v1/categories/of-c", None),
    ] {
        let record = service.get(path).await.json();
        assert_eq!(
            record["data"].get("language").map(|tag| tag.as_str().expect("a tag")),
            language,
            "{path}: {record}"
        );
    }
    assert_eq!(item(&service.get("/v1/exports").await.json(), "clear")["language"], "de");
    assert_eq!(service.get("/v1/attributes?offset=5").await.json()["data"][0]["language"], "de");
    assert_eq!(service.get("/v1/software/a?lang=de").await.header("content-language"), "de");
}

#[tokio::test]
async fn text_in_a_different_language_from_the_page_is_marked() {
    let service = service();
    for (language, path, parts) in [
        (
            "de",
            "/software/stoff",
            vec![
                "<h1><bdi lang=\"en\">Substance Keeper",
                "<p class=\"lead\"><bdi>Gefahrstoffkataster",
                "<p class=\"prose\"><bdi>Führt",
                "<bdi>Lizenz</bdi></dt><dd lang=\"en\">",
                "<p class=\"crumbs\"><a href=\"/de/categories/chemicals\"><bdi>Gefahrstoffe",
            ],
        ),
        ("de", "/software/plain", vec!["<p class=\"lead\"><bdi lang=\"en\">", "<bdi lang=\"en\">Audits</bdi>"]),
        ("de", "/software/ordner", vec!["<h1><bdi>Ordnerwächter", "<p class=\"lead\"><bdi>Bewacht"]),
        ("fr", "/software/stoff", vec!["<p class=\"lead\"><bdi>Inventaire", "<bdi lang=\"en\">Lists what"]),
        (
            "en",
            "/software/ordner",
            vec!["<h1><bdi lang=\"de\">Ordnerwächter", "<p class=\"lead\"><bdi lang=\"de\">Bewacht"],
        ),
        ("en", "/software/stoff", vec!["<h1><bdi>Substance Keeper", "<bdi>Licence</bdi></dt><dd>"]),
        (
            "de",
            "/?q=",
            vec![
                "data-row><bdi lang=\"en\">Substance Keeper",
                "<p class=\"tagline\"><bdi>Gefahrstoffkataster",
                "data-row><bdi>Ordnerwächter",
                "<span class=\"label\"><bdi>Gefahrstoffe",
                "<span class=\"label\"><bdi lang=\"en\">Audits",
                "<legend>Lizenz",
            ],
        ),
        ("fr", "/?q=&attribute=licence:MIT", vec!["<legend lang=\"en\">Licence"]),
        ("fr", "/?q=lagerorten", vec!["<bdi lang=\"de\">Führt Verzeichnisse"]),
        ("de", "/?q=stored", vec!["<bdi lang=\"en\">Lists what is <mark>stored"]),
        ("de", "/?q=&category=audits", vec!["<bdi lang=\"en\">Audits</bdi> <span aria-hidden"]),
        ("de", "/categories", vec!["data-row><bdi lang=\"en\">Audits", "<p><bdi>Stoffe bei"]),
        ("fr", "/categories/chemicals", vec!["<h1><bdi lang=\"en\">Chemicals", "<bdi lang=\"en\">Substances at"]),
        (
            "de",
            "/glossary",
            vec!["<h3><bdi>Beinaheunfall", "<h3><bdi lang=\"en\">Audit</bdi>", "<bdi lang=\"en\">A check."],
        ),
        (
            "de",
            "/compare?id=stoff&id=ordner",
            vec!["<bdi lang=\"en\">Substance Keeper", "<td><bdi>Bewacht Ordner", "<td lang=\"en\"><bdi>MIT"],
        ),
        ("de", "/", vec!["<bdi lang=\"en\">Audits", "<bdi>Gefahrstoffe"]),
        ("de", "/suggest?q=audit", vec!["<bdi lang=\"en\">Audits</bdi><span", "<bdi lang=\"en\">Audit</bdi>"]),
        ("fr", "/exports", vec!["<bdi lang=\"de\">Deutsch", "<bdi lang=\"en\">English"]),
        ("de", "/docs/errors", vec!["<html lang=\"de\">"]),
        ("de", "/sign-in", vec![]),
        ("fr", "/software/nothing", vec!["<html lang=\"fr\">"]),
    ] {
        let page = service.visit(&format!("/{language}{path}")).await;
        for part in parts {
            assert!(page.text().contains(part), "{path} in {language}: {part}: {}", page.text());
        }
        if page.status != 303 {
            assert_eq!(page.header("content-language"), language, "{path}");
        }
    }
}

#[tokio::test]
async fn terms_are_explained_in_the_readers_language() {
    let product = json!({
        "id": "melder", "name": "Melder", "url": "https://melder.example/", "evidence_status": "pending-review",
        "description": "Reports each near miss.", "translations": {"de": {"description": "Meldet jeden Beinaheunfall."}}
    });
    let document = json!({
        "name": "Terms", "license": "https://opensource.org/license/mit", "software": [product],
        "glossary": [{
            "term": "Near miss", "definition": "An event that nearly harmed.",
            "translations": {"de": {"term": "Beinaheunfall", "definition": "Ein Ereignis, das fast schadete."}}
        }]
    });
    let service = start(&[("terms", document)]);
    for (accepted, mention, definition) in [
        ("de", "Beinaheunfall</a>", "<bdi lang=\"de\">Ein Ereignis, das fast schadete."),
        ("en", "near miss</a>", "<bdi lang=\"en\">An event that nearly harmed."),
    ] {
        let page = service.visit(&format!("/{accepted}/software/melder")).await;
        assert!(page.text().contains(mention) && page.text().contains(definition), "{accepted}: {}", page.text());
    }
}
