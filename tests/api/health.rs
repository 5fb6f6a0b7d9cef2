//! Alive and ready, without a key.

use axum::http::Method;

use crate::service::Service;

#[tokio::test]
async fn alive_does_not_mean_ready() {
    let service = Service::empty();
    let alive = service.send(Method::GET, "/healthz", &[]).await;
    assert_eq!((alive.status.as_u16(), alive.text()), (200, r#"{"status":"ok"}"#));
    let ready = service.send(Method::GET, "/readyz", &[]).await;
    assert_eq!(ready.problem(), (503, "index_unavailable".to_owned()));
    assert_eq!(ready.header("retry-after"), "5");
}
