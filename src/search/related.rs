//! Related products, which are close to a query's meaning but don't contain any of its words.
//! They're added if the words match few products.

use super::plan::{Related, Term};
use super::ranking::Ranking;
use crate::text::meaning::{DIMENSIONS, Reference};
use crate::text::topic::{self, NearTopic};

/// Related products are added only if the words match fewer products than this.
pub const FEW: usize = 100;

/// The maximum number of documents to compare with the query's meaning. They're the ones that share
/// the most topics with the query.
pub const MOST_COMPARED: usize = 256;

/// The number of topics per query, and the number of topic groups that are searched.
const TOPICS: usize = 32;
const GROUPS: usize = 16;

impl Related {
    pub fn new(reference: &Reference, ranking: &Ranking, enough: usize) -> Self {
        Self { reference: reference.clone(), least: ranking.related, least_alone: ranking.related_alone, enough }
    }

    /// The topics close to the query, with their weights. The higher the total weight of a
    /// document's topics, the closer the document is likely to be.
    pub fn topics(&self) -> impl Iterator<Item = (Term, u16)> + use<> {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 100")]
        let weight = |likeness: f32| (likeness * 100.0).round() as u16;
        let topics = topic::nearest(&self.reference, GROUPS, TOPICS).into_iter();
        topics.map(move |NearTopic { topic, likeness }| (Term::Topic(topic), weight(likeness)))
    }

    /// Whether related products are added if the words match this many documents, `complete` of
    /// which have all the words.
    pub const fn follow(&self, complete: u64, found: u64) -> bool {
        complete < self.enough as u64 && found < FEW as u64
    }

    /// The similarity of a document with this vector; `None` if the document isn't related. This
    /// depends on how many documents the words found.
    pub fn likeness(&self, vector: &[u8; DIMENSIONS], found: u64) -> Option<f32> {
        let least = if found == 0 { self.least_alone } else { self.least };
        Some(self.reference.likeness(vector)).filter(|likeness| *likeness >= least)
    }
}
