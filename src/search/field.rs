//! The searchable fields of a record and the sections they belong to.

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
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
    /// How the product can be run, its languages, and whether it's software or a template.
    Setting,
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
            Self::Feature | Self::Setting | Self::Description | Self::CategoryDescription => Section::Body,
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
