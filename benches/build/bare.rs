//! How long tantivy alone takes to index the same terms in the same schema. The documents are
//! prepared beforehand, and tantivy's own writer builds a single in-memory segment.

use software_directory::search::DocumentAnalyzer;
use tantivy::directory::RamDirectory;
use tantivy::indexer::SingleSegmentIndexWriter;
use tantivy::schema::{IndexRecordOption, Schema, TextFieldIndexing, TextOptions};
use tantivy::tokenizer::{TextAnalyzer, TokenizerManager};
use tantivy::{Index, TantivyDocument};

use crate::corpus::Failure;
use crate::terms::{self, Frequencies};
use software_directory::catalogue::Merged;

/// The memory budget for writing the segment, in bytes.
const MEMORY_BUDGET: usize = 256 * 1024 * 1024;

/// How many times a document contains each of its terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Repeat {
    /// As many times as its packed frequency says, which produces the same postings as our build.
    Code,
    /// Once, which is the minimum.
    Once,
}

/// Encodes each document as text that contains its terms.
pub(crate) fn prepare(merged: &Merged, repeat: Repeat) -> Vec<String> {
    let mut analyzer = DocumentAnalyzer::new(merged.synonyms(), merged.pins(), &merged.attributes);
    let mut term = String::new();
    let texts = merged.products().flatten().map(|product| {
        let mut text = String::new();
        analyzer.analyse(&product.software, merged.language(&product), merged.categories(&product.row.categories));
        for (of, occurrences) in analyzer.terms() {
            term.clear();
            of.write(&mut term);
            terms::write(&mut text, &term, if repeat == Repeat::Code { occurrences.packed() } else { 1 });
        }
        text
    });
    texts.collect()
}

/// Indexes the prepared documents.
pub(crate) fn index(texts: &[String]) -> Result<Index, Failure> {
    let mut schema = Schema::builder();
    let indexing = TextFieldIndexing::default()
        .set_tokenizer("frequencies")
        .set_index_option(IndexRecordOption::WithFreqs)
        .set_fieldnorms(false);
    let field = schema.add_text_field("terms", TextOptions::default().set_indexing_options(indexing));
    let tokenizers = TokenizerManager::new();
    tokenizers.register("frequencies", TextAnalyzer::from(Frequencies));
    let builder = Index::builder().schema(schema.build()).tokenizers(tokenizers);
    let mut writer: SingleSegmentIndexWriter =
        builder.single_segment_index_writer(RamDirectory::create(), MEMORY_BUDGET)?;
    for text in texts {
        let mut document = TantivyDocument::default();
        document.add_text(field, text);
        writer.add_document(document)?;
    }
    Ok(writer.finalize()?)
}
