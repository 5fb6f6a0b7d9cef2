//! Options for `search` and `similar`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::DataArgs;

#[derive(Debug, Args)]
pub struct SearchArgs {
    #[command(flatten)]
    pub list: ListArgs,
    /// Explain how the query was understood and why each hit ranks where it does
    #[arg(long)]
    pub explain: bool,
    /// Explain why the product with this id ranks where it does, or isn't found
    #[arg(long, value_name = "ID")]
    pub why: Option<String>,
    /// Words to search for; after `--`, a word may start with a hyphen, which excludes it
    #[arg(required = true, value_name = "WORDS")]
    pub words: Vec<String>,
}

#[derive(Debug, Args)]
pub struct SimilarArgs {
    #[command(flatten)]
    pub list: ListArgs,
    /// Id of the product
    #[arg(value_name = "ID")]
    pub id: String,
}

/// Options for a list of products: where the exports are, how many products to show, the format,
/// and filters.
#[derive(Debug, Args)]
pub struct ListArgs {
    #[command(flatten)]
    pub data: DataArgs,
    /// How many products to show, 1 to 100
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub limit: u32,
    /// Output format
    #[arg(long, value_enum, default_value_t = SearchFormat::Text)]
    pub format: SearchFormat,
    /// Only products in this category, by id or name in any language; repeat to allow several
    #[arg(long, value_name = "CATEGORY")]
    pub category: Vec<String>,
    /// Only products rated at least this high, 0 to 5
    #[arg(long, value_name = "RATING", value_parser = rating)]
    pub min_rating: Option<f64>,
    /// Only products for this standard; repeat to allow several
    #[arg(long, value_name = "STANDARD")]
    pub standards: Vec<String>,
    /// Only products that can be deployed this way; repeat to allow several
    #[arg(long, value_name = "DEPLOYMENT")]
    pub deployment: Vec<String>,
    /// Only products in this language; repeat to allow several
    #[arg(long, value_name = "LANGUAGE")]
    pub languages: Vec<String>,
    /// Only products from this vendor; repeat to allow several
    #[arg(long, value_name = "VENDOR")]
    pub vendor: Vec<String>,
    /// Only products with this tag; repeat to allow several
    #[arg(long, value_name = "TAG")]
    pub tags: Vec<String>,
    /// Only products with this attribute value, such as `licence:MIT`, or a range of numbers or
    /// dates, such as `price:10..50`; repeatable: values of one attribute are alternatives, and all
    /// attributes must match
    #[arg(long, value_name = "ATTRIBUTE:VALUE", value_parser = attribute)]
    pub attribute: Vec<(String, String)>,
    /// Output language, such as `de`, if the directory has text in that language
    #[arg(long, value_name = "LANGUAGE")]
    pub lang: Option<String>,
}

#[derive(Debug, Args)]
pub struct MatchArgs {
    /// The inventory: CSV, a workbook (.xlsx, .ods), NDJSON, JSON or YAML with records, or Markdown
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    #[command(flatten)]
    pub data: DataArgs,
    /// The column with the products' names [default: the one that `import` would use]
    #[arg(long, value_name = "COLUMN")]
    pub name_column: Option<String>,
    /// The column with the vendors' names [default: the one that `import` would use, if any]
    #[arg(long, value_name = "COLUMN")]
    pub vendor_column: Option<String>,
    /// Which worksheet of a workbook to read, or which list in JSON, YAML or Markdown
    #[arg(long, value_name = "NAME")]
    pub sheet: Option<String>,
    /// File to write [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Overwrite the file
    #[arg(long)]
    pub force: bool,
    /// Maximum number of products for each row
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub limit: usize,
}

fn rating(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|rating| (0.0..=5.0).contains(rating))
        .ok_or_else(|| "write a number from 0 to 5".to_owned())
}

fn attribute(text: &str) -> Result<(String, String), String> {
    let (property, value) = text.split_once(':').ok_or("write an attribute and a value, such as licence:MIT")?;
    Ok((property.to_owned(), value.to_owned()))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SearchFormat {
    /// Human-readable text
    Text,
    /// The API's response
    Json,
}
