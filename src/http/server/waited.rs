//! How long a connection was ready before the runtime got round to it: what a caller waits under load, before a line of
//! the request is read.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};

use atomic_waker::AtomicWaker;

/// Between the task's being woken and its being polled.
#[derive(Debug)]
pub(super) struct Wait {
    task: AtomicWaker,
    start: Instant,
    /// When the task was woken and not polled since, in nanoseconds since the start, and 1 more; 0 where it wasn't.
    woken: AtomicU64,
    last_ns: AtomicU64,
}

impl Wait {
    /// A task that is about to be spawned: it waits already.
    pub(super) fn new() -> Arc<Self> {
        let (woken, last_ns) = (AtomicU64::new(1), AtomicU64::default());
        Arc::new(Self { task: AtomicWaker::new(), start: Instant::now(), woken, last_ns })
    }

    /// How long the task waited for its last poll.
    pub(super) fn last(&self) -> Duration {
        Duration::from_nanos(self.last_ns.load(Ordering::Relaxed))
    }

    fn now_ns(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX - 1)
    }

    fn polled(&self) {
        let woken = self.woken.swap(0, Ordering::AcqRel);
        let waited = if woken == 0 { 0 } else { self.now_ns().saturating_sub(woken - 1) };
        self.last_ns.store(waited, Ordering::Relaxed);
    }

    /// The poll is over. Who was woken meanwhile begins to wait now: until here it had the thread itself.
    fn paused(&self) {
        if self.woken.load(Ordering::Acquire) != 0 {
            self.woken.store(self.now_ns() + 1, Ordering::Release);
        }
    }
}

impl Wake for Wait {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.woken.load(Ordering::Acquire) == 0 {
            // Of two that wake at once the times are the same.
            self.woken.store(self.now_ns() + 1, Ordering::Release);
        }
        self.task.wake();
    }
}

/// A task whose waiting is measured.
pub(super) struct Waited<F> {
    future: Pin<Box<F>>,
    wait: Arc<Wait>,
    waker: Waker,
}

impl<F> Waited<F> {
    pub(super) fn new(future: F, wait: Arc<Wait>) -> Self {
        Self { future: Box::pin(future), waker: Waker::from(Arc::clone(&wait)), wait }
    }
}

impl<F: Future> Future for Waited<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let this = &mut *self;
        this.wait.task.register(context.waker());
        this.wait.polled();
        let outcome = this.future.as_mut().poll(&mut Context::from_waker(&this.waker));
        this.wait.paused();
        outcome
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use tokio::sync::Notify;

    use super::*;

    #[test]
    fn a_task_that_is_woken_while_it_runs_does_not_wait_for_itself() {
        const BUSY: Duration = Duration::from_millis(50);
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let wait = Wait::new();
        let last = Arc::clone(&wait);
        let task = async move {
            let mut is_first = true;
            std::future::poll_fn(move |context| {
                if !std::mem::take(&mut is_first) {
                    return Poll::Ready(());
                }
                context.waker().wake_by_ref();
                std::thread::sleep(BUSY);
                Poll::Pending
            })
            .await;
        };
        runtime.block_on(Waited::new(task, wait));
        assert!(last.last() < BUSY, "{:?}", last.last());
    }

    /// How long a task that shares its only thread with one that blocks waits once it is woken.
    #[test]
    fn a_task_that_has_to_wait_for_the_thread_knows_how_long() {
        const BLOCKED: Duration = Duration::from_millis(50);
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let (sender, waits) = mpsc::channel();
        let notify = Arc::new(Notify::new());
        let wait = Wait::new();
        let task = {
            let (wait, notify) = (Arc::clone(&wait), Arc::clone(&notify));
            async move {
                loop {
                    notify.notified().await;
                    sender.send(wait.last()).expect("the test listens");
                }
            }
        };
        runtime.block_on(async {
            tokio::spawn(Waited::new(task, wait));
            tokio::task::yield_now().await;
            notify.notify_one();
            std::thread::sleep(BLOCKED);
            tokio::task::yield_now().await;
            let waited = waits.try_recv().expect("it was polled");
            assert!(waited >= BLOCKED, "{waited:?}");
            // Woken and polled with nothing in between.
            notify.notify_one();
            tokio::task::yield_now().await;
            assert!(waits.try_recv().expect("it was polled") < waited);
        });
    }
}
