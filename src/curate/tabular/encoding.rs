//! Decodes a file: UTF-8, UTF-16 with a byte order mark, the encoding given by `--encoding`, or
//! Windows-1252 if there's no doubt.

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, WINDOWS_1252};

use super::TableError;

/// Non-ASCII characters that occur in Western European text in Windows-1252.
const WESTERN: &str =
    "äöüÄÖÜßàáâãåæçèéêëìíîïñòóôõøœùúûýÿÀÁÂÃÅÆÇÈÉÊËÌÍÎÏÑÒÓÔÕØŒÙÚÛÝŸ€£§°©®™«»‹›„“”‚‘’–—…•·×²³½¼¾¿¡ªº±µ\u{a0}";
/// How many non-ASCII characters may be adjacent in Windows-1252 text.
const WESTERN_RUN: usize = 2;

pub(super) fn decode<'b>(
    bytes: &'b [u8],
    label: Option<&str>,
    notes: &mut Vec<String>,
) -> Result<Cow<'b, str>, TableError> {
    if let Some(label) = label {
        let encoding = Encoding::for_label(label.as_bytes()).ok_or_else(|| {
            let text = format!("--encoding {label} isn't a known encoding; use one such as windows-1251 or shift_jis");
            TableError::Form(text)
        })?;
        return decoded(bytes, encoding);
    }
    if let Some((encoding, length)) = Encoding::for_bom(bytes) {
        return if encoding == encoding_rs::UTF_8 { utf8(&bytes[length..], true) } else { decoded(bytes, encoding) };
    }
    if bytes.contains(&0) {
        let text = "the file isn't text; specify a CSV file, a workbook (.xlsx) or JSON";
        return Err(TableError::Form(text.to_owned()));
    }
    if std::str::from_utf8(bytes).is_ok() || is_nearly_utf8(bytes) {
        return utf8(bytes, false);
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(bytes, true);
    let guess = detector.guess(None, Utf8Detection::Deny);
    let text = WINDOWS_1252.decode_without_bom_handling(bytes).0;
    if guess != WINDOWS_1252 || !is_western(&text) {
        let name = if guess == WINDOWS_1252 { "windows-1250" } else { guess.name() };
        let name = name.to_lowercase();
        let text = format!(
            "the file isn't UTF-8, and its encoding is uncertain (it may be {name}); set it with --encoding, such as --encoding {name}, \
             or save the file as UTF-8"
        );
        return Err(TableError::Form(text));
    }
    notes.push("the file isn't UTF-8; it was read as Windows-1252 (check umlauts and accents, or set another encoding with --encoding)".to_owned());
    Ok(Cow::Owned(text.into_owned()))
}

fn decoded<'b>(bytes: &'b [u8], encoding: &'static Encoding) -> Result<Cow<'b, str>, TableError> {
    let (text, encoding, has_errors) = encoding.decode(bytes);
    if !has_errors {
        return Ok(text);
    }
    let at = text.find('\u{fffd}').unwrap_or_default();
    let (line, column) = place(&text[..at]);
    let text = format!(
        "line {line}, column {column}: this isn't {}; correct it, or set another encoding with --encoding",
        encoding.name()
    );
    Err(TableError::Form(text))
}

fn utf8(bytes: &[u8], has_mark: bool) -> Result<Cow<'_, str>, TableError> {
    let error = match std::str::from_utf8(bytes) {
        Ok(text) => return Ok(Cow::Borrowed(text)),
        Err(error) => error,
    };
    let at = error.valid_up_to();
    let (line, column) = place(&String::from_utf8_lossy(&bytes[..at]));
    let why = if has_mark {
        "the file begins with a UTF-8 byte order mark"
    } else {
        "nearly all of the file's other characters are"
    };
    let text = format!(
        "line {line}, column {column}: the byte {:02X} isn't UTF-8, although {why}; correct it in an editor, \
         or set the file's encoding with --encoding",
        bytes[at]
    );
    Err(TableError::Form(text))
}

/// Whether at least one multi-byte sequence is valid UTF-8, and at least as many are valid as
/// invalid.
fn is_nearly_utf8(bytes: &[u8]) -> bool {
    let (mut valid, mut invalid) = (0_usize, 0_usize);
    for chunk in bytes.utf8_chunks() {
        valid += chunk.valid().chars().filter(|c| !c.is_ascii()).count();
        invalid += usize::from(!chunk.invalid().is_empty());
    }
    valid > 0 && valid >= invalid
}

fn is_western(text: &str) -> bool {
    let mut run = 0;
    text.chars().all(|c| {
        run = if c.is_ascii() { 0 } else { run + 1 };
        c.is_ascii() || (run <= WESTERN_RUN && WESTERN.contains(c))
    })
}

/// The line and column right after some text, counted from 1.
fn place(before: &str) -> (usize, usize) {
    let lines = before.replace("\r\n", "\n").replace('\r', "\n");
    let (line, last) =
        lines.rsplit_once('\n').map_or((1, lines.as_str()), |(above, last)| (above.split('\n').count() + 1, last));
    (line, last.chars().count() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8], label: Option<&str>) -> Result<(String, usize), String> {
        let mut notes = Vec::new();
        let text = decode(bytes, label, &mut notes).map_err(|error| error.to_string())?;
        Ok((text.into_owned(), notes.len()))
    }

    #[test]
    fn windows_1252_is_decoded_with_a_note() {
        assert_eq!(read(b"name\nM\xfcller \x84x\x93\n", None), Ok(("name\nMüller „x“\n".into(), 1)));
        assert_eq!(read("\u{feff}Müller".as_bytes(), None), Ok(("Müller".into(), 0)));
    }

    #[test]
    fn a_single_bad_byte_is_reported_with_its_position() {
        let mut bytes = "name\nMüller, Łódź\nx".as_bytes().to_vec();
        bytes.push(0x9f);
        let error = read(&bytes, None).expect_err("a bad byte");
        assert!(error.starts_with("line 3, column 2: the byte 9F isn't UTF-8"), "{error}");
        let error = read(b"\xef\xbb\xbfM\xfcller", None).expect_err("a bad byte");
        assert!(error.contains("byte order mark"), "{error}");
    }

    #[test]
    fn other_encodings_are_suggested_but_not_used() {
        let cyrillic = encoding_rs::WINDOWS_1251.encode("имя;сайт\nЖурнал охраны труда;x\n").0;
        assert!(read(&cyrillic, None).expect_err("a doubt").contains("--encoding windows-1251"));
        assert_eq!(read(&cyrillic, Some("cp1251")), Ok(("имя;сайт\nЖурнал охраны труда;x\n".into(), 0)));
        let japanese = encoding_rs::SHIFT_JIS.encode("名前,説明\n安全管理システム,監査の記録\n").0;
        assert!(read(&japanese, None).expect_err("a doubt").contains("--encoding shift_jis"));
        let polish = encoding_rs::WINDOWS_1250.encode("nazwa\nŁódź Żuraw śledź\n").0;
        assert!(read(&polish, None).is_err());
        assert!(read(b"x", Some("latin-99")).is_err());
        assert!(read(b"\xff", Some("utf-8")).is_err());
    }

    #[test]
    fn utf_16_with_a_byte_order_mark_is_read() {
        let bytes: Vec<u8> = "\u{feff}Ä;b".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(read(&bytes, None), Ok(("Ä;b".into(), 0)));
        assert!(read(b"a\0b", None).is_err());
    }
}
