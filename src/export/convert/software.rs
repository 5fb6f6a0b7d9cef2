//! Reads records, the elements of `software`.

use super::evidence::EVIDENCE;
use super::property::Use;
use super::property::compact;
use super::translation::TRANSLATIONS;
use super::{Entry, Product, Reader};
use crate::export::budget::name_problem;
use crate::export::near_miss::NearMiss;
use crate::export::pointer::Path;
use crate::export::schema::{Count, count};
use crate::export::text::{Kind, Value};
use crate::export::{Code, SectionKind};
use crate::record::{
    AdditionalProperty, CalendarDate, EvidenceStatus, OfferingType, Property, Rating, SOFTWARE, Shape, Shown, Software,
    Source, identity,
};
use crate::text::printable::marked_hidden;

#[derive(Default)]
struct Draft<'d> {
    id: Option<Value<'d>>,
    name: Option<Value<'d>>,
    url: Option<Value<'d>>,
    evidence_status: Option<EvidenceStatus>,
    /// The main category, which comes before the others.
    category: Vec<Box<str>>,
    categories: Vec<Box<str>>,
    /// Read last, because it depends on the other properties.
    evidence: Option<Value<'d>>,
    additional_properties: Vec<AdditionalProperty>,
    /// All other properties.
    software: Software,
}

impl Reader {
    pub(super) fn software(&mut self, root: Value<'_>) -> Vec<Entry<Product>> {
        let mut known = NearMiss::new(&SOFTWARE);
        let list = root.get(SectionKind::Software.key());
        let records = list.iter().flat_map(Value::elements).enumerate();
        let parent = Path::Root.member(SectionKind::Software.key());
        let product = |(index, record)| {
            let path = parent.element(index);
            let product = self.product(record, index, path);
            self.near_misses(&mut known, record, path);
            product
        };
        // There may be a hundred thousand products of about four hundred bytes each, and a growing
        // vector would keep moving them.
        let mut products = Vec::with_capacity(list.map_or(0, |list| list.elements().count()));
        products.extend(records.filter_map(product));
        products
    }

    fn product(&mut self, record: Value<'_>, index: usize, path: Path<'_>) -> Option<Entry<Product>> {
        let mut draft = Draft::default();
        for (key, value) in record.members() {
            let name = key.as_str().unwrap_or_default();
            let used = Property::of_software(&name)
                .map_or(Use::Additional, |known| self.property(&mut draft, known, value, path.member(&name)));
            if used == Use::Additional {
                draft.additional_properties.extend(self.keep(&name, value, path));
            }
        }
        if let Some(value) = draft.evidence {
            let Draft { software, additional_properties, .. } = &mut draft;
            let unused;
            (software.evidence, unused) = self.evidence(value, path.member(EVIDENCE), record, &software.sources);
            additional_properties.extend(unused.map(|json| (EVIDENCE.into(), json)));
        }
        let id = draft.id?;
        let (key, text) = (id.span(), id.as_str()?);
        let span = |value: Option<Value<'_>>| value.map_or(key.clone(), |value| value.span());
        let (url, name) = (span(draft.url), span(draft.name));
        let value = Product { id: text.into(), software: draft.finish(), url, name };
        Some(Entry { index, key, value })
    }

    /// Reads one property. Those without rules of their own are read by shape.
    fn property<'d>(&mut self, draft: &mut Draft<'d>, known: &Property, value: Value<'d>, path: Path<'_>) -> Use {
        let Draft { software, .. } = draft;
        match known.name {
            "id" => {
                self.id(value, path);
                draft.id = Some(value);
            }
            "name" => {
                self.words(value, path, &value.as_str().unwrap_or_default());
                self.listed(value, path);
                draft.name = Some(value);
            }
            "url" => {
                self.link(value, path);
                draft.url = Some(value);
            }
            "evidence_status" => {
                draft.evidence_status = EvidenceStatus::ALL.into_iter().find(|s| value.is_text(s.as_str()));
            }
            "offering_type" => {
                let kind = OfferingType::ALL.into_iter().find(|kind| value.is_text(kind.as_str()));
                software.offering_type = kind.unwrap_or_default();
            }
            "evidence_checked_on" => {
                // A date in any other form has already been reported as an error.
                if value.as_str().is_some_and(|text| CalendarDate::has_form(&text)) {
                    self.date(value, path);
                }
                software.evidence_checked_on = value.as_str().map(Into::into);
            }
            "sources" => software.sources = self.sources(value, path),
            EVIDENCE => draft.evidence = Some(value),
            "rating" => software.rating = self.rating(value, path),
            "review_count" => return self.review_count(value, path, &mut software.review_count),
            "category" if value.kind() == Kind::Array => {
                return self.unusable(value, path, "a string (several go into `categories`)");
            }
            "category" => return self.category_names(value, path, &mut draft.category),
            "categories" => return self.category_names(value, path, &mut draft.categories),
            TRANSLATIONS => return self.translations(value, path, &SOFTWARE, &mut software.translations),
            _ => return self.by_shape(software, known, value, path),
        }
        Use::Used
    }

    fn by_shape(&mut self, software: &mut Software, known: &Property, value: Value<'_>, path: Path<'_>) -> Use {
        if let Some(texts) = software.texts_mut(known.name) {
            let mut read = Vec::new();
            let used = self.texts(value, path, &mut read);
            if used == Use::Used {
                *texts = read.into();
            }
            return used;
        }
        let Some(text) = software.text_mut(known.name) else { return Use::Additional };
        if known.shape == Shape::Uri {
            return self.uri(known, value, path, text);
        }
        if known.shown == Shown::List {
            self.listed(value, path);
        }
        self.text(value, path, text)
    }

    fn id(&mut self, value: Value<'_>, path: Path<'_>) {
        let Some(id) = value.as_str() else { return };
        self.invisible(value, path, &id);
        if matches!(&*id, "." | "..") || id.contains('/') {
            let message = format!("the id `{id}` is awkward in URLs");
            let help = "proxies and browsers rewrite paths with `.`, `..` or `/`; an id without them is safer";
            self.report(Code::AwkwardId, value, path, message, help);
        }
    }

    /// Warns about invisible characters in an id, and about white space other than a space: nobody
    /// can type such an id from what they see.
    fn invisible(&mut self, value: Value<'_>, path: Path<'_>, id: &str) {
        if id.is_ascii() {
            return;
        }
        let is_unseen = |(c, is_hidden): &(char, bool)| *is_hidden || (!c.is_ascii() && c.is_whitespace());
        if let Some((c, _)) = marked_hidden(id).find(is_unseen) {
            let message = format!("the id contains U+{:04X}, an invisible character", u32::from(c));
            self.report(Code::InvisibleCharacter, value, path, message, "remove it, or use an ordinary character");
        }
    }

    fn category_names(&mut self, value: Value<'_>, path: Path<'_>, slot: &mut Vec<Box<str>>) -> Use {
        let used = self.texts(value, path, slot);
        if let Some(problem) = slot.iter().find_map(|name| name_problem(name)) {
            slot.clear();
            let message = format!("a category's name {problem}; this one is kept, but not used");
            self.report(Code::UnusableProperty, value, path, message, "name the category, or leave it out");
            return Use::Additional;
        }
        used
    }

    fn sources(&mut self, value: Value<'_>, path: Path<'_>) -> Box<[Source]> {
        let pair = |(index, source): (usize, Value<'_>)| {
            let mut entries = source.elements();
            let (label, url) = (entries.next()?, entries.next()?);
            self.label(label, path.element(index).element(0));
            self.link(url, path.element(index).element(1));
            Some(Source { label: label.as_str()?.into(), url: url.as_str()?.into() })
        };
        value.elements().enumerate().filter_map(pair).collect()
    }

    fn rating(&mut self, value: Value<'_>, path: Path<'_>) -> Option<Rating> {
        if value.kind() != Kind::Number {
            return None;
        }
        let number: f64 = value.raw().parse().ok()?;
        if !(0.0..=5.0).contains(&number) {
            let message = format!("a rating of {} is outside 0 to 5", value.raw());
            self.report(Code::RatingOutOfRange, value, path, message, "convert it to a scale from 0 to 5");
        }
        Some(Rating { value: number.clamp(f64::MIN, f64::MAX), text: compact(value.raw())? })
    }

    fn review_count(&mut self, value: Value<'_>, path: Path<'_>, slot: &mut Option<u64>) -> Use {
        if value.kind() == Kind::Number {
            match count(value.raw()) {
                Count::Fits(count) => *slot = Some(count),
                Count::TooLarge => return self.unusable(value, path, "a whole number up to 18446744073709551615"),
                Count::Negative | Count::Fractional => {}
            }
        }
        Use::Used
    }
}

impl Draft<'_> {
    /// The record; `None` if it lacks something essential.
    fn finish(self) -> Option<Software> {
        let text = |value: Option<Value<'_>>| Some(Box::<str>::from(value?.as_str()?));
        Some(Software {
            id: text(self.id)?,
            name: text(self.name)?,
            url: text(self.url)?,
            evidence_status: self.evidence_status?,
            categories: distinct(self.category.into_iter().chain(self.categories)),
            additional_properties: self.additional_properties.into(),
            ..self.software
        })
    }
}

/// Keeps the first of several names with the same identity.
fn distinct(names: impl Iterator<Item = Box<str>>) -> Box<[Box<str>]> {
    let mut distinct: Vec<Box<str>> = names.collect();
    if distinct.len() > 1 {
        let mut seen = std::collections::HashSet::new();
        distinct.retain(|name| seen.insert(identity(name)));
    }
    distinct.into()
}
