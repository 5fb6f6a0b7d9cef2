//! Numbers as JSON Schema treats them.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::export) enum Count {
    Fits(u64),
    /// A whole number that doesn't fit into 64 bits.
    TooLarge,
    Negative,
    Fractional,
}

/// Reads a JSON number as a count. `1.0` and `1e2` are whole numbers. Like other JSON Schema
/// implementations, it reads numbers with a fraction or exponent in double precision.
pub(in crate::export) fn count(text: &str) -> Count {
    if let Ok(whole) = text.parse::<u64>() {
        return Count::Fits(whole);
    }
    let Ok(value) = text.parse::<f64>() else { return Count::Fractional };
    if value.is_finite() && value.fract() != 0.0 {
        Count::Fractional
    } else if value < 0.0 {
        Count::Negative
    } else if value == 0.0 {
        Count::Fits(0)
    } else {
        // The number has no fraction, so this prints its exact value.
        format!("{value:.0}").parse().map_or(Count::TooLarge, Count::Fits)
    }
}

#[cfg(test)]
mod tests {
    use super::{Count, count};

    #[test]
    fn a_count_may_be_written_in_several_ways() {
        for (text, expected) in [
            ("0", Count::Fits(0)),
            ("-0", Count::Fits(0)),
            ("-0.0", Count::Fits(0)),
            ("1.0", Count::Fits(1)),
            ("1e2", Count::Fits(100)),
            ("12.5E1", Count::Fits(125)),
            ("18446744073709551615", Count::Fits(u64::MAX)),
            ("18446744073709551616", Count::TooLarge),
            ("1e400", Count::TooLarge),
            ("-1", Count::Negative),
            ("-1e400", Count::Negative),
            ("0.5", Count::Fractional),
            ("-1.5", Count::Fractional),
        ] {
            assert_eq!(count(text), expected, "{text}");
        }
    }
}
