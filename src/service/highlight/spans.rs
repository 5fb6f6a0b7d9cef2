//! Merges the marked spans of text, and measures them in characters.

use std::ops::Range;

use crate::catalogue::resource::TextRange;

/// Merges matches that overlap or have only white space between them.
pub(super) fn merge(text: &str, places: &[Range<usize>], merged: &mut Vec<(usize, usize)>) {
    merged.clear();
    for Range { start, end } in places.iter().cloned() {
        match merged.last_mut() {
            Some(last) if start <= last.1 || text[last.1..start].chars().all(char::is_whitespace) => {
                last.1 = end.max(last.1);
            }
            _ => merged.push((start, end)),
        }
    }
}

/// Converts byte spans to a start and length in characters.
pub(super) fn measure(text: &str, is_ascii: bool, spans: &[(usize, usize)], ranges: &mut Vec<TextRange>) {
    let (mut at, mut count) = (0, 0);
    let mut characters_to = |end: usize| {
        count += if is_ascii { end - at } else { text[at..end].chars().count() } as u64;
        at = end;
        count
    };
    ranges.clear();
    ranges.extend(spans.iter().map(|(start, end)| {
        let start = characters_to(*start);
        TextRange { start, length: characters_to(*end) - start }
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_measured_in_characters_rather_than_bytes() {
        let mut ranges = vec![TextRange { start: 9, length: 9 }];
        for text in ["an audit, and one more", "än äudit, añd one more"] {
            let spans: Vec<_> =
                ["udit", "d o", "e"].map(|part| text.rfind(part).map(|at| (at, at + part.len()))).into();
            measure(text, text.is_ascii(), &spans.into_iter().flatten().collect::<Vec<_>>(), &mut ranges);
            let pairs: Vec<_> = ranges.iter().map(|range| (range.start, range.length)).collect();
            assert_eq!(pairs, [(4, 4), (12, 3), (21, 1)], "{text}");
        }
    }
}
