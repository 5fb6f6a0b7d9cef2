//! Content-defined chunking (a gear hash, as in `FastCDC`: Xia et al., 2016). The bytes themselves
//! decide where a piece ends, so after a change most pieces are the same, wherever they have moved.

/// The average piece size, as a power of two. Pieces are at least a quarter and at most four times
/// this size.
const SIZE_LOG: u32 = 18;
/// The maximum average number of pieces, as a power of two. Larger content gets larger pieces.
const PIECES_LOG: u32 = 12;

/// A random number for each byte value (`SplitMix64`).
const GEAR: [u64; 256] = {
    let (mut gear, mut state, mut at) = ([0; 256], 0_u64, 0);
    while at < gear.len() {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        gear[at] = mixed ^ (mixed >> 31);
        at += 1;
    }
    gear
};

/// Cuts bytes into pieces.
#[derive(Debug)]
pub struct Cutter {
    size_log: u32,
    /// The current piece's length so far.
    length: u64,
    /// The hash of the last 64 bytes: older ones are shifted out.
    gear: u64,
}

impl Cutter {
    /// A cutter for this many bytes.
    pub fn new(size: u64) -> Self {
        let size_log = size.checked_ilog2().unwrap_or(0).saturating_sub(PIECES_LOG).max(SIZE_LOG);
        Self { size_log, length: 0, gear: 0 }
    }

    /// Returns how many of the next bytes belong to the current piece, and whether it ends there.
    /// Pass the remaining bytes in the next call.
    pub fn next(&mut self, bytes: &[u8]) -> (usize, bool) {
        let up_to = |length: u64| usize::try_from(length.saturating_sub(self.length)).unwrap_or(usize::MAX);
        let (least, most) = (up_to(1 << (self.size_log - 2)), up_to(1 << (self.size_log + 2)));
        for (at, byte) in bytes.iter().enumerate().take(most).skip(least) {
            self.gear = (self.gear << 1).wrapping_add(GEAR[usize::from(*byte)]);
            if self.gear >> (u64::BITS - self.size_log) == 0 {
                (self.length, self.gear) = (0, 0);
                return (at + 1, true);
            }
        }
        if bytes.len() >= most {
            (self.length, self.gear) = (0, 0);
            return (most, true);
        }
        self.length += bytes.len() as u64;
        (bytes.len(), false)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn noise(length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        blake3::Hasher::new().finalize_xof().fill(&mut bytes);
        bytes
    }

    /// Cuts content that arrives in blocks.
    fn pieces(content: &[u8], block: usize) -> Vec<Vec<u8>> {
        let mut cutter = Cutter::new(content.len() as u64);
        let mut pieces = vec![Vec::new()];
        for mut rest in content.chunks(block) {
            while !rest.is_empty() {
                let (length, is_end) = cutter.next(rest);
                pieces.last_mut().expect("one").extend_from_slice(&rest[..length]);
                rest = &rest[length..];
                if is_end {
                    pieces.push(Vec::new());
                }
            }
        }
        pieces
    }

    #[test]
    fn pieces_add_up_to_the_content_and_stay_within_the_size_limits() {
        let content = noise(4_000_000);
        let pieces = pieces(&content, usize::MAX);
        assert!(pieces.concat() == content);
        let (_, all_but_the_last) = pieces.split_last().expect("pieces");
        assert!(all_but_the_last.iter().all(|piece| (1 << 16..=1 << 20).contains(&piece.len())));
        assert!((6..=30).contains(&pieces.len()), "{}", pieces.len());
    }

    #[test]
    fn pieces_do_not_depend_on_how_the_content_is_split_into_blocks() {
        let content = noise(2_000_000);
        let whole = pieces(&content, usize::MAX);
        for block in [1, 1000, 65_535, 65_536, 300_000] {
            assert!(pieces(&content, block) == whole, "{block}");
        }
    }

    #[test]
    fn content_without_natural_boundaries_is_cut_at_the_maximum_size() {
        let sizes: Vec<_> = pieces(&vec![0; 5 << 19], 100_000).iter().map(Vec::len).collect();
        assert_eq!(sizes, [1 << 20, 1 << 20, 1 << 19]);
    }

    #[test]
    fn an_inserted_byte_changes_few_pieces() {
        let mut content = noise(8_000_000);
        let before: HashSet<_> = pieces(&content, usize::MAX).into_iter().collect();
        content.insert(3_000_000, b'x');
        let after = pieces(&content, usize::MAX);
        let changed = after.iter().filter(|piece| !before.contains(*piece)).count();
        assert!((1..=3).contains(&changed), "{changed} of {}", after.len());
    }

    #[test]
    fn huge_content_is_cut_into_larger_pieces() {
        assert_eq!([0, 1 << 30, 1 << 31, 1 << 36].map(|size| Cutter::new(size).size_log), [18, 18, 19, 24]);
    }
}
