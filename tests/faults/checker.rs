//! Checks that a response comes from a single generation, the one that it names.

use std::collections::HashMap;
use std::sync::Mutex;

use crate::client::Answer;
use crate::corpus::{Corpus, revisions};

/// Remembers which generation goes with which revision of the records.
#[derive(Default)]
pub(crate) struct Checker {
    seen: Mutex<Seen>,
}

#[derive(Default)]
struct Seen {
    revision_of: HashMap<String, usize>,
    generation_of: HashMap<usize, String>,
}

impl Checker {
    /// Checks a response with records: they must all have the same revision, each revision must
    /// always come with the same `X-Generation`, and if the response counts all records, the total
    /// must be the revision's. Returns the revision.
    pub(crate) fn check(&self, corpus: &Corpus, answer: &Answer, is_all: bool) -> Result<usize, String> {
        if answer.status != 200 {
            return Err(format!("{}: {}", answer.status, String::from_utf8_lossy(&answer.body)));
        }
        let generation = answer.generation.as_ref().ok_or("no X-Generation")?;
        let mut revisions = revisions(&answer.body);
        let revision = revisions.next().ok_or("no record in the response")?;
        if let Some(other) = revisions.find(|other| *other != revision) {
            return Err(format!("a response from generation {generation} mixes revisions {revision} and {other}"));
        }
        if is_all
            && let Some(total) = total(&answer.body)
            && total != corpus.count(revision)
        {
            return Err(format!(
                "revision {revision} has {} records, but the response says {total}",
                corpus.count(revision)
            ));
        }
        let mut seen = self.seen.lock().expect("no panic");
        let known = *seen.revision_of.entry(generation.clone()).or_insert(revision);
        let named = seen.generation_of.entry(revision).or_insert_with(|| generation.clone());
        if known != revision || named != generation {
            return Err(format!("generation {generation} responds with records from revisions {known} and {revision}"));
        }
        Ok(revision)
    }

    /// How many generations have been seen.
    pub(crate) fn generations(&self) -> usize {
        self.seen.lock().expect("no panic").revision_of.len()
    }
}

/// A list's total, from its response.
fn total(body: &[u8]) -> Option<usize> {
    let name = b"\"total\":";
    let at = body.windows(name.len()).rposition(|window| window == name)?;
    let digits: String = body[at + name.len()..]
        .iter()
        .skip_while(|byte| byte.is_ascii_whitespace())
        .take_while(|byte| byte.is_ascii_digit())
        .map(|byte| char::from(*byte))
        .collect();
    digits.parse().ok()
}

#[test]
fn the_checker_detects_mixed_responses() {
    let corpus = Corpus::generated(2);
    let answer = |generation: &str, body: &str| Answer {
        status: 200,
        generation: Some(generation.to_owned()),
        body: body.as_bytes().to_vec(),
    };
    let checker = Checker::default();
    let whole = r#"{"data":["rev-00000001","rev-00000001"],"pagination":{"total":3}}"#;
    assert_eq!(checker.check(&corpus, &answer("a", whole), true), Ok(1));
    checker.check(&corpus, &answer("b", whole), true).expect_err("a different generation with the same records");
    checker.check(&corpus, &answer("a", "rev-00000002"), true).expect_err("the same generation with different records");
    checker.check(&corpus, &answer("c", "rev-00000003 rev-00000004"), true).expect_err("two revisions");
    checker.check(&corpus, &answer("d", &whole.replace('3', "2")), true).expect_err("a wrong total");
    checker.check(&corpus, &answer("e", ""), true).expect_err("no record");
    checker.check(&corpus, &Answer { status: 503, ..answer("a", whole) }, true).expect_err("not 2xx");
}
