//! Hours of service in miniature: many reloads and requests don't leak memory, descriptors or
//! folders.

use std::fs;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use crate::corpus::Corpus;
use crate::load::{Stopping, Target};
use crate::scale::{from_environment, is_full, times};
use crate::system::{descriptors, rss_kib};

/// How many reloads it takes until the allocator's memory is stable.
const WARMING_UP: usize = 8;
/// The minimum number of reloads to observe after that.
const LOOKED_AT: usize = 24;

/// One observation of the server.
struct Sample {
    seconds: f64,
    rss_kib: usize,
    descriptors: usize,
    folders: usize,
    /// The size of the change log's file.
    log_kib: usize,
}

#[test]
fn many_reloads_leak_no_memory_descriptors_or_folders() {
    let seconds = from_environment("FAULTS_SOAK_SECONDS").unwrap_or_else(|| times(0, 1800)) as u64;
    let every = Duration::from_secs(if is_full() { 10 } else { 0 });
    let products = from_environment("FAULTS_SOAK_PRODUCTS").unwrap_or_else(|| times(200, 5000));
    let target = Target::new(Corpus::generated(products));
    // The search cache grows until it reaches its limit, which isn't a leak.
    let (seen, ()) = target.ask_during(None, || std::thread::sleep(Duration::from_secs(times(1, 30) as u64)));
    assert_eq!(seen.faults.first(), None, "{} faults", seen.faults.len());
    let stop = AtomicBool::new(false);
    let (mut samples, started) = (Vec::new(), Instant::now());
    let seen = std::thread::scope(|scope| {
        let asking = scope.spawn(|| target.ask(&stop, Some((Instant::now(), 50.0))));
        let stopping = Stopping(&stop);
        let mut revision = 0;
        // Even on a slow machine, there must be this many reloads. With fewer, the test would only
        // measure the warm-up.
        while samples.len() < WARMING_UP + LOOKED_AT || started.elapsed() < Duration::from_secs(seconds) {
            revision += 1;
            target.reload(&mut target.client(), revision);
            std::thread::sleep(
                (started + every * u32::try_from(revision).expect("a count")).saturating_duration_since(Instant::now()),
            );
            samples.push(sample(&target, started));
        }
        drop(stopping);
        asking.join().expect("no panic")
    });
    assert_eq!(seen.faults.first(), None, "{} faults", seen.faults.len());
    let steady = &samples[WARMING_UP.max(samples.len() / 5)..];
    let range = |of: fn(&Sample) -> usize| {
        let values = || steady.iter().map(of);
        (values().min().expect("samples"), values().max().expect("samples"))
    };
    let (rss, descriptors, folders) =
        (range(|sample| sample.rss_kib), range(|sample| sample.descriptors), range(|sample| sample.folders));
    let log = range(|sample| sample.log_kib);
    let slope = slope(steady);
    println!(
        "soak: {} reloads of {products} products in {:.0?}: RSS {} to {} MiB, slope {:.1} MiB per hour; change log {} to {} KiB; \
         descriptors {} to {}; generations {} to {}",
        samples.len(),
        started.elapsed(),
        rss.0 / 1024,
        rss.1 / 1024,
        slope * 3600.0 / 1024.0,
        log.0,
        log.1,
        descriptors.0,
        descriptors.1,
        folders.0,
        folders.1
    );
    assert!(folders.1 <= 2, "{} generations on disk", folders.1);
    assert!(descriptors.1 <= descriptors.0 + 4, "{descriptors:?} descriptors");
    // During the steady phase, memory must grow by less than a tenth of its size, plus 8 MiB. The
    // change log grows until it reaches its limits; with its index, it takes about four times as much
    // memory as space on disk.
    let span = steady.last().expect("samples").seconds - steady[0].seconds;
    #[expect(clippy::cast_precision_loss)]
    let allowed = rss.1 as f64 / 10.0 + 8.0 * 1024.0 + 4.0 * (log.1 - log.0) as f64;
    assert!(slope * span <= allowed, "memory grows by {slope:.1} KiB per second, {:.0} KiB in total", slope * span);
}

fn sample(target: &Target, started: Instant) -> Sample {
    let pid = target.server.pid();
    let path = target.folder.path().join("index");
    let index = fs::read_dir(&path).expect("a folder");
    let current = fs::read_to_string(path.join("CURRENT")).expect("a name");
    let log = fs::metadata(path.join(current.trim()).join("changes")).expect("a file");
    Sample {
        seconds: started.elapsed().as_secs_f64(),
        rss_kib: rss_kib(pid),
        descriptors: descriptors(pid),
        folders: index.filter(|entry| entry.as_ref().is_ok_and(|entry| entry.path().is_dir())).count(),
        log_kib: usize::try_from(log.len() / 1024).expect("a size"),
    }
}

/// How fast memory grows, in KiB per second, by least squares.
#[expect(clippy::cast_precision_loss)]
fn slope(samples: &[Sample]) -> f64 {
    let count = samples.len() as f64;
    let mean = |of: &dyn Fn(&Sample) -> f64| samples.iter().map(of).sum::<f64>() / count;
    let (x, y) = (mean(&|sample| sample.seconds), mean(&|sample| sample.rss_kib as f64));
    let covariance = mean(&|sample| (sample.seconds - x) * (sample.rss_kib as f64 - y));
    let variance = mean(&|sample| (sample.seconds - x).powi(2));
    if variance == 0.0 { 0.0 } else { covariance / variance }
}
