//! The glossary, from A to Z.

use std::borrow::Cow;

use askama::Template;
use axum::http::StatusCode;
use axum::response::Response;
use serde_json::json;

use super::call::{Call, Calls};
use super::edition::{Edition, Lang};
use super::frame::{Frame, JsonLd, Section};
use super::home::overview;
use super::language::Texts;
use super::links::{self, Address, Base, PAGE, of_record, of_term, segment};
use super::overview::Overview;
use super::pager::{Pager, offset, part};
use super::respond;
use super::text_budget::TextBudget;
use super::visit::Visit;
use crate::catalogue::GlossaryEntry;
use crate::catalogue::resource::{GlossaryTermResource, Pagination};
use crate::http::problem::ApiError;
use crate::record::{self, slug};
use crate::service::Stop;
use crate::service::parameter::definition::GLOSSARY_Q;
use crate::text::shorten::in_list;

/// The maximum number of terms on one page. A larger glossary has pages for each letter.
const MAX_ON_A_PAGE: u32 = 200;

/// The parameter that selects a letter.
const LETTER: &str = "letter";

#[derive(Debug, Template)]
#[template(path = "glossary.html")]
struct GlossaryPage<'a> {
    frame: Frame<'a>,
    edition: Edition<'a>,
    t: &'static Texts,
    base: Base<'a>,
    overview: &'a Overview,
    q: &'a str,
    total: u64,
    letters: Vec<Letter<'a>>,
    /// Indices of terms, by letter.
    groups: Vec<(&'a str, Vec<usize>)>,
    pager: Option<Pager>,
    calls: Calls,
}

impl<'a> GlossaryPage<'a> {
    /// A term, translated only while it's written: translations can be large.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "templates pass references")]
    fn term(&self, at: &usize) -> Cow<'a, GlossaryTermResource> {
        self.edition.catalogue.tables.glossary[*at].term.localised(self.edition.language)
    }

    fn budget(&self) -> TextBudget {
        TextBudget::of_each(self.groups.iter().map(|(_, terms)| terms.len()).sum())
    }

    fn record_href(&self, term: &GlossaryTermResource) -> String {
        of_record(self.edition.root, "glossary", &term.id)
    }

    /// The URL of a related term; empty if there's none.
    fn term_href(&self, name: &str) -> String {
        if !self.base.is_published {
            return of_term(self.base, name);
        }
        let (id, glossary) = (slug(name), &self.edition.catalogue.tables.glossary);
        let at = glossary.iter().position(|entry| entry.term.id == id);
        at.map_or(String::new(), |at| term_href(self.overview, self.edition.language, glossary, self.base, at))
    }

    fn lang<'t>(&'t self, term: &'t GlossaryTermResource, field: &str) -> Lang<'t> {
        self.edition.lang(term.language.as_ref(), &term.untranslated, field)
    }

    /// A related term's name as shown on the page, and the name's language.
    fn related<'t>(&'t self, term: &'t GlossaryTermResource, name: &'t str) -> (&'t str, Lang<'t>) {
        let language = self.edition.language;
        let entry = self.edition.catalogue.term(&slug(name));
        let shown = language.and_then(|language| entry?.term.find_term(language));
        shown.map_or_else(|| (name, self.own(term)), |shown| (shown, self.edition.own(language)))
    }

    /// The language of text that isn't translated.
    fn own<'t>(&self, term: &'t GlossaryTermResource) -> Lang<'t> {
        self.edition.own(term.language.as_ref())
    }
}

/// The pages with a letter's terms, if the glossary has several.
pub(in crate::http) fn of_letter(base: Base<'_>, letter: &str) -> Address {
    if base.is_published {
        let path = format!("/glossary/{}", segment(&letter.to_lowercase()));
        return Address::record(base.page(&path), base);
    }
    Address::new(base.page("/glossary")).and(LETTER, letter)
}

/// The letters that have pages of their own; none if all terms are on one page.
pub(in crate::http) fn split_letters<'o>(
    overview: &'o Overview,
    language: Option<&record::Language>,
) -> impl Iterator<Item = &'o str> {
    let is_split = overview.term_count > u64::from(MAX_ON_A_PAGE);
    let letters = overview.localised(language).map_or(&[][..], |localised| &localised.letters);
    letters.iter().filter(move |_| is_split).map(|(letter, _)| letter.as_str())
}

/// The URL of the glossary page that shows a term, given its index. A published page can't search for
/// the term, so the URL is the term's place.
pub(super) fn term_href(
    overview: &Overview,
    language: Option<&record::Language>,
    glossary: &[GlossaryEntry],
    base: Base<'_>,
    at: usize,
) -> String {
    let term = &glossary[at].term;
    if !base.is_published {
        return of_term(base, &term.term);
    }
    let letters = overview.localised(language).map_or(&[][..], |localised| &localised.letters);
    let page = letters.iter().filter(|_| glossary.len() > MAX_ON_A_PAGE as usize).find_map(|(letter, terms)| {
        let place = terms.iter().position(|term| *term == at)?;
        Some(of_letter(base, letter).at_page((place / MAX_ON_A_PAGE as usize + 1) as u64))
    });
    format!("{}#{}", page.unwrap_or_else(|| base.page("/glossary")), segment(&term.id))
}

#[derive(Debug)]
struct Letter<'a> {
    text: &'a str,
    href: String,
    is_current: bool,
}

pub(super) async fn get_glossary(visit: Visit) -> Result<Response, ApiError> {
    let overview = overview(&visit.state, &visit.snapshot).await?;
    visit.on_pool(move |visit, stop| write(visit, &overview, stop)).await
}

fn write(visit: &Visit, overview: &Overview, stop: &Stop) -> Result<Response, ApiError> {
    let (t, edition, of_texts) = (visit.t(), visit.edition(), visit.of_texts.as_ref());
    let address = Address::new(edition.base.page("/glossary"));
    let address = address.reading(&visit.query, &[GLOSSARY_Q.name, LETTER, PAGE]);
    let q = address.get(GLOSSARY_Q.name).filter(|q| !q.trim().is_empty()).unwrap_or_default();
    let entries = &edition.catalogue.tables.glossary;
    let term = |at: &usize| entries[*at].term.localised(of_texts);
    let is_split = entries.len() > MAX_ON_A_PAGE as usize;
    let letters = overview.localised(of_texts).map_or(&[][..], |localised| &localised.letters);
    let known = |wanted: &&str| letters.iter().any(|(letter, _)| letter == wanted);
    let chosen = address.get(LETTER).filter(known).or_else(|| Some(&*letters.first()?.0)).filter(|_| is_split);
    let shown = letters.iter().filter(|(letter, _)| chosen.is_none_or(|chosen| chosen == letter));
    // Search results are ordered by relevance, not by letter.
    let (total, groups): (u64, Vec<(&str, Vec<usize>)>) = if q.is_empty() {
        let first = offset(address.page(), MAX_ON_A_PAGE);
        let total = shown.clone().map(|(_, terms)| terms.len() as u64).sum();
        let page = Pagination { limit: MAX_ON_A_PAGE, offset: if is_split { first } else { 0 }, total };
        let groups = shown.map(|(letter, terms)| (&**letter, part(terms, page).to_vec()));
        (total, groups.filter(|(_, terms)| !terms.is_empty()).collect())
    } else {
        let found = visit.snapshot.glossary.search(q, stop);
        let first = usize::try_from(offset(address.page(), MAX_ON_A_PAGE)).unwrap_or(usize::MAX);
        let terms: Vec<_> = found.iter().skip(first).take(MAX_ON_A_PAGE as usize).collect();
        (found.total(), if terms.is_empty() { Vec::new() } else { vec![("", terms)] })
    };
    let page = Pagination { limit: MAX_ON_A_PAGE, offset: offset(address.page(), MAX_ON_A_PAGE), total };
    let letters = letters.iter().filter(|_| q.is_empty()).map(|(text, _)| Letter {
        text: text.as_str(),
        href: if is_split { of_letter(edition.base, text).at_page(1) } else { format!("#letter-{text}") },
        is_current: chosen == Some(text.as_str()),
    });
    let title = if q.is_empty() { t.glossary.to_owned() } else { format!("{q} · {}", t.glossary) };
    let mut frame = visit.frame().titled(&title).at(&if edition.base.is_published {
        address.path().to_owned()
    } else {
        address.at_page(address.page())
    });
    frame.section = Section::Glossary;
    // The first letter's terms are on the glossary's own page, too.
    frame.is_found = !is_split || address.get(LETTER).is_some();
    frame.is_noindex = !q.is_empty() || groups.is_empty();
    if !q.is_empty() {
        frame = frame.canonical_at("/glossary");
    }
    frame.json_ld = vec![term_set(t, groups.iter().flat_map(|(_, terms)| terms.iter().map(term)))];
    let mut call = Call::new("/v1/glossary", "glossary.list");
    if !q.is_empty() {
        call = call.with(GLOSSARY_Q.name, q);
    }
    let view = GlossaryPage {
        frame,
        edition,
        t,
        base: edition.base,
        overview,
        q,
        total: if q.is_empty() { entries.len() as u64 } else { total },
        letters: letters.collect(),
        groups,
        pager: if is_split || !q.is_empty() {
            let letter = chosen.filter(|_| edition.base.is_published).map(|letter| of_letter(edition.base, letter));
            Pager::new(t, page, letter.as_ref().unwrap_or(&address), false)
        } else {
            None
        },
        calls: Calls::new(t, visit.site(), &[call]),
    };
    respond::html(StatusCode::OK, t, &view)
}

fn term_set<'t>(t: &'static Texts, terms: impl Iterator<Item = Cow<'t, GlossaryTermResource>>) -> JsonLd {
    let term = |term: Cow<'_, GlossaryTermResource>| json!({"@type": "DefinedTerm", "name": term.term, "description": in_list(&term.definition), "termCode": term.id});
    JsonLd::new("DefinedTermSet", &[("name", t.glossary.into()), ("hasDefinedTerm", terms.map(term).collect())])
}
