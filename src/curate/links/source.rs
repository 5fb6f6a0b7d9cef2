//! What a source says, reduced to what matters: whether it has the quotes, and a hash of its main
//! text without dates, tokens and counters.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeMap;

use bytes::Bytes;
use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};
use html5ever::LocalName;
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use unicode_general_category::{GeneralCategory, get_general_category};
use unicode_normalization::UnicodeNormalization as _;

use crate::text::html::escape;
use crate::text::{append, is_listed};

/// The maximum size of a page's text in bytes. Only the bytes of larger pages are compared.
pub(super) const MAX_BYTES: usize = 2 << 20;
/// If the main text is shorter than this, parts that look unlikely are searched for it, too.
const MIN_CHARS: usize = 100;

/// A response's body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Body {
    pub(super) content_type: Option<String>,
    /// Whether it's encoded although we didn't ask for that.
    pub(super) is_encoded: bool,
    pub(super) bytes: Bytes,
    pub(super) is_whole: bool,
}

/// A source's content when it was last fetched, as stored in the cache.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Content {
    /// Of the main text or, if there is none, of the bytes.
    hash: Box<str>,
    pub(super) has_text: bool,
    /// When the hash was last found to be another one.
    pub(super) changed_at: Option<Timestamp>,
    /// The hashes of the quotes that were looked for, and whether the text has them.
    quotes: BTreeMap<Box<str>, bool>,
}

impl Content {
    pub(super) fn of(body: &Body, quotes: &[Box<str>]) -> Self {
        let Some((main, whole)) = body.texts() else { return Self::of_bytes(&body.bytes) };
        let whole = squeezed(&whole);
        let quotes = quotes.iter().map(|quote| (quote_hash(quote), whole.contains(&squeezed(quote))));
        Self { hash: hash(essential(&main).as_bytes()), has_text: true, changed_at: None, quotes: quotes.collect() }
    }

    pub(super) fn of_bytes(bytes: &[u8]) -> Self {
        Self { hash: hash(bytes), has_text: false, changed_at: None, quotes: BTreeMap::new() }
    }

    /// Notes whether the content has changed since it was fetched `before`.
    pub(super) fn after(self, before: Option<&Self>, now: Timestamp) -> Self {
        let changed_at = before.and_then(|of| if of.hash == self.hash { of.changed_at } else { Some(now) });
        Self { changed_at, ..self }
    }

    /// Whether the text has a quote; `None` if it hasn't been looked for.
    pub(super) fn has(&self, quote: &str) -> Option<bool> {
        self.quotes.get(&quote_hash(quote)).copied()
    }
}

fn hash(bytes: &[u8]) -> Box<str> {
    blake3::hash(bytes).to_hex()[..32].into()
}

fn quote_hash(quote: &str) -> Box<str> {
    hash(squeezed(quote).as_bytes())[..16].into()
}

impl Body {
    fn is_html(&self) -> bool {
        let kind = self.content_type.as_deref().unwrap_or_default().split(';').next().unwrap_or_default().trim();
        kind.eq_ignore_ascii_case("text/html")
            || kind.eq_ignore_ascii_case("application/xhtml+xml")
            || kind.is_empty() && self.bytes.trim_ascii_start().starts_with(b"<")
    }

    fn text(&self) -> Option<Cow<'_, str>> {
        let is_text = self.content_type.as_deref().is_some_and(|kind| kind.get(..5) == Some("text/"));
        if !self.is_whole || self.is_encoded || !(is_text || self.is_html()) {
            return None;
        }
        let beginning = String::from_utf8_lossy(&self.bytes[..self.bytes.len().min(1024)]).to_ascii_lowercase();
        let stated = self.content_type.as_deref().and_then(charset).or_else(|| charset(&beginning));
        let is_utf8 = std::str::from_utf8(&self.bytes).is_ok();
        let encoding = stated.unwrap_or(if is_utf8 { UTF_8 } else { WINDOWS_1252 });
        Some(encoding.decode(&self.bytes).0)
    }

    /// The main text with the title, and all visible text, since a quote may be from a table that
    /// isn't part of the main text.
    fn texts(&self) -> Option<(String, String)> {
        let text = self.text()?;
        if !self.is_html() {
            return Some((text.to_string(), text.into_owned()));
        }
        let Page { text: whole, html, .. } = Page::read(&text)?;
        let options = legible::Options::new().char_threshold(MIN_CHARS).disable_json_ld(true);
        let article = legible::parse(&html, None, Some(options)).ok()?;
        let main = Page::read(&article.content)?.text;
        (!main.trim().is_empty()).then(|| (article.title + "\n" + &main, whole))
    }
}

/// The encoding named after the first `charset=`.
fn charset(text: &str) -> Option<&'static Encoding> {
    let (_, label) = text.split_once("charset=")?;
    let label = label.trim_start_matches(['"', '\'', ' ']);
    Encoding::for_label(label.split(['"', '\'', ' ', ';', '>', '/']).next()?.as_bytes())
}

/// The maximum number of elements on a page, and how deeply they may be nested. Beyond that,
/// building its tree would take too long.
const MAX_ELEMENTS: usize = 50_000;
const MAX_DEPTH: usize = 500;
/// Elements without content, and those whose end tag may be omitted.
const UNCLOSED: &str = "area base br col embed hr img input link meta source track wbr p li dt dd td th tr thead tbody \
    tfoot colgroup option optgroup rp rt";
/// Words in the `class` or `id` of an advertisement.
const ADVERTISEMENTS: &str = "ad ads advert adverts advertisement advertisements advertising adsbygoogle sponsored \
    sponsor anzeige anzeigen werbung publicite";

/// A page's visible text, and its HTML without advertisements, scripts and styles.
#[derive(Default)]
struct Page {
    text: String,
    html: String,
    is_code: bool,
    /// The open elements, and how many of them are around an advertisement.
    open: Vec<LocalName>,
    hidden_below: Option<usize>,
    elements: usize,
    is_too_deep: bool,
}

impl Page {
    /// `None` if the page has too many elements.
    fn read(html: &str) -> Option<Self> {
        let tokenizer = Tokenizer::new(PageReader::default(), TokenizerOpts::default());
        let input = BufferQueue::default();
        input.push_back(StrTendril::from_slice(html));
        let _ = tokenizer.feed(&input);
        tokenizer.end();
        let page = tokenizer.sink.0.into_inner();
        (page.elements <= MAX_ELEMENTS && !page.is_too_deep).then_some(page)
    }

    fn start(&mut self, tag: &Tag) {
        self.elements += 1;
        let is_name = |name: &str| matches!(name, "class" | "id");
        let names = tag.attrs.iter().filter(|of| is_name(&of.name.local));
        let mut words = names.flat_map(|of| of.value.split(|c: char| !c.is_ascii_alphanumeric()));
        if !tag.self_closing && !is_listed(UNCLOSED, &tag.name) {
            // A page's own class may say that it has advertisements.
            let is_part = !matches!(&*tag.name, "html" | "body" | "main" | "article");
            if self.hidden_below.is_none()
                && is_part
                && words.any(|word| is_listed(ADVERTISEMENTS, &word.to_ascii_lowercase()))
            {
                self.hidden_below = Some(self.open.len());
            }
            self.is_too_deep |= self.open.len() == MAX_DEPTH;
            if !self.is_too_deep {
                self.open.push(tag.name.clone());
            }
        }
        if self.hidden_below.is_none() && !self.is_code {
            append(&mut self.html, format_args!("<{}", tag.name));
            for of in &tag.attrs {
                append(&mut self.html, format_args!(" {}=\"{}\"", of.name.local, escape(&of.value)));
            }
            self.html.push('>');
        }
    }

    fn end(&mut self, name: &LocalName) {
        if self.hidden_below.is_none() && !matches!(&**name, "script" | "style") {
            append(&mut self.html, format_args!("</{name}>"));
        }
        if let Some(at) = self.open.iter().rposition(|of| of == name) {
            self.open.truncate(at);
            self.hidden_below = self.hidden_below.filter(|below| *below < at);
        }
    }
}

#[derive(Default)]
struct PageReader(RefCell<Page>);

impl TokenSink for PageReader {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        let mut page = self.0.borrow_mut();
        match token {
            Token::CharacterTokens(text) if !page.is_code => {
                page.text.push_str(&text);
                if page.hidden_below.is_none() {
                    page.html.push_str(&escape(&text));
                }
            }
            Token::TagToken(tag) => {
                page.text.push(' ');
                let is_start = tag.kind == TagKind::StartTag;
                page.is_code = is_start && matches!(&*tag.name, "script" | "style");
                if is_start {
                    page.start(&tag);
                } else {
                    page.end(&tag.name);
                }
                if page.is_code {
                    return TokenSinkResult::RawData(RawKind::Rawtext);
                }
            }
            _ => {}
        }
        TokenSinkResult::Continue
    }
}

/// The text in lower case and compatibility form, with one kind of quotation mark, dash and space,
/// and without characters that can't be seen.
fn normal(text: &str) -> String {
    let alike = |c: char| match c {
        '‘' | '’' | '‚' | '‛' | '′' | '´' | '`' => '\'',
        '“' | '”' | '„' | '‟' | '″' | '«' | '»' => '"',
        '\u{2212}' => '-',
        c if get_general_category(c) == GeneralCategory::DashPunctuation => '-',
        c => c,
    };
    let shown = text.chars().map(alike).nfkc().filter(|c| get_general_category(*c) != GeneralCategory::Format);
    shown.flat_map(char::to_lowercase).collect()
}

/// The normal text without spaces, which depend on the markup.
fn squeezed(text: &str) -> String {
    normal(text).split_whitespace().collect()
}

/// Words before which or after which a number isn't a counter: what is versioned or numbered,
/// currencies, and units.
const LABELS: &str = "version versions ver v release iso iec en din ansi ieee ohsas iatf rfc nist nis";
const CURRENCIES: &str = "usd eur gbp chf jpy cny inr aud cad nzd sek nok dkk pln czk huf ron bgn try brl mxn zar krw \
    sgd hkd euro euros dollar dollars pound pounds franken franc francs yen cent cents";
const UNITS: &str = "% ‰ ° °c °f b kb mb gb tb pb kib mib gib tib bit bits byte bytes kbit mbit gbit kbps mbps gbps hz \
    khz mhz ghz w kw mw kwh v kv ma mah db px pt dpi fps mm cm m km ft inch inches mi mile miles mg g kg t l ml pa \
    kpa mpa bar psi ppm rpm percent prozent pourcent";
const TIMES: &str = "ms s sec second seconds sekunde sekunden seconde secondes min mins minute minutes minuten h hr \
    hrs hour hours stunde stunden heure heures day days tag tage tagen jour jours week weeks woche wochen semaine \
    semaines month months monat monate monaten mois year years jahr jahre jahren an ans";
const MONTHS: &str = "january february march april may june july august september october november december jan feb \
    mar apr jun jul aug sep sept oct nov dec januar februar märz mai juni juli oktober dezember mrz okt dez janvier \
    février mars avril juin juillet août septembre octobre novembre décembre";
const WEEKDAYS: &str = "monday tuesday wednesday thursday friday saturday sunday mon tue wed thu fri sat sun montag \
    dienstag mittwoch donnerstag freitag samstag sonntag lundi mardi mercredi jeudi vendredi samedi dimanche";
const RELATIVE_DAYS: &str = "today yesterday heute gestern aujourd'hui hier";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A date, a time or a token.
    Ignored,
    Number,
    Month,
    Weekday,
    Other,
}

/// The words that make up what a text says: without dates, tokens and counters.
fn essential(text: &str) -> String {
    let text = normal(text);
    let edges = |c: char| !c.is_alphanumeric() && !is_currency(c) && !matches!(c, '%' | '‰' | '°' | '+' | '#');
    let words: Vec<_> =
        text.split_whitespace().map(|word| word.trim_matches(edges)).filter(|of| !of.is_empty()).collect();
    let kinds: Vec<_> = words.iter().map(|word| kind(word)).collect();
    let word = |at: Option<usize>| at.and_then(|at| words.get(at)).copied().unwrap_or_default();
    let near = |at: usize, wanted: &[Kind]| {
        let is_wanted = |at: Option<usize>| at.and_then(|at| kinds.get(at)).is_some_and(|kind| wanted.contains(kind));
        is_wanted(at.checked_sub(1)) || is_wanted(Some(at + 1))
    };
    // `3 days ago`, `vor 3 Tagen`, `il y a 3 jours`.
    let is_age = |at: usize| {
        let (earlier, before, after) = (word(at.checked_sub(2)), word(at.checked_sub(1)), word(Some(at + 1)));
        let is_since = before == "vor" || (earlier, before) == ("y", "a");
        is_listed(TIMES, after) && (is_since || word(Some(at + 2)) == "ago")
    };
    let is_counter = |at: usize| {
        let (before, after) = (word(at.checked_sub(1)), word(Some(at + 1)));
        let is_money = |word: &str| is_listed(CURRENCIES, word) || !word.is_empty() && word.chars().all(is_currency);
        let is_unit = is_listed(UNITS, after) || is_listed(TIMES, after) && !near(at, &[Kind::Month]);
        is_age(at) || !(is_listed(LABELS, before) || is_money(before) || is_money(after) || is_unit)
    };
    let is_dropped = |at: usize| match kinds[at] {
        Kind::Ignored => !is_listed(LABELS, word(at.checked_sub(1))),
        Kind::Number => is_counter(at),
        Kind::Month => near(at, &[Kind::Number]),
        Kind::Weekday => near(at, &[Kind::Number, Kind::Month, Kind::Ignored]),
        // The parts of an age, such as `an hour ago`.
        Kind::Other => is_age(at) && words[at] != "a" || at.checked_sub(1).is_some_and(is_age) || words[at] == "ago",
    };
    let mut kept = String::with_capacity(text.len());
    for (at, word) in words.iter().enumerate().filter(|(at, _)| !is_dropped(*at)) {
        // `1 review` and `2 reviews` differ only in the counter.
        let follows_number = at.checked_sub(1).is_some_and(|at| kinds[at] == Kind::Number && is_counter(at));
        kept.push_str(if follows_number { word.trim_end_matches('s') } else { word });
        kept.push(' ');
    }
    kept
}

fn is_currency(c: char) -> bool {
    get_general_category(c) == GeneralCategory::CurrencySymbol
}

fn kind(word: &str) -> Kind {
    let number = ["st", "nd", "rd", "th", "er", "k+", "m+", "k", "+"].iter().find_map(|end| word.strip_suffix(end));
    if is_date(word) || is_token(word) || is_listed(RELATIVE_DAYS, word) {
        Kind::Ignored
    } else if is_number(word) || number.is_some_and(is_number) {
        Kind::Number
    } else if is_listed(MONTHS, word) {
        Kind::Month
    } else if is_listed(WEEKDAYS, word) {
        Kind::Weekday
    } else {
        Kind::Other
    }
}

/// Digits with at most one separator, or in groups of three.
fn is_number(word: &str) -> bool {
    let groups: Vec<_> = word.split(['.', ',', '\'']).collect();
    let is_digits = |group: &&str| !group.is_empty() && group.bytes().all(|byte| byte.is_ascii_digit());
    let [_, middle @ .., _] = &groups[..] else { return groups.iter().all(is_digits) };
    groups.iter().all(is_digits) && middle.iter().all(|group| group.len() == 3)
}

/// `2026-11-27`, `27.11.2026`, `11/27/26`, `10:30`, and a date with a time.
fn is_date(word: &str) -> bool {
    let word = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let parts = |text: &str, separator: char| {
        let parts = text.split(separator).map(|part| Some((part.len(), part.parse::<u16>().ok()?)));
        parts.collect::<Option<Vec<_>>>()
    };
    let is_time = |text: &str| {
        let parts = parts(text.split(['+', '.']).next().unwrap_or_default(), ':');
        parts.is_some_and(|of| {
            matches!(of.len(), 2..=3) && of[0].1 < 25 && of[1..].iter().all(|(l, n)| *l == 2 && *n < 61)
        })
    };
    let is_day = |text: &str| {
        ['-', '.', '/'].into_iter().filter_map(|separator| parts(text, separator)).any(|of| {
            matches!(
                of[..],
                [(4, _), (1..=2, 1..=12), (1..=2, 1..=31)]
                    | [(1..=2, 1..=31), (1..=2, 1..=31), (2 | 4, _)]
                    | [(4, 1900..=2100), (2, 1..=12)]
                    | [(2, 1..=12), (4, 1900..=2100)]
            )
        })
    };
    let (day, time) = word.split_once('t').unwrap_or((word, ""));
    is_time(word) || is_day(day) && (time.is_empty() || is_time(time))
}

/// Whether a word is a UUID or looks random: letters and digits that alternate.
fn is_token(word: &str) -> bool {
    let is_hex = word.bytes().all(|byte| byte == b'-' || byte.is_ascii_hexdigit());
    let is_uuid = is_hex && word.split('-').map(str::len).eq([8, 4, 4, 4, 12]);
    is_uuid
        || word.split(|c: char| !c.is_ascii_alphanumeric()).any(|part| {
            let switches = part.as_bytes().windows(2).filter(|two| two[0].is_ascii_digit() != two[1].is_ascii_digit());
            part.len() >= 8 && switches.count() >= 3
        })
}
