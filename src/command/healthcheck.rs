//! `healthcheck`: asks a running server whether it's ready, for containers and service managers.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::process::ExitCode;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, StatusCode};
use http_body_util::{BodyExt as _, Limited};
use tokio::time::timeout;

use super::Failure;
use crate::cli::HealthcheckArgs;
use crate::client::{Client, Proxies, Roots};
use crate::error::chain;

const TIMEOUT: Duration = Duration::from_secs(3);
/// Large enough to list every reason why a server might not be ready.
const MAX_BODY_BYTES: usize = 4096;

/// Exit code 0 if the server says it's ready, otherwise 1 with the reason on standard error.
pub(super) fn run(args: &HealthcheckArgs) -> Result<ExitCode, Failure> {
    check(reachable(args.listen)).map_err(|text| Failure { text, code: 1 })?;
    Ok(ExitCode::SUCCESS)
}

fn check(address: SocketAddr) -> Result<(), String> {
    let url = format!("http://{address}/readyz");
    let unreachable = |error: &dyn std::error::Error| format!("{url} can't be reached: {}", chain(error));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|e| unreachable(&e))?;
    let (status, body) = runtime
        .block_on(async { timeout(TIMEOUT, get_readiness(&url)).await })
        .map_err(|elapsed| unreachable(&elapsed))?
        .map_err(|error| unreachable(error.as_ref()))?;
    if status == StatusCode::OK { Ok(()) } else { Err(format!("{url} responded with {status}: {}", body.trim())) }
}

/// The status and body of `/readyz`. Connects directly, ignoring proxies in the environment.
async fn get_readiness(url: &str) -> Result<(StatusCode, String), Box<dyn std::error::Error>> {
    let client = Client::new(Roots::empty(), TIMEOUT, Proxies::NONE)?;
    let response = client.send(Request::get(url).body(Bytes::new())?).await?;
    let status = response.status();
    let body = Limited::new(response.into_body(), MAX_BODY_BYTES).collect().await;
    Ok((status, body.map(|body| String::from_utf8_lossy(&body.to_bytes()).into_owned()).unwrap_or_default()))
}

/// The address at which this machine reaches a server, which may listen on all addresses.
pub(super) fn reachable(listen: SocketAddr) -> SocketAddr {
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
    fn a_server_listening_on_all_addresses_is_contacted_on_this_machine() {
        for (listen, address) in [("[::]:8080", "[::1]:8080"), ("192.168.1.2:80", "192.168.1.2:80")] {
            assert_eq!(reachable(listen.parse().expect(listen)).to_string(), address);
        }
    }
}
