//! The text in a product's JSON that can have matches.

use std::borrow::Cow;

use foldhash::HashMap;
use serde::Deserialize;
use serde_json::value::RawValue;

/// Text, borrowed unless it has escapes. In lists and options, serde only borrows if there's a
/// wrapper like this.
#[derive(Debug, Deserialize)]
pub(super) struct Text<'a>(#[serde(borrow)] pub(super) Cow<'a, str>);

#[derive(Debug, Deserialize)]
pub(super) struct Category<'a> {
    #[serde(borrow)]
    pub(super) id: Cow<'a, str>,
    pub(super) name: Text<'a>,
}

#[derive(Debug, Deserialize)]
pub(super) struct CategoryId<'a> {
    #[serde(borrow)]
    pub(super) id: Cow<'a, str>,
}

/// The text in a product's list item that can have matches.
#[derive(Debug, Deserialize)]
pub(super) struct ItemTexts<'a> {
    #[serde(borrow)]
    pub(super) name: Text<'a>,
    pub(super) tagline: Option<Text<'a>>,
    pub(super) categories: Vec<Category<'a>>,
    pub(super) vendor: Option<Text<'a>>,
}

/// The text in a product's detail fields that can have matches. The type parameter decides whether
/// to read the description, because most descriptions are long.
#[derive(Debug, Deserialize)]
pub(super) struct DetailTexts<'a, D> {
    /// All of the product's categories, if its item has only the first few.
    pub(super) categories: Option<Vec<CategoryId<'a>>>,
    pub(super) description: Option<D>,
    #[serde(borrow)]
    pub(super) aliases: Vec<Text<'a>>,
    pub(super) tags: Vec<Text<'a>>,
    pub(super) features: Vec<Text<'a>>,
    pub(super) standards: Vec<Text<'a>>,
    pub(super) alternative_to: Vec<Text<'a>>,
}

/// A product's values for the attributes that exports declare, which are among its detail fields.
#[derive(Debug, Deserialize)]
pub(super) struct DeclaredTexts<'a> {
    #[serde(borrow)]
    pub(super) additional_properties: HashMap<Cow<'a, str>, &'a RawValue>,
}
