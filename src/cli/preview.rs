//! Options for `preview`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::given::{self, Given};
use super::{SideArgs, address};

/// Options for `preview`.
#[derive(Debug, Args)]
pub struct PreviewArgs {
    /// Folder with export files, `*.json`, that aren't published yet
    #[arg(value_name = "CANDIDATE")]
    pub candidate: PathBuf,
    /// The published exports: a file, a folder, a Git revision and path such as `HEAD:data`, or a
    /// generation in an index [default: the data folder, data]
    #[arg(long, value_name = "EXPORTS", env = "SOFTWARE_DIRECTORY_DATA",
          value_parser = given::path(), value_hint = ValueHint::AnyPath, default_value = "", hide_default_value = true)]
    pub against: Given<PathBuf>,
    /// Address on this machine to listen on, or a port on 127.0.0.1; port 0 picks a free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8081", value_parser = address::loopback)]
    pub listen: SocketAddr,
    /// How candidate and published exports are read.
    #[command(flatten)]
    pub sides: SideArgs,
}
