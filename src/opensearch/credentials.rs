//! Credentials: a user and password, or a key.

use std::fs;
use std::io;
use std::path::Path;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use http::HeaderValue;

use super::error::SettingsError;

/// The maximum length of a password or key, in bytes.
const MAX_SECRET_BYTES: usize = 4096;

/// The credentials sent with each request. Debug output doesn't reveal any secrets.
#[derive(Debug, Clone)]
pub struct Credentials {
    /// The name shown in messages: the user's name, or the kind of key.
    pub(super) name: String,
    /// Marked as sensitive.
    pub(super) authorization: HeaderValue,
}

impl Credentials {
    /// A user, with the password read from a one-line file.
    pub fn password(user: &str, file: &Path) -> Result<Self, SettingsError> {
        if user.is_empty() || user.contains(|c: char| c == ':' || c.is_control()) {
            let text = "isn't a valid user name: it must not be empty or contain a colon or control characters";
            return Err(SettingsError(format!("{user:?} {text}")));
        }
        let authorization = read(file, |text| {
            let is_password = !text.chars().any(char::is_control);
            is_password.then(|| format!("Basic {}", BASE64_STANDARD.encode(format!("{user}:{text}"))))
        })?;
        Ok(Self { name: format!("user {user}"), authorization })
    }

    /// A key read from a one-line file: a token, sent as `Bearer`, or a scheme and a token, such as
    /// `ApiKey …`.
    pub fn key(file: &Path) -> Result<Self, SettingsError> {
        let authorization = read(file, |text| {
            let (scheme, token) = text.split_once(' ').unwrap_or(("Bearer", text));
            let is_word = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
            (is_word(scheme) && is_word(token)).then(|| format!("{scheme} {token}"))
        })?;
        Ok(Self { name: "the key".to_owned(), authorization })
    }
}

/// Reads a header value from a one-line file. The value is never shown.
fn read(file: &Path, value: impl Fn(&str) -> Option<String>) -> Result<HeaderValue, SettingsError> {
    let header = fs::read_to_string(file).and_then(|text| {
        let text = text.strip_suffix('\n').unwrap_or(&text);
        let text = text.strip_suffix('\r').unwrap_or(text);
        let value = (!text.is_empty() && text.len() <= MAX_SECRET_BYTES).then(|| value(text)).flatten();
        let header = value.and_then(|value| HeaderValue::try_from(value).ok());
        header.ok_or_else(|| io::Error::other("it isn't a single line with a password or a key"))
    });
    let mut header = header
        .map_err(|error| SettingsError(format!("the password or key in {} can't be read: {error}", file.display())))?;
    header.set_sensitive(true);
    Ok(header)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_a_single_line_that_no_message_contains() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("secret");
        let password = |text: &str| {
            fs::write(&path, text).expect("written");
            Credentials::password("me", &path)
        };
        let credentials = password("päss wörd \n").expect("credentials");
        let header = credentials.authorization.to_str().expect("ASCII");
        assert_eq!(header, format!("Basic {}", BASE64_STANDARD.encode("me:päss wörd ")));
        assert!(!format!("{credentials:?}").contains(&header[6..]));
        for wrong in ["", "\n", "hunter2\nb", "hunter2\tb"] {
            let error = password(wrong).expect_err("not a line").to_string();
            assert!(!error.contains("hunter"), "{error}");
        }
        for (text, header) in
            [("abc\n", Some("Bearer abc")), ("ApiKey abc", Some("ApiKey abc")), (" a", None), ("a b c", None)]
        {
            fs::write(&path, text).expect("written");
            assert_eq!(Credentials::key(&path).ok().map(|of| of.authorization), header.map(HeaderValue::from_static));
        }
    }
}
