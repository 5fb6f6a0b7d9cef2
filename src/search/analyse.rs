//! Text → words: the one analyzer, for what is stored and for what is asked.

use std::ops::Range;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// A word of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// Lower case, accents kept (NFC).
    pub spelling: String,
    /// Lower case, accents folded: what words are compared by.
    pub folded: String,
    /// Where it starts in the text, in bytes.
    pub start: usize,
    /// Where it ends in the text, in bytes.
    pub end: usize,
    /// How it follows the word before.
    pub gap: Gap,
}

/// What stands between a word and the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gap {
    /// Nothing but a hyphen, a slash or the like: `lock-out`.
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

/// Writes down where the words of a text are, in bytes, the first ones up to that many at least: as [`words`] finds them,
/// without spelling or folding them.
pub fn places(text: &str, count: usize, places: &mut Vec<Range<usize>>) {
    places.clear();
    let mut scanner = Scanner { text, at: 0, gap: Gap::Break };
    while places.len() < count
        && let Some((start, end, gap)) = scanner.next_run()
    {
        if text[start..end].is_ascii() {
            places.push(start..end);
        } else {
            let mut words = Vec::new();
            push_run(&mut words, text, start, end, gap);
            places.extend(words.into_iter().map(|word| word.start..word.end));
        }
    }
}

struct Scanner<'t> {
    text: &'t str,
    at: usize,
    gap: Gap,
}

impl Scanner<'_> {
    /// The next run of word characters: start, end and what stands before it.
    fn next_run(&mut self) -> Option<(usize, usize, Gap)> {
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
    #[inline]
    fn next_start(&self) -> Option<(usize, Gap)> {
        // Most words follow the one before behind one space.
        if self.gap == Gap::Joined
            && let [b' ', first, ..] = self.text.as_bytes()[self.at..]
            && first.is_ascii_alphanumeric()
        {
            return Some((self.at + 1, Gap::Space));
        }
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
            gap = widen(gap, c);
            before = Some(c);
        }
    }

    #[inline]
    fn run_end(&self, start: usize) -> usize {
        // Most words are nothing but these, and nothing that may belong to one stands behind them.
        let run = &self.text.as_bytes()[start..];
        let plain = run.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
        let ends = |behind: &u8| behind.is_ascii() && !b".&+#".contains(behind);
        if plain > 0 && run.get(plain).is_none_or(ends) {
            return start + plain;
        }
        let mut chars = self.text[start + plain..].char_indices().map(|(at, c)| (at + plain, c)).peekable();
        let mut end = start + plain;
        let mut last = self.text[start..end].chars().next_back();
        while let Some((at, c)) = chars.next() {
            let next = chars.peek().map(|(_, c)| *c);
            let inside = c.is_alphanumeric()
                || (!c.is_ascii() && is_combining_mark(c))
                || (at == 0 && c == '.')
                || (c == '&' && last.is_some_and(char::is_alphanumeric) && next.is_some_and(char::is_alphanumeric))
                || (c == '.' && last.is_some_and(|l| l.is_ascii_digit()) && next.is_some_and(|n| n.is_ascii_digit()))
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
/// ligature by those who lack the key.
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
    }

    #[test]
    fn offsets_point_at_the_text() {
        let text = "Évaluation des risques (C++)";
        let written: Vec<_> = words(text).iter().map(|w| &text[w.start..w.end]).collect();
        assert_eq!(written, ["Évaluation", "des", "risques", "C++"]);
    }

    #[test]
    fn capitals_need_two_letters() {
        let text = "SHE she S 9001 EH&S";
        let capitals: Vec<_> = words(text).iter().map(|w| w.is_capitals(text)).collect();
        assert_eq!(capitals, [true, false, false, false, true]);
    }
}
