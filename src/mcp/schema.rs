//! The JSON schemas of results.

use serde_json::{Map, Value, json};

fn text(about: &str) -> Value {
    json!({"type": "string", "description": about})
}

fn optional_text(about: &str) -> Value {
    json!({"type": ["string", "null"], "description": about})
}

fn count(about: &str) -> Value {
    json!({"type": "integer", "minimum": 0, "description": about})
}

fn texts(about: &str) -> Value {
    json!({"type": "array", "items": {"type": "string"}, "description": about})
}

/// A result: what all have, and its own members.
fn result(own: Value) -> Map<String, Value> {
    let mut properties = Map::new();
    properties.insert("notice".to_owned(), text("How to read the texts of the records."));
    properties.insert("generation".to_owned(), text("The name of the directory's content that this result is from."));
    properties.insert(
        "published_at".to_owned(),
        optional_text("Since when this content is served: RFC 3339, UTC. The records' own dates are in export.as_of and evidence."),
    );
    if let Value::Object(own) = own {
        properties.extend(own);
    }
    object(properties)
}

/// An object with all of these members and no others.
fn object(properties: Map<String, Value>) -> Map<String, Value> {
    let required: Vec<_> = properties.keys().cloned().collect();
    let mut schema = Map::new();
    schema.insert("type".to_owned(), "object".into());
    schema.insert("properties".to_owned(), properties.into());
    schema.insert("required".to_owned(), required.into());
    schema
}

fn members(of: Value) -> Value {
    let Value::Object(of) = of else { return of };
    object(of).into()
}

fn list(items: Value, about: &str) -> Value {
    json!({"type": "array", "items": members(items), "description": about})
}

/// The members of a product in a list.
fn product() -> Value {
    let source = json!({"label": text("Name of the source."), "url": text("Its address.")});
    json!({
        "id": text("Identifier, the argument of get_software and list_reviews."),
        "name": text("Name."),
        "tagline": optional_text("Short description."),
        "categories": texts("Categories, the main one first."),
        "vendor": optional_text("Name of the vendor."),
        "website": text("The product's website."),
        "offering_type": text("software or document-templates."),
        "rating": {"type": ["number", "null"], "description": "Average rating, by convention of 5."},
        "review_count": {"type": ["integer", "null"], "description": "Number of reviews behind the rating."},
        "evidence": members(json!({
            "status": text("vendor-sources-reviewed: the vendor's own sources were reviewed; pending-review: not yet."),
            "checked_on": optional_text("The day of the last check, YYYY-MM-DD."),
            "source_count": count("How many sources there are; a search returns the first five."),
            "sources": list(source, "Where the claims come from. The directory asserts neither their truth nor their freshness."),
        })),
        "export": members(json!({
            "id": text("The export that the record is from."),
            "name": text("Its name."),
            "license": text("The licence of its content: a URI. Name it where you publish the content."),
            "as_of": optional_text("The day of its snapshot, as stated."),
        })),
        "url": text("The record in the directory's API, to cite."),
    })
}

pub(super) fn search_software() -> Map<String, Value> {
    result(json!({
        "total": count("How many products match; with incomplete a lower bound."),
        "with_all_words": count("How many of them have all words of q; the others have some."),
        "incomplete": {"type": "boolean", "description": "Whether the search stopped early."},
        "corrected": {"type": "array", "items": {"type": "object"}, "description": "Words that were taken for a misspelling of others."},
        "dropped": texts("Words that did not count: no product has them."),
        "software": list(product(), "The products, in order."),
    }))
}

pub(super) fn get_software() -> Map<String, Value> {
    let mut whole = product();
    if let Value::Object(whole) = &mut whole {
        for (name, about) in [
            ("aliases", "Other names."),
            ("tags", "Key words."),
            ("features", "Functions of the product."),
            ("standards", "Standards it is for."),
            ("alternative_to", "Products that it can replace."),
            ("deployment", "Ways to run it."),
            ("languages", "Languages of its user interface."),
        ] {
            whole.insert(name.to_owned(), texts(about));
        }
        whole.insert("description".to_owned(), optional_text("Long description."));
        whole.insert("pricing".to_owned(), optional_text("Price, as text."));
        whole.insert(
            "rating_source".to_owned(),
            optional_text(
                "Where rating and review count come from: stated by the record, or computed from the reviews.",
            ),
        );
    }
    result(json!({"software": members(whole)}))
}

pub(super) fn list_categories() -> Map<String, Value> {
    let category = json!({
        "id": text("Identifier."),
        "name": text("Name."),
        "description": optional_text("Description."),
        "software_count": count("How many products are in it."),
        "url": text("The category in the directory's API."),
    });
    result(
        json!({"total": count("How many categories there are."), "categories": list(category, "The categories, by name.")}),
    )
}

pub(super) fn search_glossary() -> Map<String, Value> {
    let source = json!({
        "type": ["object", "null"],
        "description": "Where the definition can be checked.",
        "properties": {"title": optional_text("Name of the source."), "url": optional_text("Its address.")},
    });
    let term = json!({
        "id": text("Identifier."),
        "term": text("The term."),
        "definition": text("Its definition."),
        "abbreviations": texts("Abbreviations."),
        "synonyms": texts("Other words for it."),
        "related": texts("Terms to read next."),
        "source": source,
        "url": text("The term in the directory's API, to cite."),
    });
    result(json!({"total": count("How many terms match."), "terms": list(term, "The terms, best match first.")}))
}

pub(super) fn list_reviews() -> Map<String, Value> {
    let review = json!({
        "id": text("Identifier."),
        "rating": {"type": "integer", "minimum": 1, "maximum": 5, "description": "Stars."},
        "title": optional_text("Headline."),
        "body": optional_text("Text."),
        "author": optional_text("Name of the author."),
        "created_at": optional_text("When it was written: RFC 3339, UTC."),
        "verified": {"type": ["boolean", "null"], "description": "Whether the reviewer is known to use the product."},
    });
    result(json!({
        "total": count("How many reviews there are."),
        "summary": {"type": "object", "description": "All reviews: average, count, and their distribution over the stars."},
        "reviews": list(review, "The reviews, in order."),
        "url": text("The reviews in the directory's API, to cite."),
    }))
}
