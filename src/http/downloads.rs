//! Downloads: bodies that are read block by block as the caller takes them, and the limits on how many there are at once.
//!
//! A download that waits for its caller holds no thread: each block is read by a task of its own on the runtime's blocking threads.
//! It holds a block, a decoder of some 400 KiB, and its permit, until its body is finished or dropped.

use std::collections::HashMap;
use std::io::Read;
use std::sync::{Arc, Mutex, PoisonError};

use axum::body::Body;
use bytes::Bytes;
use futures_util::stream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::spawn_blocking;

use super::problem::ApiError;

/// The size of a block.
const BLOCK_BYTES: usize = 64 * 1024;

/// The limits on downloads at once.
#[derive(Debug)]
pub(super) struct Downloads {
    permits: Arc<Semaphore>,
    max_per_key: usize,
    /// The permits of each key that has had a download.
    by_key: Mutex<HashMap<Box<str>, Arc<Semaphore>>>,
}

/// The right to one download.
#[derive(Debug)]
pub(super) struct Permit {
    _of_all: OwnedSemaphorePermit,
    _of_key: OwnedSemaphorePermit,
}

impl Downloads {
    pub(super) fn new(max: usize, max_per_key: usize) -> Self {
        Self { permits: Arc::new(Semaphore::new(max)), max_per_key, by_key: Mutex::default() }
    }

    /// Returns a permit for a download with the key of this id.
    ///
    /// # Errors
    /// Where the key, or all keys together, have as many downloads as are allowed.
    pub(super) fn acquire(&self, key: &str) -> Result<Permit, ApiError> {
        let mut by_key = self.by_key.lock().unwrap_or_else(PoisonError::into_inner);
        let of_key = by_key.entry(key.into()).or_insert_with(|| Arc::new(Semaphore::new(self.max_per_key)));
        let of_key = Arc::clone(of_key).try_acquire_owned().map_err(|_| ApiError::TooManyDownloads)?;
        let of_all = Arc::clone(&self.permits).try_acquire_owned().map_err(|_| ApiError::DownloadsBusy)?;
        Ok(Permit { _of_all: of_all, _of_key: of_key })
    }
}

/// A body that is read as it is taken.
pub(super) fn body(reader: impl Read + Send + 'static, permit: Permit) -> Body {
    Body::from_stream(stream::try_unfold((reader, permit), async |(reader, permit)| {
        let read = spawn_blocking(move || read_block(reader)).await?;
        let (reader, block) = read.inspect_err(|error| tracing::error!(%error, "a download was cut off"))?;
        Ok::<_, std::io::Error>((!block.is_empty()).then_some((block, (reader, permit))))
    }))
}

fn read_block<R: Read>(mut reader: R) -> std::io::Result<(R, Bytes)> {
    let mut block = Vec::with_capacity(BLOCK_BYTES);
    reader.by_ref().take(BLOCK_BYTES as u64).read_to_end(&mut block)?;
    Ok((reader, block.into()))
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use http_body_util::BodyExt as _;

    use super::*;

    /// A reader without an end that counts the bytes read from it.
    struct Counted(Arc<AtomicUsize>);

    impl Read for Counted {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.0.fetch_add(buffer.len(), Ordering::Relaxed);
            Ok(buffer.len())
        }
    }

    #[tokio::test]
    async fn no_more_is_read_than_the_caller_takes() {
        let downloads = Downloads::new(1, 1);
        let read = Arc::new(AtomicUsize::new(0));
        let mut body = body(Counted(Arc::clone(&read)), downloads.acquire("a").expect("free"));
        assert_eq!(read.load(Ordering::Relaxed), 0);
        for blocks in 1..=3 {
            let frame = body.frame().await.expect("endless").expect("a block");
            assert_eq!(frame.into_data().expect("data").len(), BLOCK_BYTES);
            assert_eq!(read.load(Ordering::Relaxed), blocks * BLOCK_BYTES);
        }
    }

    #[tokio::test]
    async fn body_holds_its_permit_until_it_is_finished_or_dropped() {
        let downloads = Downloads::new(1, 1);
        let dropped = body(Counted(Arc::default()), downloads.acquire("a").expect("free"));
        assert!(matches!(downloads.acquire("b"), Err(ApiError::DownloadsBusy)));
        drop(dropped);
        let finished = body(&b"text"[..], downloads.acquire("b").expect("free again"));
        assert_eq!(finished.collect().await.expect("whole").to_bytes(), "text");
        assert!(downloads.acquire("a").is_ok());
    }

    #[test]
    fn key_with_as_many_downloads_as_it_may_have_leaves_room_for_others() {
        let downloads = Downloads::new(3, 2);
        let held = [downloads.acquire("a").expect("free"), downloads.acquire("a").expect("free")];
        assert!(matches!(downloads.acquire("a"), Err(ApiError::TooManyDownloads)));
        let other = downloads.acquire("b").expect("free");
        assert!(matches!(downloads.acquire("b"), Err(ApiError::DownloadsBusy)));
        drop((held, other));
        assert!(downloads.acquire("a").is_ok());
    }
}
