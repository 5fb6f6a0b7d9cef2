//! TLS and users, on a node with the security plugin and its own CA.

use std::error::Error as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use software_directory::engine::opensearch::cluster::{
    Cluster, ClusterError, ClusterRequest, ClusterSettings, Credentials,
};

use crate::environment::{settings, until, variable};

fn secure(user: &str, password_file: &Path) -> ClusterSettings {
    let mut settings = settings();
    settings.ca_file = Some(variable("OPENSEARCH_CA_FILE").into());
    settings.credentials = Some(Credentials::password(user, password_file).expect("credentials"));
    settings
}

fn cluster(settings: ClusterSettings) -> Arc<Cluster> {
    Arc::new(Cluster::new(settings).expect("a cluster"))
}

fn password_file() -> PathBuf {
    variable("OPENSEARCH_PASSWORD_FILE").into()
}

/// An error with all its causes, in both debug and display form.
fn texts(error: &ClusterError) -> String {
    let mut text = format!("{error:?} {error}");
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

#[tokio::test]
#[ignore = "needs a cluster: make test-opensearch"]
async fn the_right_password_is_accepted() {
    let cluster = cluster(secure(&variable("OPENSEARCH_USER"), &password_file()));
    let _pings = cluster.start_pings();
    until("an answer", async || if cluster.health().is_available() { Ok(()) } else { Err(cluster.health()) }).await;
    let response = cluster.send(ClusterRequest::get("/_cluster/health")).await.expect("a response");
    assert_eq!(response.status, 200);
}

#[tokio::test]
#[ignore = "needs a cluster: make test-opensearch"]
async fn a_wrong_password_is_an_authentication_error_that_does_not_show_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let wrong = folder.path().join("password");
    fs::write(&wrong, "correct-horse-battery\n").expect("written");
    let cluster = cluster(secure(&variable("OPENSEARCH_USER"), &wrong));
    let error = cluster.send(ClusterRequest::get("/_cluster/health")).await.expect_err("a wrong password");
    let is_401 = matches!(&error, ClusterError::Authentication { status, .. } if *status == 401);
    assert!(is_401 && error.to_string().contains("check the user"), "{error}");
    let text = texts(&error);
    assert!(!text.contains("correct-horse-battery") && !text.contains("Basic"), "{text}");
    // Pings also report the error, but the first ping may be late on a busy machine.
    let health = until("a ping is answered", async || {
        cluster.ping().await;
        let health = cluster.health();
        if health.error().is_some_and(|text| text.contains("401")) { Ok(health) } else { Err(health) }
    });
    let health = health.await;
    assert!(health.error().is_some_and(|text| !text.contains("battery")), "{health:?}");
}

#[tokio::test]
#[ignore = "needs a cluster: make test-opensearch"]
async fn a_user_without_permissions_is_an_authentication_error() {
    let cluster = cluster(secure(&variable("OPENSEARCH_STRANGER"), &password_file()));
    let error = cluster.send(ClusterRequest::get("/_cat/indices")).await.expect_err("no permission");
    let is_403 = matches!(&error, ClusterError::Authentication { status, .. } if *status == 403);
    assert!(is_403 && error.to_string().contains("role"), "{error}");
}

#[tokio::test]
#[ignore = "needs a cluster: make test-opensearch"]
async fn an_unknown_certificate_is_a_tls_error_that_suggests_a_fix() {
    let mut settings = secure(&variable("OPENSEARCH_USER"), &password_file());
    settings.ca_file = None;
    let error = cluster(settings).send(ClusterRequest::get("/")).await.expect_err("an unknown CA");
    assert!(error.is_unavailable() && texts(&error).contains("--engine-ca-file"), "{}", texts(&error));
    assert!(texts(&error).contains("UnknownIssuer"), "{}", texts(&error));
}

/// The password must not cross the network unencrypted if TLS was left out by mistake.
#[tokio::test]
#[ignore = "needs a cluster: make test-opensearch"]
async fn plain_http_to_a_tls_port_is_unavailable() {
    let mut settings = secure(&variable("OPENSEARCH_USER"), &password_file());
    let plain = variable("OPENSEARCH_URLS").replace("https:", "http:");
    settings.urls = vec![ClusterSettings::parse_url(&plain).expect("a URL")];
    let error = cluster(settings).send(ClusterRequest::get("/")).await.expect_err("no HTTP");
    assert!(error.is_unavailable(), "{}", texts(&error));
}
