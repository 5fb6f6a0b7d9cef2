//! Process metrics, under the names that the Prometheus client libraries share.

use std::fs;

use jiff::Timestamp;
use prometheus::core::Collector;
use prometheus::{Counter, Gauge, IntGauge, Opts, Registry};
use rustix::param::{clock_ticks_per_second, page_size};
use rustix::process::{Resource, getrlimit};

/// This process's metrics, read from `/proc` (proc(5)) on each scrape. They stay zero if there's no
/// `/proc`.
#[derive(Debug)]
pub(super) struct ProcessMetrics {
    cpu_seconds: Counter,
    open_fds: IntGauge,
    max_fds: IntGauge,
    virtual_memory: IntGauge,
    resident_memory: IntGauge,
    threads: IntGauge,
}

impl ProcessMetrics {
    /// Registers the metrics, and uses the time of this call as the process's start time.
    pub(super) fn new(registry: &Registry) -> prometheus::Result<Self> {
        let gauge = |name, help| registered(registry, IntGauge::new(name, help)?);
        let start = Gauge::with_opts(Opts::new(
            "process_start_time_seconds",
            "Start time of the process since unix epoch in seconds.",
        ))?;
        registered(registry, start)?.set(Timestamp::now().as_duration().as_secs_f64());
        Ok(Self {
            cpu_seconds: registered(
                registry,
                Counter::new("process_cpu_seconds_total", "Total user and system CPU time spent in seconds.")?,
            )?,
            open_fds: gauge("process_open_fds", "Number of open file descriptors.")?,
            max_fds: gauge("process_max_fds", "Maximum number of open file descriptors.")?,
            virtual_memory: gauge("process_virtual_memory_bytes", "Virtual memory size in bytes.")?,
            resident_memory: gauge("process_resident_memory_bytes", "Resident memory size in bytes.")?,
            threads: gauge("process_threads", "Number of OS threads in the process.")?,
        })
    }

    /// Updates the metrics.
    pub(super) fn update(&self) {
        if let Ok(descriptors) = fs::read_dir("/proc/self/fd") {
            self.open_fds.set(i64::try_from(descriptors.count()).unwrap_or(i64::MAX));
        }
        let limit = getrlimit(Resource::Nofile).current;
        self.max_fds.set(limit.map_or(i64::MAX, |limit| i64::try_from(limit).unwrap_or(i64::MAX)));
        let Some(stat) = fs::read_to_string("/proc/self/stat").ok().as_deref().and_then(Stat::parse) else { return };
        self.cpu_seconds.reset();
        #[expect(clippy::cast_precision_loss, reason = "exact for the first million years")]
        self.cpu_seconds.inc_by(stat.cpu_ticks as f64 / clock_ticks_per_second() as f64);
        let bytes = |bytes: u64| i64::try_from(bytes).unwrap_or(i64::MAX);
        self.virtual_memory.set(bytes(stat.virtual_bytes));
        self.resident_memory.set(bytes(stat.resident_pages.saturating_mul(page_size() as u64)));
        self.threads.set(bytes(stat.threads));
    }
}

fn registered<C: Collector + Clone + 'static>(registry: &Registry, metric: C) -> prometheus::Result<C> {
    registry.register(Box::new(metric.clone()))?;
    Ok(metric)
}

/// Fields of `/proc/self/stat`.
#[derive(Debug, PartialEq)]
struct Stat {
    /// `utime` and `stime`, in clock ticks.
    cpu_ticks: u64,
    threads: u64,
    virtual_bytes: u64,
    resident_pages: u64,
}

impl Stat {
    fn parse(text: &str) -> Option<Self> {
        // The second field, the program's name, is in parentheses and may contain any byte; the
        // third field follows the last parenthesis.
        let (_, rest) = text.rsplit_once(')')?;
        let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
        let field = |number: usize| fields.get(number - 3)?.parse::<u64>().ok();
        Some(Self {
            cpu_ticks: field(14)? + field(15)?,
            threads: field(20)?,
            virtual_bytes: field(23)?,
            resident_pages: field(24)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Stat;

    #[test]
    fn program_name_in_stat_may_contain_parentheses() {
        let text = "7 (a) b) S 1 7 7 0 -1 4194560 211 0 0 0 30 12 0 0 20 0 9 0 5000 8192000 777 18446744073709551615";
        assert_eq!(
            Stat::parse(text),
            Some(Stat { cpu_ticks: 42, threads: 9, virtual_bytes: 8_192_000, resident_pages: 777 })
        );
        assert_eq!(Stat::parse("7 (a) S 1"), None);
        assert_eq!(Stat::parse(""), None);
    }
}
