//! `openapi`: prints the OpenAPI document.

use std::process::ExitCode;

use super::print;
use crate::http::{HttpConfig, openapi};

pub(super) fn run() -> ExitCode {
    print(&openapi(&HttpConfig::default()))
}
