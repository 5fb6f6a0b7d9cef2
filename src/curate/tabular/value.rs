//! Values in cells: lists, sources, dates, and texts that a spreadsheet program would take for a formula.

use crate::record::CalendarDate;

/// Characters at a cell's start that make it a formula.
const FORMULA: [char; 6] = ['=', '+', '-', '@', '\t', '\r'];

fn is_guarded(text: &str) -> bool {
    text.trim_start_matches('\'').starts_with(FORMULA)
}

/// The text with an apostrophe before it where a spreadsheet program would take it for a formula.
pub(super) fn guarded(text: String) -> String {
    if is_guarded(&text) { format!("'{text}") } else { text }
}

/// The text that [`guarded`] was given.
pub(super) fn unguarded(text: &str) -> &str {
    text.strip_prefix('\'').filter(|_| is_guarded(text)).unwrap_or(text)
}

/// Splits a list at `;`, `|` and line breaks. A backslash before one of them, before white space or a backslash takes its meaning.
pub(super) fn split(text: &str) -> Vec<String> {
    let mut items = Vec::new();
    let mut item = String::new();
    // The length up to the last character that isn't to be trimmed.
    let mut kept = 0;
    let mut chars = text.chars().peekable();
    let mut finish = |item: &mut String, kept: &mut usize| {
        item.truncate(*kept);
        *kept = 0;
        if !item.is_empty() {
            items.push(std::mem::take(item));
        }
    };
    while let Some(c) = chars.next() {
        let escaped = if c == '\\' { chars.next_if(|next| is_escaped(*next)) } else { None };
        if let Some(escaped) = escaped {
            item.push(escaped);
            kept = item.len();
        } else if matches!(c, ';' | '|' | '\n') {
            finish(&mut item, &mut kept);
        } else if !c.is_whitespace() {
            item.push(c);
            kept = item.len();
        } else if !item.is_empty() {
            item.push(c);
        }
    }
    finish(&mut item, &mut kept);
    items
}

fn is_escaped(c: char) -> bool {
    matches!(c, ';' | '|' | '\\') || c.is_whitespace()
}

/// Joins a list so that [`split`] gives it back.
pub(super) fn join<'i>(items: impl Iterator<Item = &'i str>) -> String {
    let mut text = String::new();
    for item in items {
        if !text.is_empty() {
            text.push_str("; ");
        }
        let inner =
            item.len() - item.trim_start().len()..item.trim_end().len().max(item.len() - item.trim_start().len());
        for (at, c) in item.char_indices() {
            if matches!(c, ';' | '|' | '\\' | '\n') || (c.is_whitespace() && !inner.contains(&at)) {
                text.push('\\');
            }
            text.push(c);
        }
    }
    text
}

/// A source as `label <address>`, or an address alone, which is its label too.
pub(super) fn source(item: &str) -> (&str, &str) {
    let pair = item.strip_suffix('>').and_then(|item| item.rsplit_once(" <"));
    pair.unwrap_or((item, item))
}

/// A date as cells have it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Date {
    /// One meaning only.
    Day(CalendarDate),
    /// Two numbers and a year, parted by slashes: day and month in an order that is to be found out.
    Slashes(u8, u8, u16),
}

/// Reads `YYYY-MM-DD`, `D.M.YYYY`, `A/B/YYYY` and the serial number of a day.
pub(super) fn date(text: &str) -> Option<Date> {
    let day = text.split_once(['T', ' ']).filter(|(day, _)| day.len() == 10).map_or(text, |(day, _)| day);
    if let Some(day) = CalendarDate::parse(day) {
        return Some(Date::Day(day));
    }
    if text.len() == 5 && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return from_serial(text.parse().ok()?).map(Date::Day);
    }
    let parts = |delimiter| {
        let mut parts = day.split(delimiter);
        let (a, b, year) = (parts.next()?, parts.next()?, parts.next()?);
        let is_number = |part: &str, most| (1..=most).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit());
        let is_whole =
            parts.next().is_none() && is_number(a, 2) && is_number(b, 2) && is_number(year, 4) && year.len() == 4;
        is_whole.then_some((a.parse().ok()?, b.parse().ok()?, year.parse().ok()?))
    };
    if let Some((a, b, year)) = parts('.') {
        return calendar(year, b, a).map(Date::Day);
    }
    let (a, b, year) = parts('/')?;
    let is_day = calendar(year, a, b).is_some() || calendar(year, b, a).is_some();
    is_day.then_some(Date::Slashes(a, b, year))
}

/// The day of a year, month and day, if it exists.
pub(super) fn calendar(year: u16, month: u8, day: u8) -> Option<CalendarDate> {
    CalendarDate::parse(&format!("{year:04}-{month:02}-{day:02}"))
}

/// The day of a serial number of spreadsheet programs, from 1900-03-01 to 2173: 1 is 1900-01-01, and a 1900-02-29 is counted.
#[expect(clippy::cast_possible_truncation, reason = "the range is checked")]
pub(super) fn from_serial(serial: f64) -> Option<CalendarDate> {
    if !(61.0..100_000.0).contains(&serial) {
        return None;
    }
    let days = jiff::Span::new().try_days(serial as i64).ok()?;
    Some(jiff::civil::date(1899, 12, 30).checked_add(days).ok()?.into())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn day(text: &str) -> Option<String> {
        match date(text)? {
            Date::Day(day) => Some(day.to_string()),
            Date::Slashes(a, b, year) => Some(format!("{a}/{b}/{year}")),
        }
    }

    #[test]
    fn dates_of_each_form_are_read_and_others_are_not() {
        for (text, expected) in [
            ("2025-12-31", Some("2025-12-31")),
            ("2025-12-31T00:00:00", Some("2025-12-31")),
            ("31.12.2025", Some("2025-12-31")),
            ("1.2.2025", Some("2025-02-01")),
            ("45658", Some("2025-01-01")),
            ("12/31/2025", Some("12/31/2025")),
            ("31.13.2025", None),
            ("30/30/2025", None),
            ("31.12.25", None),
            ("2025", None),
            ("soon", None),
        ] {
            assert_eq!(day(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn lists_split_at_delimiters_that_are_not_escaped() {
        assert_eq!(split("a; b|c\nd"), ["a", "b", "c", "d"]);
        assert_eq!(split(r"a\; b; C:\dir"), ["a; b", r"C:\dir"]);
        assert_eq!(split("a, b"), ["a, b"]);
        assert_eq!(split(" ; "), [""; 0]);
    }

    #[test]
    fn formulas_are_guarded_and_other_texts_are_not() {
        assert_eq!(guarded("=1+1".into()), "'=1+1");
        assert_eq!(guarded("'tis".into()), "'tis");
        assert_eq!(unguarded("'tis"), "'tis");
    }

    proptest! {
        #[test]
        fn a_list_that_was_joined_is_split_again(items in proptest::collection::vec("[a;|\\\\ \n\t'=é-]{1,6}", 0..5)) {
            prop_assert_eq!(split(&join(items.iter().map(String::as_str))), items);
        }

        #[test]
        fn a_guarded_text_is_had_back(text in "['=+@\t\ra-]{0,5}") {
            let cell = guarded(text.clone());
            prop_assert!(!cell.starts_with(FORMULA));
            prop_assert_eq!(unguarded(&cell), text);
        }
    }
}
