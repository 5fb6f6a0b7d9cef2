//! Sends a request on its own connection.

use std::error::Error;

use http::Response;
use http::request::Builder;
use http_body_util::BodyExt as _;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// Sends a request and reads the whole response, whatever its status.
pub(crate) fn send(request: Builder, body: &str) -> Result<Response<String>> {
    let request = request.body(body.to_owned())?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let sent = async {
        let client = Client::builder(TokioExecutor::new()).build_http();
        let (head, body) = client.request(request).await?.into_parts();
        let body = body.collect().await?.to_bytes().to_vec();
        Ok(Response::from_parts(head, String::from_utf8(body)?))
    };
    // On a separate thread, since some callers are inside a runtime.
    std::thread::scope(|scope| scope.spawn(move || runtime.block_on(sent)).join().expect("no panic"))
}
