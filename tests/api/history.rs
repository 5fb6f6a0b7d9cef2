//! `/v1/software/{id}/history`, and the page that shows it.

use serde_json::{Value, json};

use crate::api::feed::published;
use crate::api::service::{Service, Setup};

fn export(products: &[(&str, &str)]) -> String {
    let product = |(id, pricing): &(&str, &str)| {
        json!({
            "id": id, "name": "Moss", "url": "https://example.org/", "evidence_status": "pending-review", "pricing": pricing
        })
    };
    json!({"name": "N", "license": "https://example.org/licence", "software": products.iter().map(product).collect::<Vec<_>>()})
        .to_string()
}

/// A service whose products changed several times.
fn service() -> Service {
    let sets = [
        export(&[("b", "1"), ("gone", "1")]),
        export(&[("b", "1"), ("gone", "<i>2</i>"), ("a/b", "1")]),
        export(&[("b", "1"), ("a/b", "<b>2</b>")]),
        export(&[("b", "1"), ("a/b", "3")]),
    ];
    Setup { directory: published(&sets).0, ..Setup::default() }.start()
}

#[tokio::test]
async fn a_history_is_paged_newest_first() {
    let service = service();
    let answer = service.get("/v1/software/a%2Fb/history").await;
    let history = answer.json();
    let of = |at: usize, name: &str| history["data"][at][name].clone();
    assert_eq!(history["pagination"], json!({"limit": 20, "offset": 0, "total": 3}), "{history}");
    assert_eq!([0, 1, 2].map(|at| of(at, "change")), ["changed", "changed", "added"]);
    assert_eq!(of(0, "changes"), json!([{"property": "pricing", "from": "<b>2</b>", "to": "3"}]));
    assert_eq!((of(2, "changes"), of(0, "generation")), (json!([]), json!(answer.header("x-generation"))));
    assert!(history["since"].as_str() < of(2, "at").as_str() && of(2, "at").as_str() < of(0, "at").as_str());
    let page = service.get("/v1/software/a%2Fb/history?limit=1&offset=1").await;
    assert_eq!(page.json()["data"], json!([history["data"][1]]));
    assert!(
        page.header("link").contains("/v1/software/a%2Fb/history?limit=1&offset=2>; rel=\"next\""),
        "{}",
        page.header("link")
    );
    let none = service.get("/v1/software/b/history").await;
    assert_eq!((none.status.as_u16(), &none.json()["data"]), (200, &json!([])));
    let tag = answer.header("etag").to_owned();
    assert_eq!(service.get_with("/v1/software/a%2Fb/history", &[("if-none-match", &tag)]).await.status, 304);
}

#[tokio::test]
async fn a_removed_product_has_a_history_and_an_unknown_one_does_not() {
    let service = service();
    let gone = service.get("/v1/software/gone/history").await;
    let changes: Vec<Value> =
        gone.json()["data"].as_array().expect("an array").iter().map(|of| of["change"].clone()).collect();
    assert_eq!((gone.status.as_u16(), changes), (200, vec![json!("removed"), json!("changed")]));
    let unknown = service.get("/v1/software/unknown/history").await;
    assert_eq!((unknown.status.as_u16(), &unknown.json()["code"]), (404, &json!("software_not_found")));
    let refused = service.get("/v1/software/gone/history?lang=de").await;
    assert_eq!((refused.status.as_u16(), &refused.json()["code"]), (400, &json!("unknown_parameter")));
}

#[tokio::test]
async fn pages_show_the_history() {
    let service = service();
    let text = async |path: &str| service.visit(path).await.text().to_owned();
    let product = text("/software/a%2Fb").await;
    assert!(
        product.contains("<h2 id=\"history\">History</h2>") && product.contains("/software/a%2Fb/history"),
        "{product}"
    );
    let none = text("/software/b").await;
    assert!(!none.contains("id=\"history\""), "{none}");
    let page = text("/software/a%2Fb/history").await;
    assert!(page.contains("&lt;b&gt;2&lt;/b&gt;") && !page.contains("<b>2"), "{page}");
    let gone = service.visit("/software/gone/history").await;
    assert_eq!((gone.status.as_u16(), gone.text().contains("removed from the directory")), (200, true));
    assert_eq!(service.visit("/software/unknown/history").await.status, 404);
}
