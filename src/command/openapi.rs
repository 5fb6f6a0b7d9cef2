//! `openapi`: prints the OpenAPI document.

use std::io::Write as _;
use std::process::ExitCode;

use crate::http::{HttpConfig, openapi};

pub(super) fn run() -> ExitCode {
    let document = openapi::text(&HttpConfig::default());
    // Who reads only the beginning, as `head` does, has what they want.
    match std::io::stdout().lock().write_all(document.as_bytes()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            eprintln!("the OpenAPI document can't be printed: {error}");
            ExitCode::FAILURE
        }
        _ => ExitCode::SUCCESS,
    }
}
