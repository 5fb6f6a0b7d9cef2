//! A new process takes over from an old one; they share a socket.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::task::JoinSet;

use crate::callers::client::{Client, request};
use crate::callers::load::PATHS;
use crate::callers::process::Place;
use crate::callers::{alone, full, run};

/// The outcomes of a caller's requests.
#[derive(Debug, Default)]
struct Passage {
    answered: u64,
    refused: Vec<io::Error>,
    lost: Vec<io::Error>,
}

impl Passage {
    /// The outcomes of both callers' requests.
    fn and(mut self, other: Self) -> Self {
        self.answered += other.answered;
        self.refused.extend(other.refused);
        self.lost.extend(other.lost);
        self
    }
}

/// Sends requests back to back until the stop signal; half of the callers use persistent
/// connections.
async fn callers(address: SocketAddr, key: Arc<str>, is_over: Arc<AtomicBool>) -> Passage {
    let mut callers = JoinSet::new();
    for caller in 0..16_usize {
        let (key, is_over) = (Arc::clone(&key), Arc::clone(&is_over));
        callers.spawn(async move {
            let mut passage = Passage::default();
            let mut kept = None;
            while !is_over.load(Ordering::Relaxed) {
                let mut client = match kept.take() {
                    Some(client) => client,
                    None => match Client::connect(address).await {
                        Ok(client) => client,
                        Err(error) => {
                            passage.refused.push(error);
                            continue;
                        }
                    },
                };
                let headers = if caller % 2 == 0 { "" } else { "Connection: close\r\n" };
                match client.ask(&request(PATHS[caller % PATHS.len()], &key, headers)).await {
                    Ok(answer) => {
                        // Overload also counts as a response, but having nothing to serve yet
                        // doesn't.
                        assert!(answer.status == 200 || answer.text().contains("overloaded"), "{answer:?}");
                        passage.answered += 1;
                        kept = (!answer.closes()).then_some(client);
                    }
                    Err(error) => passage.lost.push(error),
                }
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
            passage
        });
    }
    callers.join_all().await.into_iter().fold(Passage::default(), Passage::and)
}

#[test]
fn a_new_process_takes_over_without_refusing_connections() {
    let _alone = alone();
    let place = Place::new(100, 1_000_000);
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address");
    let is_over = Arc::new(AtomicBool::new(false));
    let mut server = place.serve_on(&listener);
    assert_eq!(server.address, address, "the server should listen on the inherited socket");
    let load = {
        let (key, is_over) = (Arc::from(place.key.as_str()), Arc::clone(&is_over));
        std::thread::spawn(move || run(callers(address, key, is_over)))
    };
    for round in 0..if full() { 20 } else { 3 } {
        if round % 2 == 0 {
            // The new process is ready before the old one exits.
            let next = place.serve_on(&listener);
            server.signal("-TERM");
            assert_eq!(server.ended(), Some(0));
            server = next;
        } else {
            // This is how a service manager restarts a server: callers wait in the backlog.
            server.signal("-TERM");
            assert_eq!(server.ended(), Some(0));
            server = place.serve_on(&listener);
        }
        std::thread::sleep(Duration::from_millis(200));
    }
    is_over.store(true, Ordering::Relaxed);
    let passage = load.join().expect("no panic");
    println!("{} requests answered, {} refused, {} lost", passage.answered, passage.refused.len(), passage.lost.len());
    assert!(passage.answered > 100 && passage.refused.is_empty() && passage.lost.is_empty(), "{passage:?}");
}

#[test]
fn a_socket_that_others_can_reach_needs_keys_whatever_the_options_say() {
    let place = Place::new(3, 600);
    std::fs::remove_file(place.path().join("keys.json")).expect("removed");
    let listener = TcpListener::bind("0.0.0.0:0").expect("a free port");
    let output = place.hand_over(Stdio::from(std::os::fd::OwnedFd::from(listener)), &["--listen", "127.0.0.1:0"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("software-directory keys create"), "{output:?}");
}

#[test]
fn inherited_descriptor_that_is_not_a_socket_is_rejected() {
    let place = Place::new(3, 600);
    let output = place.hand_over(Stdio::null(), &[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("LISTEN_FDS"), "{output:?}");
}
