//! Listening sockets, and the connection limit.
//!
//! Sockets may be inherited (systemd's socket activation, `LISTEN_FDS`). Such a socket accepts
//! connections while one process ends and the next one starts, so a new version takes over without
//! refusing any connections. The first socket is the service's, and a second one is for metrics.

use std::io;
use std::net::{SocketAddr, TcpListener as Socket};

use listenfd::ListenFd;
use rustix::net::sockopt::set_socket_send_buffer_size;
use tokio::net::TcpListener;

use super::super::limits::allow_open_files;
use super::Failure;
use crate::cli::ServeArgs;

/// How many open files to leave for exports being read, the index and the log.
const OTHER_FILES: u64 = 64;
/// How many open files to leave for large directories, if the limit allows: up to 128 downloadable
/// parts for each of three generations.
const DOWNLOAD_FILES: u64 = 3 * 128;

/// A connection's send buffer in bytes. It limits how much memory a client that doesn't read can
/// tie up. Linux doubles it for its own overhead; the default would be four megabytes. With a
/// round-trip time of 50 ms, it allows five megabytes per second.
const SEND_BUFFER_BYTES: usize = 256 * 1024;

/// Sockets that were opened before the process started.
#[derive(Default)]
pub(super) struct HandedOver {
    service: Option<Socket>,
    metrics: Option<Socket>,
}

impl HandedOver {
    /// Takes the inherited sockets. Must be called first, because it reads and clears environment
    /// variables.
    pub(super) fn take() -> Result<Self, Failure> {
        let mut sockets = ListenFd::from_env();
        let mut take = |at| {
            sockets
                .take_tcp_listener(at)
                .map_err(|error| Failure::usage(format!("can't listen on the socket passed in LISTEN_FDS: {error}")))
        };
        Ok(Self { service: take(0)?, metrics: take(1)? })
    }

    /// The address that the service will listen on. It decides whether keys are needed, so an
    /// inherited socket takes precedence over the options.
    pub(super) fn address(&self, args: &ServeArgs) -> Result<SocketAddr, Failure> {
        match &self.service {
            Some(socket) => socket
                .local_addr()
                .map_err(|error| Failure::usage(format!("the socket passed in LISTEN_FDS has no address: {error}"))),
            None => Ok(args.listen),
        }
    }

    /// Whether the service's socket is inherited. If so, callers wait in its backlog until there's
    /// something to serve, or stay with the process that's still running.
    pub(super) fn is_shared(&self) -> bool {
        self.service.is_some()
    }

    pub(super) async fn service(&mut self, args: &ServeArgs) -> Result<(TcpListener, SocketAddr), Failure> {
        listen(self.service.take(), args.listen, "--listen").await
    }

    pub(super) async fn metrics(&mut self, args: &ServeArgs) -> Result<Option<(TcpListener, SocketAddr)>, Failure> {
        match args.metrics_listen {
            Some(address) => listen(self.metrics.take(), address, "--metrics-listen").await.map(Some),
            None => Ok(None),
        }
    }
}

/// Listens on an inherited socket, or else on an address. Returns the address.
async fn listen(
    socket: Option<Socket>,
    address: SocketAddr,
    option: &str,
) -> Result<(TcpListener, SocketAddr), Failure> {
    let cannot = |error: io::Error| {
        let remedy = match error.kind() {
            io::ErrorKind::AddrInUse => format!("another process is using the port; choose another one with {option}"),
            io::ErrorKind::AddrNotAvailable => {
                format!("this machine doesn't have the address; choose another one with {option}")
            }
            io::ErrorKind::PermissionDenied => {
                format!("ports below 1024 need privileges; choose another port with {option}")
            }
            _ => format!("choose another address with {option}"),
        };
        Failure { text: format!("can't listen on {address}: {error}; {remedy}"), code: 1 }
    };
    let listener = match socket {
        Some(socket) => {
            socket.set_nonblocking(true).map_err(cannot)?;
            TcpListener::from_std(socket).map_err(cannot)?
        }
        None => TcpListener::bind(address).await.map_err(cannot)?,
    };
    // Connections inherit the buffer size. If it can't be set, the system's default applies.
    let _ = set_socket_send_buffer_size(&listener, SEND_BUFFER_BYTES);
    let address = listener.local_addr().map_err(cannot)?;
    Ok((listener, address))
}

/// How many connections are possible, up to `wanted`. Each uses a file descriptor.
pub(super) fn connections(wanted: usize) -> usize {
    let needed = wanted as u64 + OTHER_FILES;
    let Some(current) = allow_open_files(needed + DOWNLOAD_FILES) else { return wanted };
    let possible = connections_of(wanted, current);
    if possible < wanted {
        tracing::warn!(
            "at most {possible} connections at once, because the process may open only {current} files; raise the \
             limit (`ulimit -n`, LimitNOFILE) to {needed} for {wanted}"
        );
    }
    possible
}

/// How many connections fit into an open-file limit.
fn connections_of(wanted: usize, files: u64) -> usize {
    let others = OTHER_FILES.min(files / 2);
    usize::try_from(files - others).unwrap_or(usize::MAX).clamp(1, wanted.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_connection_limit_leaves_room_for_other_files() {
        for (files, connections) in
            [(1_000_000, 4096), (4160, 4096), (4159, 4095), (1024, 960), (64, 32), (2, 1), (0, 1)]
        {
            assert_eq!(connections_of(4096, files), connections, "{files}");
        }
    }
}
