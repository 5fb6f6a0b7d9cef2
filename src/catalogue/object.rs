//! Resources as bytes ready to send.

/// A resource's JSON object without the closing brace, so that a caller can append members without parsing it (a hit's score).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenObject<'s>(pub(super) &'s [u8]);

impl OpenObject<'_> {
    /// The length without the closing brace, in bytes.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether it is nothing at all, which no resource is.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Appends it without the closing brace.
    pub fn write_open(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.0);
    }

    /// Appends the whole object.
    pub fn write(&self, out: &mut Vec<u8>) {
        self.write_open(out);
        out.push(b'}');
    }
}
