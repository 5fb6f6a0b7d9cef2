//! Limits on a workbook's archive, checked before anything else opens it.

use std::io::{Cursor, Read};

use zip::ZipArchive;

use super::TableError;

/// Maximum total inflated size of the files in the archive, in bytes.
const MAX_INFLATED_BYTES: u64 = 512 * 1024 * 1024;
/// Maximum inflated size of the shared strings, in bytes. Even the shortest one becomes a separate
/// string in memory.
const MAX_STRINGS_BYTES: u64 = 128 * 1024 * 1024;
/// Maximum number of files in the archive.
const MAX_FILES: usize = 10_000;
/// How many bytes of the shared strings are searched for their count.
const STRINGS_HEAD: u64 = 4096;
/// Minimum size of a shared string in bytes: `<si/>`.
const SHARED_STRING_BYTES: u64 = 5;

/// Inflates every file and discards the result, because the sizes stated in an archive may be
/// wrong.
pub(super) fn check(bytes: &[u8]) -> Result<(), TableError> {
    check_within(bytes, MAX_INFLATED_BYTES)
}

fn check_within(bytes: &[u8], limit: u64) -> Result<(), TableError> {
    let form = |text: String| TableError::Form(text);
    let damaged = |error: &dyn std::fmt::Display| {
        form(format!("the workbook is damaged: {error}; save it as .xlsx again, or as CSV"))
    };
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(|error| damaged(&error))?;
    if archive.len() > MAX_FILES {
        return Err(form(format!("the workbook contains more than {MAX_FILES} files, which is the limit")));
    }
    let mut rest = limit;
    for index in 0..archive.len() {
        let file = archive.by_index(index).map_err(|error| damaged(&error))?;
        let name = file.name().map_err(|error| damaged(&error))?;
        let is_strings = name.to_ascii_lowercase().ends_with("sharedstrings.xml");
        let limit = if is_strings { limit.min(MAX_STRINGS_BYTES) } else { limit };
        let allowed = rest.min(limit);
        let mut file = file.take(allowed + 1);
        let mut head = Vec::new();
        if is_strings {
            (&mut file).take(STRINGS_HEAD).read_to_end(&mut head).map_err(|error| damaged(&error))?;
        }
        let size =
            head.len() as u64 + std::io::copy(&mut file, &mut std::io::sink()).map_err(|error| damaged(&error))?;
        if size > allowed {
            let text = format!(
                "the workbook contains more than {limit} bytes, which is the limit; remove unused rows, columns and \
                 pictures, or save the worksheet as CSV"
            );
            return Err(form(text));
        }
        rest -= size;
        // The reader reserves memory for as many strings as the file claims to have.
        if stated_strings(&head).is_some_and(|count| count > size / SHARED_STRING_BYTES) {
            return Err(form(
                "the workbook claims to have more shared strings than it does; save it as .xlsx again".to_owned(),
            ));
        }
    }
    Ok(())
}

/// The `uniqueCount` of the shared strings.
fn stated_strings(head: &[u8]) -> Option<u64> {
    let text = String::from_utf8_lossy(head);
    let (_, behind) = text.split_once("uniqueCount")?;
    let digits = behind.trim_start_matches(|c: char| !c.is_ascii_digit());
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    Some(digits[..end].parse().unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn inflated_size_is_bounded_for_all_kinds_of_content() {
        let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
        for name in ["a", "b"] {
            zip.start_file(name, zip::write::SimpleFileOptions::default()).expect("a part");
            zip.write_all(&vec![b' '; 600_000]).expect("memory");
        }
        let bytes = zip.finish().expect("an archive").into_inner();
        assert!(bytes.len() < 10_000);
        assert!(check_within(&bytes, 1_200_000).is_ok());
        let error = check_within(&bytes, 1_199_999).expect_err("too much");
        assert!(error.to_string().contains("more than 1199999 bytes, which is the limit"), "{error}");
    }
}
