//! The binary as a process in its own folder, with a key file and metrics.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::net::{SocketAddr, TcpListener};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use http::Request;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::common::log::Log;
use crate::common::request::send;
use crate::common::until::until;

/// Passes standard input on as a socket, the way service managers do.
const HAND_OVER: &str = "exec 3<&0 0</dev/null; export LISTEN_FDS=1 LISTEN_PID=$$; exec \"$0\" \"$@\"";

/// A folder with exports and a key file.
pub(crate) struct Place {
    folder: TempDir,
    pub(crate) key: String,
}

impl Place {
    /// Creates an export of this many products, and a key with this rate per minute.
    pub(crate) fn new(products: usize, rate: u32) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        fs::create_dir(folder.path().join("data")).expect("a folder");
        let mut place = Self { folder, key: String::new() };
        place.write_export(products);
        place.key = place.create_key("tests", rate);
        place
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Replaces the export.
    pub(crate) fn write_export(&self, products: usize) {
        let words = ["permit", "audit", "incident", "chemical", "training", "inspection", "risk", "lockout"];
        let product = |n: usize| {
            let word = |at: usize| words[(n / words.len().pow(u32::try_from(at).expect("small"))) % words.len()];
            json!({
                "id": format!("product-{n}"),
                "name": format!("{} {} {n}", word(0), word(1)),
                "tagline": format!("Plans every {} and each {} of the site", word(1), word(2)),
                "description": format!("For {} and {}. ", word(2), word(0)).repeat(8),
                "category": word(3),
                "url": format!("https://product-{n}.example/"),
                "evidence_status": "pending-review",
            })
        };
        let products: Vec<Value> = (0..products).map(product).collect();
        let export = json!({"name": "Tools", "license": "https://example.org/", "software": products});
        fs::write(self.path().join("data/.next"), export.to_string()).expect("written");
        fs::rename(self.path().join("data/.next"), self.path().join("data/tools.json")).expect("renamed");
    }

    /// Creates a key.
    pub(crate) fn create_key(&self, name: &str, rate: u32) -> String {
        let output = self.run(&["keys", "create", "--name", name, "--rate", &rate.to_string()]);
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).expect("text").trim().to_owned()
    }

    /// Runs the binary until it exits.
    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.command(None).args(arguments).output().expect("the binary runs")
    }

    /// The binary without settings from the environment, optionally through a shell script that
    /// ends with `exec "$0" "$@"`. `SOFTWARE_DIRECTORY_BIN` can point to a different build.
    fn command(&self, script: Option<&str>) -> Command {
        let built = env!("CARGO_BIN_EXE_software-directory").into();
        let binary = std::env::var_os("SOFTWARE_DIRECTORY_BIN").unwrap_or(built);
        let mut command = match script {
            None => Command::new(binary),
            Some(script) => {
                let mut command = Command::new("sh");
                command.arg("-c").arg(script).arg(binary);
                command
            }
        };
        for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("SOFTWARE_DIRECTORY_")) {
            command.env_remove(name);
        }
        command.env_remove("FAULTS").current_dir(self.path());
        command
    }

    /// A ready server on a free port.
    pub(crate) fn serve(&self, arguments: &[&str]) -> Server {
        self.serve_by(None, Stdio::null(), arguments)
    }

    /// A server started by a shell script.
    pub(crate) fn serve_by(&self, script: Option<&str>, stdin: Stdio, arguments: &[&str]) -> Server {
        let mut command = self.command(script);
        command.args(["--listen", "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0"]).args(arguments);
        Server::start(command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped()))
    }

    /// A server that takes over a listening socket.
    pub(crate) fn serve_on(&self, listener: &TcpListener) -> Server {
        let socket = OwnedFd::from(listener.try_clone().expect("a descriptor"));
        self.serve_by(Some(HAND_OVER), Stdio::from(socket), &[])
    }

    /// Runs a server that inherits this descriptor, and waits until it exits.
    pub(crate) fn hand_over(&self, what: Stdio, arguments: &[&str]) -> Output {
        self.command(Some(HAND_OVER)).args(arguments).stdin(what).output().expect("the binary runs")
    }
}

/// A running server.
pub(crate) struct Server {
    child: Child,
    pub(crate) address: SocketAddr,
    pub(crate) metrics: SocketAddr,
    log: Log,
}

impl Server {
    fn start(command: &mut Command) -> Self {
        let mut child = command.spawn().expect("the binary runs");
        let log = Log::of(child.stderr.take().expect("a pipe"));
        let mut out = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut line = String::new();
        out.read_line(&mut line).expect("text");
        assert!(!line.is_empty(), "the process ended: {}", log.text());
        std::thread::spawn(move || drop(out.read_to_string(&mut String::new())));
        let address = line.trim().strip_prefix("Listening on http://").expect("the address").parse();
        let metrics = until("the log to contain the metrics' address", || {
            let log = log.text();
            let line = log.lines().find(|line| line.contains("/metrics"))?;
            let at = line.find("127.0.0.1:")?;
            line[at..].split(|c: char| !c.is_ascii_digit() && c != '.' && c != ':').next()?.parse().ok()
        });
        Self { child, address: address.expect("an address"), metrics, log }
    }

    /// Standard error so far.
    pub(crate) fn stderr(&self) -> String {
        self.log.text()
    }

    /// A metric by its name (without the common prefix) and labels.
    pub(crate) fn measure(&self, name: &str) -> f64 {
        let text = Self::ask(self.metrics, "/metrics", "");
        let name = format!("software_directory_{name} ");
        let line = text.lines().find_map(|line| line.strip_prefix(&name).or(line.strip_prefix(&name[19..])));
        line.unwrap_or_else(|| panic!("no {name}in {text}")).parse().expect("a number")
    }

    /// Resident memory in MiB.
    pub(crate) fn memory_mib(&self) -> f64 {
        self.measure("process_resident_memory_bytes") / f64::from(1 << 20)
    }

    /// A response's body.
    pub(crate) fn ask(address: SocketAddr, path: &str, key: &str) -> String {
        let request = Request::get(format!("http://{address}{path}")).header("Authorization", format!("Bearer {key}"));
        send(request, "").expect("a response").into_body()
    }

    /// A response's status.
    pub(crate) fn status(&self, path: &str, key: &str) -> u16 {
        let request = Request::get(format!("http://{}{path}", self.address));
        send(request.header("Authorization", format!("Bearer {key}")), "").expect("a response").status().as_u16()
    }

    /// The reason codes in `/readyz`.
    pub(crate) fn reasons(&self) -> Vec<String> {
        let body: Value = serde_json::from_str(&Self::ask(self.address, "/readyz", "")).expect("JSON");
        let reasons = body["reasons"].as_array().expect("an array");
        reasons.iter().map(|reason| reason["code"].as_str().expect("a code").to_owned()).collect()
    }

    pub(crate) fn signal(&self, signal: &str) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args([signal, &pid]).status().expect("kill runs").success());
    }

    /// Waits until it has exited and its log is complete, and returns its exit code.
    pub(crate) fn ended(&mut self) -> Option<i32> {
        let status = until("it exits", || self.child.try_wait().expect("a process"));
        self.log.complete();
        status.code()
    }

    pub(crate) fn is_running(&mut self) -> bool {
        self.child.try_wait().expect("a process").is_none()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // If it was asked to stop, the process has already exited.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
