//! The binary as a process in its own folder. Conditions are polled until they hold or a deadline
//! passes.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Output, Stdio};

use http::Request;
use serde_json::Value;
use tempfile::TempDir;

use crate::common::binary::command;
use crate::common::log::Log;
use crate::common::request::send;
use crate::common::until::until;

/// Runs the binary until it exits.
pub(crate) fn run(folder: &Path, arguments: &[&str]) -> Output {
    command(folder).args(arguments).output().expect("the binary runs")
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("text")
}

/// A folder with an export of these products in `data/tools.json`.
pub(crate) fn folder_with(ids: &[&str]) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir(folder.path().join("data")).expect("a folder");
    write(folder.path(), &export(ids));
    folder
}

/// Replaces the export.
pub(crate) fn write(folder: &Path, text: &str) {
    fs::write(folder.join("data/.next"), text).expect("written");
    fs::rename(folder.join("data/.next"), folder.join("data/tools.json")).expect("renamed");
}

pub(crate) fn export(ids: &[&str]) -> String {
    let record = |id: &&str| {
        format!(
            r#"    {{"id": "{id}", "name": "Tool {id}", "url": "https://{id}.example/", "evidence_status": "pending-review"}}"#
        )
    };
    let records: Vec<_> = ids.iter().map(record).collect();
    format!(
        "{{\n  \"name\": \"Tools\",\n  \"license\": \"https://example.org/\",\n  \"software\": [\n{}\n  ]\n}}\n",
        records.join(",\n")
    )
}

/// A running server.
pub(crate) struct Server {
    child: Child,
    pub(crate) first_line: String,
    pub(crate) address: String,
    pub(crate) announced: String,
    /// The key for requests; `None` for the development key.
    pub(crate) made_key: Option<String>,
    log: Log,
}

impl Server {
    /// Starts it on a free port and waits until it has printed its address.
    pub(crate) fn start(folder: &Path, arguments: &[&str]) -> Self {
        Self::spawn(folder, arguments).announced()
    }

    /// Waits until it has printed its address.
    pub(crate) fn announced(mut self) -> Self {
        assert!(self.is_announced(), "it exited: {}", self.stderr());
        self
    }

    /// Waits until the process has printed its address, or has exited without printing one.
    pub(crate) fn is_announced(&mut self) -> bool {
        let mut out = BufReader::new(self.child.stdout.take().expect("a pipe"));
        out.read_line(&mut self.first_line).expect("text");
        if self.first_line.is_empty() {
            return false;
        }
        self.address = self.first_line.trim().strip_prefix("Listening on ").expect("the address").to_owned();
        let mut line = String::new();
        while !line.trim_start().starts_with("curl") && out.read_line(&mut line).expect("text") > 0 {
            self.announced.push_str(&line);
            line = line.lines().last().unwrap_or_default().to_owned();
            if line.trim_start().starts_with("curl") {
                break;
            }
            line.clear();
        }
        // Drains the pipe so that further output doesn't block.
        std::thread::spawn(move || drop(out.read_to_string(&mut String::new())));
        true
    }

    /// Starts it without waiting for anything.
    pub(crate) fn spawn(folder: &Path, arguments: &[&str]) -> Self {
        let mut command = command(folder);
        command.args(arguments);
        Self::spawn_command(command)
    }

    /// Runs a command that starts a server, without waiting for anything.
    pub(crate) fn spawn_command(command: Command) -> Self {
        Self::spawn_at(command, "127.0.0.1:0")
    }

    /// Runs a command that starts a server on this address, without waiting for anything.
    pub(crate) fn spawn_at(mut command: Command, address: &str) -> Self {
        command.args(["--listen", address]).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the binary runs");
        let log = Log::of(child.stderr.take().expect("a pipe"));
        let (first_line, address, announced) = Default::default();
        Self { child, first_line, address, announced, made_key: None, log }
    }

    /// Standard error so far.
    pub(crate) fn stderr(&self) -> String {
        self.log.text()
    }

    /// The key for requests: the one that was created, or the development key that the server
    /// announced.
    pub(crate) fn key(&self) -> String {
        if let Some(key) = &self.made_key {
            return key.clone();
        }
        let (_, rest) = self.announced.split_once("Authorization: Bearer ").expect("a key");
        rest.split('\'').next().expect("a key").to_owned()
    }

    /// A response's status and body.
    pub(crate) fn get(&self, path: &str) -> (u16, Value) {
        let request = Request::get(format!("{}{path}", self.address));
        let request = request.header("Authorization", format!("Bearer {}", self.key()));
        let response = send(request, "").expect("an answer");
        (response.status().as_u16(), serde_json::from_str(response.body()).expect("JSON"))
    }

    /// Its process id.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends the process the signal `HUP` or `KILL`.
    pub(crate) fn signal(&self, name: &str) {
        let signal = format!("-{name}");
        assert!(Command::new("kill").args([&signal, &self.pid().to_string()]).status().expect("kill runs").success());
    }

    /// Its exit status, if it has exited.
    pub(crate) fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().expect("a process")
    }

    /// The reason codes in `/readyz`.
    pub(crate) fn reasons(&self) -> Vec<String> {
        let (status, body) = self.get("/readyz");
        assert_eq!(status, 200, "{body}");
        let reasons = body["reasons"].as_array().expect("an array");
        reasons.iter().map(|reason| reason["code"].as_str().expect("a code").to_owned()).collect()
    }

    /// Asks it to stop, and returns its exit code and all of its standard error.
    pub(crate) fn terminate(mut self) -> (Option<i32>, String) {
        self.signal("TERM");
        let status = until("it stops", || self.ended());
        self.log.complete();
        (status.code(), self.stderr())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // If it was asked to stop, the process has already exited.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
