//! The languages of the pages. All of a language's wording is in one table, so a missing
//! entry is a compile error.

mod de;
mod en;
mod fr;
mod texts;

use axum::http::HeaderMap;
use axum::http::header::ACCEPT_LANGUAGE;

pub(in crate::http) use texts::{Counted, Texts};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(in crate::http) enum Language {
    English,
    German,
    French,
}

impl Language {
    pub(in crate::http) const ALL: [Self; 3] = [Self::English, Self::German, Self::French];

    /// The language that the browser prefers; English if it prefers none of these.
    pub(in crate::http) fn preferred(headers: &HeaderMap) -> Self {
        let values = headers.get_all(ACCEPT_LANGUAGE).iter().filter_map(|value| value.to_str().ok());
        let ranges = values.flat_map(|value| value.split(',')).filter_map(|range| {
            let (tag, quality) = range.split_once(";q=").unwrap_or((range, "1"));
            let primary = tag.trim().split('-').next()?;
            let language = Self::ALL.into_iter().find(|of| of.texts().tag.eq_ignore_ascii_case(primary))?;
            Some((quality.trim().parse::<f32>().ok().filter(|quality| *quality > 0.0)?, language))
        });
        // On a tie, the first one wins.
        let best = ranges.reduce(|best, next| if next.0 > best.0 { next } else { best });
        best.map_or(Self::English, |(_, language)| language)
    }

    pub(in crate::http) const fn texts(self) -> &'static Texts {
        match self {
            Self::English => &en::TEXTS,
            Self::German => &de::TEXTS,
            Self::French => &fr::TEXTS,
        }
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn browser_chooses_the_language() {
        let preferred =
            |list| Language::preferred(&HeaderMap::from_iter([(ACCEPT_LANGUAGE, HeaderValue::from_static(list))]));
        for (list, language) in [
            ("de-AT,de;q=0.9,en;q=0.8", Language::German),
            ("es, fr-CA;q=0.7, en;q=0.3", Language::French),
            ("en-GB,en;q=0.9,de;q=0.8", Language::English),
            ("FR", Language::French),
            ("de;q=0, en;q=0.1", Language::English),
            ("nl, *", Language::English),
            ("den", Language::English),
            ("", Language::English),
        ] {
            assert_eq!(preferred(list), language, "{list}");
        }
        assert_eq!(Language::preferred(&HeaderMap::new()), Language::English);
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
