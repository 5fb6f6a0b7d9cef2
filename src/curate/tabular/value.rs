//! Text in cells: lists, sources, addresses, numbers, words for "no value", and text that a
//! spreadsheet program would take for a formula.

use std::collections::HashSet;
use std::ops::Range;

use quick_xml::escape::{resolve_html5_entity, unescape_with};

use crate::export::ascii_url;
use crate::text::domain::is_top_level_domain;

/// Text that means "no value", in lower case: what spreadsheets, R, Python and databases write, and
/// what people write in several languages.
const NOTHING: &str = "-|--|---|–|—|.|?|??|???|n/a|n.a.|n. a.|na|<na>|nan|none|(none)|null|(null)|nil|(blank)|(empty)|(leer)|\
     (vide)|tbd|t.b.d.|tba|tbc|not applicable|not available|k.a.|k. a.|k.a|keine angabe|keine angaben|\
     ohne angabe|n.d.|n/d|s/d|s.o.|non renseigné|sin datos|n.v.t.|nvt|b.d.|nie dotyczy|н/д";

/// Characters that make a cell a formula if it starts with one of them. Japanese versions of Excel
/// also accept the full-width ones.
const FORMULA: [char; 8] = ['=', '+', '-', '@', '＝', '＋', '－', '＠'];
/// Characters that end a cell in programs that expect another separator than a comma, even inside
/// quotes: such a program looks for quotes elsewhere.
const SEPARATORS: [char; 5] = [';', '|', '\t', '\n', '\r'];

/// The text, with an apostrophe wherever a spreadsheet program could see the start of a formula: at
/// the beginning and after separators. White space, quotes and control characters in front of it
/// make no difference, because some programs drop them.
pub fn guarded(text: &str) -> String {
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

/// Whether this text usually means "no value".
pub(super) fn is_nothing(text: &str) -> bool {
    let folded = text.to_lowercase();
    text.len() <= 24 && NOTHING.split('|').any(|word| word == folded)
}

/// Whether the text is one of these words, ignoring case.
pub(super) fn is_word(words: &[String], text: &str) -> bool {
    words.iter().any(|word| word.to_lowercase() == text.to_lowercase())
}

/// The text with HTML entities such as `&amp;` and `&#38;` decoded; `None` if it has none.
pub(super) fn without_entities(text: &str) -> Option<String> {
    const ENTITY_BYTES: usize = 33;
    let mut decoded = String::new();
    let mut end = 0;
    for (start, _) in text.match_indices('&').filter(|_| text.contains(';')) {
        let reach = text.floor_char_boundary((start + ENTITY_BYTES).min(text.len()));
        let Some(length) = text[start..reach].find(';').filter(|_| start >= end) else { continue };
        let entity = &text[start..=start + length];
        if let Ok(character) = unescape_with(entity, resolve_html5_entity)
            && character != entity
        {
            decoded.push_str(&text[end..start]);
            decoded.push_str(&character);
            end = start + entity.len();
        }
    }
    (end > 0).then(|| decoded + &text[end..])
}

/// The text of a formula that consists of text only, such as `="00123"` or `="A"&"B"`.
pub(super) fn formula_text(text: &str) -> Option<String> {
    let mut rest = text.strip_prefix("=\"")?;
    let mut value = String::new();
    loop {
        let (part, behind) = rest.split_once('"')?;
        value.push_str(part);
        rest = match (behind.strip_prefix('"'), behind.trim_start().strip_prefix('&')) {
            (Some(behind), _) => {
                value.push('"');
                behind
            }
            (None, Some(next)) => next.trim_start().strip_prefix('"')?,
            (None, None) => return behind.trim().is_empty().then_some(value),
        };
    }
}

/// Whether the text is a spreadsheet's formula, such as `=SUM(A1:A3)` or `=12*4`.
pub(super) fn is_formula(text: &str) -> bool {
    let Some(formula) = text.strip_prefix('=') else { return false };
    let name = formula.trim_start_matches(|c: char| c.is_uppercase() || c.is_ascii_digit() || matches!(c, '.' | '_'));
    let is_call = name.len() < formula.len() && name.starts_with('(') && name.ends_with(')');
    let is_sum = formula.contains(['+', '-', '*', '/', '&', ':'])
        && formula.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b"+-*/&:.,()$! ".contains(&b))
        && formula.contains(|c: char| c.is_ascii_digit());
    is_call || is_sum
}

/// The labels and addresses of a cell that contains only links: `[Label](address)` (Markdown), `Label
/// (https://www.notion.so/…)` (Notion), `<a href="…">Label</a>`, or `=HYPERLINK("…","Label")`.
pub(super) fn links(text: &str) -> Option<Vec<(String, String)>> {
    let pair = |label: &str, address: &str| {
        let is_pair = !label.trim().is_empty() && !address.is_empty() && !address.contains(char::is_whitespace);
        is_pair.then(|| (trim(label).to_owned(), address.to_owned()))
    };
    if let Some(arguments) = text.strip_prefix("=HYPERLINK(\"").and_then(|rest| rest.strip_suffix("\")")) {
        let (address, label) = arguments.split_once("\",\"").or_else(|| arguments.split_once("\";\""))?;
        return Some(vec![pair(&label.replace("\"\"", "\""), address)?]);
    }
    if let Some(anchor) = text.strip_prefix("<a ").and_then(|rest| rest.strip_suffix("</a>")) {
        let (attributes, label) = anchor.split_once('>').filter(|(_, label)| !label.contains('<'))?;
        let (_, href) = attributes.split_once("href=")?;
        let quote = href.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
        return Some(vec![pair(label, href[1..].split(quote).next()?)?]);
    }
    let mut links = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (label, behind) = if let Some(rest) = rest.strip_prefix('[') {
            rest.split_once("](")?
        } else {
            rest.split_once(" (").filter(|(_, behind)| is_notion(behind))?
        };
        let (address, behind) = behind.split_once(')')?;
        links.push(pair(label, address)?);
        rest = behind.trim_start_matches([',', ';', '\n', ' ']);
        if rest.len() == behind.len() && !rest.is_empty() {
            return None;
        }
    }
    Some(links).filter(|links| !links.is_empty())
}

fn is_notion(text: &str) -> bool {
    ["https://www.notion.so/", "https://notion.so/"].iter().any(|start| text.starts_with(start))
}

/// Where text is inside parentheses, brackets or quotes on one line, and whether any of them has no
/// counterpart.
fn enclosed(text: &str) -> (Vec<Range<usize>>, bool) {
    let (mut ranges, mut open): (Vec<Range<usize>>, Vec<(char, usize)>) = (Vec::new(), Vec::new());
    let mut is_loose = false;
    let mut before = ' ';
    let mut chars = text.char_indices();
    while let Some((at, mut c)) = chars.next() {
        let expected = open.last().map(|(expected, _)| *expected);
        let starts_item = before.is_whitespace() || matches!(before, ';' | '|' | ',' | '(' | '[');
        match c {
            '\\' => c = chars.next().map_or(c, |(_, escaped)| escaped),
            '\n' => is_loose |= !std::mem::take(&mut open).is_empty(),
            _ if expected == Some(c) => ranges.extend(open.pop().map(|(_, start)| start..at)),
            '(' => open.push((')', at)),
            '[' => open.push((']', at)),
            '"' if starts_item => open.push(('"', at)),
            '„' => open.push(('“', at)),
            '“' => open.push(('”', at)),
            '«' => open.push(('»', at)),
            ')' | ']' => is_loose = true,
            _ => {}
        }
        before = c;
    }
    (ranges, is_loose || !open.is_empty())
}

/// Splits a list at `;`, `|` and line breaks outside parentheses and quotes. A backslash before one
/// of these, a comma, a bracket, a quote, white space or a backslash makes it part of the value.
pub(super) fn split(text: &str) -> Vec<String> {
    split_at(text, |c| matches!(c, ';' | '|' | '\n'))
}

/// Splits the list in a column that is known to contain lists: also at bullets, and at ideographic and
/// Arabic commas. `#tags` lose their `#`.
pub(super) fn split_listed(text: &str) -> Vec<String> {
    let words = || text.split_whitespace();
    if words().all(|word| word.len() > 1 && word.starts_with('#') && !word[1..].contains('#')) {
        return words().map(|word| word[1..].trim_end_matches([',', ';']).to_owned()).collect();
    }
    let spaced = text.replace(" · ", " • ");
    split_at(&spaced, |c| matches!(c, ';' | '|' | '\n' | '•' | '‣' | '▪' | '、' | '，' | '،' | '؛'))
}

fn split_at(text: &str, is_separator: impl Fn(char) -> bool) -> Vec<String> {
    let (enclosed, _) = enclosed(text);
    let mut items = Vec::new();
    let mut item = String::new();
    // The length up to the last character that must not be trimmed.
    let mut kept = 0;
    let mut chars = text.char_indices().peekable();
    let mut finish = |item: &mut String, kept: &mut usize| {
        item.truncate(*kept);
        *kept = 0;
        if !item.is_empty() {
            items.push(std::mem::take(item));
        }
    };
    while let Some((at, c)) = chars.next() {
        let escaped = if c == '\\' { chars.next_if(|(_, next)| is_escaped(*next)) } else { None };
        if let Some((_, escaped)) = escaped {
            item.push(escaped);
            kept = item.len();
        } else if is_separator(c) && !enclosed.iter().any(|range| range.contains(&at)) {
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
    matches!(c, ';' | '|' | ',' | '\\') || is_enclosing(c) || c.is_whitespace()
}

fn is_enclosing(c: char) -> bool {
    matches!(c, '(' | ')' | '[' | ']' | '"' | '„' | '“' | '”' | '«' | '»')
}

/// The items of a JSON or Python list such as `["a", "b"]` or `['a', 'b']`.
pub(super) fn written_list(text: &str) -> Option<Vec<String>> {
    let inner = text.strip_prefix('[')?.strip_suffix(']')?;
    let item = |item: &str| {
        let item = item.trim();
        let quote = item.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
        let inner = item[1..].strip_suffix(quote)?;
        (!inner.contains(quote)).then(|| trim(inner).to_owned())
    };
    let list = serde_json::from_str::<Vec<String>>(text).ok();
    list.or_else(|| inner.split(',').map(item).collect()).or_else(|| inner.trim().is_empty().then(Vec::new))
}

/// The non-empty pieces between separators outside parentheses and quotes. A comma between digits
/// separates nothing. Neither does one between digits with a space, unless it's certain that commas
/// separate values.
pub(super) fn pieces<'t>(text: &'t str, separators: &[&str], is_certain: bool) -> Vec<&'t str> {
    let (enclosed, _) = enclosed(text);
    let mut pieces = Vec::new();
    let mut start = 0;
    let mut places: Vec<(usize, &str)> = separators.iter().flat_map(|of| text.match_indices(*of)).collect();
    places.sort_unstable();
    for (at, separator) in places {
        let behind = &text[at + separator.len()..];
        let behind = if is_certain { behind } else { behind.trim_start() };
        let is_number = separator == ","
            && text[..at].ends_with(|c: char| c.is_ascii_digit())
            && behind.starts_with(|c: char| c.is_ascii_digit());
        if !is_number && !enclosed.iter().any(|range| range.contains(&at)) {
            pieces.push(&text[start..at]);
            start = at + separator.len();
        }
    }
    pieces.push(&text[start..]);
    pieces.into_iter().map(trim).filter(|piece| !piece.is_empty()).collect()
}

/// Joins a list so that [`split`] restores it. Commas are escaped unless it's otherwise clear that
/// the list isn't split on them; brackets and quotes are escaped if they have no counterpart.
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
        let is_loose = enclosed(item).1 || item.starts_with('[') || item.contains('\\');
        for (at, c) in item.char_indices() {
            if matches!(c, ';' | '|' | '\\' | '\n')
                || (c == ',' && is_only)
                || (is_loose && is_enclosing(c))
                || (c.is_whitespace() && !inner.contains(&at))
            {
                text.push('\\');
            }
            text.push(c);
        }
    }
    text
}

/// The list as [`join`] writes it; `None` if it would be read back differently.
pub(super) fn readable_list(items: &[Box<str>]) -> Option<String> {
    let items = items.iter().map(|item| &**item);
    let text = join(items.clone());
    let mut seen = HashSet::new();
    let is_same = split_listed(&text).iter().eq(items.clone()) && written_list(&text).is_none();
    (is_same && items.into_iter().all(|item| seen.insert(item))).then_some(text)
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
    if pieces.len() > 1 && split(text).len() == 1 && pieces.iter().all(has_address) {
        return pieces.into_iter().map(str::to_owned).collect();
    }
    split(text)
}

/// Whether the text is a web address as people write them.
pub(super) fn is_address(text: &str) -> bool {
    has_scheme(text) || is_bare_host(text)
}

/// Whether the text is unmistakably a web address, because it begins with `https://`, `http://` or
/// `www.`.
pub(super) fn has_scheme(text: &str) -> bool {
    let lower = text.get(..text.floor_char_boundary(8)).unwrap_or(text).to_ascii_lowercase();
    !text.contains(char::is_whitespace)
        && ["https://", "http://", "www."].iter().any(|start| lower.starts_with(start) && text.len() > start.len())
}

/// Whether the text is a domain, optionally with a path, but without a scheme or anything else.
/// `hedge.exe` and `org.example.hedge` aren't domains.
pub(super) fn is_bare_host(text: &str) -> bool {
    let host = text.split(['/', '?', '#']).next().unwrap_or_default();
    let is_label = |label: &str| !label.is_empty() && label.chars().all(|c| c.is_alphanumeric() || c == '-');
    let last = host.rsplit('.').next().unwrap_or_default();
    let last = idna::domain_to_ascii(last).unwrap_or_default();
    host.contains('.')
        && !text.contains(char::is_whitespace)
        && host.split('.').all(is_label)
        && (is_top_level_domain(&last) || last == "example")
}

/// The address with `https://` in front of `www.`.
pub(super) fn with_scheme(text: &str) -> Option<String> {
    let is_www = text.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("www."));
    is_www.then(|| format!("https://{text}"))
}

/// Repairs an address: removes white space around it, adds a missing scheme before a domain,
/// completes one that lacks a character, and writes a host with umlauts in Punycode. This doesn't
/// require judgement.
pub(super) fn repaired_address(text: &str) -> Option<String> {
    let trimmed = trim(text);
    let mut address = trimmed.to_owned();
    if is_bare_host(trimmed) {
        address = format!("https://{trimmed}");
    } else if let Some((scheme, rest)) = trimmed.split_once(['/', ':']) {
        let is_broken = ["http", "https"].iter().any(|of| scheme.eq_ignore_ascii_case(of))
            && !trimmed[scheme.len()..].starts_with("://");
        let rest = rest.trim_start_matches(['/', ':']);
        if is_broken && is_bare_host(rest) {
            address = format!("{}://{rest}", scheme.to_ascii_lowercase());
        }
    }
    let address = ascii_url(&address).unwrap_or(address);
    (address != text).then_some(address)
}

/// Reads a word that means yes or no.
pub(super) fn boolean(text: &str) -> Option<bool> {
    match text.to_lowercase().as_str() {
        "true" | "yes" | "ja" | "oui" | "sí" | "sì" | "sim" | "tak" | "да" | "✓" | "✔" | "✅" | "☑" => {
            Some(true)
        }
        "false" | "no" | "nein" | "non" | "nee" | "não" | "nie" | "нет" | "✗" | "✘" | "❌" | "☐" => {
            Some(false)
        }
        _ => None,
    }
}

pub(super) fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DecimalMark {
    Comma,
    Point,
}

/// Reads a number with at most one decimal separator, such as `4,2`, and writes it as JSON does.
pub(super) fn decimal(text: &str) -> Option<(String, Option<DecimalMark>)> {
    let (sign, digits) = text.strip_prefix('-').map_or(("", text), |digits| ("-", digits));
    let whole = |part: &str| {
        let whole = part.trim_start_matches('0');
        if whole.is_empty() { "0".to_owned() } else { whole.to_owned() }
    };
    if is_digits(digits) {
        return Some((format!("{sign}{}", whole(digits)), None));
    }
    let (before, behind) = digits.split_once([',', '.'])?;
    let mark = if digits.contains(',') { DecimalMark::Comma } else { DecimalMark::Point };
    (is_digits(before) && is_digits(behind)).then(|| (format!("{sign}{}.{behind}", whole(before)), Some(mark)))
}

/// Whether nothing is lost if a column's values are read as numbers: `01234` is a code, and `1.9` and
/// `1.10` are versions.
pub(super) fn are_numbers(texts: impl Iterator<Item = String>) -> bool {
    let (mut places, mut has_zero) = (HashSet::new(), false);
    for text in texts {
        let digits = text.strip_prefix('-').unwrap_or(&text);
        let is_padded = digits.starts_with('0') && digits[1..].starts_with(|c: char| c.is_ascii_digit());
        if is_padded || decimal(&text).is_none() {
            return false;
        }
        if let Some((_, behind)) = text.split_once([',', '.']) {
            has_zero |= behind.ends_with('0');
            places.insert(behind.len());
        }
    }
    !has_zero || places.len() < 2
}

/// Reads a whole number, optionally with thousands separators, such as `1.234` or `1 234`.
pub(super) fn whole_number(text: &str) -> Option<String> {
    if is_digits(text) {
        return decimal(text).map(|(number, _)| number);
    }
    let mark = text.chars().find(|c| !c.is_ascii_digit())?;
    let mut groups = text.split(mark);
    let first = groups.next().filter(|first| first.len() <= 3 && is_digits(first))?;
    let rest: Vec<&str> = groups.collect();
    let is_grouped = matches!(mark, '.' | ',' | ' ' | '\'' | '’' | '\u{a0}' | '\u{202f}')
        && rest.iter().all(|group| group.len() == 3 && is_digits(group));
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
        assert_eq!(split("a (b; c); \"d; e\"; 24\" f; g)"), ["a (b; c)", "\"d; e\"", "24\" f", "g)"]);
        assert_eq!(split("a (b\nc) d"), ["a (b", "c) d"]);
        assert_eq!(split_listed("#audit #c++"), ["audit", "c++"]);
        assert_eq!(split_listed("audit • iso、sds،x · y"), ["audit", "iso", "sds", "x", "y"]);
        assert_eq!(split_listed("C# #dotnet, R/3"), ["C# #dotnet, R/3"]);
        assert_eq!(
            pieces("a (b, c), 4,50 €, ISO 9001, 2015 / d", &[","], false),
            ["a (b, c)", "4,50 €", "ISO 9001, 2015 / d"]
        );
        assert_eq!(pieces("9001, 14001 / 4,5", &[",", " / "], true), ["9001", "14001", "4,5"]);
        for list in ["['a', \"b\"]", r#"["a", "b"]"#] {
            assert_eq!(written_list(list).as_deref(), Some(&["a".to_owned(), "b".to_owned()][..]));
        }
        assert_eq!(written_list("[Draft]"), None);
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
        assert_eq!(
            repaired_address("https://müller.example/ü").as_deref(),
            Some("https://xn--mller-kva.example/%C3%BC")
        );
        assert_eq!(repaired_address(" https://a.example/\u{a0}").as_deref(), Some("https://a.example/"));
        for text in ["org.example.hedge", "hedge.exe", "Acme.Hedge", "node.js"] {
            assert!(!is_address(text), "{text}");
        }
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
        assert!(["NA", "None", "(blank)", "TBD", "?"].into_iter().all(is_nothing));
        assert!(["0", "unknown", "no", "free"].into_iter().all(|text| !is_nothing(text)));
    }

    #[test]
    fn a_quote_after_an_escaped_space_encloses_like_one_after_a_space() {
        let items = ["\t\"a \"", "\"b\""];
        assert_eq!(split(&join(items.into_iter())), items);
        assert_eq!(split("\\ \"a;b\"; c"), [" \"a;b\"", "c"]);
    }

    proptest! {
        #[test]
        fn a_joined_list_splits_into_the_same_items(items in proptest::collection::vec("[a;|,\\\\ \n\t'=é()\"\\[\\]-]{1,6}", 0..5)) {
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
