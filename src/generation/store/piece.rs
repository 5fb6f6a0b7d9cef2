//! The pieces that large parts are split into. They let a follower find the data it already has.

use std::io::{self, Write};

use serde::{Deserialize, Serialize};

use crate::scratch::Cutter;

/// The maximum size of a piece in bytes. Pieces are read into memory whole. The largest possible
/// piece of a 64 GiB part is this size.
pub(super) const MAX_PIECE_BYTES: u64 = 64 << 20;

/// A piece of a part. It starts where the previous one ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Piece {
    /// The piece's size in bytes.
    pub size: u64,
    /// The piece's BLAKE3 hash, in hexadecimal digits.
    pub blake3: String,
}

/// Hashes a part while it's being written, as a whole and in pieces.
pub(super) struct PartHasher {
    whole: blake3::Hasher,
    piece: blake3::Hasher,
    cutter: Cutter,
    pieces: Vec<Piece>,
}

impl PartHasher {
    /// A hasher for a part of this size in bytes.
    pub(super) fn new(size: u64) -> Self {
        let (whole, piece) = (blake3::Hasher::new(), blake3::Hasher::new());
        Self { whole, piece, cutter: Cutter::new(size), pieces: Vec::new() }
    }

    /// The part's hash and its pieces; no pieces if there would be only one.
    pub(super) fn finish(mut self) -> (blake3::Hash, Vec<Piece>) {
        if self.piece.count() > 0 {
            self.end_piece();
        }
        (self.whole.finalize(), if self.pieces.len() > 1 { self.pieces } else { Vec::new() })
    }

    fn end_piece(&mut self) {
        let blake3 = self.piece.finalize().to_hex().as_str().to_owned();
        self.pieces.push(Piece { size: self.piece.count(), blake3 });
        self.piece.reset();
    }
}

impl Write for PartHasher {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let (length, is_end) = self.cutter.next(bytes);
        self.whole.update(&bytes[..length]);
        self.piece.update(&bytes[..length]);
        if is_end {
            self.end_piece();
        }
        Ok(length)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hashed(content: &[u8]) -> (blake3::Hash, Vec<Piece>) {
        let mut hasher = PartHasher::new(content.len() as u64);
        content.chunks(100_000).for_each(|bytes| hasher.write_all(bytes).expect("in memory"));
        hasher.finish()
    }

    #[test]
    fn a_part_and_its_pieces_are_hashed() {
        let mut content = vec![0; 3_000_000];
        blake3::Hasher::new().finalize_xof().fill(&mut content);
        let (hash, pieces) = hashed(&content);
        assert_eq!(hash, blake3::hash(&content));
        let mut rest = &content[..];
        for piece in &pieces {
            let (bytes, after) = rest.split_at(usize::try_from(piece.size).expect("small"));
            assert_eq!(piece.blake3, blake3::hash(bytes).to_hex().as_str());
            rest = after;
        }
        assert!(rest.is_empty() && pieces.len() > 2);
    }

    #[test]
    fn a_part_with_a_single_piece_lists_none() {
        for content in [vec![1; 50_000], Vec::new()] {
            assert_eq!(hashed(&content), (blake3::hash(&content), Vec::new()));
        }
    }
}
