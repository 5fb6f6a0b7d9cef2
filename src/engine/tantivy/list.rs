//! Posting lists as tantivy keeps them, document by document.

use ::tantivy::DocId;
use ::tantivy::postings::BlockSegmentPostings;

/// A posting list and a place in it. Its documents come in blocks of 128.
pub(super) struct List {
    blocks: BlockSegmentPostings,
    at: usize,
}

impl List {
    pub(super) fn new(blocks: BlockSegmentPostings) -> Self {
        Self { blocks, at: 0 }
    }

    /// The document it is at; [`TERMINATED`] behind the last.
    pub(super) fn document(&self) -> DocId {
        // The last block is filled up with that.
        self.blocks.doc(self.at)
    }

    /// How its term occurs in the document it is at.
    pub(super) fn code(&self) -> u32 {
        self.blocks.freq(self.at)
    }

    /// Goes to the first document that isn't before `target`.
    pub(super) fn seek(&mut self, target: DocId) -> DocId {
        if self.document() < target {
            self.at = self.blocks.seek(target);
        }
        self.document()
    }

    /// Goes through the documents up to `end`, each with its frequency there.
    pub(super) fn for_each_until(&mut self, end: DocId, mut visit: impl FnMut(DocId, u32)) {
        loop {
            let documents = self.blocks.docs();
            let rest = documents.get(self.at..).unwrap_or_default();
            let count = match rest.last() {
                None => return,
                Some(last) if *last < end => rest.len(),
                Some(_) => rest.partition_point(|document| *document < end),
            };
            let frequencies = self.blocks.freqs().get(self.at..).unwrap_or_default();
            for (document, frequency) in rest[..count].iter().zip(frequencies) {
                visit(*document, *frequency);
            }
            self.at += count;
            if self.at < documents.len() || documents.len() < BLOCK {
                return;
            }
            self.blocks.advance();
            self.at = 0;
        }
    }
}

/// How many documents a full block has; the last one of a list has fewer.
const BLOCK: usize = 128;
