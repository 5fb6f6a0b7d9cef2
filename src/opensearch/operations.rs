//! Operations other than search.

use std::sync::Arc;

use bytes::Bytes;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::connection::{Call, blocking};
use super::document::{DirectoryDocument, hash, key, kind, values_field};
use super::filter::FilterQuery;
use super::form::Part;
use super::index::View;
use super::query::{TextQuery, like, names, scaled};
use super::response::{Found, Got, search_target};
use super::{Directory, Error, ErrorKind};
use crate::catalogue::resource::{ReviewSummary, SoftwareDetail, SoftwareItem, SoftwareRef, Suggestions};
use crate::catalogue::{Order as Stored, Record, STARS, shorten};
use crate::record::{Language, Translations};
use crate::service::parameter::definition::INCLUDE;
use crate::service::{
    self, AttributeSort, ChangesPage, ListReviews, ListSimilar, ListSoftware, ListSort, MAX_QUERY_OFFSET, Page,
    PageRequest, Prefix, ReviewSort, ReviewsPage, SearchSort, SimilarHit, SimilarPage, SoftwareFilter, Stop,
    Translator, list_changes_to,
};

/// The order of a list.
#[derive(Debug)]
pub(super) struct Order(Vec<Value>);

impl Order {
    fn relevance() -> Self {
        Self(vec![json!("_score"), json!({"directory.quality": "desc"}), json!({"directory.key": "asc"})])
    }

    fn quality() -> Self {
        Self(vec![
            json!({"directory.quality": "desc"}),
            json!({"directory.name": "asc"}),
            json!({"directory.key": "asc"}),
        ])
    }

    /// By a field, then by name. Products without a value come last.
    fn by(field: &str, order: &str) -> Self {
        let by_field = json!({field: {"order": order, "missing": "_last", "unmapped_type": "keyword"}});
        Self(vec![by_field, json!({"directory.name": "asc"}), json!({"directory.key": "asc"})])
    }

    fn stored(order: Stored) -> Self {
        match order {
            Stored::Name => Self::by("directory.name", "asc"),
            Stored::Rating => Self::by("rating", "desc"),
            Stored::LowestRating => Self::by("rating", "asc"),
            Stored::ReviewCount => Self::by("review_count", "desc"),
            Stored::EvidenceCheckedOn => Self::by("directory.checked_on", "desc"),
        }
    }

    fn attribute(sort: &AttributeSort) -> Self {
        Self::by(&values_field(&sort.property), if sort.descending { "desc" } else { "asc" })
    }

    pub(super) fn of_search(sort: &SearchSort, has_words: bool) -> Self {
        match sort {
            SearchSort::Relevance if has_words => Self::relevance(),
            SearchSort::Relevance => Self::quality(),
            SearchSort::Stored(order) => Self::stored(*order),
            SearchSort::Attribute(sort) => Self::attribute(sort),
        }
    }
}

impl Directory {
    /// Sends a search for a page of products.
    pub(super) async fn send_page<T: DeserializeOwned + Send + 'static>(
        &self,
        mut body: Value,
        order: &Order,
        page: PageRequest,
    ) -> Result<Found<T>, Error> {
        if page.offset > MAX_QUERY_OFFSET {
            return Err(Error::OffsetTooLarge);
        }
        body["from"] = page.offset.into();
        body["size"] = page.limit.into();
        body["sort"] = order.0.as_slice().into();
        body["track_total_hits"] = true.into();
        self.send(Part::Products, &body).await
    }

    pub(super) async fn send<T: DeserializeOwned + Send + 'static>(
        &self,
        part: Part,
        body: &Value,
    ) -> Result<Found<T>, Error> {
        let call = Call::post(search_target(&self.index.prefix.alias(part)), body.to_string());
        Ok(self.index.connection.send(call).await?.json().await?)
    }

    pub async fn list_software(&self, query: &ListSoftware) -> Result<Page, Error> {
        if !query.include.is_empty() {
            return Err(Error::NotOffered(INCLUDE.name));
        }
        let filter = FilterQuery::new(&query.filter, &self.view.catalogue).but_for(None);
        let sorted = query.sort.as_ref().map(|sort| match sort {
            ListSort::Stored(order) => Order::stored(*order),
            ListSort::Attribute(sort) => Order::attribute(sort),
        });
        let found: Found<ListedProduct> = match query.q.as_deref().filter(|q| !q.trim().is_empty()) {
            None => {
                let order = sorted.unwrap_or_else(|| Order::stored(Stored::Name));
                self.send_page(json!({"query": {"bool": {"filter": filter}}}), &order, query.page).await?
            }
            Some(q) => match names(q) {
                None => Found::default(),
                Some(names) => {
                    let body = json!({"query": {"bool": {"must": names, "filter": filter}}});
                    self.send_page(body, &sorted.unwrap_or_else(Order::relevance), query.page).await?
                }
            },
        };
        let mut translator = Translator::new(&self.view.catalogue, query.language.as_ref());
        let data = found.sources().map(|product| product.translated(&mut translator));
        let data = data.collect::<Result<_, Error>>()?;
        Ok(Page { data, pagination: query.page.pagination(found.total()), is_in_language: translator.is_any() })
    }

    /// Returns a product as a response body with its text in the given language, and whether any
    /// text is in that language; `None` if the id is unknown.
    pub async fn get_software(&self, id: &str, language: Option<&Language>) -> Result<Option<(Record, bool)>, Error> {
        let Some(source) = self.source(id).await? else { return Ok(None) };
        let (view, language) = (Arc::clone(&self.view), language.cloned());
        let read = move || {
            let mut product = product(&source)?;
            let own = product.to_body()?;
            let detail_hash = hash(&own);
            let mut translator = Translator::new(&view.catalogue, language.as_ref());
            translator.detail(&mut product);
            let body = if language.is_some() { product.to_body()? } else { own };
            Ok::<_, Error>((Record { detail_hash, body: body.into() }, translator.is_any()))
        };
        blocking(read).await?.map(Some)
    }

    /// A product's source, as of the last refresh.
    async fn source(&self, id: &str) -> Result<Option<Box<RawValue>>, Error> {
        let (index, key) = (self.index.prefix.alias(Part::Products), key(id));
        let target =
            format!("/{index}/_doc/{}?realtime=false&preference=_local", utf8_percent_encode(&key, NON_ALPHANUMERIC));
        match self.index.connection.send(Call::get(target)).await {
            Ok(answer) => {
                let got: Got<Box<RawValue>> = answer.json().await?;
                Ok(Some(got.source))
            }
            Err(error) if error.kind == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Suggests up to `limit` products, and up to as many categories and glossary terms each.
    /// Products whose names match come first, then those that have all the words.
    pub async fn suggest(&self, q: &str, limit: u32, language: Option<&Language>) -> Result<Suggestions<'_>, Error> {
        let View { catalogue, categories, glossary, .. } = &*self.view;
        let headings =
            service::suggest_headings(catalogue, categories, glossary, q, limit as usize, (language, &Stop::default()));
        let Some(names) = names(q) else { return Ok(headings) };
        let text = TextQuery::new(q, Prefix::Always, &self.view);
        let by_name = json!({"constant_score": {"filter": names.clone(), "boost": 1e6}});
        let query = json!({"bool": {"should": [by_name, names, text.strict()], "minimum_should_match": 1}});
        let page = PageRequest { limit, offset: 0 };
        let found: Found<ListedProduct> = self.send_page(json!({"query": query}), &Order::relevance(), page).await?;
        let mut translator = Translator::new(catalogue, language);
        let mut is_in_language = headings.is_in_language;
        let software = found.sources().map(|product| {
            let item = product.translated(&mut translator)?;
            let item: SoftwareItem<'_> = serde_json::from_slice(&item)?;
            is_in_language |= language.is_some() && item.is_translated("name");
            Ok::<_, Error>(SoftwareRef::from(item))
        });
        let software = software.collect::<Result<_, _>>()?;
        Ok(Suggestions { software, is_in_language, ..headings })
    }

    /// Lists products that share a product's categories, tags or words, most similar first. Returns
    /// `None` if the id is unknown.
    pub async fn similar_software(&self, id: &str, query: &ListSimilar) -> Result<Option<SimilarPage<'_>>, Error> {
        let catalogue = &self.view.catalogue;
        let Some(source) = self.source(id).await? else { return Ok(None) };
        let own = blocking(move || ListedProduct::try_from(source)).await??.categories;
        let document = [json!({"_index": self.index.prefix.alias(Part::Products), "_id": key(id)})];
        let filter = SoftwareFilter { except_id: Some(id.to_owned()), ..query.filter.clone() };
        let filter = FilterQuery::new(&filter, catalogue).but_for(None);
        let any = [
            like(&document, &["categories.id", "tags.keyword"]),
            like(&document, &["name", "tagline", "features", "description"]),
        ];
        let body = json!({"query": {"bool": {"should": any, "minimum_should_match": 1, "filter": filter}}});
        let found: Found<ListedProduct> = self.send_page(body, &Order::relevance(), query.page).await?;
        let mut translator = Translator::new(catalogue, query.language.as_ref());
        let data = found.hits.hits.iter().filter_map(|hit| Some((hit.score, hit.source.as_ref()?)));
        let data = data.map(|(score, product)| {
            let shared = own.iter().filter(|id| product.categories.contains(id));
            Ok::<_, Error>(SimilarHit {
                item: product.translated(&mut translator)?,
                score: scaled(score.unwrap_or_default()),
                categories: shared.filter_map(|id| catalogue.category_by_id(id)).collect(),
                words: Vec::new(),
            })
        });
        let data = data.collect::<Result<_, _>>()?;
        let pagination = query.page.pagination(found.total());
        Ok(Some(SimilarPage { data, pagination, is_in_language: translator.is_any() }))
    }

    /// Lists a product's reviews; `None` if the product is unknown. The summary covers all of the
    /// product's reviews.
    pub async fn list_reviews(&self, software_id: &str, query: &ListReviews) -> Result<Option<ReviewsPage>, Error> {
        if query.page.offset > MAX_QUERY_OFFSET {
            return Err(Error::OffsetTooLarge);
        }
        let mut filter = Vec::new();
        if let Some(least) = query.filter.min_rating {
            filter.push(json!({"range": {"review.rating": {"gte": least}}}));
        }
        if let Some(most) = query.filter.max_rating {
            filter.push(json!({"range": {"review.rating": {"lte": most}}}));
        }
        if let Some(verified) = query.filter.verified {
            filter.push(json!({"term": {"review.verified": verified}}));
        }
        let by_date = |order: &str| json!({"review.created_at_seconds": {"order": order, "missing": "_last"}});
        let stars = |order: &str| json!({"review.rating": order});
        let mut sort = match query.sort {
            ReviewSort::Newest => vec![by_date("desc")],
            ReviewSort::Oldest => vec![by_date("asc")],
            ReviewSort::Best => vec![stars("desc"), by_date("desc")],
            ReviewSort::Worst => vec![stars("asc"), by_date("desc")],
        };
        sort.push(json!({"key": "asc"}));
        let of_product =
            [json!({"term": {"kind": kind::REVIEW}}), json!({"term": {"review.software": key(software_id)}})];
        let body = json!({
            "query": {"bool": {"filter": of_product}}, "post_filter": {"bool": {"filter": filter}},
            "aggs": {"all": {"filter": {"match_all": {}}, "aggs": {"values": {"terms": {"field": "review.rating"}}}}},
            "from": query.page.offset, "size": query.page.limit, "sort": sort, "track_total_hits": true,
        });
        let found: Found<DirectoryDocument> = self.send(Part::Directory, &body).await?;
        let buckets = found.buckets("all");
        // Only a product without reviews may be unknown.
        if buckets.is_empty() && self.source(software_id).await?.is_none() {
            return Ok(None);
        }
        let mut stars = [0; STARS];
        for bucket in buckets {
            let at = bucket.key.as_u64().and_then(|stars| usize::try_from(stars).ok()?.checked_sub(1));
            if let Some(count) = at.and_then(|at| stars.get_mut(at)) {
                *count = bucket.doc_count;
            }
        }
        let data = found.sources().map(|document| Bytes::copy_from_slice(document.data.get().as_bytes()));
        let page =
            Page { data: data.collect(), pagination: query.page.pagination(found.total()), is_in_language: false };
        Ok(Some(ReviewsPage { page, summary: ReviewSummary::of(stars) }))
    }

    /// Finds a filter value that's a comma-separated list of categories, which isn't how several are
    /// passed. Returns the parameter and the value.
    pub fn comma_separated<'f>(&self, filter: &'f SoftwareFilter) -> Option<(&'f str, &'f str)> {
        let catalogue = &self.view.catalogue;
        let is_known = |name: &str| !catalogue.categories_named(name).is_empty();
        let is_list = |value: &&String| {
            value.contains(',') && !is_known(value) && value.split(',').all(|part| is_known(part.trim()))
        };
        filter.categories.iter().find(is_list).map(|value| ("category", &**value))
    }

    /// Lists the products added, changed or removed since a generation. Returns `None` if that
    /// generation isn't in the log, or is no longer there.
    pub fn list_changes(&self, since: Option<&str>, page: PageRequest, stop: &Stop) -> Option<ChangesPage> {
        list_changes_to(self.view.generation(), &self.view.changes, &self.view.merged_changes, since, page, stop)
    }
}

/// The product in its document.
fn product(source: &RawValue) -> Result<SoftwareDetail<'_>, serde_json::Error> {
    let source = source.get().as_bytes();
    SoftwareDetail::read(source, source)
}

/// A product in a response from the cluster.
#[derive(Debug, Deserialize)]
#[serde(try_from = "Box<RawValue>")]
pub(super) struct ListedProduct {
    /// What lists show of it, as JSON.
    item: Bytes,
    translations: Translations,
    /// The ids of all its categories.
    categories: Vec<String>,
}

impl TryFrom<Box<RawValue>> for ListedProduct {
    type Error = serde_json::Error;

    fn try_from(source: Box<RawValue>) -> Result<Self, Self::Error> {
        let SoftwareDetail { mut item, detail } = product(&source)?;
        let categories = item.categories.iter().map(|category| category.id.to_string()).collect();
        shorten(&mut item);
        let translations = detail.translations.into_owned();
        Ok(Self { item: serde_json::to_vec(&item)?.into(), translations, categories })
    }
}

impl ListedProduct {
    /// The product as lists show it, in the translator's language.
    pub(super) fn translated(&self, translator: &mut Translator<'_>) -> Result<Bytes, Error> {
        Ok(translator.item_of(self.item.clone(), &self.translations)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::LIST_CATEGORIES;

    #[test]
    fn a_listed_product_is_shortened_but_has_all_its_categories() {
        let categories = (0..12).map(|n| json!({"id": n.to_string(), "name": n.to_string()})).collect::<Vec<_>>();
        let none: [&str; 0] = [];
        let product = json!({
            "id": "a", "name": "n".repeat(600), "tagline": null, "category": "0", "categories": categories, "rating": 4.5,
            "review_count": null, "website": "https://a.example", "vendor": null, "offering_type": "software",
            "evidence_status": "pending-review", "evidence_checked_on": null, "description": "d", "aliases": none,
            "tags": none, "features": none, "standards": none, "alternative_to": none, "deployment": none,
            "pricing": null, "languages": none, "sources": none, "rating_source": null, "additional_properties": {},
            "export": {"id": "e", "name": "E", "license": "https://a.example", "as_of": null}, "same_as": none,
            "directory": {"key": "a"},
        });
        let listed: ListedProduct = serde_json::from_str(&product.to_string()).expect("a product");
        assert_eq!(listed.categories.len(), 12);
        let item: Value = serde_json::from_slice(&listed.item).expect("JSON");
        assert_eq!(item["categories"].as_array().map(Vec::len), Some(LIST_CATEGORIES));
        assert!(item["name"].as_str().is_some_and(|name| name.ends_with('…') && name.chars().count() <= 501));
        assert_eq!((&item["rating"], item.get("description")), (&json!(4.5), None));
    }
}
