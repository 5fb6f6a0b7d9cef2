//! Computing beside the threads that read and write: searches take up to milliseconds, all else microseconds.
//!
//! A thread of connections hands what takes long to a computing thread that has nothing to do. Where none has, it computes as
//! well, one piece after another, with a look at its connections after each. So all processors compute when there is so much
//! to compute, no more threads than processors want one, and nothing quick waits behind a search while any is free.

use std::cell::{Cell, OnceCell};
use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tokio::sync::oneshot;

use super::panic;
use super::problem::ApiError;
use super::server::{FEW, LongestWait, Queue};

thread_local! {
    /// Where this thread has computed what takes long.
    static HERE: OnceCell<Here> = const { OnceCell::new() };
}

/// A thread of connections as one that computes.
#[derive(Debug)]
struct Here {
    pool: Arc<ComputePool>,
    /// Whether it has a task that computes.
    is_computing: Cell<bool>,
}

/// Threads that compute, and what they haven't come to yet. They are never joined: they end with the process.
#[derive(Debug)]
pub struct ComputePool {
    state: Mutex<State>,
    /// A thread is called.
    called: Condvar,
    /// Who waited too long.
    queue: Queue,
}

#[derive(Debug, Default)]
struct State {
    /// In the order in which they came.
    jobs: VecDeque<Job>,
    /// How many threads have nothing to do.
    idle: usize,
    /// How many of those have been called.
    called: usize,
}

struct Job {
    since: Instant,
    /// How many others waited at the same time: those before it, then those behind it, whichever are more.
    others: usize,
    /// Does it, or turns it away where it comes too late.
    work: Box<dyn FnOnce(IsLate) + Send>,
}

type IsLate = bool;

/// Computes on a thread of the pool that this thread belongs to, or on this one where it belongs to none.
///
/// # Errors
/// [`ApiError::Overloaded`] for what came to its turn too late, [`ApiError::Panicked`] where it panics.
pub(super) async fn compute<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, ApiError> {
    let (tell, told) = oneshot::channel();
    let work = move |is_late| {
        // Nobody waits for it any more where the connection is gone or the time for it is over.
        if !tell.is_closed() {
            let _ = tell.send(if is_late { Err(ApiError::Overloaded) } else { panic::catch(work) });
        }
    };
    HERE.with(|here| match here.get() {
        Some(here) => here.push(Box::new(work)),
        None => work(false),
    });
    // All that was pushed is done.
    told.await.unwrap_or(Err(ApiError::Overloaded))
}

impl ComputePool {
    /// Starts so many threads, possibly none.
    ///
    /// # Errors
    /// Where the system has no more threads.
    pub fn start(threads: usize, longest: LongestWait) -> io::Result<Arc<Self>> {
        let pool = Arc::new(Self { state: Mutex::default(), called: Condvar::new(), queue: Queue::new(longest) });
        for _ in 0..threads {
            let pool = Arc::clone(&pool);
            std::thread::Builder::new().name("compute".to_owned()).spawn(move || pool.work())?;
        }
        Ok(pool)
    }

    /// Has this thread compute what takes long in the pool, and for it. To be called once on a thread, whose runtime must be
    /// its own (`new_current_thread`).
    pub fn enter(self: &Arc<Self>) {
        HERE.with(|here| {
            let _ = here.set(Here { pool: Arc::clone(self), is_computing: Cell::new(false) });
        });
    }

    fn work(&self) {
        loop {
            match self.next() {
                Some(job) => job.run(&self.queue),
                None => self.wait(),
            }
        }
    }

    fn next(&self) -> Option<Job> {
        let mut state = self.state();
        let job = state.jobs.pop_front()?;
        Some(Job { others: job.others.max(state.jobs.len()), ..job })
    }

    /// Waits until it is called, if there is nothing to do.
    fn wait(&self) {
        let mut state = self.state();
        if state.jobs.is_empty() {
            state.idle += 1;
            let uncalled = |state: &mut State| state.called == 0;
            let mut state = self.called.wait_while(state, uncalled).unwrap_or_else(PoisonError::into_inner);
            state.called -= 1;
            state.idle -= 1;
        }
    }

    /// Adds a job and calls a thread for it; tells whether there is one.
    fn push(&self, work: Box<dyn FnOnce(IsLate) + Send>) -> bool {
        let since = Instant::now();
        let mut state = self.state();
        let job = Job { since, others: state.jobs.len(), work };
        state.jobs.push_back(job);
        let is_any_free = state.idle > state.called;
        if is_any_free {
            state.called += 1;
            drop(state);
            self.called.notify_one();
        }
        is_any_free
    }

    /// Nothing that is done under the lock can panic halfway.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Here {
    fn push(&self, work: Box<dyn FnOnce(IsLate) + Send>) {
        if self.pool.push(work) || self.is_computing.replace(true) {
            return;
        }
        let pool = Arc::clone(&self.pool);
        // Connections that are ready already come first, and between two jobs: what they ask may be quick.
        tokio::spawn(async move {
            while let Some(job) = pool.next() {
                job.run(&pool.queue);
                tokio::task::yield_now().await;
            }
            HERE.with(|here| {
                if let Some(here) = here.get() {
                    here.is_computing.set(false);
                }
            });
        });
    }
}

impl Job {
    fn run(self, queue: &Queue) {
        let is_late = self.others >= FEW && queue.is_too_late(self.since.elapsed());
        (self.work)(is_late);
    }
}

impl std::fmt::Debug for Job {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Job").field("since", &self.since).field("others", &self.others).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::sync::mpsc;
    use std::time::Duration;

    use tokio::runtime::Builder;
    use tokio::task::{JoinSet, yield_now};

    use super::*;

    /// Nobody waits as long.
    const PATIENT: LongestWait = LongestWait { burst: Duration::from_hours(1), standing: Duration::from_hours(1) };

    fn pool(threads: usize, longest: LongestWait) -> Arc<ComputePool> {
        let pool = ComputePool::start(threads, longest).expect("threads");
        while pool.state().idle < threads {
            std::thread::yield_now();
        }
        pool
    }

    /// Runs something on a thread of connections.
    fn on_thread<F: Future>(pool: &Arc<ComputePool>, run: impl FnOnce() -> F + Send + 'static) -> F::Output
    where
        F::Output: Send + 'static,
    {
        let pool = Arc::clone(pool);
        let thread = std::thread::Builder::new().name("io".to_owned()).spawn(move || {
            pool.enter();
            Builder::new_current_thread().build().expect("a runtime").block_on(run())
        });
        thread.expect("a thread").join().expect("no panic")
    }

    fn name() -> String {
        std::thread::current().name().unwrap_or_default().to_owned()
    }

    #[tokio::test]
    async fn without_a_pool_it_is_computed_where_it_is_asked_for() {
        assert_eq!(compute(name).await.expect("computed"), name());
    }

    #[test]
    fn a_thread_that_has_nothing_to_do_computes_and_else_this_one() {
        let pool = pool(1, PATIENT);
        let (free, wait) = mpsc::channel::<()>();
        let busy = Arc::clone(&pool);
        let names = on_thread(&pool, async move || {
            let first = compute(name).await.expect("computed");
            while busy.state().idle == 0 {
                std::thread::yield_now();
            }
            assert!(busy.push(Box::new(move |_| _ = wait.recv())), "it has nothing to do");
            while !busy.state().jobs.is_empty() {
                std::thread::yield_now();
            }
            let second = compute(name).await.expect("computed");
            drop(free);
            (first, second)
        });
        assert_eq!(names, ("compute".to_owned(), "io".to_owned()));
    }

    #[test]
    fn what_is_ready_comes_between_computations() {
        const COMPUTATIONS: usize = 6;
        let seen = on_thread(&pool(0, PATIENT), async || {
            let seen = Arc::new(Mutex::new(Vec::new()));
            let mut tasks = JoinSet::new();
            for _ in 0..COMPUTATIONS {
                let seen = Arc::clone(&seen);
                let computed = move || seen.lock().expect("no panic").push('c');
                tasks.spawn(async { compute(computed).await.expect("computed") });
            }
            let quick = Arc::clone(&seen);
            tasks.spawn(async move {
                while quick.lock().expect("no panic").iter().filter(|what| **what == 'c').count() < COMPUTATIONS {
                    quick.lock().expect("no panic").push('q');
                    yield_now().await;
                }
            });
            tasks.join_all().await;
            seen.lock().expect("no panic").iter().collect::<String>()
        });
        // Each has its turn once between two looks for more that is ready, in whatever order.
        assert!(!seen.contains("ccc"), "{seen}");
    }

    #[test]
    fn a_thread_of_connections_computes_as_long_as_there_is_something_and_again_later() {
        on_thread(&pool(0, PATIENT), async || {
            let is_computing = || HERE.with(|here| here.get().is_some_and(|here| here.is_computing.get()));
            for number in 0..3 {
                assert_eq!(compute(move || number).await.expect("computed"), number);
                yield_now().await;
                yield_now().await;
                assert!(!is_computing());
            }
        });
    }

    #[test]
    fn who_waited_too_long_behind_many_is_turned_away() {
        let hasty = LongestWait { burst: Duration::ZERO, standing: Duration::ZERO };
        let answers = on_thread(&pool(0, hasty), async || {
            let mut tasks = JoinSet::new();
            for number in 0..FEW + 2 {
                tasks.spawn(async move { (number, compute(move || number).await) });
            }
            tasks.join_all().await
        });
        assert_eq!(answers.len(), FEW + 2);
        for (number, answer) in answers {
            // As many waited before it or behind it.
            let is_late = number.max(FEW + 1 - number) >= FEW;
            match answer {
                Ok(answer) => assert!(!is_late && answer == number, "{number}"),
                Err(error) => assert!(is_late && matches!(error, ApiError::Overloaded), "{number}: {error}"),
            }
        }
    }

    #[test]
    fn a_panic_is_one_failed_computation() {
        for threads in [0, 1] {
            on_thread(&pool(threads, PATIENT), async || {
                let number = std::hint::black_box(3);
                let failed = compute(move || assert_eq!(number, 4, "out of paper")).await;
                assert!(matches!(failed, Err(ApiError::Panicked(message)) if message.contains("out of paper")));
                assert_eq!(compute(|| 5).await.expect("computed"), 5);
            });
        }
    }

    #[test]
    fn what_nobody_waits_for_any_more_is_not_computed() {
        on_thread(&pool(0, PATIENT), async || {
            let computed = Arc::new(Mutex::new(false));
            let gone = {
                let computed = Arc::clone(&computed);
                compute(move || *computed.lock().expect("no panic") = true)
            };
            {
                let mut gone = pin!(gone);
                std::future::poll_fn(|context| {
                    assert!(gone.as_mut().poll(context).is_pending());
                    std::task::Poll::Ready(())
                })
                .await;
            }
            compute(|| ()).await.expect("computed");
            assert!(!*computed.lock().expect("no panic"));
        });
    }
}
