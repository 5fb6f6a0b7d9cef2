//! Prototype.
use std::collections::VecDeque;
use std::sync::{Condvar, LazyLock, Mutex};
use std::sync::atomic::{AtomicUsize, Ordering};

type Job = Box<dyn FnOnce() + Send>;

#[derive(Default)]
pub struct Work { jobs: Mutex<VecDeque<Job>>, ready: Condvar, sleeping: AtomicUsize, runner: tokio::sync::Notify }

pub static WORK: LazyLock<Work> = LazyLock::new(Work::default);

impl Work {
    pub fn submit(&self, job: Job) {
        let mut jobs = self.jobs.lock().unwrap();
        jobs.push_back(job);
        let wake = jobs.len() >= 2 && self.sleeping.load(Ordering::Relaxed) > 0;
        drop(jobs);
        if wake { self.ready.notify_one(); }
        self.runner.notify_one();
    }
    pub fn help(&self) {
        loop {
            let mut jobs = self.jobs.lock().unwrap();
            let job = loop {
                if let Some(job) = jobs.pop_front() { break job; }
                self.sleeping.fetch_add(1, Ordering::Relaxed);
                jobs = self.ready.wait(jobs).unwrap();
                self.sleeping.fetch_sub(1, Ordering::Relaxed);
            };
            drop(jobs);
            job();
        }
    }
    pub async fn run(&self) {
        loop {
            self.runner.notified().await;
            loop {
                let job = self.jobs.lock().unwrap().pop_front();
                let Some(job) = job else { break };
                job();
                tokio::task::yield_now().await;
            }
        }
    }
}
