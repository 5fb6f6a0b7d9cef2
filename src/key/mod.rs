//! Room: key.
