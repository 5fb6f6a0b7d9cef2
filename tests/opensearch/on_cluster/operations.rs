//! The operations on one node.

use serde_json::{Value, json};
use software_directory::opensearch::{Directory, Error};
use software_directory::record::{CalendarDate, Language};
use software_directory::service::{
    AttributeCondition, Facet, ListReviews, ListSimilar, ListSoftware, ListSort, Order, PageRequest, ReviewSort,
    SearchSoftware, SearchSort, SoftwareFilter, Tier,
};

use crate::opensearch::environment::{World, hits, ids, product, search};

/// An id with more bytes than a document's id may have.
fn long_id() -> String {
    "länge/".repeat(80)
}

async fn directory(prefix: &str) -> Directory {
    let world = World::new(prefix);
    world.write(
        "tools",
        &json!({
            "categories": [{"name": "Audits", "description": "Plan audits", "translations": {"de": {"name": "Prüfungen"}}}],
            "glossary": [{"term": "Permit to work", "definition": "A permit.", "abbreviations": ["PTW"]}],
            "attributes": [{"property": "seats", "label": "Seats", "type": "number"}, {"property": "a.b", "label": "AB"}],
            "synonyms": [{"terms": ["walkaround", "gemba walk"]}],
            "pins": [{"queries": ["house favourite"], "software": ["zeta"]}],
            "software": [
                product("moss", "Moss", &json!({
                    "tagline": "Audit software for inspections", "categories": ["Audits", "Safety"], "tags": ["Cloud", "iso"],
                    "seats": 5, "a.b": "x", "rating": 4.5, "evidence_checked_on": "2026-01-01",
                    "evidence": {"seats": {"source": "https://moss.example/seats", "checked_on": "2025-01-01"}},
                    "review_count": 12, "aliases": ["Moss Audit"],
                    "description": "Supports the gemba walk.", "translations": {"de": {"tagline": "Prüfsoftware"}},
                })),
                product("fern", "Fern", &json!({
                    "tagline": "Open-source alternative to Slack", "categories": ["Chat"], "tags": ["cloud"], "seats": 50,
                    "a.b": "y",
                })),
                product("slack", "Slack", &json!({"tagline": "Team messages", "categories": ["Chat"], "tags": ["messages"]})),
                product("chime", "Chime", &json!({"tagline": "Calls for teams", "categories": ["Chat"], "tags": ["messages"]})),
                product("c", "C++ Builder", &json!({"tagline": "Compilers", "categories": ["Development"]})),
                product("zeta", "Zeta", &json!({"tagline": "Unrelated", "categories": ["Safety"]})),
                product(&long_id(), "Lengthy", &json!({"tagline": "Has a long id", "categories": ["Chat"]})),
            ],
            "reviews": [
                {"id": "r1", "software_id": "moss", "rating": 5, "created_at": "2025-01-01T00:00:00Z", "title": "Good"},
                {"id": "r2", "software_id": "moss", "rating": 2, "created_at": "2026-01-01T00:00:00Z", "verified": true},
            ],
        }),
    );
    world.write("german", &json!({"language": "de", "software": [
        product("pilz", "Pilz", &json!({"tagline": "Software für Gefährdungsbeurteilungen", "categories": ["Safety"]})),
    ]}));
    world.update().await.expect("published");
    world.directory().await
}

fn by(conditions: &[(&str, &str)]) -> SoftwareFilter {
    let attributes = conditions.iter().map(|(property, value)| AttributeCondition::new(property, value)).collect();
    SoftwareFilter { attributes, ..SoftwareFilter::default() }
}

#[tokio::test]
#[ignore = "needs a cluster: make test-opensearch"]
async fn products_are_listed_filtered_sorted_and_read() {
    let directory = directory("operations-list").await;
    let list = async |query: ListSoftware| {
        let page = directory.list_software(&query).await.expect("a page");
        assert!(page.pagination.total >= page.data.len() as u64);
        ids(&page.data)
    };
    let all = list(ListSoftware::default()).await;
    assert_eq!(&all[..5], ["c", "chime", "fern", &long_id(), "moss"], "by name");
    let with = |filter| ListSoftware { filter, ..ListSoftware::default() };
    assert_eq!(list(with(by(&[("seats", "1..10")]))).await, ["moss"]);
    assert_eq!(list(with(by(&[("seats", "..50"), ("tags", "CLOUD")]))).await, ["fern", "moss"]);
    assert_eq!(list(with(by(&[("a.b", "Y")]))).await, ["fern"]);
    assert_eq!(list(with(by(&[("missing", "x")]))).await, [""; 0]);
    let safety =
        SoftwareFilter { categories: vec!["SAFETY".to_owned()], min_rating: Some(4.5), ..SoftwareFilter::default() };
    assert_eq!(list(with(safety)).await, ["moss"]);
    let before = |day| SoftwareFilter { any_evidence_before: CalendarDate::parse(day), ..SoftwareFilter::default() };
    assert_eq!(list(with(before("2025-01-02"))).await, ["moss"], "a single claim is that old");
    assert_eq!(list(with(before("2025-01-01"))).await, [""; 0]);
    let sorted = |sort| ListSoftware { sort: ListSort::parse(sort), ..ListSoftware::default() };
    assert_eq!(&list(sorted("-attribute.seats")).await[..2], ["fern", "moss"]);
    assert_eq!(list(sorted("-rating")).await[0], "moss");
    let named = |q: &str| ListSoftware { q: Some(q.to_owned()), ..ListSoftware::default() };
    assert_eq!(list(named("bu c")).await, ["c"], "each word begins a word");
    assert_eq!(list(named("aud")).await, ["moss"], "aliases count");

    let product = directory.get_software("moss", None).await.expect("read").expect("known").0;
    let body: Value = serde_json::from_slice(&product.body).expect("JSON");
    assert_eq!(
        (&body["data"]["additional_properties"]["seats"], &body["data"]["export"]["id"]),
        (&json!(5), &json!("tools"))
    );
    assert_eq!(body["data"]["evidence"]["seats"][0]["source"], "https://moss.example/seats");
    assert!(body["data"].get("directory").is_none(), "what searches need isn't shown");
    assert!(String::from_utf8_lossy(&product.body).contains("\"rating\":4.5,"), "as written in the export");
    assert!(directory.get_software(&long_id(), None).await.expect("read").is_some());
    assert!(directory.get_software("..", None).await.expect("read").is_none());
    let german = Language::parse("de").expect("a tag");
    let filter = SoftwareFilter { ids: vec!["moss".to_owned(), "none".to_owned()], ..SoftwareFilter::default() };
    let translated = ListSoftware { filter, language: Some(german), ..ListSoftware::default() };
    let page = directory.list_software(&translated).await.expect("a page");
    let item: Value = serde_json::from_slice(&page.data[0]).expect("JSON");
    assert_eq!((page.pagination.total, page.is_in_language), (1, true));
    assert_eq!((&item["tagline"], &item["category"]), (&json!("Prüfsoftware"), &json!("Prüfungen")));

    let beyond = PageRequest { limit: 100, offset: 10_001 };
    let refused = directory.list_software(&ListSoftware { page: beyond, ..ListSoftware::default() }).await;
    assert!(matches!(refused, Err(Error::OffsetTooLarge)));
}

#[tokio::test]
#[ignore = "needs a cluster: make test-opensearch"]
async fn searches_find_names_words_synonyms_typos_languages_and_pins() {
    let directory = directory("operations-search").await;
    let first = async |q: &str| hits(&search(&directory, q).await).first().cloned().unwrap_or_default();
    for (q, expected) in [
        ("moss", "moss"),
        ("c++", "c"),
        ("audits", "moss"),
        ("inspecton software", "moss"),
        ("walkaround", "moss"),
        ("Gefährdungsbeurteilung", "pilz"),
        ("Prüfsoftware", "moss"),
        ("house favourite", "zeta"),
        ("what is the best audit app", "moss"),
        ("\"team messages\"", "slack"),
    ] {
        assert_eq!(first(q).await, expected, "{q}");
    }
    let page = search(&directory, "audit software").await;
    assert_eq!((page.data[0].tier, page.query.with_all_words), (Tier::Words, 1));
    assert!(page.data.windows(2).all(|pair| pair[0].score >= pair[1].score));
    let page = search(&directory, "walkaround").await;
    assert_eq!((&*page.query.synonyms[0].from, &*page.query.synonyms[0].to), ("walkaround", "gemba walk"));
    let page = search(&directory, "cloud -slack").await;
    assert_eq!((hits(&page), page.query.excluded), (vec!["moss".to_owned()], vec!["slack".to_owned()]));
    let page = search(&directory, "house favourite").await;
    assert_eq!((page.query.pinned, page.data[0].tier), (vec!["zeta".to_owned()], Tier::Pinned));
    assert_eq!(search(&directory, "Moss").await.data[0].tier, Tier::ExactName);
    // As many words as fit are no error, nor are as many synonyms and misspellings.
    let numbers = (0..80).map(|n| n.to_string()).collect::<Vec<_>>().join(" ");
    let abbreviations = "mua vcs webshop booking tts cmd publish password bugtracker screenshot vault crm cms gui osx gis \
                         voip math ebook unpack antivirus esignature kanban erp hris lms pos rss sso ssh ide sql xmpp";
    for start in ["", "-audit -cloud ", "\"gemba walk\" walkaround "] {
        for words in [&numbers, abbreviations, &abbreviations[..66], &abbreviations[..45]] {
            let q = format!("{start}{words}");
            let outcome = directory.search_software(&SearchSoftware::new(&q)).await;
            assert!(q.len() < 256 && outcome.is_ok(), "{q}: {outcome:?}");
        }
    }

    let page = search(&directory, "open source alternative to Slack").await;
    assert_eq!(
        (page.query.alternatives_to.as_deref(), page.query.alternatives_to_id.as_deref()),
        (Some("Slack"), None)
    );
    let found = hits(&page);
    assert_eq!(
        (&*found[0], found.contains(&"chime".to_owned()), found.contains(&"slack".to_owned())),
        ("fern", true, false)
    );
    let page = search(&directory, "alternatives to Chime").await;
    assert_eq!(page.query.alternatives_to_id.as_deref(), Some("chime"));
    assert_eq!(hits(&page)[0], "slack");
}

#[tokio::test]
#[ignore = "needs a cluster: make test-opensearch"]
async fn facets_leave_out_their_own_filter_and_totals_are_exact() {
    let directory = directory("operations-facets").await;
    let facets = ["category", "offering_type", "rating", "tags", "attribute.seats"];
    let filter = SoftwareFilter { categories: vec!["Chat".to_owned()], ..by(&[("tags", "messages")]) };
    let query = SearchSoftware {
        q: None,
        facets: facets.iter().filter_map(|name| Facet::parse(name)).collect(),
        filter,
        ..SearchSoftware::new("")
    };
    let page = directory.search_software(&query).await.expect("a page");
    assert_eq!((page.pagination.total, hits(&page).len()), (2, 2));
    let values = |at: usize| {
        let values = page.facets[at].1.iter().map(|value| (value.value.to_string(), value.count));
        values.collect::<Vec<_>>()
    };
    let counted =
        |of: &[(&str, u64)]| of.iter().map(|(value, count)| ((*value).to_owned(), *count)).collect::<Vec<_>>();
    assert_eq!(values(0), counted(&[("chat", 2)]), "products with the tag, in any category");
    assert_eq!(values(3), counted(&[("messages", 2), ("cloud", 1)]), "products in the category, with any tag");
    assert_eq!(values(1), counted(&[("software", 2)]));
    let all = SearchSoftware { filter: SoftwareFilter::default(), sort: SearchSort::Stored(Order::Name), ..query };
    let page = directory.search_software(&all).await.expect("a page");
    let tags: Vec<_> = page.facets[3].1.iter().map(|value| (value.value.to_lowercase(), value.count)).collect();
    assert!(tags.contains(&("cloud".to_owned(), 2)), "spellings count as one value: {tags:?}");
    assert_eq!(
        page.facets[2].1.iter().map(|value| value.count).collect::<Vec<_>>(),
        [1, 1, 1, 1],
        "4 stars or more, 3, …"
    );
    assert_eq!(page.facets[4].1.iter().map(|value| value.count).sum::<u64>(), 2);
    // The filter doesn't turn a strict search into a loose one.
    let with_filter = SearchSoftware { filter: by(&[("seats", "5")]), ..SearchSoftware::new("cloud") };
    assert_eq!(hits(&directory.search_software(&with_filter).await.expect("a page")), ["moss"]);
}

#[tokio::test]
#[ignore = "needs a cluster: make test-opensearch"]
async fn suggestions_similar_products_and_reviews() {
    let directory = directory("operations-others").await;
    let suggestions = directory.suggest("mo", 5, None).await.expect("suggestions");
    assert_eq!(suggestions.software[0].id, "moss");
    let suggestions = directory.suggest("perm", 5, None).await.expect("suggestions");
    assert_eq!(suggestions.glossary[0].id, "permit-to-work");
    let similar = directory.similar_software("slack", &ListSimilar::default()).await.expect("a page").expect("known");
    let first = &similar.data[0];
    assert_eq!((ids([&first.item]), first.categories[0].id.as_str()), (vec!["chime".to_owned()], "chat"));
    assert!((0.0..1.0).contains(&first.score), "{first:?}");
    assert!(directory.similar_software("none", &ListSimilar::default()).await.expect("no page").is_none());
    let all = ListReviews::all(PageRequest::default());
    let page = directory.list_reviews("moss", &all).await.expect("a page").expect("known");
    assert_eq!((ids(&page.page.data), page.summary.average), (vec!["r2".to_owned(), "r1".to_owned()], Some(3.5)));
    let best = ListReviews { sort: ReviewSort::Best, ..all.clone() };
    assert_eq!(
        ids(&directory.list_reviews("moss", &best).await.expect("a page").expect("known").page.data),
        ["r1", "r2"]
    );
    assert_eq!(directory.list_reviews("fern", &all).await.expect("a page").expect("known").page.pagination.total, 0);
    assert!(directory.list_reviews("none", &all).await.expect("no page").is_none());
    let refused = SearchSoftware { highlight: true, ..SearchSoftware::new("moss") };
    assert!(matches!(directory.search_software(&refused).await, Err(Error::NotOffered(_))));
    let lists = SoftwareFilter { categories: vec!["Chat, Audits".to_owned()], ..SoftwareFilter::default() };
    assert_eq!(directory.comma_separated(&lists), Some(("category", "Chat, Audits")));
    let tables = &directory.view.catalogue.tables;
    assert_eq!((tables.categories.len(), tables.exports.len(), directory.view.software_count()), (4, 2, 8));
}
