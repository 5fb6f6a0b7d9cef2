//! A stream with deadlines for the peer: for sending headers, for sending the next request, and for
//! reading the response.
//!
//! Each connection has a single timer, which is reset only after it has fired. So all a request
//! costs is reading the clock.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};

use super::ConnectionLimits;
use super::minimum_rate::{MinimumRate, Progress};

/// A stream that fails with [`io::ErrorKind::TimedOut`] once the peer misses a deadline.
pub(super) struct DeadlineStream<S> {
    stream: S,
    limits: ConnectionLimits,
    progress: Arc<Progress>,
    timer: Pin<Box<Sleep>>,
    /// The number of requests when last checked.
    requests: u32,
    /// When the first byte of incomplete headers arrived.
    head_since: Option<Instant>,
    /// Whether header bytes have arrived since the clock was last read.
    head_begun: bool,
    /// When the connection started or last wrote.
    idle_since: Instant,
    /// Whether bytes were written since the clock was last read.
    wrote: bool,
    rate: MinimumRate,
}

impl<S> DeadlineStream<S> {
    pub(super) fn new(stream: S, limits: ConnectionLimits, progress: Arc<Progress>) -> Self {
        let now = Instant::now();
        Self {
            stream,
            progress,
            timer: Box::pin(tokio::time::sleep_until(now + limits.header_timeout)),
            requests: 0,
            head_since: None,
            head_begun: false,
            idle_since: now,
            wrote: false,
            rate: MinimumRate::new(limits.write_timeout),
            limits,
        }
    }

    /// The deadline for the next bytes; `None` if the peer has none.
    fn read_deadline(&self) -> Option<Instant> {
        if self.progress.is_responding() || self.rate.is_stalled() {
            return None;
        }
        Some(match self.head_since {
            Some(since) => since + self.limits.header_timeout,
            None if self.requests == 0 => self.idle_since + self.limits.header_timeout,
            None => self.idle_since + self.limits.idle_timeout,
        })
    }

    /// Whether the deadline has passed. If not, the timer wakes the task by then.
    fn has_passed(&mut self, deadline: Instant, mut now: Instant, context: &mut Context<'_>) -> bool {
        loop {
            if now >= deadline {
                return true;
            }
            if self.timer.deadline() > deadline || self.timer.is_elapsed() {
                self.timer.as_mut().reset(deadline);
            }
            if self.timer.as_mut().poll(context).is_pending() {
                return false;
            }
            now = Instant::now();
        }
    }

    /// Reads the clock, and uses the time for all events since it was last read. That's accurate
    /// because another poll immediately follows each read or write.
    fn now(&mut self) -> Instant {
        let now = Instant::now();
        if std::mem::take(&mut self.head_begun) {
            self.head_since.get_or_insert(now);
        }
        if std::mem::take(&mut self.wrote) {
            self.idle_since = now;
        }
        now
    }

    fn notice_requests(&mut self) {
        let requests = self.progress.requests();
        if requests != self.requests {
            (self.requests, self.head_since, self.head_begun) = (requests, None, false);
        }
    }

    fn wait_for_bytes(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.notice_requests();
        loop {
            let now = self.now();
            let deadline = self.read_deadline();
            if deadline.is_some_and(|deadline| deadline <= now) {
                return Poll::Ready(Err(timed_out("the peer sent nothing for too long")));
            }
            // Set the timer even without a deadline: hyper doesn't poll again after a pending read,
            // but by then the peer may have a deadline.
            if !self.has_passed(deadline.unwrap_or(now + self.limits.header_timeout), now, context) {
                return Poll::Pending;
            }
        }
    }

    fn written(&mut self, outcome: Poll<io::Result<usize>>, context: &mut Context<'_>) -> Poll<io::Result<usize>> {
        match outcome {
            Poll::Ready(outcome) => {
                self.rate.taken(outcome.as_ref().copied().unwrap_or(0));
                self.wrote = true;
                self.progress.touch();
                Poll::Ready(outcome)
            }
            Poll::Pending => {
                let now = self.now();
                let deadline = self.rate.stalled(now);
                if self.has_passed(deadline, now, context) {
                    return Poll::Ready(Err(timed_out("the peer read its response too slowly")));
                }
                Poll::Pending
            }
        }
    }
}

fn timed_out(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::TimedOut, what)
}

impl<S: AsyncRead + Unpin> AsyncRead for DeadlineStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        let before = buffer.filled().len();
        match Pin::new(&mut this.stream).poll_read(context, buffer) {
            Poll::Pending => this.wait_for_bytes(context),
            Poll::Ready(outcome) => {
                if buffer.filled().len() > before {
                    this.notice_requests();
                    this.head_begun = true;
                }
                Poll::Ready(outcome)
            }
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for DeadlineStream<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.written(outcome, context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.stream).poll_write_vectored(context, bytes);
        self.written(outcome, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;
    use std::time::Duration;

    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, duplex};

    use super::*;

    struct Fixture {
        ours: DeadlineStream<DuplexStream>,
        theirs: DuplexStream,
        progress: Arc<Progress>,
    }

    fn open() -> Fixture {
        let (ours, theirs) = duplex(8);
        let progress = Arc::<Progress>::default();
        let ours = DeadlineStream::new(ours, ConnectionLimits::default(), Arc::clone(&progress));
        Fixture { ours, theirs, progress }
    }

    impl Fixture {
        /// Reads until the deadline passes, and returns how many seconds that took.
        async fn seconds_until_timeout(&mut self) -> u64 {
            let started = Instant::now();
            let error = self.ours.read_u8().await.expect_err("no byte should arrive");
            assert_eq!(error.kind(), io::ErrorKind::TimedOut);
            started.elapsed().as_secs()
        }

        async fn one_request(&mut self) {
            self.theirs.write_all(b"GET").await.expect("room");
            self.ours.read_exact(&mut [0; 3]).await.expect("there");
            self.progress.request_begins();
            self.progress.response_is_ready();
            self.ours.write_all(b"200").await.expect("room");
            self.theirs.read_exact(&mut [0; 3]).await.expect("there");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn new_connection_gets_the_header_timeout() {
        assert_eq!(open().seconds_until_timeout().await, 5);
    }

    #[tokio::test(start_paused = true)]
    async fn trickling_headers_do_not_extend_the_header_timeout() {
        let mut fixture = open();
        let started = Instant::now();
        let end = loop {
            fixture.theirs.write_u8(b'G').await.expect("room");
            fixture.ours.read_u8().await.expect("there");
            tokio::select! {
                biased;
                error = fixture.ours.read_u8() => break error,
                () = tokio::time::sleep(Duration::from_secs(1)) => {}
            }
        };
        assert_eq!(end.expect_err("over").kind(), io::ErrorKind::TimedOut);
        assert_eq!(started.elapsed().as_secs(), 5);
    }

    #[tokio::test(start_paused = true)]
    async fn idle_connection_gets_the_idle_timeout() {
        let mut fixture = open();
        tokio::time::sleep(Duration::from_secs(4)).await;
        fixture.one_request().await;
        assert_eq!(fixture.seconds_until_timeout().await, 75);
    }

    #[tokio::test(start_paused = true)]
    async fn headers_started_after_idling_get_the_header_timeout() {
        let mut fixture = open();
        fixture.one_request().await;
        tokio::select! {
            _ = fixture.ours.read_u8() => panic!("nothing was sent, and there is no deadline"),
            () = tokio::time::sleep(Duration::from_mins(1)) => {}
        }
        fixture.theirs.write_u8(b'G').await.expect("room");
        fixture.ours.read_u8().await.expect("there");
        assert_eq!(fixture.seconds_until_timeout().await, 5);
    }

    #[tokio::test(start_paused = true)]
    async fn idle_time_counts_from_the_last_write() {
        let writes = Arc::<AtomicU64>::default();
        let [one, other] = [(); 2].map(|()| Arc::new(Progress::new(Arc::clone(&writes))));
        assert!(one.idle_since() < other.idle_since(), "in the order in which they started");
        let (ours, _theirs) = duplex(8);
        let mut stream = DeadlineStream::new(ours, ConnectionLimits::default(), Arc::clone(&one));
        stream.write_all(b"200").await.expect("room");
        assert!(one.idle_since() > other.idle_since());
        one.request_begins();
        assert_eq!(one.idle_since(), None);
        one.response_is_ready();
        assert!(one.idle_since() > other.idle_since());
    }

    #[tokio::test(start_paused = true)]
    async fn request_in_progress_has_no_deadline() {
        let mut fixture = open();
        fixture.progress.request_begins();
        tokio::select! {
            _ = fixture.ours.read_u8() => panic!("nothing was sent, and there is no deadline"),
            () = tokio::time::sleep(Duration::from_secs(500)) => {}
        }
    }

    #[tokio::test(start_paused = true)]
    async fn read_pending_during_a_request_is_woken_after_it() {
        let mut fixture = open();
        fixture.one_request().await;
        fixture.progress.request_begins();
        // Polls once, as hyper does, and then only when woken.
        let mut polls = 0;
        let started = Instant::now();
        let woken = std::future::poll_fn(|context| {
            polls += 1;
            if polls > 1 {
                return Poll::Ready(());
            }
            let mut bytes = [0; 1];
            let read = Pin::new(&mut fixture.ours).poll_read(context, &mut ReadBuf::new(&mut bytes));
            assert!(read.is_pending());
            fixture.progress.response_is_ready();
            Poll::Pending
        });
        woken.await;
        assert!(started.elapsed() <= Duration::from_secs(5), "{:?}", started.elapsed());
    }

    #[tokio::test(start_paused = true)]
    async fn time_between_responses_is_not_counted() {
        let mut fixture = open();
        for _ in 0..100 {
            fixture.one_request().await;
            tokio::time::sleep(Duration::from_secs(20)).await;
        }
        assert_eq!(fixture.ours.rate.behind, Duration::ZERO);
    }
}
