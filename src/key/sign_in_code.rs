//! Codes in links that sign a browser in: each works once, within ten minutes.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use subtle::ConstantTimeEq as _;

const LIFETIME: Duration = Duration::from_mins(10);

/// The codes that have been issued and not used yet.
#[derive(Debug, Default)]
pub struct SignInCodes(Mutex<Vec<Code>>);

struct Code {
    text: String,
    key_id: Box<str>,
    issued: Instant,
}

impl std::fmt::Debug for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Code").field("key_id", &self.key_id).finish_non_exhaustive()
    }
}

impl SignInCodes {
    /// Issues a code with 128 random bits for a key.
    pub fn issue(&self, key_id: &str, now: Instant) -> Result<String, getrandom::Error> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes)?;
        let text = hex::encode(bytes);
        let mut codes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        codes.push(Code { text: text.clone(), key_id: key_id.into(), issued: now });
        Ok(text)
    }

    /// Consumes a code. Returns its key's id; `None` if the code is unknown, used or too old.
    pub fn redeem(&self, code: &str, now: Instant) -> Option<Box<str>> {
        let mut codes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        codes.retain(|code| now.saturating_duration_since(code.issued) < LIFETIME);
        let at = codes.iter().position(|known| bool::from(known.text.as_bytes().ct_eq(code.as_bytes())))?;
        Some(codes.swap_remove(at).key_id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_works_once_within_ten_minutes() {
        let (codes, start) = (SignInCodes::default(), Instant::now());
        let issue = |id| codes.issue(id, start).expect("random bytes");
        let (one, other) = (issue("one"), issue("other"));
        assert_ne!(one, other);
        assert_eq!(codes.redeem("", start), None);
        assert_eq!(codes.redeem(&one, start + Duration::from_secs(599)).as_deref(), Some("one"));
        assert_eq!(codes.redeem(&one, start), None, "used");
        assert_eq!(codes.redeem(&other, start + LIFETIME), None, "too old");
        assert!(!format!("{codes:?}").contains(&other));
    }
}
