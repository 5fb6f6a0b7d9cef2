//! Text in cells: lists, sources, addresses, numbers, placeholders for missing values, and text
//! that a spreadsheet program would take for a formula.

/// Text that means an empty cell, in lower case.
const NOTHING: [&str; 10] = ["-", "--", "–", "—", "n/a", "n.a.", "k.a.", "k. a.", "k.a", "keine angabe"];

/// Characters that make a cell a formula if it starts with one of them. Japanese versions of Excel
/// also accept the full-width ones.
const FORMULA: [char; 8] = ['=', '+', '-', '@', '＝', '＋', '－', '＠'];
/// Characters that end a cell in programs that expect another separator than a comma, even inside
/// quotes: such a program looks for quotes elsewhere.
const SEPARATORS: [char; 5] = [';', '|', '\t', '\n', '\r'];

/// The text, with an apostrophe wherever a spreadsheet program could see the start of a formula: at
/// the beginning and after separators. White space, quotes and control characters in front of it
/// make no difference, because some programs drop them.
pub(super) fn guarded(text: &str) -> String {
    guard(text, true)
}

/// Reverses [`guarded`].
pub(super) fn unguarded(text: &str) -> String {
    guard(text, false)
}

/// Adds or removes an apostrophe wherever a formula could start.
fn guard(text: &str, adds: bool) -> String {
    let mut guarded = String::with_capacity(text.len());
    let mut is_start = true;
    for (at, c) in text.char_indices() {
        if is_start && text[at..].trim_start_matches('\'').starts_with(FORMULA) {
            is_start = false;
            if adds {
                guarded.push('\'');
            } else if c == '\'' {
                continue;
            }
        } else {
            is_start = SEPARATORS.contains(&c) || (is_start && (c.is_whitespace() || c.is_control() || c == '"'));
        }
        guarded.push(c);
    }
    guarded
}

/// The text with white space and invisible characters trimmed from both ends.
pub(super) fn trim(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || matches!(c, '\u{200b}' | '\u{2060}' | '\u{feff}'))
}

/// Whether a cell with this text is meant to be empty.
pub(super) fn is_nothing(text: &str) -> bool {
    text.len() <= 16 && NOTHING.contains(&text.to_lowercase().as_str())
}

/// Splits a list at `;`, `|` and line breaks. A backslash before one of these, a comma, white space
/// or a backslash makes it part of the value.
pub(super) fn split(text: &str) -> Vec<String> {
    let mut items = Vec::new();
    let mut item = String::new();
    // The length up to the last character that must not be trimmed.
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
    matches!(c, ';' | '|' | ',' | '\\') || c.is_whitespace()
}

/// Whether a list is split on separators other than commas.
pub(super) fn has_marks(text: &str) -> bool {
    text.contains([';', '|', '\n']) || text.contains("\\,")
}

/// The non-empty pieces between commas, if there are several.
pub(super) fn at_commas(text: &str) -> Vec<&str> {
    text.split(',').map(trim).filter(|piece| !piece.is_empty()).collect()
}

/// Joins a list so that [`split`] restores it. Commas are escaped unless it's otherwise clear that
/// the list isn't split on them.
pub(super) fn join<'i>(items: impl Iterator<Item = &'i str>) -> String {
    let mut text = String::new();
    let mut items = items.peekable();
    let mut is_only = true;
    while let Some(item) = items.next() {
        is_only &= items.peek().is_none();
        if !text.is_empty() {
            text.push_str("; ");
        }
        let inner =
            item.len() - item.trim_start().len()..item.trim_end().len().max(item.len() - item.trim_start().len());
        for (at, c) in item.char_indices() {
            if matches!(c, ';' | '|' | '\\' | '\n')
                || (c == ',' && is_only)
                || (c.is_whitespace() && !inner.contains(&at))
            {
                text.push('\\');
            }
            text.push(c);
        }
    }
    text
}

/// A source: its label and its address, which doubles as the label if there is none. Accepts `Label
/// <https://…>`, `[Label](https://…)`, `Label (https://…)`, `Label: https://…`, `Label –
/// https://…`, `https://… (Label)` and a bare address.
pub(super) fn source(item: &str) -> (&str, &str) {
    if let Some(pair) = item.strip_suffix('>').and_then(|item| item.rsplit_once(" <")) {
        return pair;
    }
    let starts = ["https://", "http://", "www."];
    let Some(start) = starts.iter().filter_map(|start| item.find(start)).min() else { return (item, item) };
    let (before, rest) = item.split_at(start);
    let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
    let (mut address, behind) = rest.split_at(end);
    for (open, close) in [('(', ')'), ('<', '>'), ('[', ']')] {
        if before.ends_with(open) {
            address = address.strip_suffix(close).unwrap_or(address);
        }
    }
    let is_mark = |c: char| c.is_whitespace() || "()[]<>:-–—,".contains(c);
    let label =
        [before.trim_matches(is_mark), behind.trim_matches(is_mark)].into_iter().find(|label| !label.is_empty());
    (label.unwrap_or(address), address)
}

/// The sources in a cell: the items of a list, or the pieces between commas if each has an address.
pub(super) fn sources(text: &str) -> Vec<String> {
    let has_address = |piece: &&str| piece.contains("://") || piece.contains("www.");
    let pieces: Vec<&str> = text.split(", ").map(trim).collect();
    if pieces.len() > 1 && !has_marks(text) && pieces.iter().all(has_address) {
        return pieces.into_iter().map(str::to_owned).collect();
    }
    split(text)
}

/// Whether the text is a web address as people write them.
pub(super) fn is_address(text: &str) -> bool {
    let lower = text.get(..8).unwrap_or(text).to_ascii_lowercase();
    !text.contains(char::is_whitespace)
        && (["https://", "http://", "www."].iter().any(|start| lower.starts_with(start)) || is_bare_host(text))
}

/// Whether the text is a domain, optionally with a path, but without a scheme or anything else.
pub(super) fn is_bare_host(text: &str) -> bool {
    let host = text.split('/').next().unwrap_or_default();
    let is_label = |label: &str| !label.is_empty() && label.chars().all(|c| c.is_alphanumeric() || c == '-');
    let last = host.rsplit('.').next().unwrap_or_default();
    host.contains('.') && host.split('.').all(is_label) && last.len() >= 2 && last.chars().all(char::is_alphabetic)
}

/// The address with `https://` in front of `www.`.
pub(super) fn with_scheme(text: &str) -> Option<String> {
    let is_www = text.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("www."));
    is_www.then(|| format!("https://{text}"))
}

/// Repairs an address's scheme: adds a missing one before a domain, or completes one that lacks a
/// character. This doesn't require judgement.
pub(super) fn repaired_address(text: &str) -> Option<String> {
    if is_bare_host(text) {
        return Some(format!("https://{text}"));
    }
    let (scheme, rest) = text.split_once(['/', ':'])?;
    let scheme = scheme.to_ascii_lowercase();
    let rest = rest.trim_start_matches(['/', ':']);
    let is_broken = matches!(scheme.as_str(), "http" | "https") && !text[scheme.len()..].starts_with("://");
    (is_broken && is_bare_host(rest)).then(|| format!("{scheme}://{rest}"))
}

/// Reads a word that means yes or no.
pub(super) fn boolean(text: &str) -> Option<bool> {
    match text.to_lowercase().as_str() {
        "true" | "yes" | "ja" | "oui" => Some(true),
        "false" | "no" | "nein" | "non" => Some(false),
        _ => None,
    }
}

/// The decimal separator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DecimalMark {
    Comma,
    Point,
}

/// Reads a number with at most one decimal separator, such as `4,2`, and writes it as JSON does.
pub(super) fn decimal(text: &str) -> Option<(String, Option<DecimalMark>)> {
    let (sign, digits) = text.strip_prefix('-').map_or(("", text), |digits| ("-", digits));
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let whole = |part: &str| {
        let whole = part.trim_start_matches('0');
        if whole.is_empty() { "0".to_owned() } else { whole.to_owned() }
    };
    if is_number(digits) {
        return Some((format!("{sign}{}", whole(digits)), None));
    }
    let (before, behind) = digits.split_once([',', '.'])?;
    let mark = if digits.contains(',') { DecimalMark::Comma } else { DecimalMark::Point };
    (is_number(before) && is_number(behind)).then(|| (format!("{sign}{}.{behind}", whole(before)), Some(mark)))
}

/// Reads a whole number, optionally with thousands separators, such as `1.234` or `1 234`.
pub(super) fn whole_number(text: &str) -> Option<String> {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if is_number(text) {
        return decimal(text).map(|(number, _)| number);
    }
    let mark = text.chars().find(|c| !c.is_ascii_digit())?;
    let mut groups = text.split(mark);
    let first = groups.next().filter(|first| first.len() <= 3 && is_number(first))?;
    let rest: Vec<&str> = groups.collect();
    let is_grouped = matches!(mark, '.' | ',' | ' ' | '\'' | '’' | '\u{a0}' | '\u{202f}')
        && rest.iter().all(|group| group.len() == 3 && is_number(group));
    is_grouped.then(|| decimal(&format!("{first}{}", rest.concat())).map(|(number, _)| number))?
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lists_are_split_at_unescaped_delimiters() {
        assert_eq!(split("a; b|c\nd"), ["a", "b", "c", "d"]);
        assert_eq!(split(r"a\; b; C:\dir"), ["a; b", r"C:\dir"]);
        assert_eq!(split("a, b"), ["a, b"]);
        assert_eq!(split(" ; "), [""; 0]);
    }

    #[test]
    fn formulas_are_guarded_and_other_text_is_not() {
        for (text, cell) in [
            ("=1+1", "'=1+1"),
            ("＝1", "'＝1"),
            ("x;=1", "x;'=1"),
            ("x; =1", "x; '=1"),
            ("x;\"=1", "x;\"'=1"),
            ("x;'=1", "x;''=1"),
            (";=1|@a\t+b\n- c\r\n-d", ";'=1|'@a\t'+b\n'- c\r\n'-d"),
            ("\t=1", "\t'=1"),
            ("'tis; a-b, -c; =", "'tis; a-b, -c; '="),
            ("https://a.example/?a=1;b=2", "https://a.example/?a=1;b=2"),
        ] {
            assert_eq!((guarded(text).as_str(), unguarded(cell).as_str()), (cell, text));
        }
    }

    #[test]
    fn sources_are_read_in_each_common_form() {
        for item in [
            "Docs <https://a.example/x>",
            "[Docs](https://a.example/x)",
            "Docs (https://a.example/x)",
            "Docs: https://a.example/x",
            "Docs – https://a.example/x",
            "https://a.example/x (Docs)",
            "https://a.example/x Docs",
        ] {
            assert_eq!(source(item), ("Docs", "https://a.example/x"), "{item}");
        }
        assert_eq!(source("https://a.example/x_(y)"), ("https://a.example/x_(y)", "https://a.example/x_(y)"));
        assert_eq!(source("no address"), ("no address", "no address"));
        assert_eq!(sources("https://a.example/, B https://b.example/"), ["https://a.example/", "B https://b.example/"]);
        assert_eq!(sources("A, B <https://a.example/>"), ["A, B <https://a.example/>"]);
    }

    #[test]
    fn addresses_are_completed_only_if_they_are_unambiguous() {
        assert_eq!(with_scheme("www.a.example").as_deref(), Some("https://www.a.example"));
        assert_eq!(with_scheme("a.example"), None);
        assert_eq!(repaired_address("a.example/x").as_deref(), Some("https://a.example/x"));
        assert_eq!(repaired_address("https:/a.example").as_deref(), Some("https://a.example"));
        assert_eq!(repaired_address("http//a.example").as_deref(), Some("http://a.example"));
        for text in ["https://a.example/", "see below", "a b.example", "1.5", "mailto:x@a.example", "tbd"] {
            assert_eq!(repaired_address(text), None, "{text}");
        }
        assert!(is_address("HTTPS://a.example") && is_address("a.example") && !is_address("Visit"));
    }

    #[test]
    fn numbers_are_parsed_with_either_decimal_separator() {
        let number = |text| decimal(text).map(|(number, _)| number);
        assert_eq!(number("4,2").as_deref(), Some("4.2"));
        assert_eq!(number("-04.50").as_deref(), Some("-4.50"));
        assert_eq!(number("007").as_deref(), Some("7"));
        assert!(["1.234,5", "4,", ",5", "4,2 of 5", ""].into_iter().all(|text| number(text).is_none()));
        assert_eq!(whole_number("1.234").as_deref(), Some("1234"));
        assert_eq!(whole_number("1 234 567").as_deref(), Some("1234567"));
        assert!(["1.23", "1234.567", "12a"].into_iter().all(|text| whole_number(text).is_none()));
    }

    #[test]
    fn only_a_few_placeholders_mean_an_empty_cell() {
        assert!(["k.A.", "n/a", "N/A", "-", "–"].into_iter().all(is_nothing));
        assert!(["none", "NA", "0", "unknown"].into_iter().all(|text| !is_nothing(text)));
    }

    proptest! {
        #[test]
        fn a_joined_list_splits_into_the_same_items(items in proptest::collection::vec("[a;|,\\\\ \n\t'=é-]{1,6}", 0..5)) {
            prop_assert_eq!(split(&join(items.iter().map(String::as_str))), items);
        }

        #[test]
        fn guarded_text_is_restored(text in "['=+@\t\r\n ;|\",a＝-]{0,9}") {
            let cell = guarded(&text);
            for part in cell.split(SEPARATORS) {
                let part = part.trim_start_matches(|c: char| c.is_whitespace() || c == '"');
                prop_assert!(!part.starts_with(FORMULA), "{cell:?}");
            }
            prop_assert_eq!(unguarded(&cell), text);
        }
    }
}
