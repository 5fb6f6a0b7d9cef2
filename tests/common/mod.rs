//! What several tests need.

#![allow(dead_code, reason = "each test binary uses a part of it")]

pub(crate) mod binary;
pub(crate) mod cases;
pub(crate) mod index_copy;
pub(crate) mod log;
pub(crate) mod place;
pub(crate) mod process;
pub(crate) mod request;
pub(crate) mod until;
