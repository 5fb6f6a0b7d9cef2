//! Converts byte offsets to lines and columns, for findings.

use std::ops::Range;

use crate::export::SourceSpan;

/// Distance between checkpoints in bytes. A lookup never reads more than that, even if the file is
/// a single line.
const STRIDE: usize = 4096;

/// Line and column at every [`STRIDE`]th byte of a file.
#[derive(Debug)]
pub(in crate::export) struct Locator {
    checkpoints: Vec<Position>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Position {
    line: usize,
    column: usize,
}

impl Position {
    fn advance(mut self, bytes: &[u8]) -> Self {
        for byte in bytes {
            if *byte == b'\n' {
                self.line += 1;
                self.column = 1;
            } else if byte & 0b1100_0000 != 0b1000_0000 {
                self.column += 1;
            }
        }
        self
    }
}

impl Locator {
    pub(in crate::export) fn new(bytes: &[u8]) -> Self {
        let mut at = Position { line: 1, column: 1 };
        let mut checkpoints = vec![at];
        for block in bytes.chunks(STRIDE) {
            at = at.advance(block);
            checkpoints.push(at);
        }
        Self { checkpoints }
    }

    /// The part of the file that's needed to locate an offset in it.
    pub(in crate::export) const fn before(offset: usize) -> Range<usize> {
        offset - offset % STRIDE..offset
    }

    /// A range's line and column, given the part [`before`](Self::before) its start.
    pub(in crate::export) fn place(&self, before: &[u8], range: Range<usize>) -> SourceSpan {
        let Position { line, column } = self.checkpoints[range.start / STRIDE].advance(before);
        SourceSpan { range, line, column }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters_and_not_bytes() {
        let text = "ab\n\"Évaluation\" x";
        let at = text.find('x').expect("an x");
        let place = Locator::new(text.as_bytes()).place(&text.as_bytes()[Locator::before(at)], at..at + 1);
        assert_eq!((place.line, place.column), (2, 14));
    }

    #[test]
    fn a_location_far_into_a_long_line_is_exact() {
        let text = "é".repeat(3 * STRIDE) + "\n!" + &"z".repeat(STRIDE);
        let locator = Locator::new(text.as_bytes());
        for (offset, line, column) in [(2 * STRIDE, 1, STRIDE + 1), (6 * STRIDE + 1, 2, 1), (text.len(), 2, STRIDE + 2)]
        {
            let place = locator.place(&text.as_bytes()[Locator::before(offset)], offset..offset);
            assert_eq!((place.line, place.column), (line, column), "offset {offset}");
        }
    }
}
