//! Products' links, and the findings about them.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use fluent_uri::Uri;

use super::claims::each_source;
use super::convert::is_web;
use super::finding::Findings;
use super::pointer::Path;
use super::record_name::name_records;
use super::text::Value;
use super::{Code, Finding, Limits, LinkGroup, LinkReport, LinkTarget, Location, Report, SectionKind};
use crate::record::{CalendarDate, QUOTE_CHARS};
use crate::text::shorten::is_longer;

/// Products' web addresses (websites, sources and archived copies) without fragments.
#[derive(Debug, Default)]
pub struct WebLinks {
    /// Each address's locations.
    places: BTreeMap<Box<str>, Vec<LinkPlace>>,
    /// The claims that rest on each source, if wanted.
    claims: BTreeMap<Box<str>, Vec<SourceClaim>>,
}

/// An address's first location in a record. Kept small, because a set may have a million of them.
#[derive(Debug, Clone, Copy)]
struct LinkPlace {
    /// Index in the report's files.
    file: u32,
    record: u32,
    of: LinkOf,
    start: u32,
    end: u32,
}

/// What a link belongs to.
#[derive(Debug, Clone, Copy)]
enum LinkOf {
    Website,
    /// An element of `sources`.
    Source(u32),
    /// The evidence for a single property.
    Evidence,
}

/// What rests on a source: a single property, or everything that has no evidence of its own.
#[derive(Debug)]
pub struct SourceClaim {
    place: LinkPlace,
    /// The JSON pointer to the source, if it's a single property's.
    pointer: Option<Box<str>>,
    /// The date of the check, or else the record's.
    pub checked_on: Option<CalendarDate>,
    pub quote: Option<Box<str>>,
}

/// The result for a link that needs attention or couldn't be checked. Results with the same
/// order, code and cause form a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkAnswer {
    /// The position of the link's group in the report.
    pub order: usize,
    pub outcome: &'static str,
    pub code: Option<Code>,
    pub cause: String,
    pub help: &'static str,
    pub to: Option<Box<str>>,
    pub checked_on: String,
    pub failing_since: Option<String>,
    /// The numbers of the claims that it's about; `None` if it's about the link itself.
    pub claims: Option<Vec<usize>>,
}

impl WebLinks {
    /// Collects the links of all readable products, including invalid ones, and the claims that rest
    /// on each source if they are wanted.
    pub fn of(report: &Report, with_claims: bool) -> Self {
        let mut links = Self::default();
        report.each_product(|at, product, path| links.add_product(at, product, path, with_claims));
        links
    }

    fn add_product(&mut self, at: [u32; 2], product: Value<'_>, path: Path<'_>, with_claims: bool) {
        if let Some(url) = product.get("url") {
            self.add(url, at, LinkOf::Website);
        }
        let day = |value: Option<Value<'_>>| CalendarDate::parse(&value?.as_str()?);
        let checked_on = day(product.get("evidence_checked_on"));
        let mut labels = HashMap::new();
        for (index, pair) in (0..).zip(product.get("sources").iter().flat_map(Value::elements)) {
            let mut pair = pair.elements();
            let Some((label, url)) = pair.next().zip(pair.next()) else { continue };
            let place = self.add(url, at, LinkOf::Source(index));
            if let Some((place, address)) = place.zip(address(url)).filter(|_| with_claims) {
                labels.entry(label.as_str().unwrap_or_default()).or_insert_with(|| address.clone());
                let claim = SourceClaim { place, pointer: None, checked_on, quote: None };
                self.claims.entry(address).or_default().push(claim);
            }
        }
        each_source(product, path, |_, entry, path| {
            if let Some(url) = entry.get("archived") {
                self.add(url, at, LinkOf::Evidence);
            }
            let Some(source) = entry.get("source") else { return };
            self.add(source, at, LinkOf::Evidence);
            let named = source.as_str().and_then(|label| labels.get(&label).cloned()).or_else(|| address(source));
            let Some(address) = named.filter(|_| with_claims) else { return };
            let quote = entry.get("quote").and_then(|quote| quote.as_str());
            let quote = quote.filter(|quote| !quote.trim().is_empty() && !is_longer(quote, QUOTE_CHARS));
            let claim = SourceClaim {
                place: place(source, at, LinkOf::Evidence),
                pointer: Some(path.member("source").to_string().into()),
                checked_on: day(entry.get("checked_on")).or(checked_on),
                quote: quote.map(Into::into),
            };
            self.claims.entry(address).or_default().push(claim);
        });
    }

    /// Adds a web address, unless it's in the record already.
    fn add(&mut self, value: Value<'_>, at: [u32; 2], of: LinkOf) -> Option<LinkPlace> {
        let (address, place) = (address(value)?, place(value, at, of));
        let places = self.places.entry(address).or_default();
        if places.last().is_none_or(|last| [last.file, last.record] != at) {
            places.push(place);
        }
        Some(place)
    }

    /// The distinct addresses, in order.
    pub fn urls(&self) -> impl ExactSizeIterator<Item = &str> {
        self.places.keys().map(|url| &**url)
    }

    pub fn claims(&self, url: &str) -> &[SourceClaim] {
        self.claims.get(url).map_or(&[], |claims| claims)
    }
}

/// A web address without its fragment.
fn address(value: Value<'_>) -> Option<Box<str>> {
    let text = value.as_str().filter(|text| is_web(text))?;
    Some(Uri::parse(&*text).ok()?.strip_fragment().as_str().into())
}

fn place(value: Value<'_>, [file, record]: [u32; 2], of: LinkOf) -> LinkPlace {
    let [start, end] = value.bounds();
    LinkPlace { file, record, of, start, end }
}

impl LinkPlace {
    fn location(&self, report: &Report) -> Option<Location> {
        let Range { start, end } = self.start as usize..self.end as usize;
        let list = Path::Root.member(SectionKind::Software.key());
        let record = list.element(self.record as usize);
        let pointer = match self.of {
            LinkOf::Website => record.member("url").to_string(),
            LinkOf::Source(index) => record.member("sources").element(index as usize).element(1).to_string(),
            LinkOf::Evidence => record.member("evidence").to_string(),
        };
        Some(report.files.get(self.file as usize)?.location(start..end, pointer))
    }
}

impl SourceClaim {
    fn location(&self, report: &Report) -> Option<Location> {
        let location = self.place.location(report)?;
        Some(Location { pointer: self.pointer.as_deref().map_or(location.pointer, Into::into), ..location })
    }
}

impl Report {
    /// Adds the results of link checks: the groups, and a finding for each record and address that
    /// needs attention.
    pub fn add_links(
        &mut self,
        links: &WebLinks,
        asked: usize,
        answers: impl Fn(&str, &[SourceClaim]) -> Vec<LinkAnswer>,
    ) {
        let mut list = LinkReport { links: links.places.len(), asked, groups: Vec::new() };
        let mut groups: BTreeMap<(usize, String), (LinkGroup, &'static str)> = BTreeMap::new();
        for (url, places) in &links.places {
            let about = links.claims(url);
            for answer in answers(url, about) {
                let LinkAnswer { order, outcome, code, cause, help, to, checked_on, failing_since, claims } = answer;
                let (group, _) = groups.entry((order, cause)).or_insert_with_key(|(_, cause)| {
                    (LinkGroup { outcome, code, cause: cause.clone(), links: Vec::new() }, help)
                });
                let places = match claims {
                    None => places.iter().filter_map(|place| place.location(self)).collect(),
                    Some(claims) => claims.into_iter().filter_map(|claim| about.get(claim)?.location(self)).collect(),
                };
                group.links.push(LinkTarget { url: url.clone(), to, checked_on, failing_since, places });
            }
        }
        let locations = groups.values_mut().flat_map(|(group, _)| &mut group.links).flat_map(|link| &mut link.places);
        name_records(locations, &self.files, &[], &Limits::default());
        let mut findings = Findings::default();
        for (group, help) in groups.into_values() {
            for link in &group.links {
                let Some(code) = group.code else { continue };
                for location in &link.places {
                    findings.add(code, &location.file, |code| {
                        Finding::new(code, location.clone(), message(link, &group.cause), help)
                    });
                }
            }
            list.groups.push(group);
        }
        self.add(findings);
        self.links = Some(list);
    }
}

fn message(link: &LinkTarget, cause: &str) -> String {
    let to = link.to.as_deref().map_or(Cow::Borrowed(""), |to| format!(" redirects to `{to}`").into());
    let since = link.failing_since.as_deref().filter(|since| *since != link.checked_on);
    let since = since.map_or(Cow::Borrowed(""), |since| format!(", since {since}").into());
    format!("`{}`{to}: {cause}{since}", link.url)
}
