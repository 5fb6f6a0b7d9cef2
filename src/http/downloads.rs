//! Downloads: bodies that are read block by block as the caller consumes them, and the limits on
//! how many may run at once.
//!
//! A download that's waiting for its caller occupies no thread: each block is read by a separate
//! task on the runtime's blocking threads. Until its body is finished or dropped, a download keeps
//! its slot, three 64 KiB blocks, and two decoders of about 500 KiB and 250 KiB. For `ndjson`, it
//! also keeps a record.

use std::io::{self, Read};
use std::ops::RangeInclusive;
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::http::header::{ACCEPT_RANGES, CONTENT_LENGTH, CONTENT_RANGE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use bytes::Bytes;
use futures_util::stream;
use jiff::Timestamp;
use tokio::task::spawn_blocking;

use super::middleware::Cost;
use super::problem::ApiError;
use super::shares::{Class, Exhausted, Limit, Share, Shares, caller};
use crate::error::chain;
use crate::key::{Holder, KeyStore};

const BLOCK_BYTES: usize = 64 * 1024;

/// The period over which a download's rate is measured.
const PERIOD: Duration = Duration::from_secs(30);

/// How many bytes of a document count as one request against the quota.
const BYTES_PER_REQUEST: u64 = 1 << 20;

/// What a download of this many bytes costs.
pub(super) fn cost(bytes: u64) -> Cost {
    Cost(bytes.div_ceil(BYTES_PER_REQUEST).max(1))
}

/// The download slots. Visitors get half as many as keys do.
#[derive(Debug)]
pub(super) struct Downloads(Shares);

impl Downloads {
    pub(super) fn new(max: usize, max_per_holder: usize) -> Self {
        let limit = |of_class| Limit { of_class, of_holder: max_per_holder };
        Self(Shares::new("download slots", PERIOD, [limit(max.div_ceil(2)), limit(max)]))
    }

    /// Returns a slot, taking it from the class's slowest download if necessary.
    pub(super) fn acquire(&self, class: Class, holder: Holder, now: Instant) -> Result<Share, ApiError> {
        self.0.acquire(class, holder, 1, now).map_err(|exhausted| match exhausted {
            Exhausted::Class => ApiError::DownloadsBusy,
            Exhausted::Holder => ApiError::TooManyDownloads,
        })
    }

    /// Ends the downloads of keys that are no longer valid.
    pub(super) fn end_of_invalid_keys(&self, keys: &KeyStore, now: Timestamp) {
        for holder in self.0.end_all_of(|holder| matches!(holder, Holder::Key(id) if !keys.is_valid(id, now))) {
            tracing::info!(caller = caller(&holder), "dropped a download because its key is no longer valid");
        }
    }
}

/// Sets the length and range headers on a response that contains a representation of `whole` bytes,
/// or one range of it (RFC 9110, 14.4 and 15.3.7).
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

/// A body that is read as the caller consumes it. It fails once its slot has been given to
/// another download, or its key is no longer valid.
pub(super) fn body(reader: impl Read + Send + 'static, slot: Share) -> Body {
    Body::from_stream(stream::try_unfold((reader, slot), async |(reader, slot)| {
        if slot.is_ended() {
            return Err(io::Error::other(
                "dropped to make room for another download, or because its key is no longer valid",
            ));
        }
        let read = spawn_blocking(move || read_block(reader)).await?;
        let (reader, block) = read.inspect_err(|error| tracing::error!("a download was cut off: {}", chain(error)))?;
        slot.taken(block.len(), Instant::now());
        Ok((!block.is_empty()).then_some((block, (reader, slot))))
    }))
}

fn read_block<R: Read>(mut reader: R) -> io::Result<(R, Bytes)> {
    let mut block = Vec::with_capacity(BLOCK_BYTES);
    reader.by_ref().take(BLOCK_BYTES as u64).read_to_end(&mut block)?;
    Ok((reader, block.into()))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use http_body_util::BodyExt as _;

    use super::*;

    /// An endless reader that counts the bytes read from it.
    struct Counted(Arc<AtomicUsize>);

    impl Read for Counted {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.0.fetch_add(buffer.len(), Ordering::Relaxed);
            Ok(buffer.len())
        }
    }

    #[tokio::test]
    async fn only_as_much_is_read_as_the_caller_consumes() {
        let downloads = Downloads::new(1, 1);
        let read = Arc::new(AtomicUsize::new(0));
        let slot = downloads.acquire(Class::Key, Holder::none(), Instant::now()).expect("free");
        let mut body = body(Counted(Arc::clone(&read)), slot);
        assert_eq!(read.load(Ordering::Relaxed), 0);
        for blocks in 1..=3 {
            let frame = body.frame().await.expect("endless").expect("a block");
            assert_eq!(frame.into_data().expect("data").len(), BLOCK_BYTES);
            assert_eq!(read.load(Ordering::Relaxed), blocks * BLOCK_BYTES);
        }
    }
}
