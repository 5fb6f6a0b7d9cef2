//! Property tests: merging through scratch files must produce the same result as merging in memory.

use std::path::Path;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::Merged;
use crate::catalogue::{CatalogueParts, CatalogueWriter, StoredReview};
use crate::export::{ExportSet, Limits, SourceFile, latest_day};
use crate::scratch::{Bulk, Scratch};

fn set(documents: &[Value], scratch: &Scratch) -> ExportSet {
    let names = ["b.json", "a.json", "c.json"];
    let files = names
        .into_iter()
        .zip(documents)
        .map(|(name, document)| SourceFile::from_bytes(Path::new(name), document.to_string().into_bytes().into()));
    let today = latest_day(jiff::Timestamp::UNIX_EPOCH);
    ExportSet::read(files, &Limits::default(), today, scratch, &|_| {}).expect("read")
}

/// The bytes of all parts, and the reviews.
fn written(documents: &[Value], scratch: &Scratch) -> (Vec<Vec<u8>>, Vec<StoredReview>) {
    let merged = Merged::of(set(documents, scratch), scratch, |_, _| {}).expect("merged");
    let mut writer = CatalogueWriter::new(&merged).expect("a writer");
    for product in merged.products() {
        writer.push(&product.expect("read")).expect("written");
    }
    let CatalogueParts { tables, texts, downloads } = writer.finish().expect("written");
    let bytes = |part: Bulk| part.read_all().expect("read").to_vec();
    let reviews = merged.reviews().map(|review| review.expect("read"));
    ([tables, texts].into_iter().chain(downloads).map(bytes).collect(), reviews.collect())
}

fn compare(documents: &[Value], own_bytes: usize) -> Result<(), TestCaseError> {
    let folder = tempfile::tempdir().expect("a folder");
    let (parts, reviews) = written(documents, &Scratch::with_own_bytes(folder.path(), own_bytes));
    prop_assert_eq!(std::fs::read_dir(folder.path()).expect("listed").count(), 0, "scratch files are unnamed");
    let (expected, expected_reviews) = written(documents, &Scratch::in_memory());
    prop_assert!(parts == expected);
    prop_assert_eq!(reviews, expected_reviews);
    Ok(())
}

/// A product without an id.
fn product() -> impl Strategy<Value = Value> {
    let ratings = prop::option::of(prop::sample::select(vec![0.1, 2.5, 3.3, 4.7, 4.9, 5.0, 7.0]));
    let texts = |texts: &'static [&'static str]| prop::sample::subsequence(texts, 0..=texts.len());
    let names = prop::sample::select(vec!["A", "a", "Ä", "B 2", "B 10", "C"]);
    let urls = prop::sample::select(vec![
        "https://a.org",
        "http://www.a.org/",
        "https://b.org/x",
        "https://c.example",
        "https://d.org",
    ]);
    let days = prop::option::of(prop::sample::select(vec!["1969-01-01", "1969-02-01"]));
    (names, urls, ratings, prop::option::of(0..4_u64), texts(&["Audit", "audit", "Risk", "Safety!"]),
        texts(&["ISO 9001", "iso-9001", "x y", "X Y"]), days, any::<bool>())
        .prop_map(|(name, url, rating, review_count, categories, tags, day, has_vendor)| json!({
            "name": name, "url": url, "rating": rating, "review_count": review_count, "categories": categories, "tags": tags,
            "standards": tags.first(), "vendor": has_vendor.then_some("V"), "sources": [["s", "https://s.org"]],
            "evidence_status": if day.is_some() { "vendor-sources-reviewed" } else { "pending-review" },
            "evidence_checked_on": day,
        }))
}

/// A document's products and reviews, and whether it describes its categories.
type Document = (Vec<Value>, Vec<(usize, u8, Option<u32>)>, bool);

fn documents() -> impl Strategy<Value = Vec<Value>> {
    let review = (0..60_usize, 1..6_u8, prop::option::of(0..3_u32));
    let document = (prop::collection::vec(product(), 0..25), prop::collection::vec(review, 0..12), any::<bool>());
    prop::collection::vec(document, 1..4).prop_map(|documents| {
        let count: usize = documents.iter().map(|(products, ..)| products.len()).sum();
        let mut number = 0;
        let with_ids = |(at, (mut products, reviews, is_described)): (usize, Document)| {
            for product in &mut products {
                // Ids follow neither file order nor name order.
                product["id"] = json!(format!("p{}", (number * 37) % 101));
                number += 1;
            }
            let reviews = reviews.iter().enumerate().filter(|_| count > 0).map(|(n, (of, rating, day))| json!({
                "id": format!("r{at}-{n}"), "software_id": format!("p{}", ((of % count) * 37) % 101), "rating": rating,
                "created_at": day.map(|day| format!("1969-01-0{}T00:00:00Z", day + 1)), "title": "t",
            }));
            json!({
                "name": format!("n{at}"), "license": "https://example.org/licence", "software": products,
                "reviews": reviews.collect::<Vec<_>>(),
                "categories": if is_described { json!([{"name": "AUDIT", "description": format!("d{at}")}, {"name": "Unused"}]) } else { json!([]) },
                "glossary": [{"term": format!("T{at}"), "definition": "d"}],
            })
        };
        documents.into_iter().enumerate().map(with_ids).collect()
    })
}

proptest! {
    #[test]
    fn catalogue_equals_the_one_built_in_memory(documents in documents(), own_bytes in prop::sample::select(vec![1, 500, 1 << 20])) {
        compare(&documents, own_bytes)?;
    }
}

#[test]
fn the_content_hash_ignores_the_exports_own_details() {
    let export = |name: &str, as_of: &str, own: &str, tag: &str| {
        json!({"name": name, "license": format!("https://example.org/{as_of}"), "as_of": as_of, "software": [{
            "id": "a", "name": "A", "url": "https://a.org", "evidence_status": "pending-review", "tags": [tag],
            "vendor": "v ".repeat(if tag == "long" { 300 } else { 1 }).trim(), "export": {"id": "x", "name": own},
        }]})
    };
    let hash = |documents: &[Value]| {
        let scratch = Scratch::in_memory();
        let merged = Merged::of(set(documents, &scratch), &scratch, |_, _| {}).expect("merged");
        let product = merged.products().next().expect("a product").expect("read");
        merged.json(&product).expect("JSON").content_hash
    };
    for tag in ["t", "long"] {
        let one = hash(&[export("one", "2026-01-01", "own", tag)]);
        assert_eq!(one, hash(&[export("\"},\"same_as\":[", "2026-02-02", "own", tag)]));
        assert_ne!(one, hash(&[export("one", "2026-01-01", "other", tag)]));
        assert_ne!(one, hash(&[export("one", "2026-01-01", "own", "u")]));
        let empty = json!({"name": "one", "license": "https://example.org/l", "software": []});
        assert_ne!(one, hash(&[empty, export("one", "2026-01-01", "own", tag)]), "it moved to another export");
    }
}
