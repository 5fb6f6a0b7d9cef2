//! A directory in an OpenSearch cluster: the connection given in the options, and `--reindex`.

use std::io::{self, Write as _};
use std::sync::Arc;
use std::time::Instant;

use super::Failure;
use super::limits::limit_build;
use super::log::Log;
use super::progress::Terminal;
use crate::cli::{EngineArgs, EngineKind, ServeArgs};
use crate::error::chain;
use crate::generation::builder::Builder;
use crate::generation::{BuildFailure, Observer as _, Phase, Processors, Settings};
use crate::opensearch::{self, Connection, Credentials, Error, SettingsError, Update, Updated};
use crate::scratch::{SHARED_BYTES, Scratch};
use crate::text::count::counted;

/// The connection given in the options; `None` for the embedded engine.
///
/// # Errors
///
/// If options contradict each other, or one of their files can't be read. The exit code is 2.
pub(super) fn connection(args: &EngineArgs) -> Result<Option<Arc<Connection>>, Failure> {
    let urls: Vec<_> = args.engine_url.iter().filter(|url| !url.is_empty()).collect();
    if args.engine == EngineKind::Embedded {
        return if urls.is_empty() { Ok(None) } else { Err(Failure::usage("--engine-url needs --engine opensearch")) };
    }
    let unusable = |error: SettingsError| Failure::usage(chain(&error));
    let urls = urls.into_iter().map(|url| opensearch::Settings::parse_url(url)).collect::<Result<_, _>>();
    let credentials = match (&args.engine_user, &args.engine_password_file, &args.engine_key_file) {
        (None, None, None) => None,
        (Some(user), Some(file), None) => Some(Credentials::password(user, file)),
        (None, None, Some(file)) => Some(Credentials::key(file)),
        (_, _, Some(_)) => {
            return Err(Failure::usage(
                "--engine-key-file replaces --engine-user and --engine-password-file: use one or the other",
            ));
        }
        _ => return Err(Failure::usage("--engine-user and --engine-password-file belong together: use both")),
    };
    let credentials = credentials.transpose().map_err(unusable)?;
    let settings =
        opensearch::Settings { urls: urls.map_err(unusable)?, ca_file: args.engine_ca_file.clone(), credentials };
    Ok(Some(Arc::new(Connection::new(settings).map_err(unusable)?)))
}

/// Brings the cluster's indices up to date for an operator, and reports the result.
pub(super) fn reindex(
    args: &ServeArgs,
    settings: &Settings,
    connection: Arc<Connection>,
    log: &Log,
) -> Result<(), Failure> {
    let Some(index) = &settings.index else {
        return Err(Failure::usage(
            "--reindex needs an index folder for its scratch files, so it can't be combined with --index none",
        ));
    };
    if !args.forget.is_empty() {
        return Err(Failure::usage(
            "--forget isn't offered with OpenSearch, whose index records which products changed, but not what changed",
        ));
    }
    let scratch = Scratch::new(index, SHARED_BYTES);
    std::fs::create_dir_all(index).map_err(|error| scratch.error(error))?;
    limit_build(args.max_build_bytes);
    let started = Instant::now();
    let mut terminal = Terminal::new(args.log_format, log.clone());
    let mut builder = Builder { settings, observer: &mut terminal, served: None, processors: Processors::One };
    let set = BuildFailure::catch(|| builder.merge(&scratch)).map_err(|failure| Failure::from_build(&failure))?;
    // One thread for the requests, in addition to this one, which writes the documents.
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let update = Update {
        connection,
        prefix: args.engine.engine_index_prefix.clone(),
        shards: args.engine.engine_shards,
        max_removed: settings.max_removed,
        progress: &mut |done, total| {
            let _ = terminal.progress(Phase::Indexing, done, total);
        },
    };
    let updated = runtime.block_on(update.run(set)).map_err(|error| failure(&error))?;
    let seconds = started.elapsed().as_secs_f64();
    let _ = io::stdout().write_all(format!("{} in {seconds:.1} s\n", report(&updated)).as_bytes());
    Ok(())
}

fn failure(error: &Error) -> Failure {
    // Like invalid exports, accidental removals are for the curator to fix.
    let code = if matches!(error, Error::Removes { .. }) { 2 } else { 1 };
    Failure { text: chain(error), code }
}

fn report(updated: &Updated) -> String {
    let Updated { generation, software_count, added, changed, removed, sent, is_new } = updated;
    let products = counted(*software_count, "product");
    let what = if *is_new { "Filled new indices with" } else { "Brought the indices up to date with" };
    format!(
        "{what} {products} as generation {generation}: {added} added, {changed} changed, {removed} removed; {} sent",
        counted(*sent, "document")
    )
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn options(urls: &[&str]) -> EngineArgs {
        EngineArgs {
            engine: EngineKind::Opensearch,
            engine_url: urls.iter().map(ToString::to_string).collect(),
            ..EngineArgs::default()
        }
    }

    #[test]
    fn contradictory_options_are_rejected() {
        let node = || options(&["http://127.0.0.1:9200"]);
        assert!(connection(&node()).is_ok_and(|connection| connection.is_some()));
        assert!(
            connection(&EngineArgs { engine: EngineKind::Embedded, ..options(&[""]) }).is_ok_and(|none| none.is_none())
        );
        let (me, file) = (Some("me".to_owned()), Some(PathBuf::from("/no/such/file")));
        for (options, reason) in [
            (EngineArgs { engine: EngineKind::Embedded, ..node() }, "needs --engine opensearch"),
            (options(&[]), "no cluster address"),
            (EngineArgs { engine_user: me.clone(), ..node() }, "use both"),
            (EngineArgs { engine_password_file: file.clone(), ..node() }, "use both"),
            (EngineArgs { engine_user: me, engine_key_file: file.clone(), ..node() }, "one or the other"),
            (EngineArgs { engine_key_file: file, ..node() }, "/no/such/file"),
        ] {
            let failure = connection(&options).expect_err("a usage error");
            assert!(failure.text.contains(reason), "{}", failure.text);
        }
    }
}
