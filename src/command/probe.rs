//! `--probe`: tries out a generation on disk on a server's behalf, in a process with limited memory
//! and time. If a damaged generation causes a crash, only this process crashes, not the server.

use std::io::{self, Read as _, Write as _};
use std::path::Path;
use std::process::ExitCode;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::memory;
use super::reindex::{begin_for_server, program};
use crate::cli::ServeArgs;
use crate::error::chain;
use crate::generation::artifact::is_download;
use crate::generation::process::{Message, ProbeProcess};
use crate::generation::store::{Manifest, Store};
use crate::generation::{BuildFailure, FailureCode, Processors, Settings, Snapshot};
use crate::text::count::counted;
use crate::{panics, service};

/// How much memory a generation may use: a base, plus a multiple of the size of its in-memory
/// parts. Decoded numbers take up to eight times as many bytes as encoded ones, but most bytes are
/// text and postings, which are copied at most once.
const BASE_BYTES: u64 = 512 << 20;
const MEMORY_FACTOR: u64 = 4;
/// How many seconds of CPU time the probe may use: a base, plus the total size of the generation's
/// parts at this rate.
const BASE_SECONDS: u64 = 120;
const BYTES_PER_SECOND: u64 = 2 << 20;
const MAX_NAME_BYTES: u64 = 256;

/// Tries out the generation in the folder named on standard input, and writes the result to
/// standard output.
pub(super) fn run(args: &ServeArgs, settings: &Settings) -> ExitCode {
    begin_for_server(args, Processors::One);
    // tantivy and the catalogue panic on some kinds of damage.
    let probed = panics::catch(|| probe(settings));
    let message = match probed.unwrap_or_else(|panic| Err(failed(format!("it can't be read: {panic}")))) {
        Ok(()) => Message::Probed,
        Err(failure) => Message::Failed(failure),
    };
    let written = serde_json::to_string(&message).map_err(io::Error::from);
    let written = written.and_then(|line| writeln!(io::stdout().lock(), "{line}"));
    if written.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn probe(settings: &Settings) -> Result<(), BuildFailure> {
    let name = io::read_to_string(io::stdin().lock().take(MAX_NAME_BYTES));
    let name = name.map_err(|error| failed(format!("the server hasn't named a generation: {error}")))?;
    let index = settings.index.as_deref().ok_or_else(|| failed("there is no index folder".to_owned()))?;
    let store = Store::new(index);
    let manifest = store.manifest(&name).ok_or_else(|| failed(format!("the generation {name} has no manifest")))?;
    limit(&manifest);
    let artifact = store.load(&manifest)?;
    let snapshot = Snapshot::open_skipping(manifest.generation.clone(), artifact, manifest.skipped)?;
    if snapshot.software_count() as u64 != manifest.software_count {
        let (found, expected) = (snapshot.software_count(), manifest.software_count);
        return Err(failed(format!("it has {}, but its manifest says {expected}", counted(found, "product"))));
    }
    service::probe(&snapshot).map_err(|error| failed(chain(&error)))
}

fn failed(detail: String) -> BuildFailure {
    BuildFailure::transient(FailureCode::BuildFailed, detail)
}

/// Limits the process's memory and time according to a generation's size.
fn limit(manifest: &Manifest) {
    let all: u64 = manifest.parts.iter().map(|part| part.size).sum();
    let on_disk: u64 = manifest.parts.iter().filter(|part| is_download(&part.name)).map(|part| part.size).sum();
    memory::limit_to_more((all - on_disk).saturating_mul(MEMORY_FACTOR).saturating_add(BASE_BYTES));
    // A process that crashes shouldn't leave a core dump.
    for (resource, bound) in [(Resource::Cpu, BASE_SECONDS + all / BYTES_PER_SECOND), (Resource::Core, 0)] {
        let before = getrlimit(resource);
        let current = before.maximum.map_or(bound, |maximum| maximum.min(bound));
        if let Err(error) = setrlimit(resource, Rlimit { current: Some(current), ..before }) {
            tracing::warn!(%error, "can't set limits for the process that tries out a generation");
        }
    }
}

/// The process that tries out generations for a server that was started with these arguments.
pub(super) fn process(args: &ServeArgs, index: &Path) -> io::Result<ProbeProcess> {
    let arguments = ["--index".into(), index.into(), "--log".into(), (&args.log).into(), "--probe".into()];
    Ok(ProbeProcess { program: program()?, arguments: arguments.to_vec() })
}
