//! The lines about a start: one in the log, and the service's address on standard output.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread;

use crate::generation::Snapshot;
use crate::key::ApiKey;
use crate::update::Outcome;

/// Logs the one line of a start: what is served, or what is awaited.
pub(super) fn log_start(started: Option<(Outcome, &Snapshot)>, address: SocketAddr, origin: &str, awaited: &str) {
    let Some((outcome, served)) = started else {
        tracing::info!(version = env!("CARGO_PKG_VERSION"), %address, origin, "serving nothing yet: waiting for {awaited}");
        return;
    };
    let index = match outcome {
        Outcome::Loaded | Outcome::Unchanged => "loaded",
        Outcome::Published => "built",
        // The reason is logged already.
        Outcome::Withheld | Outcome::Failed => "last good generation",
    };
    tracing::info!(
        version = env!("CARGO_PKG_VERSION"),
        %address,
        data = origin,
        index,
        generation = served.generation(),
        software = served.software_count(),
        "serving"
    );
}

/// Prints the service's address, in the first line, and how to try it. On a thread of its own, which may block on a pipe that
/// isn't read.
pub(super) fn announce(address: SocketAddr, development: Option<&ApiKey>, is_demo: bool, is_preview: bool) {
    let reachable = match address.ip() {
        ip if ip.is_unspecified() && ip.is_ipv4() => SocketAddr::from(([127, 0, 0, 1], address.port())),
        ip if ip.is_unspecified() => SocketAddr::from((std::net::Ipv6Addr::LOCALHOST, address.port())),
        _ => address,
    };
    let mut text = format!("Listening on http://{address}\n");
    let example = |key: &str| {
        format!("  curl -H 'Authorization: Bearer {key}' 'http://{reachable}/v1/search?q=permit+to+work'\n")
    };
    // A string can't refuse a write.
    let _ = match development {
        Some(key) => write!(text, "\nExplore  http://{reachable}/#key={}\n\n{}", key.expose(), example(key.expose())),
        None => write!(text, "\nExplore  http://{reachable}/\n\n{}", example("YOUR_KEY")),
    };
    if let Some(key) = development.filter(|_| is_preview) {
        let _ = write!(text, "\nWhat changes  http://{reachable}/preview#key={}\n", key.expose());
    }
    if is_demo {
        text.push_str(
            "\nThere is no folder ./data here, so this is the directory that comes with the program, for trying it out.\n\
             Put export files in ./data, or name their folder with --data.\n",
        );
    }
    let text = Arc::<str>::from(text);
    let printed = Arc::clone(&text);
    if thread::Builder::new().name("announce".to_owned()).spawn(move || print_all(&printed)).is_err() {
        print_all(&text);
    }
}

fn print_all(text: &str) {
    let mut out = io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}
