//! A steady load of searches, with the outcome of each.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::Value;
use software_directory::engine::opensearch::cluster::Cluster;
use tokio::task::JoinSet;

use crate::environment::search;

/// How many searches are in progress at once.
const CALLERS: usize = 8;
/// A caller's pause after each search, needed because three nodes run on the same two processors.
const PAUSE: Duration = Duration::from_millis(20);
/// How long after a fault searches may still fail.
const GRACE: Duration = Duration::from_secs(2);
/// How many searches after that it takes to reach a verdict.
const ENOUGH: usize = 400;

/// A completed search.
struct Sample {
    begin: Instant,
    latency: Duration,
    error: Option<String>,
}

/// Callers that search until the load is stopped.
pub(crate) struct Load {
    samples: Arc<Mutex<Vec<Sample>>>,
    is_over: Arc<AtomicBool>,
    callers: JoinSet<()>,
}

impl Load {
    /// Starts the callers.
    pub(crate) fn start(cluster: &Arc<Cluster>, index: &'static str) -> Self {
        let (samples, is_over) = (Arc::default(), Arc::new(AtomicBool::new(false)));
        let mut callers = JoinSet::new();
        for _ in 0..CALLERS {
            let (cluster, samples, is_over) = (Arc::clone(cluster), Arc::clone(&samples), Arc::clone(&is_over));
            callers.spawn(call(cluster, index, samples, is_over));
        }
        Self { samples, is_over, callers }
    }

    /// Waits until this many searches that started after this instant have finished.
    pub(crate) async fn until_searches(&self, count: usize, after: Instant) {
        while self.samples.lock().expect("a lock").iter().filter(|sample| sample.begin > after).count() < count {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Waits until enough searches that started after the grace period have finished, then stops
    /// the load. Prints the outcomes, and fails if any of those searches failed.
    pub(crate) async fn end(mut self, fault: &str, begin: Instant) {
        self.until_searches(ENOUGH, begin + GRACE).await;
        self.is_over.store(true, Ordering::Relaxed);
        while self.callers.join_next().await.is_some() {}
        let samples = self.samples.lock().expect("a lock");
        let during: Vec<_> = samples.iter().filter(|sample| sample.begin + sample.latency >= begin).collect();
        let (later, early): (Vec<_>, Vec<_>) = during.iter().partition(|sample| sample.begin >= begin + GRACE);
        let failed = |samples: &[&&Sample]| samples.iter().filter(|sample| sample.error.is_some()).count();
        let worst = |samples: &[&&Sample]| samples.iter().map(|sample| sample.latency).max().unwrap_or_default();
        println!(
            "{fault}: {} searches in the first two seconds, {} failed, at most {} ms; {} later, {} failed, at most {} ms",
            early.len(),
            failed(&early),
            worst(&early).as_millis(),
            later.len(),
            failed(&later),
            worst(&later).as_millis(),
        );
        for error in early.iter().filter_map(|sample| sample.error.as_deref()).take(3) {
            println!("  {error}");
        }
        let errors: Vec<_> = later.iter().filter_map(|sample| sample.error.as_deref()).collect();
        assert!(errors.is_empty(), "{fault}: {} searches failed: {:?}", errors.len(), &errors[..errors.len().min(3)]);
    }
}

async fn call(cluster: Arc<Cluster>, index: &str, samples: Arc<Mutex<Vec<Sample>>>, is_over: Arc<AtomicBool>) {
    while !is_over.load(Ordering::Relaxed) {
        let begin = Instant::now();
        let result = search(&cluster, index).await;
        let latency = begin.elapsed();
        let error = match result.and_then(|response| response.json::<Value>()) {
            Ok(found) if found["hits"]["total"]["value"] == 300 => None,
            Ok(found) => Some(found.to_string()),
            Err(error) => Some(format!("{error:?}")),
        };
        samples.lock().expect("a lock").push(Sample { begin, latency, error });
        tokio::time::sleep(PAUSE).await;
    }
}
