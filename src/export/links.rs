//! Products' links, and the findings about them.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use fluent_uri::Uri;

use super::convert::is_web;
use super::finding::Findings;
use super::pointer::Path;
use super::record_name::name_records;
use super::text::Value;
use super::{Code, Finding, Limits, LinkGroup, LinkReport, LinkTarget, Location, Report, SectionKind, text};

/// Products' web addresses (websites, sources and archived copies) without fragments, each with its
/// locations.
#[derive(Debug, Default)]
pub struct WebLinks(BTreeMap<Box<str>, Vec<LinkPlace>>);

/// An address's first location in a record. Kept small, because a set may have a million of them.
#[derive(Debug)]
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
}

impl WebLinks {
    /// Collects the links of all readable products, including invalid ones.
    pub fn of(report: &Report) -> Self {
        let mut links = Self::default();
        for (file, source) in (0..).zip(&report.files) {
            let document = text::parse_prefix(source.bytes(), Limits::default().max_depth);
            let Some(list) = document.as_ref().and_then(|document| document.root().get(SectionKind::Software.key()))
            else {
                continue;
            };
            for (record, product) in (0..).zip(list.elements()) {
                let mut add = |value: Value<'_>, of| links.add(value, file, record, of);
                if let Some(url) = product.get("url") {
                    add(url, LinkOf::Website);
                }
                for (index, pair) in (0..).zip(product.get("sources").iter().flat_map(Value::elements)) {
                    if let Some(url) = pair.elements().nth(1) {
                        add(url, LinkOf::Source(index));
                    }
                }
                for (_, value) in product.get("evidence").iter().flat_map(Value::members) {
                    for entry in std::iter::once(value).chain(value.elements()) {
                        let urls = ["source", "archived"].into_iter().filter_map(|key| entry.get(key));
                        urls.for_each(|url| add(url, LinkOf::Evidence));
                    }
                }
            }
        }
        links
    }

    fn add(&mut self, value: Value<'_>, file: u32, record: u32, of: LinkOf) {
        let Some(text) = value.as_str().filter(|text| is_web(text)) else { return };
        let Ok(uri) = Uri::parse(&*text) else { return };
        let url = uri.strip_fragment();
        let places = match self.0.get_mut(url.as_str()) {
            Some(places) => places,
            None => self.0.entry(url.as_str().into()).or_default(),
        };
        if places.last().is_some_and(|last| (last.file, last.record) == (file, record)) {
            return;
        }
        let [start, end] = value.bounds();
        places.push(LinkPlace { file, record, of, start, end });
    }

    /// The distinct addresses, in order.
    pub fn urls(&self) -> impl ExactSizeIterator<Item = &str> {
        self.0.keys().map(|url| &**url)
    }
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

impl Report {
    /// Adds the results of link checks: the groups, and a finding for each record and address that
    /// needs attention.
    pub fn add_links(&mut self, links: WebLinks, asked: usize, answer: impl Fn(&str) -> Option<LinkAnswer>) {
        let mut list = LinkReport { links: links.0.len(), asked, groups: Vec::new() };
        let mut groups: BTreeMap<(usize, String), (LinkGroup, &'static str)> = BTreeMap::new();
        for (url, places) in links.0 {
            let Some(answer) = answer(&url) else { continue };
            let LinkAnswer { order, outcome, code, cause, help, to, checked_on, failing_since } = answer;
            let (group, _) = groups.entry((order, cause)).or_insert_with_key(|(_, cause)| {
                (LinkGroup { outcome, code, cause: cause.clone(), links: Vec::new() }, help)
            });
            let places = places.iter().filter_map(|place| place.location(self)).collect();
            group.links.push(LinkTarget { url, to, checked_on, failing_since, places });
        }
        let locations = groups.values_mut().flat_map(|(group, _)| &mut group.links).flat_map(|link| &mut link.places);
        name_records(locations, &self.files, &[], &Limits::default());
        let mut findings = Findings::default();
        for (group, help) in groups.into_values() {
            for link in &group.links {
                let Some(code) = group.code else { continue };
                for location in &link.places {
                    let finding = || Finding {
                        code,
                        location: location.clone(),
                        message: message(link, &group.cause),
                        help: help.to_owned(),
                        related: Vec::new(),
                    };
                    findings.add(code, &Arc::clone(&location.file), finding);
                }
            }
            list.groups.push(group);
        }
        let (kept, left_out) = findings.finish();
        self.findings.extend(kept);
        self.findings.sort_by(Finding::by_place);
        self.left_out.extend(left_out);
        self.left_out.sort_by(|a, b| (&a.file, a.code).cmp(&(&b.file, b.code)));
        self.links = Some(list);
    }
}

fn message(link: &LinkTarget, cause: &str) -> String {
    let to = link.to.as_deref().map_or(Cow::Borrowed(""), |to| format!(" redirects to `{to}`").into());
    let since = link.failing_since.as_deref().filter(|since| *since != link.checked_on);
    let since = since.map_or(Cow::Borrowed(""), |since| format!(", since {since}").into());
    format!("`{}`{to}: {cause}{since}", link.url)
}
