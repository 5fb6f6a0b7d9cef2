//! Records as tools return them: fewer members than the API's, with the evidence behind each product and a link to the rest.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

use super::clean::clean;

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

/// A product in a list, made of its whole JSON.
pub(super) fn found(detail: &Value, base: &str) -> Value {
    clean(summary(detail, base), SHORT, FEW)
}

/// A product with all its claims.
pub(super) fn product(detail: &Value, base: &str) -> Value {
    let mut product = summary(detail, base);
    for name in [
        "description",
        "aliases",
        "tags",
        "features",
        "standards",
        "alternative_to",
        "deployment",
        "languages",
        "pricing",
    ] {
        product[name] = detail[name].clone();
    }
    product["rating_source"] = detail["rating_source"].clone();
    clean(product, LONG, MANY)
}

fn summary(detail: &Value, base: &str) -> Value {
    let categories = detail["categories"].as_array().into_iter().flatten().map(|category| category["name"].clone());
    json!({
        "id": detail["id"],
        "name": detail["name"],
        "tagline": detail["tagline"],
        "categories": categories.collect::<Vec<_>>(),
        "vendor": detail["vendor"],
        "website": detail["website"],
        "offering_type": detail["offering_type"],
        "rating": detail["rating"],
        "review_count": detail["review_count"],
        "evidence": {
            "status": detail["evidence_status"],
            "checked_on": detail["evidence_checked_on"],
            "source_count": detail["sources"].as_array().map_or(0, Vec::len),
            "sources": detail["sources"],
        },
        "export": detail["export"],
        "url": url(base, &["software", detail["id"].as_str().unwrap_or_default()]),
    })
}

pub(super) fn category(category: &Value, base: &str) -> Value {
    let mut shown = select(category, &["id", "name", "description", "software_count"]);
    shown["url"] = url(base, &["categories", category["id"].as_str().unwrap_or_default()]).into();
    clean(shown, SHORT, FEW)
}

/// A glossary term.
pub(super) fn term(term: &Value, base: &str) -> Value {
    let mut shown = select(term, &["id", "term", "definition", "abbreviations", "synonyms", "related", "source"]);
    shown["url"] = url(base, &["glossary", term["id"].as_str().unwrap_or_default()]).into();
    clean(shown, LONG, MANY)
}

pub(super) fn review(review: &Value) -> Value {
    clean(select(review, &["id", "rating", "title", "body", "author", "created_at", "verified"]), LONG, FEW)
}

fn select(record: &Value, names: &[&str]) -> Value {
    names.iter().map(|name| ((*name).to_owned(), record[*name].clone())).collect()
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
