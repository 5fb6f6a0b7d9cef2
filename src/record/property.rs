//! The tables of the properties that the directory knows: those of a product's record, of the
//! envelope around the records, and of the envelope's other entries.
//!
//! Everything that handles properties one by one reads these tables, so a property is declared once:
//! the export format's checks, schema and reference, tables, diffs, reports and indexed text.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

/// What the directory knows about a property.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Property {
    pub name: &'static str,
    pub shape: Shape,
    /// One line without a full stop, for the JSON Schema and the reference of the export format.
    pub description: &'static str,
    /// The maximum length in characters, beyond which the export is invalid or, if
    /// the property isn't strict, the value isn't used.
    pub max_chars: Option<usize>,
    pub required: Required,
    /// Whether a missing or wrong value makes the export invalid. Otherwise, it only causes a
    /// warning, and the value, or the entry that it's missing from, isn't used.
    pub is_strict: bool,
    /// The field that searches find the value's words in.
    pub searched: Option<Field>,
    pub is_translated: bool,
    /// Set if every directory filters and counts products by the property.
    pub attribute: Option<BuiltIn>,
    /// Whether pages show it at a glance, as they do declared attributes.
    pub at_a_glance: bool,
    pub shown: Shown,
    /// The property that this one's value becomes part of.
    pub joins: Option<&'static str>,
}

/// The form of a property's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    Text,
    /// A string with at least one character.
    Name,
    /// The name of a category, term or attribute, which lists contain in full.
    Label,
    Uri,
    /// A string in the form `YYYY-MM-DD`.
    Date,
    /// One of these strings.
    OneOf(&'static [&'static str]),
    /// A string that can stand before ids.
    IdPrefix,
    /// An array of strings; a lone string counts as one element.
    Texts,
    Number,
    /// A whole number of 0 or more.
    Count,
    Boolean,
    /// An array of pairs of a label and a URI.
    Sources,
    /// For each property, an object with the properties in [`EVIDENCE`], or an array of these.
    Evidence,
    /// The title or the URL of a glossary term's source, or an object with either or both.
    Source,
    /// For each language tag, an object with translated text.
    Translations,
    /// An array of objects with these properties.
    Entries(&'static [Property]),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Required {
    Always,
    /// If the record's evidence status is [`EvidenceStatus::VendorSourcesReviewed`].
    IfReviewed,
    No,
}

impl Required {
    /// The word in references of the export format.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Always => "yes",
            Self::IfReviewed => "if reviewed",
            Self::No => "no",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// In lists and in full records.
    List,
    /// Only in full records.
    Full,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BuiltIn {
    /// Its place among a directory's attributes.
    number: usize,
    pub label: &'static str,
}

/// Whether a record is a software application or a set of document templates.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OfferingType {
    #[default]
    Software,
    DocumentTemplates,
}

impl OfferingType {
    /// All values, in the order of the specification.
    pub const ALL: [Self; 2] = [Self::Software, Self::DocumentTemplates];

    /// The value as written in exports and responses.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Software => "software",
            Self::DocumentTemplates => "document-templates",
        }
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EvidenceStatus {
    /// The vendor's sources were reviewed. The sources and the date of the check are stated.
    VendorSourcesReviewed,
    #[default]
    PendingReview,
}

impl EvidenceStatus {
    /// All values, in the order of the specification.
    pub const ALL: [Self; 2] = [Self::VendorSourcesReviewed, Self::PendingReview];

    /// The value as written in exports and responses.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::VendorSourcesReviewed => "vendor-sources-reviewed",
            Self::PendingReview => "pending-review",
        }
    }
}

/// The type of an attribute's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum AttributeType {
    /// One string or a list of strings, each with at most 500 characters.
    Text,
    Number,
    Boolean,
    /// A calendar date, `YYYY-MM-DD`.
    Date,
}

impl AttributeType {
    pub const ALL: [Self; 4] = [Self::Text, Self::Number, Self::Boolean, Self::Date];

    /// The name in exports and responses.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Number => "number",
            Self::Boolean => "boolean",
            Self::Date => "date",
        }
    }
}

/// The fields that a record's searched text is in, in the order in which the index stores their
/// words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Field {
    Name,
    Alias,
    Tagline,
    Category,
    Tag,
    Vendor,
    Standard,
    AlternativeTo,
    Feature,
    /// How the product can be run, and its languages.
    Setting,
    /// Whether it's software or a template.
    Offering,
    Description,
    CategoryDescription,
}

impl Field {
    pub const fn section(self) -> Section {
        match self {
            Self::Name | Self::Alias => Section::Name,
            Self::Tagline | Self::Category | Self::Tag | Self::Vendor | Self::Standard | Self::AlternativeTo => {
                Section::Summary
            }
            Self::Feature | Self::Setting | Self::Offering | Self::Description | Self::CategoryDescription => {
                Section::Body
            }
        }
    }
}

/// A group of fields. Lengths and reranking go by section rather than by field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Section {
    Name,
    /// The short fields.
    Summary,
    /// The long fields.
    Body,
}

impl Section {
    /// In document order.
    pub const ALL: [Self; 3] = [Self::Name, Self::Summary, Self::Body];
}

/// The maximum length of addresses that responses contain in full, in characters.
pub const URL_CHARS: usize = 2_000;
/// The longest quote from a source, in characters.
pub const QUOTE_CHARS: usize = 500;

/// A record's properties, an element of `software`.
pub static SOFTWARE: [Property; 25] = [
    Property::new("id", Shape::Name, "identifier, unique in the directory")
        .at_most(500)
        .required(Required::Always)
        .listed(),
    Property::new("name", Shape::Name, "name of the product")
        .required(Required::Always)
        .searched(Field::Name)
        .translated()
        .listed(),
    Property::new("url", Shape::Uri, "the product's website").at_most(URL_CHARS).required(Required::Always).listed(),
    Property::new("evidence_status", Shape::OneOf(&STATUS), "how far the evidence has been reviewed")
        .required(Required::Always)
        .listed(),
    Property::new("evidence_checked_on", Shape::Date, "when the evidence was checked")
        .required(Required::IfReviewed)
        .listed(),
    Property::new("sources", Shape::Sources, "where the claims come from: pairs of a label and an address")
        .required(Required::IfReviewed),
    Property::new(
        "evidence",
        Shape::Evidence,
        "where single claims come from, an object with {source, checked_on?, quote?, archived?}, or an array of these, \
         for each property, such as {\"pricing\": {\"source\": \"https://…\"}}. A source is a URI or a label from \
         `sources`, and a quote has at most 500 characters. Properties without evidence of their own rest on the \
         record's `sources` and date",
    ),
    Property::new("rating", Shape::Number, "average rating, by convention 0 to 5").strict().listed(),
    Property::new("review_count", Shape::Count, "number of reviews behind the rating").strict().listed(),
    Property::new(
        "offering_type",
        Shape::OneOf(&OFFERING),
        "distinguishes document templates from software applications",
    )
    .strict()
    .searched(Field::Offering)
    .listed(),
    Property::new("tagline", Shape::Text, "short description, a string").searched(Field::Tagline).translated().listed(),
    Property::new("description", Shape::Text, "long description, a string").searched(Field::Description).translated(),
    Property::new("category", Shape::Text, "main category, a string").joins("categories").listed(),
    Property::new("categories", Shape::Texts, "categories, an array of strings").searched(Field::Category).listed(),
    Property::new("vendor", Shape::Text, "who makes it, a string")
        .searched(Field::Vendor)
        .attribute(3, "Vendor")
        .listed(),
    Property::new("tags", Shape::Texts, "keywords, an array of strings").searched(Field::Tag).attribute(4, "Tags"),
    Property::new("features", Shape::Texts, "what it does, an array of strings").searched(Field::Feature),
    Property::new("standards", Shape::Texts, "standards it is for, an array of strings")
        .searched(Field::Standard)
        .attribute(0, "Standards")
        .at_a_glance(),
    Property::new(
        "alternative_to",
        Shape::Texts,
        "names of products that it can replace, a string or an array of strings",
    )
    .searched(Field::AlternativeTo),
    Property::new("aliases", Shape::Texts, "other names, an array of strings").searched(Field::Alias),
    Property::new("deployment", Shape::Texts, "how it can be run, an array of strings")
        .searched(Field::Setting)
        .attribute(1, "Deployment")
        .at_a_glance(),
    Property::new("pricing", Shape::Text, "what it costs, a string").at_a_glance(),
    Property::new("repository", Shape::Uri, "the address of its source code").at_most(URL_CHARS),
    Property::new("languages", Shape::Texts, "languages of its user interface, an array of strings")
        .searched(Field::Setting)
        .attribute(2, "Languages"),
    Property::new(
        "translations",
        Shape::Translations,
        "text in other languages, an object with {name?, tagline?, description?} for each language tag (BCP 47), such \
         as {\"de\": {\"tagline\": \"…\"}}",
    ),
];

/// The top-level object of an export.
pub static ENVELOPE: [Property; 14] = [
    Property::new("name", Shape::Text, "name of the export").required(Required::Always),
    Property::new("license", Shape::Uri, "licence of the export").at_most(URL_CHARS).required(Required::Always),
    Property::new("description", Shape::Text, "what the export contains, in a sentence or two"),
    Property::new("as_of", Shape::Text, "snapshot date; a record's evidence date takes precedence").strict(),
    Property::new(
        "language",
        Shape::Text,
        "the language of its text, a BCP 47 language tag such as `de`. If it isn't stated, German, French, \
         Spanish, Italian, Hebrew and Arabic are detected, and other text counts as English",
    ),
    Property::new(
        "id_prefix",
        Shape::IdPrefix,
        "a string that the directory puts before product and review ids, such as `dpg:`. Tells exports from different \
         sources apart",
    ),
    Property::new(
        "corrections",
        Shape::Text,
        "where readers can suggest corrections: an https or mailto address, in which {id}, {name}, {export} and {url} \
         stand for the record's",
    ),
    Property::new("software", Shape::Entries(&SOFTWARE), "the records").required(Required::Always),
    Property::new("categories", Shape::Entries(&CATEGORY), "categories, each {name, description?, translations?}"),
    Property::new(
        "reviews",
        Shape::Entries(&REVIEW),
        "reviews, each {id, software_id, rating from 1 to 5, title?, body?, author?, created_at?, verified?}",
    ),
    Property::new(
        "glossary",
        Shape::Entries(&TERM),
        "glossary terms, each {term, definition, abbreviations?, synonyms?, related?, source?, translations?}",
    ),
    Property::new(
        "synonyms",
        Shape::Entries(&SYNONYMS),
        "groups of terms, each {\"terms\": [...]}, {\"from\": [...], \"to\": \"...\"} or {\"ambiguous\": [...]}; at \
         most 200 terms per list",
    ),
    Property::new(
        "pins",
        Shape::Entries(&PIN),
        "products that come first for a query, each {\"queries\": [...], \"software\": [ids, best first]}; at most \
         100 queries and 20 products per pin",
    ),
    Property::new(
        "attributes",
        Shape::Entries(&ATTRIBUTE),
        "properties of records to filter, count and sort by, each {property, label, type?: text, number, boolean or \
         date, unit?, searchable?, hidden?, max_age_days?, translations?}; at most 64 in a directory. Every directory has the \
         attributes standards, deployment, languages, vendor and tags, which are text. A declaration applies to all \
         exports in the directory",
    ),
];

pub static CATEGORY: [Property; 3] = [
    Property::new("name", Shape::Label, "name, as in the records").needed().translated(),
    Property::new("description", Shape::Text, "what belongs in the category, a string").translated(),
    Property::new("translations", Shape::Translations, "name and description in other languages"),
];

pub static REVIEW: [Property; 8] = [
    Property::new("id", Shape::Text, "identifier, unique in the directory").needed(),
    Property::new("software_id", Shape::Text, "the id of the product").needed(),
    Property::new("rating", Shape::Number, "a whole number from 1 to 5").needed(),
    Property::new("title", Shape::Text, "title, a string"),
    Property::new("body", Shape::Text, "the review's text, a string"),
    Property::new("author", Shape::Text, "who wrote it, a string"),
    Property::new("created_at", Shape::Text, "when it was written, a date or a time with a date (RFC 3339)"),
    Property::new("verified", Shape::Boolean, "whether the author is known to use the product, true or false"),
];

pub static TERM: [Property; 7] = [
    Property::new("term", Shape::Label, "the term").needed().translated(),
    Property::new("definition", Shape::Text, "what it means").needed().translated(),
    Property::new("abbreviations", Shape::Texts, "its abbreviations, an array of strings"),
    Property::new("synonyms", Shape::Texts, "terms with the same meaning, an array of strings"),
    Property::new("related", Shape::Texts, "related terms of the glossary, an array of strings"),
    Property::new("source", Shape::Source, "where the definition comes from: a title, a URL, or {title?, url?}"),
    Property::new("translations", Shape::Translations, "term and definition in other languages"),
];

/// Evidence for one of a record's properties.
pub static EVIDENCE: [Property; 4] = [
    Property::new("source", Shape::Uri, "where the claim comes from: a URI, or the label of a source").needed(),
    Property::new("checked_on", Shape::Date, "when the source was checked"),
    Property::new("quote", Shape::Text, "what the source says, a string of at most 500 characters")
        .at_most(QUOTE_CHARS),
    Property::new("archived", Shape::Uri, "the address of a copy that doesn't change, a URI"),
];

/// A group has either `terms`, or `from` and `to`, or `ambiguous`.
pub static SYNONYMS: [Property; 4] = [
    Property::new("terms", Shape::Texts, "equivalent terms, an array of strings"),
    Property::new("from", Shape::Texts, "terms that also find `to`, an array of strings"),
    Property::new("to", Shape::Text, "the term that they also find, a string"),
    Property::new(
        "ambiguous",
        Shape::Texts,
        "equivalent terms that are expanded only if one is the whole query or in capitals, an array of strings",
    ),
];

pub static PIN: [Property; 2] = [
    Property::new("queries", Shape::Texts, "whole queries, an array of strings").needed(),
    Property::new("software", Shape::Texts, "product ids, best first, an array of strings").needed(),
];

pub static ATTRIBUTE: [Property; 8] = [
    Property::new("property", Shape::Text, "the property's name in the records").needed(),
    Property::new("label", Shape::Label, "what pages call it").needed().translated(),
    Property::new("type", Shape::OneOf(&TYPES), "the type of its values, text by default"),
    Property::new("unit", Shape::Text, "the unit of its numbers, a string"),
    Property::new("searchable", Shape::Boolean, "whether searches find the words in its values, true by default"),
    Property::new("hidden", Shape::Boolean, "whether pages leave it out, false by default"),
    Property::new("max_age_days", Shape::Count, "after how many days its evidence is stale, from 1 to 36,500"),
    Property::new("translations", Shape::Translations, "the label in other languages"),
];

const STATUS: [&str; 2] = [EvidenceStatus::ALL[0].as_str(), EvidenceStatus::ALL[1].as_str()];
const OFFERING: [&str; 2] = [OfferingType::ALL[0].as_str(), OfferingType::ALL[1].as_str()];
const TYPES: [&str; 4] = {
    let [text, number, boolean, date] = AttributeType::ALL;
    [text.as_str(), number.as_str(), boolean.as_str(), date.as_str()]
};

/// The names of the properties that only full records have.
pub static FULL: [&str; 13] = {
    let mut names = [""; 13];
    let (mut at, mut count) = (0, 0);
    while at < SOFTWARE.len() {
        if let Shown::Full = SOFTWARE[at].shown {
            names[count] = SOFTWARE[at].name;
            count += 1;
        }
        at += 1;
    }
    assert!(count == names.len(), "the array is as long as there are such properties");
    names
};

/// The attributes that every directory has, in order: property and label.
pub const BUILT_IN: [(&str, &str); 5] = {
    let mut attributes = [("", ""); 5];
    let mut at = 0;
    while at < SOFTWARE.len() {
        if let Some(BuiltIn { number, label }) = SOFTWARE[at].attribute {
            attributes[number] = (SOFTWARE[at].name, label);
        }
        at += 1;
    }
    attributes
};

/// The searched properties of a record, in the order in which the index stores their words. In each
/// section, the values of searched attributes and category descriptions come after the properties'.
static SEARCHED: LazyLock<Vec<&Property>> = LazyLock::new(|| {
    let mut searched: Vec<_> = SOFTWARE.iter().filter(|property| property.searched.is_some()).collect();
    searched.sort_by_key(|property| property.searched);
    searched
});

impl Property {
    const fn new(name: &'static str, shape: Shape, description: &'static str) -> Self {
        Self {
            name,
            shape,
            description,
            max_chars: None,
            required: Required::No,
            is_strict: false,
            searched: None,
            is_translated: false,
            attribute: None,
            at_a_glance: false,
            shown: Shown::Full,
            joins: None,
        }
    }

    const fn at_most(self, chars: usize) -> Self {
        Self { max_chars: Some(chars), ..self }
    }

    const fn required(self, required: Required) -> Self {
        Self { required, is_strict: true, ..self }
    }

    /// Required in an entry, which is left out without it.
    const fn needed(self) -> Self {
        Self { required: Required::Always, ..self }
    }

    const fn strict(self) -> Self {
        Self { is_strict: true, ..self }
    }

    const fn searched(self, field: Field) -> Self {
        Self { searched: Some(field), ..self }
    }

    const fn translated(self) -> Self {
        Self { is_translated: true, ..self }
    }

    const fn attribute(self, number: usize, label: &'static str) -> Self {
        Self { attribute: Some(BuiltIn { number, label }), ..self }
    }

    const fn at_a_glance(self) -> Self {
        Self { at_a_glance: true, ..self }
    }

    const fn listed(self) -> Self {
        Self { shown: Shown::List, ..self }
    }

    const fn joins(self, other: &'static str) -> Self {
        Self { joins: Some(other), ..self }
    }

    /// Whether an object needs the property, given whether it's a record with reviewed evidence.
    pub fn is_required(&self, is_reviewed: impl FnOnce() -> bool) -> bool {
        match self.required {
            Required::Always => true,
            Required::IfReviewed => is_reviewed(),
            Required::No => false,
        }
    }

    /// The description, and the rule that its shape has beyond it.
    pub fn reference(&self) -> String {
        let rule = match self.shape {
            Shape::Name => "a string with at least one character",
            Shape::Label => "a string of at most 500 characters",
            Shape::Uri => "a URI",
            Shape::Date => "`YYYY-MM-DD`",
            Shape::OneOf(values) => {
                let values: Vec<_> = values.iter().map(|value| format!("`{value}`")).collect();
                return format!("{}: {}", self.description, values.join(", "));
            }
            Shape::IdPrefix => "1 to 32 ASCII letters, digits and `. _ : ~ -`",
            Shape::Number if self.is_strict => "a number or null",
            Shape::Count => "a whole number of 0 or more, or null; `1.0` counts as whole",
            Shape::Sources => "`[[\"label\", \"URI\"], …]`, at least one",
            Shape::Text
            | Shape::Texts
            | Shape::Number
            | Shape::Boolean
            | Shape::Source
            | Shape::Evidence
            | Shape::Translations
            | Shape::Entries(_) => return self.description.to_owned(),
        };
        format!("{} ({rule})", self.description)
    }

    /// The shape of the property of a record with this name.
    pub fn shape_of(name: &str) -> Option<Shape> {
        Self::of_software(name).map(|property| property.shape)
    }

    /// The property of a record with this name.
    pub fn of_software(name: &str) -> Option<&'static Self> {
        SOFTWARE.iter().find(|property| property.name == name)
    }
}

/// The property that a property's value belongs to: its own name, unless it joins another.
pub fn claim(property: &str) -> &str {
    Property::of_software(property).and_then(|known| known.joins).unwrap_or(property)
}

/// The searched properties of a section, in the order of their fields.
pub fn searched(section: Section) -> impl Iterator<Item = &'static Property> {
    let is_of = move |property: &&Property| property.searched.is_some_and(|field| field.section() == section);
    SEARCHED.iter().copied().filter(is_of)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_indexed_in_the_order_of_the_fields() {
        let names = Section::ALL.map(|section| searched(section).map(|property| property.name).collect::<Vec<_>>());
        assert_eq!(
            names,
            [
                &["name", "aliases"][..],
                &["tagline", "categories", "tags", "vendor", "standards", "alternative_to"],
                &["features", "deployment", "languages", "offering_type", "description"],
            ]
        );
    }

    #[test]
    fn built_in_attributes_have_an_order_of_their_own() {
        assert_eq!(BUILT_IN.map(|(property, _)| property), ["standards", "deployment", "languages", "vendor", "tags"]);
    }
}
