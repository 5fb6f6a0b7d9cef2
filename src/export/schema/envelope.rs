//! Checks the envelope, the top-level object of a file.

use super::rule::Rules;
use super::{license, number, record};
use crate::export::Code;
use crate::export::budget::GROUP_TERMS;
use crate::export::finding::Faults;
use crate::export::id_prefix::{PREFIX_CHARS, is_id_prefix};
use crate::export::pointer::Path;
use crate::export::text::{Kind, Value};
use crate::export::vocabulary::{RECORD, Shape};
use crate::record::{AttributeType, BUILT_IN};

/// Checks a document. It's valid if there are no faults.
pub(in crate::export) fn check(root: Value<'_>) -> Faults {
    let mut rules = Rules::default();
    let path = Path::Root;
    if root.kind() == Kind::Object {
        members(&mut rules, root, path);
    } else {
        rules.wrong_type(root, path, "an object", "an export is an object with `name`, `license` and `software`");
    }
    rules.faults
}

fn members(rules: &mut Rules, root: Value<'_>, path: Path<'_>) {
    match root.get("name") {
        Some(name) => _ = rules.string(name, path.member("name"), "write the export's name"),
        None => rules.missing(root, path, ("name", Shape::Text), "", "add the export's name"),
    }
    let example = "write the address of the licence, such as \"https://creativecommons.org/licenses/by/4.0/\"";
    match root.get("license") {
        Some(license) => {
            let address = license.as_str().and_then(|name| license::address(&name));
            match address.map(|address| format!("write its address: \"{address}\"")) {
                Some(help) => rules.uri_or(license, path.member("license"), &help),
                None => rules.uri(license, path.member("license"), example),
            }
        }
        None => rules.missing(root, path, ("license", Shape::Text), "", example),
    }
    if let Some(as_of) = root.get("as_of") {
        rules.string(as_of, path.member("as_of"), "write a date such as \"2025-03-01\", or leave it out");
    }
    if let Some(prefix) = root.get("id_prefix")
        && prefix.as_str().is_some_and(|text| !is_id_prefix(&text))
    {
        let message = format!("`id_prefix` must be 1 to {PREFIX_CHARS} ASCII letters, digits and `. _ : ~ -`");
        let help = "write a short prefix such as \"dpg:\", or leave it out";
        rules.report(Code::InvalidIdPrefix, prefix, path.member("id_prefix"), message, help);
    }
    match root.get("software") {
        Some(software) if software.kind() == Kind::Array => {
            let path = path.member("software");
            for (index, value) in software.elements().enumerate() {
                record::check(rules, value, path.element(index));
            }
        }
        Some(other) => {
            rules.wrong_type(other, path.member("software"), "an array", "put the records in square brackets");
        }
        None => rules.missing(root, path, ("software", Shape::Array), "", "add the array of records; it may be empty"),
    }
    if let Some(attributes) = root.get("attributes") {
        let path = path.member("attributes");
        for (index, entry) in attributes.elements().enumerate() {
            attribute(rules, entry, path.element(index));
        }
    }
    if let Some(groups) = root.get("synonyms") {
        let path = path.member("synonyms");
        for (index, group) in groups.elements().enumerate() {
            synonyms(rules, group, path.element(index));
        }
    }
}

/// A property that the directory already interprets can't be declared as an attribute, and the
/// built-in attributes are always text.
fn attribute(rules: &mut Rules, entry: Value<'_>, path: Path<'_>) {
    let Some((name, value)) = entry.get("property").and_then(|value| Some((value.as_str()?, value))) else { return };
    let is_built_in = BUILT_IN.iter().any(|(property, _)| *property == name);
    if !is_built_in && RECORD.iter().any(|(property, _)| *property == name) {
        let message = format!("`{name}` can't be an attribute: the directory already handles this property itself");
        let help = "remove the entry; the directory already filters or sorts by these properties where it can";
        rules.report(Code::CoreAttribute, value, path.member("property"), message, help);
    }
    if let Some(kind) = entry.get("type").filter(|kind| is_built_in && !kind.is_text(AttributeType::Text.as_str())) {
        let message = format!("the values of `{name}` are always text");
        rules.report(Code::CoreAttribute, kind, path.member("type"), message, "leave out the type");
    }
}

/// Limits the terms in a group. Each term stands for all the others, so a group's cost is
/// quadratic.
fn synonyms(rules: &mut Rules, group: Value<'_>, path: Path<'_>) {
    for key in ["terms", "from", "ambiguous"] {
        let Some(terms) = group.get(key) else { continue };
        let count = terms.elements().count();
        if count > GROUP_TERMS {
            let message = format!("`{key}` has {count} terms; a synonym group can have at most {GROUP_TERMS}");
            let help = "keep only the terms that people search for, or split the group by meaning";
            rules.report(Code::TooManyTerms, terms, path.member(key), message, help);
        }
    }
}

impl Rules {
    /// A count must be a whole number of 0 or more, or null.
    pub(super) fn count(&mut self, value: Value<'_>, path: Path<'_>) {
        let help = "write a whole number of 0 or more, or null";
        match value.kind() {
            Kind::Null => {}
            Kind::Number => match number::count(value.raw()) {
                number::Count::Fits(_) | number::Count::TooLarge => {}
                number::Count::Negative => {
                    let message = format!("{} must not be below 0", super::rule::subject(path));
                    self.report(Code::BelowMinimum, value, path, message, help);
                }
                number::Count::Fractional => {
                    let message = format!("{} must be a whole number", super::rule::subject(path));
                    self.report(Code::WrongType, value, path, message, help);
                }
            },
            _ => self.wrong_type(value, path, "a whole number or null", help),
        }
    }
}
