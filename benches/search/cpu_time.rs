//! Measures the thread's CPU time, which other work on the machine affects much less than wall
//! time.

use std::time::Duration;

use criterion::Throughput;
use criterion::measurement::{Measurement, ValueFormatter, WallTime};
use rustix::time::{ClockId, clock_gettime};

/// The CPU time used by this thread so far.
pub(crate) fn now() -> Duration {
    read(ClockId::ThreadCPUTime)
}

/// The CPU time used by all threads so far.
pub(crate) fn of_process() -> Duration {
    read(ClockId::ProcessCPUTime)
}

fn read(clock: ClockId) -> Duration {
    let time = clock_gettime(clock);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// The CPU time that something takes.
pub(crate) fn of<T>(work: impl FnOnce() -> T) -> Duration {
    let start = now();
    std::hint::black_box(work());
    now().saturating_sub(start)
}

/// Like Criterion's own clock, but measures CPU time.
pub(crate) struct CpuTime;

impl Measurement for CpuTime {
    type Intermediate = Duration;
    type Value = Duration;

    fn start(&self) -> Duration {
        now()
    }

    fn end(&self, start: Duration) -> Duration {
        now().saturating_sub(start)
    }

    fn add(&self, a: &Duration, b: &Duration) -> Duration {
        *a + *b
    }

    fn zero(&self) -> Duration {
        Duration::ZERO
    }

    fn to_f64(&self, value: &Duration) -> f64 {
        WallTime.to_f64(value)
    }

    fn formatter(&self) -> &dyn ValueFormatter {
        WallTime.formatter()
    }
}

/// The throughput for a batch of this many queries.
pub(crate) fn per_query(queries: usize) -> Throughput {
    Throughput::Elements(queries as u64)
}
