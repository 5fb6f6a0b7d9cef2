//! Downloads: bodies that are read block by block as the caller takes them, and the limits on how many there are at once.
//!
//! A download that waits for its caller holds no thread: each block is read by a task of its own on the runtime's blocking threads.
//! It holds a block, a decoder of some 400 KiB, with a cluster a piece of 1 MiB, and its permit, until its body is finished or dropped.

use std::collections::HashMap;
use std::io::Read;
use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex, PoisonError};

use axum::body::Body;
use axum::http::header::{ACCEPT_RANGES, CONTENT_LENGTH, CONTENT_RANGE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use bytes::Bytes;
use futures_util::stream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::spawn_blocking;

use super::problem::ApiError;
use crate::error::chain;
use crate::key::Holder;

/// The size of a block.
const BLOCK_BYTES: usize = 64 * 1024;

/// The limits on downloads at once.
#[derive(Debug)]
pub(super) struct Downloads {
    permits: Arc<Semaphore>,
    max_per_holder: usize,
    by_holder: Arc<Mutex<HashMap<Holder, usize>>>,
}

/// The right to one download.
#[derive(Debug)]
pub(super) struct Permit {
    holder: Holder,
    /// The downloads in progress of each holder that has any.
    by_holder: Arc<Mutex<HashMap<Holder, usize>>>,
    _of_all: OwnedSemaphorePermit,
}

impl Downloads {
    pub(super) fn new(max: usize, max_per_holder: usize) -> Self {
        Self { permits: Arc::new(Semaphore::new(max)), max_per_holder, by_holder: Arc::default() }
    }

    /// Returns a permit for a download.
    pub(super) fn acquire(&self, holder: Holder) -> Result<Permit, ApiError> {
        let mut by_holder = self.by_holder.lock().unwrap_or_else(PoisonError::into_inner);
        if by_holder.get(&holder).is_some_and(|downloads| *downloads >= self.max_per_holder) {
            return Err(ApiError::TooManyDownloads);
        }
        let of_all = Arc::clone(&self.permits).try_acquire_owned().map_err(|_| ApiError::DownloadsBusy)?;
        *by_holder.entry(holder.clone()).or_default() += 1;
        drop(by_holder);
        Ok(Permit { holder, by_holder: Arc::clone(&self.by_holder), _of_all: of_all })
    }
}

/// Adds length and range to a response with the whole of a representation of that length, or a part of it (RFC 9110, 14.4 and 15.3.7).
pub(super) fn set_range(response: &mut Response, whole: u64, range: Option<&RangeInclusive<u64>>) {
    let headers = response.headers_mut();
    headers.insert(ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    let length = range.map_or(whole, |range| range.end() + 1 - range.start());
    headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
    if let Some(range) = range {
        let range = format!("bytes {}-{}/{whole}", range.start(), range.end());
        headers.extend(HeaderValue::try_from(range).ok().map(|range| (CONTENT_RANGE, range)));
        *response.status_mut() = StatusCode::PARTIAL_CONTENT;
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut by_holder = self.by_holder.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(downloads) = by_holder.get_mut(&self.holder) {
            *downloads -= 1;
            if *downloads == 0 {
                by_holder.remove(&self.holder);
            }
        }
    }
}

/// A body that is read as it is taken.
pub(super) fn body(reader: impl Read + Send + 'static, permit: Permit) -> Body {
    Body::from_stream(stream::try_unfold((reader, permit), async |(reader, permit)| {
        let read = spawn_blocking(move || read_block(reader)).await?;
        let (reader, block) = read.inspect_err(|error| tracing::error!("a download was cut off: {}", chain(error)))?;
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

    fn key(id: &str) -> Holder {
        Holder::Key(id.into())
    }

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
        let mut body = body(Counted(Arc::clone(&read)), downloads.acquire(key("a")).expect("free"));
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
        let dropped = body(Counted(Arc::default()), downloads.acquire(key("a")).expect("free"));
        assert!(matches!(downloads.acquire(key("b")), Err(ApiError::DownloadsBusy)));
        drop(dropped);
        let finished = body(&b"text"[..], downloads.acquire(key("b")).expect("free again"));
        assert_eq!(finished.collect().await.expect("whole").to_bytes(), "text");
        assert!(downloads.acquire(key("a")).is_ok());
    }

    #[test]
    fn key_with_as_many_downloads_as_it_may_have_leaves_room_for_others() {
        let downloads = Downloads::new(3, 2);
        let held = [downloads.acquire(key("a")).expect("free"), downloads.acquire(key("a")).expect("free")];
        assert!(matches!(downloads.acquire(key("a")), Err(ApiError::TooManyDownloads)));
        let other = downloads.acquire(key("b")).expect("free");
        assert!(matches!(downloads.acquire(key("b")), Err(ApiError::DownloadsBusy)));
        drop((held, other));
        assert!(downloads.acquire(key("a")).is_ok());
        assert!(
            downloads.by_holder.lock().expect("not poisoned").is_empty(),
            "holders without a download are forgotten"
        );
    }
}
