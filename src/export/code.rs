//! The closed list of possible findings: one row each, with a stable name and a severity.

use serde::{Serialize, Serializer};

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// The set can't be published as it is.
    Error,
    /// Worth a look, but doesn't stop publishing.
    Warning,
    /// A suggestion; nothing is wrong.
    Note,
}

impl Severity {
    /// The word for it in reports.
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
        /// The kind of a finding.
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
    /// A directory entry with the name of an export file is no file.
    NotAFile = "not_a_file", Error;
    /// The file is larger than the limit.
    FileTooLarge = "file_too_large", Error;
    /// The file's name can't serve as the export's id.
    InvalidFileName = "invalid_file_name", Error;

    // Text.
    /// The file is of another format, such as CSV or a ZIP archive.
    NotJson = "not_json", Error;
    /// A byte sequence isn't UTF-8.
    InvalidUtf8 = "invalid_utf8", Error;
    /// The file begins with a byte order mark.
    ByteOrderMark = "byte_order_mark", Error;
    /// There is nothing in the file.
    EmptyFile = "empty_file", Error;
    /// The file ends too early.
    Truncated = "truncated", Error;
    /// Something stands where JSON has no place for it.
    UnexpectedCharacter = "unexpected_character", Error;
    /// Two elements or members without a comma between them.
    MissingComma = "missing_comma", Error;
    /// A comma with nothing behind it.
    TrailingComma = "trailing_comma", Error;
    /// A comment.
    Comment = "comment", Error;
    /// Text in other quotes than `"`.
    WrongQuotes = "wrong_quotes", Error;
    /// A key without quotes.
    UnquotedKey = "unquoted_key", Error;
    /// A word that is no JSON value, such as `NaN`.
    InvalidLiteral = "invalid_literal", Error;
    /// A number in a form that JSON doesn't have.
    InvalidNumber = "invalid_number", Error;
    /// A control character inside a text.
    ControlCharacter = "control_character", Error;
    /// An escape that JSON doesn't have.
    InvalidEscape = "invalid_escape", Error;
    /// Half of a surrogate pair.
    LoneSurrogate = "lone_surrogate", Error;
    /// A text or key that is longer than the limit.
    TextTooLong = "text_too_long", Error;
    /// A number that double precision doesn't hold, or that is written with too many digits.
    NumberOutOfRange = "number_out_of_range", Error;
    /// Arrays and objects nested beyond the limit.
    TooDeep = "too_deep", Error;
    /// More than one JSON value in the file.
    TrailingContent = "trailing_content", Error;
    /// A key twice in one object.
    DuplicateKey = "duplicate_key", Error;

    // Schema.
    /// A value of another type than the schema requires.
    WrongType = "wrong_type", Error;
    /// A required property isn't there.
    MissingProperty = "missing_property", Error;
    /// A text that must not be empty is.
    EmptyText = "empty_text", Error;
    /// A text that must be a URI isn't one.
    InvalidUri = "invalid_uri", Error;
    /// A prefix of ids with other characters than the allowed ones, or too many.
    InvalidIdPrefix = "invalid_id_prefix", Error;
    /// A text that isn't among the allowed ones.
    UnknownValue = "unknown_value", Error;
    /// A date that isn't written as YYYY-MM-DD.
    InvalidDateForm = "invalid_date_form", Error;
    /// `sources` without an element.
    NoSources = "no_sources", Error;
    /// A source that isn't a pair.
    SourceNotAPair = "source_not_a_pair", Error;
    /// A number below the smallest allowed one.
    BelowMinimum = "below_minimum", Error;
    /// An attribute of a property that the directory reads in another way.
    CoreAttribute = "core_attribute", Error;
    /// A group of synonyms with more terms than the limit.
    TooManyTerms = "too_many_terms", Error;

    // Search and lists.
    /// A searched text with a word that is longer than the limit.
    WordTooLong = "word_too_long", Error;
    /// A product's id that is longer than the limit.
    IdTooLong = "id_too_long", Error;
    /// A product's website or a licence with a URL that is longer than the limit.
    UrlTooLong = "url_too_long", Error;

    // Set.
    /// Two files give the same export id.
    DuplicateExportId = "duplicate_export_id", Error;
    /// Two products have the same id.
    DuplicateSoftwareId = "duplicate_software_id", Error;
    /// Two reviews have the same id.
    DuplicateReviewId = "duplicate_review_id", Error;
    /// A review of a product that no export has.
    UnknownSoftware = "unknown_software", Error;
    /// Two definitions of one glossary term.
    DuplicateTerm = "duplicate_term", Error;
    /// A term in more groups of synonyms than the limit.
    TooManyGroups = "too_many_groups", Error;
    /// Two different declarations of one attribute.
    DifferingAttribute = "differing_attribute", Error;
    /// More attributes than a directory may have.
    TooManyAttributes = "too_many_attributes", Error;

    /// More pinned queries than the limit.
    TooManyPins = "too_many_pins", Error;

    // Advice.
    /// A date that isn't in the calendar.
    ImpossibleDate = "impossible_date", Warning;
    /// A date that is yet to come.
    FutureDate = "future_date", Warning;
    /// Evidence that was checked longer ago than the check allows.
    StaleEvidence = "stale_evidence", Warning;
    /// A link to a page that doesn't exist, or that couldn't be reached for days.
    DeadLink = "dead_link", Warning;
    /// A link to a page that can't be reached now.
    UnreachableLink = "unreachable_link", Warning;
    /// A link to a server whose certificate isn't valid, or that TLS fails with.
    TlsProblem = "tls_problem", Warning;
    /// A link to a page that has moved for good, or that leads to another domain.
    MovedLink = "moved_link", Warning;
    /// A link with `http:` to a page that is served over https.
    InsecureLink = "insecure_link", Warning;
    /// An optional property that can't be used as it is; it is kept and returned.
    UnusableProperty = "unusable_property", Warning;
    /// Values of an attribute that aren't of its type; they are returned, but not filtered and counted by.
    WrongAttributeValue = "wrong_attribute_value", Warning;
    /// An attribute with more different values than a directory is made for.
    TooManyValues = "too_many_values", Warning;
    /// A property that most products have and that no export declares as an attribute.
    UndeclaredAttribute = "undeclared_attribute", Note;
    /// A name, vendor or tagline that lists shorten.
    LongText = "long_text", Warning;
    /// A key that is almost a known one.
    NearMissKey = "near_miss_key", Warning;
    /// One URL under several ids.
    SharedUrl = "shared_url", Warning;
    /// One name under several ids.
    SharedName = "shared_name", Warning;
    /// A language tag that isn't well-formed, or that is of no known language.
    UnknownLanguage = "unknown_language", Warning;
    /// A rating outside 0 to 5.
    RatingOutOfRange = "rating_out_of_range", Warning;
    /// An id that is awkward in a path.
    AwkwardId = "awkward_id", Warning;
    /// An id with a character that isn't seen.
    InvisibleCharacter = "invisible_character", Warning;
    /// An export without any record.
    NoRecords = "no_records", Warning;
    /// A category that is almost a declared or a much more frequent one.
    NearMissCategory = "near_miss_category", Warning;
    /// Two values of a property that differ only in spaces or in number, such as `Audit` and `Audits`.
    SpellingVariant = "spelling_variant", Warning;
    /// A value that is a list with commas.
    CommaList = "comma_list", Warning;
    /// Two ids that differ in case only.
    SimilarId = "similar_id", Warning;
    /// HTML or Markdown in a text.
    Markup = "markup", Warning;
    /// A text that was decoded in another encoding than it was written in.
    Mojibake = "mojibake", Warning;
    /// A URL that stands for one to be filled in.
    PlaceholderUrl = "placeholder_url", Warning;
    /// A host of a local network.
    PrivateHost = "private_host", Warning;
    /// A host without a known top-level domain.
    UnknownTopLevelDomain = "unknown_top_level_domain", Warning;
    /// A URL with a user name and a password, which would be published.
    UrlCredentials = "url_credentials", Warning;
    /// A URL with a port that doesn't exist.
    InvalidPort = "invalid_port", Warning;
    /// Files in the data folder that are almost named like exports.
    IgnoredFile = "ignored_file", Warning;
    /// A link that browsers don't follow.
    UnusualLink = "unusual_link", Warning;
    /// A related term that the glossary doesn't have.
    UnknownRelatedTerm = "unknown_related_term", Warning;
    /// A term in two groups of synonyms.
    OverlappingSynonyms = "overlapping_synonyms", Warning;
    /// A pinned product that no export has.
    UnknownPinnedSoftware = "unknown_pinned_software", Warning;
    /// A query that is pinned twice.
    OverlappingPins = "overlapping_pins", Warning;
    /// An optional entry of the envelope that can't be used.
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
    fn no_two_codes_have_one_name() {
        let names: std::collections::BTreeSet<_> = Code::ALL.iter().map(|code| code.as_str()).collect();
        assert_eq!(names.len(), Code::ALL.len());
        let described = |code: &Code| code.description().ends_with('.') && !code.description().starts_with(' ');
        assert!(Code::ALL.iter().all(described));
        assert!(names.iter().all(|name| name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_' || b == b'8')));
    }
}
