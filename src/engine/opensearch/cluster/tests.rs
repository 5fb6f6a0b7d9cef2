//! Requests to stub nodes: what's sent, what's retried and what's cut short.

use std::time::Duration;

use http::StatusCode;

use super::stub::{BUSY, LOST, OK, Reply, Stub, cluster, cluster_with};
use super::*;

fn search() -> ClusterRequest {
    ClusterRequest::search("/a/_search", "{}")
}

#[tokio::test]
async fn a_failed_attempt_is_retried_once_on_another_node() {
    for failure in [BUSY, LOST, Reply::Status(502, ""), Reply::Status(504, ""), Reply::Close] {
        let (first, second) = (Stub::start(std::slice::from_ref(&failure)).await, Stub::start(&[OK]).await);
        let response = cluster(&[&first, &second]).send(search()).await.expect("a response");
        assert_eq!((response.node, first.requests(), second.requests()), (second.url.clone(), 1, 1), "{failure:?}");
    }
    let (absent, second) = (Stub::absent().await, Stub::start(&[OK]).await);
    assert!(cluster(&[&absent, &second]).send(search()).await.is_ok());
    // The first node fails because it lost the second one, which no ping has noticed yet.
    let (first, absent, third) = (Stub::start(&[LOST]).await, Stub::absent().await, Stub::start(&[OK]).await);
    let response = cluster(&[&first, &absent, &third]).send(search()).await.expect("a response");
    assert_eq!((response.node, first.requests()), (third.url, 1));
}

#[tokio::test]
async fn a_request_fails_if_no_node_can_be_reached() {
    let (first, second) = (Stub::absent().await, Stub::absent().await);
    let error = cluster(&[&first, &second]).send(search()).await.expect_err("no node");
    assert!(matches!(&error, ClusterError::Unavailable(Unavailability::Attempts { attempts: 3, .. })), "{error:?}");
}

#[tokio::test]
async fn the_second_failure_is_the_result() {
    let (first, second, third) = (Stub::start(&[BUSY]).await, Stub::start(&[BUSY]).await, Stub::start(&[OK]).await);
    let error = cluster(&[&first, &second, &third]).send(search()).await.expect_err("two failures");
    let is_second = matches!(&error, ClusterError::Unavailable(Unavailability::Attempts { source, .. })
        if matches!(&**source, NodeError::Status { node, .. } if *node == second.url));
    assert!(is_second && third.requests() == 0, "{error:?}");
}

#[tokio::test]
async fn requests_with_side_effects_and_rejected_requests_are_not_retried() {
    let second = Stub::start(&[OK]).await;
    let first = Stub::start(&[BUSY]).await;
    assert!(cluster(&[&first, &second]).send(ClusterRequest::post("/a/_doc", "{}")).await.is_err());
    assert!(cluster(&[&first, &second]).send(ClusterRequest::put("/a/_doc/b", "{}").once()).await.is_err());
    for (status, is_kind) in [
        (429, (|error| matches!(error, ClusterError::Overloaded { node: Some(_), .. })) as fn(&ClusterError) -> bool),
        (400, |error| matches!(error, ClusterError::Rejected { .. })),
        (500, |error| matches!(error, ClusterError::Rejected { .. })),
        (404, |error| matches!(error, ClusterError::NotFound { .. })),
    ] {
        let first = Stub::start(&[Reply::Status(status, "")]).await;
        let error = cluster(&[&first, &second]).send(search()).await.expect_err("a failure");
        assert!(is_kind(&error), "{error:?}");
    }
    assert_eq!(second.requests(), 0);
}

#[tokio::test]
async fn a_silent_node_gets_only_a_share_of_the_time() {
    let (first, second) = (Stub::start(&[Reply::Hang]).await, Stub::start(&[OK]).await);
    let request = search().timeout(Duration::from_secs(1));
    assert!(cluster(&[&first, &second]).send(request.clone()).await.is_ok());
    // A request to a cluster's only node gets the full time limit, and isn't sent again.
    let error = cluster(&[&first]).send(request).await.expect_err("silence");
    assert!(crate::error::chain(&error).contains("didn't respond within"), "{error}");
    assert!(error.is_unavailable() && first.requests() == 2, "{error:?}");
}

#[tokio::test]
async fn an_attempt_ends_when_its_node_goes_silent_and_a_search_when_any_node_does() {
    let lost = || NodeError::TimedOut { node: "a".to_owned(), after: Duration::from_millis(500) };
    for (request, silent, is_repeated) in [
        (search(), 0, true),
        (search(), 1, true),
        (ClusterRequest::get("/a"), 0, true),
        (ClusterRequest::get("/a"), 1, false),
        (ClusterRequest::post("/a", "{}"), 0, false),
    ] {
        let (first, second, third) =
            (Stub::start(&[Reply::Hang]).await, Stub::start(&[OK]).await, Stub::start(&[OK]).await);
        let cluster = cluster(&[&first, &second, &third]);
        let sent = tokio::spawn({
            let (cluster, request) = (Arc::clone(&cluster), request.clone());
            async move { cluster.send(request).await }
        });
        while first.requests() == 0 {
            tokio::task::yield_now().await;
        }
        assert!(cluster.nodes.missed(&cluster.nodes.all()[silent], lost()));
        if is_repeated {
            assert!(sent.await.expect("no panic").is_ok());
        } else {
            // If there were a retry, it would arrive before the response to this second request.
            cluster.send(search()).await.expect("a response");
            assert!(!sent.is_finished());
            sent.abort();
        }
        let others = second.requests() + third.requests();
        assert_eq!(others, 1, "{request:?} {silent}");
    }
}

#[tokio::test]
async fn a_single_address_is_retried_because_it_may_be_a_load_balancer() {
    let balancer = Stub::start(&[Reply::Status(502, ""), OK]).await;
    assert!(cluster(&[&balancer]).send(search()).await.is_ok());
    assert_eq!(balancer.requests(), 2);
}

#[tokio::test]
async fn a_request_that_never_gets_a_turn_fails_as_overloaded() {
    let stub = Stub::start(&[Reply::Hang]).await;
    let cluster = cluster_with(&[&stub], |settings| settings.max_concurrent_requests = 1);
    let first = tokio::spawn({
        let cluster = Arc::clone(&cluster);
        async move { cluster.send(search()).await }
    });
    while stub.requests() == 0 {
        tokio::task::yield_now().await;
    }
    let error = cluster.send(search().timeout(Duration::from_millis(50))).await.expect_err("no turn");
    assert!(matches!(error, ClusterError::Overloaded { node: None, .. }), "{error:?}");
    // A dropped request gives up its turn.
    first.abort();
    assert!(first.await.expect_err("aborted").is_cancelled());
    let error = cluster.send(search().timeout(Duration::from_millis(50))).await.expect_err("it hangs");
    assert!(error.is_unavailable() && stub.requests() == 2, "{error:?}");
}

#[tokio::test]
async fn the_response_size_is_limited() {
    let stub = Stub::start(&[Reply::Status(200, "{\"a\":12}")]).await;
    for (max_bytes, fits) in [(8, true), (7, false)] {
        let mut settings = ClusterSettings::new(vec![stub.url.parse().expect("a URL")]);
        settings.request_timeout = Duration::from_mins(1);
        let mut cluster = Cluster::new(settings).expect("a cluster");
        cluster.transport.set_max_response_bytes(max_bytes);
        let result = cluster.send(search()).await;
        match result {
            Ok(response) => assert!(fits && response.json::<serde_json::Value>().is_ok()),
            Err(error) => assert!(!fits && error.is_too_large(), "{error:?}"),
        }
    }
    assert_eq!(stub.requests(), 2, "a request isn't sent again if its response is too large");
}

#[tokio::test]
async fn pings_decide_where_requests_go() {
    let id = |text| Reply::Status(200, text);
    let first = Stub::start(&[id(r#"{"nodes":{"N1":{"name":"n1"}}}"#), OK]).await;
    let second = Stub::start(&[id(r#"{"nodes":{"N2":{"name":"n2"}}}"#), OK]).await;
    let other = Stub::start(&[id("<html>")]).await;
    let absent = Stub::absent().await;
    let cluster = cluster(&[&absent, &first, &other, &second]);
    cluster.ping().await;
    let health = cluster.health();
    let answers: Vec<_> = health.nodes.iter().map(|node| node.answers).collect();
    assert_eq!(answers, [Some(false), Some(true), Some(false), Some(true)]);
    assert!(
        health.nodes[2].error.as_deref().is_some_and(|error| error.contains("isn't an OpenSearch node")),
        "{health:?}"
    );
    for _ in 0..8 {
        cluster.send(search()).await.expect("a response");
    }
    assert_eq!((first.requests() + second.requests(), other.requests()), (10, 1), "two pings and eight searches");
    assert!(first.last_head().contains("preference=_prefer_nodes%3AN1%2CN2"), "{}", first.last_head());
    for _ in 0..4 {
        cluster.send(ClusterRequest::document("/a/_doc/b")).await.expect("a response");
    }
    for stub in [&first, &second] {
        let head = stub.last_head();
        assert!(head.starts_with("GET /a/_doc/b?preference=_prefer_nodes%3AN1%2CN2 HTTP"), "{head}");
    }
    cluster.send(ClusterRequest::get("/a")).await.expect("a response");
    assert!(first.last_head().starts_with("GET /a HTTP") || second.last_head().starts_with("GET /a HTTP"));
}

#[tokio::test]
async fn a_request_without_a_reachable_node_fails_immediately_with_the_cause() {
    let absent = Stub::absent().await;
    let cluster = cluster(&[&absent]);
    cluster.ping().await;
    let error = cluster.send(search()).await.expect_err("no node");
    assert!(matches!(error, ClusterError::Unavailable(Unavailability::NoNode { .. })), "{error:?}");
    let text = crate::error::chain(&error);
    assert!(text.contains(&absent.url) && text.contains("refused"), "{text}");
}

#[tokio::test]
async fn credentials_are_sent_but_never_shown() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("password");
    std::fs::write(&file, "hunter2\n").expect("written");
    let stub = Stub::start(&[Reply::Status(401, "Unauthorized")]).await;
    let with_password = cluster_with(&[&stub], |settings| {
        settings.credentials = Some(Credentials::password("me", &file).expect("credentials"));
    });
    let error = with_password.send(search()).await.expect_err("a wrong password");
    assert!(stub.last_head().contains("authorization: Basic bWU6aHVudGVyMg=="), "{}", stub.last_head());
    let is_401 = matches!(error, ClusterError::Authentication { status: StatusCode::UNAUTHORIZED, .. });
    assert!(is_401 && error.to_string().contains("user me"), "{error}");
    for text in [format!("{error:?}"), crate::error::chain(&error), format!("{with_password:?}")] {
        assert!(!text.contains("hunter2") && !text.contains("bWU6"), "{text}");
    }
    let error = cluster(&[&stub]).send(search()).await.expect_err("no user");
    assert!(error.to_string().contains("--engine-user"), "{error}");
}

#[tokio::test]
async fn rejected_pings_mean_a_rejected_user_and_not_a_missing_node() {
    for (status, is_rejected) in [(401, true), (403, true), (500, false)] {
        let stub = Stub::start(&[Reply::Status(status, "")]).await;
        let cluster = cluster(&[&stub]);
        cluster.ping().await;
        let error = cluster.send(search()).await.expect_err("no node");
        assert!(error.is_unavailable() && stub.requests() == 1, "{error:?}");
        assert_eq!(error.is_rejected_user(), is_rejected, "{error:?}");
    }
}
