//! The threads that searches run on.
//!
//! The runtime's threads read and write connections, which takes microseconds a request; a search takes up to milliseconds of
//! CPU. With searches on threads of their own a lookup or `/healthz` doesn't wait behind them, and their queue is the one
//! place where overload shows.

mod admission;

use std::io;
use std::time::Instant;

use crossbeam_channel::{Receiver, Sender, bounded};
use tokio::sync::oneshot;

use self::admission::Admission;
pub use self::admission::MaxQueueDelay;
use super::problem::ApiError;
use crate::panics;

/// The most searches that wait in the queue; further ones are rejected at once.
const QUEUE_CAPACITY: usize = 4096;

/// A queue shorter than this rejects no search, however long each waits: then the machine is slow, and a rejected caller would
/// only come again.
const MIN_QUEUE_LEN: usize = 48;

/// A fixed number of threads behind one bounded first-in first-out queue. The threads end when the pool is dropped.
#[derive(Debug)]
pub(super) struct SearchPool {
    queue: Sender<Task>,
}

struct Task {
    enqueued: Instant,
    /// The length of the queue when the task came.
    queue_len: usize,
    run: Box<dyn FnOnce(Verdict) + Send>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Admitted,
    Rejected,
}

impl SearchPool {
    /// Starts the threads.
    ///
    /// # Errors
    /// Where the system has no more threads.
    pub(super) fn start(threads: usize, max_delay: MaxQueueDelay) -> io::Result<Self> {
        let (queue, tasks) = bounded(QUEUE_CAPACITY);
        let admission = std::sync::Arc::new(Admission::new(max_delay));
        for _ in 0..threads {
            let (tasks, admission) = (tasks.clone(), std::sync::Arc::clone(&admission));
            std::thread::Builder::new().name("search".to_owned()).spawn(move || work(&tasks, &admission))?;
        }
        Ok(Self { queue })
    }

    /// Runs a search on one of the threads. A search that nothing awaits any more at its turn doesn't run.
    ///
    /// # Errors
    /// [`ApiError::Overloaded`] where the queue is full or its delay too long, [`ApiError::Panicked`] where the search panics.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        search: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, ApiError> {
        let (sender, receiver) = oneshot::channel();
        let run = Box::new(move |verdict| {
            if sender.is_closed() {
                return;
            }
            let outcome = match verdict {
                // A search shares nothing mutable, so nothing half-done is left behind by a panic.
                Verdict::Admitted => panics::catch(search).map_err(ApiError::Panicked),
                Verdict::Rejected => Err(ApiError::Overloaded),
            };
            let _ = sender.send(outcome);
        });
        let task = Task { enqueued: Instant::now(), queue_len: self.queue.len(), run };
        self.queue.try_send(task).map_err(|_| ApiError::Overloaded)?;
        receiver.await.unwrap_or(Err(ApiError::Overloaded))
    }
}

/// Runs tasks until the pool is dropped.
fn work(tasks: &Receiver<Task>, admission: &Admission) {
    for task in tasks {
        let is_crowded = task.queue_len.max(tasks.len()) >= MIN_QUEUE_LEN;
        let is_rejected = is_crowded && admission.rejects(task.enqueued.elapsed());
        (task.run)(if is_rejected { Verdict::Rejected } else { Verdict::Admitted });
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use tokio::task::JoinSet;

    use super::*;

    /// A limit that no queue delay of a test reaches.
    const PATIENT: MaxQueueDelay = MaxQueueDelay { burst: Duration::from_hours(1), standing: Duration::from_hours(1) };

    #[tokio::test]
    async fn search_runs_on_a_thread_of_the_pool() {
        let pool = SearchPool::start(1, PATIENT).expect("a thread");
        let name = pool.run(|| std::thread::current().name().unwrap_or_default().to_owned()).await;
        assert_eq!(name.expect("it ran"), "search");
    }

    #[tokio::test]
    async fn panic_is_one_failed_search() {
        let pool = SearchPool::start(1, PATIENT).expect("a thread");
        let number = std::hint::black_box(3);
        let failed = pool.run(move || assert_eq!(number, 4, "out of paper")).await;
        assert!(matches!(failed, Err(ApiError::Panicked(message)) if message.contains("out of paper")));
        assert_eq!(pool.run(|| 5).await.expect("the thread goes on"), 5);
    }

    /// A pool with one thread, busy until the sender is dropped.
    async fn busy_pool(max_delay: MaxQueueDelay) -> (std::sync::Arc<SearchPool>, mpsc::Sender<()>) {
        let pool = std::sync::Arc::new(SearchPool::start(1, max_delay).expect("a thread"));
        let (release, released) = mpsc::channel::<()>();
        let (entered, entry) = oneshot::channel();
        let first = std::sync::Arc::clone(&pool);
        tokio::spawn(async move {
            let blocked = move || {
                let _ = entered.send(());
                let _ = released.recv();
            };
            let _ = first.run(blocked).await;
        });
        entry.await.expect("the thread is busy");
        (pool, release)
    }

    #[tokio::test]
    async fn long_delay_in_a_long_queue_is_rejected_and_in_a_short_one_not() {
        let (pool, release) = busy_pool(MaxQueueDelay { burst: Duration::ZERO, standing: Duration::ZERO }).await;
        let mut searches = JoinSet::new();
        for number in 0..=MIN_QUEUE_LEN {
            let pool = std::sync::Arc::clone(&pool);
            searches.spawn(async move { pool.run(move || number).await });
        }
        while pool.queue.len() <= MIN_QUEUE_LEN {
            tokio::task::yield_now().await;
        }
        drop(release);
        let outcomes = searches.join_all().await;
        let rejected = outcomes.iter().filter(|outcome| matches!(outcome, Err(ApiError::Overloaded))).count();
        let served = outcomes.iter().filter(|outcome| outcome.is_ok()).count();
        // The first has as many behind it, the last as many before it as make a long queue.
        assert_eq!((rejected, served), (2, MIN_QUEUE_LEN - 1));
    }

    #[tokio::test]
    async fn search_without_a_caller_does_not_run() {
        let (pool, release) = busy_pool(PATIENT).await;
        let (ran, runs) = mpsc::channel();
        let abandoned = std::sync::Arc::clone(&pool);
        let caller = tokio::spawn(async move { abandoned.run(move || ran.send(())).await });
        while pool.queue.is_empty() {
            tokio::task::yield_now().await;
        }
        caller.abort();
        assert!(caller.await.is_err());
        drop(release);
        pool.run(|| ()).await.expect("it ran");
        assert!(runs.try_recv().is_err());
    }
}
