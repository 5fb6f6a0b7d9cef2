//! The meaning of English words as vectors: descriptions of the same thing point in the same
//! direction, whether or not they share words. `data/meaning/` contains the table and describes its
//! origin.

use std::sync::LazyLock;

use foldhash::HashMap;

/// The number of components in a vector.
pub const DIMENSIONS: usize = 128;

/// Identifies the table: the first bytes of the BLAKE3 hash of its pieces, their vectors and the
/// topics. Vectors from different tables can't be compared, so this is part of a generation's name.
pub const TABLE: u64 = 0xbb78_4845_0a6e_58ba;

/// A vector for each piece in the order of [`PIECES`].
const VECTORS: &[[u8; DIMENSIONS]] = include_bytes!("../../data/meaning/vectors.i8").as_chunks().0;

/// Pieces of words, one per line. Those that continue a word start with `##`.
const PIECES: &str = include_str!("../../data/meaning/pieces.txt");

/// Longer runs of letters aren't considered words.
const LONGEST_RUN: usize = 64;

static TABLE_OF_PIECES: LazyLock<Pieces> = LazyLock::new(Pieces::new);

/// Each piece's number, separately for pieces that start a word and pieces that continue one.
#[derive(Default)]
struct Pieces {
    first: HashMap<&'static str, u16>,
    continuing: HashMap<&'static str, u16>,
    /// The length of the longest piece.
    longest: usize,
}

impl Pieces {
    fn new() -> Self {
        let mut pieces = Self::default();
        for (number, piece) in (0..).zip(PIECES.lines()) {
            let (of, piece) = match piece.strip_prefix("##") {
                Some(piece) => (&mut pieces.continuing, piece),
                None => (&mut pieces.first, piece),
            };
            of.insert(piece, number);
            pieces.longest = pieces.longest.max(piece.len());
        }
        pieces
    }

    /// Appends the pieces of a run of letters and digits. Always takes the longest piece that fits,
    /// as in the encoder's training.
    fn split(&self, run: &str, numbers: &mut Vec<u16>) {
        let start = numbers.len();
        let mut rest = run;
        while !rest.is_empty() {
            let of = if rest.len() == run.len() { &self.first } else { &self.continuing };
            let longest = rest.len().min(self.longest);
            let found = (1..=longest).rev().find_map(|end| Some((of.get(rest.get(..end)?)?, end)));
            let Some((number, end)) = found else {
                numbers.truncate(start);
                return;
            };
            numbers.push(*number);
            rest = &rest[end..];
        }
    }
}

/// Appends the pieces of a folded word. Words that aren't written in Latin letters have none.
pub fn pieces(word: &str, numbers: &mut Vec<u16>) {
    let runs = word.split(|c: char| c.is_ascii() && !c.is_ascii_alphanumeric());
    for run in runs.filter(|run| run.len() <= LONGEST_RUN) {
        TABLE_OF_PIECES.split(run, numbers);
    }
}

/// A piece's vector.
pub fn vector_of(piece: u16) -> &'static [u8; DIMENSIONS] {
    VECTORS.get(usize::from(piece)).unwrap_or(&[0; DIMENSIONS])
}

/// The sum of the vectors of several pieces.
#[derive(Debug, Clone)]
pub struct Sum([i32; DIMENSIONS]);

impl Default for Sum {
    fn default() -> Self {
        Self([0; DIMENSIONS])
    }
}

impl Sum {
    pub fn of(pieces: &[u16]) -> Self {
        let mut sums = [0; DIMENSIONS];
        for piece in pieces {
            let vector = vector_of(*piece);
            for at in 0..DIMENSIONS {
                sums[at] += i32::from(vector[at].cast_signed());
            }
        }
        Self(sums)
    }

    /// The vector scaled to this length and rounded; all zeros if it has no direction.
    fn scaled(&self, length: f64) -> [i16; DIMENSIONS] {
        let square: i64 = self.0.iter().map(|number| i64::from(*number) * i64::from(*number)).sum();
        #[expect(clippy::cast_precision_loss, reason = "less than 2⁵³")]
        let factor = length / (square.max(1) as f64).sqrt();
        // `f64::round` would be a function call for each number.
        let rounded = |number: f64| number + 0.5_f64.copysign(number);
        #[expect(clippy::cast_possible_truncation, reason = "no component exceeds the vector's length")]
        self.0.map(|number| rounded(f64::from(number) * factor) as i16)
    }

    pub fn vector(&self) -> Vector {
        #[expect(clippy::cast_possible_truncation, reason = "it's clamped")]
        Vector(self.scaled(VECTOR_LENGTH).map(|number| number.clamp(i8::MIN.into(), i8::MAX.into()) as i8))
    }

    /// A reference for comparing vectors; `None` if the vector has no direction.
    pub fn reference(&self) -> Option<Reference> {
        let numbers = self.scaled(REFERENCE_LENGTH);
        numbers.iter().any(|number| *number != 0).then(|| Reference(Box::new(numbers)))
    }
}

/// The length that vectors are scaled to. Few have a component greater than half of this; clipping
/// those lets every component fit in 8 bits.
const VECTOR_LENGTH: f64 = 254.0;

const REFERENCE_LENGTH: f64 = 4096.0;

/// What some text means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Vector([i8; DIMENSIONS]);

impl Vector {
    pub const NONE: Self = Self([0; DIMENSIONS]);

    pub fn bytes(&self) -> [u8; DIMENSIONS] {
        self.0.map(i8::cast_unsigned)
    }
}

/// The meaning of some text, to compare other vectors with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference(Box<[i16; DIMENSIONS]>);

/// How many numbers are multiplied at once.
const LANES: usize = 8;

impl Reference {
    /// How close a vector is in meaning: the cosine, from 0 to 1. It's 0 if the vector points the
    /// opposite way or has no direction.
    ///
    /// Written without iterators: without LTO, their code may end up in another codegen unit, where
    /// it isn't inlined, and a build then takes twice as long.
    #[inline]
    pub fn likeness(&self, vector: &[u8; DIMENSIONS]) -> f32 {
        // With a separate sum per lane, compilers multiply and add eight numbers at once.
        let (mut sums, mut product) = ([0; LANES], 0);
        for block in 0..DIMENSIONS / LANES {
            #[expect(clippy::needless_range_loop, reason = "an iterator may not be inlined")]
            for lane in 0..LANES {
                let at = block * LANES + lane;
                sums[lane] += i32::from(self.0[at]) * i32::from(vector[at].cast_signed());
            }
        }
        for sum in sums {
            product += sum;
        }
        #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "less than 2²⁴")]
        let likeness = product as f32 / (VECTOR_LENGTH * REFERENCE_LENGTH) as f32;
        likeness.clamp(0.0, 1.0)
    }
}

/// Topics are 4,096 centres of meaning. Descriptions of the same thing share some of their nearest
/// topics, so an index can find them by terms. This is the number of topic groups, each with its own centre.
const TOPIC_GROUPS: usize = 64;

const TOPICS_PER_GROUP: usize = 64;

/// The groups' centres, then each group's topics.
const CENTRES: &[[u8; DIMENSIONS]] = include_bytes!("../../data/meaning/topics.i8").as_chunks().0;

/// A topic and how near it is, from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NearTopic {
    pub topic: u16,
    pub likeness: f32,
}

/// The topics nearest to a text's meaning, nearest first. Only the topics of the nearest groups are
/// compared.
pub fn nearest_topics(text: &Reference, nearest_groups: usize, count: usize) -> Vec<NearTopic> {
    let (groups, topics) = CENTRES.split_at(TOPIC_GROUPS);
    let near = |(topic, centre): (u16, &[u8; DIMENSIONS])| NearTopic { topic, likeness: text.likeness(centre) };
    let groups = best_topics((0..).zip(groups).map(near).collect(), nearest_groups);
    let mut compared = Vec::with_capacity(groups.len() * TOPICS_PER_GROUP);
    for NearTopic { topic: group, .. } in groups {
        let first = usize::from(group) * TOPICS_PER_GROUP;
        compared.extend((first..).zip(&topics[first..first + TOPICS_PER_GROUP]).map(|(topic, centre)| {
            #[expect(clippy::cast_possible_truncation, reason = "there are 4,096")]
            near((topic as u16, centre))
        }));
    }
    best_topics(compared, count)
}

/// The nearest topics, nearest first; on a tie, the lower number comes first.
fn best_topics(mut topics: Vec<NearTopic>, count: usize) -> Vec<NearTopic> {
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

    fn written(word: &str) -> Vec<&str> {
        let mut numbers = Vec::new();
        pieces(word, &mut numbers);
        numbers.iter().map(|number| PIECES.lines().nth(usize::from(*number)).expect("a piece")).collect()
    }

    fn sum(text: &str) -> Sum {
        let mut numbers = Vec::new();
        text.split(' ').for_each(|word| pieces(word, &mut numbers));
        Sum::of(&numbers)
    }

    fn likeness(one: &str, other: &str) -> f32 {
        sum(one).reference().expect("a direction").likeness(&sum(other).vector().bytes())
    }

    #[test]
    fn table_matches_its_name() {
        assert_eq!(PIECES.lines().count(), VECTORS.len());
        assert_eq!(VECTORS.len() * DIMENSIONS, include_bytes!("../../data/meaning/vectors.i8").len());
        let mut hasher = blake3::Hasher::new();
        hasher.update(PIECES.as_bytes()).update(VECTORS.as_flattened()).update(CENTRES.as_flattened());
        let hash = hasher.finalize();
        let found = u64::from_be_bytes(*hash.as_bytes().first_chunk().expect("32 bytes"));
        assert_eq!(found, TABLE, "the table has changed: set TABLE to {found:#018x}");
    }

    #[test]
    fn words_are_split_into_the_longest_pieces() {
        assert_eq!(written("photography"), ["photography"]);
        assert_eq!(written("webmail"), ["web", "##mail"]);
        assert_eq!(written("c++"), ["c"]);
        assert_eq!(written("3.5"), ["3", "5"]);
        for none in ["", "+", "安全", "ñ", "straßen", &"a".repeat(65)] {
            assert_eq!(written(none), [""; 0], "{none}");
        }
    }

    #[test]
    fn descriptions_of_the_same_thing_are_similar_even_without_common_words() {
        for (query, near, far) in [
            ("photography", "camera pictures", "accounting ledger"),
            ("manufacturing", "factory production", "poems and novels"),
            ("webmail", "email client", "rocket engine"),
        ] {
            let (near, far) = (likeness(query, near), likeness(query, far));
            assert!(near > 0.25 && near > far + 0.15, "{query}: {near} {far}");
        }
        assert!(likeness("audit", "audit") > 0.99);
    }

    #[test]
    fn a_vector_without_a_direction_is_not_similar_to_anything() {
        assert_eq!((sum("").reference(), sum("").vector()), (None, Vector::NONE));
        let reference = sum("audit").reference().expect("a direction");
        assert_eq!(reference.likeness(&Vector::NONE.bytes()).to_bits(), 0.0_f32.to_bits());
    }

    fn topics(text: &str, count: usize) -> Vec<u16> {
        let mut numbers = Vec::new();
        text.split(' ').for_each(|word| pieces(word, &mut numbers));
        nearest_topics(&Sum::of(&numbers).reference().expect("a direction"), 8, count)
            .into_iter()
            .map(|of| of.topic)
            .collect()
    }

    #[test]
    fn the_table_contains_every_group_and_topic() {
        assert_eq!(CENTRES.len(), TOPIC_GROUPS + TOPIC_GROUPS * TOPICS_PER_GROUP);
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
