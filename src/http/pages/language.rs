//! The languages of the pages. Their text is in `locales/`, one file per language, which
//! `build.rs` turns into `Texts`, so a text that's missing in a language is a compile error.

use std::borrow::{Borrow, Cow};

use axum::http::HeaderMap;

use crate::http::extract::accepted;
use crate::record::CalendarDate;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(in crate::http) enum Language {
    English,
    German,
    French,
}

impl Language {
    pub(in crate::http) const ALL: [Self; 3] = [Self::English, Self::German, Self::French];

    /// The language that a tag such as `de-AT` belongs to.
    pub(in crate::http) fn of_tag(tag: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|of| has_primary(tag, of.texts().tag))
    }

    /// The language that the browser prefers to `own`, the directory's; `None` if it prefers none.
    pub(in crate::http) fn preferred(headers: &HeaderMap, own: &str) -> Option<Self> {
        let ranges = accepted(headers).flat_map(|value| value.split(',')).filter_map(|range| {
            let (tag, quality) = range.split_once(";q=").unwrap_or((range, "1"));
            let language = Self::of_tag(tag.trim());
            let is_offered = language.is_some() || has_primary(tag.trim(), primary(own));
            let quality = quality.trim().parse::<f32>().ok().filter(|quality| *quality > 0.0 && is_offered)?;
            Some((quality, language.filter(|language| !has_primary(own, language.texts().tag))))
        });
        // On a tie, the first one wins.
        ranges.reduce(|best, next| if next.0 > best.0 { next } else { best })?.1
    }

    pub(in crate::http) const fn texts(self) -> &'static Texts {
        match self {
            Self::English => &EN,
            Self::German => &DE,
            Self::French => &FR,
        }
    }
}

fn primary(tag: &str) -> &str {
    tag.split('-').next().unwrap_or_default()
}

fn has_primary(tag: &str, wanted: &str) -> bool {
    primary(tag).eq_ignore_ascii_case(wanted)
}

/// A page's language. Its links keep it: they start with the language if the page's own address does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(in crate::http) struct PageLanguage {
    pub(in crate::http) language: Language,
    pub(in crate::http) is_in_path: bool,
}

impl PageLanguage {
    /// Every language, with and without its part in the path.
    pub(in crate::http) fn all() -> impl Iterator<Item = Self> {
        let with = |language| [false, true].map(|is_in_path| Self { language, is_in_path });
        Language::ALL.into_iter().flat_map(with)
    }

    pub(in crate::http) const fn texts(self) -> &'static Texts {
        self.language.texts()
    }
}

/// Text with a number (`{}`), in the singular and the plural.
#[derive(Debug)]
pub(in crate::http) struct Counted {
    one: &'static str,
    many: &'static str,
}

include!(concat!(env!("OUT_DIR"), "/texts.rs"));

/// Numbers are passed as `impl Borrow`, since templates pass fields by reference.
impl Texts {
    pub(in crate::http) fn number(&self, number: impl Borrow<u64>) -> String {
        let digits = number.borrow().to_string();
        let mut text = String::with_capacity(digits.len() + digits.len() / 3 * self.group.len());
        for (at, digit) in digits.chars().enumerate() {
            if at > 0 && (digits.len() - at).is_multiple_of(3) {
                text.push_str(self.group);
            }
            text.push(digit);
        }
        text
    }

    pub(in crate::http) fn count(&self, counted: &Counted, number: impl Borrow<u64>) -> String {
        let number = *number.borrow();
        let is_one = number == 1 || (number == 0 && self.zero_is_one);
        (if is_one { counted.one } else { counted.many }).replace("{}", &self.number(number))
    }

    /// A number with at most two decimals.
    pub(in crate::http) fn decimal(&self, number: impl Borrow<f64>) -> String {
        let text = format!("{:.2}", number.borrow());
        let text = text.trim_end_matches('0').trim_end_matches('.');
        text.replace('.', self.decimal_point)
    }

    /// A date, or a timestamp's date, in words. Anything else is returned unchanged.
    pub(in crate::http) fn day<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let Some(date) = text.get(..10).filter(|date| CalendarDate::parse(date).is_some()) else { return text.into() };
        // `YYYY-MM-DD`.
        let number = |range: std::ops::Range<usize>| date[range].parse::<usize>().unwrap_or_default();
        let (month, day) = (number(5..7), number(8..10));
        let Some(name) = self.months.get(month.wrapping_sub(1)) else { return text.into() };
        format!("{day}{} {name} {}", self.day_ends[usize::from(day == 1)], number(0..4)).into()
    }

    /// The month and year of a date; `None` if it isn't one.
    pub(in crate::http) fn month(&self, text: &str) -> Option<String> {
        let date = text.get(..10).filter(|date| CalendarDate::parse(date).is_some())?;
        let month = date[5..7].parse::<usize>().ok()?;
        Some(format!("{} {}", self.months.get(month.checked_sub(1)?)?, &date[..4]))
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;
    use axum::http::header::ACCEPT_LANGUAGE;

    use super::*;

    #[test]
    fn browser_chooses_the_language() {
        let preferred = |list, own| {
            let headers = HeaderMap::from_iter([(ACCEPT_LANGUAGE, HeaderValue::from_static(list))]);
            Language::preferred(&headers, own)
        };
        for (list, own, language) in [
            ("de-AT,de;q=0.9,en;q=0.8", "en", Some(Language::German)),
            ("de-AT,de;q=0.9,en;q=0.8", "de", None),
            ("de-AT,de;q=0.9,en;q=0.8", "it", Some(Language::German)),
            ("it,de;q=0.9", "it-CH", None),
            ("es, fr-CA;q=0.7, en;q=0.3", "en", Some(Language::French)),
            ("en-GB,en;q=0.9,de;q=0.8", "en", None),
            ("en-GB,en;q=0.9,de;q=0.8", "de", Some(Language::English)),
            ("FR", "en", Some(Language::French)),
            ("de;q=0, en;q=0.1", "en", None),
            ("nl, *", "en", None),
            ("den", "en", None),
            ("", "en", None),
        ] {
            assert_eq!(preferred(list, own), language, "{list} {own}");
        }
        assert_eq!(Language::preferred(&HeaderMap::new(), "de"), None);
    }

    #[test]
    fn numbers_counts_and_dates_follow_each_languages_conventions() {
        let [en, de, fr] = Language::ALL.map(Language::texts);
        assert_eq!(
            [en, de, fr].map(|texts| texts.number(1_234_567)),
            ["1,234,567", "1.234.567", "1\u{202f}234\u{202f}567"]
        );
        assert_eq!(
            [en, de, fr].map(|texts| texts.count(&texts.products_count, 0)),
            ["0 products", "0 Produkte", "0 produit"]
        );
        assert_eq!(
            [en, de, fr].map(|texts| texts.count(&texts.products_count, 1)),
            ["1 product", "1 Produkt", "1 produit"]
        );
        assert_eq!(
            [en, de, fr].map(|texts| texts.day("2025-03-01")),
            ["1 March 2025", "1. März 2025", "1er mars 2025"]
        );
        assert_eq!([en, de, fr].map(|texts| texts.decimal(4.5)), ["4.5", "4,5", "4,5"]);
        assert_eq!(en.decimal(4.0), "4");
        assert_eq!(en.decimal(4.567), "4.57");
        assert_eq!(en.day("2025-02-30"), "2025-02-30", "no such day");
    }
}
