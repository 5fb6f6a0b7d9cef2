//! A directory's records: software products, categories, reviews, glossary terms and synonym
//! groups.
//!
//! These values come from *validated* exports, so they don't have to be checked again. They don't
//! depend on files, JSON text, the index or HTTP. `export` creates them, and `generation` turns them
//! into a generation.

mod attribute;
mod comparison;
mod corrections;
mod date;
mod entry;
mod language;
mod property;
mod raw;
mod slug;
mod software;
mod url;

pub use attribute::{Attribute, AttributeNumber, Attributes, KeyRange, MAX_ATTRIBUTES, MAX_VALUES, total_order};
pub use comparison::{Difference, JsonMembers, canonical, differences};
pub use corrections::{Corrections, VARIABLES};
pub use date::CalendarDate;
pub use entry::{Category, GlossarySource, GlossaryTerm, MAX_PINNED, Pin, Review, SynonymGroup};
pub use language::{Found, Language, Languages, Translations};
pub use property::{
    ATTRIBUTE, AttributeType, BUILT_IN, BuiltIn, CATEGORY, ENVELOPE, EVIDENCE, EvidenceStatus, FULL, Field,
    OfferingType, PIN, Property, QUOTE_CHARS, REVIEW, Required, SOFTWARE, SYNONYMS, Section, Shape, Shown, TERM,
    URL_CHARS, claim, searched,
};
pub use slug::{Ids, former_slug, identity, slug};
pub use software::{Evidence, EvidenceSource, PropertyValue, Rating, Software, Source};
pub use url::normalised_url;

use serde_json::value::RawValue;

/// A property that the directory doesn't interpret: its name and raw JSON text, exactly as written
/// except for white space between tokens. Numbers keep every digit.
pub type AdditionalProperty = (Box<str>, Box<RawValue>);
