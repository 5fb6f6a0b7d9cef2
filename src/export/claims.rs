//! Looks at each product's claims and evidence as written, to find what's stale or has changed.

use std::collections::BTreeMap;

use super::finding::Findings;
use super::pointer::Path;
use super::record_name::name_records;
use super::stale::{MaxAge, MaxAges, Stale};
use super::text::{Kind, Value};
use super::{Code, Finding, Limits, Report, SectionKind, text};
use crate::record::CalendarDate;

/// Calls a function with each source in a product's evidence: the property, the object and its path.
pub(super) fn each_source(product: Value<'_>, path: Path<'_>, mut each: impl FnMut(&str, Value<'_>, Path<'_>)) {
    let path = path.member("evidence");
    for (key, value) in product.get("evidence").iter().flat_map(Value::members) {
        let property = key.as_str().unwrap_or_default();
        let path = path.member(&property);
        if value.kind() == Kind::Array {
            let entries = value.elements().enumerate();
            entries.for_each(|(index, entry)| each(&property, entry, path.element(index)));
        } else {
            each(&property, value, path);
        }
    }
}

impl Report {
    /// Calls a function with each readable product, including invalid ones: the file's and the
    /// product's index, the JSON and its path.
    pub(super) fn each_product(&self, mut each: impl FnMut([u32; 2], Value<'_>, Path<'_>)) {
        let list = Path::Root.member(SectionKind::Software.key());
        for (file, source) in (0..).zip(&self.files) {
            let document = text::parse_prefix(source.bytes(), Limits::default().max_depth);
            let products = document.as_ref().and_then(|document| document.root().get(SectionKind::Software.key()));
            for (record, product) in (0..).zip(products.iter().flat_map(Value::elements)) {
                each([file, record], product, list.element(record as usize));
            }
        }
    }

    pub(super) fn add(&mut self, mut findings: Findings) {
        name_records(findings.locations_mut(), &self.files, &[], &Limits::default());
        let (kept, left_out) = findings.finish();
        self.findings.extend(kept);
        self.findings.sort_by(Finding::by_place);
        self.left_out.extend(left_out);
        self.left_out.sort_by(|a, b| (&a.file, a.code).cmp(&(&b.file, b.code)));
    }

    /// Lists the valid products with stale evidence, and adds a finding for each stale claim.
    pub(super) fn add_stale(&mut self, max_age: MaxAge) {
        let ages = MaxAges::new(max_age, self.exports.iter().flat_map(|export| &export.attributes));
        self.stale = Some(Stale::collect(&self.exports, &ages));
        let mut findings = Findings::default();
        self.each_product(|[file, _], product, path| {
            let file = &self.files[file as usize];
            let mut places = BTreeMap::new();
            let mut look = |property: Option<&str>, value: Option<Value<'_>>, path: Path<'_>| {
                let day = value.and_then(|value| CalendarDate::parse(&value.as_str()?));
                let Some((value, day)) = value.zip(day) else { return };
                let place = || (day, value.span(), path.to_string());
                let oldest = places.entry(property.map(Box::from)).or_insert_with(place);
                if day < oldest.0 {
                    *oldest = place();
                }
            };
            let key = "evidence_checked_on";
            look(None, product.get(key), path.member(key));
            each_source(product, path, |property, entry, path| {
                look(Some(property), entry.get("checked_on"), path.member("checked_on"));
            });
            let record = places.get(&None).map(|(day, ..)| *day);
            let claims: Vec<_> = places.iter().filter_map(|(of, (day, ..))| Some((of.clone()?, *day))).collect();
            let has = |property: &str| product.get(property).is_some_and(|value| value.kind() != Kind::Null);
            for (property, day) in ages.stale(record, &claims, has) {
                let Some((_, span, pointer)) = places.get(&property).or_else(|| places.get(&None)) else { continue };
                let before = ages.before(property.as_deref());
                findings.add(Code::StaleEvidence, file.shared_path(), |code| {
                    let message = format!("the evidence was checked on {day}, before {before}");
                    let help = "check the sources again, and enter the date of that check";
                    Finding::new(code, file.location(span.clone(), pointer.clone()), message, help)
                });
            }
        });
        self.add(findings);
    }
}
