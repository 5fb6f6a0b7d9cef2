//! Records as tools return them, and the schemas of their members: fewer than the API's, with the evidence behind each product and
//! a link to the rest.

use std::sync::LazyLock;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value, json};

use super::clean::clean;
use super::schema::{count, list, optional_text, text, texts, whole};

/// Bytes that a path segment escapes (RFC 3986, 2.3).
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The most characters of a text in a list, and of a long text of a single record.
const SHORT: usize = 400;
const LONG: usize = 8_000;

/// The most items of an array in a list, such as the sources of a product found, and in a single record.
const FEW: usize = 5;
const MANY: usize = 60;

/// A path below the address of the API.
pub(super) fn url(base: &str, segments: &[&str]) -> String {
    let mut url = format!("{base}/v1");
    for segment in segments {
        url.push('/');
        url.extend(utf8_percent_encode(segment, SEGMENT));
    }
    url
}

/// The members of a record, each with its schema.
type Members = Map<String, Value>;

fn members(of: Value) -> Members {
    match of {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

/// The members of a product in a list.
pub(super) static FOUND: LazyLock<Members> = LazyLock::new(|| {
    let source = members(json!({"label": text("Name of the source."), "url": text("Its address.")}));
    let evidence = members(json!({
        "status": text("vendor-sources-reviewed: the vendor's own sources were reviewed; pending-review: not yet."),
        "checked_on": optional_text("The day of the last check, YYYY-MM-DD."),
        "source_count": count("How many sources there are; a search returns the first five."),
        "sources": list(&source, "Where the claims come from. The directory asserts neither their truth nor their freshness."),
    }));
    let export = members(json!({
        "id": text("The export that the record is from."),
        "name": text("Its name."),
        "license": text("The licence of its content: a URI. Name it where you publish the content."),
        "as_of": optional_text("The day of its snapshot, as stated."),
    }));
    members(json!({
        "id": text("Identifier, the argument of get_software and list_reviews."),
        "name": text("Name."),
        "tagline": optional_text("Short description."),
        "categories": texts("Categories, the main one first."),
        "vendor": optional_text("Name of the vendor."),
        "website": text("The product's website."),
        "offering_type": text("software or document-templates."),
        "rating": {"type": ["number", "null"], "description": "Average rating, by convention of 5."},
        "review_count": {"type": ["integer", "null"], "description": "Number of reviews behind the rating."},
        "evidence": whole(evidence),
        "export": whole(export),
        "url": text("The record in the directory's API, to cite."),
    }))
});

/// The members of a product with all its claims.
pub(super) static PRODUCT: LazyLock<Members> = LazyLock::new(|| {
    let mut product = FOUND.clone();
    product.extend(members(json!({
        "aliases": texts("Other names."),
        "tags": texts("Key words."),
        "features": texts("Functions of the product."),
        "standards": texts("Standards it is for."),
        "alternative_to": texts("Products that it can replace."),
        "deployment": texts("Ways to run it."),
        "languages": texts("Languages of its user interface."),
        "description": optional_text("Long description."),
        "pricing": optional_text("Price, as text."),
        "rating_source": optional_text(
            "Where rating and review count come from: stated by the record, or computed from the reviews."
        ),
    })));
    product
});

pub(super) static CATEGORY: LazyLock<Members> = LazyLock::new(|| {
    members(json!({
        "id": text("Identifier."),
        "name": text("Name."),
        "description": optional_text("Description."),
        "software_count": count("How many products are in it."),
        "url": text("The category in the directory's API."),
    }))
});

/// The members of a glossary term.
pub(super) static TERM: LazyLock<Members> = LazyLock::new(|| {
    members(json!({
        "id": text("Identifier."),
        "term": text("The term."),
        "definition": text("Its definition."),
        "abbreviations": texts("Abbreviations."),
        "synonyms": texts("Other words for it."),
        "related": texts("Terms to read next."),
        "source": {
            "type": ["object", "null"],
            "description": "Where the definition can be checked.",
            "properties": {"title": optional_text("Name of the source."), "url": optional_text("Its address.")},
        },
        "url": text("The term in the directory's API, to cite."),
    }))
});

pub(super) static REVIEW: LazyLock<Members> = LazyLock::new(|| {
    members(json!({
        "id": text("Identifier."),
        "rating": {"type": "integer", "minimum": 1, "maximum": 5, "description": "Stars."},
        "title": optional_text("Headline."),
        "body": optional_text("Text."),
        "author": optional_text("Name of the author."),
        "created_at": optional_text("When it was written: RFC 3339, UTC."),
        "verified": {"type": ["boolean", "null"], "description": "Whether the reviewer is known to use the product."},
    }))
});

/// A product in a list, made of its whole JSON.
pub(super) fn found(detail: &Value, base: &str) -> Value {
    clean(software(detail, &FOUND, base), SHORT, FEW)
}

/// A product with all its claims.
pub(super) fn product(detail: &Value, base: &str) -> Value {
    clean(software(detail, &PRODUCT, base), LONG, MANY)
}

fn software(detail: &Value, members: &Members, base: &str) -> Value {
    let categories = detail["categories"].as_array().into_iter().flatten().map(|category| category["name"].clone());
    let mut software = select(detail, members);
    software["categories"] = categories.collect();
    software["evidence"] = json!({
        "status": detail["evidence_status"],
        "checked_on": detail["evidence_checked_on"],
        "source_count": detail["sources"].as_array().map_or(0, Vec::len),
        "sources": detail["sources"],
    });
    software["url"] = record_url(base, "software", detail);
    software
}

pub(super) fn category(category: &Value, base: &str) -> Value {
    let mut shown = select(category, &CATEGORY);
    shown["url"] = record_url(base, "categories", category);
    clean(shown, SHORT, FEW)
}

/// A glossary term.
pub(super) fn term(term: &Value, base: &str) -> Value {
    let mut shown = select(term, &TERM);
    shown["url"] = record_url(base, "glossary", term);
    clean(shown, LONG, MANY)
}

pub(super) fn review(review: &Value) -> Value {
    clean(select(review, &REVIEW), LONG, FEW)
}

fn record_url(base: &str, resource: &str, record: &Value) -> Value {
    url(base, &[resource, record["id"].as_str().unwrap_or_default()]).into()
}

fn select(record: &Value, members: &Members) -> Value {
    members.keys().map(|name| (name.clone(), record[name].clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_one_segment_of_a_path() {
        assert_eq!(
            url("https://a.example", &["software", "a/../b?c é"]),
            "https://a.example/v1/software/a%2F..%2Fb%3Fc%20%C3%A9"
        );
        assert_eq!(url("", &["categories", "permit-to-work"]), "/v1/categories/permit-to-work");
    }
}
