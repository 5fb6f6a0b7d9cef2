//! Checks records, the elements of `software`.

use super::rule::{Rules, subject};
use crate::export::Code;
use crate::export::pointer::Path;
use crate::export::text::{Kind, Value};
use crate::export::vocabulary::Shape;
use crate::record::{CalendarDate, EvidenceStatus, OfferingType};

const STATUS: [&str; 2] = [EvidenceStatus::ALL[0].as_str(), EvidenceStatus::ALL[1].as_str()];
const OFFERING: [&str; 2] = [OfferingType::ALL[0].as_str(), OfferingType::ALL[1].as_str()];

pub(super) fn check(rules: &mut Rules, record: Value<'_>, path: Path<'_>) {
    if record.kind() != Kind::Object {
        let help = "a record is an object with `id`, `name`, `url` and `evidence_status`";
        return rules.wrong_type(record, path, "an object", help);
    }
    let found = Properties::in_record(record);
    match found.id {
        Some(id) => rules.non_empty(id, path.member("id"), "write an id that is unique in the directory"),
        None => rules.missing(record, path, ("id", Shape::Text), "", "add an id that is unique in the directory"),
    }
    match found.name {
        Some(name) => rules.non_empty(name, path.member("name"), "write the product's name"),
        None => rules.missing(record, path, ("name", Shape::Text), "", "add the product's name"),
    }
    let website = "write the address of the product's website, such as \"https://acme.example/\"";
    match found.url {
        Some(url) => rules.uri(url, path.member("url"), website),
        None => rules.missing(record, path, ("url", Shape::Text), "", website),
    }
    let pending = "add \"evidence_status\": \"pending-review\" if nobody has checked the record yet";
    match found.evidence_status {
        Some(status) => rules.one_of(status, path.member("evidence_status"), &STATUS),
        None => rules.missing(record, path, ("evidence_status", Shape::Text), "", pending),
    }
    evidence(rules, record, path, &found);
    if let Some(rating) = found.rating
        && !matches!(rating.kind(), Kind::Number | Kind::Null)
    {
        rules.wrong_type(rating, path.member("rating"), "a number or null", "write a number from 0 to 5, or null");
    }
    if let Some(count) = found.review_count {
        rules.count(count, path.member("review_count"));
    }
    if let Some(offering) = found.offering_type {
        rules.one_of(offering, path.member("offering_type"), &OFFERING);
    }
}

/// Checks a record's evidence. If its sources were reviewed, they and the date are required.
fn evidence(rules: &mut Rules, record: Value<'_>, path: Path<'_>, found: &Properties<'_>) {
    let reviewed = EvidenceStatus::VendorSourcesReviewed.as_str();
    let is_reviewed = found.evidence_status.is_some_and(|status| status.is_text(reviewed));
    let because = format!(", though `evidence_status` is \"{reviewed}\"");
    let otherwise = format!("or set `evidence_status` to \"{}\"", EvidenceStatus::PendingReview.as_str());
    match found.evidence_checked_on {
        Some(date) => checked_on(rules, date, path.member("evidence_checked_on")),
        None if is_reviewed => {
            let help = format!("add the day of the review, such as \"2025-03-01\"; {otherwise}");
            rules.missing(record, path, ("evidence_checked_on", Shape::Text), &because, &help);
        }
        None => {}
    }
    match found.sources {
        Some(list) => sources(rules, list, path.member("sources")),
        None if is_reviewed => {
            let help =
                format!("add the pages that were reviewed, such as [[\"Product page\", \"https://…\"]]; {otherwise}");
            rules.missing(record, path, ("sources", Shape::Array), &because, &help);
        }
        None => {}
    }
}

fn checked_on(rules: &mut Rules, value: Value<'_>, path: Path<'_>) {
    let help = "write the day as YYYY-MM-DD, such as \"2025-03-01\", or leave the property out";
    let Some(text) = rules.string(value, path, help) else { return };
    if !CalendarDate::has_form(&text) {
        let message = format!("{} isn't written as YYYY-MM-DD", subject(path));
        rules.report(Code::InvalidDateForm, value, path, message, help);
    }
}

fn sources(rules: &mut Rules, list: Value<'_>, path: Path<'_>) {
    let help = "write the list of sources like [[\"Product page\", \"https://example.org/\"]]";
    if list.kind() != Kind::Array {
        return rules.wrong_type(list, path, "an array", help);
    }
    if list.elements().next().is_none() {
        let help = "name at least one source, or leave the property out if the evidence hasn't been reviewed";
        rules.report(Code::NoSources, list, path, "`sources` must not be empty", help);
    }
    for (index, source) in list.elements().enumerate() {
        pair(rules, source, path.element(index));
    }
}

fn pair(rules: &mut Rules, source: Value<'_>, path: Path<'_>) {
    let help = "write the source like [\"Product page\", \"https://example.org/\"]";
    if source.kind() != Kind::Array {
        return rules.wrong_type(source, path, "an array of a label and an address", help);
    }
    let length = source.elements().count();
    if length != 2 {
        let message = format!("a source is a pair of a label and an address, but this array has length {length}");
        rules.report(Code::SourceNotAPair, source, path, message, help);
    }
    let mut entries = source.elements();
    if let Some(label) = entries.next() {
        rules.string(label, path.element(0), help);
    }
    if let Some(address) = entries.next() {
        rules.uri(address, path.element(1), help);
    }
}

/// The properties that the rules apply to. For a repeated key, the last value counts.
#[derive(Default)]
struct Properties<'d> {
    id: Option<Value<'d>>,
    name: Option<Value<'d>>,
    url: Option<Value<'d>>,
    evidence_status: Option<Value<'d>>,
    evidence_checked_on: Option<Value<'d>>,
    sources: Option<Value<'d>>,
    rating: Option<Value<'d>>,
    review_count: Option<Value<'d>>,
    offering_type: Option<Value<'d>>,
}

impl<'d> Properties<'d> {
    fn in_record(record: Value<'d>) -> Self {
        let mut found = Self::default();
        for (key, value) in record.members() {
            let slot = match key.as_str().as_deref() {
                Some("id") => &mut found.id,
                Some("name") => &mut found.name,
                Some("url") => &mut found.url,
                Some("evidence_status") => &mut found.evidence_status,
                Some("evidence_checked_on") => &mut found.evidence_checked_on,
                Some("sources") => &mut found.sources,
                Some("rating") => &mut found.rating,
                Some("review_count") => &mut found.review_count,
                Some("offering_type") => &mut found.offering_type,
                _ => continue,
            };
            *slot = Some(value);
        }
        found
    }
}
