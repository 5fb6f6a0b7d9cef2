//! The options of `search` and `similar`.

use clap::{Args, ValueEnum};

use super::DataArgs;

/// Options of `search`.
#[derive(Debug, Args)]
pub struct SearchArgs {
    /// Which products.
    #[command(flatten)]
    pub list: ListArgs,
    /// Explain what the query became and what ranked each hit
    #[arg(long)]
    pub explain: bool,
    /// Explain why the product with this id is found where it is, or isn't found
    #[arg(long, value_name = "ID")]
    pub why: Option<String>,
    /// Words to search for; behind `--` they may begin with a hyphen, which excludes a word
    #[arg(required = true, value_name = "WORDS")]
    pub words: Vec<String>,
}

/// Options of `similar`.
#[derive(Debug, Args)]
pub struct SimilarArgs {
    /// Which products.
    #[command(flatten)]
    pub list: ListArgs,
    /// Id of the product
    #[arg(value_name = "ID")]
    pub id: String,
}

/// A list of products: where they are, how many to show and how, and filters.
#[derive(Debug, Args)]
pub struct ListArgs {
    /// Where the exports are.
    #[command(flatten)]
    pub data: DataArgs,
    /// How many products to show, 1 to 100
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub limit: u32,
    /// How to print the result
    #[arg(long, value_enum, default_value_t = SearchFormat::Text)]
    pub format: SearchFormat,
    /// Only products in this category, by name or id; repeatable: any of them
    #[arg(long, value_name = "CATEGORY")]
    pub category: Vec<String>,
    /// Only products with a rating of at least this, 0 to 5
    #[arg(long, value_name = "RATING", value_parser = rating)]
    pub min_rating: Option<f64>,
    /// Only products for this standard; repeatable: any of them
    #[arg(long, value_name = "STANDARD")]
    pub standards: Vec<String>,
    /// Only products that can be run in this way; repeatable: any of them
    #[arg(long, value_name = "DEPLOYMENT")]
    pub deployment: Vec<String>,
    /// Only products in this language; repeatable: any of them
    #[arg(long, value_name = "LANGUAGE")]
    pub languages: Vec<String>,
    /// Only products of this vendor; repeatable: any of them
    #[arg(long, value_name = "VENDOR")]
    pub vendor: Vec<String>,
    /// Only products with this tag; repeatable: any of them
    #[arg(long, value_name = "TAG")]
    pub tags: Vec<String>,
    /// Only products with this value of an attribute, such as `licence:MIT` or, of numbers and days, a range such as `price:10..50`;
    /// repeatable: any of one attribute's values, and all attributes
    #[arg(long, value_name = "ATTRIBUTE:VALUE", value_parser = attribute)]
    pub attribute: Vec<(String, String)>,
    /// The language of the texts, such as `de`, if the directory has any in it
    #[arg(long, value_name = "LANGUAGE")]
    pub lang: Option<String>,
}

fn rating(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|rating| (0.0..=5.0).contains(rating))
        .ok_or_else(|| "a number from 0 to 5 is needed".to_owned())
}

fn attribute(text: &str) -> Result<(String, String), String> {
    let (property, value) = text.split_once(':').ok_or("an attribute and a value are needed, such as licence:MIT")?;
    Ok((property.to_owned(), value.to_owned()))
}

/// How products are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SearchFormat {
    /// For people
    Text,
    /// The response of the API
    Json,
}
