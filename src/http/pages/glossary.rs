//! The glossary, from A to Z.

use std::borrow::Cow;
use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::http::{StatusCode, Uri};
use axum::response::Response;
use serde_json::json;

use super::call::{Call, Calls};
use super::edition::{Edition, Lang};
use super::frame::JsonLd;
use super::frame::{Frame, Section};
use super::home::overview;
use super::language::{PageLanguage, Texts};
use super::links::{self, Address, PAGE, of_record, of_term};
use super::overview::Overview;
use super::pager::{Pager, offset, part};
use super::respond;
use super::text_budget::TextBudget;
use crate::catalogue::resource::{GlossaryTermResource, Pagination};
use crate::http::extract::query::RawQuery;
use crate::http::extract::{Preferred, Snapshot};
use crate::http::problem::ApiError;
use crate::http::state::AppState;
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
    base: &'a str,
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

    fn term_href(&self, term: &str) -> String {
        of_term(self.base, term)
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

#[derive(Debug)]
struct Letter<'a> {
    text: &'a str,
    href: String,
    is_current: bool,
}

pub(super) async fn get_glossary(
    State(state): State<Arc<AppState>>,
    language: PageLanguage,
    Preferred(of_texts): Preferred,
    snapshot: Snapshot,
    uri: Uri,
) -> Result<Response, ApiError> {
    let (of, overview) = (Arc::clone(&state), overview(&state, &snapshot).await?);
    let write = move |stop: Stop| write(&of, (language, of_texts.as_ref()), &snapshot, &overview, &uri, &stop);
    state.search(write).await?
}

fn write(
    state: &AppState,
    (language, of_texts): (PageLanguage, Option<&record::Language>),
    snapshot: &Snapshot,
    overview: &Overview,
    uri: &Uri,
    stop: &Stop,
) -> Result<Response, ApiError> {
    let (t, site) = (language.texts(), &state.site);
    let edition = site.edition(language, &snapshot.catalogue, of_texts);
    let query = RawQuery::parse(uri.query().unwrap_or_default());
    let address =
        Address::read(format!("{}/glossary", site.base_in(language)), &query, &[GLOSSARY_Q.name, LETTER, PAGE]);
    let q = address.get(GLOSSARY_Q.name).filter(|q| !q.trim().is_empty()).unwrap_or_default();
    let entries = &snapshot.catalogue.tables.glossary;
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
        let found = snapshot.glossary.search(q, stop);
        let first = usize::try_from(offset(address.page(), MAX_ON_A_PAGE)).unwrap_or(usize::MAX);
        let terms: Vec<_> = found.iter().skip(first).take(MAX_ON_A_PAGE as usize).collect();
        (found.total(), if terms.is_empty() { Vec::new() } else { vec![("", terms)] })
    };
    let page = Pagination { limit: MAX_ON_A_PAGE, offset: offset(address.page(), MAX_ON_A_PAGE), total };
    let letters = letters.iter().filter(|_| q.is_empty()).map(|(text, _)| Letter {
        text: text.as_str(),
        href: if is_split { address.with(LETTER, text) } else { format!("#letter-{text}") },
        is_current: chosen == Some(text.as_str()),
    });
    let title = if q.is_empty() { t.glossary.to_owned() } else { format!("{q} · {}", t.glossary) };
    let mut frame = Frame::new(site, language, snapshot).titled(&title).at(&address.at_page(address.page()));
    frame.section = Section::Glossary;
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
        q,
        total: if q.is_empty() { entries.len() as u64 } else { total },
        letters: letters.collect(),
        groups,
        pager: if is_split || !q.is_empty() { Pager::new(t, page, &address, false) } else { None },
        calls: Calls::new(t, site, &[call]),
    };
    respond::html(StatusCode::OK, t, &view)
}

fn term_set<'t>(t: &'static Texts, terms: impl Iterator<Item = Cow<'t, GlossaryTermResource>>) -> JsonLd {
    let term = |term: Cow<'_, GlossaryTermResource>| json!({"@type": "DefinedTerm", "name": term.term, "description": in_list(&term.definition), "termCode": term.id});
    JsonLd::new("DefinedTermSet", &[("name", t.glossary.into()), ("hasDefinedTerm", terms.map(term).collect())])
}
