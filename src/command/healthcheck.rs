//! `healthcheck`: asks a running server whether it is ready, for containers and service managers.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::process::ExitCode;
use std::time::Duration;

use crate::cli::HealthcheckArgs;

const TIMEOUT: Duration = Duration::from_secs(3);
/// The reasons why a server isn't ready are short.
const MAX_BODY_BYTES: u64 = 4096;

/// Exit code 0 where the server answers that it is ready, else 1 and the reason on standard error.
#[expect(clippy::needless_pass_by_value, reason = "every command takes its options over")]
pub(super) fn run(args: HealthcheckArgs) -> ExitCode {
    match check(reachable(args.listen)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            super::print_error(&reason);
            ExitCode::FAILURE
        }
    }
}

fn check(address: SocketAddr) -> Result<(), String> {
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .timeout_global(Some(TIMEOUT))
        .http_status_as_error(false)
        // The server is asked itself, whatever proxy the environment names, and its own answer counts.
        .proxy(None)
        .max_redirects(0)
        .build()
        .into();
    let url = format!("http://{address}/readyz");
    let mut response = agent.get(&url).call().map_err(|error| format!("{url} can't be reached: {error}"))?;
    if response.status().as_u16() == 200 {
        return Ok(());
    }
    let body = response.body_mut().with_config().limit(MAX_BODY_BYTES).lossy_utf8(true).read_to_string();
    Err(format!("{url} answered {}: {}", response.status(), body.unwrap_or_default().trim()))
}

/// Where a server that listens on all addresses can be reached: on this machine's own.
fn reachable(listen: SocketAddr) -> SocketAddr {
    let ip = match listen.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, listen.port())
}

#[cfg(test)]
mod tests {
    use super::reachable;

    #[test]
    fn a_server_on_all_addresses_is_asked_on_this_machine() {
        for (listen, asked) in [
            ("0.0.0.0:8080", "127.0.0.1:8080"),
            ("[::]:8080", "[::1]:8080"),
            ("192.168.1.2:80", "192.168.1.2:80"),
            ("127.0.0.1:8080", "127.0.0.1:8080"),
        ] {
            assert_eq!(reachable(listen.parse().expect(listen)).to_string(), asked);
        }
    }
}
