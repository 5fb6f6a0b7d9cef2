//! Walks through the documents of a plan, one at a time.

use ::tantivy::{DocId, DocSet as _, TERMINATED};

use super::TantivyEngine;
use super::cursor::GroupCursor;
use crate::engine::{EngineError, Match};
use crate::search::{Plan, Want};

/// Visits every document that the plan finds.
pub(super) fn visit(
    engine: &TantivyEngine,
    plan: &Plan,
    want: Want,
    visitor: &mut dyn FnMut(Match),
) -> Result<(), EngineError> {
    let mut excluded = Vec::new();
    for term in &plan.excluded {
        excluded.extend(engine.postings(term)?);
    }
    let mut visitor = |found: Match| {
        let is_excluded = excluded.iter_mut().any(|postings| {
            if postings.doc() < found.ordinal {
                postings.seek(found.ordinal);
            }
            postings.doc() == found.ordinal
        });
        if !is_excluded {
            visitor(found);
        }
    };
    if plan.groups.is_empty() {
        for ordinal in (0..).take(engine.scorer.documents()) {
            visitor(Match { ordinal, score: 0.0, complete: true });
        }
        return Ok(());
    }
    let cursors = plan.groups.iter().map(|group| GroupCursor::open(engine, group)).collect::<Result<Vec<_>, _>>()?;
    match want {
        Want::All => visit_all(cursors, &mut visitor),
        Want::Some => visit_some(cursors, &mut visitor),
    }
    Ok(())
}

/// Leapfrogs through the required groups, the rarest first; the others only add to the score.
fn visit_all(cursors: Vec<GroupCursor<'_>>, visitor: &mut dyn FnMut(Match)) {
    let (mut required, mut optional): (Vec<_>, Vec<_>) = cursors.into_iter().partition(|cursor| cursor.required);
    required.sort_by_key(|cursor| cursor.cost);
    let Some((lead, rest)) = required.split_first_mut() else {
        return visit_some(optional, visitor);
    };
    let mut document = lead.document();
    'documents: while document != TERMINATED {
        for cursor in rest.iter_mut() {
            let at = cursor.seek(document);
            if at != document {
                document = lead.seek(at);
                continue 'documents;
            }
        }
        let mut score = lead.score();
        for cursor in rest.iter_mut() {
            score += cursor.score();
        }
        score += optional_score(&mut optional, document);
        visitor(Match { ordinal: document, score, complete: true });
        document = lead.seek(document + 1);
    }
}

fn optional_score(optional: &mut [GroupCursor<'_>], document: DocId) -> f32 {
    optional.iter_mut().filter_map(|cursor| (cursor.seek(document) == document).then(|| cursor.score())).sum()
}

/// Every document of any group.
fn visit_some(mut cursors: Vec<GroupCursor<'_>>, visitor: &mut dyn FnMut(Match)) {
    let wanted = cursors.iter().filter(|cursor| cursor.required).count();
    loop {
        let document = cursors.iter().map(GroupCursor::document).min().unwrap_or(TERMINATED);
        if document == TERMINATED {
            return;
        }
        let (mut score, mut satisfied) = (0.0, 0);
        for cursor in &mut cursors {
            if cursor.document() == document {
                score += cursor.score();
                satisfied += usize::from(cursor.required);
                cursor.seek(document + 1);
            }
        }
        visitor(Match { ordinal: document, score, complete: satisfied == wanted });
    }
}
