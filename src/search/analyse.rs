//! The analyzer: splits text into words, at index time and at query time alike.

use std::ops::{Range, RangeInclusive};

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// A word of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// Lower case, accents kept (NFC).
    pub spelling: String,
    /// Lower case, accents folded: the form in which words are compared.
    pub folded: String,
    /// Where it starts in the text, in bytes.
    pub start: usize,
    /// Where it ends in the text, in bytes.
    pub end: usize,
    /// How it follows the word before.
    pub gap: Gap,
}

/// The separator between a word and the word before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gap {
    /// A hyphen, a slash or similar, or a dot inside a name, without white space: `lock-out`, `Rocket.Chat`.
    Joined,
    /// White space.
    Space,
    /// The text's start, or punctuation that ends a phrase.
    Break,
    /// A colon between a number and a year: an edition, `45001:2018`.
    Edition,
}

impl Word {
    /// Whether the text writes the word in capitals, two letters at least: `VA`, `SHE`.
    #[must_use]
    pub fn is_capitals(&self, text: &str) -> bool {
        let written = &text[self.start..self.end];
        written.chars().filter(|c| c.is_alphabetic()).count() >= 2 && !written.chars().any(char::is_lowercase)
    }
}

/// The words of a text, in order.
///
/// A word is a run of letters, marks and digits of any script. Beyond that: `&` inside a word is dropped (`EH&S` is
/// `ehs`); `+` and `#` at its end and a dot at its start belong to it (`C++`, `C#`, `.NET`); a dot between digits too
/// (`3.5`); a possessive `'s` does not. Runs in scripts that don't separate words become overlapping pairs of characters.
#[must_use]
pub fn words(text: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let mut scanner = Scanner { text, at: 0, gap: Gap::Break };
    while let Some((start, end, gap)) = scanner.next_run() {
        push_run(&mut words, text, start, end, gap);
    }
    words
}

/// Where the words of a text are, in bytes: as [`words`] finds them, without spelling or folding them.
#[must_use]
pub fn places(text: &str) -> Vec<Range<usize>> {
    let mut places = Vec::new();
    let mut scanner = Scanner { text, at: 0, gap: Gap::Break };
    while let Some((start, end, gap)) = scanner.next_run() {
        push_places(&mut places, text, start, end, gap);
    }
    places
}

/// Writes down where some words of a text are, in bytes: those with these numbers, ascending, counted from 0 as [`words`]
/// finds them.
pub fn places_of(text: &str, numbers: &[usize], places: &mut Vec<Range<usize>>) {
    places.clear();
    let mut wanted = numbers.iter().copied().peekable();
    let mut scanner = Scanner { text, at: 0, gap: Gap::Break };
    let mut count = 0;
    let mut several = Vec::new();
    while wanted.peek().is_some() {
        if let Some((words, end)) = scanner.block() {
            let start = scanner.at;
            let mut starts = words & !(words << 1);
            let in_block = starts.count_ones() as usize;
            let mut passed = 0;
            while let Some(number) = wanted.next_if(|number| *number < count + in_block) {
                while passed < number - count {
                    starts &= starts - 1;
                    passed += 1;
                }
                let from = starts.trailing_zeros();
                let length = (!(words >> from)).trailing_zeros();
                places.push(start + from as usize..start + (from + length) as usize);
            }
            count += in_block;
            scanner.at = end;
            continue;
        }
        let Some((start, end, gap)) = scanner.next_run() else { break };
        several.clear();
        push_places(&mut several, text, start, end, gap);
        while let Some(number) = wanted.next_if(|number| *number < count + several.len()) {
            places.push(several[number - count].clone());
        }
        count += several.len();
    }
}

fn push_places(places: &mut Vec<Range<usize>>, text: &str, start: usize, end: usize, gap: Gap) {
    if text[start..end].is_ascii() {
        places.push(start..end);
    } else {
        let mut words = Vec::new();
        push_run(&mut words, text, start, end, gap);
        places.extend(words.into_iter().map(|word| word.start..word.end));
    }
}

/// The whole name, as names are compared: its folded words written as one, for `Rocket.Chat` is `rocketchat` too.
#[must_use]
pub fn title_key(words: &[Word]) -> String {
    words.iter().map(|word| word.folded.as_str()).collect()
}

/// Two neighbouring words as one.
#[must_use]
pub fn compound(word: &Word, next: &Word) -> String {
    format!("{}{}", word.folded, next.folded)
}

/// Words as a text writes them, from the first to the last.
#[must_use]
pub fn written<'t>(text: &'t str, words: &[Word]) -> &'t str {
    words.first().zip(words.last()).map_or("", |(first, last)| &text[first.start..last.end])
}

/// The class of a byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A letter or digit.
    Word,
    /// Never part of a word.
    Between,
    /// Part of a word or not, depending on its neighbours.
    Open,
}

const KINDS: [Kind; 256] = {
    let mut kinds = [Kind::Open; 256];
    let mut byte = 0;
    while byte < 128_u8 {
        kinds[byte as usize] = match byte {
            b'.' | b'&' | b'+' | b'#' | b'\'' => Kind::Open,
            _ if byte.is_ascii_alphanumeric() => Kind::Word,
            _ => Kind::Between,
        };
        byte += 1;
    }
    kinds
};

/// How many bytes are looked at together.
const BLOCK: usize = 64;

/// One bit for each byte, which is 0 or 1.
fn bits(bytes: [u8; BLOCK]) -> u64 {
    // The product has the lowest bits of all eight in its highest byte.
    const GATHER: u64 = 0x0102_0408_1020_4080;
    let (eights, _) = bytes.as_chunks();
    eights.iter().rev().fold(0, |bits, eight| bits << 8 | u64::from_le_bytes(*eight).wrapping_mul(GATHER) >> 56)
}

struct Scanner<'t> {
    text: &'t str,
    at: usize,
    gap: Gap,
}

impl Scanner<'_> {
    /// The next run of word characters: start, end and the separator before it.
    #[inline]
    fn next_run(&mut self) -> Option<(usize, usize, Gap)> {
        self.next_plain_run().or_else(|| self.next_other_run())
    }

    /// A fast path of [`Self::next_run`] that decides by single bytes, which is enough for most words. `None` where it isn't, or at
    /// the end.
    #[inline]
    fn next_plain_run(&mut self) -> Option<(usize, usize, Gap)> {
        let bytes = self.text.as_bytes();
        let kind = |at: usize| bytes.get(at).map(|byte| KINDS[usize::from(*byte)]);
        // A dot is part of a word only directly before a word character.
        let is_stop = |at: usize| bytes[at] == b'.' && kind(at + 1).is_none_or(|kind| kind == Kind::Between);
        let (mut start, mut gap) = (self.at, self.gap);
        loop {
            match kind(start)? {
                Kind::Word => break,
                Kind::Open if !is_stop(start) => return None,
                _ if gap == Gap::Joined && bytes[start] == b' ' => gap = Gap::Space,
                _ => gap = widen(gap, bytes[start].into()),
            }
            start += 1;
        }
        let mut end = start + 1;
        while kind(end) == Some(Kind::Word) {
            end += 1;
        }
        if gap == Gap::Edition || (kind(end) == Some(Kind::Open) && !is_stop(end)) {
            return None;
        }
        (self.at, self.gap) = (end, Gap::Joined);
        Some((start, end, gap))
    }

    /// A bitmap of the next 64 bytes, the first in the lowest bit, with a bit for each letter or digit of a word that ends among
    /// them, and the end of the bytes that it covers. `None` where no word can be decided by single bytes, or fewer bytes are
    /// left. The byte before must not belong to the first word.
    #[inline]
    fn block(&self) -> Option<(u64, usize)> {
        let block = self.text.as_bytes()[self.at..].first_chunk::<BLOCK>()?;
        let is = |any: &[RangeInclusive<u8>], byte: u8| any.iter().fold(0, |is, of| is | u8::from(of.contains(&byte)));
        // Compared all at once, without a branch: where words end can't be foreseen.
        let words = bits(block.map(|byte| is(&[b'0'..=b'9', b'A'..=b'Z', b'a'..=b'z'], byte)));
        let dots = bits(block.map(|byte| is(&[b'.'..=b'.'], byte)));
        let open = bits(block.map(|byte| is(&[b'#'..=b'#', b'&'..=b'\'', b'+'..=b'+', 0x80..=0xff], byte)));
        // A dot is part of a word only directly before a word character; behind the last byte the next one isn't known.
        let open = open | (dots & (((words | dots | open) >> 1) | 1 << (BLOCK - 1)));
        let told = open.trailing_zeros();
        let words = words.checked_shl(u64::BITS - told)?;
        let begun = words.leading_ones();
        let end = told - begun;
        (end > 0).then(|| (words << begun >> (u64::BITS - end), self.at + end as usize))
    }

    #[cold]
    fn next_other_run(&mut self) -> Option<(usize, usize, Gap)> {
        let (start, gap) = self.next_start()?;
        let end = self.run_end(start);
        let stop = self.text[end..].strip_prefix("'s").or_else(|| self.text[end..].strip_prefix("’s"));
        self.at = match stop {
            Some(rest) if !rest.starts_with(char::is_alphanumeric) => self.text.len() - rest.len(),
            _ => end,
        };
        // Behind a word nothing separates yet; the characters up to the next word decide.
        self.gap = Gap::Joined;
        let edition = gap == Gap::Edition && self.text[start..end].len() == 4 && is_digits(&self.text[start..end]);
        let gap = match gap {
            Gap::Edition if !edition => Gap::Break,
            gap => gap,
        };
        Some((start, end, gap))
    }

    /// Where the next run starts, and what stands before it.
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

    /// Where the run that starts here ends.
    fn run_end(&self, start: usize) -> usize {
        let mut chars = self.text[start..].char_indices().peekable();
        let mut end = start;
        let mut last = None;
        while let Some((at, c)) = chars.next() {
            let next = chars.peek().map(|(_, c)| *c);
            let inside = c.is_alphanumeric()
                || (!c.is_ascii() && is_combining_mark(c))
                || (at == 0 && c == '.')
                || (c == '&' && last.is_some_and(char::is_alphanumeric) && next.is_some_and(char::is_alphanumeric))
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

/// Whether `+` or `#` signs end a word (`C++`, `C#`, `F#`, `Notepad++`) rather than stand between two (`a+b`).
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

fn push_run(words: &mut Vec<Word>, text: &str, start: usize, end: usize, gap: Gap) {
    let run = &text[start..end];
    if run.is_ascii() {
        let spelling = normal(run);
        words.push(Word { folded: spelling.clone(), spelling, start, end, gap });
        return;
    }
    let mut from = 0;
    let mut gap = gap;
    let mut chars = run.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if is_unseparated(c) {
            push_word(words, run, from, at, start, gap);
            let second = chars.peek().filter(|(_, c)| is_unseparated(*c)).map(|(at, c)| at + c.len_utf8());
            // The last character of a run is in a pair already, unless it stands alone.
            let alone = !run[..at].ends_with(is_unseparated);
            if second.is_some() || alone {
                push_word(words, run, at, second.unwrap_or(at + c.len_utf8()), start, gap);
                gap = Gap::Joined;
            }
            from = at + c.len_utf8();
        }
    }
    push_word(words, run, from, run.len(), start, gap);
}

fn push_word(words: &mut Vec<Word>, run: &str, from: usize, to: usize, offset: usize, gap: Gap) {
    if from < to {
        let spelling = normal(&run[from..to]);
        let folded = fold(&spelling);
        if !folded.is_empty() {
            words.push(Word { spelling, folded, start: offset + from, end: offset + to, gap });
        }
    }
}

/// Lower case, composed, `&` dropped.
fn normal(word: &str) -> String {
    if word.is_ascii() {
        let mut word = word.to_ascii_lowercase();
        word.retain(|c| c != '&');
        return word;
    }
    word.chars().filter(|c| *c != '&').flat_map(char::to_lowercase).nfc().collect()
}

/// Folds accents and compatibility forms, and the letters that don't decompose but are written without their stroke or
/// ligature on keyboards that lack them.
#[must_use]
pub fn fold(word: &str) -> String {
    if word.is_ascii() {
        return word.to_owned();
    }
    let mut folded = String::with_capacity(word.len());
    for c in word.nfkd().filter(|c| !is_combining_mark(*c)).flat_map(char::to_lowercase) {
        match c {
            'ß' => folded.push_str("ss"),
            'æ' => folded.push_str("ae"),
            'œ' => folded.push_str("oe"),
            'ø' => folded.push('o'),
            'đ' | 'ð' => folded.push('d'),
            'ł' => folded.push('l'),
            'þ' => folded.push_str("th"),
            'ı' => folded.push('i'),
            'ς' => folded.push('σ'),
            c => folded.push(c),
        }
    }
    folded
}

/// Whether a character belongs to a script that doesn't put spaces between words.
fn is_unseparated(c: char) -> bool {
    matches!(u32::from(c),
        0x0E00..=0x0EFF        // Thai, Lao
        | 0x1000..=0x109F      // Myanmar
        | 0x1780..=0x17FF      // Khmer
        | 0x3040..=0x30FF      // Hiragana, Katakana
        | 0x3400..=0x4DBF      // CJK extension A
        | 0x4E00..=0x9FFF      // CJK unified ideographs
        | 0xF900..=0xFAFF      // CJK compatibility ideographs
        | 0xFF66..=0xFF9D      // half-width Katakana
        | 0x20000..=0x3FFFF) // CJK extensions B and up
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn folded(text: &str) -> Vec<String> {
        words(text).into_iter().map(|word| word.folded).collect()
    }

    #[test]
    fn words_are_runs_of_letters_and_digits() {
        assert_eq!(folded("Lock-out/tag out, ISO9001: (EH&S)"), ["lock", "out", "tag", "out", "iso9001", "ehs"]);
        assert_eq!(
            folded("the employer's duty, l’audit, workers'"),
            ["the", "employer", "duty", "l", "audit", "workers"]
        );
        assert_eq!(folded("(((((("), [""; 0]);
    }

    #[test]
    fn names_of_odd_letters_stay_whole() {
        assert_eq!(folded("C++ C# .NET R k6 Notepad++ F#"), ["c++", "c#", ".net", "r", "k6", "notepad++", "f#"]);
        assert_eq!(folded("a+b asp.net 3.5 v1.2."), ["a", "b", "asp", "net", "3.5", "v1.2"]);
        assert_eq!(folded("end. Next"), ["end", "next"]);
    }

    #[test]
    fn accents_are_folded_and_the_spelling_is_kept() {
        let words = words("Zürich STRASSE Straße E\u{301}cole Łódź");
        let pairs: Vec<_> = words.iter().map(|w| (w.spelling.as_str(), w.folded.as_str())).collect();
        assert_eq!(
            pairs,
            [("zürich", "zurich"), ("strasse", "strasse"), ("straße", "strasse"), ("école", "ecole"), ("łódź", "lodz")]
        );
    }

    #[test]
    fn scripts_without_spaces_become_pairs() {
        assert_eq!(folded("安全管理"), ["安全", "全管", "管理"]);
        assert_eq!(folded("QHSE安全"), ["qhse", "安全"]);
        assert_eq!(folded("火"), ["火"]);
        assert_eq!(folded("Охрана труда"), ["охрана", "труда"]);
    }

    #[test]
    fn gaps_tell_compounds_phrases_and_editions_apart() {
        let gaps = |text| words(text).into_iter().map(|w| w.gap).collect::<Vec<_>>();
        assert_eq!(gaps("lock-out tag, out"), [Gap::Break, Gap::Joined, Gap::Space, Gap::Break]);
        assert_eq!(gaps("ISO 45001:2018"), [Gap::Break, Gap::Space, Gap::Edition]);
        assert_eq!(gaps("note: this"), [Gap::Break, Gap::Break]);
        assert_eq!(gaps("Rocket.Chat. And..more"), [Gap::Break, Gap::Joined, Gap::Break, Gap::Break]);
    }

    #[test]
    fn offsets_point_at_the_text() {
        let text = "Évaluation des risques (C++)";
        let written: Vec<_> = words(text).iter().map(|w| &text[w.start..w.end]).collect();
        assert_eq!(written, ["Évaluation", "des", "risques", "C++"]);
    }

    proptest! {
        #[test]
        fn words_are_found_in_the_same_places_without_spelling_them(
            text in r"([a-zA-Z0-9]{1,9}|[a-z ]{9,20}|[ .,:&+#'-]|’s|'s|[é安\u{301}ß]){0,40}", some in any::<u64>()
        ) {
            let all: Vec<_> = words(&text).into_iter().map(|word| word.start..word.end).collect();
            prop_assert_eq!(&places(&text), &all);
            let numbers: Vec<_> = (0..64).filter(|number| some >> number & 1 == 1).collect();
            let wanted: Vec<_> = numbers.iter().filter_map(|number| all.get(*number).cloned()).collect();
            let mut found = Vec::new();
            places_of(&text, &numbers, &mut found);
            prop_assert_eq!(found, wanted);
        }

        #[test]
        fn words_do_not_depend_on_the_text_behind_them(text in r"([a-zA-Z0-9]{1,3}|[ .,:&+#'-]|’s|'s){0,24}") {
            // A letter of another script ends the fast path.
            let (plain, other) = (words(&text), words(&format!("{text} é")));
            prop_assert_eq!(&plain[..], &other[..other.len() - 1]);
        }
    }

    #[test]
    fn capitals_need_two_letters() {
        let text = "SHE she S 9001 EH&S";
        let capitals: Vec<_> = words(text).iter().map(|w| w.is_capitals(text)).collect();
        assert_eq!(capitals, [true, false, false, false, true]);
    }
}
