//! Finds runs of word characters in text: a fast path on single bytes, and a slower one on
//! characters.

use std::ops::RangeInclusive;

use unicode_normalization::char::is_combining_mark;

use super::Gap;
use super::folding::{acronym, is_joiner};

/// What a single byte reveals about whether it's part of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ByteKind {
    Word,
    /// Never part of a word.
    Between,
    /// Part of a word or not, depending on its neighbours.
    Open,
}

const KINDS: [ByteKind; 256] = {
    let mut kinds = [ByteKind::Open; 256];
    let mut byte = 0;
    while byte < 128_u8 {
        kinds[byte as usize] = match byte {
            b'.' | b'&' | b'+' | b'#' | b'\'' => ByteKind::Open,
            _ if byte.is_ascii_alphanumeric() => ByteKind::Word,
            _ => ByteKind::Between,
        };
        byte += 1;
    }
    kinds
};

const BLOCK: usize = 64;

/// A bitmap of the bytes in any of these ranges. Compares all bytes at once, without branches,
/// because word boundaries are unpredictable. Plain loops are vectorised in every build profile.
#[inline]
fn bits<const N: usize>(block: &[u8; BLOCK], any: [RangeInclusive<u8>; N]) -> u64 {
    // The product's highest byte collects the lowest bits of all eight bytes.
    const GATHER: u64 = 0x0102_0408_1020_4080;
    let mut bytes = [0; BLOCK];
    for range in any {
        let (first, last) = (*range.start(), *range.end());
        for (bit, byte) in bytes.iter_mut().zip(block) {
            *bit |= u8::from(byte.wrapping_sub(first) <= last - first);
        }
    }
    let (eights, _) = bytes.as_chunks();
    eights.iter().rev().fold(0, |bits, eight| bits << 8 | u64::from_le_bytes(*eight).wrapping_mul(GATHER) >> 56)
}

pub(super) struct Scanner<'t> {
    text: &'t str,
    at: usize,
    gap: Gap,
}

impl<'t> Scanner<'t> {
    pub(super) const fn new(text: &'t str) -> Self {
        Self { text, at: 0, gap: Gap::Break }
    }

    pub(super) const fn position(&self) -> usize {
        self.at
    }

    /// Continues at the end of a [`block`](Self::block).
    pub(super) const fn skip_to(&mut self, end: usize) {
        self.at = end;
    }

    /// The next run of word characters: its start, end, and the separator before it.
    #[inline]
    pub(super) fn next_run(&mut self) -> Option<(usize, usize, Gap)> {
        self.next_plain_run().or_else(|| self.next_other_run())
    }

    /// A fast path for [`Self::next_run`] that looks at single bytes, which is enough for most
    /// words. `None` if it isn't enough, or at the end.
    #[inline]
    fn next_plain_run(&mut self) -> Option<(usize, usize, Gap)> {
        let bytes = self.text.as_bytes();
        let kind = |at: usize| bytes.get(at).map(|byte| KINDS[usize::from(*byte)]);
        // A dot is part of a word only right before a word character.
        let is_stop = |at: usize| bytes[at] == b'.' && kind(at + 1).is_none_or(|kind| kind == ByteKind::Between);
        let (mut start, mut gap) = (self.at, self.gap);
        loop {
            match kind(start)? {
                ByteKind::Word => break,
                ByteKind::Open if !is_stop(start) => return None,
                _ if gap == Gap::Joined && bytes[start] == b' ' => gap = Gap::Space,
                _ => gap = widen(gap, bytes[start].into()),
            }
            start += 1;
        }
        let mut end = start + 1;
        while kind(end) == Some(ByteKind::Word) {
            end += 1;
        }
        if gap == Gap::Edition || (kind(end) == Some(ByteKind::Open) && !is_stop(end)) {
            return None;
        }
        (self.at, self.gap) = (end, Gap::Joined);
        Some((start, end, gap))
    }

    /// Looks at the next 64 bytes, and returns a bitmap of the letters and digits of all words that
    /// end there (the lowest bit is the first byte), and the offset up to which it's valid. `None`
    /// if looking at single bytes can't delimit any word, or if no text is left. The byte before
    /// the block must not belong to its first word.
    #[inline]
    pub(super) fn block(&self) -> Option<(u64, usize)> {
        let left = &self.text.as_bytes()[self.at..];
        let block = left.first_chunk().copied().unwrap_or_else(|| {
            let mut padded = [b' '; BLOCK];
            padded[..left.len()].copy_from_slice(left);
            padded
        });
        let words = bits(&block, [b'0'..=b'9', b'A'..=b'Z', b'a'..=b'z']);
        let dots = bits(&block, [b'.'..=b'.']);
        let open = bits(&block, [b'#'..=b'#', b'&'..=b'\'', b'+'..=b'+', 0x80..=0xff]);
        // A dot is part of a word only right before a word character. For the last byte, the next
        // byte isn't known.
        let open = open | (dots & (((words | dots | open) >> 1) | 1 << (BLOCK - 1)));
        let decided = open.trailing_zeros();
        let words = words.checked_shl(u64::BITS - decided)?;
        let begun = words.leading_ones();
        let end = decided - begun;
        let is_word_or_gap = end > 0 && !left.is_empty();
        is_word_or_gap.then(|| (words << begun >> (u64::BITS - end), self.at + left.len().min(end as usize)))
    }

    #[cold]
    fn next_other_run(&mut self) -> Option<(usize, usize, Gap)> {
        let (start, gap) = self.next_start()?;
        let end = self.run_end(start);
        let stop = self.text[end..].strip_prefix(['\'', '’']).and_then(|rest| rest.strip_prefix(['s', 'S']));
        self.at = match stop {
            // The last dot of an acronym doesn't end a sentence.
            None if self.text[start..end].contains('.') && acronym(&self.text[start..end]).is_some() => {
                end + usize::from(self.text[end..].starts_with('.'))
            }
            Some(rest) if !rest.starts_with(char::is_alphanumeric) => self.text.len() - rest.len(),
            _ => end,
        };
        // So far, nothing separates this word from the next one.
        self.gap = Gap::Joined;
        let edition = gap == Gap::Edition && self.text[start..end].len() == 4 && is_digits(&self.text[start..end]);
        let gap = match gap {
            Gap::Edition if !edition => Gap::Break,
            gap => gap,
        };
        Some((start, end, gap))
    }

    /// Where the next run starts, and what precedes it.
    fn next_start(&self) -> Option<(usize, Gap)> {
        let mut chars = self.text[self.at..].char_indices().map(|(i, c)| (i + self.at, c)).peekable();
        let mut gap = self.gap;
        let mut before = self.text[..self.at].chars().next_back();
        loop {
            let (at, c) = chars.next()?;
            let starts = c.is_alphanumeric()
                || (c == '.'
                    && before.is_none_or(char::is_whitespace)
                    && chars.peek().is_some_and(|(_, n)| n.is_alphabetic()));
            if starts {
                return Some((at, gap));
            }
            let is_in_name = c == '.'
                && gap == Gap::Joined
                && before.is_some_and(char::is_alphanumeric)
                && chars.peek().is_some_and(|(_, next)| next.is_alphanumeric());
            if !is_in_name {
                gap = widen(gap, c);
            }
            before = Some(c);
        }
    }

    /// Where the run that starts at `start` ends.
    fn run_end(&self, start: usize) -> usize {
        if let Some(length) = acronym(&self.text[start..]) {
            return start + length;
        }
        let mut chars = self.text[start..].char_indices().peekable();
        let mut end = start;
        let mut last = None;
        while let Some((at, c)) = chars.next() {
            let next = chars.peek().map(|(_, c)| *c);
            let inside = c.is_alphanumeric()
                || (!c.is_ascii() && is_combining_mark(c))
                || (at == 0 && c == '.')
                || (c == '&' && is_in_acronym(&self.text[start..start + at], &self.text[start + at + 1..]))
                || (is_joiner(c) && at > 0 && next.is_some_and(char::is_alphanumeric))
                || (c == '.'
                    && last.is_some_and(|l: char| l.is_ascii_digit())
                    && next.is_some_and(|n| n.is_ascii_digit()))
                || (matches!(c, '+' | '#') && belongs_at_end(&self.text[start..start + at], &self.text[start + at..]));
            if !inside {
                break;
            }
            last = Some(c);
            end = start + at + c.len_utf8();
        }
        end
    }
}

/// Whether `&` belongs to an acronym (`EH&S`, `AT&T`) rather than separating two words
/// (`Health&Safety`).
pub(crate) fn is_in_acronym(before: &str, behind: &str) -> bool {
    const SHORTER: usize = 2;
    const BOTH: usize = 5;
    let letters =
        |chars: &mut dyn Iterator<Item = char>| chars.take_while(|c| c.is_alphanumeric()).take(BOTH + 1).count();
    let (before, behind) = (letters(&mut before.chars().rev()), letters(&mut behind.chars()));
    before.min(behind) > 0 && before.min(behind) <= SHORTER && before + behind <= BOTH
}

/// Whether `+` or `#` signs end a word (`C++`, `C#`, `F#`, `Notepad++`) rather than separating two
/// (`a+b`).
fn belongs_at_end(word: &str, rest: &str) -> bool {
    let behind = rest.trim_start_matches(['+', '#']);
    let signs = rest.len() - behind.len();
    word.chars().last().is_some_and(|c| c.is_alphabetic() || matches!(c, '+' | '#'))
        && signs <= 2
        && !behind.starts_with(char::is_alphanumeric)
}

fn widen(gap: Gap, c: char) -> Gap {
    match (gap, c) {
        (Gap::Break, _)
        | (_, ',' | ';' | '.' | '!' | '?' | '(' | ')' | '[' | ']' | '|' | '"' | '“' | '”' | '…' | '\n') => {
            Gap::Break
        }
        (Gap::Joined, ':') => Gap::Edition,
        (_, ':') | (Gap::Edition, _) => Gap::Break,
        (Gap::Space, _) => Gap::Space,
        (Gap::Joined, c) if c.is_whitespace() => Gap::Space,
        (Gap::Joined, _) => Gap::Joined,
    }
}

fn is_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}
