//! The options of the engine: in the process, or a cluster.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::given::{self, Given};

/// Options of the engine.
#[derive(Debug, Default, Args)]
pub struct EngineArgs {
    /// Where the index is: in this process, or in an OpenSearch cluster, from which servers serve without exports
    #[arg(long, value_name = "ENGINE", env = "SOFTWARE_DIRECTORY_ENGINE", default_value = "embedded")]
    pub engine: EngineKind,
    /// Address of a node of the cluster, such as `https://search-1.example:9200`; repeatable: name each data node
    #[arg(long, value_name = "URL", env = "SOFTWARE_DIRECTORY_ENGINE_URL", value_delimiter = ',')]
    pub engine_url: Vec<String>,
    /// PEM file of the certification authority that signed the nodes' certificates [default: the machine's authorities]
    #[arg(long, value_name = "FILE", env = "SOFTWARE_DIRECTORY_ENGINE_CA_FILE", value_parser = given::path(),
          default_value = "", hide_default_value = true)]
    pub engine_ca_file: Given<PathBuf>,
    /// User of the cluster [default: none]
    #[arg(long, value_name = "NAME", env = "SOFTWARE_DIRECTORY_ENGINE_USER", value_parser = given::text,
          default_value = "", hide_default_value = true)]
    pub engine_user: Given<String>,
    /// File with the user's password: one line [default: none]
    #[arg(long, value_name = "FILE", env = "SOFTWARE_DIRECTORY_ENGINE_PASSWORD_FILE", value_parser = given::path(),
          default_value = "", hide_default_value = true)]
    pub engine_password_file: Given<PathBuf>,
    /// File with a key for the cluster, in place of user and password: one line, a bearer token or `ApiKey` and a key [default: none]
    #[arg(long, value_name = "FILE", env = "SOFTWARE_DIRECTORY_ENGINE_KEY_FILE", value_parser = given::path(),
          default_value = "", hide_default_value = true)]
    pub engine_key_file: Given<PathBuf>,
}

/// An engine.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum EngineKind {
    /// In this process
    #[default]
    Embedded,
    /// An OpenSearch cluster
    Opensearch,
}
