//! `preview`: serves a candidate folder to the machine it's being edited on, and compares it with
//! the published exports.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::{Failure, serve};
use crate::cli::{DataArgs, EngineArgs, LogFormat, NONE, OnOff, PreviewArgs, ServeArgs, SideArgs};

/// Serves the preview until a signal arrives. Exit codes: 0 stopped, 1 failed, 2 usage.
pub(super) fn run(args: &PreviewArgs) -> ExitCode {
    match check(&args.candidate) {
        Ok(()) => serve::run_preview(&serve_args(args), args),
        Err(failure) => failure.print(),
    }
}

fn check(candidate: &Path) -> Result<(), Failure> {
    let name = candidate.display();
    match std::fs::metadata(candidate) {
        Err(error) => Err(Failure::usage(format!(
            "the candidate {name} can't be read: {error}; specify a folder of export files, such as a copy of the data folder"
        ))),
        Ok(metadata) if !metadata.is_dir() => Err(Failure::usage(format!(
            "{name} is not a folder; specify the folder that contains the candidate's export files"
        ))),
        Ok(_) => Ok(()),
    }
}

/// The options for an in-memory server without a key file.
fn serve_args(args: &PreviewArgs) -> ServeArgs {
    let SideArgs { skip_invalid, id_prefix, max_file_bytes, .. } = &args.sides;
    let data = DataArgs {
        data: Some(args.candidate.clone()),
        index: PathBuf::from(NONE),
        skip_invalid: *skip_invalid,
        id_prefix: id_prefix.clone(),
        meaning: OnOff::On,
        max_file_bytes: *max_file_bytes,
    };
    ServeArgs {
        data,
        listen: args.listen,
        keys: None,
        follow: None,
        reindex: false,
        for_server: None,
        max_build_bytes: None,
        // A set that removes many products should be shown, not withheld.
        max_removed: 100,
        public_url: None,
        trusted_proxy: Vec::new(),
        metrics_listen: None,
        public_page: None,
        site_title: Some("Preview".to_owned()),
        site_introduction: None,
        engine: EngineArgs::default(),
        log: "info".to_owned(),
        access_log: false,
        log_queries: false,
        empty_queries: None,
        log_format: LogFormat::Text,
    }
}
