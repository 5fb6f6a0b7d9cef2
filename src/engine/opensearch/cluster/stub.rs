//! Stub nodes, for tests.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::{Cluster, ClusterSettings};

/// How a stub responds to a request.
#[derive(Debug, Clone)]
pub(in crate::engine::opensearch) enum Reply {
    Status(u16, &'static str),
    Hang,
    Close,
}

pub(in crate::engine::opensearch) const OK: Reply = Reply::Status(200, r#"{"ok":true}"#);
pub(in crate::engine::opensearch) const BUSY: Reply =
    Reply::Status(503, r#"{"error":{"type":"cluster_block_exception","reason":"not recovered"}}"#);

pub(in crate::engine::opensearch) const LOST: Reply =
    Reply::Status(500, r#"{"error":{"type":"node_disconnected_exception","reason":"phase/fetch"}}"#);

/// A node that sends its replies in turn, repeating the last one forever, and records its requests'
/// heads.
#[derive(Debug)]
pub(in crate::engine::opensearch) struct Stub {
    pub(in crate::engine::opensearch) url: String,
    pub(in crate::engine::opensearch) heads: Arc<Mutex<Vec<String>>>,
}

impl Stub {
    pub(in crate::engine::opensearch) async fn start(replies: &[Reply]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let heads = Arc::new(Mutex::new(Vec::new()));
        let replies = Arc::new(Mutex::new(VecDeque::from(replies.to_vec())));
        let seen = Arc::clone(&heads);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&replies), Arc::clone(&seen)));
            }
        });
        Self { url, heads }
    }

    /// An address that nothing is listening on.
    pub(in crate::engine::opensearch) async fn absent() -> Self {
        let stub = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        Self { url: format!("http://{}", stub.local_addr().expect("an address")), heads: Arc::default() }
    }

    pub(in crate::engine::opensearch) fn requests(&self) -> usize {
        self.heads.lock().expect("a lock").len()
    }

    pub(in crate::engine::opensearch) fn last_head(&self) -> String {
        self.heads.lock().expect("a lock").last().cloned().expect("a request")
    }
}

async fn serve(mut stream: TcpStream, replies: Arc<Mutex<VecDeque<Reply>>>, heads: Arc<Mutex<Vec<String>>>) {
    while let Some(head) = read_request(&mut stream).await {
        heads.lock().expect("a lock").push(head);
        let reply = {
            let mut replies = replies.lock().expect("a lock");
            let next = if replies.len() > 1 { replies.pop_front() } else { replies.front().cloned() };
            next.expect("a reply")
        };
        match reply {
            Reply::Close => return,
            Reply::Hang => std::future::pending().await,
            Reply::Status(status, body) => {
                let head = format!("HTTP/1.1 {status} x\r\ncontent-length: {}\r\n\r\n{body}", body.len());
                if stream.write_all(head.as_bytes()).await.is_err() {
                    return;
                }
            }
        }
    }
}

/// Reads a request and returns its head, or `None` once the connection is closed.
async fn read_request(stream: &mut TcpStream) -> Option<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    let head = String::from_utf8(head).expect("text");
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    let mut body = vec![0; length.map_or(0, |length| length.parse().expect("a length"))];
    stream.read_exact(&mut body).await.ok()?;
    Some(head)
}

pub(in crate::engine::opensearch) fn cluster_with(
    stubs: &[&Stub],
    change: impl FnOnce(&mut ClusterSettings),
) -> Arc<Cluster> {
    let urls = stubs.iter().map(|stub| ClusterSettings::parse_url(&stub.url).expect("a URL"));
    let mut settings = ClusterSettings::new(urls.collect());
    // Long enough even on a busy machine; requests only time out if a stub hangs.
    settings.request_timeout = Duration::from_mins(1);
    change(&mut settings);
    Arc::new(Cluster::new(settings).expect("a cluster"))
}

pub(in crate::engine::opensearch) fn cluster(stubs: &[&Stub]) -> Arc<Cluster> {
    cluster_with(stubs, |_| {})
}
