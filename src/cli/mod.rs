//! The command line: parses commands and options, but doesn't run anything. This is the only module
//! that uses clap.
//!
//! Every option has a flag, an environment variable and a default that works.

mod config;
mod curate;
mod keys;
mod search;
mod serve;
mod value;

use std::collections::BTreeSet;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use clap::{Args, CommandFactory, FromArgMatches as _, Parser, Subcommand, ValueEnum, ValueHint};

pub use config::ConfigError;
pub use curate::{
    AddArgs, CheckArgs, CheckFormat, DateOrderArg, Deny, DiffArgs, DiffFormat, ExportArgs, ExportFilesArgs, ImportArgs,
    InitArgs, LinkArgs, QueriesArgs, QueriesFormat, ReportArgs, ReportFormat, SetArgs, SideArgs, TableArgs,
};
pub use keys::{KeysArgs, KeysCommand, ListFormat};
pub use search::{ListArgs, MatchArgs, SearchArgs, SearchFormat, SimilarArgs};
pub use serve::{BuildProcessors, EngineArgs, EngineKind, LogFormat, PreviewArgs, PublishArgs, ServeArgs, SiteArgs};
pub use value::{ExportPrefix, Given};

/// The value of `--index` that keeps the index in memory only, and of `--data` for a server that
/// builds nothing.
pub const NONE: &str = "none";

/// The help template, with commands first. `serve --help` lists the options of `serve`, which apply
/// if there's no command.
const HELP: &str = "\
{about-with-newline}
{usage-heading} {usage}

\u{1b}[1m\u{1b}[4mCommands:\u{1b}[0m
{subcommands}

\u{1b}[1m\u{1b}[4mOptions:\u{1b}[0m
  Without a command, those of `serve`: see `software-directory serve --help`
      --config <FILE>  Configuration file (TOML); works with every command
  -h, --help           Print help; after a command, its options
  -V, --version        Print the version
";

/// Publishes a folder of export files as a searchable directory
#[derive(Debug, Parser)]
#[command(name = "software-directory", version, args_conflicts_with_subcommands = true,
          long_about = "Publishes a folder of export files as a searchable directory: an API and web \
                        pages.\n\nWithout a command, it serves ./data on http://127.0.0.1:8080 and keeps its index in ./index.",
          help_template = HELP)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Option<Command>,
    /// Configuration file, in TOML; its keys are `serve`'s long options
    #[arg(long, value_name = "FILE", global = true)]
    pub config: Option<PathBuf>,
    #[command(flatten)]
    pub serve: ServeArgs,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serve the directory (the default)
    Serve(ServeArgs),
    /// Check export files and report every error and warning
    Check(CheckArgs),
    /// Turn a spreadsheet or another table into an export
    Import(ImportArgs),
    /// Write an export's products as CSV or NDJSON
    Export(ExportArgs),
    /// Add a record to an export; it's checked before it's written
    Add(AddArgs),
    /// Change a record in an export; it's checked before it's written
    Set(SetArgs),
    /// Set up a folder: an export, its schema, a GitHub check, a README
    Init(InitArgs),
    /// Report what changed between two sets of exports
    ///
    /// Exits with 0 if nothing changed, 1 if something did, and 2 if a side can't be read.
    Diff(DiffArgs),
    /// Serve a folder to this machine only, before it's published
    ///
    /// The pages are marked as a preview, show what changes, and are updated when the files change.
    Preview(PreviewArgs),
    /// Write the directory as files, for any web server
    ///
    /// The pages have no server, so they can't be filtered or compared. To make them searchable, run
    /// Pagefind on the folder afterwards.
    Publish(PublishArgs),
    /// Report how complete and recent the records are
    Report(ReportArgs),
    /// Report the queries that found nothing, and propose synonyms
    Queries(QueriesArgs),
    /// Create, list, rotate and revoke API keys
    Keys(KeysArgs),
    /// Search the directory from the terminal
    Search(SearchArgs),
    /// List the products similar to a given one, most similar first
    Similar(SimilarArgs),
    /// Find the products that the rows of an inventory refer to
    ///
    /// Writes CSV: the best products for each row, with a score from 0 to 1, the reason, and the
    /// product's evidence. Names may have versions, editions, vendors, abbreviations and typos.
    Match(MatchArgs),
    /// Serve the directory to an assistant (Model Context Protocol)
    ///
    /// Speaks the protocol on standard input and output, and loads the exports once, at startup.
    Mcp(McpArgs),
    /// Print the OpenAPI document
    Openapi,
    /// Ask a running server whether it's ready; exits with 0 or 1
    Healthcheck(HealthcheckArgs),
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Write the man pages to a folder
    Man {
        /// The folder; it's created if it doesn't exist
        folder: PathBuf,
    },
}

/// Where the exports are and how to read them.
#[derive(Debug, Args)]
pub struct DataArgs {
    /// Folder with export files, `*.json`, or `none` to build nothing and serve an index folder that
    /// another tool fills [default: data; if that folder doesn't exist, the built-in demo]
    #[arg(long, value_name = "FOLDER", env = "SOFTWARE_DIRECTORY_DATA",
          value_parser = value::path(), value_hint = ValueHint::AnyPath, default_value = "", hide_default_value = true)]
    pub data: Given<PathBuf>,
    /// Folder for the index, or `none` to keep the index in memory only
    #[arg(long, value_name = "FOLDER", env = "SOFTWARE_DIRECTORY_INDEX", default_value = "index")]
    pub index: PathBuf,
    /// Serve the valid records and report the others
    #[arg(long, env = "SOFTWARE_DIRECTORY_SKIP_INVALID", value_parser = clap::builder::FalseyValueParser::new())]
    pub skip_invalid: bool,
    /// Prefix for an export's ids, such as `dpg=dpg:`; replaces its `id_prefix`; repeatable
    #[arg(long, value_name = "EXPORT=PREFIX", env = "SOFTWARE_DIRECTORY_ID_PREFIX", value_delimiter = ',',
          value_parser = value::id_prefix)]
    pub id_prefix: Vec<ExportPrefix>,
    /// minisign public key that may sign exports, in base64; every export then needs a valid signature
    /// beside it, such as `mine.json.minisig`; repeatable [default: signatures aren't checked]
    #[arg(long, value_name = "KEY", env = "SOFTWARE_DIRECTORY_TRUSTED_KEY", value_delimiter = ',',
          value_parser = value::trusted_key)]
    pub trusted_key: Vec<String>,
    /// Whether searches also rank by the meaning of English words, or by the words alone
    #[arg(long, value_name = "on|off", env = "SOFTWARE_DIRECTORY_MEANING", default_value = "on")]
    pub meaning: OnOff,
    /// Maximum export file size, in bytes
    #[arg(long, value_name = "BYTES", env = "SOFTWARE_DIRECTORY_MAX_FILE_BYTES", default_value_t = 256 * 1024 * 1024)]
    pub max_file_bytes: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OnOff {
    On,
    Off,
}

#[derive(Debug, Args)]
pub struct McpArgs {
    #[command(flatten)]
    pub data: DataArgs,
    /// Address at which callers reach the API, for links [default: none; links are relative]
    #[arg(long, value_name = "URL", env = "SOFTWARE_DIRECTORY_PUBLIC_URL",
          value_parser = value::text(), default_value = "", hide_default_value = true)]
    pub public_url: Given<String>,
}

#[derive(Debug, Args)]
pub struct HealthcheckArgs {
    /// Address of the server
    #[arg(long, value_name = "ADDRESS", env = "SOFTWARE_DIRECTORY_LISTEN", default_value = "127.0.0.1:8080",
          value_parser = value::listen)]
    pub listen: SocketAddr,
}

/// Parses the process's command line. If the user asked for help or made a usage error, prints it
/// and exits with 0 or 2.
///
/// # Errors
/// If the file named by `--config` can't be used.
pub fn parse() -> Result<Cli, ConfigError> {
    let mut matches = Cli::command().get_matches();
    if let Some(path) = matches.get_one::<PathBuf>("config") {
        matches = config::apply(Cli::command(), path)?.get_matches();
    }
    Ok(Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.format(&mut Cli::command()).exit()))
}

/// Writes a man page for the program and each of its commands.
///
/// # Errors
/// If the folder or a file can't be written.
pub fn write_man_pages(folder: &Path) -> io::Result<()> {
    std::fs::create_dir_all(folder)?;
    clap_mangen::generate_to(Cli::command(), folder)
}

/// The prefix of all options' environment variables.
pub const ENVIRONMENT_PREFIX: &str = "SOFTWARE_DIRECTORY_";

/// The environment variables for all commands' options.
pub fn environment_variables() -> BTreeSet<String> {
    fn collect(command: &clap::Command, names: &mut BTreeSet<String>) {
        let variables = command.get_arguments().filter_map(|argument| argument.get_env());
        names.extend(variables.map(|name| name.to_string_lossy().into_owned()));
        command.get_subcommands().for_each(|command| collect(command, names));
    }
    let mut names = BTreeSet::new();
    collect(&Cli::command(), &mut names);
    names
}

/// The completion script for a shell.
pub fn completions(shell: clap_complete::Shell) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "software-directory", &mut script);
    // When the bash generator labels its cases, it mistakes the hyphen in our name for the gap
    // before a subcommand. When it selects a case, it takes the hyphen as part of the name.
    String::from_utf8_lossy(&script).replace("software__subcmd__directory", "software__directory")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definitions_are_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn help_fits_on_a_screen_with_the_commands_first() {
        let mut command = Cli::command().term_width(80);
        for help in [command.render_help(), command.render_long_help()] {
            let help = help.to_string();
            assert!(help.lines().count() <= 40 && help.lines().all(|line| line.len() <= 80), "{help}");
            let place = |text: &str| help.find(text).unwrap_or_else(|| panic!("{text} isn't in {help}"));
            assert!(place("Commands:\n  serve ") < place("Options:\n"), "{help}");
            assert!(!help.contains("--listen") && help.contains("--config"), "{help}");
        }
    }

    #[test]
    fn serve_help_groups_its_options() {
        let mut command = Cli::command();
        command.build();
        let help = command.find_subcommand_mut("serve").expect("a command").render_help().to_string();
        let lines = help.lines().filter(|line| !line.starts_with(' '));
        let headings: Vec<_> = lines.filter_map(|line| line.strip_suffix(':')).collect();
        let expected = ["Options", "Data", "Network", "Page", "Keys", "OpenSearch", "Logging"];
        assert_eq!(headings, expected, "{help}");
    }

    #[test]
    fn every_serve_option_has_an_environment_variable() {
        let command = Cli::command();
        let without: Vec<_> = command
            .get_arguments()
            .filter(|a| !a.is_positional() && a.get_env().is_none())
            .map(|a| a.get_id().as_str())
            .filter(|id| !["help", "version", "config", "reindex", "forget", "for_server", "demo"].contains(id))
            .collect();
        assert_eq!(without, [""; 0]);
    }

    #[test]
    fn every_case_that_the_bash_script_selects_exists() {
        let script = completions(clap_complete::Shell::Bash);
        let chosen: Vec<_> =
            script.lines().filter_map(|line| line.trim().strip_prefix("cmd=\"")?.strip_suffix('"')).collect();
        assert!(chosen.len() > 10, "{script}");
        let labels: Vec<_> = script.lines().filter_map(|line| line.trim().strip_suffix(')')).collect();
        for case in chosen.into_iter().filter(|case| !case.is_empty()) {
            assert!(labels.contains(&case), "{case}");
        }
    }
}
