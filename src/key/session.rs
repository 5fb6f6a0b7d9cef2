//! Browser sessions. A token contains a key's id and an expiry, plus a MAC keyed with the key's
//! stored hash. So the server keeps no state, and a session ends with its key.

use jiff::{SignedDuration, Timestamp};

use super::KeyDigest;

/// The maximum length of a session.
pub const SESSION_LIFETIME: SignedDuration = SignedDuration::from_hours(30 * 24);

/// Keeps the MAC distinct from any other use of the hash.
const CONTEXT: &[u8] = b"software-directory session\n";

/// A token that hasn't been verified yet: `ID.SECONDS.MAC`, with the MAC in hexadecimal.
pub(super) struct Token<'t> {
    pub(super) id: &'t str,
    expires: &'t str,
    mac: [u8; 32],
}

impl<'t> Token<'t> {
    pub(super) fn parse(text: &'t str) -> Option<Self> {
        let (id, rest) = text.split_once('.')?;
        let (expires, digits) = rest.split_once('.')?;
        let mut mac = [0; 32];
        hex::decode_to_slice(digits, &mut mac).ok()?;
        Some(Self { id, expires, mac })
    }

    /// Whether the token was signed with this hash and hasn't expired.
    pub(super) fn is_valid(&self, digest: &KeyDigest, now: Timestamp) -> bool {
        // `blake3::Hash` compares in constant time.
        let is_signed = mac(digest, self.id, self.expires) == self.mac;
        is_signed && self.expires.parse().is_ok_and(|expires: i64| now.as_second() < expires)
    }
}

pub(super) fn sign(id: &str, digest: &KeyDigest, now: Timestamp) -> String {
    let expires = now.as_second().saturating_add(SESSION_LIFETIME.as_secs()).to_string();
    format!("{id}.{expires}.{}", mac(digest, id, &expires).to_hex())
}

fn mac(digest: &KeyDigest, id: &str, expires: &str) -> blake3::Hash {
    blake3::keyed_hash(digest, &[CONTEXT, id.as_bytes(), b".", expires.as_bytes()].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIGEST: KeyDigest = [7; 32];

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).expect("a time")
    }

    fn is_valid(token: &str, digest: &KeyDigest, now: Timestamp) -> bool {
        Token::parse(token).is_some_and(|token| token.is_valid(digest, now))
    }

    #[test]
    fn a_token_is_valid_for_its_key_until_it_expires() {
        let token = sign("abcdefgh", &DIGEST, at(1000));
        let end = 1000 + SESSION_LIFETIME.as_secs();
        assert!(is_valid(&token, &DIGEST, at(1000)) && is_valid(&token, &DIGEST, at(end - 1)));
        assert!(!is_valid(&token, &DIGEST, at(end)));
        assert!(!is_valid(&token, &[8; 32], at(1000)), "another key, or the same id with a new secret");
    }

    #[test]
    fn an_altered_token_is_rejected() {
        let token = sign("abcdefgh", &DIGEST, at(1000));
        let later = token.replacen(".259", ".359", 1);
        assert_ne!(later, token);
        for altered in [
            later.as_str(),
            &token.replacen("abc", "abd", 1),
            &token[..token.len() - 1],
            &format!("{token}0"),
            "abcdefgh.99999999999.",
            "abcdefgh",
            "..",
            "",
        ] {
            assert!(!is_valid(altered, &DIGEST, at(1000)), "{altered}");
        }
    }
}
