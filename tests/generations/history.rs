//! Products' histories, as the build records them.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use software_directory::curate::diff::{Set, compare};
use software_directory::generation::store::Forgotten;
use software_directory::generation::{Settings, Snapshot};
use software_directory::service::{PageRequest, Stop, list_changes, list_history};

use crate::common::place::{Place, Running, running};

const ALL: PageRequest = PageRequest { limit: 100, offset: 0 };

pub(crate) fn document(software: &[Value], attributes: &Value) -> String {
    json!({
        "name": "N", "license": "https://example.org/licence", "software": software, "attributes": attributes
    })
    .to_string()
}

pub(crate) fn product(id: &str, more: &Value) -> Value {
    let mut product = json!({
        "id": id, "name": id, "url": "https://example.org/", "evidence_status": "pending-review",
        "offering_type": "software"
    });
    product.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
    product
}

/// The entries of a product's history, newest first; `None` if it's unknown.
fn history(snapshot: &Snapshot, id: &str) -> Option<Vec<Value>> {
    let page = list_history(snapshot, id, ALL).expect("read")?;
    assert_eq!(page.pagination.total, page.data.len() as u64);
    Some(page.data.iter().map(|entry| serde_json::to_value(entry).expect("JSON")).collect())
}

/// Serves these sets one after the other, and returns each one's snapshot.
pub(crate) fn served(place: &Place, sets: &[String]) -> (Running, Vec<Arc<Snapshot>>) {
    place.write("tools.json", &sets[0]);
    let mut running = running(Settings { max_removed: 100, ..place.settings() });
    running.updater.start().expect("it serves");
    let mut snapshots = vec![running.snapshot()];
    for set in &sets[1..] {
        place.write("tools.json", set);
        running.updater.refresh().expect("it serves");
        snapshots.push(running.snapshot());
    }
    (running, snapshots)
}

/// Applies a history's entries to a record, oldest first.
fn replay(record: &mut Option<Map<String, Value>>, entry: &Value, today: &Value) {
    match entry["change"].as_str() {
        Some("removed") => *record = None,
        Some("added") => *record = today.as_object().cloned(),
        _ => {
            let record = record.as_mut().expect("it has been added");
            for change in entry["changes"].as_array().expect("an array") {
                let property = change["property"].as_str().expect("a string").to_owned();
                assert_eq!(record.remove(&property).as_ref(), change.get("from"), "{property}");
                if let Some(to) = change.get("to") {
                    record.insert(property, to.clone());
                }
            }
        }
    }
}

fn properties() -> impl Strategy<Value = Value> {
    let value = prop_oneof![
        any::<i32>().prop_map(Value::from),
        (0..4_i32).prop_map(|half| Value::from(f64::from(half) / 2.0)),
        "[a-c\"é ]{0,6}".prop_map(Value::from),
        prop::collection::vec("[a-c]", 0..4).prop_map(Value::from),
        Just(Value::Null),
    ];
    let additional = prop::collection::btree_map("[t-w]", value, 0..4);
    let texts = prop::collection::vec("[a-c]{1,3}", 1..4).prop_map(Value::from);
    let known = (
        prop::option::of("[a-c]{1,3}"),
        prop::option::of(texts.clone()),
        prop::option::of(texts),
        prop::option::of(prop::collection::vec("[a-c]{1,2}", 1..3)),
    );
    (additional, known).prop_map(|(additional, (pricing, features, tags, sources))| {
        let mut properties = json!(additional);
        let sources =
            sources.map(|labels| labels.iter().map(|of| json!([of, "https://example.org/"])).collect::<Vec<_>>());
        for (name, value) in [
            ("pricing", json!(pricing)),
            ("features", json!(features)),
            ("tags", json!(tags)),
            ("sources", json!(sources)),
        ] {
            if !value.is_null() {
                properties[name] = value;
            }
        }
        properties
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn replaying_a_history_gives_todays_record(
        generations in prop::collection::vec(prop::collection::btree_map(0..3_u8, properties(), 1..4), 2..5)
    ) {
        let place = Place::with(&["x"]);
        let record = |(id, more): (&u8, &Value)| product(&id.to_string(), more);
        let records: Vec<Vec<Value>> = generations.iter().map(|of| of.iter().map(record).collect()).collect();
        let sets: Vec<_> = records.iter().map(|of| document(of, &json!([]))).collect();
        let (_, snapshots) = served(&place, &sets);
        // The history survives a restart.
        let last = place.started().snapshot();
        let steps: Vec<_> = snapshots.iter().map(|snapshot| snapshot.generation().to_owned()).collect();
        for id in 0..3_u8 {
            let of = |number: usize| generations[number].get(&id).map(|more| product(&id.to_string(), more));
            let Some(mut entries) = history(&last, &id.to_string()) else {
                prop_assert!((0..generations.len()).all(|number| of(number).is_none()));
                continue;
            };
            entries.reverse();
            let mut record = of(0).and_then(|record| record.as_object().cloned());
            for entry in &entries {
                prop_assert!(entry.get("truncated").is_none());
                // If a set comes back, so does its generation's name.
                let added = (0..steps.len()).filter(|number| entry["generation"] == steps[*number]).find_map(of);
                replay(&mut record, entry, &added.unwrap_or_default());
            }
            let today = of(generations.len() - 1);
            prop_assert_eq!(record, today.and_then(|record| record.as_object().cloned()), "{:?}", entries);
        }
    }
}

/// The history and `diff` of two records.
fn both(old: &Value, new: &Value) -> (Vec<String>, Vec<String>, u64) {
    let place = Place::with(&["x"]);
    let sets = [old, new].map(|record| document(std::slice::from_ref(record), &json!([])));
    let (_, snapshots) = served(&place, &sets);
    let entries = history(&snapshots[1], "a").expect("known");
    let changes = entries.iter().flat_map(|entry| entry["changes"].as_array().expect("an array"));
    let history = changes.map(|change| change["property"].as_str().expect("a string").to_owned()).collect();
    let sets = sets.map(|set| Set::read([Ok(("tools", "", set.into()))]).expect("valid"));
    let differing = compare(&sets[0], &sets[1]).software.changed;
    let diff = differing.iter().flat_map(|of| &of.fields).map(|field| field.field.clone()).collect();
    let changes = list_changes(&snapshots[1], Some(snapshots[0].generation()), ALL, &Stop::default());
    (history, diff, changes.expect("known").pagination.total)
}

#[test]
fn history_and_diff_and_the_change_log_agree() {
    // Written as text, because values would lose the digits.
    let record = |more: &str| {
        let text = format!(
            r#"{{"id": "a", "name": "a", "url": "https://example.org/", "evidence_status": "pending-review", {more}}}"#
        );
        serde_json::from_str::<Value>(&text).expect("JSON")
    };
    let old =
        record(r#""rating": 4.5, "review_count": 3, "cost": 1900.00, "plan": {"a": 1.0, "b": [1e2]}, "pricing": "9""#);
    let same =
        record(r#""pricing": "9", "plan": {"b": [100], "a": 1}, "cost": 1900.0, "review_count": 3.0, "rating": 4.50"#);
    assert_eq!(both(&old, &same), (vec![], vec![], 0));
    let other =
        record(r#""rating": 4.5, "review_count": 3, "cost": 1900.01, "plan": {"a": 1, "b": [100, 1]}, "seats": null"#);
    let names: Vec<_> = ["cost", "plan", "pricing", "seats"].map(str::to_owned).into();
    assert_eq!(both(&old, &other), (names.clone(), names, 1));
}

#[test]
fn hidden_attributes_never_appear_even_if_they_were_hidden_only_then_or_now() {
    let hidden = json!([{"property": "margin", "label": "Margin", "hidden": true}]);
    let shown = json!([{"property": "margin", "label": "Margin"}]);
    let a = |margin: &str, pricing: &str| {
        let evidence = json!({"margin": {"source": format!("https://a.example/{margin}")}, "name": {"source": "a:b"}});
        [product("a", &json!({"margin": margin, "pricing": pricing, "evidence": evidence}))]
    };
    let names = |snapshot: &Snapshot| {
        let entries = history(snapshot, "a").expect("known");
        let changes = entries.iter().flat_map(|entry| entry["changes"].as_array().expect("an array"));
        changes.map(|change| change["property"].as_str().expect("a string").to_owned()).collect::<Vec<_>>()
    };
    for (before, after) in [(&hidden, &hidden), (&hidden, &shown), (&shown, &hidden)] {
        let place = Place::with(&["x"]);
        let (_, snapshots) = served(&place, &[document(&a("1", "9"), before), document(&a("2", "10"), after)]);
        assert_eq!(names(&snapshots[1]), ["pricing"], "{before} {after}");
    }
    let place = Place::with(&["x"]);
    let sets = [document(&a("1", "9"), &shown), document(&a("2", "9"), &shown), document(&a("2", "10"), &hidden)];
    let (_, snapshots) = served(&place, &sets);
    assert_eq!(
        (names(&snapshots[1]), names(&snapshots[2])),
        (vec!["evidence".to_owned(), "margin".to_owned()], vec!["pricing".to_owned()])
    );
}

#[test]
fn long_texts_are_cut_and_the_rest_of_the_history_is_kept() {
    let place = Place::with(&["x"]);
    let text = |c: &str| product("a", &json!({"description": format!("{c} ").repeat(100_000), "pricing": c}));
    let sets: Vec<_> = ["a", "b", "c"].map(|c| document(&[text(c)], &json!([]))).into();
    let (_, snapshots) = served(&place, &sets);
    let entries = history(&snapshots[2], "a").expect("known");
    let bytes: usize = entries.iter().map(|entry| entry.to_string().len()).sum();
    assert!(bytes < 64 * 1024 + 1000, "{bytes}");
    let [newest, oldest] = &entries[..] else { panic!("two changes: {}", entries.len()) };
    let [description, pricing] = newest["changes"].as_array().expect("an array").as_slice() else { panic!("two") };
    assert_eq!(
        (&description["truncated"], pricing),
        (&json!(true), &json!({"property": "pricing", "from": "b", "to": "c"}))
    );
    assert!(description["to"].as_str().is_some_and(|to| to.starts_with("c c") && to.ends_with('…')));
    assert_eq!((&oldest["truncated"], &oldest["changes"]), (&json!(true), &json!([])), "the oldest values go first");
}

#[test]
fn a_lost_index_starts_a_new_history_and_says_so() {
    let place = Place::with(&["x"]);
    let sets = ["9", "10"].map(|pricing| document(&[product("a", &json!({"pricing": pricing}))], &json!([])));
    let (running, _) = served(&place, &sets);
    let since = |snapshot: &Snapshot| {
        let page = list_history(snapshot, "a", ALL).expect("read").expect("known");
        (page.data.len(), page.since.expect("a time").parse::<Timestamp>().expect("RFC 3339"))
    };
    let (count, before) = since(&running.snapshot());
    drop(running);
    std::fs::remove_dir_all(place.index()).expect("removed");
    let (count_after, after) = since(&place.started().snapshot());
    assert_eq!((count, count_after), (1, 0));
    assert!(after > before);
}

#[test]
fn a_forgotten_product_leaves_only_its_removal() {
    let place = Place::with(&["x"]);
    let records = |secrets: &[&str]| {
        let software = secrets.iter().map(|secret| product("a", &json!({"pricing": secret})));
        document(&software.chain([product("b", &json!({}))]).collect::<Vec<_>>(), &json!([]))
    };
    let sets = [records(&["secret one"]), records(&["secret two"]), records(&[])];
    let (_, snapshots) = served(&place, &sets);
    let forget = |id: &str| {
        let manifest = place.reindex().expect("built");
        place.store().forget(&manifest, &[id.to_owned()], Timestamp::now().to_string()).expect("saved")
    };
    assert_eq!(history(&snapshots[2], "a").expect("known").len(), 2);
    assert_eq!(forget("b"), Forgotten::StillListed("b".to_owned()));
    assert_eq!(forget("a"), Forgotten::Erased);
    assert_eq!(forget("c"), Forgotten::Unknown);
    assert_eq!(place.generation_names().len(), 1, "the generations that contained it are gone");
    let snapshot = place.started().snapshot();
    let entries: BTreeMap<_, _> = ["a", "b", "c"].map(|id| (id, history(&snapshot, id))).into();
    assert_eq!(entries["a"].as_ref().map(|of| (of.len(), of[0]["change"].clone())), Some((1, json!("removed"))));
    assert_eq!((&entries["b"], &entries["c"]), (&Some(vec![]), &None));
    let folder = place.index().join(place.current().folder_name());
    for file in std::fs::read_dir(folder).expect("a folder") {
        let content = std::fs::read(file.expect("a file").path()).expect("read");
        assert!(!content.windows(6).any(|bytes| bytes == b"secret"));
    }
}
