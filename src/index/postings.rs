//! Batches of documents' terms, whose postings are collected before they're written to the index. They're kept in memory up to
//! the build's budget, and in sorted runs beyond that.
//!
//! In memory, they're structured as in tantivy, in an arena of linked lists. A run has one row per
//! term, sorted by the term's name. The runs are merged as they're fed to tantivy's serializer.

use std::io;

use serde::{Deserialize, Serialize};
use tantivy::DocId;
use tantivy::postings::FieldSerializer;
use tantivy_stacker::{Addr, ExpUnrolledLinkedList, MemoryArena, SharedArenaHashMap};

use crate::scratch::{OWN_BYTES, Scratch, ScratchSorter, Share};
use crate::search::meaning::record_topics;
use crate::search::score::Occurrences;
use crate::search::{StemId, Term};
use crate::text::meaning::Reference;

pub(super) struct Postings {
    lists: Lists,
    /// The share of the memory budget that `lists` takes up.
    share: Share,
    runs: ScratchSorter<RunRow>,
}

/// A term's postings in a run.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct RunRow {
    #[serde(with = "serde_bytes")]
    name: Vec<u8>,
    /// The first document, so a term's rows sort in document order.
    first: DocId,
    documents: u32,
    #[serde(with = "serde_bytes")]
    numbers: Vec<u8>,
}

/// Postings in memory.
#[derive(Default)]
struct Lists {
    /// Each stem's list, by stem number. Most postings belong to words and prefixes.
    words: Vec<List>,
    /// Each topic's list, by topic number.
    topics: Vec<List>,
    /// Each prefix's name and list, by prefix number.
    prefixes: Vec<(Box<str>, List)>,
    /// Maps each other term to its address in `names`, where a name is followed by its list.
    terms: SharedArenaHashMap,
    names: MemoryArena,
    numbers: MemoryArena,
}

/// A term's postings: alternating document gaps and frequencies. The first gap is the first
/// document itself.
#[derive(Debug, Clone, Copy, Default)]
struct List {
    numbers: ExpUnrolledLinkedList,
    documents: u32,
    last: DocId,
}

struct NamedList {
    /// The name's first bytes. They tell most terms apart, and comparing them as an integer saves
    /// another memory access.
    start: u64,
    list: Addr,
    /// The name's length.
    length: u32,
}

impl Postings {
    pub(super) fn new(scratch: &Scratch) -> Self {
        Self { lists: Lists::default(), share: scratch.share(), runs: scratch.sorter() }
    }

    /// Adds a posting. A term's documents must be added in ascending order, each only once.
    pub(super) fn push(&mut self, term: DocumentTerm<'_>, document: DocId, frequency: u32) {
        self.lists.push(term, document, frequency);
    }

    /// Writes a run if the postings in memory exceed the budget.
    pub(super) fn keep_budget(&mut self) -> io::Result<()> {
        let more = self.lists.size_bytes().saturating_sub(self.share.bytes());
        if self.share.take(more, OWN_BYTES) { self.spill() } else { Ok(()) }
    }

    fn spill(&mut self) -> io::Result<()> {
        let lists = std::mem::take(&mut self.lists);
        self.runs.push_run(|run| {
            lists.for_each(|name, documents, numbers| {
                let first = Numbers(numbers.iter()).next().unwrap_or_default();
                run.push(RunRow { name: name.to_vec(), first, documents, numbers: numbers.to_vec() }).map(drop)
            })
        })?;
        self.share.give_back();
        Ok(())
    }

    /// Writes all terms with their postings.
    pub(super) fn write(mut self, field: &mut FieldSerializer<'_>) -> io::Result<()> {
        if self.runs.is_empty() {
            return self.lists.for_each(|name, documents, numbers| write_term(field, name, documents, [numbers]));
        }
        self.spill()?;
        let mut rows = self.runs.finish()?.peekable();
        while let Some(first) = rows.next().transpose()? {
            let mut of_term = vec![first];
            while let Some(row) = rows.next_if(|row| row.as_ref().map_or(true, |row| row.name == of_term[0].name)) {
                of_term.push(row?);
            }
            let documents = of_term.iter().map(|row| row.documents).sum();
            write_term(field, &of_term[0].name, documents, of_term.iter().map(|row| &*row.numbers))?;
        }
        Ok(())
    }
}

/// Writes a term with its lists, whose documents are in ascending order.
fn write_term<'l>(
    field: &mut FieldSerializer<'_>,
    name: &[u8],
    documents: u32,
    lists: impl IntoIterator<Item = &'l [u8]>,
) -> io::Result<()> {
    field.new_term(name, documents, true)?;
    for numbers in lists {
        let mut numbers = Numbers(numbers.iter());
        let mut document = 0;
        while let (Some(distance), Some(frequency)) = (numbers.next(), numbers.next()) {
            document += distance;
            field.write_doc(document, frequency, &[]);
        }
    }
    field.close_term()
}

impl Lists {
    fn push(&mut self, term: DocumentTerm<'_>, document: DocId, frequency: u32) {
        let numbers = &mut self.numbers;
        match term {
            DocumentTerm::Word(stem) => {
                at(&mut self.words, stem).push(document, frequency, numbers);
            }
            DocumentTerm::Topic(topic) => {
                at(&mut self.topics, topic.into()).push(document, frequency, numbers);
            }
            DocumentTerm::Prefix(number, name) => {
                let (of, list) = at(&mut self.prefixes, number);
                if list.documents == 0 {
                    *of = name.into();
                }
                list.push(document, frequency, numbers);
            }
            DocumentTerm::Name(name) => {
                self.terms.mutate_or_create(name.as_bytes(), &mut self.names, |list: Option<List>| {
                    let mut list = list.unwrap_or_default();
                    list.push(document, frequency, numbers);
                    list
                });
            }
        }
    }

    fn size_bytes(&self) -> usize {
        let words = (self.words.capacity() + self.topics.capacity()) * size_of::<List>();
        let prefixes = self.prefixes.capacity() * size_of::<(Box<str>, List)>();
        words + prefixes + self.terms.mem_usage() + self.names.len() + self.numbers.len()
    }

    /// Calls a function with each term's name, document count and encoded postings, in name order.
    fn for_each(self, mut each: impl FnMut(&[u8], u32, &[u8]) -> io::Result<()>) -> io::Result<()> {
        let Self { words, topics, prefixes, terms, mut names, numbers } = self;
        let count = terms.len() + prefixes.len() + topics.len() + words.len();
        let mut sorted: Vec<NamedList> = Vec::with_capacity(count);
        sorted.extend(terms.iter(&names).map(|(name, list)| NamedList::new(name, list)));
        // Frees memory for the files that will be written next.
        drop(terms);
        let mut name = String::new();
        let words = (0..).map(Term::Word).zip(words).chain((0..).map(Term::Topic).zip(topics));
        for (term, list) in words.filter(|(_, list)| list.documents > 0) {
            name.clear();
            term.write(&mut name);
            sorted.push(NamedList::add(name.as_bytes(), list, &mut names));
        }
        let prefixes = prefixes.into_iter().filter(|(_, list)| list.documents > 0);
        sorted.extend(prefixes.map(|(name, list)| NamedList::add(name.as_bytes(), list, &mut names)));
        sorted.sort_unstable_by(|a, b| a.start.cmp(&b.start).then_with(|| a.name(&names).cmp(b.name(&names))));
        let mut of_term = Vec::new();
        let mut each = |name: &[u8], list: List| {
            of_term.clear();
            list.numbers.read_to_end(&numbers, &mut of_term);
            each(name, list.documents, &of_term)
        };
        for named in sorted {
            each(named.name(&names), names.read(named.list))?;
        }
        Ok(())
    }
}

/// Returns an element of a table, growing the table if needed.
fn at<T: Clone + Default>(table: &mut Vec<T>, number: u32) -> &mut T {
    let number = number as usize;
    if table.len() <= number {
        table.resize(number + 1, T::default());
    }
    &mut table[number]
}

impl NamedList {
    fn new(name: &[u8], list: Addr) -> Self {
        let mut start = [0; 8];
        start.iter_mut().zip(name).for_each(|(to, from)| *to = *from);
        Self { start: u64::from_be_bytes(start), list, length: Self::length(name) }
    }

    /// Adds a name and its list in the same format as the term map.
    fn add(name: &[u8], list: List, names: &mut MemoryArena) -> Self {
        let start = names.allocate_space(name.len() + size_of::<List>());
        names.slice_mut(start, name.len()).copy_from_slice(name);
        let at = start.offset(Self::length(name));
        names.write_at(at, list);
        Self::new(name, at)
    }

    #[expect(clippy::cast_possible_truncation, reason = "at most `LONGEST_TERM`")]
    const fn length(name: &[u8]) -> u32 {
        name.len() as u32
    }

    /// The name, which precedes the list.
    fn name<'n>(&self, names: &'n MemoryArena) -> &'n [u8] {
        names.slice(self.list.offset(self.length.wrapping_neg()), self.length as usize)
    }
}

impl List {
    fn push(&mut self, document: DocId, frequency: u32, arena: &mut MemoryArena) {
        let mut writer = self.numbers.writer(arena);
        writer.write_u32_vint(document - self.last);
        writer.write_u32_vint(frequency);
        self.last = document;
        self.documents += 1;
    }
}

/// Decodes the output of `write_u32_vint`: seven bits per byte, lowest first, with the last byte
/// marked.
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

/// tantivy's limit on a term's length, in bytes. Longer terms are skipped; no query is that long.
const LONGEST_TERM: u16 = u16::MAX - 5;

/// The terms in a batch of documents, with their packed frequencies. One thread can produce them
/// while another indexes them.
#[derive(Debug, Default)]
pub struct Documents {
    /// The names of all terms except words, concatenated.
    names: String,
    postings: Vec<(Key, u32)>,
    /// Each document's number of postings, and its meaning.
    per_document: Vec<(usize, Option<Reference>)>,
}

#[derive(Debug, Clone, Copy)]
enum Key {
    Word(StemId),
    /// A prefix, given by its number and its name's length.
    Prefix(u32, u16),
    /// Any other term, given by its name's length.
    Name(u16),
}

/// A document's term. Words and topics have numbers, prefixes have numbers and names, and all other
/// terms have names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DocumentTerm<'d> {
    Word(StemId),
    Topic(u16),
    Prefix(u32, &'d str),
    Name(&'d str),
}

impl Documents {
    pub fn len(&self) -> usize {
        self.per_document.len()
    }

    /// Adds a document's terms, except topics, and its meaning. A prefix may have a number.
    pub fn push<'t>(
        &mut self,
        terms: impl Iterator<Item = (Option<u32>, &'t Term, Occurrences)>,
        meaning: Option<Reference>,
    ) {
        let postings = self.postings.len();
        for (number, term, occurrences) in terms {
            let key = if let Term::Word(stem) = term {
                Key::Word(*stem)
            } else {
                let names = self.names.len();
                term.write(&mut self.names);
                let length = u16::try_from(self.names.len() - names).ok().filter(|length| *length <= LONGEST_TERM);
                let Some(length) = length else {
                    self.names.truncate(names);
                    continue;
                };
                match (term, number) {
                    (Term::Prefix(_), Some(number)) => Key::Prefix(number, length),
                    _ => Key::Name(length),
                }
            };
            self.postings.push((key, occurrences.packed()));
        }
        self.per_document.push((self.postings.len() - postings, meaning));
    }

    /// Calls `each` with a document's index in this batch, a term and its packed frequency. Also
    /// finds the documents' topics.
    pub(super) fn for_each(&self, mut each: impl FnMut(u32, DocumentTerm<'_>, u32)) {
        let (mut names, mut postings) = (&*self.names, self.postings.iter());
        for (document, (length, meaning)) in (0..).zip(&self.per_document) {
            let mut name = |length: u16| {
                let (name, rest) = names.split_at(usize::from(length));
                names = rest;
                name
            };
            for (key, frequency) in postings.by_ref().take(*length) {
                let term = match *key {
                    Key::Word(stem) => DocumentTerm::Word(stem),
                    Key::Prefix(number, length) => DocumentTerm::Prefix(number, name(length)),
                    Key::Name(length) => DocumentTerm::Name(name(length)),
                };
                each(document, term, *frequency);
            }
            for (topic, occurrences) in meaning.iter().flat_map(record_topics) {
                each(document, DocumentTerm::Topic(topic), occurrences.packed());
            }
        }
    }
}
