//! Properties of catalogues beyond memory: they are those in memory.

use std::path::Path;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{AttributeValuesBuilder, ScratchCatalogue, ScratchCatalogueBuilder, ScratchParts};
use crate::catalogue::{Attribute, Bulk, Catalogue, CatalogueBuilder, Order, ProductVersion, Records, StoredExport};
use crate::export::{Export, Limits, SourceFile, examine, latest_day};
use crate::scratch::Scratch;

fn exports(documents: &[Value]) -> Vec<Export> {
    let names = ["b.json", "a.json", "c.json"];
    let files = names
        .into_iter()
        .zip(documents)
        .map(|(name, document)| SourceFile::from_bytes(Path::new(name), document.to_string().into_bytes().into()));
    let today = latest_day(jiff::Timestamp::UNIX_EPOCH);
    examine(files.collect(), &Limits::default(), today, &|_| {}).exports
}

fn in_memory(documents: &[Value]) -> (Catalogue, Records, Vec<ProductVersion>) {
    let parts = CatalogueBuilder::new(exports(documents), None).and_then(|builder| builder.finish()).expect("built");
    let opened = Catalogue::open(&parts.tables, parts.arena.into(), Bulk::Memory(parts.downloads.into()));
    let (catalogue, records) = opened.expect("opened");
    (catalogue, records, postcard::from_bytes(&parts.versions).expect("decoded"))
}

fn external(documents: &[Value], sort_bytes: usize, folder: &Path) -> (ScratchCatalogue, ScratchParts) {
    let mut exports = exports(documents);
    exports.sort_by(|a, b| a.id.cmp(&b.id));
    let mut builder = ScratchCatalogueBuilder::new(Scratch::with_sort_bytes(folder, sort_bytes)).expect("a builder");
    for export in exports {
        let document = Bulk::Memory(export.document.clone());
        builder.push(export, document).expect("merged");
    }
    builder.finish().expect("merged")
}

fn compare(documents: &[Value], sort_bytes: usize) -> Result<(), TestCaseError> {
    let folder = tempfile::tempdir().expect("a folder");
    let (expected, records, expected_versions) = in_memory(documents);
    let (catalogue, parts) = external(documents, sort_bytes, folder.path());
    prop_assert_eq!(std::fs::read_dir(folder.path()).expect("listed").count(), 0, "files have no names");
    prop_assert_eq!(catalogue.software_count(), records.len() as u64);

    let mut values = AttributeValuesBuilder::new(catalogue.scratch());
    for product in catalogue.software() {
        values.push(&product.expect("read").0).expect("written");
    }
    let values = values.finish().expect("sorted");
    let (mut versions, ids): (Vec<_>, Vec<_>) = (Vec::new(), records.ids().collect());
    let columns = &records.columns;
    for (product, ordinal) in catalogue.products(&values).zip(0..) {
        let product = product.expect("read");
        prop_assert_eq!(product.ordinal, ordinal);
        prop_assert_eq!(&*product.software.id, &*ids[ordinal as usize]);
        prop_assert_eq!(&*product.categories, columns.categories_of(ordinal));
        prop_assert_eq!(product.ranks, Order::ALL.map(|order| columns.order(order).ranks[ordinal as usize]));
        prop_assert_eq!(product.rating, columns.rating[ordinal as usize]);
        prop_assert_eq!(product.evidence_checked_on, columns.evidence_checked_on[ordinal as usize]);
        prop_assert_eq!(product.is_demo, columns.is_demo(ordinal));
        let text = |json: &[u8]| String::from_utf8_lossy(json).into_owned();
        prop_assert_eq!(text(&product.item), text(records.item(ordinal)));
        prop_assert_eq!(text(&product.detail), text(&records.detail_fields(ordinal).expect("whole")));
        prop_assert_eq!(product.content_hash(), records.content_hash(ordinal));
        prop_assert_eq!(&product.reviews, &records.reviews.of(ordinal).summary);
        for (attribute, values) in Attribute::ALL.into_iter().zip(&product.attributes) {
            let column = columns.attribute(attribute);
            let expected = column.of(ordinal).iter().map(|value| (column.key(*value), column.label(*value)));
            let values = values.iter().map(|value| (&*value.key, &*value.label));
            prop_assert_eq!(values.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
        }
        let evidence_checked_on = product.evidence_checked_on;
        versions.push(ProductVersion { hash: product.content_hash(), id: product.software.id, evidence_checked_on });
    }
    versions.sort();
    prop_assert_eq!(versions, expected_versions);
    compare_reviews(&catalogue, &records)?;
    compare_parts(parts, &expected, columns.real)
}

fn compare_reviews(catalogue: &ScratchCatalogue, records: &Records) -> Result<(), TestCaseError> {
    let mut count = 0;
    for review in catalogue.reviews() {
        let review = review.expect("read");
        let entries = &records.reviews.of(records.find(&review.product).expect("a product")).entries;
        let expected = &entries[usize::try_from(review.place).expect("small")];
        prop_assert_eq!(&review.object[..], &records.object(expected.object)[..]);
        prop_assert_eq!(
            (review.rating, review.verified, review.created_at_seconds),
            (expected.rating, expected.verified, expected.created_at_seconds)
        );
        count += 1;
    }
    prop_assert_eq!(count, records.reviews.spans().count());
    Ok(())
}

fn compare_parts(parts: ScratchParts, expected: &Catalogue, real: u32) -> Result<(), TestCaseError> {
    let ScratchParts { tables, arena, downloads } = parts;
    let (tables, arena) = (tables.read_all().expect("read"), arena.read_all().expect("read"));
    let (catalogue, records) = Catalogue::open(&tables, arena, downloads).expect("opened");
    prop_assert_eq!((records.len(), records.columns.real), (0, real));
    prop_assert_eq!(&catalogue.tables.categories, &expected.tables.categories);
    prop_assert_eq!(catalogue.categories_hash(), expected.categories_hash());
    prop_assert_eq!(catalogue.glossary_hash(), expected.glossary_hash());
    prop_assert_eq!(catalogue.tables.exports.len(), expected.tables.exports.len());
    for (export, expected_export) in catalogue.tables.exports.iter().zip(&expected.tables.exports) {
        prop_assert_eq!(&export.resource, &expected_export.resource);
        prop_assert_eq!(catalogue.object(export.object), expected.object(expected_export.object));
        let lines = |export: &crate::catalogue::ExportDocument, of: &Catalogue| {
            let lines = export.open(of).and_then(StoredExport::ndjson).and_then(std::io::read_to_string);
            lines.expect("read")
        };
        prop_assert_eq!(lines(export, &catalogue), lines(expected_export, expected));
    }
    Ok(())
}

/// A product of a document, by the number of that and its own.
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

/// The products and reviews of a document, and whether it describes its categories.
type Document = (Vec<Value>, Vec<(usize, u8, Option<u32>)>, bool);

fn documents() -> impl Strategy<Value = Vec<Value>> {
    let review = (0..60_usize, 1..6_u8, prop::option::of(0..3_u32));
    let document = (prop::collection::vec(product(), 0..25), prop::collection::vec(review, 0..12), any::<bool>());
    prop::collection::vec(document, 1..4).prop_map(|documents| {
        let count: usize = documents.iter().map(|(products, ..)| products.len()).sum();
        let mut number = 0;
        let with_ids = |(at, (mut products, reviews, is_described)): (usize, Document)| {
            for product in &mut products {
                // Neither in the order of files nor in that of names.
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
    fn catalogue_is_that_in_memory(documents in documents(), sort_bytes in prop::sample::select(vec![1, 500, 1 << 20])) {
        compare(&documents, sort_bytes)?;
    }
}

#[test]
fn website_of_many_products_has_as_many_links_as_in_memory() {
    let product =
        |id: String| json!({"id": id, "name": id, "url": "https://a.org", "evidence_status": "pending-review"});
    let document = |at: usize, count: usize| {
        let software: Vec<_> = (0..count).map(|id| product(format!("{at}-{id}"))).collect();
        json!({"name": "n", "license": "https://example.org/licence", "software": software})
    };
    compare(&[document(0, 60), document(1, 15), document(2, 15)], 300).expect("the same");
}
