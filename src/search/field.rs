//! The parts of a record that a search reads.

/// A searchable part of a product's record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Field {
    Name,
    /// Another name of the product.
    Alias,
    /// The short description.
    Tagline,
    /// The name of a category it is in.
    Category,
    Tag,
    Vendor,
    Standard,
    /// A product that it can replace.
    AlternativeTo,
    Feature,
    /// How it can be run, in which languages, and whether it is software or templates.
    Setting,
    /// The long description.
    Description,
    CategoryDescription,
}

impl Field {
    /// Which part of a document the field is in.
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

/// A group of fields, the unit of field lengths and of the rerank.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Section {
    /// Name and aliases.
    Name,
    /// The short fields.
    Summary,
    /// The long ones.
    Body,
}

impl Section {
    /// All sections, in the order a document holds them.
    pub const ALL: [Self; 3] = [Self::Name, Self::Summary, Self::Body];
}
