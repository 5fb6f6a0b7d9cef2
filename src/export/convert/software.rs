//! Reads records, the elements of `software`.

use super::property::Use;
use super::raw::compact;
use super::translation::TRANSLATIONS;
use super::{Entry, Product, Reader};
use crate::export::budget::name_problem;
use crate::export::pointer::Path;
use crate::export::schema::{Count, count};
use crate::export::text::{Kind, Value};
use crate::export::vocabulary::{NearMiss, RECORD, TRANSLATED};
use crate::export::{Code, SectionKind};
use crate::record::{
    AdditionalProperty, CalendarDate, EvidenceStatus, OfferingType, Rating, Software, Source, Translations, identity,
};
use crate::text::printable::marked_hidden;

#[derive(Default)]
struct SoftwareBuilder<'d> {
    id: Option<Value<'d>>,
    name: Option<Value<'d>>,
    url: Option<Value<'d>>,
    tagline: Option<Box<str>>,
    description: Option<Box<str>>,
    category: Option<Box<str>>,
    categories: Vec<Box<str>>,
    vendor: Option<Box<str>>,
    tags: Vec<Box<str>>,
    features: Vec<Box<str>>,
    standards: Vec<Box<str>>,
    alternative_to: Vec<Box<str>>,
    aliases: Vec<Box<str>>,
    deployment: Vec<Box<str>>,
    pricing: Option<Box<str>>,
    languages: Vec<Box<str>>,
    offering_type: Option<OfferingType>,
    evidence_status: Option<EvidenceStatus>,
    evidence_checked_on: Option<Box<str>>,
    sources: Vec<Source>,
    rating: Option<Rating>,
    review_count: Option<u64>,
    translations: Translations,
    additional_properties: Vec<AdditionalProperty>,
}

impl Reader {
    pub(super) fn software(&mut self, root: Value<'_>) -> Vec<Entry<Product>> {
        let mut known = NearMiss::new(RECORD);
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
        let mut builder = SoftwareBuilder::default();
        for (key, value) in record.members() {
            let name = key.as_str().unwrap_or_default();
            if self.property(&mut builder, &name, value, path.member(&name)) == Use::Additional {
                builder.additional_properties.extend(self.keep(&name, value, path));
            }
        }
        let id = builder.id?;
        let (key, text) = (id.span(), id.as_str()?);
        let span = |value: Option<Value<'_>>| value.map_or(key.clone(), |value| value.span());
        let (url, name) = (span(builder.url), span(builder.name));
        let value = Product { id: text.into(), software: builder.finish(), url, name };
        Some(Entry { index, key, value })
    }

    fn property<'d>(&mut self, builder: &mut SoftwareBuilder<'d>, key: &str, value: Value<'d>, path: Path<'_>) -> Use {
        match key {
            "id" => {
                self.id(value, path);
                builder.id = Some(value);
            }
            "name" => {
                self.words(value, path, &value.as_str().unwrap_or_default());
                self.listed(value, path);
                builder.name = Some(value);
            }
            "url" => {
                self.link(value, path);
                self.short_url(value, path);
                builder.url = Some(value);
            }
            "evidence_status" => {
                builder.evidence_status = EvidenceStatus::ALL.into_iter().find(|s| value.is_text(s.as_str()));
            }
            "offering_type" => {
                builder.offering_type = OfferingType::ALL.into_iter().find(|s| value.is_text(s.as_str()));
            }
            "evidence_checked_on" => {
                // A date in any other form has already been reported as an error.
                if value.as_str().is_some_and(|text| CalendarDate::has_form(&text)) {
                    self.date(value, path);
                    self.age(value, path);
                }
                builder.evidence_checked_on = value.as_str().map(Into::into);
            }
            "sources" => builder.sources = self.sources(value, path),
            "rating" => builder.rating = self.rating(value, path),
            "review_count" => return self.review_count(value, path, &mut builder.review_count),
            "tagline" => {
                self.listed(value, path);
                return self.text(value, path, &mut builder.tagline);
            }
            "description" => return self.text(value, path, &mut builder.description),
            "category" => {
                let mut category = Vec::new();
                if value.kind() == Kind::Array {
                    return self.unusable(value, path, "a string (several go into `categories`)");
                }
                let used = self.category_names(value, path, &mut category);
                builder.category = category.pop();
                return used;
            }
            "categories" => return self.category_names(value, path, &mut builder.categories),
            "vendor" => {
                self.listed(value, path);
                return self.text(value, path, &mut builder.vendor);
            }
            "tags" => return self.texts(value, path, &mut builder.tags),
            "features" => return self.texts(value, path, &mut builder.features),
            "standards" => return self.texts(value, path, &mut builder.standards),
            "alternative_to" => return self.texts(value, path, &mut builder.alternative_to),
            "aliases" => return self.texts(value, path, &mut builder.aliases),
            "deployment" => return self.texts(value, path, &mut builder.deployment),
            "pricing" => return self.text(value, path, &mut builder.pricing),
            "languages" => return self.texts(value, path, &mut builder.languages),
            TRANSLATIONS => return self.translations(value, path, TRANSLATED, &mut builder.translations),
            _ => return Use::Additional,
        }
        Use::Used
    }

    fn id(&mut self, value: Value<'_>, path: Path<'_>) {
        let Some(id) = value.as_str() else { return };
        self.invisible(value, path, &id);
        self.short_id(value, path);
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

    fn sources(&mut self, value: Value<'_>, path: Path<'_>) -> Vec<Source> {
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

impl SoftwareBuilder<'_> {
    fn finish(self) -> Option<Software> {
        let text = |value: Option<Value<'_>>| Some(Box::<str>::from(value?.as_str()?));
        Some(Software {
            id: text(self.id)?,
            name: text(self.name)?,
            url: text(self.url)?,
            tagline: self.tagline,
            description: self.description,
            categories: distinct(self.category.into_iter().chain(self.categories)),
            vendor: self.vendor,
            tags: self.tags.into(),
            features: self.features.into(),
            standards: self.standards.into(),
            alternative_to: self.alternative_to.into(),
            aliases: self.aliases.into(),
            deployment: self.deployment.into(),
            pricing: self.pricing,
            languages: self.languages.into(),
            offering_type: self.offering_type.unwrap_or(OfferingType::Software),
            evidence_status: self.evidence_status?,
            evidence_checked_on: self.evidence_checked_on,
            sources: self.sources.into(),
            rating: self.rating,
            review_count: self.review_count,
            translations: self.translations,
            additional_properties: self.additional_properties.into(),
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
