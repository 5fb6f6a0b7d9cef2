//! Sets up the cluster given in the options.

use std::sync::Arc;

use super::Failure;
use crate::cli::{EngineArgs, EngineKind};
use crate::engine::opensearch::cluster::{Cluster, ClusterSettings, ClusterSettingsError, Credentials};
use crate::error::chain;

/// The cluster given in the options; `None` for the embedded engine.
///
/// # Errors
///
/// If options contradict each other, or one of their files can't be read. The exit code is 2.
pub(super) fn cluster(args: &EngineArgs) -> Result<Option<Arc<Cluster>>, Failure> {
    let urls: Vec<_> = args.engine_url.iter().filter(|url| !url.is_empty()).collect();
    if args.engine == EngineKind::Embedded {
        return if urls.is_empty() { Ok(None) } else { Err(Failure::usage("--engine-url needs --engine opensearch")) };
    }
    let unusable = |error: ClusterSettingsError| Failure::usage(chain(&error));
    let urls = urls.into_iter().map(|url| ClusterSettings::parse_url(url)).collect::<Result<_, _>>();
    let settings = ClusterSettings {
        ca_file: args.engine_ca_file.clone(),
        credentials: credentials(args)?,
        ..ClusterSettings::new(urls.map_err(unusable)?)
    };
    Ok(Some(Arc::new(Cluster::new(settings).map_err(unusable)?)))
}

fn credentials(args: &EngineArgs) -> Result<Option<Credentials>, Failure> {
    let credentials = match (&args.engine_user, &args.engine_password_file, &args.engine_key_file) {
        (None, None, None) => return Ok(None),
        (Some(user), Some(file), None) => Credentials::password(user, file),
        (None, None, Some(file)) => Credentials::key(file),
        (_, _, Some(_)) => {
            return Err(Failure::usage(
                "--engine-key-file replaces --engine-user and --engine-password-file: use one or the other",
            ));
        }
        _ => return Err(Failure::usage("--engine-user and --engine-password-file belong together: use both")),
    };
    credentials.map(Some).map_err(|error| Failure::usage(chain(&error)))
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
        assert!(cluster(&node()).is_ok_and(|cluster| cluster.is_some()));
        assert!(
            cluster(&EngineArgs { engine: EngineKind::Embedded, ..options(&[""]) }).is_ok_and(|none| none.is_none())
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
            let failure = cluster(&options).expect_err("a usage error");
            assert!(failure.text.contains(reason), "{}", failure.text);
        }
    }
}
