//! Builds an index in memory: one segment, with documents in the order they're added.
//!
//! tantivy's writer gets a term's frequency by counting tokens, so a packed frequency of up to 256
//! would take that many tokens. Instead, postings are collected here in the structures that tantivy
//! uses (an arena of linked lists) and written by its serializer; its writer only creates a segment
//! of empty documents.

use std::path::Path;

use ::tantivy::directory::{Directory as _, RamDirectory};
use ::tantivy::index::{Index, Segment, SegmentComponent};
use ::tantivy::indexer::SingleSegmentIndexWriter;
use ::tantivy::postings::{FieldSerializer, InvertedIndexSerializer};
use ::tantivy::schema::{Field, IndexRecordOption, Schema, TextFieldIndexing, TextOptions};
use ::tantivy::{TantivyDocument, TantivyError};
use bytes::Bytes;
use tantivy_stacker::{Addr, ExpUnrolledLinkedList, MemoryArena, SharedArenaHashMap};

use super::documents::{DocumentTerm, Documents};
use super::{FIELD, META};
use crate::engine::{EngineError, EngineFiles};
use crate::search::Term;

/// Memory for tantivy's writer in bytes; its documents are empty.
const MEMORY_BUDGET: usize = 16 * 1024 * 1024;

pub struct TantivyBuilder {
    documents: u32,
    postings: Postings,
    field: Field,
    schema: Schema,
}

#[derive(Default)]
struct Postings {
    /// Each stem's list, by stem number. Most postings belong to words.
    words: Vec<List>,
    /// Maps other terms to their place in `names`, where a name is followed by its list.
    terms: SharedArenaHashMap,
    names: MemoryArena,
    lists: MemoryArena,
}

/// A term's postings: alternating document gaps and frequencies.
#[derive(Debug, Clone, Copy, Default)]
struct List {
    numbers: ExpUnrolledLinkedList,
    documents: u32,
    last: u32,
}

struct NamedList {
    /// The name's first bytes. Most terms differ in them, and comparing integers doesn't access
    /// other memory.
    start: u64,
    list: Addr,
    /// Of the name.
    length: u32,
}

impl std::fmt::Debug for TantivyBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TantivyBuilder").field("documents", &self.documents).finish_non_exhaustive()
    }
}

/// The schema of every index, and its field.
pub(super) fn schema() -> (Schema, Field) {
    let mut schema = Schema::builder();
    let indexing = TextFieldIndexing::default().set_index_option(IndexRecordOption::WithFreqs).set_fieldnorms(false);
    let field = schema.add_text_field(FIELD, TextOptions::default().set_indexing_options(indexing));
    (schema.build(), field)
}

impl TantivyBuilder {
    pub fn new() -> Result<Self, EngineError> {
        let (schema, field) = schema();
        Ok(Self { documents: 0, postings: Postings::default(), field, schema })
    }

    pub fn add(&mut self, documents: &Documents) -> Result<(), EngineError> {
        let first = self.documents;
        let count = u32::try_from(documents.len()).ok().and_then(|count| first.checked_add(count));
        self.documents = count.ok_or_else(|| EngineError::index("written")("too many documents"))?;
        let postings = &mut self.postings;
        documents.for_each(|document, term, frequency| postings.push(term, first + document, frequency));
        Ok(())
    }

    /// Completes the index and returns its files.
    pub fn finish(self) -> Result<EngineFiles, EngineError> {
        let directory = RamDirectory::create();
        let index = self.segment_without_words(&directory).map_err(EngineError::index("written"))?;
        let segments = index.searchable_segments().map_err(EngineError::index("written"))?;
        let [segment] = &segments[..] else { return Err(EngineError::index("written")("not one segment")) };
        Self::write_postings(self.field, self.postings, &directory, segment).map_err(EngineError::index("written"))?;
        let metas = index.load_metas().map_err(EngineError::index("read"))?;
        let mut names: Vec<_> = metas.list_segment_files().into_iter().collect();
        names.push(Path::new(META).to_owned());
        names.sort();
        let mut files = EngineFiles::new();
        for name in names {
            if directory.exists(&name).map_err(EngineError::index("read"))? {
                let file = directory.open_read(&name).map_err(EngineError::index("read"))?;
                let content = file.read_bytes().map_err(EngineError::index("read"))?;
                directory.delete(&name).map_err(EngineError::index("read"))?;
                files.push((name.to_string_lossy().into_owned(), Bytes::from_owner(content)));
            }
        }
        Ok(files)
    }

    fn segment_without_words(&self, directory: &RamDirectory) -> ::tantivy::Result<Index> {
        let builder = Index::builder().schema(self.schema.clone());
        let mut writer: SingleSegmentIndexWriter =
            builder.single_segment_index_writer(directory.clone(), MEMORY_BUDGET)?;
        for _ in 0..self.documents {
            writer.add_document(TantivyDocument::default())?;
        }
        writer.finalize()
    }

    /// Replaces the segment's postings.
    fn write_postings(
        field: Field,
        postings: Postings,
        directory: &RamDirectory,
        segment: &Segment,
    ) -> ::tantivy::Result<()> {
        for component in [SegmentComponent::Terms, SegmentComponent::Postings, SegmentComponent::Positions] {
            directory
                .delete(&segment.relative_path(component))
                .map_err(|error| TantivyError::SystemError(error.to_string()))?;
        }
        let mut serializer = InvertedIndexSerializer::open(segment)?;
        let mut field = serializer.new_field(field, 0, None)?;
        postings.write(&mut field)?;
        field.close()?;
        Ok(serializer.close()?)
    }
}

impl Postings {
    /// Adds a posting. Documents must come in ascending order, each once per term.
    fn push(&mut self, term: DocumentTerm<'_>, document: u32, frequency: u32) {
        let lists = &mut self.lists;
        match term {
            DocumentTerm::Word(stem) => {
                let stem = stem as usize;
                if self.words.len() <= stem {
                    self.words.resize(stem + 1, List::default());
                }
                self.words[stem].push(document, frequency, lists);
            }
            DocumentTerm::Name(name) => {
                self.terms.mutate_or_create(name.as_bytes(), &mut self.names, |list: Option<List>| {
                    let mut list = list.unwrap_or_default();
                    list.push(document, frequency, lists);
                    list
                });
            }
        }
    }

    fn write(mut self, field: &mut FieldSerializer<'_>) -> std::io::Result<()> {
        let mut name = String::new();
        for (stem, list) in (0..).zip(&self.words).filter(|(_, list)| list.documents > 0) {
            name.clear();
            Term::Word(stem).write(&mut name);
            self.terms.mutate_or_create(name.as_bytes(), &mut self.names, |_| *list);
        }
        let Self { terms, names, lists, .. } = self;
        let mut sorted: Vec<NamedList> = Vec::with_capacity(terms.len());
        sorted.extend(terms.iter(&names).map(|(name, list)| NamedList::new(name, list)));
        // Frees memory for the files, which come next.
        drop(terms);
        sorted.sort_unstable_by(|a, b| a.start.cmp(&b.start).then_with(|| a.name(&names).cmp(b.name(&names))));
        let mut bytes = Vec::new();
        for named in sorted {
            let list: List = names.read(named.list);
            bytes.clear();
            list.numbers.read_to_end(&lists, &mut bytes);
            field.new_term(named.name(&names), list.documents, true)?;
            let mut numbers = Numbers(bytes.iter());
            let mut document = 0;
            while let (Some(distance), Some(frequency)) = (numbers.next(), numbers.next()) {
                document += distance;
                field.write_doc(document, frequency, &[]);
            }
            field.close_term()?;
        }
        Ok(())
    }
}

impl NamedList {
    fn new(name: &[u8], list: Addr) -> Self {
        let mut start = [0; 8];
        start.iter_mut().zip(name).for_each(|(to, from)| *to = *from);
        Self { start: u64::from_be_bytes(start), list, length: u32::try_from(name.len()).unwrap_or(u32::MAX) }
    }

    /// The name, which precedes the list.
    fn name<'n>(&self, names: &'n MemoryArena) -> &'n [u8] {
        names.slice(self.list.offset(self.length.wrapping_neg()), self.length as usize)
    }
}

impl List {
    fn push(&mut self, document: u32, frequency: u32, lists: &mut MemoryArena) {
        let mut writer = self.numbers.writer(lists);
        writer.write_u32_vint(document - self.last);
        writer.write_u32_vint(frequency);
        self.last = document;
        self.documents += 1;
    }
}

/// Decodes what `write_u32_vint` writes: seven bits per byte, lowest first, the last byte marked.
struct Numbers<'b>(std::slice::Iter<'b, u8>);

impl Iterator for Numbers<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        let (mut number, mut shift) = (0, 0);
        loop {
            let byte = *self.0.next()?;
            number |= u32::from(byte & 0x7f) << shift;
            if byte & 0x80 != 0 {
                return Some(number);
            }
            shift += 7;
        }
    }
}

#[cfg(test)]
mod tests {
    use ::tantivy::DocId;
    use ::tantivy::tokenizer::{PreTokenizedString, Token};

    use super::*;
    use crate::search::field::Field as Part;
    use crate::search::score::Occurrences;

    /// Various kinds of terms, both rare and in every document, with small and large frequencies.
    fn document(number: u32) -> Vec<(Term, Occurrences)> {
        let mut terms = vec![(Term::Name(format!("name {number}").into()), Occurrences::one(Part::Name))];
        for stem in (0..40).filter(|stem| number.is_multiple_of(stem + 1)) {
            let mut occurrences = Occurrences::default();
            for _ in 0..=(number + stem) % 7 {
                occurrences.add(Occurrences::one(Part::Description));
            }
            if stem % 3 == 0 {
                occurrences.add(Occurrences::one(Part::Tagline));
            }
            terms.push((Term::Word(stem), occurrences));
        }
        if number == 7 {
            terms.push((Term::Name("long ".repeat(20_000).into()), Occurrences::one(Part::Name)));
        }
        terms
    }

    /// Builds the same index with tantivy's own writer, which gets a term as often as it occurs.
    fn by_tantivy(builder: &TantivyBuilder, documents: u32) -> Index {
        let index = Index::builder().schema(builder.schema.clone());
        let mut writer: SingleSegmentIndexWriter =
            index.single_segment_index_writer(RamDirectory::create(), MEMORY_BUDGET).expect("an index");
        for number in 0..documents {
            let tokens = document(number).into_iter().flat_map(|(term, occurrences)| {
                let mut text = String::new();
                term.write(&mut text);
                vec![Token { text, position: 0, ..Token::default() }; occurrences.packed() as usize]
            });
            let text = PreTokenizedString { text: String::new(), tokens: tokens.collect() };
            let mut document = TantivyDocument::default();
            document.add_pre_tokenized_text(builder.field, text);
            writer.add_document(document).expect("a document");
        }
        writer.finalize().expect("written")
    }

    type Lists = Vec<(Vec<u8>, Vec<(DocId, u32)>)>;

    fn lists(index: &Index, field: Field) -> Lists {
        use ::tantivy::postings::Postings as _;
        use ::tantivy::{DocSet as _, TERMINATED};
        let searcher = index.reader().expect("a reader").searcher();
        let words = searcher.segment_reader(0).inverted_index(field).expect("words");
        let mut terms = words.terms().stream().expect("terms");
        let mut lists = Lists::new();
        while let Some((term, info)) = terms.next() {
            let mut list = Vec::new();
            let mut postings = words.read_postings_from_terminfo(info, IndexRecordOption::WithFreqs).expect("a list");
            while postings.doc() != TERMINATED {
                list.push((postings.doc(), postings.term_freq()));
                postings.advance();
            }
            assert_eq!(list.len(), info.doc_freq as usize);
            lists.push((term.to_vec(), list));
        }
        lists
    }

    #[test]
    fn the_postings_are_those_that_tantivy_makes() {
        let documents = 700;
        let (mut builder, mut batch) = (TantivyBuilder::new().expect("an index"), Documents::default());
        for number in 0..documents {
            batch.push(document(number).iter().map(|(term, occurrences)| (term, *occurrences)));
            if number.is_multiple_of(300) {
                builder.add(&std::mem::take(&mut batch)).expect("some documents");
            }
        }
        builder.add(&batch).expect("the others");
        let (expected, field) = (lists(&by_tantivy(&builder, documents), builder.field), builder.field);
        let directory = RamDirectory::create();
        for (name, content) in builder.finish().expect("an index") {
            directory.atomic_write(Path::new(&name), &content).expect("written");
        }
        let made = lists(&Index::open(directory).expect("it opens"), field);
        assert!(made == expected, "{} terms in place of {}", made.len(), expected.len());
        assert!(made.len() > 700 && made.iter().any(|(_, list)| list.len() == 700));
    }

    #[test]
    fn an_index_without_documents_is_one() {
        let builder = TantivyBuilder::new().expect("an index");
        assert!(!builder.finish().expect("an index").is_empty());
    }
}
