//! Reads the evidence for single properties.

use foldhash::{HashMap, HashMapExt as _, HashSet};
use serde_json::value::RawValue;

use super::Reader;
use super::property::{Use, compact};
use crate::export::Code;
use crate::export::near_miss::{NearMiss, nearest};
use crate::export::pointer::Path;
use crate::export::schema::is_uri;
use crate::export::text::{Kind, Value};
use crate::record::{
    CalendarDate, EVIDENCE as PROPERTIES, Evidence, EvidenceSource, QUOTE_CHARS, SOFTWARE, Source, URL_CHARS, claim,
};
use crate::text::append;
use crate::text::shorten::is_longer;

/// The key for evidence for single properties.
pub(super) const EVIDENCE: &str = "evidence";

/// How many bytes of labels and addresses a record's evidence may name by label, in addition to the
/// record's own length. Without a limit, a short label that is used often could fill the memory.
const NAMED_BYTES: usize = 4096;

/// A record's sources, by label and by address.
struct Sources<'s> {
    by_label: HashMap<&'s str, &'s Source>,
    by_url: HashMap<&'s str, &'s Source>,
    /// How many bytes may still be named by label.
    left: usize,
}

impl<'s> Sources<'s> {
    fn new(sources: &'s [Source], record: Value<'_>) -> Self {
        let (mut by_label, mut by_url) = (HashMap::new(), HashMap::new());
        // The first source with a label or an address counts.
        for source in sources.iter().rev() {
            by_label.insert(&*source.label, source);
            by_url.insert(&*source.url, source);
        }
        Self { by_label, by_url, left: NAMED_BYTES + record.raw().len() }
    }

    /// The address and the label of the source that's meant, or what's wrong with it.
    fn find(&mut self, named: &str) -> Result<(Box<str>, Option<Box<str>>), &'static str> {
        let source = self.by_label.get(named).or_else(|| self.by_url.get(named)).copied();
        let (url, label) = source.map_or((named, None), |source| (&*source.url, Some(&*source.label)));
        if !is_uri(url) {
            return Err("is neither a URI nor the label of one of the record's sources");
        }
        let added = url.len() + label.map_or(0, str::len);
        self.left = self
            .left
            .checked_sub(added.saturating_sub(named.len()))
            .filter(|_| !is_longer(url, URL_CHARS))
            .ok_or("stands for too long an address")?;
        Ok((url.into(), label.map(Into::into)))
    }
}

impl Reader {
    /// Reads a record's evidence. Returns what can't be used as JSON, as written.
    pub(super) fn evidence(
        &mut self,
        value: Value<'_>,
        path: Path<'_>,
        record: Value<'_>,
        sources: &[Source],
    ) -> (Box<[Evidence]>, Option<Box<RawValue>>) {
        if value.kind() != Kind::Object {
            let is_unused = value.kind() != Kind::Null;
            if is_unused {
                let _: Use = self.unusable(value, path, "an object with the names of properties as keys");
            }
            return (Box::default(), if is_unused { compact(value.raw()) } else { None });
        }
        let is_given = |value: &Value<'_>| !matches!(value.raw(), "null" | "[]" | "\"\"");
        let given = record.members().filter(|(_, value)| is_given(value)).filter_map(|(key, _)| key.as_str());
        let given: HashSet<String> = given.map(|key| claim(&key).to_owned()).collect();
        let mut sources = Sources::new(sources, record);
        let mut near = NearMiss::new(&PROPERTIES);
        let (mut evidence, mut unused) = (Vec::new(), String::new());
        for (key, value) in value.members() {
            let property = key.as_str().unwrap_or_default();
            let path = path.member(&property);
            let is_list = value.kind() == Kind::Array;
            let (mut found, mut rest) = (Vec::new(), Vec::new());
            if given.contains(claim(&property)) {
                let elements = value.elements().enumerate().map(|(index, element)| (element, path.element(index)));
                for (entry, path) in elements.chain((!is_list).then_some((value, path))) {
                    match self.evidence_source(entry, path, &mut sources, &mut near) {
                        Some(source) => found.push(source),
                        None if entry.kind() == Kind::Null => {}
                        None => rest.push(entry.raw()),
                    }
                }
            } else if is_given(&value) {
                let known: Vec<_> = SOFTWARE.iter().collect();
                let help = nearest(&known, &property).map_or_else(
                    || "use the name of one of the record's properties, or add the property".to_owned(),
                    |meant| format!("did you mean `{}`?", meant.name),
                );
                self.unused_evidence(key, path, &format!("the record has no `{property}`"), help);
                rest.push(value.raw());
            }
            if let [first, ..] = rest[..] {
                let start = if unused.is_empty() { '{' } else { ',' };
                let list = if is_list && given.contains(claim(&property)) {
                    format!("[{}]", rest.join(","))
                } else {
                    first.to_owned()
                };
                append(&mut unused, format_args!("{start}{}:{list}", key.raw()));
            }
            if !found.is_empty() {
                evidence.push(Evidence { property: property.into(), sources: found.into() });
            }
        }
        if !unused.is_empty() {
            unused.push('}');
        }
        (evidence.into(), compact(&unused))
    }

    fn evidence_source(
        &mut self,
        entry: Value<'_>,
        path: Path<'_>,
        sources: &mut Sources<'_>,
        near: &mut NearMiss,
    ) -> Option<EvidenceSource> {
        if entry.kind() != Kind::Object {
            if entry.kind() != Kind::Null {
                let why = format!("evidence is an object with a `source`, but this is {}", entry.describe());
                self.unused_evidence(entry, path, &why, "write {\"source\": \"https://…\"}");
            }
            return None;
        }
        self.near_misses(near, entry, path);
        let given = |key: &str| entry.get(key).filter(|value| value.kind() != Kind::Null);
        let mut text = |key: &str, wanted: &str, is_right: &dyn Fn(&str) -> bool| {
            let Some(value) = given(key) else { return Ok(None) };
            let text = value.as_str().filter(|text| is_right(text)).map(Box::<str>::from);
            if text.is_none() {
                let why = format!("`{key}` isn't {wanted}");
                self.unused_evidence(value, path.member(key), &why, format!("write {wanted}, or leave it out"));
            }
            text.map(Some).ok_or(())
        };
        let is_address = |text: &str| is_uri(text) && !is_longer(text, URL_CHARS);
        let archived = text("archived", "a URI of at most 2,000 characters", &is_address);
        let quote = text("quote", "a string of at most 500 characters", &|text| !is_longer(text, QUOTE_CHARS));
        let checked_on = text("checked_on", "a date in the form YYYY-MM-DD", &CalendarDate::has_form);
        if let Some(value) = given("archived").filter(|_| archived.is_ok()) {
            self.link(value, path.member("archived"));
        }
        if let Some(value) = given("quote").filter(|_| quote.is_ok()) {
            self.label(value, path.member("quote"));
        }
        if let Some(value) = given("checked_on").filter(|_| checked_on.is_ok()) {
            self.date(value, path.member("checked_on"));
        }
        let named = given("source").and_then(|value| Some((value, value.as_str()?)));
        let Some((value, named)) = named else {
            let value = given("source").unwrap_or(entry);
            self.unused_evidence(value, path, "evidence needs a `source`, a string", "add the source's address");
            return None;
        };
        let place = path.member("source");
        self.link(value, place);
        let (url, label) = match sources.find(&named) {
            Ok(found) => found,
            Err(why) => {
                let help = "write the source's address, or a label from `sources`";
                self.unused_evidence(value, place, &format!("`{named}` {why}"), help);
                return None;
            }
        };
        let checked_on = match checked_on.ok()? {
            None => None,
            Some(day) => Some(CalendarDate::parse(&day)?),
        };
        let quote = quote.ok()?.filter(|quote| !quote.trim().is_empty());
        Some(EvidenceSource { url, label, checked_on, quote, archived: archived.ok()? })
    }

    fn unused_evidence(&mut self, value: Value<'_>, path: Path<'_>, why: &str, help: impl Into<String>) {
        self.report(Code::UnusableProperty, value, path, format!("{why}, so this evidence isn't used"), help);
    }
}
