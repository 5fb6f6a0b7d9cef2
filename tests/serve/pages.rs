//! A running server's pages: the sign-in link printed at startup, and removed products.

use http::{Request, Response};

use crate::common::process::{Server, export, folder_with, run, write};
use crate::common::request::send;
use crate::common::until::until;

/// Reads a page the way a browser does, with a session if there's a cookie.
fn visit(server: &Server, path: &str, cookie: Option<&str>) -> Response<String> {
    let mut request = Request::get(format!("{}{path}", server.address)).header("Accept", "text/html");
    if let Some(cookie) = cookie {
        request = request.header("Cookie", cookie);
    }
    send(request, "").expect("a response")
}

/// Follows the sign-in link, and returns the session's cookie.
fn sign_in(server: &Server) -> String {
    let link = server.announced.split_whitespace().find(|word| word.contains("/sign-in?code=")).expect("a link");
    let response = visit(server, link.strip_prefix(&server.address).expect("a link to this server"), None);
    assert_eq!((response.status().as_u16(), &response.headers()["location"]), (303, &"/".parse().expect("a path")));
    let cookie = response.headers()["set-cookie"].to_str().expect("ASCII");
    cookie.split(';').next().expect("a cookie").to_owned()
}

#[test]
fn sign_in_link_works_once_and_the_session_survives_a_restart() {
    let folder = folder_with(&["a", "b"]);
    let server = Server::start(folder.path(), &[]);
    let cookie = sign_in(&server);
    assert!(visit(&server, "/", Some(&cookie)).body().contains("2 products"));
    let link = server.announced.split_whitespace().find(|word| word.contains("/sign-in?code=")).expect("a link");
    let again = visit(&server, link.strip_prefix(&server.address).expect("a link to this server"), None);
    assert_eq!(again.status(), 200);
    assert!(again.body().contains("has been used") && again.headers().get("set-cookie").is_none(), "{again:?}");
    let restarted = Server::start(folder.path(), &[]);
    assert!(visit(&restarted, "/software/a", Some(&cookie)).body().contains("Tool a"));
}

#[test]
fn pages_are_open_to_this_machine_until_there_is_a_key() {
    let folder = folder_with(&["a"]);
    let server = Server::start(folder.path(), &[]);
    assert!(server.announced.contains("Pages are open to every user of this machine, and through any proxy on it."));
    let port = server.address.rsplit_once(':').expect("a port").1.to_owned();
    let status = |path: &str, name: &str, value: &str| {
        let request = Request::get(format!("{}{path}", server.address)).header(name, value);
        send(request, "").expect("a response").status().as_u16()
    };
    let page = visit(&server, "/software/a", None);
    assert_eq!(page.status(), 200);
    assert!(page.body().contains("<meta name=\"robots\" content=\"noindex\">"), "{page:?}");
    assert!(!page.body().contains("action=\"/sign-out\""), "there's no session to end");
    let policy = page.headers()["content-security-policy"].to_str().expect("ASCII");
    assert!(policy.contains("frame-ancestors 'none'"), "{policy}");
    assert_eq!(page.headers()["cross-origin-resource-policy"], "same-origin");
    assert_eq!(page.headers().get("access-control-allow-origin"), None);
    assert_eq!(status("/records/software/a", "Accept", "*/*"), 200);
    assert_eq!(status("/v1/software", "Accept", "*/*"), 401, "never the API");
    assert_eq!(status("/", "Host", &format!("localhost:{port}")), 200);
    for host in ["localhost", "localhost:1", "rebound.example", "192.0.2.7"] {
        assert_eq!(status("/", "Host", host), 303, "{host}");
        assert_eq!(status("/", "Host", &format!("rebound.example:{port}")), 303);
    }
    for name in ["Forwarded", "X-Forwarded-For", "X-Real-IP", "Via"] {
        assert_eq!(status("/", name, "127.0.0.1"), 303, "{name}");
    }
    let made = run(folder.path(), &["keys", "create", "--name", "a"]);
    assert!(made.status.success(), "{made:?}");
    until("the pages are closed", || (status("/", "Accept", "text/html") == 303).then_some(()));
}

#[test]
fn a_removed_product_is_gone_on_pages_and_not_found_in_the_api() {
    let folder = folder_with(&["a", "b", "c"]);
    let server = Server::start(folder.path(), &[]);
    let cookie = sign_in(&server);
    assert_eq!(visit(&server, "/software/c", Some(&cookie)).status(), 200);
    write(folder.path(), &export(&["a", "b", "d"]));
    let gone = until("the product is gone", || {
        let page = visit(&server, "/software/c", Some(&cookie));
        (page.status() != 200).then_some(page)
    });
    assert_eq!(gone.status(), 410);
    assert!(gone.body().contains("no longer listed"), "{gone:?}");
    assert_eq!(server.get("/v1/software/c").0, 404);
    let home = visit(&server, "/", Some(&cookie));
    let (_, added) = home.body().split_once("Recently added").expect("news");
    assert!(added.contains("Tool d"), "{added}");
}
