//! Where readers can suggest corrections, and badges for vendors' own sites.

use axum::http::Method;
use quick_xml::events::Event;
use serde_json::{Value, json};
use software_directory::http::{HttpConfig, PublicUrl};
use software_directory::key::Rate;
use software_directory::update::Directory;

use crate::api::fixture;
use crate::api::service::{Service, Setup};

const HOSTILE: &str = "<b>\"A\"</b> & {id}\u{1b}]]>";

fn service(corrections: &Value, public_page: Option<Rate>) -> Service {
    let record = |id: &str, name: &str, status: &str| {
        json!({
            "id": id, "name": name, "url": "https://a.example/?x=1&y", "evidence_status": status,
            "evidence_checked_on": "2026-06-12", "sources": [["A", "https://a.example/"]]
        })
    };
    let software = [
        record("a/b", HOSTILE, "vendor-sources-reviewed"),
        record("pending", "Later", "pending-review"),
        record("long", &"<".repeat(1_000_000), "pending-review"),
    ];
    let document =
        json!({"name": "E", "license": "https://a.example/", "corrections": corrections, "software": software});
    let directory = Directory::default();
    directory.publish(fixture::snapshot(&[("e", &document.to_string())]));
    let public_url = PublicUrl::parse("https://d.example/x").ok();
    let config = HttpConfig { public_page, public_url, ..HttpConfig::default() };
    Setup { directory: directory.into(), config, ..Setup::default() }.start()
}

#[tokio::test]
async fn records_say_where_to_suggest_corrections() {
    let template = "https://c.example/new?title={name}&id={id}&in={export}&of={url}";
    let service = service(&json!(template), Rate::new(100));
    let detail = &service.get("/v1/software/a%2Fb").await.json()["data"];
    let url = "https://c.example/new?title=%3Cb%3E%22A%22%3C%2Fb%3E%20%26%20%7Bid%7D%1B%5D%5D%3E&id=a%2Fb&in=e&\
               of=https%3A%2F%2Fa.example%2F%3Fx%3D1%26y";
    assert_eq!(detail["corrections_url"], url);
    assert_eq!(service.get("/v1/exports").await.json()["data"][0]["corrections"], template);
    let link = format!("<a href=\"{}\" rel=\"noreferrer nofollow\">", url.replace('&', "&#38;"));
    let page = service.send(Method::GET, "/software/a%2Fb", &[]).await;
    assert!(page.text().replace("&amp;", "&#38;").contains(&link), "{}", page.text());
    let nothing = service.send(Method::GET, "/?q=qqqqzzzz", &[]).await;
    assert!(nothing.text().contains("https://c.example/new?title=qqqqzzzz"), "{}", nothing.text());
}

#[tokio::test]
async fn without_a_usable_address_nothing_is_offered() {
    for corrections in [json!(null), json!("javascript:alert({id})"), json!("https://{name}/")] {
        let service = service(&corrections, Rate::new(100));
        assert_eq!(service.get("/v1/software/pending").await.json()["data"].get("corrections_url"), None);
        assert_eq!(service.get("/v1/exports").await.json()["data"][0].get("corrections"), None);
        let page = service.send(Method::GET, "/software/pending", &[]).await;
        assert!(!page.text().contains("Suggest a correction"), "{corrections}");
    }
}

#[tokio::test]
async fn badges_say_how_well_the_evidence_was_checked() {
    let service = service(&json!(null), Rate::new(100));
    for (path, text) in
        [("/software/a%2Fb/badge.svg", "evidence checked June 2026"), ("/software/pending/badge.svg", "Pending review")]
    {
        let badge = service.send(Method::GET, path, &[]).await;
        assert_eq!((badge.status.as_u16(), badge.header("content-type")), (200, "image/svg+xml"));
        assert!(badge.header("cache-control").starts_with("public"), "{}", badge.header("cache-control"));
        assert!(badge.header("content-security-policy").starts_with("default-src 'none'"));
        let image = badge.text();
        assert!(image.contains(&format!(">{text}</text>")), "{image}");
        let mut reader = quick_xml::Reader::from_str(image);
        reader.config_mut().check_end_names = true;
        let mut elements = Vec::new();
        loop {
            match reader.read_event().expect("well-formed") {
                Event::Eof => break,
                Event::Start(tag) | Event::Empty(tag) => {
                    tag.attributes().for_each(|attribute| drop(attribute.expect("an attribute")));
                    elements.push(tag.name().as_ref().to_owned());
                }
                _ => {}
            }
        }
        assert_eq!(elements, ["svg", "title", "style", "rect", "text"], "{image}");
    }
    let long = service.send(Method::GET, "/software/long/badge.svg", &[]).await;
    assert!(long.text().len() < 8_000 && long.text().contains("&lt;…: Pending review"), "{}", long.text().len());
    assert_eq!(service.send(Method::GET, "/software/nothing/badge.svg", &[]).await.status, 404);
    let page = service.send(Method::GET, "/software/a%2Fb", &[]).await;
    assert!(page.text().contains("https://d.example/x/software/a%2Fb/badge.svg"), "{}", page.text());
}

#[tokio::test]
async fn private_pages_have_no_badges() {
    let service = service(&json!(null), None);
    let session = service.session().await;
    let badge = service.send(Method::GET, "/software/pending/badge.svg", &[("cookie", &session)]).await;
    assert_eq!(badge.status, 404);
    let page = service.send(Method::GET, "/software/pending", &[("cookie", &session)]).await;
    assert!(!page.text().contains("badge.svg"), "{}", page.text());
}
