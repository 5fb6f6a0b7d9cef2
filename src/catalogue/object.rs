//! Resources as bytes ready to send.

/// How many pieces an object has at most.
const PIECES: usize = 4;

/// A resource's JSON object as a generation holds it: its text without the closing brace, so that a caller can append
/// members (a hit's score) without parsing it. It is in pieces, some of which many objects have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenObject<'s>([&'s [u8]; PIECES]);

impl<'s> OpenObject<'s> {
    /// What these pieces are in a row.
    pub(super) const fn of(pieces: [&'s [u8]; PIECES]) -> Self {
        Self(pieces)
    }

    /// Its pieces, in a row.
    pub(super) const fn pieces(&self) -> [&'s [u8]; PIECES] {
        self.0
    }

    /// How long it is without the closing brace, in bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.iter().map(|piece| piece.len()).sum()
    }

    /// Whether it is nothing at all, which no resource is.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Appends it without the closing brace.
    pub fn write_open(&self, out: &mut Vec<u8>) {
        self.0.iter().for_each(|piece| out.extend_from_slice(piece));
    }

    /// Appends the whole object.
    pub fn write(&self, out: &mut Vec<u8>) {
        self.write_open(out);
        out.push(b'}');
    }
}
