//! The change log as requests read it: it's merged once, and lists news by category.

use serde_json::{Value, json};
use software_directory::service::{Stop, list_news};

use crate::place::{Place, export_of};

fn product(id: &str, category: &str) -> Value {
    json!({
        "id": id, "name": id, "url": "https://example.org/", "category": category, "evidence_status": "pending-review"
    })
}

#[test]
fn news_in_a_rare_category_is_found_without_reading_the_rest() {
    let mut software = vec![product("first", "Common")];
    let place = Place::with(&[]);
    place.write("tools.json", &export_of(&software));
    let mut running = place.started();
    software.extend((0..500).map(|number| product(&format!("common-{number:03}"), "Common")));
    software.push(product("rare", "Rare"));
    place.write("tools.json", &export_of(&software));
    running.updater.refresh().expect("it serves");
    let snapshot = running.snapshot();
    let category = snapshot.catalogue.find_category("rare").expect("a category");
    let newest = |categories: Option<&[u32]>| snapshot.news.newest(&snapshot.changes, categories);
    let ids: Vec<_> = newest(Some(&[category])).iter().map(|(_, change)| &*change.id).collect();
    assert_eq!((ids, newest(None).len()), (vec!["rare"], 100), "as many changes as a feed contains");
    let news = |category: &str| list_news(&snapshot, &[category.to_owned()], &Stop::default()).expect("in memory");
    let ids = |category| news(category).into_iter().map(|news| news.id).collect::<Vec<_>>();
    assert_eq!((ids("Rare"), ids("none")), (vec!["rare".to_owned()], Vec::new()));
    assert_eq!((ids("common").len(), &*ids("common")[99]), (100, "common-099"));
}

#[test]
fn news_lists_only_existing_products() {
    let kept: Vec<_> = (0..9).map(|number| product(&format!("kept-{number}"), "C")).collect();
    let place = Place::with(&[]);
    place.write("tools.json", &export_of(&kept));
    let mut running = place.started();
    for new in ["gone", "new"] {
        place.write("tools.json", &export_of(&[&kept[..], &[product(new, "C")]].concat()));
        running.updater.refresh().expect("it serves");
    }
    let snapshot = running.snapshot();
    let ids: Vec<_> = snapshot.news.newest(&snapshot.changes, None).iter().map(|(_, change)| &*change.id).collect();
    assert_eq!(ids, ["new"], "the other product was removed when this one was added");
}
