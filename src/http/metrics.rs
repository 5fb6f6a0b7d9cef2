//! The metrics of the service and its process, in the Prometheus text format.

use std::fs;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use axum::http::{Method, StatusCode};
use jiff::Timestamp;
use prometheus::core::Collector;
use prometheus::{
    Counter, Gauge, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, IntGauge, IntGaugeVec, Opts, Registry,
    TextEncoder,
};
use rustix::param::{clock_ticks_per_second, page_size};
use rustix::process::{Resource, getrlimit};

use super::extract::Served;
use crate::key::KeyStore;
use crate::update::{Directory, Outcome};

/// The prefix of all metric names except the process metrics.
const NAMESPACE: &str = "software_directory";

/// The buckets' upper bounds in seconds, from the duration of a lookup to the request timeout.
const BUCKETS: [f64; 16] =
    [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];

/// A metric couldn't be registered, which is a bug.
#[derive(Debug, thiserror::Error)]
#[error("the metrics couldn't be set up")]
pub struct MetricsError(#[from] prometheus::Error);

#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    requests: IntCounterVec,
    durations: HistogramVec,
    pub connections: IntGauge,
    /// Requests shed under overload.
    pub(super) shed: IntCounter,
    /// Requests from page visitors, who have no key.
    pub(super) page_requests: IntCounter,
    /// Requests over a key's quota.
    pub(super) limited_by_key: IntCounter,
    /// Visitor requests over their address's quota.
    pub(super) limited_by_visitor: IntCounter,
    /// Requests from an address with too many failed authentications.
    pub(super) limited_by_address: IntCounter,
    searches: IntCounter,
    searches_without_hits: IntCounter,
    /// Locked while the values are updated and read, so that concurrent scrapes are consistent.
    directory: Mutex<DirectoryMetrics>,
    process: ProcessMetrics,
}

/// Metrics of the directory, updated on each scrape.
#[derive(Debug)]
struct DirectoryMetrics {
    generation: IntGaugeVec,
    records: IntGauge,
    published_at: IntGauge,
    data_age: Gauge,
    reloads: IntCounterVec,
    last_success: IntGauge,
    last_at: Gauge,
    degraded: IntGaugeVec,
    requests_by_key: IntCounterVec,
    skipped_exports: IntGauge,
    skipped_records: IntGauge,
}

impl Metrics {
    pub fn new() -> Result<Self, MetricsError> {
        let registry = Registry::new();
        let counter = |name: &str, help: &str| register(&registry, IntCounter::with_opts(opts(name, help)));
        let limited = counters(
            &registry,
            "http_requests_limited_total",
            "Requests refused with 429: over a key's or visitor's quota, or from an address with too many failed \
             authentications.",
            &["scope"],
        )?;
        let histogram = HistogramOpts::new(
            "http_request_duration_seconds",
            "Time from the last byte of a request's headers to its response, by route.",
        );
        let metrics = Self {
            requests: counters(&registry, "http_requests_total", "Requests answered.", &["route", "method", "status"])?,
            durations: register(
                &registry,
                HistogramVec::new(histogram.namespace(NAMESPACE).buckets(BUCKETS.to_vec()), &["route"]),
            )?,
            connections: register(&registry, IntGauge::with_opts(opts("http_connections", "Open connections.")))?,
            shed: counter("http_requests_shed_total", "Requests refused with 503 because of overload.")?,
            page_requests: counter(
                "page_requests_total",
                "Requests from page visitors without a key (--public-page).",
            )?,
            limited_by_key: limited.get_metric_with_label_values(&["key"])?,
            limited_by_visitor: limited.get_metric_with_label_values(&["visitor"])?,
            limited_by_address: limited.get_metric_with_label_values(&["address"])?,
            searches: counter("searches_total", "Completed searches that had a query.")?,
            searches_without_hits: counter(
                "searches_without_hits_total",
                "Searches with a query that found no products.",
            )?,
            directory: Mutex::new(DirectoryMetrics::new(&registry)?),
            process: ProcessMetrics::new(&registry)?,
            registry,
        };
        let build =
            gauges(&metrics.registry, "build_info", "Always 1, labelled with the program's version.", &["version"])?;
        set(&build, env!("CARGO_PKG_VERSION"), 1);
        Ok(metrics)
    }

    /// Adds a counter that is incremented outside the service.
    pub fn add_counter(&self, counter: IntCounter) -> Result<(), MetricsError> {
        Ok(self.registry.register(Box::new(counter))?)
    }

    /// Counts a request and its duration. A request without a route is labelled `unmatched`.
    /// Methods and statuses that callers could make up share one label, so the number of labels is
    /// bounded.
    pub(super) fn observe_request(&self, route: Option<&str>, method: &Method, status: StatusCode, took: Duration) {
        let route = route.unwrap_or("unmatched");
        let method = match *method {
            Method::GET | Method::HEAD | Method::OPTIONS => method.as_str(),
            _ => "other",
        };
        self.requests.with_label_values(&[route, method, status.as_str()]).inc();
        self.durations.with_label_values(&[route]).observe(took.as_secs_f64());
    }

    /// Counts a search that had a query and found `total` products.
    pub(super) fn observe_search(&self, total: u64) {
        self.searches.inc();
        if total == 0 {
            self.searches_without_hits.inc();
        }
    }

    /// Returns all metrics in the Prometheus text format.
    pub(super) fn render(
        &self,
        directory: &Directory,
        served: Option<&Served>,
        keys: &KeyStore,
        now: Timestamp,
    ) -> Result<String, MetricsError> {
        let directory_metrics = self.directory.lock().unwrap_or_else(PoisonError::into_inner);
        directory_metrics.update(directory, served, keys, now);
        self.process.update();
        let families = self.registry.gather();
        drop(directory_metrics);
        Ok(TextEncoder::new().encode_to_string(&families)?)
    }
}

impl DirectoryMetrics {
    fn new(registry: &Registry) -> Result<Self, MetricsError> {
        let gauge = |name: &str, help: &str| register(registry, IntGauge::with_opts(opts(name, help)));
        let decimal = |name: &str, help: &str| register(registry, Gauge::with_opts(opts(name, help)));
        Ok(Self {
            generation: gauges(
                registry,
                "generation_info",
                "Always 1, labelled with the generation being served.",
                &["generation"],
            )?,
            records: gauge("generation_records", "Products in the generation being served.")?,
            skipped_exports: gauge(
                "skipped_exports",
                "Invalid exports left out of the served generation entirely (--skip-invalid).",
            )?,
            skipped_records: gauge(
                "skipped_records",
                "Invalid records left out of the generation being served (--skip-invalid).",
            )?,
            published_at: gauge(
                "generation_published_timestamp_seconds",
                "When the generation being served was published, in seconds since 1970; 0 before the first one.",
            )?,
            data_age: decimal(
                "data_age_seconds",
                "Seconds since the served data was last known to match the exports or the index folder, which are read in full every ten minutes.",
            )?,
            reloads: counters(
                registry,
                "reloads_total",
                "Number of times the exports were read, including at startup, by outcome.",
                &["outcome"],
            )?,
            last_success: gauge(
                "last_reload_success",
                "1 if the service is serving the exports as they were last read, otherwise 0.",
            )?,
            last_at: decimal(
                "last_reload_timestamp_seconds",
                "When the exports were last read, in seconds since 1970; 0 before the first time.",
            )?,
            requests_by_key: counters(
                registry,
                "key_requests_total",
                "Requests authenticated with a key from the key file, by key id.",
                &["key"],
            )?,
            degraded: gauges(
                registry,
                "degraded",
                "1 for each reason why the service is degraded; absent while it's healthy.",
                &["reason"],
            )?,
        })
    }

    fn update(&self, directory: &Directory, served: Option<&Served>, keys: &KeyStore, now: Timestamp) {
        self.generation.reset();
        if let Some(served) = served {
            set(&self.generation, served.generation(), 1);
            self.records.set(i64::try_from(served.software_count()).unwrap_or(i64::MAX));
            let skipped = served.skipped();
            self.skipped_exports.set(i64::try_from(skipped.exports).unwrap_or(i64::MAX));
            self.skipped_records.set(i64::try_from(skipped.records).unwrap_or(i64::MAX));
        }
        self.published_at.set(served.and_then(Served::published_at).unwrap_or_else(|| directory.published_at()));
        let status = directory.reloads();
        if let Some(current_at) = status.current_at {
            self.data_age.set(now.duration_since(current_at).as_secs_f64().max(0.0));
        }
        if let Some(last) = status.last {
            self.last_success.set(i64::from(last.outcome.is_current()));
            self.last_at.set(last.at.as_duration().as_secs_f64());
        }
        self.reloads.reset();
        for outcome in Outcome::ALL {
            if let Ok(counter) = self.reloads.get_metric_with_label_values(&[outcome.as_str()]) {
                counter.inc_by(status.count(outcome));
            }
        }
        // Only known keys: ids that callers make up must not become labels.
        self.requests_by_key.reset();
        for (id, requests) in keys.requests() {
            if let Ok(counter) = self.requests_by_key.get_metric_with_label_values(&[&*id]) {
                counter.inc_by(requests);
            }
        }
        self.degraded.reset();
        for reason in directory.degraded().iter() {
            set(&self.degraded, reason.code, 1);
        }
        if keys.problem().is_some() {
            set(&self.degraded, KEY_FILE_INVALID, 1);
        }
    }
}

/// The reason code for an unreadable key file.
pub(super) const KEY_FILE_INVALID: &str = "key_file_invalid";

fn set(gauges: &IntGaugeVec, label: &str, value: i64) {
    if let Ok(gauge) = gauges.get_metric_with_label_values(&[label]) {
        gauge.set(value);
    }
}

fn opts(name: &str, help: &str) -> Opts {
    Opts::new(name, help).namespace(NAMESPACE)
}

fn counters(registry: &Registry, name: &str, help: &str, labels: &[&str]) -> Result<IntCounterVec, MetricsError> {
    register(registry, IntCounterVec::new(opts(name, help), labels))
}

fn gauges(registry: &Registry, name: &str, help: &str, labels: &[&str]) -> Result<IntGaugeVec, MetricsError> {
    register(registry, IntGaugeVec::new(opts(name, help), labels))
}

fn register<C: Collector + Clone + 'static>(
    registry: &Registry,
    metric: prometheus::Result<C>,
) -> Result<C, MetricsError> {
    let metric = metric?;
    registry.register(Box::new(metric.clone()))?;
    Ok(metric)
}

/// This process's metrics, read from `/proc` (proc(5)) on each scrape. They stay zero if there's no
/// `/proc`.
#[derive(Debug)]
struct ProcessMetrics {
    cpu_seconds: Counter,
    open_fds: IntGauge,
    max_fds: IntGauge,
    virtual_memory: IntGauge,
    resident_memory: IntGauge,
    threads: IntGauge,
}

impl ProcessMetrics {
    /// Registers the metrics, and uses the time of this call as the process's start time.
    fn new(registry: &Registry) -> Result<Self, MetricsError> {
        let gauge = |name, help| register(registry, IntGauge::new(name, help));
        let start = Gauge::new("process_start_time_seconds", "Start time of the process since unix epoch in seconds.");
        register(registry, start)?.set(Timestamp::now().as_duration().as_secs_f64());
        Ok(Self {
            cpu_seconds: register(
                registry,
                Counter::new("process_cpu_seconds_total", "Total user and system CPU time spent in seconds."),
            )?,
            open_fds: gauge("process_open_fds", "Number of open file descriptors.")?,
            max_fds: gauge("process_max_fds", "Maximum number of open file descriptors.")?,
            virtual_memory: gauge("process_virtual_memory_bytes", "Virtual memory size in bytes.")?,
            resident_memory: gauge("process_resident_memory_bytes", "Resident memory size in bytes.")?,
            threads: gauge("process_threads", "Number of OS threads in the process.")?,
        })
    }

    fn update(&self) {
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
