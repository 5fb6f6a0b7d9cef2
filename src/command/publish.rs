//! `publish`: writes the directory as files, which any web server can serve.

use std::fs::File;
use std::io;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use indicatif::DecimalBytes;
use tokio::runtime::Runtime;

use super::data::{self, DATA_FOLDER};
use super::progress::bar;
use super::serve::site_config;
use super::{Failure, print_note};
use crate::cli::PublishArgs;
use crate::file::FolderDraft;
use crate::http::{self, AppState, HttpConfig, MaxQueueDelay, PublicUrl, Publication, Publisher};
use crate::key::{KeyStore, Rate, access};
use crate::panics::ScopedThread;
use crate::text::count::counted;
use crate::update::Directory;

/// The folder that Pagefind adds, and a file in it. Its index is of the old pages, so it's removed.
const PAGEFIND: (&str, &str) = ("pagefind", "pagefind-entry.json");

/// A result larger than this is announced before that much is written.
const LARGE_BYTES: u64 = 1_000_000_000;

/// How many products are written before the size of all is estimated.
const ESTIMATED_FROM: u64 = 100;

/// No request in-process takes this long.
const PATIENCE: Duration = Duration::from_hours(1);

/// Writes the folder. Exit codes: 0 written, 1 failed, 2 usage error or invalid export.
pub(super) fn run(args: &PublishArgs) -> Result<ExitCode, Failure> {
    if args.data.data.is_none() && !Path::new(DATA_FOLDER).exists() {
        return Err(Failure::usage("there is no ./data folder here; name the folder with the exports with --data"));
    }
    let public_url = args.public_url.as_deref().map(PublicUrl::parse).transpose();
    let public_url = public_url.map_err(|error| Failure::usage(error.to_string()))?;
    if public_url.is_some() && args.base_path != "/" {
        return Err(Failure::usage("the public URL says where the pages are, so leave out --base-path"));
    }
    let draft = FolderDraft::new(&args.folder, PAGEFIND).map_err(failed)?;
    let directory = Arc::new(Directory::default());
    let snapshot = data::load(&args.data, &directory)?;
    let publication = Publication::new(&args.base_path, &args.language, &snapshot.catalogue).map_err(Failure::usage)?;
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let config = HttpConfig {
        public_url,
        public_page: Some(Rate::UNLIMITED),
        public_api: Some(Rate::UNLIMITED),
        request_timeout: PATIENCE,
        max_queue_delay: MaxQueueDelay { burst: PATIENCE, standing: PATIENCE },
        max_downloads: 4 * threads,
        max_downloads_per_key: 2 * threads,
        publication: Some(publication),
        ..site_config(&args.site)?
    };
    let keys = KeyStore::development(&access::obtain(None)?.key, Path::new(""));
    let state = AppState::new(directory, None, Arc::new(keys), config)?;
    let publisher = http::publisher(state, snapshot);
    let [files, bytes] = write(&publisher, &draft, threads)?;
    // GitHub Pages would otherwise leave out some files.
    draft.finish(".nojekyll", &draft.create(".nojekyll")?)?;
    draft.publish().map_err(failed)?;
    let (files, bytes) = (counted(usize::try_from(files + 1)?, "file"), DecimalBytes(bytes));
    print_note(&format!("Wrote {files} with {bytes} to {}.", args.folder.display()));
    Ok(ExitCode::SUCCESS)
}

fn failed(error: io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::AlreadyExists | io::ErrorKind::NotADirectory => Failure::usage(format!(
            "{error}, and publishing would delete it, so nothing was changed: move it, or publish to another folder"
        )),
        _ => error.into(),
    }
}

/// Writes everything, and returns the number of files and bytes. If the result will be large, says so
/// once.
fn write(publisher: &Publisher, draft: &FolderDraft, threads: usize) -> Result<[u64; 2], Failure> {
    let runtime = Runtime::new()?;
    let (items, total) = (Mutex::new(runtime.block_on(publisher.items())?), publisher.count());
    let bar = bar("Publishing", "{pos} of {len} products and categories");
    bar.set_length(total);
    let (written, is_announced) = (Mutex::new([0; 3]), AtomicBool::default());
    let next = || items.lock().unwrap_or_else(PoisonError::into_inner).next();
    let work = || {
        while let Some(item) = next() {
            let one = item.and_then(|item| {
                let finish = |path: &str, file: &File| draft.finish(path, file);
                runtime.block_on(publisher.write(item, |path| draft.create(path), finish))
            });
            // The other threads have nothing left to do after a failure.
            let one = one.inspect_err(|_| while next().is_some() {})?;
            let mut all = written.lock().unwrap_or_else(PoisonError::into_inner);
            for (all, more) in all.iter_mut().zip([one[0], one[1], 1]) {
                *all += more;
            }
            bar.set_position(all[2]);
            if let Some(size) = large_size(all[1], all[2], total)
                && !is_announced.swap(true, Ordering::Relaxed)
            {
                bar.suspend(|| print_note(&format!("The result will have about {}.", DecimalBytes(size))));
            }
        }
        Ok::<_, io::Error>(())
    };
    let done = thread::scope(|scope| {
        let threads = (0..threads).map(|_| ScopedThread::spawn(scope, "publish", work)).collect::<Result<Vec<_>, _>>();
        threads?.into_iter().try_for_each(ScopedThread::join)
    });
    bar.finish_and_clear();
    done?;
    let [files, bytes, _] = written.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok([files, bytes])
}

/// The size of all items, given what some of them have, if it's certain enough to be large.
fn large_size(bytes: u64, written: u64, total: u64) -> Option<u64> {
    let expected = u128::from(bytes) * u128::from(total) / u128::from(written.max(1));
    let is_known = written >= ESTIMATED_FROM || bytes > LARGE_BYTES / 2;
    u64::try_from(expected).ok().filter(|size| is_known && *size > LARGE_BYTES)
}

#[cfg(test)]
mod tests {
    use super::large_size;

    #[test]
    fn a_large_result_is_announced_once_enough_is_known() {
        for (bytes, written, total, size) in [
            (1_000_000, 99, 1_000_000, None),
            (1_000_000, 100, 100_000, None),
            (1_000_000, 100, 100_001, Some(1_000_010_000)),
            (500_000_001, 1, 3, Some(1_500_000_003)),
            (400_000_000, 1, 3, None),
            (0, 0, 0, None),
        ] {
            assert_eq!(large_size(bytes, written, total), size, "{written} of {total} items have {bytes} bytes");
        }
    }
}
