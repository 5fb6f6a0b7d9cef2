//! Formats counts in messages, with nouns and verbs that agree.

use std::fmt::{self, Display};

/// A number with thousands separators.
#[derive(Debug)]
pub(crate) struct Grouped<N>(pub(crate) N);

impl<N: Display> Display for Grouped<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.0.to_string();
        for (at, digit) in digits.char_indices() {
            if at > 0 && (digits.len() - at).is_multiple_of(3) {
                f.write_str(",")?;
            }
            write!(f, "{digit}")?;
        }
        Ok(())
    }
}

/// A count with its noun, which gets an `s` unless the count is one: `1 row`, `2,000 rows`.
pub(crate) fn counted<N: Copy + Display + PartialEq + From<u8>>(count: N, noun: &str) -> String {
    format!("{} {noun}{}", Grouped(count), agreeing(count, "", "s"))
}

/// The word that agrees with a count: `is` or `are`.
pub(crate) fn agreeing<N: Copy + PartialEq + From<u8>, T>(count: N, one: T, several: T) -> T {
    if count == N::from(1) { one } else { several }
}

/// The first items, and how many more there are: `a, b and 3 more`.
pub(crate) fn listed<S: AsRef<str>>(items: &[S], separator: &str, most: usize) -> String {
    let shown: Vec<_> = items.iter().take(most).map(AsRef::as_ref).collect();
    let listed = shown.join(separator);
    match items.len() - shown.len() {
        0 => listed,
        more => format!("{listed} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_grouped() {
        for (number, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(Grouped(number).to_string(), text);
        }
    }

    #[test]
    fn nouns_and_verbs_agree_with_counts() {
        assert_eq!([0, 1, 2, 1000].map(|n| counted(n, "row")), ["0 rows", "1 row", "2 rows", "1,000 rows"]);
        assert_eq!([0_u64, 1, 2].map(|n| agreeing(n, "is", "are")), ["are", "is", "are"]);
    }
}
