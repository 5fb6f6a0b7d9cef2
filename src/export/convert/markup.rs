//! Recognises HTML and Markdown in text. Text that merely resembles them isn't reported: `a < b`,
//! `Map<String>`, `<id>`, or text that mentions a tag.

use std::ops::Range;

use memchr::{memchr_iter, memchr3};

/// Elements that format text. Any other name in angle brackets is taken for a placeholder.
const ELEMENTS: [&str; 52] = [
    "a",
    "abbr",
    "b",
    "big",
    "blockquote",
    "br",
    "center",
    "cite",
    "code",
    "dd",
    "del",
    "div",
    "dl",
    "dt",
    "em",
    "font",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "i",
    "iframe",
    "img",
    "ins",
    "kbd",
    "li",
    "mark",
    "ol",
    "p",
    "pre",
    "q",
    "s",
    "samp",
    "script",
    "small",
    "span",
    "strike",
    "strong",
    "style",
    "sub",
    "sup",
    "table",
    "tbody",
    "td",
    "th",
    "thead",
    "tr",
    "tt",
    "u",
    "ul",
];

/// Maximum length of a tag, in bytes.
const TAG_BYTES: usize = 500;
/// Maximum length of an entity in bytes, without the `&`. The longest entity name is 32 bytes.
const ENTITY_BYTES: usize = 34;
/// Maximum length of a link's text, in bytes.
const LINK_BYTES: usize = 300;

/// Whether the text has a character that markup needs. Most text doesn't.
pub(super) fn is_possible(text: &str) -> bool {
    memchr3(b'<', b'&', b']', text.as_bytes()).is_some()
}

struct Tag<'t> {
    /// Index into [`ELEMENTS`].
    element: usize,
    is_closing: bool,
    attributes: &'t str,
    place: Range<usize>,
}

/// Finds the first tag that is markup: one with attributes, a line break, or an opening tag with
/// content and a closing tag.
pub(super) fn tag(text: &str) -> Option<Range<usize>> {
    let mut starts = memchr_iter(b'<', text.as_bytes()).peekable();
    starts.peek()?;
    let mut opened = [const { None }; ELEMENTS.len()];
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
pub(super) fn entity(text: &str) -> Option<(Range<usize>, char)> {
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
pub(super) fn link(text: &str) -> Option<Range<usize>> {
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

#[cfg(test)]
mod tests {
    use super::{entity, link, tag};

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
}
