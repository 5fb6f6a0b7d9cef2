//! Hosts of websites and sources, including international ones.

use super::found::found;
use super::reading::{envelope, examine, record};
use software_directory::export::Report;

fn examine_url(url: &str) -> Report {
    let record = format!(r#"{{"id": "a", "name": "A", "url": "{url}", "evidence_status": "pending-review"}}"#);
    examine(&[("x.json", &envelope(&format!(r#""software": [{record}]"#)))])
}

fn codes(report: &Report) -> Vec<&'static str> {
    report.findings.iter().map(|finding| finding.code.as_str()).collect()
}

#[test]
fn impossible_hosts_cause_warnings() {
    assert_eq!(codes(&examine_url("https://www.example.com/product")), ["placeholder_url"]);
    assert_eq!(codes(&examine_url("http://192.168.1.4/")), ["private_host"]);
    assert_eq!(codes(&examine_url("https://acme.cmo/")), ["unknown_top_level_domain"]);
    assert_eq!(codes(&examine_url("https://acme.example/")), [""; 0]);
    assert_eq!(codes(&examine_url("https://acme.org/?u=http://localhost")), [""; 0]);
    assert!(examine_url("http://localhost/").is_valid());
}

#[test]
fn source_hosts_are_also_checked() {
    let sources = r#", "sources": [["A", "https://a.example/"], ["B", "https://todo"]]"#;
    let text = envelope(&format!(
        r#""software": [{}], "glossary": [{{"term": "T", "definition": "d", "source": "http://localhost"}},
        {{"term": "U", "definition": "d", "source": {{"url": "https://example.org/"}}}},
        {{"term": "V", "definition": "d", "source": "localhost"}}]"#,
        record("a", sources)
    ));
    let expected = [
        ("placeholder_url", "\"https://todo\"", "/software/0/sources/1/1"),
        ("placeholder_url", "\"http://localhost\"", "/glossary/0/source"),
        ("placeholder_url", "\"https://example.org/\"", "/glossary/1/source/url"),
    ];
    let report = examine(&[("x.json", &text)]);
    assert_eq!(found(&report), expected.map(|(code, text, pointer)| (code, text.to_owned(), pointer.to_owned())));
}

#[test]
fn the_fix_for_an_international_host_is_its_url_in_punycode() {
    let help = |url: &str| {
        let report = examine_url(url);
        assert_eq!(codes(&report), ["invalid_uri"], "{url}");
        report.findings[0].help.clone()
    };
    for (url, ascii) in [
        ("https://müller.example", "https://xn--mller-kva.example"),
        (
            "https://Müller.example:8443/Übersicht?q=ä b#ö",
            "https://xn--mller-kva.example:8443/%C3%9Cbersicht?q=%C3%A4%20b#%C3%B6",
        ),
        ("http://пример.рф/", "http://xn--e1afmkfd.xn--p1ai/"),
        ("https://user@straße.example/", "https://user@xn--strae-oqa.example/"),
    ] {
        assert_eq!(help(url), format!("write the host in Punycode: \"{ascii}\""));
    }
    assert_eq!(help("müller.example/x"), "write \"https://xn--mller-kva.example/x\"");
    assert_eq!(help("https://mueller.example/ü"), "write `%C3%BC` instead");
    assert_eq!(help("https://mül ler.example/"), "write `%C3%BC` instead");
    let long = format!("https://{}.example/", "ü".repeat(100_000));
    assert_eq!(help(&long), "write `%C3%BC` instead");
}
