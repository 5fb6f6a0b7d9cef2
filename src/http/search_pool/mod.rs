//! The threads that run searches.
//!
//! The runtime's threads read and write connections, which takes microseconds per request, while a
//! search takes up to several milliseconds of CPU. On separate threads, searches don't delay
//! lookups or `/healthz`, and their queue is the one place where overload shows.

mod admission;

use std::io;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, bounded};
use tokio::sync::oneshot;

use self::admission::Admission;
pub use self::admission::MaxQueueDelay;
use super::problem::ApiError;
use crate::panics;

/// Further searches are rejected immediately.
const QUEUE_CAPACITY: usize = 4096;

/// A fixed number of threads that share one bounded FIFO queue. They end when the pool is dropped.
#[derive(Debug)]
pub(super) struct SearchPool {
    queue: Sender<Task>,
    admission: Admission,
}

struct Task {
    enqueued: Instant,
    max_delay: Duration,
    run: Box<dyn FnOnce(Verdict) + Send>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Admitted,
    Rejected,
}

impl SearchPool {
    pub(super) fn start(threads: usize, max_delay: MaxQueueDelay) -> io::Result<Self> {
        let (queue, tasks) = bounded(QUEUE_CAPACITY);
        for _ in 0..threads {
            let tasks = tasks.clone();
            std::thread::Builder::new().name("search".to_owned()).spawn(move || work(&tasks))?;
        }
        Ok(Self { queue, admission: Admission::new(max_delay) })
    }

    /// Runs a search to completion on one of the threads. It doesn't run if the caller has gone by
    /// the time it's dequeued.
    ///
    /// # Errors
    /// [`ApiError::Overloaded`] if the queue is full or the search waits too long,
    /// [`ApiError::Panicked`] if it panics.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        search: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, ApiError> {
        let (sender, receiver) = oneshot::channel();
        let run = Box::new(move |verdict| {
            if sender.is_closed() {
                return;
            }
            let outcome = match verdict {
                // A search has no mutable shared state, so a panic leaves nothing half done.
                Verdict::Admitted => panics::catch(|| pollster::block_on(search)).map_err(ApiError::Panicked),
                Verdict::Rejected => Err(ApiError::Overloaded),
            };
            let _ = sender.send(outcome);
        });
        let enqueued = Instant::now();
        let task = Task { enqueued, max_delay: self.admission.max_delay(self.queue.is_empty(), enqueued), run };
        self.queue.try_send(task).map_err(|_| ApiError::Overloaded)?;
        receiver.await.unwrap_or(Err(ApiError::Overloaded))
    }
}

fn work(tasks: &Receiver<Task>) {
    for task in tasks {
        let is_late = task.enqueued.elapsed() > task.max_delay;
        (task.run)(if is_late { Verdict::Rejected } else { Verdict::Admitted });
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    /// Longer than any queue delay in a test.
    const PATIENT: MaxQueueDelay = MaxQueueDelay { burst: Duration::from_hours(1), standing: Duration::from_hours(1) };

    #[tokio::test]
    async fn search_runs_on_a_thread_of_the_pool() {
        let pool = SearchPool::start(1, PATIENT).expect("a thread");
        let name = pool.run(async { std::thread::current().name().unwrap_or_default().to_owned() }).await;
        assert_eq!(name.expect("it ran"), "search");
    }

    #[tokio::test]
    async fn panic_fails_only_one_search() {
        let pool = SearchPool::start(1, PATIENT).expect("a thread");
        let number = std::hint::black_box(3);
        let failed = pool.run(async move { assert_eq!(number, 4, "out of paper") }).await;
        assert!(matches!(failed, Err(ApiError::Panicked(message)) if message.contains("out of paper")));
        assert_eq!(pool.run(async { 5 }).await.expect("the thread keeps running"), 5);
    }

    /// A pool whose only thread is busy until the sender is dropped.
    async fn busy_pool(max_delay: MaxQueueDelay) -> (std::sync::Arc<SearchPool>, mpsc::Sender<()>) {
        let pool = std::sync::Arc::new(SearchPool::start(1, max_delay).expect("a thread"));
        let (release, released) = mpsc::channel::<()>();
        let (entered, entry) = oneshot::channel();
        let run = Box::new(move |_| {
            let _ = entered.send(());
            let _ = released.recv();
        });
        let task = Task { enqueued: Instant::now(), max_delay: Duration::MAX, run };
        assert!(pool.queue.send(task).is_ok());
        entry.await.expect("the thread is busy");
        (pool, release)
    }

    #[tokio::test]
    async fn search_that_waited_too_long_is_rejected() {
        let (pool, release) = busy_pool(MaxQueueDelay { burst: Duration::ZERO, standing: Duration::ZERO }).await;
        let waiting = std::sync::Arc::clone(&pool);
        let late = tokio::spawn(async move { waiting.run(async {}).await });
        while pool.queue.is_empty() {
            tokio::task::yield_now().await;
        }
        drop(release);
        assert!(matches!(late.await.expect("it ends"), Err(ApiError::Overloaded)));
    }

    #[tokio::test]
    async fn search_whose_caller_is_gone_does_not_run() {
        let (pool, release) = busy_pool(PATIENT).await;
        let (ran, runs) = mpsc::channel();
        let abandoned = std::sync::Arc::clone(&pool);
        let caller = tokio::spawn(async move { abandoned.run(async move { ran.send(()) }).await });
        while pool.queue.is_empty() {
            tokio::task::yield_now().await;
        }
        caller.abort();
        assert!(caller.await.is_err());
        drop(release);
        pool.run(async {}).await.expect("it ran");
        assert!(runs.try_recv().is_err());
    }
}
