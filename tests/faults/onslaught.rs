//! Everything at once, on a server that builds and two replicas that serve its index folder, with
//! limits on memory and open files: reloads, broken exports, named pipes instead of exports, a held
//! lock, and a replica that is killed.
//! Meanwhile callers download and read pages slowly from many addresses, read nothing, pipeline tool
//! calls, send huge bodies, malformed requests, thousands of unknown parameters, deep offsets and
//! wrong keys, and keep idle connections. Healthy callers of the builder and the other replica see no
//! failures and wait hardly any longer, and memory stays flat.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use http::Request;
use serde_json::json;
use tempfile::TempDir;
use tokio::net::TcpSocket;

use crate::common::binary::command;
use crate::common::process::{Server, run, text};
use crate::common::request::send;
use crate::common::until::until;
use crate::corpus::{Corpus, replace, revisions};
use crate::load::{Seen, Stopping, Target, Windows};
use crate::scale::{from_environment, is_full, times};
use crate::system::{descriptors, rss_kib};

/// Each server's limits: open files, and address space in KiB. The allocator reserves a few GiB of
/// address space.
const MAX_FILES: usize = 1024;
const MAX_ADDRESS_SPACE_KIB: usize = 4 << 20;
/// How much memory use may grow, in KiB. This covers two generations, the downloads in progress, the
/// bodies waiting to be read, and the search cache.
const ALLOWANCE_KIB: usize = 192 * 1024;
/// How many requests healthy callers send per second.
const RATE: f64 = 50.0;
/// Each attacker's pause between requests. Attackers have quotas, but even rejecting a request
/// takes some work.
const PAUSE: Duration = Duration::from_millis(20);
/// The addresses on this machine that attackers use: 127.0.0.2 and up.
const ADDRESSES: usize = 8;

/// What an attacker sends over a connection, and how the attacker reads the response.
struct Attack {
    bytes: Vec<u8>,
    /// How many bytes are read at once, and the pause between reads.
    piece: usize,
    pause: Duration,
}

/// A server with limits that hasn't been started yet.
fn limited(folder: &Path, arguments: &[&str]) -> Command {
    let binary = command(folder);
    let mut shell = Command::new("sh");
    let script = format!("ulimit -n {MAX_FILES}; ulimit -v {MAX_ADDRESS_SPACE_KIB}; exec \"$0\" \"$@\"");
    shell.arg("-c").arg(script).arg(binary.get_program()).args(arguments).current_dir(folder);
    for (name, _) in binary.get_envs() {
        shell.env_remove(name);
    }
    shell
}

fn start(folder: &Path, arguments: &[&str]) -> Server {
    Server::spawn_command(limited(folder, arguments)).announced()
}

fn create_key(folder: &Path, arguments: &[&str]) -> String {
    let made = run(folder, &[&["keys", "create"], arguments].concat());
    assert!(made.status.success(), "{made:?}");
    text(&made.stdout).trim().to_owned()
}

/// The builder and its replicas.
struct Fleet {
    target: Target,
    /// A key with a quota.
    attacker: String,
    healthy: (TempDir, Server),
    killed: TempDir,
}

impl Fleet {
    fn new(corpus: Corpus) -> Self {
        let mut attacker = String::new();
        let target = Target::started_by(corpus, |folder| {
            attacker = create_key(folder, &["--name", "attacker", "--rate", "6000/min"]);
            start(folder, &["--public-page", "300/min"])
        });
        let folders = [(), ()].map(|()| {
            let folder = tempfile::tempdir().expect("a folder");
            fs::copy(target.folder.path().join("keys.json"), folder.path().join("keys.json")).expect("copied");
            folder
        });
        let [healthy, killed] = folders;
        let server = replica(&target, &healthy);
        Self { target, attacker, healthy: (healthy, server), killed }
    }

    fn addresses(&self) -> [&str; 2] {
        [&self.target.server.address, &self.healthy.1.address]
    }

    /// The builder's and the replica's resident memory, in KiB.
    fn rss_kib(&self) -> [usize; 2] {
        [&self.target.server, &self.healthy.1].map(|server| rss_kib(server.pid()))
    }

    /// Writes a broken export, then a complete one, and kills a replica while it's reading.
    fn fault(&self, revision: usize) {
        let target = &self.target;
        let mut killed = replica(target, &self.killed);
        break_export(target, revision);
        // In full runs, the lock is sometimes held for longer than the server waits for it.
        let lock = File::options().write(true).open(target.folder.path().join("index/LOCK")).expect("the lock");
        if is_full() && revision.is_multiple_of(10) {
            lock.lock().expect("locked");
        }
        target.reload(&mut target.client(), revision);
        killed.signal("KILL");
        until("the replica has exited", || killed.ended());
        let download = target.client().get("/v1/exports/tools").expect("a download");
        let other = revisions(&download.body).find(|of| *of != revision);
        assert_eq!((download.status, other), (200, None), "a healthy caller can download");
    }

    fn quiet(&self, lasting: Duration) -> Seen {
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let asking = scope.spawn(|| self.target.ask_at(&self.addresses(), &stop, Some((Instant::now(), RATE))));
            std::thread::sleep(lasting);
            drop(Stopping(&stop));
            asking.join().expect("no panic")
        })
    }
}

/// Starts a server on the builder's index folder, and waits until it's serving a generation.
fn replica(target: &Target, folder: &TempDir) -> Server {
    let index = target.folder.path().join("index");
    let mut replica = start(folder.path(), &["--data", "none", "--index", index.to_str().expect("text")]);
    replica.made_key = Some(target.server.key());
    until("the replica is ready", || (replica.get("/readyz").0 == 200).then_some(()));
    replica
}

/// A connection from one of the addresses.
fn connect(address: &str, from: usize) -> io::Result<TcpStream> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let address = address.trim_start_matches("http://").parse().map_err(io::Error::other)?;
    let stream = runtime.block_on(async {
        let socket = TcpSocket::new_v4()?;
        socket.bind(([127, 0, 0, u8::try_from(2 + from % ADDRESSES).map_err(io::Error::other)?], 0).into())?;
        socket.connect(address).await
    })?;
    let stream = stream.into_std()?;
    stream.set_nonblocking(false)?;
    for timeout in [TcpStream::set_read_timeout, TcpStream::set_write_timeout] {
        timeout(&stream, Some(Duration::from_secs(5)))?;
    }
    Ok(stream)
}

impl Attack {
    /// Sends the bytes and reads the response until it ends, the server loses patience, or the stop
    /// signal comes. Either side may disconnect early.
    fn run(&self, address: &str, from: usize, stop: &AtomicBool) -> io::Result<()> {
        let mut stream = connect(address, from)?;
        stream.write_all(&self.bytes)?;
        let mut buffer = vec![0; self.piece];
        while !stop.load(Ordering::Relaxed) && stream.read(&mut buffer)? > 0 {
            std::thread::sleep(self.pause);
        }
        Ok(())
    }
}

fn request(path: &str, headers: &str) -> Vec<u8> {
    format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}\r\n").into_bytes()
}

/// A tool call over a connection that stays open.
fn call(key: &str, arguments: &serde_json::Value) -> Vec<u8> {
    let params = json!({"name": "search_software", "arguments": arguments});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string();
    let types = "Content-Type: application/json\r\nAccept: application/json, text/event-stream";
    let length = body.len();
    format!("POST /mcp HTTP/1.1\r\nHost: localhost\r\n{key}{types}\r\nContent-Length: {length}\r\n\r\n{body}")
        .into_bytes()
}

fn attacks(target: &Target, key: &str) -> Vec<Attack> {
    let key = format!("Authorization: Bearer {key}\r\n");
    let visitor = "Sec-Fetch-Site: same-origin\r\n";
    let attack =
        |bytes: Vec<u8>, piece: usize, pause_ms: u64| Attack { bytes, piece, pause: Duration::from_millis(pause_ms) };
    let quick = |bytes: Vec<u8>| attack(bytes, 64 * 1024, 0);
    let unknown: Vec<_> = (0..600).map(|number| format!("offste{number}=1")).collect();
    let arguments: serde_json::Map<_, _> =
        (0..900).map(|number| (format!("catgeory{number}"), "x".repeat(30).into())).collect();
    let list = format!("GET /v1/software?limit=100 HTTP/1.1\r\nHost: localhost\r\n{key}\r\n");
    let huge = |path: &str, sent: usize| {
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: localhost\r\n{key}Content-Type: application/json\r\nContent-Length: 4000000000\r\n\r\n"
        );
        [head.into_bytes(), vec![b'['; sent]].concat()
    };
    let mut attacks = vec![
        quick(request(&script(target), "Accept-Encoding: gzip\r\n")),
        attack(request("/v1/exports/tools", &key), 64 * 1024, 10),
        // Each of these reads 4 KiB per second.
        attack(request("/v1/exports/tools?format=ndjson", &key), 1024, 250),
        attack(request("/v1/exports/tools", visitor), 1024, 250),
        attack(request("/v1/exports/tools?format=ndjson", visitor), 1024, 250),
        attack(request("/", ""), 1024, 250),
        attack(request("/docs", ""), 1024, 250),
        attack(list.repeat(40).into_bytes(), 1, 5000),
        quick(request(&format!("/v1/software?{}", unknown.join("&")), &key)),
        quick(request("/v1/software?sort=-rating&offset=9007199254740991&limit=100", visitor)),
        attack(call(&key, &arguments.into()).repeat(8), 1024, 20),
        quick(huge("/mcp", 1 << 20)),
        quick(huge("/v1/software", 1 << 20)),
        quick(request("/v1/software", "Authorization: Bearer sd_live_wrong\r\n")),
        attack(b"GET /v1/software HT".to_vec(), 1024, 100),
    ];
    if is_full() {
        // On a busy machine, these fill the search pool, which then also rejects healthy callers.
        let search = "/v1/search?q=product+audit+risk&offset=9900&limit=100&highlight=true&facets=category";
        attacks.push(quick(request(search, &key)));
        let search = call(&key, &json!({"q": "product management", "limit": 100}));
        attacks.push(attack(search.repeat(20), 1024, 100));
    }
    let malformed: [&[u8]; 5] = [
        b"\0\x01\x02\xff\r\n\r\n",
        b"GET /v1/software HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\nzz\r\n",
        b"GET /v1/software/%ff%00%2e%2e%2f HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ];
    attacks.extend(malformed.map(|bytes| quick(bytes.to_vec())));
    attacks
}

/// The path of one of the page's scripts.
fn script(target: &Target) -> String {
    let page = send(Request::get(format!("{}/docs", target.server.address)), "").expect("the page");
    assert_eq!(page.status(), 200);
    let page = page.into_body();
    let start = page.find("/assets/").expect("an asset");
    page[start..].split('"').next().expect("a path").to_owned()
}

/// Replaces the export with something invalid, and waits until the builder has noticed.
fn break_export(target: &Target, revision: usize) {
    if revision.is_multiple_of(2) {
        replace(&target.data(), b"{\"name\": \"half");
    } else {
        let pipe = target.data().join(".next");
        let made = Command::new("mkfifo").arg(&pipe).status().expect("mkfifo runs");
        assert!(made.success());
        fs::rename(pipe, target.data().join("tools.json")).expect("renamed");
    }
    until("the broken export is reported", || (!target.server.reasons().is_empty()).then_some(()));
}

/// The median of each third of the samples, in KiB.
fn thirds(samples: &[usize]) -> [usize; 3] {
    let third = samples.len().div_ceil(3);
    [0, 1, 2].map(|number| {
        let mut part =
            samples[(number * third).min(samples.len() - 1)..samples.len().min((number + 1) * third)].to_vec();
        part.sort_unstable();
        part[part.len() / 2]
    })
}

#[test]
fn healthy_callers_are_served_during_every_attack_at_once() {
    let lasting =
        Duration::from_secs(from_environment("FAULTS_SOAK_SECONDS").unwrap_or_else(|| times(10, 1800)) as u64);
    let turn = Duration::from_secs(times(5, 30) as u64);
    let fleet = Fleet::new(Corpus::generated(times(2000, 20_000)));
    let (target, builder) = (&fleet.target, &fleet.target.server);
    let attacks = attacks(target, &fleet.attacker);
    let idle: Vec<_> = (0..times(200, 2000))
        .filter_map(|number| {
            let mut stream = connect(&builder.address, number).ok()?;
            stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").ok()?;
            Some(stream)
        })
        .collect();
    target.reload(&mut target.client(), 1);
    let (before, started) = (fleet.rss_kib(), Instant::now());
    let (mut quiet, mut busy) = (Windows::default(), Windows::default());
    let (mut samples, mut revision, sent) = ([Vec::new(), Vec::new()], 1, AtomicUsize::new(0));
    while started.elapsed() < lasting {
        quiet.add(fleet.quiet(turn / 2));
        let stop = AtomicBool::new(false);
        let seen = std::thread::scope(|scope| {
            let asking = scope.spawn(|| target.ask_at(&fleet.addresses(), &stop, Some((Instant::now(), RATE))));
            for (number, attack) in attacks.iter().chain(&attacks).enumerate() {
                let (fleet, stop, sent) = (&fleet, &stop, &sent);
                scope.spawn(move || {
                    for from in number.. {
                        if stop.load(Ordering::Relaxed) {
                            break;
                        }
                        let _ = attack.run(fleet.addresses()[from / ADDRESSES % 2], from, stop);
                        sent.fetch_add(1, Ordering::Relaxed);
                        std::thread::sleep(PAUSE);
                    }
                });
            }
            let (stopping, begun) = (Stopping(&stop), Instant::now());
            while begun.elapsed() < turn {
                revision += 1;
                fleet.fault(revision);
                for (samples, rss) in samples.iter_mut().zip(fleet.rss_kib()) {
                    samples.push(rss);
                }
            }
            drop(stopping);
            asking.join().expect("no panic")
        });
        busy.add(seen);
    }
    drop(idle);
    until("the builder is healthy", || builder.reasons().is_empty().then_some(()));
    let killed = replica(target, &fleet.killed);
    for replica in [&fleet.healthy.1, &killed] {
        until("the replica serves the last revision", || {
            let (_, list) = replica.get("/v1/software?limit=1");
            revisions(list.to_string().as_bytes()).all(|of| of == revision).then_some(())
        });
    }
    println!("onslaught: quiet: {}", quiet.summary());
    println!(
        "onslaught: {} attacks, {revision} reloads and as many kills in {:.0?}: {}",
        sent.load(Ordering::Relaxed),
        started.elapsed(),
        busy.summary()
    );
    for (name, server, before, samples) in
        [("builder", builder, before[0], &samples[0]), ("replica", &fleet.healthy.1, before[1], &samples[1])]
    {
        let (most, thirds) = (samples.iter().max().copied().unwrap_or_default(), thirds(samples));
        println!(
            "onslaught: {name}: {} MiB before, at most {}, median of each third {:?}; {} descriptors at the end",
            before / 1024,
            most / 1024,
            thirds.map(|kib| kib / 1024),
            descriptors(server.pid())
        );
        assert!(most <= before + ALLOWANCE_KIB, "{name}: {most} KiB, {before} KiB before");
        // The caches are still filling up in the first third.
        assert!(
            !is_full() || thirds[2] <= thirds[1] + thirds[1] / 10 + 8 * 1024,
            "{name}: memory grows: {thirds:?} KiB"
        );
    }
    for (what, seen) in [("quiet", &quiet.all), ("attacked", &busy.all)] {
        assert_eq!(seen.faults.first(), None, "{what}: {} faults", seen.faults.len());
    }
    // In full runs, nothing else is running on the machine, so the timings are meaningful.
    let (p99, bound) = (busy.p99(), quiet.p99() * 2);
    assert!(!is_full() || p99 <= bound, "p99: {p99:?}; limit, twice the quiet p99: {bound:?}");
}
