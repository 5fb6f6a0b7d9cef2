//! A directory in memory, and its responses.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};
use software_directory::catalogue::resource::Highlight;
use software_directory::export::{self, Limits, SourceFile};
use software_directory::generation::Snapshot;
use software_directory::service::{
    Facet, ListSimilar, PageRequest, Prefix, SearchPage, SearchSoftware, SoftwareFilter, Stop, budget, search_software,
    similar_software,
};

/// A directory of a few products.
pub(crate) struct Directory(Arc<Snapshot>);

/// A search response.
pub(crate) struct Answer {
    pub(crate) ids: Vec<String>,
    pub(crate) corrected: Vec<(String, String)>,
    pub(crate) dropped: Vec<String>,
    pub(crate) synonyms: Vec<(String, String)>,
    pub(crate) excluded: Vec<String>,
    pub(crate) unwanted: Vec<String>,
    /// Words, the attribute and its values.
    pub(crate) understood: Vec<(String, String, Vec<String>)>,
    pub(crate) pinned: Vec<String>,
    pub(crate) unknown: Vec<String>,
    pub(crate) alternatives_to: Option<String>,
    pub(crate) alternatives_to_id: Option<String>,
    pub(crate) with_all_words: u64,
    pub(crate) related: u64,
}

impl Answer {
    /// The ids of the products that matched by their words.
    pub(crate) fn by_words(&self) -> &[String] {
        let related = usize::try_from(self.related).expect("few");
        &self.ids[..self.ids.len() - related]
    }
}

/// A product that has only a name.
pub(crate) fn product(id: &str, name: &str) -> Value {
    json!({"id": id, "name": name})
}

impl Directory {
    pub(crate) fn of(products: &[Value]) -> Self {
        Self::with(products, &json!({}))
    }

    /// A directory with additional envelope members.
    pub(crate) fn with(products: &[Value], envelope: &Value) -> Self {
        let mut document = json!({"name": "test", "license": "https://example.org/licence"});
        let software = products.iter().map(|product| {
            let mut record = json!({"url": "https://example.org/", "evidence_status": "pending-review"});
            merge(&mut record, product);
            record
        });
        document["software"] = software.collect();
        merge(&mut document, envelope);
        let file = SourceFile::from_bytes(Path::new("test.json"), document.to_string().into_bytes().into());
        let today = export::latest_day(jiff::Timestamp::now());
        let report = export::examine(vec![file], &Limits::default(), today, &|_| {}).expect("in memory");
        assert!(report.is_valid(), "{:?}", report.findings);
        Self(Snapshot::build(report.exports).expect("it builds"))
    }

    fn ask(&self, query: &str, typo: bool, highlight: bool, page: PageRequest) -> SearchPage<'_> {
        let query = SearchSoftware { highlight, typo, page, ..SearchSoftware::new(query) };
        search_software(&self.0, &query).expect("a response")
    }

    /// Whether a search with highlights exceeds its budget.
    pub(crate) fn is_incomplete(&self, query: &str) -> bool {
        self.ask(query, true, true, PageRequest { limit: 20, offset: 0 }).query.incomplete
    }

    /// The ids found with this setting for treating the last word as a prefix.
    pub(crate) fn search_as(&self, query: &str, prefix: Prefix) -> Vec<String> {
        let query = SearchSoftware { prefix, ..SearchSoftware::new(query) };
        ids(&search_software(&self.0, &query).expect("a response"))
    }

    /// The ids found, best first.
    pub(crate) fn search(&self, query: &str) -> Vec<String> {
        self.answer(query, true).ids
    }

    pub(crate) fn answer(&self, query: &str, typo: bool) -> Answer {
        let page = self.ask(query, typo, false, PageRequest { limit: 100, offset: 0 });
        let pairs = |list: &[software_directory::catalogue::resource::Correction]| {
            list.iter().map(|pair| (pair.from.clone(), pair.to.clone())).collect()
        };
        Answer {
            ids: ids(&page),
            corrected: pairs(&page.query.corrected),
            synonyms: pairs(&page.query.synonyms),
            dropped: page.query.dropped,
            excluded: page.query.excluded,
            unwanted: page.query.unwanted,
            understood: page.query.understood.into_iter().map(|of| (of.words, of.attribute, of.values)).collect(),
            pinned: page.query.pinned,
            unknown: page.query.unknown.into_iter().map(|word| word.value).collect(),
            alternatives_to: page.query.alternatives_to,
            alternatives_to_id: page.query.alternatives_to_id,
            with_all_words: page.query.with_all_words,
            related: page.query.related,
        }
    }

    /// The ids found with a category filter, and how many of them are related products.
    pub(crate) fn search_in(&self, query: &str, category: &str) -> (Vec<String>, u64) {
        let filter = SoftwareFilter { categories: vec![category.to_owned()], ..SoftwareFilter::default() };
        let query = SearchSoftware { filter, ..SearchSoftware::new(query) };
        let page = search_software(&self.0, &query).expect("a response");
        (ids(&page), page.query.related)
    }

    /// The ids of products similar to this one, best first.
    pub(crate) fn similar(&self, id: &str) -> Vec<String> {
        let query = ListSimilar { page: PageRequest { limit: 100, offset: 0 }, ..ListSimilar::default() };
        let found = similar_software(&self.0, id, &query, &budget(&self.0, &Stop::default()))
            .expect("a response")
            .expect("a product");
        found.data.iter().map(|hit| id_of(&hit.item)).collect()
    }

    /// The ids on a page, and the total.
    pub(crate) fn page(&self, query: &str, limit: u32, offset: u64) -> (Vec<String>, u64) {
        let page = self.ask(query, true, false, PageRequest { limit, offset });
        (ids(&page), page.pagination.total)
    }

    /// The category counts, by id, with an optional category filter.
    pub(crate) fn categories(&self, query: &str, chosen: Option<&str>) -> Vec<(String, u64)> {
        let query = SearchSoftware {
            filter: SoftwareFilter {
                categories: chosen.map(str::to_owned).into_iter().collect(),
                ..SoftwareFilter::default()
            },
            facets: vec![Facet::Category],
            page: PageRequest { limit: 1, offset: 0 },
            ..SearchSoftware::new(query)
        };
        let page = search_software(&self.0, &query).expect("a response");
        let (_, values) = page.facets.into_iter().next().expect("the facet");
        let mut counts: Vec<_> = values.into_iter().map(|value| (value.value.into_owned(), value.count)).collect();
        counts.sort();
        counts
    }

    /// The fields in the first hit that only a synonym matched.
    pub(crate) fn marked_by_synonym(&self, query: &str) -> Vec<String> {
        let page = self.ask(query, true, true, PageRequest { limit: 1, offset: 0 });
        let marked = page.data.into_iter().next().and_then(|hit| hit.highlights).expect("a hit with highlights");
        let marked: Vec<Highlight<'_>> = serde_json::from_slice(&marked).expect("highlights");
        let marked = marked.into_iter().filter(|highlight| highlight.by.as_deref() == Some("synonym"));
        marked.map(|highlight| highlight.field.into_owned()).collect()
    }

    /// The first hit's highlighted fields, in order, each with its HTML.
    pub(crate) fn highlights(&self, query: &str) -> Vec<(String, String)> {
        let page = self.ask(query, true, true, PageRequest { limit: 1, offset: 0 });
        let marked = page.data.into_iter().next().and_then(|hit| hit.highlights).expect("a hit with highlights");
        let marked: Vec<Highlight<'_>> = serde_json::from_slice(&marked).expect("highlights");
        marked.into_iter().map(|highlight| (highlight.field.into_owned(), highlight.html.into_owned())).collect()
    }
}

fn ids(page: &SearchPage<'_>) -> Vec<String> {
    page.data.iter().map(|hit| id_of(&hit.item)).collect()
}

fn id_of(item: &[u8]) -> String {
    let product: Value = serde_json::from_slice(item).expect("a JSON object");
    product["id"].as_str().expect("an id").to_owned()
}

fn merge(into: &mut Value, from: &Value) {
    for (name, value) in from.as_object().expect("an object") {
        into[name] = value.clone();
    }
}
