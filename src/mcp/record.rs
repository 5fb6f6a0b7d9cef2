//! Records as tools return them: with fewer members than in the API, described by the API's own
//! definitions, with the evidence for each product and a link to the rest. Their text is made harmless and short.

use std::sync::LazyLock;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

use super::schema::{Members, count, list, resource, text, texts, whole};
use crate::catalogue::resource::{
    CategoryResource, DetailFields, EvidenceResource, ExportRef, GlossaryTermResource, ReviewResource, SoftwareItem,
    SourceResource,
};
use crate::record::FULL;
use crate::text::printable::marked_hidden;
use crate::text::shorten::shortened;

/// Bytes that are escaped in a path segment (RFC 3986, 2.3).
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The maximum text length in a list and in a single record, in characters.
const SHORT: usize = 400;
const LONG: usize = 8_000;

/// The maximum array length in a list, such as for a product's sources in search results, and in a
/// single record.
const FEW: usize = 5;
const MANY: usize = 60;

/// A path below the API's address.
pub(super) fn url(base: &str, segments: &[&str]) -> String {
    let mut url = format!("{base}/v1");
    for segment in segments {
        url.push('/');
        url.extend(utf8_percent_encode(segment, SEGMENT));
    }
    url
}

fn members<const N: usize>(members: [(&str, Value); N]) -> Members {
    members.into_iter().map(|(name, schema)| (name.to_owned(), schema)).collect()
}

fn with_url(mut members: Members) -> Members {
    members.insert("url".to_owned(), text("The record's URL in the directory's API, for citations."));
    members
}

/// Drops a record's language information, since an assistant can read any language.
fn untranslated(mut members: Members) -> Members {
    members.retain(|name, _| !matches!(name.as_str(), "language" | "translations" | "untranslated"));
    members
}

/// The evidence for a product as a whole.
static EVIDENCE: LazyLock<Members> = LazyLock::new(|| {
    let mut item = resource::<SoftwareItem<'_>>();
    let mut take = |name| item.remove(name).unwrap_or_default();
    members([
        ("status", take("evidence_status")),
        ("checked_on", take("evidence_checked_on")),
        ("source_count", count("How many sources there are; a search returns the first five.")),
        ("sources", list(&resource::<SourceResource<'_>>(), "Where the claims come from.")),
    ])
});

/// A product's members in a list.
pub(super) static FOUND: LazyLock<Members> = LazyLock::new(|| {
    let mut found = with_url(untranslated(resource::<SoftwareItem<'_>>()));
    found.retain(|name, _| !matches!(name.as_str(), "category" | "evidence_status" | "evidence_checked_on"));
    found.extend(members([
        ("id", text("The product's id, which get_software and list_reviews take.")),
        ("categories", texts("Names of its categories, the main one first.")),
        ("evidence", whole(EVIDENCE.clone()).into()),
        ("export", whole(resource::<ExportRef<'_>>()).into()),
    ]));
    found
});

/// The members of a similar product.
pub(super) static SIMILAR: LazyLock<Members> = LazyLock::new(|| {
    let shared = members([
        ("categories", texts("Names of the categories that both products are in.")),
        ("words", texts("Words from the given product that this one contains as well, rarest first.")),
    ]);
    let mut similar = FOUND.clone();
    similar.insert("shared".to_owned(), whole(shared).into());
    similar
});

/// A product's members with all its claims.
pub(super) static PRODUCT: LazyLock<Members> = LazyLock::new(|| {
    let is_left_out = |name: &str| matches!(name, "sources" | "additional_properties" | "same_as" | "corrections_url");
    let mut product = untranslated(resource::<DetailFields<'_>>());
    product.retain(|name, _| !is_left_out(name));
    product.extend(FOUND.clone());
    let mut claim = resource::<EvidenceResource<'_>>();
    claim.insert("property".to_owned(), text("The name of the property that the source backs up."));
    let mut evidence = EVIDENCE.clone();
    let about = "Sources for single claims, to cite. Other claims rest on `sources` and `checked_on`.";
    evidence.insert("claims".to_owned(), list(&claim, about));
    product.insert("evidence".to_owned(), whole(evidence).into());
    product
});

pub(super) static CATEGORY: LazyLock<Members> =
    LazyLock::new(|| with_url(untranslated(resource::<CategoryResource>())));

pub(super) static TERM: LazyLock<Members> =
    LazyLock::new(|| with_url(untranslated(resource::<GlossaryTermResource>())));

pub(super) static REVIEW: LazyLock<Members> = LazyLock::new(|| {
    let mut review = resource::<ReviewResource<'_>>();
    review.retain(|name, _| !matches!(name.as_str(), "software_id" | "additional_properties"));
    review
});

/// A product in a list, built from its complete JSON.
pub(super) fn found(detail: Value, base: &str) -> Value {
    clean(software(detail, &FOUND, base), SHORT, FEW)
}

/// Members of the full record that a search may include.
pub(super) static INCLUDED: LazyLock<Members> = LazyLock::new(|| {
    let mut included = PRODUCT.clone();
    included.retain(|name, _| FULL.contains(&name.as_str()) && !FOUND.contains_key(name));
    included
});

/// A product in a list that includes some members of the full record.
pub(super) fn found_with(detail: Value, include: &[&str], base: &str) -> Value {
    let included = include.iter().filter(|name| INCLUDED.contains_key(**name));
    let included: Members = included.map(|name| ((*name).to_owned(), detail[*name].clone())).collect();
    let mut found = found(detail, base);
    if let (Value::Object(found), Value::Object(included)) = (&mut found, clean(included.into(), SHORT, MANY)) {
        found.extend(included);
    }
    found
}

/// A product in a list, with what it has in common with the given one.
pub(super) fn similar(detail: Value, categories: &[&str], words: &[String], base: &str) -> Value {
    let mut similar = found(detail, base);
    similar["shared"] = clean(json!({"categories": categories, "words": words}), SHORT, MANY);
    similar
}

/// A product with all its claims.
pub(super) fn product(mut detail: Value, base: &str) -> Value {
    let claims = claims(take(&mut detail, "evidence"));
    let mut product = software(detail, &PRODUCT, base);
    product["evidence"]["claims"] = claims;
    clean(product, LONG, MANY)
}

/// The evidence for single properties, as a list.
fn claims(mut by_property: Value) -> Value {
    let mut claims = Vec::new();
    for (property, sources) in by_property.as_object_mut().into_iter().flatten() {
        for source in sources.as_array_mut().into_iter().flatten() {
            source["property"] = property.as_str().into();
            claims.push(source.take());
        }
    }
    claims.into()
}

fn software(mut detail: Value, members: &Members, base: &str) -> Value {
    let mut categories = take(&mut detail, "categories");
    let categories = categories.as_array_mut().into_iter().flatten().map(|category| take(category, "name")).collect();
    let sources = take(&mut detail, "sources");
    let evidence = json!({
        "status": take(&mut detail, "evidence_status"),
        "checked_on": take(&mut detail, "evidence_checked_on"),
        "source_count": sources.as_array().map_or(0, Vec::len),
        "sources": sources,
    });
    let mut software = linked(detail, members, base, "software");
    software["categories"] = categories;
    software["evidence"] = evidence;
    software
}

pub(super) fn category(category: Value, base: &str) -> Value {
    clean(linked(category, &CATEGORY, base, "categories"), SHORT, FEW)
}

pub(super) fn term(term: Value, base: &str) -> Value {
    clean(linked(term, &TERM, base, "glossary"), LONG, MANY)
}

pub(super) fn review(review: Value) -> Value {
    clean(select(review, &REVIEW), LONG, FEW)
}

/// The entries of a product's history.
pub(super) fn history(mut entries: Value) -> Value {
    for entry in entries.as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut) {
        entry.entry("truncated").or_insert(false.into());
    }
    clean(entries, LONG, MANY)
}

/// A record's members, with a link to it.
fn linked(record: Value, members: &Members, base: &str, resource: &str) -> Value {
    let url = url(base, &[resource, record["id"].as_str().unwrap_or_default()]);
    let mut linked = select(record, members);
    linked["url"] = url.into();
    linked
}

fn select(mut record: Value, members: &Members) -> Value {
    members.keys().map(|name| (name.clone(), take(&mut record, name))).collect()
}

/// Takes a member, leaving `null` in its place.
fn take(record: &mut Value, name: &str) -> Value {
    record.get_mut(name).map_or(Value::Null, Value::take)
}

/// Replaces hidden characters, which a model reads but people can't see, with U+FFFD. Cuts text
/// after `max_characters` code points and arrays after `max_items`. Line ends and tabs are kept,
/// since JSON escapes them.
pub(super) fn clean(value: Value, max_characters: usize, max_items: usize) -> Value {
    let clean = |value| clean(value, max_characters, max_items);
    match value {
        Value::String(text) => clean_text(&text, max_characters).into(),
        Value::Array(items) => items.into_iter().take(max_items).map(clean).collect(),
        Value::Object(members) => members.into_iter().map(|(name, member)| (name, clean(member))).collect(),
        other => other,
    }
}

fn clean_text(text: &str, max_characters: usize) -> String {
    let shown = |(c, is_hidden)| if is_hidden && !matches!(c, '\n' | '\r') { char::REPLACEMENT_CHARACTER } else { c };
    let clean: String = marked_hidden(text).map(shown).take(max_characters + 1).collect();
    shortened(&clean, max_characters).into_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn ids_are_a_single_path_segment() {
        assert_eq!(
            url("https://a.example", &["software", "a/../b?c é"]),
            "https://a.example/v1/software/a%2F..%2Fb%3Fc%20%C3%A9"
        );
        assert_eq!(url("", &["categories", "permit-to-work"]), "/v1/categories/permit-to-work");
    }

    #[test]
    fn hidden_characters_are_replaced_and_long_text_is_cut() {
        let hidden = "a\u{1b}[2J\u{202e}b\u{e0041}\u{200b}\nc\td\u{0}";
        assert_eq!(clean(json!([hidden]), 100, 9), json!(["a\u{fffd}[2J\u{fffd}b\u{fffd}\u{fffd}\nc\td\u{fffd}"]));
        assert_eq!(clean(json!({"a": "äöü", "b": [1, 2, 3]}), 2, 2), json!({"a": "äö…", "b": [1, 2]}));
        assert_eq!(
            clean(json!("日本語 café 👩‍🔬"), 100, 9),
            json!("日本語 café 👩‍🔬"),
            "joiners in scripts and emoji are kept"
        );
    }
}
