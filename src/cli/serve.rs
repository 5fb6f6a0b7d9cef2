//! Options for `serve` and `preview`.

use std::net::SocketAddr;
use std::num::NonZeroU16;
use std::path::PathBuf;

use clap::builder::Resettable;
use clap::{Args, Command, FromArgMatches as _, ValueEnum, ValueHint};

use super::value::{self, Given};
use super::{DataArgs, SideArgs};
use crate::key::{Origin, Rate};
use crate::opensearch::{IndexPrefix, IndexPrefixError};

#[derive(Debug, Args)]
pub struct ServeArgs {
    /// Rebuild the index from the exports, report the result, and exit; a running server picks it
    /// up
    #[arg(long)]
    pub reindex: bool,
    /// Erase everything the index remembers about a product that's no longer in the exports, except
    /// that it was removed; repeatable
    #[arg(long, value_name = "ID", requires = "reindex", conflicts_with = "for_server")]
    pub forget: Vec<String>,
    /// Build on behalf of a server that reads messages from standard output, using these
    /// processors, and hold back whatever that server would
    #[arg(long, value_name = "PROCESSORS", hide = true, requires = "reindex")]
    pub for_server: Option<BuildProcessors>,
    /// The demo records that the server serves beside its exports
    #[arg(long, value_name = "FILE", hide = true, requires = "for_server")]
    pub demo: Option<PathBuf>,
    #[command(flatten, next_help_heading = "Data")]
    pub data: DataArgs,
    /// Memory limit for a build, in bytes [default: three quarters of the machine's memory]
    #[arg(long, value_name = "BYTES", env = "SOFTWARE_DIRECTORY_MAX_BUILD_BYTES", help_heading = "Data")]
    pub max_build_bytes: Option<u64>,
    /// Hold back a set of exports that would remove more than this percentage of the records
    #[arg(long, value_name = "PERCENT", env = "SOFTWARE_DIRECTORY_MAX_REMOVED", default_value_t = 50,
          value_parser = clap::value_parser!(u8).range(0..=100), help_heading = "Data")]
    pub max_removed: u8,
    /// Address to listen on, or a port on 127.0.0.1; port 0 picks a free one
    #[arg(long, value_name = "ADDRESS", env = "SOFTWARE_DIRECTORY_LISTEN", default_value = "127.0.0.1:8080",
          value_parser = value::listen, help_heading = "Network")]
    pub listen: SocketAddr,
    /// Address at which callers reach the service, for absolute links [default: none]
    #[arg(long, value_name = "URL", env = "SOFTWARE_DIRECTORY_PUBLIC_URL",
          value_parser = value::text(), default_value = "", hide_default_value = true, help_heading = "Network")]
    pub public_url: Given<String>,
    /// Address or network of a proxy whose X-Forwarded-For is trusted; repeatable
    #[arg(long, value_name = "CIDR", env = "SOFTWARE_DIRECTORY_TRUSTED_PROXY", value_delimiter = ',',
          value_parser = value::network, help_heading = "Network")]
    pub trusted_proxy: Vec<ipnet::IpNet>,
    /// Address that serves GET /metrics to Prometheus, without a key; port 0 picks a free one
    /// [default: none]
    #[arg(long, value_name = "ADDRESS", env = "SOFTWARE_DIRECTORY_METRICS_LISTEN", value_parser = value::listen,
          help_heading = "Network")]
    pub metrics_listen: Option<SocketAddr>,
    /// Let visitors use the pages without a key, with this many requests per minute per address,
    /// such as `300/min` [default: the pages ask for a key]
    #[arg(long, value_name = "N/min", env = "SOFTWARE_DIRECTORY_PUBLIC_PAGE", value_parser = value::rate,
          help_heading = "Page")]
    pub public_page: Option<Rate>,
    /// Let anyone use the API and /mcp without a key, with this many requests per minute per address,
    /// such as `300/min` [default: every request needs a key]
    #[arg(long, value_name = "N/min", env = "SOFTWARE_DIRECTORY_PUBLIC_API", value_parser = value::rate,
          help_heading = "Keys")]
    pub public_api: Option<Rate>,
    #[command(flatten, next_help_heading = "Page")]
    pub site: SiteArgs,
    /// Site that may embed public pages in frames, such as `https://www.example.org`; repeatable
    #[arg(
        long,
        value_name = "ORIGIN",
        env = "SOFTWARE_DIRECTORY_EMBED_ORIGIN",
        value_delimiter = ',',
        help_heading = "Page"
    )]
    pub embed_origin: Vec<Origin>,
    /// API key file (see `keys create`) [default: keys.json]
    #[arg(long, value_name = "FILE", env = "SOFTWARE_DIRECTORY_KEYS", help_heading = "Keys")]
    pub keys: Option<PathBuf>,
    /// A removed option. Ignoring it would serve the wrong directory.
    #[arg(long, env = "SOFTWARE_DIRECTORY_FOLLOW", value_parser = value::checked(no_longer_follows), default_value = "",
          hide = true)]
    pub follow: Given<String>,
    #[command(flatten, next_help_heading = "OpenSearch")]
    pub engine: EngineArgs,
    /// Log filter, such as `info` or `software_directory=debug`
    #[arg(
        long,
        value_name = "FILTER",
        env = "SOFTWARE_DIRECTORY_LOG",
        default_value = "info",
        help_heading = "Logging"
    )]
    pub log: String,
    /// Log format on standard error
    #[arg(
        long,
        value_name = "FORMAT",
        env = "SOFTWARE_DIRECTORY_LOG_FORMAT",
        default_value = "text",
        help_heading = "Logging"
    )]
    pub log_format: LogFormat,
    /// Log a line for each request: method, path, status, bytes, duration, and the key's id
    #[arg(long, env = "SOFTWARE_DIRECTORY_ACCESS_LOG", value_parser = clap::builder::FalseyValueParser::new(),
          help_heading = "Logging")]
    pub access_log: bool,
    /// Include each request's query in the log
    #[arg(long, env = "SOFTWARE_DIRECTORY_LOG_QUERIES", value_parser = clap::builder::FalseyValueParser::new(),
          help_heading = "Logging")]
    pub log_queries: bool,
    /// File in which to count searches without hits, for the `queries` command; it contains nothing
    /// about callers [default: none]
    #[arg(long, value_name = "FILE", env = "SOFTWARE_DIRECTORY_EMPTY_QUERIES",
          value_parser = value::path(), value_hint = ValueHint::AnyPath, default_value = "", hide_default_value = true,
          help_heading = "Logging")]
    pub empty_queries: Given<PathBuf>,
}

impl ServeArgs {
    /// The options' defaults, whatever the environment says.
    pub fn defaults() -> Self {
        let command = Self::augment_args(Command::new("serve")).no_binary_name(true);
        let matches = command.mut_args(|option| option.env(Resettable::Reset)).get_matches_from([""; 0]);
        Self::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
    }
}

/// What the pages say about the site.
#[derive(Debug, Default, Args)]
pub struct SiteArgs {
    /// Title for the pages and the documentation [default: Software Directory]
    #[arg(long, value_name = "TEXT", env = "SOFTWARE_DIRECTORY_SITE_TITLE",
          value_parser = value::checked(value::title), default_value = "", hide_default_value = true)]
    pub site_title: Given<String>,
    /// Introduction for the home page [default: none]
    #[arg(long, value_name = "TEXT", env = "SOFTWARE_DIRECTORY_SITE_INTRODUCTION",
          value_parser = value::checked(value::introduction), default_value = "", hide_default_value = true)]
    pub site_introduction: Given<String>,
    /// The table `[site]` of the configuration file, as JSON [default: none]
    #[arg(long, value_name = "JSON", env = "SOFTWARE_DIRECTORY_SITE",
          value_parser = value::text(), default_value = "", hide_default_value = true)]
    pub site: Given<String>,
}

#[derive(Debug, Args)]
pub struct PublishArgs {
    /// Folder to write; it's replaced as a whole, and may only contain what this command wrote
    #[arg(value_name = "FOLDER")]
    pub folder: PathBuf,
    #[command(flatten)]
    pub data: DataArgs,
    /// Address of the published pages, for absolute links, feeds and the sitemap [default: none; links
    /// are relative, and there are no feeds and no sitemap]
    #[arg(long, value_name = "URL", env = "SOFTWARE_DIRECTORY_PUBLIC_URL",
          value_parser = value::text(), default_value = "", hide_default_value = true)]
    pub public_url: Given<String>,
    /// Path at which the folder is served, such as `/directory`, if there's no public URL
    #[arg(long, value_name = "PATH", default_value = "/")]
    pub base_path: String,
    /// Another language to write the pages in besides the directory's own, such as `de`; repeatable
    #[arg(long, value_name = "LANGUAGE", value_delimiter = ',')]
    pub language: Vec<String>,
    #[command(flatten)]
    pub site: SiteArgs,
}

/// Which processors a server's build may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum BuildProcessors {
    /// One: the server needs the others.
    One,
    /// All, because nothing is being served yet.
    All,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// Human-readable text
    Text,
    /// One JSON object per line
    Json,
}

/// Rejects any value except an empty one.
fn no_longer_follows(text: &str) -> Result<String, &'static str> {
    let replaced = "servers no longer follow each other; copy the index folder and serve it with --data none, as described under \
                    Replicas in docs/operations.md";
    if text.is_empty() { Ok(String::new()) } else { Err(replaced) }
}

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
          value_parser = value::path(), value_hint = ValueHint::AnyPath, default_value = "", hide_default_value = true)]
    pub engine_ca_file: Given<PathBuf>,
    /// User name for the cluster [default: none]
    #[arg(long, value_name = "NAME", env = "SOFTWARE_DIRECTORY_ENGINE_USER",
          value_parser = value::text(), default_value = "", hide_default_value = true)]
    pub engine_user: Given<String>,
    /// File with the user's password on a single line [default: none]
    #[arg(long, value_name = "FILE", env = "SOFTWARE_DIRECTORY_ENGINE_PASSWORD_FILE",
          value_parser = value::path(), value_hint = ValueHint::AnyPath, default_value = "", hide_default_value = true)]
    pub engine_password_file: Given<PathBuf>,
    /// File with a key for the cluster, instead of a user and password: a single line with a bearer
    /// token, or with `ApiKey` and a key [default: none]
    #[arg(long, value_name = "FILE", env = "SOFTWARE_DIRECTORY_ENGINE_KEY_FILE",
          value_parser = value::path(), value_hint = ValueHint::AnyPath, default_value = "", hide_default_value = true)]
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

#[derive(Debug, Args)]
pub struct PreviewArgs {
    /// Folder with export files, `*.json`, that aren't published yet
    #[arg(value_name = "CANDIDATE")]
    pub candidate: PathBuf,
    /// The published exports: a file, a folder, a Git revision and path such as `HEAD:data`, or a
    /// generation in an index [default: the data folder, data]
    #[arg(long, value_name = "EXPORTS", env = "SOFTWARE_DIRECTORY_DATA",
          value_parser = value::path(), value_hint = ValueHint::AnyPath, default_value = "", hide_default_value = true)]
    pub against: Given<PathBuf>,
    /// Address on this machine to listen on, or a port on 127.0.0.1; port 0 picks a free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8081", value_parser = value::loopback)]
    pub listen: SocketAddr,
    /// How candidate and published exports are read.
    #[command(flatten)]
    pub sides: SideArgs,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_those_without_options() {
        let serve = ServeArgs::defaults();
        assert_eq!((&*serve.log, serve.max_removed, serve.engine.engine), ("info", 50, EngineKind::Embedded));
        assert_eq!((serve.data.data, serve.keys, serve.site.site_title), (None, None, None));
    }

    #[test]
    fn an_empty_prefix_is_the_default_and_an_invalid_one_is_explained() {
        assert_eq!(index_prefix("").expect("a prefix"), IndexPrefix::default());
        assert_eq!(index_prefix("news").expect("a prefix").to_string(), "news");
        assert!(index_prefix("News").expect_err("a capital").to_string().contains("such as software-directory"));
    }
}
