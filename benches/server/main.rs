//! The baselines and queries of `make bench-http`; `benches/server/run.py` starts them.
//!
//! - `queries FOLDER`: writes the queries, drawn with a fixed seed from the corpus.
//! - `axum ADDRESS BYTES`: bare axum, which answers every request with a body of that size. Shows
//!   the best that HTTP can do on this machine.
//! - `tantivy ADDRESS`: bare tantivy behind a minimal axum server. Shows the best that the engine
//!   can do.
//!
//! The first line on standard output is the address.

#[path = "../corpus/mod.rs"]
mod corpus;

mod bare_axum;
mod bare_tantivy;
mod queries;

use std::net::SocketAddr;
use std::process::ExitCode;

use axum::Router;
use corpus::Failure;

/// The same allocator as in the service.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    let done = match arguments.as_slice() {
        ["queries", folder] => queries::write(folder.as_ref()),
        ["axum", address, bytes] => {
            bytes.parse().map_err(Into::into).and_then(|bytes| serve(address, bare_axum::router(bytes)))
        }
        ["tantivy", address] => bare_tantivy::router().and_then(|router| serve(address, router)),
        [] => Err("this is started by `make bench-http`".into()),
        _ => Err("queries FOLDER, axum ADDRESS BYTES or tantivy ADDRESS".into()),
    };
    corpus::exit(done)
}

/// Serves with two worker threads until it's killed.
fn serve(address: &str, router: Router) -> Result<(), Failure> {
    let address: SocketAddr = address.parse()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind(address).await?;
        println!("Listening on http://{}", listener.local_addr()?);
        Ok(axum::serve(listener, router).await?)
    })
}
