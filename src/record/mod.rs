//! The records of a directory: software products, categories, reviews, glossary terms and synonym groups.
//!
//! These are values that an export has been *validated* into, so they need not be checked again. They
//! are independent of files, JSON text, engines and HTTP. `export` makes them; `generation` turns them into a generation.

mod date;
mod glossary;
mod raw;
mod review;
mod slug;
mod software;
mod synonym;
mod url;

pub use date::CalendarDate;
pub use glossary::{Category, GlossarySource, GlossaryTerm};
pub use review::Review;
pub use slug::slug;
pub use software::{EvidenceStatus, OfferingType, Rating, Software, Source};
pub use synonym::SynonymGroup;
pub use url::normalised_url;

use serde_json::value::RawValue;

/// A property that the directory doesn't interpret, exactly as it was written: name and raw JSON text, the white space
/// between its tokens taken out, every number to the digit.
pub type AdditionalProperty = (Box<str>, Box<RawValue>);
