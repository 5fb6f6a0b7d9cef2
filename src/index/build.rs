//! Builds an index: one segment, with documents in the order they're added.
//!
//! tantivy's writer gets a term's frequency by counting tokens, so a packed frequency of up to 256
//! would take that many tokens. So instead, [`Postings`] are collected here and written by
//! tantivy's serializer. The writer only creates a segment of empty documents.

use std::collections::BTreeMap;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use tantivy::directory::error::{DeleteError, OpenReadError, OpenWriteError};
use tantivy::directory::{
    AntiCallToken, Directory, FileHandle, RamDirectory, TerminatingWrite, WatchCallback, WatchHandle, WritePtr,
};
use tantivy::indexer::SingleSegmentIndexWriter;
use tantivy::postings::InvertedIndexSerializer;
use tantivy::schema::{Field, IndexRecordOption, Schema, TextFieldIndexing, TextOptions};
use tantivy::{TantivyDocument, TantivyError};

use super::postings::{Documents, Postings};
use super::{FIELD, IndexError, META};
use crate::scratch::{Bulk, BulkWriter, Scratch};

/// Memory for tantivy's writer, in bytes. A little is enough for empty documents.
const MEMORY_BUDGET: usize = 16 * 1024 * 1024;

#[derive(Debug, thiserror::Error)]
pub enum IndexBuildError {
    #[error(transparent)]
    Index(#[from] IndexError),
    #[error("a scratch file can't be used")]
    Scratch(#[source] io::Error),
}

pub struct IndexBuilder {
    documents: u32,
    postings: Postings,
    field: Field,
    schema: Schema,
    scratch: Scratch,
}

/// The schema shared by all indices, and its field.
pub(super) fn schema() -> (Schema, Field) {
    let mut schema = Schema::builder();
    let indexing = TextFieldIndexing::default().set_index_option(IndexRecordOption::WithFreqs).set_fieldnorms(false);
    let field = schema.add_text_field(FIELD, TextOptions::default().set_indexing_options(indexing));
    (schema.build(), field)
}

impl IndexBuilder {
    pub fn new(scratch: &Scratch) -> Self {
        let ((schema, field), postings) = (schema(), Postings::new(scratch));
        Self { documents: 0, postings, field, schema, scratch: scratch.clone() }
    }

    pub fn add(&mut self, documents: &Documents) -> Result<(), IndexBuildError> {
        let first = self.documents;
        let count = u32::try_from(documents.len()).ok().and_then(|count| first.checked_add(count));
        self.documents = count.ok_or_else(|| IndexError::index("written")("too many documents"))?;
        let postings = &mut self.postings;
        documents.for_each(|document, term, frequency| postings.push(term, first + document, frequency));
        postings.keep_budget().map_err(IndexBuildError::Scratch)
    }

    /// Completes the index and returns its files, each as a name and content.
    pub fn finish(self) -> Result<Vec<(String, Bulk)>, IndexBuildError> {
        self.write().map_err(|error| match error {
            // `WouldBlock` means that tantivy couldn't start a thread, which isn't the disk's
            // fault.
            TantivyError::IoError(error) if error.kind() != io::ErrorKind::WouldBlock => {
                IndexBuildError::Scratch(io::Error::new(error.kind(), error))
            }
            error => IndexError::index("written")(error).into(),
        })
    }

    fn write(self) -> tantivy::Result<Vec<(String, Bulk)>> {
        let memory = RamDirectory::create();
        self.write_segment_without_words(&memory)?;
        let directory = ScratchDirectory::new(memory, &self.scratch);
        let index = tantivy::Index::open(directory.clone())?;
        let segments = index.searchable_segments()?;
        let [segment] = &segments[..] else { return Err(TantivyError::SystemError("not one segment".to_owned())) };
        // Replaces the segment's postings.
        let mut serializer = InvertedIndexSerializer::open(segment)?;
        let mut field = serializer.new_field(self.field, 0, None)?;
        self.postings.write(&mut field)?;
        field.close()?;
        serializer.close()?;
        let mut names: Vec<_> = index.load_metas()?.list_segment_files().into_iter().collect();
        names.push(Path::new(META).to_owned());
        names.sort();
        let mut files = Vec::new();
        for name in names {
            let content = match directory.take(&name) {
                Some(content) => content,
                None if directory.exists(&name)? => {
                    Bulk::Memory(Bytes::from_owner(directory.open_read(&name)?.read_bytes()?))
                }
                None => continue,
            };
            files.push((name.to_string_lossy().into_owned(), content));
        }
        Ok(files)
    }

    fn write_segment_without_words(&self, directory: &RamDirectory) -> tantivy::Result<()> {
        let builder = tantivy::Index::builder().schema(self.schema.clone());
        let mut writer: SingleSegmentIndexWriter =
            builder.single_segment_index_writer(directory.clone(), MEMORY_BUDGET)?;
        for _ in 0..self.documents {
            writer.add_document(TantivyDocument::default())?;
        }
        writer.finalize().map(drop)
    }
}

/// A directory that stores new files as scratch bytes, which can then be [taken](Self::take). Files
/// that were already in memory can be read.
#[derive(Debug, Clone)]
pub(super) struct ScratchDirectory {
    memory: RamDirectory,
    scratch: Scratch,
    written: Arc<Mutex<BTreeMap<PathBuf, Bulk>>>,
}

impl ScratchDirectory {
    pub(super) fn new(memory: RamDirectory, scratch: &Scratch) -> Self {
        Self { memory, scratch: scratch.clone(), written: Arc::default() }
    }

    /// Removes a file that was written here, and returns it.
    pub(super) fn take(&self, path: &Path) -> Option<Bulk> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner).remove(path)
    }
}

impl Directory for ScratchDirectory {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        self.memory.get_file_handle(path)
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        self.memory.delete(path)
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        self.memory.exists(path)
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        let file = ScratchFile { directory: self.clone(), path: path.to_owned(), content: Some(self.scratch.bulk()) };
        Ok(BufWriter::new(Box::new(file)))
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        self.memory.atomic_read(path)
    }

    fn atomic_write(&self, path: &Path, data: &[u8]) -> io::Result<()> {
        self.memory.atomic_write(path, data)
    }

    fn sync_directory(&self) -> io::Result<()> {
        self.memory.sync_directory()
    }

    fn watch(&self, callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        self.memory.watch(callback)
    }
}

struct ScratchFile {
    directory: ScratchDirectory,
    path: PathBuf,
    /// `None` once it's closed.
    content: Option<BulkWriter>,
}

impl Write for ScratchFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.content.as_mut().ok_or(io::ErrorKind::BrokenPipe)?.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl TerminatingWrite for ScratchFile {
    fn terminate_ref(&mut self, _: AntiCallToken) -> io::Result<()> {
        let content = self.content.take().ok_or(io::ErrorKind::BrokenPipe)?.finish()?;
        let mut written = self.directory.written.lock().unwrap_or_else(PoisonError::into_inner);
        written.insert(std::mem::take(&mut self.path), content);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tantivy::DocId;
    use tantivy::tokenizer::{PreTokenizedString, Token};

    use super::*;
    use crate::record::Field as Part;
    use crate::search::Term;
    use crate::search::meaning::{record_reference, record_topics};
    use crate::search::score::Occurrences;
    use crate::text::meaning::Reference;

    /// A document's terms and its meaning.
    type Document = (Vec<(Term, Occurrences)>, Option<Reference>);

    fn meaning(text: &str) -> Option<Reference> {
        record_reference(std::iter::once(text))
    }

    /// Terms of various kinds, ranging from rare ones to ones in every document, with small and
    /// large frequencies.
    fn document(number: u32) -> Document {
        let mut terms = vec![(Term::Name(format!("name {number}").into()), Occurrences::one(Part::Name))];
        let letter = if number.is_multiple_of(3) { "z" } else { "é" };
        terms.push((Term::Prefix(letter.into()), Occurrences::one(Part::Tagline)));
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
        let text = if number.is_multiple_of(5) { "a ledger for accounting" } else { "an album for photos" };
        (terms, meaning(text).filter(|_| number != 3))
    }

    /// Builds the same index with tantivy's own writer, which receives a term once per occurrence.
    fn by_tantivy(builder: &IndexBuilder, documents: u32) -> tantivy::Index {
        let index = tantivy::Index::builder().schema(builder.schema.clone());
        let mut writer: SingleSegmentIndexWriter =
            index.single_segment_index_writer(RamDirectory::create(), MEMORY_BUDGET).expect("an index");
        for number in 0..documents {
            let (terms, meaning) = document(number);
            let topics = meaning.iter().flat_map(record_topics).map(|(topic, of)| (Term::Topic(topic), of));
            let tokens = terms.into_iter().chain(topics).flat_map(|(term, occurrences)| {
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

    fn lists(index: &tantivy::Index, field: Field) -> Lists {
        use tantivy::postings::Postings as _;
        use tantivy::{DocSet as _, TERMINATED};
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

    /// A document's terms, with numbers for the prefixes. In these tests, prefixes are single
    /// letters.
    fn numbered(terms: &[(Term, Occurrences)]) -> impl Iterator<Item = (Option<u32>, &Term, Occurrences)> {
        let number = |term: &Term| match term {
            Term::Prefix(text) => text.chars().next().map(u32::from),
            _ => None,
        };
        terms.iter().map(move |(term, occurrences)| (number(term), term, *occurrences))
    }

    /// The files of an index whose documents are added a few at a time.
    fn files(documents: &[Document], at_once: usize, scratch: &Scratch) -> Vec<(String, Bytes)> {
        let mut builder = IndexBuilder::new(scratch);
        for documents in documents.chunks(at_once) {
            let mut batch = Documents::default();
            for (terms, meaning) in documents {
                batch.push(numbered(terms), meaning.clone());
            }
            builder.add(&batch).expect("written");
        }
        let files = builder.finish().expect("an index").into_iter();
        files.map(|(name, content)| (name, content.read_all().expect("read"))).collect()
    }

    #[test]
    fn our_postings_are_the_same_as_tantivys() {
        let count = 700;
        let documents: Vec<_> = (0..count).map(document).collect();
        let builder = IndexBuilder::new(&Scratch::in_memory());
        let (expected, field) = (lists(&by_tantivy(&builder, count), builder.field), builder.field);
        let folder = tempfile::tempdir().expect("a folder");
        for scratch in [Scratch::in_memory(), Scratch::with_own_bytes(folder.path(), 1)] {
            let directory = RamDirectory::create();
            for (name, content) in files(&documents, 90, &scratch) {
                directory.atomic_write(Path::new(&name), &content).expect("written");
            }
            let made = lists(&tantivy::Index::open(directory).expect("it opens"), field);
            assert!(made == expected, "{} terms instead of {}", made.len(), expected.len());
            assert!(made.len() > 700 && made.iter().any(|(_, list)| list.len() == 700));
        }
    }

    fn any_term() -> impl Strategy<Value = Term> {
        prop_oneof![
            (0_u32..300).prop_map(Term::Word),
            (0_u32..3).prop_map(Term::Concept),
            "[a-cwé]".prop_map(|text| Term::Prefix(text.into())),
            "[a-cwé]{0,9}".prop_map(|text| Term::Name(text.into())),
        ]
    }

    const PARTS: [Part; 3] = [Part::Name, Part::Tagline, Part::Description];

    /// Some documents with their words in random order.
    fn any_documents() -> impl Strategy<Value = Vec<Document>> {
        let terms = proptest::collection::hash_map(any_term(), proptest::sample::select(&PARTS), 0..20);
        let terms =
            terms.prop_map(|terms| terms.into_iter().map(|(term, part)| (term, Occurrences::one(part))).collect());
        let meaning =
            proptest::sample::select(&["", "an album for photos", "a ledger for accounting"]).prop_map(meaning);
        proptest::collection::vec((terms, meaning), 0..60)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn runs_produce_the_same_files_as_memory(documents in any_documents(), at_once in 1_usize..20) {
            let contents = |scratch| {
                let files = files(&documents, at_once, &scratch).into_iter();
                // The meta file contains the segment's random name.
                files.filter(|(name, _)| name != META).map(|(_, content)| content).collect::<Vec<_>>()
            };
            let folder = tempfile::tempdir().expect("a folder");
            let on_disk = contents(Scratch::with_own_bytes(folder.path(), 1));
            prop_assert!(contents(Scratch::in_memory()) == on_disk);
            prop_assert_eq!(std::fs::read_dir(folder.path()).expect("listed").count(), 0);
        }
    }

    #[test]
    fn failing_to_write_a_run_is_a_scratch_file_error() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut builder = IndexBuilder::new(&Scratch::with_own_bytes(&folder.path().join("file/folder"), 1));
        std::fs::write(folder.path().join("file"), "").expect("written");
        let mut batch = Documents::default();
        batch.push(numbered(&document(1).0), None);
        let error = builder.add(&batch).expect_err("a folder in a file");
        assert!(matches!(error, IndexBuildError::Scratch(error) if error.kind() == io::ErrorKind::NotADirectory));
    }

    #[test]
    fn an_index_without_documents_works() {
        assert!(!files(&[], 1, &Scratch::in_memory()).is_empty());
    }
}
