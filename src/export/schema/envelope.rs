//! The envelope: the object that a whole file is.

use super::rule::Rules;
use super::{number, record};
use crate::export::Code;
use crate::export::finding::Fault;
use crate::export::pointer::Path;
use crate::export::text::{Kind, Value};
use crate::export::vocabulary::Shape;

/// Checks a document; no fault means that it is valid.
pub(in crate::export) fn check(root: Value<'_>) -> Vec<Fault> {
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
        Some(name) => _ = rules.string(name, path.member("name"), "write the name of the export"),
        None => rules.missing(root, path, ("name", Shape::Text), "", "add the name of the export"),
    }
    let example = "write the address of the licence, such as \"https://creativecommons.org/licenses/by/4.0/\"";
    match root.get("license") {
        Some(license) => rules.uri(license, path.member("license"), example),
        None => rules.missing(root, path, ("license", Shape::Text), "", example),
    }
    if let Some(as_of) = root.get("as_of") {
        rules.string(as_of, path.member("as_of"), "write a date such as \"2025-03-01\", or leave it out");
    }
    match root.get("software") {
        Some(software) if software.kind() == Kind::Array => {
            let path = path.member("software");
            for (index, value) in software.elements().enumerate() {
                record::check(rules, value, path.element(index));
            }
        }
        Some(other) => {
            rules.wrong_type(other, path.member("software"), "an array", "put the records into square brackets");
        }
        None => rules.missing(root, path, ("software", Shape::Array), "", "add the array of records; it may be empty"),
    }
}

impl Rules {
    /// A count that may be null: an integer from 0.
    pub(super) fn count(&mut self, value: Value<'_>, path: Path<'_>) {
        let help = "write a whole number from 0, or null";
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
