//! Options for `keys`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

#[derive(Debug, Args)]
pub struct KeysArgs {
    /// API key file
    #[arg(long, value_name = "FILE", env = "SOFTWARE_DIRECTORY_KEYS", default_value = "keys.json", global = true)]
    pub keys: PathBuf,
    #[command(subcommand)]
    pub command: KeysCommand,
}

#[derive(Debug, Subcommand)]
pub enum KeysCommand {
    /// Create a key and print only the key to standard output; it's never shown again
    Create {
        /// Name of the key's holder
        #[arg(long)]
        name: String,
        /// When the key expires: a date (valid through the end of that day, UTC), an RFC 3339 time,
        /// or a duration from now such as `90d`, `4w` or `12h`
        #[arg(long, value_name = "DATE")]
        expires: Option<String>,
        /// Requests per minute, such as `600` or `600/min`, or `none` for no limit
        #[arg(long, value_name = "N/min", default_value = "600/min")]
        rate: String,
        /// Web origin that may use the key, such as `https://example.org`; repeatable [default:
        /// any]
        #[arg(long, value_name = "URL")]
        origin: Vec<String>,
    },
    /// List the keys, without their secrets
    List {
        /// Output format
        #[arg(long, value_name = "FORMAT", default_value = "text")]
        format: ListFormat,
    },
    /// Create a key to replace an existing one, and print only the new key to standard output; both
    /// are valid for a while
    Rotate {
        /// The key's id (see `keys list`)
        id: String,
        /// How much longer the old key is valid, such as `7d`, `4w` or `12h`, or its last day
        #[arg(long, value_name = "TIME", default_value = "7d")]
        overlap: String,
    },
    /// Revoke a key; a running server rejects it within two seconds
    Revoke {
        /// The key's id (see `keys list`)
        id: String,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ListFormat {
    /// A table
    Text,
    /// A JSON array
    Json,
}
