//! `serve` publishes the directory, and `preview` shows a candidate for it to this machine.

mod empty_queries;
mod preview;
mod server;
mod sockets;
mod source;

use std::net::SocketAddr;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;

use tokio::runtime::Runtime;
use tokio::task::JoinHandle;

use self::empty_queries::QueryFile;
use self::sockets::HandedOver;
use self::source::{Generations, Source};
use super::log::{self, Log};
use super::progress::Terminal;
use super::{Failure, data, opensearch, print_error, reindex};
use crate::cli::{ENVIRONMENT_PREFIX, LogFormat, PreviewArgs, ServeArgs, SiteArgs, environment_variables};
use crate::file::folder_of;
use crate::generation::{Observer, Settings};
use crate::http::{AppState, Face, HttpConfig, PublicUrl};
use crate::key::access::{Access, access};
use crate::key::{self, ApiKey, KeyStore};
use crate::opensearch::Index;
use crate::panics;
use crate::update::Directory;

/// Serves, or with `--reindex` only builds. Exit codes: 0 stopped or built, 1 failed, 2 usage error
/// or exports that can't be served.
pub(super) fn run(args: &ServeArgs) -> ExitCode {
    let demo = args.demo.clone().or_else(|| data::demo(&args.data, args.keys.as_deref()));
    let settings = data::settings(&args.data, demo, args.max_removed);
    match args.for_server {
        Some(processors) => reindex::run_for_server(args, processors, &settings),
        None if args.reindex => run_logged(args, |log| rebuild(args, &settings, log)),
        None => run_logged(args, |log| serve(args, None, settings, log)),
    }
}

/// Serves a candidate to this machine, with its own key, ignoring a service's sockets and
/// environment. Exit codes: 0 stopped, 1 failed, 2 usage error.
pub(super) fn run_preview(preview: &PreviewArgs) -> Result<ExitCode, Failure> {
    preview::check(&preview.candidate)?;
    let args = preview::serve_args(preview);
    let settings = data::settings(&args.data, None, args.max_removed);
    Ok(run_logged(&args, |log| serve(&args, Some(preview), settings, log)))
}

/// Runs a program with a log, whose last message says why it failed.
fn run_logged(args: &ServeArgs, program: impl FnOnce(&Log) -> Result<(), Failure>) -> ExitCode {
    let log = match log::start(&args.log, args.access_log, args.log_format) {
        Ok(log) => log,
        Err(failure) => {
            print_error(&failure.text);
            return ExitCode::from(failure.code);
        }
    };
    // Panics are caught here because the panic hook prints nothing.
    let done = panics::catch(|| {
        warn_of_unknown_variables();
        program(&log)
    });
    let done = done.unwrap_or_else(|panic| Err(Failure { text: format!("the program failed: {panic}"), code: 1 }));
    let code = match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            match args.log_format {
                // Every line must be a JSON object, including the last message.
                LogFormat::Json => tracing::error!("{}", failure.text),
                LogFormat::Text => log.text(format!("error: {}\n", failure.text).as_bytes()),
            }
            ExitCode::from(failure.code)
        }
    };
    log.flush();
    code
}

/// Builds a generation, or brings a cluster's indices up to date.
fn rebuild(args: &ServeArgs, settings: &Settings, log: &Log) -> Result<(), Failure> {
    match Source::of(args)? {
        Source::Exports => reindex::run(args, settings, log),
        Source::Cluster(connection) => {
            data::check(&args.data)?;
            opensearch::reindex(args, settings, connection, log)
        }
        Source::IndexFolder(_) => {
            Err(Failure::usage("--reindex builds from exports, so it can't be combined with --data none"))
        }
    }
}

/// Serves until the process is told to stop.
fn serve(args: &ServeArgs, preview: Option<&PreviewArgs>, mut settings: Settings, log: &Log) -> Result<(), Failure> {
    let source = Source::of(args)?;
    if matches!(source, Source::Cluster(_)) && args.data.data.is_some() {
        return Err(Failure::usage(
            "with --engine opensearch a server reads no exports: leave out --data (SOFTWARE_DIRECTORY_DATA), or fill the \
             cluster with --reindex",
        ));
    }
    let public_url = args.public_url.as_deref().map(PublicUrl::parse).transpose();
    let public_url = public_url.map_err(|error| Failure::usage(error.to_string()))?;
    let sockets = if preview.is_some() { HandedOver::default() } else { HandedOver::take()? };
    let (keys, development) = match preview {
        Some(_) => preview_keys()?,
        None => keys(args, sockets.address(args)?)?,
    };
    let directory = Arc::new(Directory::default());
    let terminal = Terminal::new(args.log_format, log.clone());
    let (shown, observer): (_, Box<dyn Observer>) = match preview {
        Some(preview) => {
            let (shown, observer) = preview::start(preview, terminal, &directory)?;
            (Some(shown), Box::new(observer))
        }
        None => (None, Box::new(terminal)),
    };
    let query_file = args.empty_queries.as_deref().map(QueryFile::open).transpose()?.map(Arc::new);
    let config = HttpConfig {
        embed_origins: args.embed_origin.clone(),
        public_url,
        trusted_proxies: args.trusted_proxy.clone(),
        log_queries: args.log_queries,
        public_page: args.public_page,
        public_api: args.public_api,
        empty_queries: query_file.as_deref().map(|file| Arc::clone(&file.queries)),
        preview: shown,
        ..site_config(&args.site)?
    };
    let index = match &source {
        Source::Cluster(connection) => {
            Some(Index::new(Arc::clone(connection), args.engine.engine_index_prefix.clone()))
        }
        Source::Exports | Source::IndexFolder(_) => None,
    };
    let state = AppState::new(Arc::clone(&directory), index.clone(), Arc::new(keys), config)?;
    state.metrics.add_counter(log.dropped.clone())?;
    let runtime = runtime()?;
    let generations = match (source, index) {
        (_, Some(index)) => {
            Generations::in_opensearch(index, directory, &args.engine.engine_url, runtime.handle().clone())
        }
        (Source::IndexFolder(folder), None) => Generations::copied(*folder, &args.data.index, directory),
        (Source::Exports | Source::Cluster(_), None) => {
            settings.process = reindex::process(args, &settings)?;
            Generations::built(settings, observer, directory, preview.is_some())
        }
    };
    let _entered = runtime.enter();
    let writing = query_file.clone().map(|file| runtime.spawn(file.write_regularly()));
    let served = runtime.block_on(server::run(args, sockets, state, generations, development));
    if let Some(file) = query_file {
        writing.inspect(JoinHandle::abort);
        file.write_and_log();
    }
    served
}

pub(super) fn site_config(args: &SiteArgs) -> Result<HttpConfig, Failure> {
    let site = args.site.as_deref().map(Face::read).transpose();
    let site = site.map_err(|problems| Failure::usage(problems.join("\n")))?.unwrap_or_default();
    let mut config = HttpConfig { site_introduction: args.site_introduction.clone(), ..HttpConfig::default() };
    if let Some(title) = args.site_title.as_deref().or_else(|| site.title()) {
        title.clone_into(&mut config.site_title);
    }
    config.site = if args.site_title.is_some() { site.without_title() } else { site };
    Ok(config)
}

/// A preview's key, which lasts as long as the preview runs. No key file replaces it.
fn preview_keys() -> Result<(KeyStore, Option<ApiKey>), Failure> {
    let key = key::access::obtain(None)?.key;
    Ok((KeyStore::development(&key, Path::new("")), Some(key)))
}

/// The accepted keys, and the development key if it's the only one.
fn keys(args: &ServeArgs, listen: SocketAddr) -> Result<(KeyStore, Option<ApiKey>), Failure> {
    let has_proxy = !args.trusted_proxy.is_empty() || args.public_url.is_some();
    match access(args.keys.as_deref(), listen, has_proxy).map_err(|error| Failure::usage(error.to_string()))? {
        Access::File(path) => {
            let keys = KeyStore::open(&path).map_err(|error| Failure::usage(error.report()))?;
            Ok((keys, None))
        }
        Access::Development(path) => {
            let development = key::access::obtain(Some(folder_of(&path)))?;
            if let Some(notice) = &development.notice {
                tracing::warn!("{notice}");
            }
            Ok((KeyStore::development(&development.key, &path), Some(development.key)))
        }
    }
}

/// The threads that read and write connections. Half the cores can handle more requests than all of
/// them could run searches for.
fn runtime() -> Result<Runtime, Failure> {
    let threads = thread::available_parallelism().map_or(1, |processors| processors.get().div_ceil(2));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(threads).enable_all().build();
    runtime.map_err(|error| Failure { text: format!("the runtime can't be started: {error}"), code: 1 })
}

/// The largest edit distance between a misspelled name and the one that was probably meant.
const MAX_DISTANCE: usize = 3;

/// Logs a warning for each environment variable with the program's prefix that nothing reads.
/// Values aren't shown.
fn warn_of_unknown_variables() {
    let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    for warning in warnings(names) {
        tracing::warn!("{warning}");
    }
}

fn warnings(names: impl Iterator<Item = String>) -> Vec<String> {
    let known = environment_variables();
    let unknown = names.filter(|name| name.starts_with(ENVIRONMENT_PREFIX) && !known.contains(name));
    let mut warnings: Vec<_> = unknown
        .map(|name| {
            let nearest = known.iter().min_by_key(|known| strsim::osa_distance(known, &name));
            let nearest = nearest.filter(|known| strsim::osa_distance(known, &name) <= MAX_DISTANCE);
            let hint = nearest.map(|known| format!("; did you mean {known}?")).unwrap_or_default();
            format!("the environment variable {name} isn't used{hint}")
        })
        .collect();
    warnings.sort_unstable();
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_variable_causes_a_warning_that_suggests_the_closest_name() {
        let names = ["SOFTWARE_DIRECTORY_LISTN", "SOFTWARE_DIRECTORY_LISTEN", "SOFTWARE_DIRECTORY_COLOUR", "PATH"];
        assert_eq!(
            warnings(names.map(str::to_owned).into_iter()),
            [
                "the environment variable SOFTWARE_DIRECTORY_COLOUR isn't used",
                "the environment variable SOFTWARE_DIRECTORY_LISTN isn't used; \
                 did you mean SOFTWARE_DIRECTORY_LISTEN?",
            ]
        );
    }
}
