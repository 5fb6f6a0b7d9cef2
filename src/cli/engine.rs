//! The engine's options: whether it runs in this process or in a cluster, and how to reach it.

use std::num::NonZeroU16;
use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};

use super::given::{self, Given};

use crate::opensearch::{IndexPrefix, IndexPrefixError};

/// Options for the engine.
#[derive(Debug, Default, Args)]
pub struct EngineArgs {
    /// Where the index lives: in this process, or in an OpenSearch cluster, which lets servers run
    /// without exports
    #[arg(long, value_name = "ENGINE", env = "SOFTWARE_DIRECTORY_ENGINE", default_value = "embedded")]
    pub engine: EngineKind,
    /// Address of a cluster node, such as `https://search-1.example:9200`; repeatable: list every
    /// data node
    #[arg(long, value_name = "URL", env = "SOFTWARE_DIRECTORY_ENGINE_URL", value_delimiter = ',')]
    pub engine_url: Vec<String>,
    /// Prefix for the directory's index names; a cluster can contain one directory per prefix
    #[arg(long, value_name = "PREFIX", env = "SOFTWARE_DIRECTORY_ENGINE_INDEX_PREFIX", default_value_t, value_parser = index_prefix)]
    pub engine_index_prefix: IndexPrefix,
    /// Number of shards in the product index that `--reindex` creates [default: one per 4,000,000
    /// products]
    #[arg(long, value_name = "COUNT", env = "SOFTWARE_DIRECTORY_ENGINE_SHARDS")]
    pub engine_shards: Option<NonZeroU16>,
    /// PEM file with the certificate of the authority that signed the nodes' certificates [default:
    /// the machine's trusted authorities]
    #[arg(long, value_name = "FILE", env = "SOFTWARE_DIRECTORY_ENGINE_CA_FILE",
          value_parser = given::path(), value_hint = ValueHint::AnyPath, default_value = "", hide_default_value = true)]
    pub engine_ca_file: Given<PathBuf>,
    /// User name for the cluster [default: none]
    #[arg(long, value_name = "NAME", env = "SOFTWARE_DIRECTORY_ENGINE_USER",
          value_parser = given::text(), default_value = "", hide_default_value = true)]
    pub engine_user: Given<String>,
    /// File with the user's password on a single line [default: none]
    #[arg(long, value_name = "FILE", env = "SOFTWARE_DIRECTORY_ENGINE_PASSWORD_FILE",
          value_parser = given::path(), value_hint = ValueHint::AnyPath, default_value = "", hide_default_value = true)]
    pub engine_password_file: Given<PathBuf>,
    /// File with a key for the cluster, instead of a user and password: a single line with a bearer
    /// token, or with `ApiKey` and a key [default: none]
    #[arg(long, value_name = "FILE", env = "SOFTWARE_DIRECTORY_ENGINE_KEY_FILE",
          value_parser = given::path(), value_hint = ValueHint::AnyPath, default_value = "", hide_default_value = true)]
    pub engine_key_file: Given<PathBuf>,
}

/// An empty variable counts as unset.
fn index_prefix(text: &str) -> Result<IndexPrefix, IndexPrefixError> {
    if text.is_empty() { Ok(IndexPrefix::default()) } else { text.parse() }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum EngineKind {
    /// In this process
    #[default]
    Embedded,
    /// An OpenSearch cluster
    Opensearch,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_prefix_is_the_default_and_an_invalid_one_is_explained() {
        assert_eq!(index_prefix("").expect("a prefix"), IndexPrefix::default());
        assert_eq!(index_prefix("news").expect("a prefix").to_string(), "news");
        assert!(index_prefix("News").expect_err("a capital").to_string().contains("such as software-directory"));
    }
}
