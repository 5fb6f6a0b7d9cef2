//! The threads that run searches.
//!
//! The runtime's threads read and write connections, which takes microseconds per request, while a
//! search takes up to several milliseconds of CPU. On separate threads, searches don't delay
//! lookups or `/healthz`, and their queue is the only place where overload shows up.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use std::{fmt, io};

use crossbeam_channel::{Receiver, Sender, bounded};
use tokio::sync::oneshot;

use super::problem::ApiError;
use crate::key::Holder;
use crate::panics;
use crate::service::Stop;

tokio::task_local! {
    static HOLDER: Holder;
}

/// Runs a future whose searches take this holder's turns in the queue.
pub(super) fn with_turns_of<F: Future>(holder: Holder, work: F) -> impl Future<Output = F::Output> {
    HOLDER.scope(holder, work)
}

/// The holder that the current task's searches are queued for. Requests without a grant, and bodies
/// that search while being streamed, share one holder's turns.
pub(super) fn holder() -> Holder {
    HOLDER.try_with(Holder::clone).unwrap_or_else(|_| Holder::none())
}

/// The queue's capacity. Searches beyond it are rejected immediately.
const QUEUE_CAPACITY: usize = 4096;

/// A fixed number of threads that share one bounded queue, in which callers take turns. The threads
/// end when the pool is dropped.
#[derive(Debug)]
pub(super) struct SearchPool {
    tasks: Arc<Mutex<Turns<Task>>>,
    /// One token per queued task. The channel's capacity bounds the queue.
    tokens: Sender<()>,
    admission: Admission,
}

/// A search to run. Dropping it rejects the search.
struct Task {
    enqueued: Instant,
    max_delay: Duration,
    run: Box<dyn FnOnce() + Send>,
}

impl fmt::Debug for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Task").field("enqueued", &self.enqueued).finish_non_exhaustive()
    }
}

/// Sets the stop signal when it's dropped.
struct StopOnDrop(Stop);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.set();
    }
}

impl SearchPool {
    pub(super) fn start(threads: usize, max_delay: MaxQueueDelay) -> io::Result<Self> {
        let (tokens, queued) = bounded(QUEUE_CAPACITY);
        let tasks = Arc::default();
        for _ in 0..threads {
            let (tasks, queued) = (Arc::clone(&tasks), queued.clone());
            std::thread::Builder::new().name("search".to_owned()).spawn(move || work(&tasks, &queued))?;
        }
        Ok(Self { tasks, tokens, admission: Admission::new(max_delay) })
    }

    /// Runs a caller's search on one of the threads. It doesn't run if the caller has gone by the
    /// time it's dequeued. If the caller leaves or the request times out later, this future is
    /// dropped, which sets the search's stop signal.
    ///
    /// # Errors
    /// [`ApiError::Overloaded`] if the queue is full or the search waits too long,
    /// [`ApiError::Panicked`] if it panics.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        caller: Holder,
        search: impl FnOnce(Stop) -> T + Send + 'static,
    ) -> Result<T, ApiError> {
        let (sender, receiver) = oneshot::channel();
        let caller_leaves = StopOnDrop(Stop::default());
        let stop = caller_leaves.0.clone();
        let run = Box::new(move || {
            if !sender.is_closed() {
                // A search has no mutable shared state, so a panic leaves nothing half done.
                let _ = sender.send(panics::catch(|| search(stop)).map_err(ApiError::Panicked));
            }
        });
        let enqueued = Instant::now();
        let max_delay = self.admission.max_delay(self.tokens.is_empty(), enqueued);
        self.enqueue(caller, Task { enqueued, max_delay, run })?;
        receiver.await.unwrap_or(Err(ApiError::Overloaded))
    }

    fn enqueue(&self, caller: Holder, task: Task) -> Result<(), ApiError> {
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        self.tokens.try_send(()).map_err(|_| ApiError::Overloaded)?;
        tasks.push(caller, task);
        Ok(())
    }
}

fn work(tasks: &Mutex<Turns<Task>>, queued: &Receiver<()>) {
    for () in queued {
        let task = tasks.lock().unwrap_or_else(PoisonError::into_inner).pop();
        if let Some(task) = task.filter(|task| task.enqueued.elapsed() <= task.max_delay) {
            (task.run)();
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MaxQueueDelay {
    /// The limit during a burst, and how long a queue can be non-empty before it's a standing one.
    pub burst: Duration,
    /// The limit in a standing queue, where waiting longer delays callers without serving more of
    /// them.
    pub standing: Duration,
}

impl Default for MaxQueueDelay {
    fn default() -> Self {
        Self { burst: Duration::from_millis(250), standing: Duration::from_millis(100) }
    }
}

/// Decides how long a search may wait when it enters the queue.
#[derive(Debug)]
struct Admission {
    max_delay: MaxQueueDelay,
    /// When a search last entered an empty queue.
    last_empty: Mutex<Instant>,
}

impl Admission {
    fn new(max_delay: MaxQueueDelay) -> Self {
        Self { max_delay, last_empty: Mutex::new(Instant::now()) }
    }

    fn max_delay(&self, queue_is_empty: bool, now: Instant) -> Duration {
        let mut last_empty = self.last_empty.lock().unwrap_or_else(PoisonError::into_inner);
        if queue_is_empty {
            *last_empty = now;
        }
        if now.saturating_duration_since(*last_empty) > self.max_delay.burst {
            self.max_delay.standing
        } else {
            self.max_delay.burst
        }
    }
}

/// A round-robin queue: first in, first out for each caller, and one item per caller in turn. A
/// caller with many waiting items delays another caller's next item by only one.
#[derive(Debug)]
struct Turns<T> {
    /// The callers with waiting items, next turn first.
    callers: VecDeque<Holder>,
    waiting: HashMap<Holder, VecDeque<T>>,
}

impl<T> Default for Turns<T> {
    fn default() -> Self {
        Self { callers: VecDeque::new(), waiting: HashMap::new() }
    }
}

impl<T> Turns<T> {
    fn push(&mut self, caller: Holder, item: T) {
        match self.waiting.entry(caller) {
            Entry::Occupied(mut own) => own.get_mut().push_back(item),
            Entry::Vacant(own) => {
                self.callers.push_back(own.key().clone());
                own.insert(VecDeque::from([item]));
            }
        }
    }

    fn pop(&mut self) -> Option<T> {
        let caller = self.callers.pop_front()?;
        let own = self.waiting.get_mut(&caller)?;
        let item = own.pop_front();
        if own.is_empty() {
            self.waiting.remove(&caller);
        } else {
            self.callers.push_back(caller);
        }
        item
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use tokio::task::JoinSet;

    use super::*;
    use crate::service::Budget;

    /// Longer than any queue delay in a test.
    const PATIENT: MaxQueueDelay = MaxQueueDelay { burst: Duration::from_hours(1), standing: Duration::from_hours(1) };

    fn caller() -> Holder {
        Holder::Key("caller".into())
    }

    #[tokio::test]
    async fn panic_fails_only_one_search() {
        let pool = SearchPool::start(1, PATIENT).expect("a thread");
        let number = std::hint::black_box(3);
        let failed = pool.run(caller(), move |_| assert_eq!(number, 4, "out of paper")).await;
        assert!(matches!(failed, Err(ApiError::Panicked(message)) if message.contains("out of paper")));
        assert_eq!(pool.run(caller(), |_| { 5 }).await.expect("the thread keeps running"), 5);
    }

    /// A pool whose only thread is busy until the sender is dropped.
    async fn busy_pool(max_delay: MaxQueueDelay) -> (Arc<SearchPool>, mpsc::Sender<()>) {
        let pool = Arc::new(SearchPool::start(1, max_delay).expect("a thread"));
        let (release, released) = mpsc::channel::<()>();
        let (entered, entry) = oneshot::channel();
        let run = Box::new(move || {
            let _ = entered.send(());
            let _ = released.recv();
        });
        let task = Task { enqueued: Instant::now(), max_delay: Duration::MAX, run };
        pool.enqueue(caller(), task).expect("there is room");
        entry.await.expect("the thread is busy");
        (pool, release)
    }

    #[tokio::test]
    async fn search_that_waited_too_long_is_rejected() {
        let (pool, release) = busy_pool(MaxQueueDelay { burst: Duration::ZERO, standing: Duration::ZERO }).await;
        let waiting = Arc::clone(&pool);
        let late = tokio::spawn(async move { waiting.run(caller(), |_| {}).await });
        while pool.tokens.is_empty() {
            tokio::task::yield_now().await;
        }
        drop(release);
        assert!(matches!(late.await.expect("it ends"), Err(ApiError::Overloaded)));
    }

    #[tokio::test]
    async fn search_whose_caller_is_gone_does_not_run() {
        let (pool, release) = busy_pool(PATIENT).await;
        let (ran, runs) = mpsc::channel();
        let abandoned = Arc::clone(&pool);
        let gone = tokio::spawn(async move { abandoned.run(caller(), move |_| ran.send(())).await });
        while pool.tokens.is_empty() {
            tokio::task::yield_now().await;
        }
        gone.abort();
        assert!(gone.await.is_err());
        drop(release);
        pool.run(caller(), |_| {}).await.expect("it ran");
        assert!(runs.try_recv().is_err());
    }

    #[tokio::test]
    async fn running_search_stops_once_its_caller_is_gone() {
        let pool = Arc::new(SearchPool::start(1, PATIENT).expect("a thread"));
        let (entered, entry) = oneshot::channel();
        let (leave, left) = mpsc::channel::<()>();
        let (stopped, stops) = mpsc::channel();
        let abandoned = Arc::clone(&pool);
        let gone = tokio::spawn(async move {
            let search = move |stop: Stop| {
                let budget = Budget::new(u64::MAX).until(&stop);
                assert!(budget.allows_more(), "its caller is waiting");
                let _ = entered.send(());
                let _ = left.recv();
                let _ = stopped.send(!budget.allows_more());
            };
            abandoned.run(caller(), search).await
        });
        entry.await.expect("it's running");
        gone.abort();
        assert!(gone.await.is_err());
        drop(leave);
        assert_eq!(stops.recv(), Ok(true));
    }

    #[tokio::test]
    async fn another_callers_search_waits_for_only_one_of_many() {
        let (pool, release) = busy_pool(PATIENT).await;
        let (ran, runs) = mpsc::channel();
        let mut waiting = JoinSet::new();
        for (queued, name) in (1..).zip(["many", "many", "many", "other"]) {
            let (own, ran) = (Arc::clone(&pool), ran.clone());
            waiting.spawn(async move { own.run(Holder::Key(name.into()), move |_| ran.send(name)).await });
            while pool.tokens.len() < queued {
                tokio::task::yield_now().await;
            }
        }
        drop(release);
        waiting.join_all().await;
        assert_eq!(runs.try_iter().collect::<Vec<_>>(), ["many", "other", "many", "many"]);
    }

    #[test]
    fn standing_queue_gets_the_shorter_delay_until_it_empties() {
        let (max_delay, start) = (MaxQueueDelay::default(), Instant::now());
        let admission = Admission::new(max_delay);
        let at = |milliseconds, is_empty| admission.max_delay(is_empty, start + Duration::from_millis(milliseconds));
        // Idle time before a burst doesn't count.
        assert_eq!(at(10_000, true), max_delay.burst);
        assert_eq!(at(10_001, false), max_delay.burst);
        assert_eq!(at(10_250, false), max_delay.burst);
        assert_eq!(at(10_251, false), max_delay.standing);
        assert_eq!(at(20_000, false), max_delay.standing);
        assert_eq!(at(20_001, true), max_delay.burst);
        assert_eq!(at(20_002, false), max_delay.burst);
    }

    #[test]
    fn callers_take_turns() {
        let mut turns = Turns::default();
        for item in ["a1", "a2", "a3", "b1", "c1", "b2"] {
            turns.push(Holder::Key(item[..1].into()), item);
        }
        assert_eq!([(); 4].map(|()| turns.pop()), ["a1", "b1", "c1", "a2"].map(Some));
        // A caller that had nothing waiting goes to the back.
        turns.push(Holder::Key("c".into()), "c2");
        assert_eq!([(); 4].map(|()| turns.pop()), [Some("b2"), Some("a3"), Some("c2"), None]);
        assert!(turns.waiting.is_empty());
    }
}
