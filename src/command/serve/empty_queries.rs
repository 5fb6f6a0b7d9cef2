//! The file of queries without hits: read at startup, written periodically and at shutdown.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::super::write_file::write_file;
use super::Failure;
use crate::curate::queries::{self, EmptyQueries, EmptyQuery};
use crate::error::chain;

/// How often the file is written, if there are new counts.
const WRITE_EVERY: Duration = Duration::from_mins(5);

/// The file and its counts.
#[derive(Debug)]
pub(super) struct QueryFile {
    path: PathBuf,
    pub(super) queries: Arc<EmptyQueries>,
    /// The file's content; `None` if it couldn't be written.
    written: Mutex<Option<Vec<EmptyQuery>>>,
}

impl QueryFile {
    /// Reads the counts from earlier runs and writes the file, so that an unwritable one is noticed
    /// immediately.
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        let failed = |error: queries::QueryFileError| {
            Failure::usage(format!("--empty-queries {}: {}", path.display(), chain(&error)))
        };
        // Opening a named pipe would wait for its other end.
        if path.metadata().is_ok_and(|metadata| !metadata.is_file()) {
            return Err(failed(queries::QueryFileError::NotAFile));
        }
        let kept = queries::read(path).map_err(failed)?.unwrap_or_default();
        let queries = Arc::new(EmptyQueries::of(kept));
        let file = Self { path: path.to_owned(), queries, written: Mutex::default() };
        file.write()?;
        Ok(file)
    }

    /// Writes the file every few minutes. Never completes.
    pub(super) async fn write_regularly(self: Arc<Self>) {
        let mut ticks = tokio::time::interval(WRITE_EVERY);
        loop {
            ticks.tick().await;
            let file = Arc::clone(&self);
            drop(tokio::task::spawn_blocking(move || file.write_and_log()).await);
        }
    }

    /// Writes the file; logs only the first of several failures in a row.
    pub(super) fn write_and_log(&self) {
        let was_written = self.written.lock().unwrap_or_else(PoisonError::into_inner).is_some();
        match self.write() {
            Err(failure) if was_written => {
                tracing::error!("the queries without hits can't be written; this will be retried: {}", failure.text);
            }
            Ok(()) if !was_written => tracing::info!("the queries without hits are being written again"),
            _ => {}
        }
    }

    /// Writes the queries that are frequent enough, unless the file already has exactly those.
    fn write(&self) -> Result<(), Failure> {
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        let frequent = self.queries.frequent();
        if written.as_ref() == Some(&frequent) {
            return Ok(());
        }
        *written = None;
        let text = queries::to_json(&frequent)?;
        write_file(&self.path, true, |out| out.write_all(&text))?;
        *written = Some(frequent);
        Ok(())
    }
}
