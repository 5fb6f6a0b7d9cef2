//! Renders text as HTML, with its matches marked.

use crate::text::html::{is_special, push_escaped};

/// Longer text is shortened to an excerpt of this many characters.
const EXCERPT: usize = 240;
/// How much of the excerpt precedes the first match, in characters.
const LEAD: usize = 60;

/// Replaces `html` with the text, or with an excerpt around its first match. Everything is escaped
/// except for our own marks.
pub(super) fn write(html: &mut String, text: &str, is_ascii: bool, spans: &[(usize, usize)]) {
    let (from, to) = excerpt(text, is_ascii, spans.first().map_or(0, |span| span.0));
    html.clear();
    let push = if text[from..to].bytes().fold(false, |any, byte| any | is_special(byte)) { push_escaped } else { push };
    if from > 0 {
        html.push('…');
    }
    let mut at = from;
    for (start, end) in spans.iter().copied().filter(|(start, end)| *start >= from && *end <= to) {
        push(html, &text[at..start]);
        html.push_str("<mark>");
        push(html, &text[start..end]);
        html.push_str("</mark>");
        at = end;
    }
    push(html, &text[at..to]);
    if to < text.len() {
        html.push('…');
    }
}

/// The byte range of the text to show. It begins and ends between words if possible.
fn excerpt(text: &str, is_ascii: bool, first_match: usize) -> (usize, usize) {
    // Text never has more characters than bytes.
    if text.len() <= EXCERPT || (!is_ascii && text.chars().count() <= EXCERPT) {
        return (0, text.len());
    }
    let start = before(&text[..first_match], is_ascii, LEAD);
    let from = if start == 0 {
        0
    } else {
        text[start..first_match].find(char::is_whitespace).map_or(start, |at| start + at).min(first_match)
    };
    let from = first_match - text[from..first_match].trim_start().len();
    let end = from + behind(&text[from..], is_ascii, EXCERPT);
    if end == text.len() {
        return (from, end);
    }
    let to = text[from..end].rfind(char::is_whitespace).map_or(end, |at| from + at);
    (from, if to > first_match { to } else { end })
}

/// The byte offset of the character that's `count` characters before the text's last character; 0
/// if there's no such character.
fn before(text: &str, is_ascii: bool, count: usize) -> usize {
    if is_ascii {
        return text.len().saturating_sub(count + 1);
    }
    text.char_indices().rev().nth(count).map_or(0, |(at, _)| at)
}

/// The byte offset after the first `count` characters, or the text's length if it has fewer.
fn behind(text: &str, is_ascii: bool, count: usize) -> usize {
    if is_ascii {
        return text.len().min(count);
    }
    text.char_indices().nth(count).map_or(text.len(), |(at, _)| at)
}

/// Appends text that needs no escaping.
fn push(html: &mut String, text: &str) {
    html.push_str(text);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn html(text: &str, spans: &[(usize, usize)]) -> String {
        let mut html = "what was there before".to_owned();
        write(&mut html, text, text.is_ascii(), spans);
        html
    }

    #[test]
    fn a_records_own_markup_is_escaped() {
        let text = "<script>audit</script> & \"more\"";
        let start = text.find("audit").expect("it is there");
        assert_eq!(
            html(text, &[(start, start + 5)]),
            "&lt;script&gt;<mark>audit</mark>&lt;/script&gt; &amp; &quot;more&quot;"
        );
    }

    #[test]
    fn long_text_is_shortened_to_an_excerpt_around_its_first_match() {
        let text = format!("{}audit {}", "lorem ipsum ".repeat(30), "dolor sit ".repeat(60));
        let start = text.find("audit").expect("it is there");
        let html = html(&text, &[(start, start + 5)]);
        assert!(html.starts_with('…') && html.ends_with('…'), "{html}");
        assert!(html.contains("<mark>audit</mark>"), "{html}");
        assert!(html.chars().count() < 280, "{html}");
    }
}
