//! Maps a record's words back to the query words that they satisfy.

use foldhash::HashMap;

use super::lexicon::StemId;

/// Which stems stand for which slots of a query.
#[derive(Debug, Clone)]
pub struct StemSlots {
    slots: HashMap<StemId, u32>,
    /// A bitmap of the stems' lowest bits. It saves looking up most of a record's words, which
    /// aren't in any slot.
    present: [u64; WORDS],
}

/// The bitmap's length in 64-bit words, enough for the few thousand stems that a short prefix
/// stands for.
const WORDS: usize = 64;

impl Default for StemSlots {
    fn default() -> Self {
        Self { slots: HashMap::default(), present: [0; WORDS] }
    }
}

impl StemSlots {
    pub fn new(slots: impl Iterator<Item: Iterator<Item = (StemId, f32)>>) -> Self {
        let mut best: HashMap<StemId, (f32, u32)> = HashMap::default();
        for (at, stems) in slots.enumerate() {
            for (stem, of_slot) in stems {
                let (weight, mask) = best.entry(stem).or_insert((0.0, 0));
                match of_slot.total_cmp(weight) {
                    std::cmp::Ordering::Greater => (*weight, *mask) = (of_slot, 1 << at),
                    std::cmp::Ordering::Equal => *mask |= 1 << at,
                    std::cmp::Ordering::Less => {}
                }
            }
        }
        let mut present = [0; WORDS];
        for stem in best.keys() {
            let (word, bit) = Self::bit(*stem);
            present[word] |= bit;
        }
        Self { slots: best.into_iter().map(|(stem, (_, mask))| (stem, mask)).collect(), present }
    }

    /// The slots that a stem stands for, one bit each. A compound stands for two slots. A stem
    /// counts only for the slots where its weight is highest.
    #[inline]
    pub fn of(&self, stem: StemId) -> Option<u32> {
        let (word, bit) = Self::bit(stem);
        if self.present[word] & bit == 0 { None } else { self.slots.get(&stem).copied() }
    }

    /// The stems and their slots, in any order.
    pub fn iter(&self) -> impl Iterator<Item = (StemId, u32)> + '_ {
        self.slots.iter().map(|(stem, slots)| (*stem, *slots))
    }

    const fn bit(stem: StemId) -> (usize, u64) {
        (stem as usize / 64 % WORDS, 1 << (stem % 64))
    }
}
