//! Room: search.
