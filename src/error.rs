//! Formats errors for people.

use std::error::Error;

/// Joins an error and its causes into one line.
pub(crate) fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let of = error.to_string();
        // A transparent error has the same message as its cause.
        if !text.ends_with(&of) {
            text = format!("{text}: {of}");
        }
        cause = error.source();
    }
    text
}
