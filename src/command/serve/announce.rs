//! Announces startup, with a line in the log and the service's address on standard output.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread;

use crate::generation::Snapshot;
use crate::key::ApiKey;
use crate::update::Outcome;

/// Logs the single startup line: what's being served, or what the server is waiting for.
pub(super) fn log_start(started: Option<(Outcome, &Snapshot)>, address: SocketAddr, origin: &str, awaited: &str) {
    let Some((outcome, served)) = started else {
        tracing::info!(version = env!("CARGO_PKG_VERSION"), %address, origin, "serving nothing yet: waiting for {awaited}");
        return;
    };
    let index = match outcome {
        Outcome::Loaded | Outcome::Unchanged => "loaded",
        Outcome::Published => "built",
        // The reason has already been logged.
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

/// What to print at startup besides the service's address.
#[derive(Debug)]
pub(super) struct Start<'a> {
    /// The development key, if it's the only one.
    pub(super) development: Option<&'a ApiKey>,
    /// Codes that sign a browser in with the development key: one for the home page, one for the
    /// preview page.
    pub(super) codes: Vec<String>,
    /// A query that has results.
    pub(super) example: String,
    pub(super) is_demo: bool,
    /// Whether the directory itself can be explored on pages.
    pub(super) has_pages: bool,
}

/// Prints the service's address on the first line, and how to try it. Uses a separate thread,
/// because writing may block on a pipe that nobody reads.
pub(super) fn announce(address: SocketAddr, start: &Start<'_>) {
    let reachable = match address.ip() {
        ip if ip.is_unspecified() && ip.is_ipv4() => SocketAddr::from(([127, 0, 0, 1], address.port())),
        ip if ip.is_unspecified() => SocketAddr::from((std::net::Ipv6Addr::LOCALHOST, address.port())),
        _ => address,
    };
    let mut text = format!("Listening on http://{address}\n");
    let Start { development, codes, example, is_demo, has_pages } = start;
    let key = development.map_or("YOUR_KEY", ApiKey::expose);
    let query: String = form_urlencoded::byte_serialize(example.as_bytes()).collect();
    let mut codes = codes.iter();
    // Writing to a string can't fail.
    let _ = match codes.next() {
        Some(code) => write!(text, "\nExplore  http://{reachable}/sign-in?code={code}\n"),
        None if *has_pages => write!(text, "\nExplore  http://{reachable}/\n"),
        None => write!(text, "\nDocumentation  http://{reachable}/docs\n"),
    };
    let _ = write!(text, "\n  curl -H 'Authorization: Bearer {key}' 'http://{reachable}/v1/search?q={query}'\n");
    if let Some(code) = codes.next() {
        let _ = write!(text, "\nWhat changes  http://{reachable}/sign-in?code={code}&next=/preview\n");
    }
    if *is_demo {
        text.push_str(
            "\nThere is no ./data folder here, so this is the built-in demo directory.\n\
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
