//! A web server for a folder's files, with faults on demand.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use software_directory::generation::Snapshot;
use software_directory::generation::process::ProbeProcess;
use software_directory::generation::store::Store;
use software_directory::update::leader::{Follower, Leader};
use software_directory::update::{Directory, Outcome, Updater};
use tempfile::TempDir;

use crate::binary::command;

/// The faults that the web server simulates, and the requests it has received.
#[derive(Default)]
pub(crate) struct State {
    /// If set, the status of every response.
    pub(crate) status: Option<u16>,
    /// The bodies of files with this name end after this many bytes.
    pub(crate) cut: Option<(String, usize)>,
    /// Whether ranges are ignored.
    pub(crate) no_ranges: bool,
    /// Replaces the body of a file.
    pub(crate) replaced: Option<(String, Vec<u8>)>,
    /// Each request's path and `Range`.
    pub(crate) requests: Vec<(String, Option<String>)>,
    /// The path and length in bytes of each body sent.
    pub(crate) bodies: Vec<(String, usize)>,
}

pub(crate) struct Stub {
    pub(crate) address: SocketAddr,
    pub(crate) state: Arc<Mutex<State>>,
}

impl Stub {
    /// Serves a folder until the process exits.
    pub(crate) fn serve(folder: &Path) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let (address, state) = (listener.local_addr().expect("an address"), Arc::<Mutex<State>>::default());
        let (folder, shared) = (folder.to_owned(), Arc::clone(&state));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                // Some tests have clients that disconnect early.
                let _ = answer(&stream, &folder, &shared);
            }
        });
        Self { address, state }
    }

    pub(crate) fn set(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state.lock().expect("no panic"));
    }

    /// The requests so far for files with this name, each with its range.
    pub(crate) fn requests(&self, name: &str) -> Vec<Option<String>> {
        let state = self.state.lock().expect("no panic");
        state.requests.iter().filter(|(path, _)| path.ends_with(name)).map(|(_, range)| range.clone()).collect()
    }

    /// The bytes sent so far for files with this name.
    pub(crate) fn sent(&self, name: &str) -> usize {
        let state = self.state.lock().expect("no panic");
        state.bodies.iter().filter(|(path, _)| path.ends_with(name)).map(|(_, bytes)| bytes).sum()
    }

    /// The requests so far for files other than `CURRENT`.
    pub(crate) fn pulled(&self) -> usize {
        let state = self.state.lock().expect("no panic");
        state.requests.iter().filter(|(path, _)| !path.ends_with("CURRENT")).count()
    }
}

fn answer(stream: &TcpStream, folder: &Path, state: &Mutex<State>) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream).lines();
    let first = lines.next().transpose()?.unwrap_or_default();
    let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
    let (mut range, mut known) = (None, None);
    for line in lines.map_while(Result::ok).take_while(|line| !line.is_empty()) {
        let (name, value) = line.split_once(':').unwrap_or_default();
        match name.to_ascii_lowercase().as_str() {
            "range" => range = Some(value.trim().to_owned()),
            "if-none-match" => known = Some(value.trim().to_owned()),
            _ => {}
        }
    }
    let mut state = state.lock().expect("no panic");
    state.requests.push((path.clone(), range.clone()));
    let file: PathBuf = folder.join(path.trim_start_matches('/'));
    let (mut body, mut status) = fs::read(&file).map_or((Vec::new(), 404), |body| (body, 200));
    if let Some((_, other)) = state.replaced.as_ref().filter(|(name, _)| path.ends_with(name)) {
        (body, status) = (other.clone(), 200);
    }
    let tag = format!("\"{}-{}\"", body.len(), body.iter().map(|byte| u64::from(*byte)).sum::<u64>());
    let total = body.len();
    let mut headers = format!("ETag: {tag}\r\n");
    let range = range.as_ref().and_then(|range| {
        let (first, last) = range.strip_prefix("bytes=")?.split_once('-')?;
        Some((first.parse::<usize>().ok()?, last.parse().unwrap_or(total - 1)))
    });
    if let Some((first, last)) = range.filter(|_| !state.no_ranges && status == 200) {
        body = body[first..=last].to_vec();
        status = 206;
        headers = format!("{headers}Content-Range: bytes {first}-{last}/{total}\r\n");
    } else if known.as_deref() == Some(&tag) {
        (body, status) = (Vec::new(), 304);
    }
    status = state.status.unwrap_or(status);
    let mut stream = stream;
    write!(stream, "HTTP/1.1 {status} x\r\nContent-Length: {}\r\n{headers}Connection: close\r\n\r\n", body.len())?;
    let cut = state.cut.as_ref().filter(|(name, _)| path.ends_with(name)).map(|(_, bytes)| *bytes);
    let length = cut.unwrap_or(body.len()).min(body.len());
    state.bodies.push((path, length));
    stream.write_all(&body[..length])
}

/// A follower whose leader is a stub, with its own index folder.
pub(crate) struct Following {
    pub(crate) updater: Updater<Follower>,
    pub(crate) directory: Arc<Directory>,
    pub(crate) folder: TempDir,
}

impl Following {
    pub(crate) fn of(address: SocketAddr) -> Self {
        Self::within(tempfile::tempdir().expect("a folder"), address)
    }

    /// A follower that continues with an earlier follower's index.
    pub(crate) fn within(folder: TempDir, address: SocketAddr) -> Self {
        let leader = Leader::new(&format!("http://{address}"), None).expect("an address");
        Self::of_leader(folder, leader)
    }

    pub(crate) fn of_leader(folder: TempDir, leader: Leader) -> Self {
        let index = folder.path().join("index");
        let program = command(folder.path()).get_program().into();
        let arguments = ["--index".into(), (&index).into(), "--probe".into()];
        let probe = ProbeProcess { program, arguments: arguments.to_vec() };
        Self::probed_by(folder, leader, probe)
    }

    /// A follower that tries out generations in another process.
    pub(crate) fn probed_by(folder: TempDir, leader: Leader, probe: ProbeProcess) -> Self {
        let directory = Arc::<Directory>::default();
        let follower = Follower::new(leader, Store::new(&folder.path().join("index"))).probed_by(probe);
        Self { updater: Updater::new(follower, Arc::clone(&directory)), directory, folder }
    }

    /// Starts with the generation on disk, if there is one.
    pub(crate) fn start(&mut self) -> Option<Arc<Snapshot>> {
        let outcome = self.updater.start().expect("a follower waits");
        let served = self.directory.current();
        assert_eq!(outcome, if served.is_some() { Outcome::Loaded } else { Outcome::Unchanged });
        served
    }

    /// Checks the leader once. Returns the time until the next check.
    pub(crate) fn look(&mut self) -> Duration {
        let _ = self.updater.refresh();
        self.updater.health.retry().map_or(Duration::from_secs(1), |(_, wait)| wait)
    }

    pub(crate) fn store(&self) -> Store {
        Store::new(&self.index())
    }

    pub(crate) fn index(&self) -> PathBuf {
        self.folder.path().join("index")
    }

    /// The generation being served.
    pub(crate) fn generation(&self) -> Option<String> {
        self.directory.current().map(|current| current.generation().to_owned())
    }

    /// The first reason for the degraded state, and its detail.
    pub(crate) fn reason(&self) -> Option<(&'static str, String)> {
        self.directory.degraded().first().map(|reason| (reason.code, reason.detail.clone()))
    }

    /// The names in the index folder.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.index()).into_iter().flatten().flatten();
        let mut names: Vec<_> = entries.map(|entry| entry.file_name().into_string().expect("text")).collect();
        names.sort();
        names
    }
}
