//! Warns about traces of other formats and encodings in text: markup and mojibake. There's one
//! finding per kind and property in a file, because a scraped export has the same blemish in every
//! record.

use std::ops::Range;
use std::sync::LazyLock;

use encoding_rs::WINDOWS_1252;
use memchr::{memchr_iter, memchr3};

use crate::export::Code;
use crate::export::finding::{Fault, Faults};
use crate::export::pointer::Path;
use crate::export::text::{Kind, Value};

const EXAMPLES: usize = 3;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Blemish {
    Tag,
    Entity,
    Link,
    Garbled,
    Lost,
}

impl Blemish {
    const fn code(self) -> Code {
        match self {
            Self::Tag | Self::Entity | Self::Link => Code::Markup,
            Self::Garbled | Self::Lost => Code::Mojibake,
        }
    }

    const fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Tag => ("an HTML tag", "HTML tags"),
            Self::Entity => ("an HTML entity", "HTML entities"),
            Self::Link => ("a Markdown link", "Markdown links"),
            Self::Garbled => ("garbled characters", "garbled characters"),
            Self::Lost => ("a lost character", "lost characters"),
        }
    }

    /// How to fix the blemish. `meant` is the character that the piece stands for.
    fn help(self, piece: &str, meant: Option<char>) -> String {
        match (self, meant) {
            (Self::Tag, _) => "remove the tags: text is shown as is, so readers would see them".to_owned(),
            (Self::Link, _) => {
                "keep only the link text: text is shown as is, so readers would see the markup".to_owned()
            }
            (Self::Entity, Some(c)) if !c.is_whitespace() => {
                format!("write `{c}` instead of `{piece}`: text is shown as is")
            }
            (Self::Entity, _) => format!("write a space instead of `{piece}`: text is shown as is"),
            (Self::Garbled, Some(c)) if !c.is_whitespace() && c != '\u{feff}' => {
                format!(
                    "write `{c}` instead of `{piece}`: the text is UTF-8, but was read as Windows-1252 or ISO 8859-1"
                )
            }
            (Self::Garbled, _) => {
                format!("remove `{piece}`: the text is UTF-8, but was read as Windows-1252 or ISO 8859-1")
            }
            (Self::Lost, _) => {
                "copy the text from its source again, as UTF-8: U+FFFD marks a character lost in a conversion"
                    .to_owned()
            }
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct Blemishes {
    summaries: Vec<Summary>,
}

#[derive(Debug)]
struct Summary {
    blemish: Blemish,
    /// The envelope's member that contains the property, and the property itself.
    property: (Box<str>, Box<str>),
    /// How many strings contain the blemish.
    texts: usize,
    examples: Vec<Example>,
}

#[derive(Debug)]
struct Example {
    place: Range<usize>,
    pointer: String,
    piece: String,
    meant: Option<char>,
}

impl Blemishes {
    pub(super) fn look(&mut self, value: Value<'_>, path: Path<'_>, text: &str) {
        // Most text has no character that markup needs.
        if memchr3(b'<', b'&', b']', text.as_bytes()).is_some() {
            if let Some(place) = tag(text) {
                self.add(Blemish::Tag, value, path, text, place, None);
            }
            if let Some((place, meant)) = entity(text) {
                self.add(Blemish::Entity, value, path, text, place, Some(meant));
            }
            if let Some(place) = link(text) {
                self.add(Blemish::Link, value, path, text, place, None);
            }
        }
        if text.is_ascii() {
            return;
        }
        if let Some((place, meant)) = garbled(text) {
            self.add(Blemish::Garbled, value, path, text, place, Some(meant));
        }
        if let Some(place) = lost(text) {
            // An unpaired surrogate also becomes U+FFFD, but it has already been reported.
            let is_written = |raw: &str| raw.contains('\u{fffd}') || raw.to_ascii_lowercase().contains("\\ufffd");
            if value.kind() == Kind::Plain || is_written(value.raw()) {
                self.add(Blemish::Lost, value, path, text, place, None);
            }
        }
    }

    fn add(
        &mut self,
        blemish: Blemish,
        value: Value<'_>,
        path: Path<'_>,
        text: &str,
        piece: Range<usize>,
        meant: Option<char>,
    ) {
        let (section, property) = property(path);
        let is_same = |of: &Summary| of.blemish == blemish && *of.property.0 == *section && *of.property.1 == *property;
        let at = self.summaries.iter().position(is_same).unwrap_or_else(|| {
            let property = (section.into(), property.into());
            self.summaries.push(Summary { blemish, property, texts: 0, examples: Vec::new() });
            self.summaries.len() - 1
        });
        let summary = &mut self.summaries[at];
        summary.texts += 1;
        if summary.examples.len() < EXAMPLES {
            summary.examples.push(Example::new(value, path, text, piece, meant));
        }
    }

    pub(super) fn report(self, faults: &mut Faults) {
        self.summaries.into_iter().filter_map(Summary::fault).for_each(|fault| faults.add(fault));
    }
}

impl Summary {
    fn fault(self) -> Option<Fault> {
        let mut examples = self.examples.into_iter();
        let Example { place, pointer, piece, meant } = examples.next()?;
        let (one, several) = self.blemish.names();
        let property = match (&*self.property.0, &*self.property.1) {
            (section, property) if section == property || section == "software" => format!("`{property}`"),
            (section, property) => format!("`{property}` in `{section}`"),
        };
        let message = match self.texts {
            1 => format!("{property} contains {one}: `{piece}`"),
            texts => format!("{texts} values of {property} contain {several}; the first is `{piece}`"),
        };
        let fault = Fault::new(self.blemish.code(), place, pointer, message, self.blemish.help(&piece, meant));
        Some(examples.fold(fault, |fault, Example { place, pointer, piece, .. }| {
            fault.with_related(place, pointer, format!("and `{piece}` here"))
        }))
    }
}

impl Example {
    fn new(value: Value<'_>, path: Path<'_>, text: &str, piece: Range<usize>, meant: Option<char>) -> Self {
        /// Maximum length of a piece in a message, in bytes.
        const SHOWN: usize = 80;
        let mut shown = text[piece.clone()].to_owned();
        if shown.len() > SHOWN {
            shown.truncate(shown.floor_char_boundary(SHOWN));
            shown.push('…');
        }
        let start = value.span().start + 1;
        // If the text has escapes, its offsets differ from those in the file.
        let place = if value.kind() == Kind::Plain { start + piece.start..start + piece.end } else { value.head() };
        Self { place, pointer: path.to_string(), piece: shown, meant }
    }
}

/// The envelope's member that a path leads into, and the path's last key.
fn property(path: Path<'_>) -> (&str, &str) {
    let (mut at, mut section, mut property) = (path, "", None);
    loop {
        at = match at {
            Path::Root => return (section, property.unwrap_or(section)),
            Path::Member(parent, key) => {
                property.get_or_insert(key);
                section = key;
                *parent
            }
            Path::Element(parent, _) => *parent,
        };
    }
}

/// Elements that format text. Any other name in angle brackets is taken for a placeholder.
static ELEMENTS: LazyLock<Vec<&str>> = LazyLock::new(|| include_str!("elements.txt").lines().collect());

/// Maximum length of a tag, in bytes.
const TAG_BYTES: usize = 500;
/// Maximum length of an entity in bytes, without the `&`. The longest entity name is 32 bytes.
const ENTITY_BYTES: usize = 34;
/// Maximum length of a link's text, in bytes.
const LINK_BYTES: usize = 300;

struct Tag<'t> {
    /// Index into [`ELEMENTS`].
    element: usize,
    is_closing: bool,
    attributes: &'t str,
    place: Range<usize>,
}

/// Finds the first tag that is markup: one with attributes, a line break, or an opening tag with
/// content and a closing tag.
fn tag(text: &str) -> Option<Range<usize>> {
    let mut starts = memchr_iter(b'<', text.as_bytes()).peekable();
    starts.peek()?;
    let mut opened = vec![None; ELEMENTS.len()];
    for tag in starts.filter_map(|start| parse_tag(text, start)) {
        if is_mention(text, &tag.place) {
            continue;
        }
        if tag.is_closing {
            if let Some(place) = opened[tag.element].take() {
                return Some(place);
            }
        } else if ELEMENTS[tag.element] == "br" || tag.attributes.contains('=') {
            return Some(tag.place);
        } else if text[tag.place.end..].starts_with(|c: char| !c.is_whitespace() && !matches!(c, ',' | '.' | ';' | ')'))
        {
            opened[tag.element].get_or_insert(tag.place);
        }
    }
    None
}

fn parse_tag(text: &str, start: usize) -> Option<Tag<'_>> {
    let behind = &text[start + 1..];
    let inner = behind.strip_prefix('/').unwrap_or(behind);
    let name = &inner[..inner.bytes().take_while(u8::is_ascii_alphanumeric).count()];
    let element = ELEMENTS.iter().position(|element| element.eq_ignore_ascii_case(name))?;
    let rest = &inner[name.len()..];
    let end = rest.bytes().take(TAG_BYTES).position(|byte| matches!(byte, b'<' | b'>'))?;
    let attributes = &rest[..end];
    let is_tag = rest.as_bytes()[end] == b'>'
        && (attributes.is_empty() || attributes == "/" || attributes.starts_with(|c: char| c.is_ascii_whitespace()));
    let end = text.len() - rest.len() + end + 1;
    is_tag.then_some(Tag { element, is_closing: inner.len() < behind.len(), attributes, place: start..end })
}

/// Whether the text merely mentions a piece of markup: quotes it, or calls it a tag.
fn is_mention(text: &str, piece: &Range<usize>) -> bool {
    let (before, behind) = (&text[..piece.start], &text[piece.end..]);
    let is_quoted = before.ends_with(['"', '\'', '`', '‘', '“', '«', '„'])
        && behind.starts_with(['"', '\'', '`', '’', '”', '»', '“']);
    let next = behind.trim_start();
    is_quoted || (next.len() < behind.len() && (next.starts_with("tag") || next.starts_with("element")))
}

/// Finds the first HTML entity and the first character it stands for.
fn entity(text: &str) -> Option<(Range<usize>, char)> {
    memchr_iter(b'&', text.as_bytes()).find_map(|start| {
        let behind = &text[start + 1..];
        let name = &behind[..behind.bytes().take(ENTITY_BYTES).position(|byte| byte == b';')?];
        let place = start..start + 1 + name.len() + 1;
        let meant = match name.strip_prefix('#') {
            Some(number) => numeric(number)?,
            None => quick_xml::escape::resolve_html5_entity(name)?.chars().next()?,
        };
        (!is_mention(text, &place)).then_some((place, meant))
    })
}

fn numeric(number: &str) -> Option<char> {
    let code = match number.strip_prefix(['x', 'X']) {
        Some(hexadecimal) => u32::from_str_radix(hexadecimal, 16),
        None => number.parse(),
    };
    char::from_u32(code.ok()?).filter(|c| !c.is_control())
}

/// Finds the first Markdown link: text in brackets followed by an address in parentheses.
fn link(text: &str) -> Option<Range<usize>> {
    let starts = ["http://", "https://", "mailto:", "www.", "#", "/", "./", "../"];
    memchr_iter(b']', text.as_bytes()).find_map(|at| {
        let address = text[at + 1..].strip_prefix('(')?;
        // A bracket also ends the address, so text full of brackets is read only once.
        let end = address.find(|c: char| matches!(c, ')' | '[' | ']') || c.is_whitespace())?;
        let address = Some(&address[..end]).filter(|_| !address[end..].starts_with(['[', ']']))?;
        let is_address = starts.iter().any(|start| address.len() > start.len() && address.starts_with(start));
        let before = &text[text.floor_char_boundary(at.saturating_sub(LINK_BYTES))..at];
        let words = before.rfind(['[', ']', '\n']).filter(|found| before[*found..].starts_with('['))?;
        let start = at - before.len() + words;
        let end = at + 2 + address.len();
        (is_address && start + 1 < at).then(|| start..end + usize::from(text[end..].starts_with(')')))
    })
}

/// Finds the first garbled character and what it stands for. Only considers sequences that don't
/// occur in any language: `É»`, for example, ends a French quotation.
fn garbled(text: &str) -> Option<(Range<usize>, char)> {
    text.char_indices().find_map(|(start, first)| {
        let length = match first {
            'Â' | 'Ã' | 'Ä' | 'Å' => 2,
            'â' | 'ï' => 3,
            'ð' => 4,
            _ => return None,
        };
        // The bytes after the first are 80 to BF. Windows-1252 maps some of them to characters
        // outside of ISO 8859-1.
        let is_next = |c: char| matches!(c, '\u{80}'..='\u{bf}' | '\u{100}'..);
        if !text[start + first.len_utf8()..].starts_with(is_next) {
            return None;
        }
        let piece: String = text[start..].chars().take(length).collect();
        let end = start + piece.len();
        let meant = decoded(&piece).filter(|meant| is_likely(*meant, &piece, &text[end..]))?;
        Some((start..end, meant))
    })
}

/// Encodes text as Windows-1252 or ISO 8859-1 and decodes it as UTF-8. Returns the result if it's a
/// single character.
fn decoded(piece: &str) -> Option<char> {
    let (bytes, _, is_unmappable) = WINDOWS_1252.encode(piece);
    let bytes = if is_unmappable {
        piece.chars().map(|c| u8::try_from(c).ok()).collect::<Option<Vec<_>>>()?.into()
    } else {
        bytes
    };
    let mut chars = std::str::from_utf8(&bytes).ok()?.chars();
    chars.next().filter(|_| chars.next().is_none())
}

/// Whether a character is so common that the sequence is unlikely to be letters and punctuation
/// that happen to be adjacent.
fn is_likely(meant: char, piece: &str, behind: &str) -> bool {
    match meant {
        '\u{a0}'..='ÿ' | '\u{2010}'..='\u{203a}' | '€' | '™' | '←'..='⇿' | '\u{feff}' | '\u{1f000}'.. => true,
        // „Ä“ and Ä… occur in German text.
        'Ā'..='ſ' => {
            !piece.ends_with(['“', '”', '’', '…', '–', '—', '»', '›']) || behind.starts_with(char::is_alphabetic)
        }
        _ => false,
    }
}

/// Finds the first replacement character, unless the text is about it.
fn lost(text: &str) -> Option<Range<usize>> {
    let start = text.find(char::REPLACEMENT_CHARACTER)?;
    let is_mention = text.contains("FFFD") || text.contains("eplacement character");
    (!is_mention).then_some(start..start + char::REPLACEMENT_CHARACTER.len_utf8())
}

#[cfg(test)]
mod tests {
    use encoding_rs::WINDOWS_1252;

    use super::*;

    #[test]
    fn formatting_tags_are_found() {
        for (text, piece) in [
            ("Very <b>fast</b>", "<b>"),
            ("One<br>two", "<br>"),
            ("One <BR /> two", "<BR />"),
            ("See <a href=\"https://a.example/\">it</a>", "<a href=\"https://a.example/\">"),
            ("<p>First.</p><p>Second.</p>", "<p>"),
            ("a < b <i>c</i>", "<i>"),
            ("<ul>\n<li>Ä</li></ul>", "<li>"),
            ("<img\nsrc='x'>", "<img\nsrc='x'>"),
        ] {
            assert_eq!(tag(text).map(|place| &text[place]), Some(piece), "{text}");
        }
    }

    #[test]
    fn other_angle_brackets_are_left_alone() {
        for text in [
            "a < b and c > d",
            "Map<String, i>, Vec<p>, <b>",
            "run -j<jobs> <id>",
            "see <https://a.example/>, <a@b.example>",
            "between tags such as <b> and </b>",
            "the \"<br>\" of HTML, and the `<a href=\"x\">`",
            "breaks at <br> tags",
            "<audio> or <video>",
            "I <3 it",
            "<b",
            "<",
            "</b>",
        ] {
            assert_eq!(tag(text), None, "{text}");
        }
    }

    #[test]
    fn entities_are_found_along_with_the_characters_they_stand_for() {
        for (text, piece, meant) in [
            ("R&amp;D", "&amp;", '&'),
            ("a &lt; b", "&lt;", '<'),
            ("Caf&eacute;", "&eacute;", 'é'),
            ("it&#8217;s", "&#8217;", '’'),
            ("it&#x27;s", "&#x27;", '\''),
            ("a&nbsp;b", "&nbsp;", '\u{a0}'),
        ] {
            let found = entity(text).map(|(place, meant)| (&text[place], meant));
            assert_eq!(found, Some((piece, meant)), "{text}");
        }
        for text in ["R&D; more", "a && b;", "?a=1&b=2;", "such as “&amp;”", "&#xd800;", "&#0;", "&;", "& amp;", "&ä;"]
        {
            assert_eq!(entity(text), None, "{text}");
        }
    }

    #[test]
    fn markdown_links_are_found() {
        for (text, piece) in [
            ("By [them](https://a.example/x) and", "[them](https://a.example/x)"),
            ("[a][b](#c)", "[b](#c)"),
            ("[ä](https://a.example \"title\")", "[ä](https://a.example"),
        ] {
            assert_eq!(link(text).map(|place| &text[place]), Some(piece), "{text}");
        }
        let long = format!("[{}](https://a.example/)", "ä".repeat(200));
        for text in ["f[0](x)", "[a] (https://a.example/)", "[](https://a.example/)", "](/a)", "[a](b)", "[a](/", &long]
        {
            assert_eq!(link(text), None, "{text}");
        }
    }

    #[test]
    fn utf_8_decoded_as_another_encoding_is_found() {
        for meant in "äöüÄÖÜßéèàñçøåœ’“–…•€™©®°·→łąšČ😀\u{a0}\u{feff}".chars()
        {
            let utf_8 = meant.to_string();
            let (windows, _) = WINDOWS_1252.decode_without_bom_handling(utf_8.as_bytes());
            let latin_1: String = utf_8.bytes().map(char::from).collect();
            for piece in [&*windows, &latin_1] {
                let text = format!("Gr{piece}x");
                assert_eq!(garbled(&text), Some((2..2 + piece.len(), meant)), "{text:?}");
            }
        }
    }

    #[test]
    fn text_in_other_languages_is_left_alone() {
        for text in [
            "Größe, Über, „Ä“, Ä…",
            "« CAFÉ» «é…» NÃO São Ångström Å",
            "Île, français, naïve, âge, Țânțar, ROMÂNĂ",
            "Þetta er íslenska: ð, að",
            "Tiếng Việt: Ấ Ẫ Â Ã",
            "Zażółć gęślą jaźń, příliš žluťoučký",
            "安全管理 ✓ 😀 €5 ™",
        ] {
            assert_eq!(garbled(text), None, "{text}");
            assert_eq!(lost(text), None, "{text}");
        }
    }

    #[test]
    fn lost_characters_are_found_unless_the_text_is_about_them() {
        assert_eq!(lost("Gr\u{fffd}\u{fffd}e"), Some(2..5));
        assert_eq!(lost("shows \u{fffd} (U+FFFD) for it"), None);
        assert_eq!(lost("the replacement character \u{fffd}"), None);
    }
}
