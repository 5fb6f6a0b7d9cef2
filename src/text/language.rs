//! Detects the language of text by its frequent words.

use std::sync::LazyLock;

use foldhash::HashSet;

use super::stem::Inflected;
use super::{english, fold};

/// Frequent words of English and of the other languages that are stemmed. No word is in more than
/// one list.
const ENGLISH: &[&str] =
    &["the", "and", "of", "to", "is", "for", "with", "that", "this", "your", "you", "can", "from", "are", "it"];
const GERMAN: &[&str] = &[
    "der", "das", "und", "ist", "mit", "für", "von", "eine", "ein", "auf", "zu", "nicht", "sie", "werden", "kann",
    "oder", "zum", "zur", "einem", "einen",
];
const FRENCH: &[&str] =
    &["le", "les", "et", "est", "pour", "avec", "dans", "sur", "du", "vous", "pas", "ou", "aux", "ce", "votre"];
const SPANISH: &[&str] =
    &["el", "los", "las", "y", "para", "por", "es", "más", "está", "sus", "como", "muy", "desde", "puede", "del"];
const ITALIAN: &[&str] =
    &["il", "gli", "di", "per", "che", "della", "dei", "delle", "nel", "è", "sono", "anche", "alla", "degli", "e"];

/// More function words of these languages, folded. Some belong to several.
const OTHERS: &[&str] = &[
    "die", "den", "dem", "des", "im", "am", "bei", "aus", "nach", "uber", "ohne", "kein", "keine", "wie", "als", "vom",
    "la", "l", "un", "une", "de", "d", "au", "a", "en", "par", "sans", "que", "qui", "son", "sa", "ses", "se", "lo",
    "al", "con", "sin", "su", "una", "uno", "o", "i", "da", "dal", "dello", "non", "si", "come",
];

/// Whether a folded word is a function word of English or of one of the other languages.
pub fn is_function_word(folded: &str) -> bool {
    english::is_function_word(folded) || is_foreign_function_word(folded)
}

/// The function words of the languages besides English, folded.
static FOREIGN: LazyLock<HashSet<String>> = LazyLock::new(|| {
    let lists = [GERMAN, FRENCH, SPANISH, ITALIAN, OTHERS];
    lists.into_iter().flatten().map(|word| fold::folded(word).collect()).collect()
});

/// Whether a folded word is a function word of one of the languages besides English.
pub fn is_foreign_function_word(folded: &str) -> bool {
    FOREIGN.contains(folded)
}

/// If there are fewer of these words than this, no language is detected.
const FEWEST: usize = 20;

/// The detected language must have at least this many times as many words as any other.
const CLEARLY: usize = 2;

/// Counting stops after this many words.
const MOST_WORDS: usize = 20_000;

/// Counts the frequent words in text.
#[derive(Debug, Default)]
pub struct LanguageCount {
    words: usize,
    english: usize,
    /// Counts for the other languages, in the order of [`Inflected::ALL`].
    others: [usize; Inflected::ALL.len()],
    hebrew: usize,
    arabic: usize,
    /// Words in Arabic script with a letter that Arabic doesn't have.
    persian: usize,
}

impl LanguageCount {
    /// Whether more text would still change the counts.
    pub const fn reads_more(&self) -> bool {
        self.words < MOST_WORDS
    }

    pub fn push(&mut self, text: &str) {
        for word in text.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty()) {
            self.words += 1;
            match word.chars().next() {
                Some('א'..='ת') => self.hebrew += 1,
                Some('ء'..='ۿ') if word.contains(['پ', 'چ', 'ژ', 'ک', 'گ', 'ی', 'ے', 'ٹ', 'ڈ', 'ۆ', 'ە']) =>
                {
                    self.persian += 1;
                }
                Some('ء'..='ۿ') => self.arabic += 1,
                _ => {}
            }
            let word = word.to_lowercase();
            let has = |list: &[&str]| usize::from(list.contains(&word.as_str()));
            self.english += has(ENGLISH);
            for (count, language) in self.others.iter_mut().zip(Inflected::ALL) {
                *count += has(match language {
                    Inflected::German => GERMAN,
                    Inflected::French => FRENCH,
                    Inflected::Spanish => SPANISH,
                    Inflected::Italian => ITALIAN,
                });
            }
        }
    }

    /// The tag of the language that the text is clearly in. `None` for English, for other languages,
    /// and if there are too few words.
    pub fn clearly(&self) -> Option<&'static str> {
        // Most Persian and Urdu words have such a letter, or are next to one that does.
        let others = self.words - self.hebrew - self.arabic;
        for (count, other, tag) in [
            (self.hebrew, others + self.arabic, "he"),
            (self.arabic, (others + self.hebrew).max(self.persian * 4), "ar"),
        ] {
            if count >= FEWEST && count >= other * CLEARLY {
                return Some(tag);
            }
        }
        let most = |at: usize| {
            let others = self.others.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, count)| *count);
            let highest = others.chain([self.english]).max().unwrap_or_default();
            self.others[at] >= FEWEST && self.others[at] >= highest * CLEARLY
        };
        Inflected::ALL.into_iter().enumerate().find(|(at, _)| most(*at)).map(|(_, language)| language.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clearly(texts: &[(&str, usize)]) -> Option<&'static str> {
        let mut count = LanguageCount::default();
        for (text, times) in texts {
            count.push(&text.repeat(*times));
        }
        count.clearly()
    }

    #[test]
    fn a_language_needs_a_clear_majority() {
        let german = " Verwaltet Bilder und Filme: ein Werkzeug für das Ordnen, mit dem Sie nicht suchen.";
        let french = " Gère les images et les films : un outil pour le classement, avec une recherche.";
        let english = " Manages pictures and films: a tool for sorting that you can search with.";
        assert_eq!(clearly(&[(german, 9)]), Some("de"));
        assert_eq!(clearly(&[(french, 9), (english, 2)]), Some("fr"));
        assert_eq!(clearly(&[(german, 9), (english, 2)]), Some("de"));
        for unclear in [&[(german, 1)][..], &[(english, 9)], &[(german, 9), (english, 9)], &[("安全管理", 99)], &[]]
        {
            assert_eq!(clearly(unclear), None, "{unclear:?}");
        }
    }

    #[test]
    fn hebrew_and_arabic_are_recognised_by_their_letters() {
        let hebrew = "תוכנה לניהול בטיחות בעבודה ודיווח על תאונות. ";
        let arabic = "برنامج لإدارة السلامة المهنية والإبلاغ عن الحوادث في مكان العمل. ";
        let persian = "نرم‌افزاری برای مدیریت ایمنی و گزارش حوادث در محل کار با پشتیبانی از تلفن همراه. ";
        let english = "Manages safety at work. ";
        assert_eq!(clearly(&[(hebrew, 9), (english, 2)]), Some("he"));
        assert_eq!(clearly(&[(arabic, 9), (english, 2)]), Some("ar"));
        for unclear in [&[(persian, 9)][..], &[(arabic, 9), (hebrew, 9)], &[(arabic, 9), (english, 18)], &[(hebrew, 1)]]
        {
            assert_eq!(clearly(unclear), None, "{unclear:?}");
        }
    }

    #[test]
    fn no_word_is_in_two_lists() {
        let mut all: Vec<_> = [ENGLISH, GERMAN, FRENCH, SPANISH, ITALIAN].concat();
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
    }
}
