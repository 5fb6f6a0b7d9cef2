//! `publish`: writes the directory as files, which any web server can serve.

use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use indicatif::{DecimalBytes, ProgressBar};
use tokio::runtime::{Handle, Runtime};

use super::data::{self, DATA_FOLDER};
use super::progress::bar;
use super::serve::site_config;
use super::{Failure, print_note};
use crate::cli::PublishArgs;
use crate::file::{FolderDraft, FolderError};
use crate::http::{AppState, HttpConfig, Item, MaxQueueDelay, PublicUrl, Publication, Publisher};
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
    let runtime = Runtime::new()?;
    let written = Written::new(&draft, Publisher::new(state)?);
    written.write_all(&runtime, threads)?;
    // GitHub Pages would otherwise leave out some files.
    draft.write(".nojekyll", |_| Ok(()))?;
    let (files, bytes) = (written.files.into_inner() + 1, DecimalBytes(written.bytes.into_inner()));
    draft.publish().map_err(failed)?;
    print_note(&format!("Wrote {} with {bytes} to {}.", counted(files, "file"), args.folder.display()));
    Ok(ExitCode::SUCCESS)
}

fn failed(error: FolderError) -> Failure {
    match error {
        FolderError::Foreign(_) | FolderError::NotAFolder(_) => Failure::usage(format!(
            "{error}, and publishing would delete it, so nothing was changed: move it, or publish to another folder"
        )),
        error @ FolderError::Failed(..) => error.into(),
    }
}

/// What has been written so far.
struct Written<'d> {
    draft: &'d FolderDraft,
    publisher: Publisher,
    bar: ProgressBar,
    files: AtomicU64,
    bytes: AtomicU64,
    products: AtomicU64,
    bytes_of_products: AtomicU64,
    is_announced: AtomicBool,
}

impl<'d> Written<'d> {
    fn new(draft: &'d FolderDraft, publisher: Publisher) -> Self {
        let bar = bar("Publishing", "{pos} of {len} products and lists");
        bar.set_length(publisher.counts().into_iter().sum());
        let zero = AtomicU64::default;
        let (files, bytes, products, bytes_of_products) = (zero(), zero(), zero(), zero());
        Self { draft, publisher, bar, files, bytes, products, bytes_of_products, is_announced: AtomicBool::default() }
    }

    fn write_all(&self, runtime: &Runtime, threads: usize) -> Result<(), Failure> {
        let items = Mutex::new(runtime.block_on(self.publisher.items())?);
        let is_stopped = AtomicBool::default();
        let next = || items.lock().unwrap_or_else(PoisonError::into_inner).next();
        let work = || {
            while let Some(item) = next().filter(|_| !is_stopped.load(Ordering::Relaxed)) {
                self.write(runtime.handle(), item).inspect_err(|_| is_stopped.store(true, Ordering::Relaxed))?;
            }
            Ok(())
        };
        let done = thread::scope(|scope| {
            let threads = (0..threads).map(|_| ScopedThread::spawn(scope, "publish", work));
            let threads = threads.collect::<Result<Vec<_>, _>>()?;
            threads.into_iter().try_for_each(ScopedThread::join)
        });
        self.bar.finish_and_clear();
        done
    }

    fn write(&self, runtime: &Handle, item: Item) -> Result<(), Failure> {
        let (is_product, mut files, mut bytes) = (item.is_product, self.publisher.files(item), 0);
        while let Some(path) = runtime.block_on(files.next())? {
            let mut failed = Ok(());
            self.draft.write(&path, |file| {
                loop {
                    match runtime.block_on(files.chunk()) {
                        Ok(Some(chunk)) => {
                            self.announce(chunk.len() as u64);
                            bytes += chunk.len() as u64;
                            file.write_all(&chunk)?;
                        }
                        Ok(None) => return Ok(()),
                        Err(error) => {
                            failed = Err(error);
                            return Ok(());
                        }
                    }
                }
            })?;
            failed?;
            self.files.fetch_add(1, Ordering::Relaxed);
        }
        if is_product {
            self.bytes_of_products.fetch_add(bytes, Ordering::Relaxed);
            self.products.fetch_add(1, Ordering::Relaxed);
        }
        self.bar.inc(1);
        Ok(())
    }

    /// Counts what's about to be written. If the result will be large, says so once.
    fn announce(&self, more: u64) {
        let bytes = self.bytes.fetch_add(more, Ordering::Relaxed) + more;
        let [products, of_products] = [&self.products, &self.bytes_of_products].map(|of| of.load(Ordering::Relaxed));
        let [_, all] = self.publisher.counts();
        let left = all.saturating_sub(products);
        let expected = bytes + of_products.checked_div(products).unwrap_or_default() * left;
        let is_known = products >= ESTIMATED_FROM || bytes > LARGE_BYTES / 2;
        if is_known && expected > LARGE_BYTES && !self.is_announced.swap(true, Ordering::Relaxed) {
            self.bar.suspend(|| print_note(&format!("The result will have about {}.", DecimalBytes(expected))));
        }
    }
}
