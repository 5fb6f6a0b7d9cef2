//! Credentials: a user and password, or a key.

use std::fs;
use std::io;
use std::path::Path;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use http::HeaderValue;

use super::ClusterSettingsError;

/// The maximum length of a password or key, in bytes.
const MAX_SECRET_BYTES: usize = 4096;

/// The credentials sent with each request. Debug output doesn't reveal any secrets.
#[derive(Clone)]
pub struct Credentials {
    /// The name shown in messages: the user's name, or the kind of key.
    name: String,
    authorization: HeaderValue,
}

impl Credentials {
    /// A user, with the password read from a one-line file.
    pub fn password(user: &str, file: &Path) -> Result<Self, ClusterSettingsError> {
        if user.is_empty() || user.contains(|c: char| c == ':' || c.is_control()) {
            return Err(ClusterSettingsError::User(user.to_owned()));
        }
        let encoded = read(file, |text| {
            let is_password = !text.chars().any(char::is_control);
            is_password.then(|| format!("Basic {}", BASE64_STANDARD.encode(format!("{user}:{text}"))))
        })?;
        Ok(Self { name: format!("user {user}"), authorization: encoded })
    }

    /// A key read from a one-line file: a token, sent as `Bearer`, or a scheme and a token, such as
    /// `ApiKey …`.
    pub fn key(file: &Path) -> Result<Self, ClusterSettingsError> {
        let authorization = read(file, |text| {
            let (scheme, token) = text.split_once(' ').unwrap_or(("Bearer", text));
            let is_word = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
            (is_word(scheme) && is_word(token)).then(|| format!("{scheme} {token}"))
        })?;
        Ok(Self { name: "the key".to_owned(), authorization })
    }

    pub(super) fn authorization(&self) -> &HeaderValue {
        &self.authorization
    }

    /// The user's name, or the kind of key.
    pub(super) fn name(&self) -> &str {
        &self.name
    }
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Credentials").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Reads a header value from a one-line file. The value is never shown.
fn read(file: &Path, value: impl Fn(&str) -> Option<String>) -> Result<HeaderValue, ClusterSettingsError> {
    let header = fs::read_to_string(file).and_then(|text| {
        let text = text.strip_suffix('\n').unwrap_or(&text);
        let text = text.strip_suffix('\r').unwrap_or(text);
        let value = (!text.is_empty() && text.len() <= MAX_SECRET_BYTES).then(|| value(text)).flatten();
        value
            .and_then(|value| HeaderValue::try_from(value).ok())
            .ok_or_else(|| io::Error::other("it isn't a single line with a password or a key"))
    });
    let mut header = header.map_err(|source| ClusterSettingsError::SecretFile { path: file.to_path_buf(), source })?;
    header.set_sensitive(true);
    Ok(header)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> (tempfile::TempDir, std::path::PathBuf) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("secret");
        fs::write(&path, text).expect("written");
        (folder, path)
    }

    #[test]
    fn a_password_is_a_single_line_including_its_spaces() {
        let (_folder, path) = file("päss wörd \n");
        let credentials = Credentials::password("me", &path).expect("credentials");
        let header = credentials.authorization().to_str().expect("ASCII");
        let decoded = BASE64_STANDARD.decode(header.strip_prefix("Basic ").expect("basic")).expect("base64");
        assert_eq!(decoded, "me:päss wörd ".as_bytes());
        for wrong in ["", "\n", "a\nb", "a\tb"] {
            assert!(Credentials::password("me", &file(wrong).1).is_err(), "{wrong:?}");
        }
        for wrong in ["", "a:b", "a\nb"] {
            assert!(Credentials::password(wrong, &path).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn a_key_is_a_bearer_token_unless_it_has_a_scheme() {
        for (text, header) in [("abc\n", "Bearer abc"), ("ApiKey abc", "ApiKey abc")] {
            let (_folder, path) = file(text);
            assert_eq!(Credentials::key(&path).expect("credentials").authorization(), header);
        }
        for wrong in ["", " abc", "a b c", "abc\ndef", "é"] {
            let (_folder, path) = file(wrong);
            assert!(Credentials::key(&path).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn debug_output_and_errors_contain_no_secrets() {
        let (_folder, path) = file("hunter2\n");
        let credentials = Credentials::password("me", &path).expect("credentials");
        let encoded = BASE64_STANDARD.encode("me:hunter2");
        for text in [format!("{credentials:?}"), format!("{:?}", credentials.authorization())] {
            assert!(!text.contains("hunter2") && !text.contains(&encoded), "{text}");
        }
        let (_folder, path) = file("hunter2\nhunter3");
        let error = Credentials::password("me", &path).expect_err("two lines");
        assert!(!crate::error::chain(&error).contains("hunter"), "{error:?}");
    }
}
