//! The normal form of a query. Queries that may contain personal data or a secret don't have one.

use std::net::IpAddr;

use crate::text::printable::has_hidden;

/// Maximum length in characters. Real queries are shorter; pasted text is often longer.
const MAX_CHARACTERS: usize = 64;
const MAX_WORDS: usize = 8;
const MAX_WORD_CHARACTERS: usize = 40;
/// A query with this many digits may contain a telephone number, a full date of birth or a customer
/// number, and isn't counted.
const PRIVATE_DIGITS: usize = 7;
/// A run of letters and digits with this many characters may be a secret.
const SECRET_CHARACTERS: usize = 12;

/// Converts a query to lower case with single spaces. `None` if it isn't counted because it's empty
/// or long, or contains an e-mail or web address, an IP address, many digits, or something that
/// looks like a key or a password.
pub fn normal(query: &str) -> Option<String> {
    if query.chars().nth(2 * MAX_CHARACTERS).is_some() {
        return None;
    }
    let words: Vec<&str> = query.split_whitespace().collect();
    let normal = words.join(" ").to_lowercase();
    let is_counted = !normal.is_empty()
        && words.len() <= MAX_WORDS
        && normal.chars().count() <= MAX_CHARACTERS
        && !has_hidden(&normal)
        && !words.iter().any(|word| is_private(word))
        && !has_many_digits(&normal);
    is_counted.then_some(normal)
}

fn is_private(word: &str) -> bool {
    let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
    word.contains('@')
        || word.contains("://")
        || word.to_lowercase().contains("sd_")
        || word.chars().count() > MAX_WORD_CHARACTERS
        || bare.parse::<IpAddr>().is_ok()
        || word.split(|c: char| !c.is_alphanumeric()).any(is_secret)
}

fn is_secret(run: &str) -> bool {
    let digits = run.chars().filter(char::is_ascii_digit).count();
    let letters = run.chars().filter(|c| c.is_alphabetic()).count();
    let is_start = |(a, b): &(char, char)| a.is_lowercase() && b.is_uppercase();
    let capitals_within = run.chars().zip(run.chars().skip(1)).filter(is_start).count();
    run.chars().count() >= SECRET_CHARACTERS && ((digits >= 2 && letters >= 2) || capitals_within >= 3)
}

/// Whether there are many digits in a row, ignoring the separators in telephone numbers and dates.
fn has_many_digits(text: &str) -> bool {
    let mut digits = 0;
    for c in text.chars() {
        if c.is_numeric() {
            digits += 1;
        } else if !matches!(c, ' ' | '.' | '-' | '/' | '(' | ')' | '+') {
            digits = 0;
        }
        if digits >= PRIVATE_DIGITS {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn queries_are_counted_in_normal_form() {
        for (query, form) in [
            ("  Lone\tWorker  ", "lone worker"),
            ("ISO 45001:2018", "iso 45001:2018"),
            ("ISO 9001 and ISO 14001", "iso 9001 and iso 14001"),
            ("\"Permit-to-Work\" -paper", "\"permit-to-work\" -paper"),
            ("Arbeitsschutzmanagementsystem", "arbeitsschutzmanagementsystem"),
            ("c++ 2024", "c++ 2024"),
            ("安全", "安全"),
        ] {
            assert_eq!(normal(query).as_deref(), Some(form));
        }
    }

    #[test]
    fn queries_that_may_be_personal_or_secret_are_not_counted() {
        for private in [
            "jo@example.org",
            "mail jo @ example.org",
            "+49 (170) 123-4567",
            "0170 1234567",
            "born 24.11.1980",
            "order 4711000123",
            "10.0.0.1",
            "[fe80::1]",
            "https://intranet.example/?token=x",
            "sd_live_abc",
            "aB3dE5fG7hI9",
            "correctHorseBatteryStaple",
            "550e8400-e29b-41d4-a716-446655440000",
            "a\u{202e}b",
            "",
            "one two three four five six seven eight nine",
            &"word ".repeat(8).replace("word", "wordwordword"),
            &"a".repeat(41),
        ] {
            assert_eq!(normal(private), None, "{private}");
        }
    }

    proptest! {
        #[test]
        fn the_normal_form_is_short_and_normalising_it_again_changes_nothing(query in "\\PC{0,80}") {
            if let Some(form) = normal(&query) {
                prop_assert!(form.chars().count() <= MAX_CHARACTERS && !form.contains('@'));
                prop_assert!(normal(&form).is_none_or(|again| again == form));
            }
        }
    }
}
