//! Iterates over tantivy's posting lists.

use tantivy::DocId;
use tantivy::postings::BlockSegmentPostings;

/// A cursor over a posting list, which tantivy decodes 128 postings at a time.
pub(super) struct PostingList {
    postings: BlockSegmentPostings,
    at: usize,
}

impl PostingList {
    pub(super) fn new(postings: BlockSegmentPostings) -> Self {
        Self { postings, at: 0 }
    }

    /// The current document; [`TERMINATED`](tantivy::TERMINATED) after the last.
    pub(super) fn document(&self) -> DocId {
        // tantivy pads the last block with `TERMINATED`.
        self.postings.doc(self.at)
    }

    /// Moves to the first document at or after `target`.
    pub(super) fn seek(&mut self, target: DocId) {
        if self.document() < target {
            self.at = self.postings.seek(target);
        }
    }

    /// Calls `visit` with each document before `end` and its packed term frequency.
    pub(super) fn for_each_until(&mut self, end: DocId, mut visit: impl FnMut(DocId, u32)) {
        loop {
            let documents = self.postings.docs();
            let rest = documents.get(self.at..).unwrap_or_default();
            let count = match rest.last() {
                None => return,
                Some(last) if *last < end => rest.len(),
                Some(_) => rest.partition_point(|document| *document < end),
            };
            let frequencies = self.postings.freqs().get(self.at..).unwrap_or_default();
            for (document, frequency) in rest[..count].iter().zip(frequencies) {
                visit(*document, *frequency);
            }
            self.at += count;
            if self.at < documents.len() || documents.len() < POSTINGS_PER_BLOCK {
                return;
            }
            self.postings.advance();
            self.at = 0;
        }
    }
}

/// How many postings tantivy decodes at a time; the last block has fewer.
const POSTINGS_PER_BLOCK: usize = 128;
