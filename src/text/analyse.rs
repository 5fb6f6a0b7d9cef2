//! The analyzer: splits text into words, both at index time and at query time.

use std::ops::{Range, RangeInclusive};

use unicode_normalization::char::is_combining_mark;

use super::fold::{self, acronym, fold, is_dropped, is_joiner, is_mark, is_unseparated, normal};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// The word in lower case without accents, which is the form in which words are compared.
    pub folded: String,
    /// The word in lower case with accents (NFC), if that differs.
    pub accented: Option<String>,
    /// Byte offset of the word's start in the text.
    pub start: usize,
    /// Byte offset of the word's end in the text.
    pub end: usize,
    pub gap: Gap,
}

/// What separates a word from the previous word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gap {
    /// A hyphen, a slash or similar, or a dot inside a name, without white space: `lock-out`,
    /// `Rocket.Chat`.
    Joined,
    Space,
    /// The start of the text, or punctuation that ends a phrase.
    Break,
    /// A colon between a number and a year, as in an edition: `45001:2018`.
    Edition,
}

impl Word {
    /// The word in lower case with accents (NFC).
    pub fn spelling(&self) -> &str {
        self.accented.as_deref().unwrap_or(&self.folded)
    }

    /// The folded word as typed by people whose keyboards lack umlauts: `muenchen` for München.
    pub fn spelled_out(&self) -> Option<String> {
        fold::spelled_out(self.accented.as_deref()?)
    }

    /// Whether the word has at least two letters and is written in capitals: `VA`, `SHE`.
    pub fn is_capitals(&self, text: &str) -> bool {
        let written = &text[self.start..self.end];
        written.chars().filter(|c| c.is_alphabetic()).count() >= 2 && !written.chars().any(char::is_lowercase)
    }

    /// Whether at least half of the word's letters are capitals, and at least two: `AGPL`, `SaaS`.
    pub fn is_acronym(&self, text: &str) -> bool {
        let letters = || text[self.start..self.end].chars().filter(|c| c.is_alphabetic());
        let capitals = letters().filter(|c| c.is_uppercase()).count();
        capitals >= 2 && capitals * 2 >= letters().count()
    }
}

/// Splits text into words.
///
/// A word is a run of letters, marks and digits in any script. In addition, `&` and dots inside an
/// acronym are dropped (`EH&S` and `E.H.S.` are `ehs`). A `+` or `#` at the end of a word and a dot
/// at its start belong to it (`C++`, `C#`, `.NET`), and so does a dot between digits (`3.5`). A
/// possessive `'s` doesn't. Runs in scripts that don't separate words become overlapping pairs of
/// letters, each with its marks.
pub fn words(text: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let mut scanner = Scanner::new(text);
    while let Some((start, end, gap)) = scanner.next_run() {
        push_run(&mut words, text, start, end, gap);
    }
    words
}

/// The byte ranges of the words in the text, as in [`words`], but without normalising or folding
/// them.
pub fn places(text: &str) -> Vec<Range<usize>> {
    let mut places = Vec::new();
    let mut scanner = Scanner::new(text);
    while let Some((start, end, _)) = scanner.next_run() {
        push_places(&mut places, text, start, end);
    }
    places
}

/// Finds the byte ranges of the words with these numbers, which must be ascending. Words are
/// numbered from 0 in the order in which [`words`] finds them.
pub fn places_of(text: &str, numbers: &[usize], places: &mut Vec<Range<usize>>) {
    places.clear();
    let mut wanted = numbers.iter().copied().peekable();
    let mut scanner = Scanner::new(text);
    let mut count = 0;
    let mut several = Vec::new();
    while wanted.peek().is_some() {
        if let Some((words, end)) = scanner.block() {
            let start = scanner.position();
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
            scanner.skip_to(end);
            continue;
        }
        let Some((start, end, _)) = scanner.next_run() else { break };
        several.clear();
        push_places(&mut several, text, start, end);
        while let Some(number) = wanted.next_if(|number| *number < count + several.len()) {
            places.push(several[number - count].clone());
        }
        count += several.len();
    }
}

fn push_places(places: &mut Vec<Range<usize>>, text: &str, start: usize, end: usize) {
    let run = &text[start..end];
    if run.is_ascii() {
        places.push(start..end);
        return;
    }
    split_run(run, Gap::Break, |from, to, _| {
        if !is_dropped(&run[from..to]) {
            places.push(start + from..start + to);
        }
    });
}

/// Whether a word, as written, may begin with a folded prefix. Looks only at the word's first
/// letter, because folding a whole word takes much longer.
pub(crate) fn may_begin(written: &str, prefix: &str) -> bool {
    let mut letters = written.chars();
    let (Some(first), second) = (letters.next(), letters.next()) else { return false };
    let folded = fold(&normal(first.encode_utf8(&mut [0; 4])));
    // A mark can make it another letter.
    second.is_some_and(is_mark) || folded.is_empty() || folded.chars().next() == prefix.chars().next()
}

/// The key by which names are compared: a name's folded words joined, so that `Rocket.Chat` equals
/// `rocketchat`.
pub fn name_key(words: &[Word]) -> String {
    words.iter().map(|word| word.folded.as_str()).collect()
}

/// Words that join two others, as `&` and `+` do.
pub const CONJUNCTIONS: [&str; 3] = ["and", "et", "und"];

pub fn is_conjunction(folded: &str) -> bool {
    CONJUNCTIONS.contains(&folded)
}

/// The key of folded words without the conjunctions between them, so that `R and D` equals `R&D`.
pub fn key_without_conjunctions<'w>(words: impl Iterator<Item = &'w str> + Clone) -> String {
    let last = words.clone().count().saturating_sub(1);
    let is_kept = |(at, word): &(usize, &str)| *at == 0 || *at == last || !is_conjunction(word);
    words.enumerate().filter(is_kept).map(|(_, word)| word).collect()
}

pub fn compound(word: &Word, next: &Word) -> String {
    format!("{}{}", word.folded, next.folded)
}

/// The part of the text from the first of these words to the last.
pub fn written<'t>(text: &'t str, words: &[Word]) -> &'t str {
    words.first().zip(words.last()).map_or("", |(first, last)| &text[first.start..last.end])
}

fn push_run(words: &mut Vec<Word>, text: &str, start: usize, end: usize, gap: Gap) {
    let run = &text[start..end];
    if run.is_ascii() {
        words.push(Word { folded: normal(run), accented: None, start, end, gap });
        return;
    }
    split_run(run, gap, |from, to, gap| push_word(words, run, from, to, start, gap));
}

/// Finds where the words of a run start and end, and what separates each from the previous one. A
/// run is one word, unless its script doesn't separate words.
fn split_run(run: &str, mut gap: Gap, mut push: impl FnMut(usize, usize, Gap)) {
    let mut push = |from, to, gap| {
        if from < to {
            push(from, to, gap);
        }
    };
    let (mut from, mut is_alone) = (0, true);
    let mut letters = letters(run).peekable();
    while let Some((at, end, is_unseparated)) = letters.next() {
        if is_unseparated {
            push(from, at, gap);
            let second = letters.peek().filter(|(_, _, is_unseparated)| *is_unseparated).map(|(_, end, _)| *end);
            // The last letter of a run is already in a pair, unless it's the only letter.
            if second.is_some() || is_alone {
                push(at, second.unwrap_or(end), gap);
                gap = Gap::Joined;
            }
            from = end;
        }
        is_alone = !is_unseparated;
    }
    push(from, run.len(), gap);
}

/// A run's letters with their marks: where each starts and ends, and whether its script is written
/// without spaces between words.
fn letters(run: &str) -> impl Iterator<Item = (usize, usize, bool)> {
    let mut chars = run.char_indices().peekable();
    std::iter::from_fn(move || {
        let (start, letter) = chars.next()?;
        let mut end = start + letter.len_utf8();
        while let Some((at, mark)) = chars.next_if(|(_, c)| is_mark(*c)) {
            end = at + mark.len_utf8();
        }
        Some((start, end, is_unseparated(letter)))
    })
}

fn push_word(words: &mut Vec<Word>, run: &str, from: usize, to: usize, offset: usize, gap: Gap) {
    let spelling = normal(&run[from..to]);
    let folded = fold(&spelling);
    if !folded.is_empty() {
        let accented = (spelling != folded).then_some(spelling);
        words.push(Word { folded, accented, start: offset + from, end: offset + to, gap });
    }
}

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

struct Scanner<'t> {
    text: &'t str,
    at: usize,
    gap: Gap,
}

impl<'t> Scanner<'t> {
    const fn new(text: &'t str) -> Self {
        Self { text, at: 0, gap: Gap::Break }
    }

    const fn position(&self) -> usize {
        self.at
    }

    /// Continues at the end of a [`block`](Self::block).
    const fn skip_to(&mut self, end: usize) {
        self.at = end;
    }

    /// The next run of word characters: its start, end, and the separator before it.
    #[inline]
    fn next_run(&mut self) -> Option<(usize, usize, Gap)> {
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
    fn block(&self) -> Option<(u64, usize)> {
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
        |chars: &mut dyn Iterator<Item = char>| chars.take_while(|c| c.is_alphabetic()).take(BOTH + 1).count();
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

pub fn is_quote(c: char) -> bool {
    matches!(c, '"' | '“' | '”' | '„' | '‟' | '«' | '»' | '「' | '」' | '『' | '』' | '＂')
}

pub fn is_dash(c: char) -> bool {
    matches!(c, '-' | '‐' | '‑' | '‒' | '–' | '—' | '−' | '﹣' | '－')
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
            folded("the employer's duty, l’audit, workers' MEN'S MEN’S"),
            ["the", "employer", "duty", "l", "audit", "workers", "men", "men"]
        );
        assert_eq!(folded("(((((("), [""; 0]);
    }

    #[test]
    fn names_with_symbols_stay_whole() {
        assert_eq!(folded("C++ C# .NET R k6 Notepad++ F#"), ["c++", "c#", ".net", "r", "k6", "notepad++", "f#"]);
        assert_eq!(folded("a+b asp.net 3.5 v1.2."), ["a", "b", "asp", "net", "3.5", "v1.2"]);
        assert_eq!(folded("end. Next"), ["end", "next"]);
    }

    #[test]
    fn an_ampersand_separates_words_and_joins_acronyms() {
        assert_eq!(
            folded("Health&Safety fire&gas Smith&Wesson"),
            ["health", "safety", "fire", "gas", "smith", "wesson"]
        );
        assert_eq!(folded("EH&S R&D AT&T Q&A EHS&Q R&D&I P&ID"), ["ehs", "rd", "att", "qa", "ehsq", "rdi", "pid"]);
        assert_eq!(folded("&a a& a&&b IT&Security"), ["a", "a", "a", "b", "it", "security"]);
        assert_eq!(words("Health&Safety")[1].gap, Gap::Joined);
    }

    #[test]
    fn dots_join_single_letters() {
        assert_eq!(folded("E.H.S. S.H.I.E.L.D. U.K., 0 A.D."), ["ehs", "shield", "uk", "0", "ad"]);
        assert_eq!(folded("É.H.S Б.Ж.Д."), ["ehs", "бжд"]);
        assert_eq!(folded("E.H.Smith a.b1 1.2.x 安.全."), ["e", "h", "smith", "a", "b1", "1.2", "x", "安", "全"]);
        assert_eq!(folded("v.1 .NET 3.5 J.-B."), ["v", "1", ".net", "3.5", "j", "b"]);
        let gaps: Vec<_> = words("E.H.S. Manager. Next").iter().map(|word| word.gap).collect();
        assert_eq!(gaps, [Gap::Break, Gap::Space, Gap::Break]);
        assert_eq!(places("an E.H.S. tool"), [0..2, 3..8, 10..14]);
    }

    #[test]
    fn characters_that_people_leave_out_are_folded() {
        assert_eq!(folded("обʼєкт Oʻzbek Hawaiʻi Прʹ"), ["обєкт", "ozbek", "hawaii", "пр"]);
        assert_eq!(folded("شـاب علـي"), folded("شاب علي"));
        assert_eq!(folded("مستوى کتاب ی"), folded("مستوي كتاب ي"));
        assert_eq!(folded("שלום דרך"), folded("שלומ דרכ"));
        assert_eq!(folded("می\u{200c}شود soft\u{ad}ware"), [folded("میشود"), folded("software")].concat());
        assert_eq!(words("soft\u{ad}ware")[0].accented, None);
        assert_eq!(folded("\u{200d}a\u{200d} \u{200c}"), ["a"]);
    }

    #[test]
    fn umlauts_are_spelled_out() {
        let spelled = |text: &str| words(text)[0].spelled_out();
        assert_eq!(spelled("München").as_deref(), Some("muenchen"));
        assert_eq!(spelled("ÖL").as_deref(), Some("oel"));
        assert_eq!(spelled("Großräumig").as_deref(), Some("grossraeumig"));
        assert_eq!(spelled("A\u{30a}rhus").as_deref(), Some("aarhus"));
        assert_eq!([spelled("muenchen"), spelled("école"), spelled("straße")], [None, None, None]);
    }

    #[test]
    fn accents_are_folded_and_the_spelling_is_kept() {
        let words = words("Zürich STRASSE Straße E\u{301}cole Łódź");
        let pairs: Vec<_> = words.iter().map(|w| (w.spelling(), w.folded.as_str())).collect();
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
        assert_eq!(folded("ﾊﾞｽ停"), ["バス", "ス停"], "half-width letters have their marks as separate characters");
        assert_eq!(folded("ป่าไม้"), ["ป\u{e48}า", "าไ", "ไม\u{e49}"]);
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
    fn offsets_point_into_the_text() {
        let text = "Évaluation des risques (C++)";
        let written: Vec<_> = words(text).iter().map(|w| &text[w.start..w.end]).collect();
        assert_eq!(written, ["Évaluation", "des", "risques", "C++"]);
    }

    proptest! {
        #[test]
        fn words_are_found_in_the_same_places_without_normalising_them(
            text in r"([a-zA-Z0-9]{1,9}|[a-z ]{9,20}|[ .,:&+#'-]|’s|'s|[A-Z]\.|[é安한ʼ\u{200d}\u{301}ß]){0,40}", some in any::<u64>()
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
        fn a_word_may_begin_with_each_of_its_prefixes(text in r"([a-zA-Z0-9]|[é안한ʼİßÆæłﬁ.&バハ\u{3099}\u{200d}\u{301}]){1,8}") {
            for word in words(&text) {
                let (written, folded) = (&text[word.start..word.end], &word.folded);
                for (at, c) in folded.char_indices() {
                    prop_assert!(may_begin(written, &folded[..at + c.len_utf8()]), "{} {}", written, folded);
                }
            }
        }

        #[test]
        fn words_do_not_depend_on_the_text_after_them(text in r"([a-zA-Z0-9]{1,3}|[ .,:&+#'-]|’s|'s){0,24}") {
            // A non-ASCII letter ends the fast path.
            let (plain, other) = (words(&text), words(&format!("{text} é")));
            prop_assert_eq!(&plain[..], &other[..other.len() - 1]);
        }
    }

    #[test]
    fn a_word_in_capitals_has_at_least_two_letters() {
        let text = "SHE she S 9001 EH&S";
        let capitals: Vec<_> = words(text).iter().map(|w| w.is_capitals(text)).collect();
        assert_eq!(capitals, [true, false, false, false, true]);
    }
}
