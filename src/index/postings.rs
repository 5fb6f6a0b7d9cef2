//! Collects documents' postings before they're written to the index. They're kept in memory up to
//! the build's budget, and in sorted runs beyond that.
//!
//! In memory, they're structured as in tantivy, in an arena of linked lists. A run has one row per
//! term, sorted by the term's name. The runs are merged as they're fed to tantivy's serializer.

use std::io;

use serde::{Deserialize, Serialize};
use tantivy::DocId;
use tantivy::postings::FieldSerializer;
use tantivy_stacker::{Addr, ExpUnrolledLinkedList, MemoryArena, SharedArenaHashMap};

use super::documents::DocumentTerm;
use crate::scratch::{OWN_BYTES, Scratch, ScratchSorter, Share};
use crate::search::Term;

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
        Self { start: u64::from_be_bytes(start), list, length: u32::try_from(name.len()).unwrap_or(u32::MAX) }
    }

    /// Adds a name and its list in the same format as the term map.
    fn add(name: &[u8], list: List, names: &mut MemoryArena) -> Self {
        let start = names.allocate_space(name.len() + size_of::<List>());
        names.slice_mut(start, name.len()).copy_from_slice(name);
        let at = start.offset(u32::try_from(name.len()).unwrap_or(u32::MAX));
        names.write_at(at, list);
        Self::new(name, at)
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
