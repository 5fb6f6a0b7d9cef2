//! tantivy as its documentation shows it: three text fields, all words required, the top ten with
//! their stored documents, and the exact count. It has none of the service's features: no typo
//! tolerance, prefixes, synonyms, tiers, facets, keys or entity tags.

use std::sync::Arc;

use axum::Router;
use axum::extract::{RawQuery, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderName, StatusCode};
use axum::routing::get;
use serde_json::json;
use software_directory::record::Software;
use tantivy::collector::{Count, TopDocs};
use tantivy::directory::RamDirectory;
use tantivy::indexer::SingleSegmentIndexWriter;
use tantivy::query::QueryParser;
use tantivy::schema::{Field, STORED, STRING, Schema, TEXT, Value as _};
use tantivy::{Index, Searcher, TantivyDocument};

use crate::corpus::{self, Failure};

/// How much memory writing the index may use, in bytes.
const MEMORY_BUDGET: usize = 256 * 1024 * 1024;

struct Engine {
    searcher: Searcher,
    parser: QueryParser,
    fields: Fields,
}

#[derive(Clone, Copy)]
struct Fields {
    id: Field,
    name: Field,
    tagline: Field,
    description: Field,
}

/// `GET /search?q=…` on the whole corpus, in one in-memory segment.
pub(crate) fn router() -> Result<Router, Failure> {
    let exports = corpus::read(&corpus::path()?)?;
    let mut schema = Schema::builder();
    let fields = Fields {
        id: schema.add_text_field("id", STRING | STORED),
        name: schema.add_text_field("name", TEXT | STORED),
        tagline: schema.add_text_field("tagline", TEXT | STORED),
        description: schema.add_text_field("description", TEXT | STORED),
    };
    let index = Index::builder().schema(schema.build());
    let mut writer = index.single_segment_index_writer(RamDirectory::create(), MEMORY_BUDGET)?;
    for software in exports.iter().flat_map(|export| &export.software) {
        add(&mut writer, fields, software)?;
    }
    let index: Index = writer.finalize()?;
    let parser = {
        let mut parser = QueryParser::for_index(&index, vec![fields.name, fields.tagline, fields.description]);
        parser.set_conjunction_by_default();
        parser
    };
    let engine = Engine { searcher: index.reader()?.searcher(), parser, fields };
    Ok(Router::new().route("/search", get(search)).with_state(Arc::new(engine)))
}

fn add(writer: &mut SingleSegmentIndexWriter, fields: Fields, software: &Software) -> Result<(), Failure> {
    let mut document = TantivyDocument::default();
    document.add_text(fields.id, &*software.id);
    document.add_text(fields.name, &*software.name);
    document.add_text(fields.tagline, software.tagline.as_deref().unwrap_or_default());
    document.add_text(fields.description, software.description.as_deref().unwrap_or_default());
    Ok(writer.add_document(document)?)
}

type Answer = Result<([(HeaderName, &'static str); 1], Vec<u8>), (StatusCode, String)>;

async fn search(State(engine): State<Arc<Engine>>, RawQuery(query): RawQuery) -> Answer {
    let query = query.unwrap_or_default();
    let q = form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == "q").map(|(_, q)| q).unwrap_or_default();
    let answer = engine.answer(&q).map_err(|failure| (StatusCode::BAD_REQUEST, failure.to_string()))?;
    Ok(([(CONTENT_TYPE, "application/json")], answer))
}

impl Engine {
    fn answer(&self, q: &str) -> Result<Vec<u8>, Failure> {
        let query = self.parser.parse_query(q)?;
        let (best, total) = self.searcher.search(&query, &(TopDocs::with_limit(10).order_by_score(), Count))?;
        let mut data = Vec::with_capacity(best.len());
        for (score, address) in best {
            let document: TantivyDocument = self.searcher.doc(address)?;
            let text = |field| document.get_first(field).and_then(|value| value.as_str()).unwrap_or_default();
            let Fields { id, name, tagline, description } = self.fields;
            data.push(json!({
                "id": text(id), "name": text(name), "tagline": text(tagline), "description": text(description),
                "score": score,
            }));
        }
        Ok(serde_json::to_vec(&json!({ "data": data, "total": total }))?)
    }
}
