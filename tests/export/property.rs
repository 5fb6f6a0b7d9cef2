//! The documents generated from the tables of properties: the JSON Schema, and the reference in
//! `docs/exports.md`. After an intended change, run the tests with `UPDATE_SNAPSHOTS=1` and read the
//! diff.

use std::fmt::Write as _;
use std::path::Path;

use software_directory::record::{ENVELOPE, Property, Required, SOFTWARE, Shape, Shown};

use crate::export::schema::document::Node;

/// Compares a file with its generated text.
fn assert_generated(file: &str, generate: impl FnOnce(&str) -> String) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    let committed = std::fs::read_to_string(&path).expect("the committed document");
    let text = generate(&committed);
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::write(&path, &text).expect("the document is written");
    } else {
        assert!(committed == text, "{file} is out of date; run the tests with UPDATE_SNAPSHOTS=1 and read the diff");
    }
}

#[test]
fn the_schema_follows_the_tables() {
    assert_generated("src/export/export.schema.json", |_| {
        let mut text = String::new();
        write_json(&mut text, &schema(), 0, 0);
        text + "\n"
    });
}

/// A node with its members in order. An expression is in parentheses.
macro_rules! node {
    ({ $($key:literal: $value:tt),* $(,)? }) => { Node::Object(vec![$(($key.to_owned(), node!($value))),*]) };
    ([$($value:tt),*]) => { Node::Array(vec![$(node!($value)),*]) };
    (($value:expr)) => { $value };
    ($value:literal) => { Node::from(serde_json::Value::from($value)) };
}

fn schema() -> Node {
    let reviewed = SOFTWARE.iter().filter(|property| property.required == Required::IfReviewed);
    let bounded = node!({
        "description":
            "Any value: strings and keys of at most 1,000,000 characters, numbers that fit in double precision.",
        "maxLength": 1_000_000,
        "maximum": (Node::Raw("1.7976931348623157e308".to_owned())),
        "minimum": (Node::Raw("-1.7976931348623157e308".to_owned())),
        "items": { "$ref": "#/$defs/bounded" },
        "propertyNames": { "maxLength": 1_000_000 },
        "additionalProperties": { "$ref": "#/$defs/bounded" }
    });
    let record = node!({
        "type": "object",
        "required": (required(&SOFTWARE)),
        "properties": (properties(&SOFTWARE)),
        "if": {
            "type": "object",
            "required": ["evidence_status"],
            "properties": { "evidence_status": { "const": "vendor-sources-reviewed" } }
        },
        "then": { "required": (names(reviewed.map(|property| property.name).rev())) }
    });
    node!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Software directory export",
        "description": "An envelope with researched software records. Validators must assert the format `uri`. \
            Additional properties are allowed everywhere. The schema validates only the envelope and the core evidence \
            fields; it doesn't say whether a claim is true or current.",
        "$ref": "#/$defs/bounded",
        "type": "object",
        "required": (required(&ENVELOPE)),
        "properties": (properties(&ENVELOPE)),
        "$defs": { "bounded": (bounded), "record": (record) }
    })
}

fn names<'n>(names: impl IntoIterator<Item = &'n str>) -> Node {
    Node::Array(names.into_iter().map(Node::text).collect())
}

fn required(table: &[Property]) -> Node {
    let required = table.iter().filter(|property| property.required == Required::Always);
    names(required.map(|property| property.name))
}

fn properties(table: &[Property]) -> Node {
    Node::Object(table.iter().map(|property| (property.name.to_owned(), rule(property))).collect())
}

/// What the schema says about a property. Values that only cause warnings aren't restricted.
fn rule(property: &Property) -> Node {
    let description = property.description;
    let description = if property.is_strict { sentence(description) } else { format!("Optional: {description}.") };
    let of_shape = match property.shape {
        _ if !property.is_strict => node!({}),
        Shape::Text => node!({ "type": "string" }),
        Shape::Name => node!({ "type": "string", "minLength": 1 }),
        Shape::Uri => node!({ "type": "string", "format": "uri" }),
        Shape::Date => node!({ "type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$" }),
        Shape::OneOf(values) => node!({ "type": "string", "enum": (names(values.iter().copied())) }),
        Shape::Number => node!({ "type": ["number", "null"] }),
        Shape::Count => node!({ "type": ["integer", "null"], "minimum": 0 }),
        Shape::Sources => node!({
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "array",
                "minItems": 2,
                "maxItems": 2,
                "prefixItems": [{ "type": "string" }, { "type": "string", "format": "uri" }]
            }
        }),
        Shape::Entries(table) if table == SOFTWARE => node!({ "type": "array", "items": { "$ref": "#/$defs/record" } }),
        other => panic!("no rule for {other:?}"),
    };
    let Node::Object(mut of_shape) = of_shape else { panic!("an object") };
    if let Some(most) = property.max_chars.filter(|_| property.is_strict) {
        of_shape.push(("maxLength".to_owned(), Node::from(serde_json::Value::from(most))));
    }
    let description = ("description".to_owned(), Node::text(&description));
    Node::Object(std::iter::once(description).chain(of_shape).collect())
}

/// Writes JSON with up to 132 characters per line. `taken` is how much of the line isn't available.
fn write_json(out: &mut String, node: &Node, depth: usize, taken: usize) {
    const WIDTH: usize = 132;
    let line = on_one_line(node);
    if depth > 0 && is_plain(node) && taken + line.chars().count() <= WIDTH {
        out.push_str(&line);
        return;
    }
    let indent = "  ".repeat(depth + 1);
    match node {
        Node::Object(members) => {
            out.push('{');
            for (index, (key, value)) in members.iter().enumerate() {
                let head = format!("{indent}{}: ", Node::text(key));
                let comma = usize::from(index + 1 < members.len());
                write!(out, "{}\n{head}", if index > 0 { "," } else { "" }).expect("a string");
                write_json(out, value, depth + 1, head.chars().count() + comma);
            }
            write!(out, "\n{}}}", "  ".repeat(depth)).expect("a string");
        }
        Node::Array(elements) => {
            out.push('[');
            let mut line = String::new();
            for (index, element) in elements.iter().enumerate() {
                let text = format!("{}{}", on_one_line(element), if index + 1 < elements.len() { "," } else { "" });
                // A line break is a character, too.
                if line.is_empty() || line.chars().count() + text.chars().count() > WIDTH {
                    out.push_str(&line);
                    line = format!("\n{indent}{text}");
                } else {
                    line = format!("{line} {text}");
                }
            }
            write!(out, "{line}\n{}]", "  ".repeat(depth)).expect("a string");
        }
        Node::Raw(text) => out.push_str(text),
    }
}

/// Whether a node can be on one line: no object in it has several objects.
fn is_plain(node: &Node) -> bool {
    match node {
        Node::Object(members) => {
            let objects = members.iter().filter(|(_, value)| matches!(value, Node::Object(_)));
            objects.count() < 2 && members.iter().all(|(_, value)| is_plain(value))
        }
        Node::Array(elements) => elements.iter().all(is_plain),
        Node::Raw(_) => true,
    }
}

fn on_one_line(node: &Node) -> String {
    match node {
        Node::Object(members) => {
            let members = members.iter().map(|(key, value)| format!("{}: {}", Node::text(key), on_one_line(value)));
            format!("{{ {} }}", members.collect::<Vec<_>>().join(", "))
        }
        Node::Array(elements) => format!("[{}]", elements.iter().map(on_one_line).collect::<Vec<_>>().join(", ")),
        Node::Raw(text) => text.clone(),
    }
}

/// The description as a sentence.
fn sentence(description: &str) -> String {
    let mut chars = description.chars();
    let first = chars.next().into_iter().flat_map(char::to_uppercase);
    first.chain(chars).chain(['.']).collect()
}

#[test]
fn the_reference_follows_the_tables() {
    const START: &str = "<!-- Written by `UPDATE_SNAPSHOTS=1 cargo test --test directory property`. -->\n";
    const END: &str = "<!-- The end of what's generated. -->\n";
    assert_generated("docs/exports.md", |committed| {
        let (before, rest) = committed.split_once(START).expect("the start");
        let (_, behind) = rest.split_once(END).expect("the end");
        format!("{before}{START}\n{}\n{END}{behind}", reference())
    });
}

fn reference() -> String {
    let mut text = section("The envelope", &ENVELOPE);
    for property in &ENVELOPE {
        if let Shape::Entries(table) = property.shape {
            text += &section(&format!("Elements of `{}`", property.name), table);
        }
    }
    text.trim_end().to_owned() + "\n"
}

fn section(title: &str, table: &[Property]) -> String {
    let is_record = table == SOFTWARE;
    let is_strict = table.iter().any(|property| property.is_strict);
    let mut heads = vec!["property", "required", "type", "meaning"];
    heads.extend(is_strict.then_some("if wrong"));
    heads.extend(["searched", "filter", "in lists"].into_iter().filter(|_| is_record));
    let mut text = format!("### {title}\n\n");
    let mut row = |cells: &[&str]| writeln!(text, "| {} |", cells.join(" | ")).expect("a string");
    row(&heads);
    row(&vec!["---"; heads.len()]);
    for property in table {
        let (name, shape, meaning) = (format!("`{}`", property.name), type_of(property), meaning(property.description));
        let mut cells = vec![&*name, property.required.as_str(), &*shape, &*meaning];
        cells.extend(is_strict.then_some(if property.is_strict { "error" } else { "warning" }));
        let filter = filters(property);
        let yes = |is| if is { "yes" } else { "" };
        let is_searched = property.searched.is_some() || property.joins.is_some();
        cells
            .extend([yes(is_searched), &*filter, yes(property.shown == Shown::List)].into_iter().filter(|_| is_record));
        row(&cells);
    }
    text + "\n"
}

fn type_of(property: &Property) -> String {
    let fixed = match property.shape {
        Shape::OneOf(values) => {
            return values.iter().map(|value| format!("`{value}`")).collect::<Vec<_>>().join(" or ");
        }
        Shape::Text => "string",
        Shape::Name => "string, not empty",
        Shape::Label => "string of at most 500 characters",
        Shape::Uri => "URI",
        Shape::Date => "`YYYY-MM-DD`",
        Shape::IdPrefix => "1 to 32 ASCII letters, digits and `. _ : ~ -`",
        Shape::Texts if property.description.contains("a string or an array") => "string or array of strings",
        Shape::Texts => "array of strings",
        Shape::Number if property.is_strict => "number or null",
        Shape::Number => "number",
        Shape::Count => "whole number of 0 or more, or null",
        Shape::Boolean => "`true` or `false`",
        Shape::Sources => "`[[\"label\", \"URI\"], …]`",
        Shape::Source => "string or object",
        Shape::Evidence | Shape::Translations => "object",
        Shape::Entries(_) => "array of objects",
    };
    fixed.to_owned()
}

/// The description without its type, and without the properties of entries, which have a table of their own.
fn meaning(description: &str) -> String {
    const TYPES: [&str; 5] =
        [", a string or an array of strings", ", an array of strings", ", a string", ", true or false", ", a URI"];
    let text = TYPES.iter().find_map(|shape| description.strip_suffix(shape)).unwrap_or(description);
    text.split_once(", each {").map_or_else(
        || text.to_owned(),
        |(before, entry)| format!("{before}{}", entry.find(';').map_or("", |end| &entry[end..])),
    )
}

/// The API's parameters that filter by a property of a product.
fn filters(property: &Property) -> String {
    let parameters: &[&str] = match property.name {
        "category" | "categories" => &["category"],
        "rating" => &["min_rating"],
        "evidence_checked_on" => &["evidence_checked_before", "evidence_checked_after"],
        "evidence" => &["any_evidence_before"],
        name @ ("id" | "offering_type" | "evidence_status") => &[name],
        name if property.attribute.is_some() => &[name],
        _ => &[],
    };
    parameters.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
