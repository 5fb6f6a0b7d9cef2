//! Applying the difference between two sets to the old set produces the new set.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Value, json};
use software_directory::curate::diff::{Difference, compare};

use crate::common::cases::cases;
use crate::diff::sets::{export, set};

/// Products by id.
fn products() -> impl Strategy<Value = BTreeMap<u8, Value>> {
    let value = prop_oneof![
        any::<i32>().prop_map(Value::from),
        "[a-c ]{0,6}".prop_map(Value::from),
        proptest::collection::vec("[a-c]", 0..4).prop_map(Value::from),
        Just(Value::Null),
    ];
    let fields = proptest::collection::btree_map("[t-w]", value, 0..4);
    proptest::collection::btree_map(0..8_u8, (fields, 0..3_u8), 0..8).prop_map(|products| {
        let record = |(id, (fields, name)): (u8, (BTreeMap<String, Value>, u8))| {
            let mut record = json!({"id": id.to_string(), "name": name.to_string(), "url": "https://example.org/", "evidence_status": "pending-review"});
            for (field, value) in fields {
                record[field] = value;
            }
            (id, record)
        };
        products.into_iter().map(record).collect()
    })
}

fn document(products: &BTreeMap<u8, Value>) -> Value {
    export(&products.values().cloned().collect::<Vec<_>>())
}

fn apply(difference: &Difference, old: &BTreeMap<u8, Value>) -> BTreeMap<String, Value> {
    let mut products: BTreeMap<String, Value> =
        old.iter().map(|(id, record)| (id.to_string(), record.clone())).collect();
    for entry in &difference.software.removed {
        let removed = products.remove(&*entry.id).expect("the removed product existed");
        assert_eq!(serde_json::from_slice::<Value>(entry.value.as_bytes()).expect("JSON"), removed);
    }
    let former =
        |changed: &software_directory::curate::diff::Changed| changed.former_id.clone().unwrap_or(changed.id.clone());
    let taken: Vec<_> = difference.software.changed.iter().map(|changed| products.remove(&*former(changed))).collect();
    for (changed, record) in difference.software.changed.iter().zip(taken) {
        let mut record = record.expect("the changed product existed");
        for field in &changed.fields {
            let members = record.as_object_mut().expect("an object");
            assert_eq!(members.remove(&field.field), field.old);
            members.extend(field.new.clone().map(|value| (field.field.clone(), value)));
        }
        assert!(products.insert(changed.id.to_string(), record).is_none());
    }
    for entry in &difference.software.added {
        let value = serde_json::from_slice(entry.value.as_bytes()).expect("JSON");
        assert!(products.insert(entry.id.to_string(), value).is_none());
    }
    products
}

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn applying_the_difference_to_the_old_set_gives_the_new_set(old in products(), new in products()) {
        let (a, b) = (document(&old), document(&new));
        let difference = compare(&set(&[("x", &a)]), &set(&[("x", &b)]));
        let expected: BTreeMap<_, _> = new.iter().map(|(id, record)| (id.to_string(), record.clone())).collect();
        prop_assert_eq!(apply(&difference, &old), expected);
        prop_assert_eq!(difference.is_empty(), old == new);
    }
}
