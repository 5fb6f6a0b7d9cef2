//! A connection's bytes, with a deadline on whatever the other side is waited for.
//!
//! Each connection has one timer, set anew only when it has run out: what a request costs here is reading the clock.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};

/// How long the other side is waited for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Patience {
    /// For the whole of a request's headers, from their first byte on, and for the first request of a connection.
    pub(super) header: Duration,
    /// For another request on a connection that has had one.
    pub(super) idle: Duration,
    /// For taking more of an answer off us.
    pub(super) write: Duration,
}

/// What is known of a connection beyond its bytes.
#[derive(Debug, Default)]
pub(super) struct Progress {
    /// Whether a request is being answered, so that nobody is waited for.
    answering: AtomicBool,
    /// How many requests have come.
    requests: AtomicU32,
}

impl Progress {
    /// The headers of a request are complete.
    pub(super) fn request_begins(&self) {
        self.requests.fetch_add(1, Ordering::Relaxed);
        self.answering.store(true, Ordering::Relaxed);
    }

    /// Its answer is ready to be written.
    pub(super) fn answer_is_ready(&self) {
        self.answering.store(false, Ordering::Relaxed);
    }
}

/// Whether connections are running out, so that idle ones must go.
pub(super) trait Crowd: Send + Sync {
    fn is_dense(&self) -> bool;
}

/// A stream that fails with [`io::ErrorKind::TimedOut`] once the other side has been waited for long enough.
pub(super) struct Deadlined<S> {
    stream: S,
    patience: Patience,
    progress: Arc<Progress>,
    crowd: Arc<dyn Crowd>,
    timer: Pin<Box<Sleep>>,
    /// How many requests had come when it was last looked.
    requests: u32,
    /// When the first byte came of what isn't a request yet.
    head_since: Option<Instant>,
    /// Whether bytes of it have come since the clock was last read.
    head_begun: bool,
    /// When bytes last went out; before that, when the connection was opened.
    quiet_since: Instant,
    /// Whether bytes have gone out since the clock was last read.
    wrote: bool,
    /// Since when the other side takes nothing of what there is to write.
    stalled_since: Option<Instant>,
}

impl<S> Deadlined<S> {
    pub(super) fn new(stream: S, patience: Patience, progress: Arc<Progress>, crowd: Arc<dyn Crowd>) -> Self {
        let now = Instant::now();
        Self {
            stream,
            patience,
            progress,
            crowd,
            timer: Box::pin(tokio::time::sleep_until(now + patience.header)),
            requests: 0,
            head_since: None,
            head_begun: false,
            quiet_since: now,
            wrote: false,
            stalled_since: None,
        }
    }

    /// Until when bytes are waited for; `None` where nobody is waited for.
    fn read_deadline(&self, now: Instant) -> Option<Instant> {
        if self.progress.answering.load(Ordering::Relaxed) || self.stalled_since.is_some() {
            return None;
        }
        Some(match self.head_since {
            Some(since) => since + self.patience.header,
            None if self.requests == 0 => self.quiet_since + self.patience.header,
            None if self.crowd.is_dense() => self.quiet_since + self.patience.header.min(self.patience.idle),
            // Crowds come suddenly, so it is looked again long before that.
            None => (self.quiet_since + self.patience.idle).min(now + self.patience.header),
        })
    }

    /// Whether the other side has been waited for until `deadline`; else the timer wakes the task no later.
    fn is_over(&mut self, deadline: Instant, mut now: Instant, context: &mut Context<'_>) -> bool {
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

    /// The time. Whatever happened since it was last asked for happened now: bytes that have come or gone are followed at
    /// once by a look for more.
    fn now(&mut self) -> Instant {
        let now = Instant::now();
        if std::mem::take(&mut self.head_begun) {
            self.head_since.get_or_insert(now);
        }
        if std::mem::take(&mut self.wrote) {
            self.quiet_since = now;
        }
        now
    }

    fn notice_requests(&mut self) {
        let requests = self.progress.requests.load(Ordering::Relaxed);
        if requests != self.requests {
            (self.requests, self.head_since, self.head_begun) = (requests, None, false);
        }
    }

    fn wait_for_bytes(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.notice_requests();
        loop {
            let now = self.now();
            let deadline = self.read_deadline(now);
            if deadline.is_some_and(|deadline| deadline <= now) {
                return Poll::Ready(Err(timed_out("the other side sent nothing for too long")));
            }
            // Even while nobody is waited for the timer is set: hyper doesn't read again once it has been told to wait,
            // though by then it may be the other side's turn.
            if !self.is_over(deadline.unwrap_or(now + self.patience.header), now, context) {
                return Poll::Pending;
            }
        }
    }

    fn written(&mut self, outcome: Poll<io::Result<usize>>, context: &mut Context<'_>) -> Poll<io::Result<usize>> {
        match outcome {
            Poll::Ready(outcome) => {
                self.stalled_since = None;
                self.wrote = true;
                Poll::Ready(outcome)
            }
            Poll::Pending => {
                let now = self.now();
                let since = *self.stalled_since.get_or_insert(now);
                if self.is_over(since + self.patience.write, now, context) {
                    return Poll::Ready(Err(timed_out("the other side took nothing for too long")));
                }
                Poll::Pending
            }
        }
    }
}

fn timed_out(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::TimedOut, what)
}

impl<S: AsyncRead + Unpin> AsyncRead for Deadlined<S> {
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

impl<S: AsyncWrite + Unpin> AsyncWrite for Deadlined<S> {
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
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, duplex};

    use super::*;

    /// As dense as it is told.
    struct Told(AtomicBool);

    impl Crowd for Told {
        fn is_dense(&self) -> bool {
            self.0.load(Ordering::Relaxed)
        }
    }

    const PATIENCE: Patience =
        Patience { header: Duration::from_secs(5), idle: Duration::from_secs(75), write: Duration::from_secs(30) };

    struct Fixture {
        ours: Deadlined<DuplexStream>,
        theirs: DuplexStream,
        progress: Arc<Progress>,
        crowd: Arc<Told>,
    }

    fn open() -> Fixture {
        let (ours, theirs) = duplex(8);
        let progress = Arc::<Progress>::default();
        let crowd = Arc::new(Told(AtomicBool::new(false)));
        let ours = Deadlined::new(ours, PATIENCE, Arc::clone(&progress), Arc::clone(&crowd) as Arc<dyn Crowd>);
        Fixture { ours, theirs, progress, crowd }
    }

    impl Fixture {
        /// Waits for a byte until it is over, and says how many seconds that took.
        async fn seconds_until_over(&mut self) -> u64 {
            let started = Instant::now();
            let error = self.ours.read_u8().await.expect_err("no byte comes");
            assert_eq!(error.kind(), io::ErrorKind::TimedOut);
            started.elapsed().as_secs()
        }

        async fn one_request(&mut self) {
            self.theirs.write_all(b"GET").await.expect("room");
            self.ours.read_exact(&mut [0; 3]).await.expect("there");
            self.progress.request_begins();
            self.progress.answer_is_ready();
            self.ours.write_all(b"200").await.expect("room");
            self.theirs.read_exact(&mut [0; 3]).await.expect("there");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_new_connection_has_five_seconds() {
        assert_eq!(open().seconds_until_over().await, 5);
    }

    #[tokio::test(start_paused = true)]
    async fn headers_that_trickle_in_have_five_seconds_in_all() {
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
    async fn a_connection_that_has_had_a_request_may_idle() {
        let mut fixture = open();
        tokio::time::sleep(Duration::from_secs(4)).await;
        fixture.one_request().await;
        assert_eq!(fixture.seconds_until_over().await, 75);
    }

    #[tokio::test(start_paused = true)]
    async fn headers_begun_after_idling_have_five_seconds() {
        let mut fixture = open();
        fixture.one_request().await;
        tokio::select! {
            _ = fixture.ours.read_u8() => panic!("nothing comes, and it isn't over"),
            () = tokio::time::sleep(Duration::from_mins(1)) => {}
        }
        fixture.theirs.write_u8(b'G').await.expect("room");
        fixture.ours.read_u8().await.expect("there");
        assert_eq!(fixture.seconds_until_over().await, 5);
    }

    #[tokio::test(start_paused = true)]
    async fn in_a_crowd_idle_ones_go_soon() {
        let mut fixture = open();
        fixture.one_request().await;
        let crowd = Arc::clone(&fixture.crowd);
        let (seconds, ()) = tokio::join!(fixture.seconds_until_over(), async move {
            tokio::time::sleep(Duration::from_secs(12)).await;
            crowd.0.store(true, Ordering::Relaxed);
        });
        assert!((12..=17).contains(&seconds), "{seconds}");
    }

    #[tokio::test(start_paused = true)]
    async fn who_waits_for_an_answer_is_waited_for_by_nobody() {
        let mut fixture = open();
        fixture.progress.request_begins();
        tokio::select! {
            _ = fixture.ours.read_u8() => panic!("nothing comes, and it isn't over"),
            () = tokio::time::sleep(Duration::from_secs(500)) => {}
        }
    }

    #[tokio::test(start_paused = true)]
    async fn who_was_told_to_wait_while_answering_is_woken_to_look_again() {
        let mut fixture = open();
        fixture.one_request().await;
        fixture.progress.request_begins();
        // Polled once, as hyper does, and then only when it is woken.
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
            fixture.progress.answer_is_ready();
            Poll::Pending
        });
        woken.await;
        assert!(started.elapsed() <= Duration::from_secs(5), "{:?}", started.elapsed());
    }

    #[tokio::test(start_paused = true)]
    async fn who_takes_nothing_of_an_answer_has_thirty_seconds_and_who_takes_something_has_them_anew() {
        let mut fixture = open();
        fixture.ours.write_all(b"12345678").await.expect("room");
        let started = Instant::now();
        let reader = async {
            tokio::time::sleep(Duration::from_secs(20)).await;
            fixture.theirs.read_u8().await.expect("there");
            std::future::pending::<()>().await;
        };
        let error = tokio::select! {
            outcome = fixture.ours.write_all(b"9ab") => outcome.expect_err("there is room for one"),
            () = reader => unreachable!("it waits"),
        };
        assert_eq!((error.kind(), started.elapsed().as_secs()), (io::ErrorKind::TimedOut, 50));
    }
}
