//! More requests than the server can answer.

use std::time::{Duration, Instant};

use crate::callers::apart::Apart;
use crate::callers::load::{Outcome, at_rate, capacity, percentile};
use crate::callers::process::Place;
use crate::callers::{alone, full, open_files, run};

/// A request that takes a lot of work. Its response is small, because callers share the cores.
const PATHS: [&str; 1] =
    ["/v1/search?q={}+for+plans+every+each+site+the+and+of+permi&facets=category&facets=rating&offset=9000&limit=1"];

/// The load as a multiple of the capacity, high enough that at least ten times the capacity arrives
/// despite losses.
const TIMES: f64 = 15.0;

/// How long a request is assumed to wait. The number of callers is computed from this.
const WAITING: Duration = Duration::from_secs(1);

#[test]
fn at_ten_times_the_capacity_excess_requests_are_rejected_at_once_and_the_rest_stay_fast() {
    let _alone = alone();
    let lasting = Duration::from_secs(if full() { 10 } else { 5 });
    open_files(4000);
    let place = Place::new(if full() { 100_000 } else { 2000 }, 1_000_000);
    let neighbour = place.create_key("neighbour", 1_000_000);
    let (server, apart) = if full() {
        // Builds the index on all processors.
        drop(place.serve(&[]));
        Apart::start(|| place.serve(&[]))
    } else {
        (place.serve(&[]), None)
    };
    let (capacity, outcomes, neighbours, health, took) = run(async {
        let capacity = capacity(server.address, &place.key, &PATHS, 4, Duration::from_secs(2)).await;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "thousands")]
        let connections = ((TIMES * capacity * WAITING.as_secs_f64()) as usize).clamp(50, 3500);
        let load = at_rate(server.address, &place.key, &PATHS, TIMES * capacity, connections, lasting);
        let neighbours = at_rate(server.address, &neighbour, &PATHS, 10.0, 20, lasting);
        let health = at_rate(server.address, "", &["/healthz", "/readyz"], 10.0, 20, lasting);
        let started = Instant::now();
        let (outcomes, neighbours, health) = tokio::join!(load, neighbours, health);
        (capacity, outcomes, neighbours, health, started.elapsed())
    });
    let of = |status: u16| outcomes.iter().filter(move |outcome| outcome.status == status);
    let p99 = |status: u16| percentile(of(status).map(|outcome| outcome.answered_in), 99);
    let p50 = |status: u16| percentile(of(status).map(|outcome| outcome.answered_in), 50);
    let (admitted, shed) = (of(200).count(), of(503).count());
    #[expect(clippy::cast_precision_loss, reason = "thousands")]
    let per_second = |count: usize| count as f64 / took.as_secs_f64();
    let asked = per_second(outcomes.len());
    println!(
        "{}: capacity {capacity:.0}/s, sent {asked:.0}/s ({:.1} times): {:.0}/s answered, p50 {:.0} ms, \
         p99 {:.0} ms; {:.0}/s rejected, p50 {:.0} ms, p99 {:.0} ms; health p99 {:.0} ms",
        if apart.is_some() { "on separate processors" } else { "on the same processors" },
        asked / capacity,
        per_second(admitted),
        p50(200),
        p99(200),
        per_second(shed),
        p50(503),
        p99(503),
        percentile(health.iter().map(|outcome| outcome.answered_in), 99),
    );
    let others: Vec<_> = outcomes.iter().filter(|outcome| !matches!(outcome.status, 200 | 503)).collect();
    assert!(others.is_empty(), "unexpected outcomes: {others:?}");
    assert!(shed > 0 && admitted > 0);
    assert!(of(503).all(|outcome: &Outcome| outcome.says_when), "every 503 should say when to retry");
    assert!(health.iter().all(|outcome| outcome.status == 200), "/healthz responds");
    let neighbours_shed = neighbours.iter().filter(|outcome| outcome.status == 503).count();
    assert!(
        neighbours_shed * 10 <= neighbours.len(),
        "too many of another key's searches were rejected: {neighbours_shed} of {}",
        neighbours.len()
    );
    #[expect(clippy::cast_precision_loss, reason = "thousands")]
    let counted = (shed + neighbours_shed) as f64;
    assert!((server.measure("http_requests_shed_total") - counted).abs() < 0.5, "counted as rejected");
    // If the server and its callers share processors, the callers may be unable to keep up.
    assert!(apart.is_none() || asked >= 10.0 * capacity, "{:.1} times the capacity", asked / capacity);
    // The callers and other processes on the same cores are part of this measurement.
    assert!(!full() || p50(200) < 500.0, "{} ms", p50(200));
    let after = run(at_rate(server.address, &place.key, &PATHS, capacity / 10.0, 4, Duration::from_secs(2)));
    assert!(after.iter().skip(after.len() / 2).all(Outcome::is_fine), "the overload is over");
}
