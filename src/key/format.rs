//! The format of API keys: `sd_live_<id>_<secret><crc32>`.
//!
//! - The prefix says what kind of key it is. It lets secret scanners find leaked keys.
//! - The id (8 characters) identifies the key in lists and logs. It isn't secret.
//! - The secret is 22 characters in base 62, about 130 random bits.
//! - The last 6 characters are the CRC-32 (IEEE) of everything before them, in base 62. They expose
//!   a mistyped key without a lookup, and let scanners rule out chance matches.

use std::fmt;

use sha2::{Digest, Sha256};

const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
pub(super) const ID_LENGTH: usize = 8;
const SECRET_LENGTH: usize = 22;
const CHECKSUM_LENGTH: usize = 6;

/// The SHA-256 of a whole key, which is the only form in which a client's key is stored.
pub type KeyDigest = [u8; 32];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyKind {
    /// A key in the key file.
    Live,
    /// The key of a server that has no key file and listens on a loopback address.
    Development,
}

impl KeyKind {
    fn prefix(self) -> &'static str {
        match self {
            Self::Live => "sd_live_",
            Self::Development => "sd_dev_",
        }
    }
}

/// A whole key, including its secret. It can't be printed by accident: `Debug` and `Display` only
/// show its kind and id.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey {
    text: Box<str>,
    kind: KeyKind,
}

/// Why a string isn't a key. Reveals nothing about the string itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum KeyFormatError {
    #[error("it doesn't have the form sd_live_…")]
    Form,
    #[error("its checksum doesn't match: one of its characters is wrong")]
    Checksum,
}

impl ApiKey {
    /// Generates a key from the operating system's random numbers.
    pub fn generate(kind: KeyKind) -> Result<Self, getrandom::Error> {
        let mut text = String::from(kind.prefix());
        push_random_digits(&mut text, ID_LENGTH)?;
        text.push('_');
        push_random_digits(&mut text, SECRET_LENGTH)?;
        let checksum = checksum(text.as_bytes());
        text.extend(checksum.map(char::from));
        Ok(Self { text: text.into(), kind })
    }

    pub fn parse(text: &str) -> Result<Self, KeyFormatError> {
        let (kind, _) = id_of(text)?;
        Ok(Self { text: text.into(), kind })
    }

    /// The whole key, only for the code that hands it out and the code that stores it.
    pub fn expose(&self) -> &str {
        &self.text
    }

    pub fn kind(&self) -> KeyKind {
        self.kind
    }

    /// The part that identifies the key and isn't secret.
    pub fn id(&self) -> &str {
        let start = self.kind.prefix().len();
        &self.text[start..start + ID_LENGTH]
    }

    pub fn digest(&self) -> KeyDigest {
        digest(&self.text)
    }
}

impl fmt::Display for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}…", self.kind.prefix(), self.id())
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ApiKey({self})")
    }
}

pub(super) fn digest(text: &str) -> KeyDigest {
    Sha256::digest(text.as_bytes()).into()
}

pub(super) fn id_of(text: &str) -> Result<(KeyKind, &str), KeyFormatError> {
    let (kind, rest) = [KeyKind::Live, KeyKind::Development]
        .into_iter()
        .find_map(|kind| text.strip_prefix(kind.prefix()).map(|rest| (kind, rest)))
        .ok_or(KeyFormatError::Form)?;
    let (id, tail) = rest.split_once('_').ok_or(KeyFormatError::Form)?;
    if id.len() != ID_LENGTH || tail.len() != SECRET_LENGTH + CHECKSUM_LENGTH || !is_base62(id) || !is_base62(tail) {
        return Err(KeyFormatError::Form);
    }
    // From here on, all characters are ASCII.
    let (body, stated) = text.as_bytes().split_at(text.len() - CHECKSUM_LENGTH);
    if checksum(body) == *stated { Ok((kind, id)) } else { Err(KeyFormatError::Checksum) }
}

pub(super) fn is_base62(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// Redacts everything that looks like a key from text that may quote an operator's input.
pub(crate) fn without_keys(text: &str) -> String {
    let mut rest = text;
    let mut clean = String::with_capacity(text.len());
    let start = |text: &str| {
        [KeyKind::Live, KeyKind::Development].into_iter().filter_map(|kind| text.find(kind.prefix())).min()
    };
    while let Some(at) = start(rest) {
        let key = &rest[at..];
        let end = key.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(key.len());
        clean.push_str(&rest[..at]);
        clean.push_str("sd_…");
        rest = &key[end..];
    }
    clean.push_str(rest);
    clean
}

/// CRC-32 in base 62, most significant digit first, with a fixed width (62^6 > 2^32).
fn checksum(body: &[u8]) -> [u8; CHECKSUM_LENGTH] {
    let mut rest = crc32fast::hash(body) as usize;
    let mut digits = [DIGITS[0]; CHECKSUM_LENGTH];
    for digit in digits.iter_mut().rev() {
        *digit = DIGITS[rest % 62];
        rest /= 62;
    }
    digits
}

/// Appends uniformly random digits: bytes of 248 (4 × 62) or more are discarded.
fn push_random_digits(text: &mut String, count: usize) -> Result<(), getrandom::Error> {
    let end = text.len() + count;
    let mut random = [0_u8; 32];
    while text.len() < end {
        getrandom::fill(&mut random)?;
        let fair = random.iter().filter(|byte| **byte < 248).map(|byte| char::from(DIGITS[usize::from(byte % 62)]));
        text.extend(fair.take(end - text.len()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn key(kind: KeyKind) -> ApiKey {
        ApiKey::generate(kind).expect("random numbers")
    }

    #[test]
    fn a_new_key_has_the_documented_form_and_can_be_parsed() {
        for (kind, prefix) in [(KeyKind::Live, "sd_live_"), (KeyKind::Development, "sd_dev_")] {
            let key = key(kind);
            let tail = key.expose().strip_prefix(prefix).expect("the prefix");
            assert_eq!(tail.len(), 8 + 1 + 22 + 6);
            assert_eq!(ApiKey::parse(key.expose()), Ok(key.clone()));
            assert_eq!((key.kind(), key.id()), (kind, &tail[..8]));
        }
    }

    #[test]
    fn the_checksum_is_the_crc_32_of_everything_before_it() {
        // The check value of CRC-32 (IEEE) is 0xCBF43926; its base-62 digits are 3, 45, 35, 27, 22,
        // 14.
        let value = [3, 45, 35, 27, 22, 14].into_iter().fold(0_u64, |value, digit| value * 62 + digit);
        assert_eq!(value, 0xCBF4_3926);
        assert_eq!(&checksum(b"123456789"), b"3jZRME");
    }

    #[test]
    fn no_two_keys_are_the_same() {
        let keys: std::collections::HashSet<_> = (0..1000).map(|_| key(KeyKind::Live).expose().to_owned()).collect();
        assert_eq!(keys.len(), 1000);
    }

    #[test]
    fn printing_a_key_never_shows_its_secret() {
        let key = key(KeyKind::Live);
        let secret = key.expose().rsplit_once('_').expect("a secret").1;
        for shown in [format!("{key}"), format!("{key:?}"), format!("{key:#?}"), format!("{:?}", Some(&key))] {
            assert!(shown.contains(&format!("sd_live_{}…", key.id())), "{shown}");
            assert!(
                !secret.as_bytes().windows(6).any(|part| shown.as_bytes().windows(6).any(|w| w == part)),
                "{shown}"
            );
        }
    }

    #[test]
    fn keys_are_removed_from_quoted_text() {
        let (one, two) = (key(KeyKind::Live), key(KeyKind::Development));
        let text = format!("string \"{}\", {}", one.expose(), two.expose());
        assert_eq!(without_keys(&text), "string \"sd_…\", sd_…");
        assert_eq!(without_keys("no key: sd_ é"), "no key: sd_ é");
    }

    proptest! {
        #[test]
        fn two_characters_in_the_wrong_order_are_detected(at in 8..44_usize) {
            let key = key(KeyKind::Live);
            let mut bytes = key.expose().as_bytes().to_vec();
            prop_assume!(bytes[at] != bytes[at + 1]);
            bytes.swap(at, at + 1);
            prop_assert!(ApiKey::parse(std::str::from_utf8(&bytes).expect("ASCII")).is_err());
        }

        #[test]
        fn any_text_is_parsed_or_refused(text in "(sd_(live|dev)_)?\\PC{0,9}_?.{0,40}") {
            let _ = ApiKey::parse(&text);
        }
    }
}
