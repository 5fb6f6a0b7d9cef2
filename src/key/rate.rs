//! How many requests per minute a key allows.

use std::fmt;
use std::str::FromStr;

/// Requests per minute, from 1 to 1,000,000,000, or no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate(Option<u32>);

/// An invalid rate; the message says how to fix it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a rate; write requests per minute from 1 to {max}, such as `600` or `600/min`, or `none` for no \
         limit", max = Rate::MAX)]
pub struct RateError(String);

/// How a rate without a limit is written.
pub(super) const UNLIMITED: &str = "none";

impl Rate {
    /// The highest rate besides `none`: more than any machine can serve, and a quarter of
    /// what a quota can count.
    pub const MAX: u32 = 1_000_000_000;
    pub const DEFAULT: Self = Self(Some(600));

    pub const UNLIMITED: Self = Self(None);

    /// The development key's rate: a thousand requests per second, which is more than enough for
    /// tests and for trying things out.
    pub const DEVELOPMENT: Self = Self(Some(60_000));

    /// Creates a rate in requests per minute; `None` outside 1 to [`Rate::MAX`].
    pub fn new(per_minute: u64) -> Option<Self> {
        u32::try_from(per_minute).ok().filter(|rate| (1..=Self::MAX).contains(rate)).map(|rate| Self(Some(rate)))
    }

    /// Requests per minute; `None` means no limit.
    pub fn per_minute(self) -> Option<u32> {
        self.0
    }
}

impl FromStr for Rate {
    type Err = RateError;

    fn from_str(text: &str) -> Result<Self, RateError> {
        if text == UNLIMITED {
            return Ok(Self::UNLIMITED);
        }
        let digits = text.strip_suffix("/min").unwrap_or(text);
        Some(digits)
            .filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))
            .and_then(|digits| digits.parse().ok())
            .and_then(Self::new)
            .ok_or_else(|| RateError(text.to_owned()))
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(rate) => write!(f, "{rate}/min"),
            None => f.write_str(UNLIMITED),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Rate;

    #[test]
    fn a_rate_is_in_requests_per_minute() {
        let rate = |text: &str| text.parse::<Rate>().ok().and_then(Rate::per_minute);
        assert_eq!(rate("600"), Some(600));
        assert_eq!(rate("600/min"), Some(600));
        assert_eq!(rate("1000000000/min"), Some(1_000_000_000));
        assert_eq!("none".parse(), Ok(Rate::UNLIMITED));
        assert_eq!(Rate::UNLIMITED.to_string(), "none");
    }

    #[test]
    fn an_invalid_rate_is_rejected_with_a_valid_example() {
        for wrong in [
            "0",
            "None",
            "1000000001",
            "-1",
            "+1",
            "600/s",
            "600/min/min",
            "1.5",
            "",
            "/min",
            " 600",
            "99999999999999999999",
        ] {
            let error = wrong.parse::<Rate>().expect_err(wrong);
            assert!(error.to_string().contains("`600/min`"), "{error}");
        }
    }
}
