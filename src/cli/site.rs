//! The page settings.

use crate::key::Rate;
use crate::text::printable::marked_hidden;

/// The maximum length of a title, in characters: what fits in a tab or on a line.
const MAX_TITLE_LENGTH: usize = 80;

/// The maximum length of an introduction, in characters: a paragraph.
const MAX_INTRODUCTION_LENGTH: usize = 600;

/// Parses how many requests per minute a visitor may send.
pub(super) fn rate(text: &str) -> Result<Rate, String> {
    let forms = format!("write the requests per minute, from 1 to {}, such as `300` or `300/min`", Rate::MAX);
    text.parse().ok().filter(|rate| *rate != Rate::UNLIMITED).ok_or(forms)
}

/// Checks a title. An empty one means the default title.
pub(super) fn title(text: &str) -> Result<String, String> {
    plain(text, MAX_TITLE_LENGTH)
}

/// Checks an introduction. An empty one means that there is none.
pub(super) fn introduction(text: &str) -> Result<String, String> {
    plain(text, MAX_INTRODUCTION_LENGTH)
}

fn plain(text: &str, max_length: usize) -> Result<String, String> {
    let text = text.trim();
    let length = text.chars().count();
    if length > max_length {
        return Err(format!("it has {length} characters; the maximum is {max_length}"));
    }
    match marked_hidden(text).find(|(c, is_hidden)| *is_hidden || *c == '\t') {
        Some((c, _)) => {
            Err(format!("it contains the hidden character {}; use a single line of plain text", c.escape_unicode()))
        }
        None => Ok(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_title_and_the_introduction_are_short_lines_of_plain_text() {
        assert_eq!(title("  Ünïcode & <b> “Tools” \u{1F6E0} "), Ok("Ünïcode & <b> “Tools” \u{1F6E0}".to_owned()));
        assert_eq!(title(""), Ok(String::new()));
        assert!(title(&"é".repeat(80)).is_ok() && introduction(&"é".repeat(600)).is_ok());
        assert_eq!(title(&"é".repeat(81)), Err("it has 81 characters; the maximum is 80".to_owned()));
        assert!(introduction(&"é".repeat(601)).is_err());
        for wrong in ["a\nb", "a\tb", "a\u{0}b", "a\u{7f}b", "a\u{9b}b", "a\u{202e}b", "a\u{2028}b"] {
            let error = introduction(wrong).expect_err(wrong);
            assert!(error.contains("hidden character \\u{"), "{error}");
        }
    }

    #[test]
    fn visitors_always_have_a_rate_limit() {
        assert_eq!(rate("300/min").map(Rate::per_minute), Ok(Some(300)));
        for wrong in ["none", "0", "", "300/s"] {
            assert!(rate(wrong).expect_err(wrong).contains("`300/min`"), "{wrong}");
        }
    }
}
