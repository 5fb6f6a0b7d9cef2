//! Texts of which one is asked for at a time, packed: pieces of up to eight bytes that occur often are one byte each.
//!
//! That is FSST (Boncz, Neumann, Leis: "FSST: Fast Random Access String Compression", VLDB 2020). Any text is unpacked
//! alone, in about the time that it takes to copy it, which a general compression takes several times.

use fsst::{Compressor, Decompressor, Symbol};
use serde::{Deserialize, Serialize};

/// How many pieces a table has at most.
const MOST: usize = 255;

/// Packs texts.
pub struct Packer(Compressor);

impl std::fmt::Debug for Packer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Packer").finish_non_exhaustive()
    }
}

impl Packer {
    /// A packer for texts such as these.
    #[must_use]
    pub fn new(sample: &[Vec<u8>]) -> Self {
        Self(Compressor::train(&sample.iter().map(Vec::as_slice).collect()))
    }

    /// Packs a text.
    #[must_use]
    pub fn pack(&self, text: &[u8]) -> Vec<u8> {
        self.0.compress(text)
    }

    /// What it takes to unpack what was packed.
    #[must_use]
    pub fn pieces(&self) -> Pieces {
        Pieces {
            texts: self.0.symbol_table().iter().map(|symbol| symbol.to_u64()).collect(),
            lengths: self.0.symbol_lengths().to_vec(),
        }
    }
}

/// The pieces that one byte each stands for.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Pieces {
    /// The bytes of each, the first in the lowest.
    texts: Vec<u64>,
    /// How many they are, 1 to 8.
    lengths: Vec<u8>,
}

/// Unpacks texts.
pub struct Unpacker {
    texts: Box<[Symbol; MOST]>,
    lengths: Box<[u8; MOST]>,
}

impl std::fmt::Debug for Unpacker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Unpacker").finish_non_exhaustive()
    }
}

impl Unpacker {
    /// Unpacks what was packed with these pieces; `None` where they make no sense.
    #[must_use]
    pub fn new(pieces: &Pieces) -> Option<Self> {
        let sound = pieces.texts.len() == pieces.lengths.len()
            && pieces.texts.len() <= MOST
            && pieces.lengths.iter().all(|length| (1..=8).contains(length));
        if !sound {
            return None;
        }
        let mut unpacker = Self { texts: Box::new([Symbol::ZERO; MOST]), lengths: Box::new([0; MOST]) };
        for (to, text) in unpacker.texts.iter_mut().zip(&pieces.texts) {
            *to = Symbol::from_slice(&text.to_le_bytes());
        }
        for (to, length) in unpacker.lengths.iter_mut().zip(&pieces.lengths) {
            *to = *length;
        }
        Some(unpacker)
    }

    /// Unpacks a text.
    #[must_use]
    pub fn unpack(&self, packed: &[u8]) -> Vec<u8> {
        Decompressor::new(&self.texts, &self.lengths).decompress(packed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unpacker(packer: &Packer) -> Unpacker {
        let stored = postcard::to_stdvec(&packer.pieces()).expect("encoded");
        Unpacker::new(&postcard::from_bytes(&stored).expect("decoded")).expect("sound")
    }

    #[test]
    fn what_was_packed_comes_back() {
        let sample: Vec<Vec<u8>> = (0..100).map(|n| format!("{{\"name\":\"text {n}\",\"tags\":[]}}").into()).collect();
        let packer = Packer::new(&sample);
        let unpacker = unpacker(&packer);
        // Of what it was made for, of nothing, and of bytes that it never saw.
        let unseen: Vec<u8> = (0..=255).chain((0..=255).rev()).collect();
        for text in sample.iter().map(Vec::as_slice).chain([&b""[..], b"x", &unseen]) {
            assert_eq!(unpacker.unpack(&packer.pack(text)), text);
        }
        assert!(packer.pack(&sample[50]).len() * 2 < sample[50].len());
    }

    #[test]
    fn a_packer_without_a_sample_packs_all_the_same() {
        let packer = Packer::new(&[]);
        assert_eq!(unpacker(&packer).unpack(&packer.pack(b"text")), b"text");
    }

    #[test]
    fn pieces_that_make_no_sense_are_refused() {
        let pieces = |texts: usize, lengths: &[u8]| Pieces { texts: vec![0; texts], lengths: lengths.to_vec() };
        assert!(Unpacker::new(&pieces(2, &[1, 8])).is_some());
        for wrong in [pieces(2, &[1]), pieces(1, &[0]), pieces(1, &[9]), pieces(256, &[1; 256])] {
            assert!(Unpacker::new(&wrong).is_none(), "{wrong:?}");
        }
    }
}
