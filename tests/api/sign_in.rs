//! Signing in and out. Sessions are for pages only.

use axum::http::Method;
use software_directory::http::HttpConfig;
use software_directory::key::Rate;

use crate::api::fixture;
use crate::api::service::{BROWSER, Service, Setup};

#[tokio::test]
async fn reader_without_a_session_is_sent_to_sign_in_and_back() {
    let service = Service::with_directory();
    let asked = service.send(Method::GET, "/software/a%2Fb?x=1", &[BROWSER]).await;
    let form = asked.header("location").to_owned();
    assert_eq!((asked.status.as_u16(), form.as_str()), (303, "/sign-in?next=%2Fsoftware%2Fa%252Fb%3Fx%3D1"));
    let page = service.send(Method::GET, &form, &[BROWSER]).await;
    assert_eq!((page.status.as_u16(), page.header("cache-control")), (200, "no-store"));
    assert!(page.text().contains("name=\"next\" value=\"/software/a%2Fb?x=1\""), "{}", page.text());
    let body = format!("key={}&next=%2Fsoftware%2Fa%252Fb%3Fx%3D1", service.key);
    let signed_in = service.post("/sign-in", &body, &[]).await;
    assert_eq!((signed_in.status.as_u16(), signed_in.header("location")), (303, "/software/a%2Fb?x=1"));
    let cookie = signed_in.header("set-cookie");
    for attribute in ["HttpOnly", "SameSite=Lax", "Path=/", "Max-Age=604800"] {
        assert!(cookie.contains(attribute), "{cookie}");
    }
    assert!(!cookie.contains("Secure") && !cookie.contains(&service.key), "{cookie}");
    let over_tls = service.post("/sign-in", &body, &[("origin", "https://localhost")]).await;
    assert!(over_tls.header("set-cookie").contains("; Secure"), "{over_tls:?}");
}

#[tokio::test]
async fn session_grants_access_to_pages_and_nothing_else() {
    let service = Service::with_directory();
    let cookie = service.session().await;
    let with_cookie = [("cookie", cookie.as_str()), ("sec-fetch-site", "same-origin")];
    assert_eq!(service.send(Method::GET, "/software/tool-rated", &with_cookie).await.status, 200);
    for path in ["/v1/software", "/v1/exports/tools", "/feed.atom", "/feed.json"] {
        assert_eq!(service.send(Method::GET, path, &with_cookie).await.problem().1, "missing_api_key", "{path}");
    }
    let download = service.send(Method::GET, "/exports/tools", &with_cookie).await;
    assert_eq!(download.text(), fixture::tools_document());
    let bearer = service.bearer();
    let with_key = service.send(Method::GET, "/", &[("authorization", &bearer)]).await;
    assert_eq!(with_key.status, 303, "a page accepts a session, not a key");
    let forged = format!("{}0", &cookie[..cookie.len() - 1]);
    if forged != cookie {
        assert_eq!(service.send(Method::GET, "/", &[("cookie", &forged)]).await.status, 303);
    }
}

#[tokio::test]
async fn session_counts_against_the_quota_and_ends_with_its_key() {
    let service = Setup { directory: fixture::directory(), rate: 3, ..Setup::default() }.start();
    let cookie = service.session().await;
    let visit = async || service.send(Method::GET, "/categories", &[("cookie", cookie.as_str()), BROWSER]).await;
    for _ in 0..3 {
        assert_eq!(visit().await.status, 200);
    }
    let refused = visit().await;
    assert_eq!(refused.status, 429);
    assert!(refused.text().contains("Too many requests") && !refused.header("retry-after").is_empty());
    assert_eq!(service.get("/v1/categories").await.problem().1, "rate_limited", "one quota");
    std::fs::write(service.key_file(), "{\"keys\": []}").expect("written");
    service.keys.reload_if_changed();
    assert_eq!(visit().await.status, 303, "the key is revoked");
}

#[tokio::test]
async fn wrong_key_is_explained_and_other_origins_are_refused() {
    let service = Service::with_directory();
    for (key, status, told) in [("sd_live_wrong", 403, "This key isn’t valid"), ("", 400, "Enter a key.")] {
        let answer = service.post("/sign-in", &format!("key={key}"), &[BROWSER]).await;
        assert_eq!(answer.status.as_u16(), status);
        assert!(answer.text().contains(told) && answer.headers.get("set-cookie").is_none(), "{}", answer.text());
    }
    let form = format!("key={}", service.key);
    for headers in [
        [("origin", "https://evil.example"), ("accept", "*/*")],
        [("origin", "null"), ("accept", "*/*")],
        [("sec-fetch-site", "cross-site"), ("accept", "*/*")],
    ] {
        for path in ["/sign-in", "/sign-out"] {
            let answer = service.post(path, &form, &headers).await;
            assert_eq!(answer.problem().0, 403, "{headers:?}");
            assert!(answer.headers.get("set-cookie").is_none());
        }
    }
    let large = format!("key={}", "x".repeat(20_000));
    assert_eq!(service.post("/sign-in", &large, &[]).await.problem().0, 413);
    for path in ["/sign-in", "/sign-out"] {
        assert_eq!(service.send(Method::PUT, path, &[]).await.problem().0, 405);
    }
}

#[tokio::test]
async fn sign_in_attempts_are_limited_per_address() {
    let service = Service::with_directory();
    let attempt = async || {
        let request = axum::extract::Request::post("/sign-in").header("host", "localhost").header(BROWSER.0, BROWSER.1);
        let peer = std::net::SocketAddr::from(([192, 0, 2, 1], 4711));
        let request = request.extension(axum::extract::ConnectInfo(peer));
        service.call(request.body(axum::body::Body::from("key=sd_live_wrong")).expect("a request")).await
    };
    for _ in 0..60 {
        assert_eq!(attempt().await.status, 403);
    }
    assert_eq!(attempt().await.status, 429);
}

#[tokio::test]
async fn signing_out_ends_the_session_even_for_someone_who_has_copied_the_cookie() {
    let service = Service::with_directory();
    let (cookie, other) = (service.session().await, service.session().await);
    let visit = async |cookie: &str| service.send(Method::GET, "/", &[("cookie", cookie), BROWSER]).await.status;
    assert_eq!(visit(&cookie).await, 200);
    let cookies = format!("directory-session-other=1; {cookie}");
    let answer = service.post("/sign-out", "", &[("cookie", &cookies)]).await;
    assert_eq!((answer.status.as_u16(), answer.header("location")), (303, "/sign-in"));
    let name = cookie.split('=').next().expect("a name");
    assert!(answer.header("set-cookie").starts_with(&format!("{name}=; Max-Age=0")), "{answer:?}");
    assert_eq!(answer.headers.get_all("set-cookie").iter().count(), 1, "another server's cookie is left alone");
    assert_eq!((visit(&cookie).await, visit(&other).await.as_u16()), (303.try_into().expect("a status"), 200));
}

#[tokio::test]
async fn cookies_planted_before_the_session_lock_nobody_out() {
    let service = Service::with_directory();
    let cookie = service.session().await;
    let (name, token) = cookie.split_once('=').expect("a name");
    let forged = format!("{name}={}", token.replace(|digit: char| digit.is_ascii_digit(), "1"));
    assert_ne!(forged, cookie);
    for planted in [forged, format!("{name}=1"), format!("{name}="), "directory-session-é=é".to_owned()] {
        let cookies = format!("{}{cookie}", format!("{planted}; ").repeat(100));
        for headers in [vec![cookies.as_bytes()], vec![planted.as_bytes(), cookie.as_bytes()]] {
            let mut request = axum::extract::Request::get("/categories").header("host", "localhost");
            for value in headers {
                request = request.header("cookie", value);
            }
            let answer = service.call(request.body(axum::body::Body::empty()).expect("a request")).await;
            assert_eq!(answer.status, 200, "{planted}");
        }
    }
}

#[tokio::test]
async fn key_limited_to_origins_cannot_sign_in() {
    let origins = &["https://app.example"];
    let service = Setup { directory: fixture::directory(), origins, ..Setup::default() }.start();
    for (language, told) in [
        ("en", "This key only works on certain websites"),
        ("de", "Dieser Schlüssel gilt nur für bestimmte Websites"),
        ("fr", "Cette clé n’est valable que sur certains sites"),
    ] {
        let path = format!("/{language}/sign-in");
        let answer = service.post(&path, &format!("key={}", service.key), &[BROWSER]).await;
        assert_eq!(answer.status, 403);
        assert!(answer.text().contains(told) && answer.headers.get("set-cookie").is_none(), "{}", answer.text());
    }
    assert_eq!(service.get("/v1/categories").await.status, 200);
}

#[tokio::test]
async fn public_page_needs_no_session() {
    let config = HttpConfig { public_page: Rate::new(100), ..HttpConfig::default() };
    let service = Setup { directory: fixture::directory(), config, ..Setup::default() }.start();
    assert_eq!(service.send(Method::GET, "/", &[BROWSER]).await.status, 200);
    let form = service.send(Method::GET, "/sign-in?next=/categories", &[BROWSER]).await;
    assert_eq!((form.status.as_u16(), form.header("location")), (303, "/categories"));
    let german = service.send(Method::GET, "/de/sign-in?next=/categories", &[BROWSER]).await;
    assert_eq!((german.status.as_u16(), german.header("location")), (303, "/de/categories"));
}
