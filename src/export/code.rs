//! The closed list of possible findings: one row each, with a stable name and a severity.

use serde::{Serialize, Serializer};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// The set can't be published as is.
    Error,
    /// Worth a look, but doesn't stop publishing.
    Warning,
    /// A suggestion; nothing is wrong.
    Note,
}

impl Severity {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}

/// Declares the codes, with name and severity in one row so that neither can be forgotten.
macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $code:ident = $name:literal, $severity:ident;)+) => {
        /// A kind of finding.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $($(#[doc = $doc])+ $code,)+
        }

        impl Code {
            /// All codes, in the order of the checks.
            pub const ALL: &'static [Self] = &[$(Self::$code),+];

            /// The stable name; its meaning never changes.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$code => $name,)+
                }
            }

            /// Describes this kind of finding in one sentence.
            pub const fn description(self) -> &'static str {
                match self {
                    $(Self::$code => concat!($($doc),+).trim_ascii_start(),)+
                }
            }

            /// How severe the finding is. An error stops a set from being published.
            pub const fn severity(self) -> Severity {
                match self {
                    $(Self::$code => Severity::$severity,)+
                }
            }
        }
    };
}

codes! {
    // Files.
    /// The file can't be read.
    UnreadableFile = "unreadable_file", Error;
    /// A directory entry is named like an export file but isn't a file.
    NotAFile = "not_a_file", Error;
    /// The file is larger than the limit.
    FileTooLarge = "file_too_large", Error;
    /// The file's name isn't usable as the export's id.
    InvalidFileName = "invalid_file_name", Error;
    /// The export has no signature, although the operator trusts only signed ones.
    Unsigned = "unsigned", Error;
    /// The export's signature isn't valid, or was made with a key that isn't trusted.
    InvalidSignature = "invalid_signature", Error;

    // Text.
    /// The file is in another format, such as CSV or ZIP.
    NotJson = "not_json", Error;
    /// A byte sequence isn't UTF-8.
    InvalidUtf8 = "invalid_utf8", Error;
    /// The file begins with a byte order mark.
    ByteOrderMark = "byte_order_mark", Error;
    /// The file is empty.
    EmptyFile = "empty_file", Error;
    /// The file ends before its value is complete.
    Truncated = "truncated", Error;
    /// A character that JSON doesn't allow at this point.
    UnexpectedCharacter = "unexpected_character", Error;
    /// Two elements or members without a comma between them.
    MissingComma = "missing_comma", Error;
    /// A comma with nothing after it.
    TrailingComma = "trailing_comma", Error;
    /// A comment.
    Comment = "comment", Error;
    /// Text in quotes other than `"`.
    WrongQuotes = "wrong_quotes", Error;
    /// A key without quotes.
    UnquotedKey = "unquoted_key", Error;
    /// A word that isn't a JSON value, such as `NaN`.
    InvalidLiteral = "invalid_literal", Error;
    /// A number in a form that JSON doesn't allow.
    InvalidNumber = "invalid_number", Error;
    /// A control character in a string.
    ControlCharacter = "control_character", Error;
    /// An escape that JSON doesn't define.
    InvalidEscape = "invalid_escape", Error;
    /// Half of a surrogate pair.
    LoneSurrogate = "lone_surrogate", Error;
    /// A string or key that is longer than the limit.
    TextTooLong = "text_too_long", Error;
    /// A number that doesn't fit in double precision, or that has too many digits.
    NumberOutOfRange = "number_out_of_range", Error;
    /// Arrays and objects nested beyond the limit.
    TooDeep = "too_deep", Error;
    /// More than one JSON value in the file.
    TrailingContent = "trailing_content", Error;
    /// A key that occurs twice in one object.
    DuplicateKey = "duplicate_key", Error;

    // Schema.
    /// A value of the wrong type.
    WrongType = "wrong_type", Error;
    /// A required property is missing.
    MissingProperty = "missing_property", Error;
    /// A string that must not be empty but is.
    EmptyText = "empty_text", Error;
    /// A string that must be a URI but isn't one.
    InvalidUri = "invalid_uri", Error;
    /// A value that isn't among the allowed ones.
    UnknownValue = "unknown_value", Error;
    /// A date that isn't written as YYYY-MM-DD.
    InvalidDateForm = "invalid_date_form", Error;
    /// `sources` is empty.
    NoSources = "no_sources", Error;
    /// A source that isn't a pair.
    SourceNotAPair = "source_not_a_pair", Error;
    /// A number below the allowed minimum.
    BelowMinimum = "below_minimum", Error;

    // Search and lists.
    /// Searched text with a word that is longer than the limit.
    WordTooLong = "word_too_long", Error;
    /// A product's id that is longer than the limit.
    IdTooLong = "id_too_long", Error;
    /// A product or licence URL that is longer than the limit.
    UrlTooLong = "url_too_long", Error;

    // Set.
    /// Two files have the same export id.
    DuplicateExportId = "duplicate_export_id", Error;
    /// Two products have the same id.
    DuplicateSoftwareId = "duplicate_software_id", Error;
    /// Two reviews have the same id.
    DuplicateReviewId = "duplicate_review_id", Error;
    /// A review of a product that isn't in any export.
    UnknownSoftware = "unknown_software", Error;
    /// Two definitions of the same glossary term.
    DuplicateTerm = "duplicate_term", Error;
    /// A term in more synonym groups than the limit.
    TooManyGroups = "too_many_groups", Error;
    /// Two different declarations of the same attribute.
    DifferingAttribute = "differing_attribute", Error;
    /// More attributes than a directory may have.
    TooManyAttributes = "too_many_attributes", Error;

    /// More pinned queries than the limit.
    TooManyPins = "too_many_pins", Error;

    // Advice.
    /// A date that doesn't exist.
    ImpossibleDate = "impossible_date", Warning;
    /// A date in the future.
    FutureDate = "future_date", Warning;
    /// Evidence that was checked too long ago.
    StaleEvidence = "stale_evidence", Warning;
    /// A source that no longer says what a claim rests on, or whose text has changed since then.
    ChangedSource = "changed_source", Warning;
    /// A source without text, such as a PDF, so that only its bytes are compared.
    SourceWithoutText = "source_without_text", Note;
    /// A link to a page that doesn't exist, or that has been unreachable for days.
    DeadLink = "dead_link", Warning;
    /// A link to a page that currently can't be reached.
    UnreachableLink = "unreachable_link", Warning;
    /// A link to a server with an invalid certificate or another TLS problem.
    TlsProblem = "tls_problem", Warning;
    /// A link to a page that has moved permanently, or that redirects to another domain.
    MovedLink = "moved_link", Warning;
    /// An `http:` link to a page that is also served over HTTPS.
    InsecureLink = "insecure_link", Warning;
    /// An optional property that can't be used as is; it is kept and returned.
    UnusableProperty = "unusable_property", Warning;
    /// Attribute values of the wrong type; they are returned, but not used in filters and counts.
    WrongAttributeValue = "wrong_attribute_value", Warning;
    /// An attribute with more distinct values than a directory is designed for.
    TooManyValues = "too_many_values", Warning;
    /// A property that most products have and that no export declares as an attribute.
    UndeclaredAttribute = "undeclared_attribute", Note;
    /// A name, vendor or tagline that is shortened in lists.
    LongText = "long_text", Warning;
    /// A key that is almost the same as a known one.
    NearMissKey = "near_miss_key", Warning;
    /// The same URL under several ids.
    SharedUrl = "shared_url", Warning;
    /// The same name under several ids.
    SharedName = "shared_name", Warning;
    /// A language tag that isn't well-formed, or whose language is unknown.
    UnknownLanguage = "unknown_language", Warning;
    /// A rating outside 0 to 5.
    RatingOutOfRange = "rating_out_of_range", Warning;
    /// An id that is awkward in a path.
    AwkwardId = "awkward_id", Warning;
    /// An id with an invisible character.
    InvisibleCharacter = "invisible_character", Warning;
    /// An export without records.
    NoRecords = "no_records", Warning;
    /// A category that is almost the same as a declared or a much more frequent one.
    NearMissCategory = "near_miss_category", Warning;
    /// Two values of a property that differ only in spacing or a plural ending, such as `Audit` and `Audits`.
    SpellingVariant = "spelling_variant", Warning;
    /// A value that is a comma-separated list.
    CommaList = "comma_list", Warning;
    /// Two ids that differ only in case.
    SimilarId = "similar_id", Warning;
    /// HTML or Markdown in plain text.
    Markup = "markup", Warning;
    /// Text that was decoded with the wrong encoding.
    Mojibake = "mojibake", Warning;
    /// A URL that is only a placeholder.
    PlaceholderUrl = "placeholder_url", Warning;
    /// A host on a local network.
    PrivateHost = "private_host", Warning;
    /// A host without a known top-level domain.
    UnknownTopLevelDomain = "unknown_top_level_domain", Warning;
    /// A URL with a user name and a password, which would be published.
    UrlCredentials = "url_credentials", Warning;
    /// A URL with an invalid port.
    InvalidPort = "invalid_port", Warning;
    /// Files in the data folder whose names look almost like an export's.
    IgnoredFile = "ignored_file", Warning;
    /// A link that browsers don't follow.
    UnusualLink = "unusual_link", Warning;
    /// A related term that isn't in the glossary.
    UnknownRelatedTerm = "unknown_related_term", Warning;
    /// A term in two synonym groups.
    OverlappingSynonyms = "overlapping_synonyms", Warning;
    /// A pinned product that isn't in any export.
    UnknownPinnedSoftware = "unknown_pinned_software", Warning;
    /// A query that is pinned twice.
    OverlappingPins = "overlapping_pins", Warning;
    /// An optional entry in the envelope that can't be used.
    EntryLeftOut = "entry_left_out", Warning;
    /// A review of an unreadable or invalid product.
    ReviewWithoutProduct = "review_without_product", Warning;
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::Code;

    #[test]
    fn no_two_codes_share_a_name() {
        let names: std::collections::BTreeSet<_> = Code::ALL.iter().map(|code| code.as_str()).collect();
        assert_eq!(names.len(), Code::ALL.len());
        let described = |code: &Code| code.description().ends_with('.') && !code.description().starts_with(' ');
        assert!(Code::ALL.iter().all(described));
        assert!(names.iter().all(|name| name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_' || b == b'8')));
    }
}
