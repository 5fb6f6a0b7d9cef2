//! Topics: 4,096 centres of meaning. Descriptions of the same thing share some of their nearest
//! topics, so an index can find them by terms. The topics are in `data/meaning/`.

use super::meaning::{DIMENSIONS, Reference};

/// The number of topic groups, each with its own centre.
const GROUPS: usize = 64;

const TOPICS_PER_GROUP: usize = 64;

/// The groups' centres, then each group's topics.
pub(super) const CENTRES: &[[u8; DIMENSIONS]] = include_bytes!("../../data/meaning/topics.i8").as_chunks().0;

/// A topic and how near it is, from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NearTopic {
    pub topic: u16,
    pub likeness: f32,
}

/// The topics nearest to a text's meaning, nearest first. Only the topics of the nearest groups are
/// compared.
pub fn nearest(text: &Reference, nearest_groups: usize, count: usize) -> Vec<NearTopic> {
    let (groups, topics) = CENTRES.split_at(GROUPS);
    let near = |(topic, centre): (u16, &[u8; DIMENSIONS])| NearTopic { topic, likeness: text.likeness(centre) };
    let groups = best((0..).zip(groups).map(near).collect(), nearest_groups);
    let mut compared = Vec::with_capacity(groups.len() * TOPICS_PER_GROUP);
    for NearTopic { topic: group, .. } in groups {
        let first = usize::from(group) * TOPICS_PER_GROUP;
        compared.extend((first..).zip(&topics[first..first + TOPICS_PER_GROUP]).map(|(topic, centre)| {
            #[expect(clippy::cast_possible_truncation, reason = "there are 4,096")]
            near((topic as u16, centre))
        }));
    }
    best(compared, count)
}

/// The nearest topics, nearest first; on a tie, the lower number comes first.
fn best(mut topics: Vec<NearTopic>, count: usize) -> Vec<NearTopic> {
    let order = |a: &NearTopic, b: &NearTopic| b.likeness.total_cmp(&a.likeness).then(a.topic.cmp(&b.topic));
    if count < topics.len() {
        topics.select_nth_unstable_by(count, order);
        topics.truncate(count);
    }
    topics.sort_unstable_by(order);
    topics
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::meaning::{Sum, pieces};

    fn topics(text: &str, count: usize) -> Vec<u16> {
        let mut numbers = Vec::new();
        text.split(' ').for_each(|word| pieces(word, &mut numbers));
        nearest(&Sum::of(&numbers).reference().expect("a direction"), 8, count).into_iter().map(|of| of.topic).collect()
    }

    #[test]
    fn the_table_contains_every_group_and_topic() {
        assert_eq!(CENTRES.len(), GROUPS + GROUPS * TOPICS_PER_GROUP);
        assert!(CENTRES.iter().all(|centre| centre.iter().any(|number| *number != 0)));
    }

    #[test]
    fn descriptions_of_the_same_thing_share_topics() {
        let shared = |one: &str, other: &str| {
            let other = topics(other, 16);
            topics(one, 16).iter().filter(|topic| other.contains(topic)).count()
        };
        for (query, near, far) in
            [("photography", "camera pictures", "accounting ledger"), ("webmail", "email client", "rocket engine")]
        {
            assert!(shared(query, near) > shared(query, far), "{query}");
        }
    }

    #[test]
    fn a_smaller_count_returns_only_the_nearest_topics() {
        let topics = |count| topics("webmail for teams", count);
        assert_eq!(topics(16)[..5], topics(5)[..]);
        assert!(topics(0).is_empty());
    }
}
