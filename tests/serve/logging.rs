//! If the log can't be written, the service keeps running.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};

use http::Request;
use serde_json::Value;

use crate::common::binary::command;
use crate::common::process::{self, export, folder_with, write};
use crate::common::request::send;
use crate::common::until::until;

/// A server whose standard error the test provides.
struct Server {
    child: Child,
    address: String,
    key: String,
}

impl Server {
    fn start(folder: &std::path::Path, stderr: Stdio) -> Self {
        let mut command = command(folder);
        command.args(["--listen", "127.0.0.1:0", "--log", "debug"]).stdout(Stdio::piped()).stderr(stderr);
        let mut child = command.spawn().expect("the binary runs");
        let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines().map_while(Result::ok);
        let address = lines.find_map(|line| Some(line.strip_prefix("Listening on ")?.to_owned())).expect("the address");
        let key =
            lines.find_map(|line| Some(line.split_once("Bearer ")?.1.split('\'').next()?.to_owned())).expect("the key");
        Self { child, address, key }
    }

    fn status(&self, path: &str) -> u16 {
        let request = Request::get(format!("{}{path}", self.address));
        let request = request.header("Authorization", format!("Bearer {}", self.key));
        send(request, "").expect("a response").status().as_u16()
    }

    /// Sends requests, makes a broken and a good edit, waits until each is noticed, and stops the
    /// server.
    fn goes_on(mut self, folder: &std::path::Path) {
        // These requests log more than a pipe can buffer.
        for _ in 0..600 {
            assert_eq!(self.status("/v1/software/a"), 200);
        }
        write(folder, "{");
        write(folder, &export(&["a", "b", "new"]));
        until("the edit is published", || (self.status("/v1/software/new") == 200).then_some(()));
        let pid = self.child.id().to_string();
        assert!(std::process::Command::new("kill").args(["-TERM", &pid]).status().expect("kill runs").success());
        let status = until("it stops", || self.child.try_wait().expect("a process"));
        assert_eq!(status.code(), Some(0));
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// The objects in a JSON log whose message begins with `message`.
fn lines(log: &str, message: &str) -> Vec<Value> {
    let objects = log.lines().map(|line| serde_json::from_str::<Value>(line).expect("an object"));
    objects.filter(|line| line["message"].as_str().is_some_and(|text| text.starts_with(message))).collect()
}

#[test]
fn the_log_has_one_line_per_startup_reload_recovery_signal_and_stop() {
    let folder = folder_with(&["a", "b"]);
    let server = process::Server::start(folder.path(), &["--log-format", "json"]);
    let logged = |message: &str| !lines(&server.stderr(), message).is_empty();
    write(folder.path(), &export(&["a", "c", "d"]));
    until("the edit is published", || logged("published a new generation").then_some(()));
    write(folder.path(), "{");
    until("the broken edit is rejected", || logged("keeping the last good generation").then_some(()));
    write(folder.path(), &export(&["a", "c", "d"]));
    until("the recovery is logged", || logged("recovered").then_some(()));
    server.signal("HUP");
    until("the signal is handled", || logged("the exports are unchanged").then_some(()));
    let address = server.address.clone();
    let (code, log) = server.terminate();
    assert_eq!(code, Some(0));
    let [start] = lines(&log, "serving").try_into().expect("one start");
    assert_eq!((&start["version"], &start["data"]), (&env!("CARGO_PKG_VERSION").into(), &"data".into()));
    assert_eq!((&start["software"], &start["index"]), (&2.into(), &"built".into()));
    assert!(address.ends_with(start["address"].as_str().expect("an address")), "{start}");
    let [reload] = lines(&log, "published a new generation").try_into().expect("one reload");
    assert_eq!((&reload["added"], &reload["removed"], &reload["files"]), (&2.into(), &1.into(), &"tools.json".into()));
    assert_eq!(reload["changed"], 0);
    for message in ["SIGHUP", "recovered", "SIGTERM: stopping"] {
        assert_eq!(lines(&log, message).len(), 1, "{message}: {log}");
    }
    let last = log.lines().last().expect("a line");
    assert!(last.contains("SIGTERM: stopping"), "{last}");
}

#[test]
fn rebuilding_another_versions_index_is_logged_once() {
    let folder = folder_with(&["a"]);
    assert_eq!(process::run(folder.path(), &["--reindex"]).status.code(), Some(0));
    let index = folder.path().join("index");
    let current = std::fs::read_to_string(index.join("CURRENT")).expect("a name");
    let path = index.join(current.trim()).join("manifest.json");
    let mut manifest: Value = serde_json::from_slice(&std::fs::read(&path).expect("a manifest")).expect("JSON");
    let format = manifest["format"].as_u64().expect("a format");
    manifest["format"] = (format - 1).into();
    std::fs::write(&path, manifest.to_string()).expect("written");
    for count in [1, 0] {
        let server = process::Server::start(folder.path(), &["--log-format", "json"]);
        assert_eq!(server.get("/v1/software/a").0, 200);
        let (_, log) = server.terminate();
        let said = lines(&log, &format!("the index has format {}, from another version", format - 1));
        assert_eq!(said.len(), count, "{log}");
        assert!(
            said.iter().all(|line| line["message"].as_str().is_some_and(|text| text.contains("no action is needed")))
        );
    }
}

#[test]
fn access_log_has_a_line_for_each_request_if_enabled() {
    let folder = folder_with(&["a"]);
    for (options, count) in [(&["--log-format", "json"][..], 0), (&["--log-format", "json", "--access-log"], 1)] {
        let server = process::Server::start(folder.path(), options);
        assert_eq!(server.get("/v1/software/a").0, 200);
        assert_eq!(server.get("/v1/search?q=embarrassing").0, 200);
        let (_, log) = server.terminate();
        assert_eq!(log.matches("/v1/search").count(), count, "{log}");
        assert!(!log.contains("embarrassing"), "queries are logged only with another option: {log}");
        let requests: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).expect("an object")).collect();
        let requests: Vec<_> = requests.iter().filter(|line| line["path"] == "/v1/software/a").collect();
        assert_eq!(requests.len(), count, "{log}");
        for request in requests {
            assert_eq!((&request["method"], &request["status"]), (&"GET".into(), &200.into()), "{request}");
            assert!(request["bytes"].as_u64() > Some(100) && request["elapsed_us"].is_u64(), "{request}");
            assert!(request["key"].is_string() && request["caller"] == "127.0.0.1", "{request}");
        }
    }
}

#[test]
fn a_mistyped_level_exits_with_2_and_a_mistyped_variable_causes_a_warning() {
    let folder = folder_with(&["a"]);
    let output = process::run(folder.path(), &["--log", "inf"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(process::text(&output.stderr).contains("did you mean `info`?"), "{output:?}");
    let mut reindex = command(folder.path());
    let output = reindex.arg("--reindex").env("SOFTWARE_DIRECTORY_LISTN", "secret").output().expect("the binary runs");
    assert_eq!(output.status.code(), Some(0));
    let log = process::text(&output.stderr);
    assert!(log.contains("did you mean SOFTWARE_DIRECTORY_LISTEN?") && !log.contains("secret"), "{log}");
}

#[test]
fn logs_to_a_closed_pipe_are_lost_and_the_service_keeps_running() {
    let folder = folder_with(&["a", "b"]);
    let mut server = Server::start(folder.path(), Stdio::piped());
    drop(server.child.stderr.take());
    server.goes_on(folder.path());
}

#[test]
fn logs_to_a_pipe_that_nobody_reads_are_lost_and_the_service_keeps_running() {
    let folder = folder_with(&["a", "b"]);
    Server::start(folder.path(), Stdio::piped()).goes_on(folder.path());
}

#[cfg(target_os = "linux")]
#[test]
fn logs_on_a_full_disk_are_lost_and_the_service_keeps_running() {
    let folder = folder_with(&["a", "b"]);
    let full = File::options().write(true).open("/dev/full").expect("a full device");
    Server::start(folder.path(), full.into()).goes_on(folder.path());
}
