//! Compares responses with the recorded ones, which come from the embedded engine.

use serde_json::Value;

use crate::cluster;

/// Scores count as equal if their relative difference is less than this, because the cluster's
/// features have eight bits of fraction.
const TOLERANCE: f64 = 0.005;

/// The smallest share of a recorded score that words alone can make up. Similar products get most
/// of theirs from meaning.
const LEAST_BY_WORDS: f64 = 0.25;

/// Whether a response equals the recorded one. With a cluster, scores ignore meaning and may
/// differ by rounding, and hits with nearly equal scores may swap places. The cluster's exports are
/// files, so they have a modification time.
pub(crate) fn is_alike(recorded: &Value, answer: &Value) -> bool {
    recorded == answer || (cluster::nodes().is_some() && is_near(recorded, answer))
}

fn is_near(recorded: &Value, answer: &Value) -> bool {
    match (recorded, answer) {
        (Value::Array(recorded), Value::Array(answer)) => {
            let near = |(one, other): (&Value, &Value)| {
                let is_moved = one["score"].is_number() && one["id"] != other["id"];
                if is_moved { is_near_score(&one["score"], &other["score"]) } else { is_near(one, other) }
            };
            recorded.len() == answer.len() && recorded.iter().zip(answer).all(near)
        }
        (Value::Object(recorded), Value::Object(answer)) => {
            let near = |(name, value): (&String, &Value)| match name.as_str() {
                "score" => is_near_score(value, &answer["score"]),
                // The recorded exports aren't files, so they have no modification time.
                "changed_at" if value.is_null() => answer[name].is_string(),
                _ => answer.get(name).is_some_and(|other| is_near(value, other)),
            };
            recorded.len() == answer.len() && recorded.iter().all(near)
        }
        _ => recorded == answer,
    }
}

/// Whether the tiers are the same and the cluster's score within the tier is no higher, nor much
/// lower. A score is the tier plus `s / (s + 10)`, where `s` is the score within the tier.
fn is_near_score(recorded: &Value, answer: &Value) -> bool {
    let (Some(recorded), Some(answer)) = (recorded.as_f64(), answer.as_f64()) else { return false };
    let within = |score: f64| 10.0 * score.fract() / (1.0 - score.fract());
    let bounds = within(recorded) * LEAST_BY_WORDS..=within(recorded) * (1.0 + TOLERANCE);
    (recorded.trunc() - answer.trunc()).abs() < 0.5 && bounds.contains(&within(answer))
}
