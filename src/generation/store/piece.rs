//! Pieces of large parts, which a follower takes from the generations that it has and needn't receive. The content itself decides
//! where they end (a gear hash, as in `FastCDC`: Xia et al., 2016), so after a change most pieces are the same, wherever they lie.

use std::io::{self, Write};

use serde::{Deserialize, Serialize};

/// The average size of a piece, as a power of two. The smallest have a quarter of it, the largest four times as much.
const SIZE_LOG: u32 = 18;
/// The most pieces of a part on average, as a power of two: those of larger parts are larger, to keep manifests small.
const PIECES_LOG: u32 = 12;

/// A piece of a part. It begins where the one before it ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Piece {
    /// Its size in bytes.
    pub size: u64,
    /// Its BLAKE3 hash, in hexadecimal digits.
    pub blake3: String,
}

/// A random number for each byte (`SplitMix64`).
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

/// Cuts the content of a part that is written to it.
pub(super) struct Cutter {
    size_log: u32,
    /// The bytes of the current piece.
    length: u64,
    /// The hash of the last 64 bytes: older ones are shifted out.
    gear: u64,
    hasher: blake3::Hasher,
    pieces: Vec<Piece>,
    of_part: blake3::Hasher,
}

impl Cutter {
    /// A cutter of a part of this size in bytes.
    pub(super) fn new(size: u64) -> Self {
        let size_log = size.checked_ilog2().unwrap_or(0).saturating_sub(PIECES_LOG).max(SIZE_LOG);
        let (hasher, of_part) = (blake3::Hasher::new(), blake3::Hasher::new());
        Self { size_log, length: 0, gear: 0, hasher, pieces: Vec::new(), of_part }
    }

    /// The hash of the part and its pieces; none for a part of one piece.
    pub(super) fn finish(mut self) -> (blake3::Hash, Vec<Piece>) {
        if self.length > 0 {
            self.end_piece();
        }
        (self.of_part.finalize(), if self.pieces.len() > 1 { self.pieces } else { Vec::new() })
    }

    fn end_piece(&mut self) {
        self.pieces.push(Piece { size: self.length, blake3: self.hasher.finalize().to_hex().as_str().to_owned() });
        self.hasher.reset();
        (self.length, self.gear) = (0, 0);
    }

    /// How many of the next bytes belong to the current piece, and whether it ends with them.
    fn next(&mut self, bytes: &[u8]) -> (usize, bool) {
        let up_to = |length: u64| usize::try_from(length.saturating_sub(self.length)).unwrap_or(usize::MAX);
        let (least, most) = (up_to(1 << (self.size_log - 2)), up_to(1 << (self.size_log + 2)));
        let mut gear = self.gear;
        for (at, byte) in bytes.iter().enumerate().take(most).skip(least) {
            gear = (gear << 1).wrapping_add(GEAR[usize::from(*byte)]);
            if gear >> (u64::BITS - self.size_log) == 0 {
                return (at + 1, true);
            }
        }
        self.gear = gear;
        (bytes.len().min(most), bytes.len() >= most)
    }
}

impl Write for Cutter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let (taken, is_end) = self.next(bytes);
        self.hasher.update(&bytes[..taken]);
        self.of_part.update(&bytes[..taken]);
        self.length += taken as u64;
        if is_end {
            self.end_piece();
        }
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
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

    /// The pieces of a content that is written in blocks.
    fn pieces(content: &[u8], block: usize) -> Vec<Piece> {
        let mut cutter = Cutter::new(content.len() as u64);
        content.chunks(block).for_each(|bytes| cutter.write_all(bytes).expect("in memory"));
        let (hash, pieces) = cutter.finish();
        assert_eq!(hash, blake3::hash(content));
        pieces
    }

    #[test]
    fn pieces_are_the_content_in_order_and_within_their_sizes() {
        let content = noise(4_000_000);
        let pieces = pieces(&content, usize::MAX);
        let mut rest = &content[..];
        for (number, piece) in pieces.iter().enumerate() {
            let (bytes, after) = rest.split_at(usize::try_from(piece.size).expect("small"));
            assert_eq!(piece.blake3, blake3::hash(bytes).to_hex().as_str());
            assert!(piece.size <= 1 << 20 && (piece.size >= 1 << 16 || number == pieces.len() - 1), "{piece:?}");
            rest = after;
        }
        assert!(rest.is_empty());
        assert!((6..=30).contains(&pieces.len()), "{}", pieces.len());
    }

    #[test]
    fn pieces_do_not_depend_on_the_blocks_that_the_content_is_written_in() {
        let content = noise(2_000_000);
        let whole = pieces(&content, usize::MAX);
        for block in [1, 1000, 65_536, 1 << 16, 300_000] {
            assert_eq!(pieces(&content, block), whole, "{block}");
        }
    }

    #[test]
    fn content_that_never_ends_a_piece_is_cut_at_the_largest_size() {
        let sizes: Vec<_> = pieces(&vec![0; 5 << 19], 100_000).iter().map(|piece| piece.size).collect();
        assert_eq!(sizes, [1 << 20, 1 << 20, 1 << 19]);
    }

    #[test]
    fn byte_more_changes_few_pieces() {
        let content = noise(8_000_000);
        let before: HashSet<_> = pieces(&content, usize::MAX).into_iter().map(|piece| piece.blake3).collect();
        let mut longer = content;
        longer.insert(3_000_000, b'x');
        let after = pieces(&longer, usize::MAX);
        let changed = after.iter().filter(|piece| !before.contains(&piece.blake3)).count();
        assert!((1..=3).contains(&changed), "{changed} of {}", after.len());
    }

    #[test]
    fn small_part_has_no_pieces_and_a_huge_one_larger_pieces() {
        assert_eq!(pieces(&noise(50_000), usize::MAX), []);
        assert_eq!(pieces(&[], 1), []);
        assert_eq!([0, 1 << 30, 1 << 31, 1 << 36].map(|size| Cutter::new(size).size_log), [18, 18, 19, 24]);
    }
}
