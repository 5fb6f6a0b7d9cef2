//! `report` on the command line, and what the report contains on a given day.

use std::fs;
use std::path::Path;
use std::process::{Output, Stdio};

use serde_json::{Value, json};
use software_directory::curate::report;
use software_directory::export::{Limits, SourceFile, examine};
use software_directory::record::CalendarDate;

use crate::common::binary::command;

fn run(folder: &Path, arguments: &[&str]) -> Output {
    command(folder).args(arguments).stdin(Stdio::null()).output().expect("the binary runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("text")
}

/// A folder with the export `data/tools.json`.
fn folder(export: &Value) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir(folder.path().join("data")).expect("a folder");
    fs::write(folder.path().join("data/tools.json"), export.to_string()).expect("a file");
    folder
}

/// Both formats of the report on the folder's exports.
fn reports(folder: &Path) -> [String; 2] {
    ["html", "markdown"].map(|format| {
        let output = run(folder, &["report", "--format", format]);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        text(&output.stdout)
    })
}

fn small() -> Value {
    let product = |id: &str, name: &str, url: &str, checked: Option<&str>| {
        let mut product = json!({"id": id, "name": name, "url": url, "evidence_status": "pending-review"});
        if let Some(checked) = checked {
            let sources = json!([["Site", url]]);
            product["evidence_status"] = json!("vendor-sources-reviewed");
            product["evidence_checked_on"] = json!(checked);
            product["sources"] = sources;
        }
        product
    };
    let mut products = [
        product("a", "Alpha", "https://a.example/", Some("2026-10-31")),
        product("a2", "ALPHA", "https://a.example", Some("2025-11-24")),
        product("b", "Beta", "https://b.example/", Some("2025-11-25")),
        product("c", "Gamma & Söhne", "https://c.example/", None),
    ];
    products[0]["categories"] = json!(["Audits", "Permits"]);
    products[1]["category"] = json!("audits");
    products[2]["vendor"] = json!("V");
    json!({"name": "Our tools", "license": "https://creativecommons.org/licenses/by/4.0/", "as_of": "2026-11-20",
        "categories": [{"name": "Audits"}, {"name": "Training"}], "software": products})
}

#[test]
fn coverage_by_language_is_shown_if_anything_is_translated() {
    let mut export = small();
    export["software"][0]["tagline"] = json!("t");
    export["software"][0]["translations"] = json!({"de": {"tagline": "u"}, "fr": {"name": "v", "tagline": "w"}});
    export["categories"][0]["translations"] = json!({"de": {"name": "Prüfungen"}});
    let folder = folder(&export);
    let [html, markdown] = reports(folder.path());
    assert!(html.contains("Coverage by language"));
    let rows: Vec<_> = markdown.lines().skip_while(|line| !line.contains("Coverage by language")).collect();
    let rows: Vec<_> = rows.into_iter().filter(|line| line.starts_with("| ")).skip(2).take(3).collect();
    assert_eq!(
        rows,
        [
            "| de | 0 (0%) | 1 (100%) | 0 | 1 (50%) | 0 |",
            "| en | 4 (100%) | 1 (100%) | 0 | 2 (100%) | 0 |",
            "| fr | 1 (25%) | 1 (100%) | 0 | 0 (0%) | 0 |",
        ],
        "{markdown}"
    );
    assert!(!reports(self::folder(&small()).path())[1].contains("Coverage by language"));
}

#[test]
fn the_report_is_rendered_in_both_formats() {
    let file = SourceFile::from_bytes(Path::new("data/tools.json"), small().to_string().into()).expect("a file");
    let day = CalendarDate::parse("2026-11-24").expect("a day");
    let read = examine(vec![Ok(file)], &Limits::default(), day, &|_| {}).expect("in memory");
    let document = report::collect(&read, day);
    insta::assert_snapshot!("markdown", report::markdown(&document));
    let html = report::html(&document).expect("written");
    let (head, rest) = html.split_once("<style>").expect("a style");
    let (_, body) = rest.split_once("</style>").expect("its end");
    insta::assert_snapshot!("html", format!("{head}{body}"));
}

#[test]
fn hostile_text_is_harmless() {
    let name = "<script>alert(1)</script> | [x](javascript:alert(1)) `\u{202e}\u{1b}[31m\n# \"onload=\"x\" &amp; <!--";
    let product = |id: &str| {
        json!({"id": format!("{id}{name}"), "name": name, "url": "javascript:alert(1)", "categories": [name],
            "evidence_status": "pending-review"})
    };
    let export = json!({"name": name, "license": "javascript:alert('%3Cb%3E')", "as_of": name,
        "categories": [{"name": format!("unused{name}")}], "software": [product("1"), product("2")]});
    let folder = folder(&export);
    let [html, markdown] = reports(folder.path());
    for harmful in ["<script", "<!--", "href=\"javascript", "\"onload", "\u{202e}", "\u{1b}", "\n# "] {
        assert!(!html.contains(harmful), "{harmful:?} in {html}");
    }
    assert!(html.contains("&lt;script&gt;alert(1)&lt;/script&gt; | [x]"), "{html}");
    assert!(html.contains("&amp;amp; &lt;!--"), "{html}");
    // Apart from empty elements and character references, there must be no markup.
    let mut rest = markdown.replace("<span></span>", "");
    while let Some(at) = rest.find("&#") {
        let end = rest[at..].find(';').expect("the end of an entity");
        rest.replace_range(at..=at + end, "");
    }
    for harmful in ["<", "[", "]", "&", "\u{202e}", "\u{1b}", "\n# \""] {
        assert!(!rest.contains(harmful), "{harmful:?} in {rest}");
    }
    let escaped = "&#60;script&#62;alert(1)&#60;/script&#62; &#124; &#91;x&#93;(javascript:alert(1)) &#96;";
    assert!(markdown.contains(escaped), "{markdown}");
    // Each row has as many columns as the header.
    let columns = |line: &str| line.matches('|').count();
    let lines: Vec<_> = markdown.lines().collect();
    for pair in lines.windows(2).filter(|pair| pair.iter().all(|line| line.starts_with('|'))) {
        assert_eq!(columns(pair[0]), columns(pair[1]), "{pair:?}");
    }
}

#[test]
fn the_page_is_self_contained() {
    let folder = folder(&small());
    let [html, _] = reports(folder.path());
    for outer in ["<script", "<link", "src=", "url(", "@import"] {
        assert!(!html.contains(outer), "{outer}");
    }
    assert!(html.contains("color-scheme: light dark") && html.contains("light-dark(") && html.contains("@media print"));
}

#[test]
fn lists_are_bounded_and_the_rest_is_counted() {
    let products: Vec<_> = (0..102)
        .map(|n| {
            let name = format!("N{}", n / 2);
            json!({"id": n.to_string(), "name": name, "url": format!("https://{n}.example/"),
                "category": format!("C{:03}", n % 51), "evidence_status": "pending-review"})
        })
        .collect();
    let export = json!({"name": "N", "license": "https://l.example/", "software": products});
    let folder = folder(&export);
    let [html, markdown] = reports(folder.path());
    // There are 51 names that two products share, and 51 categories.
    assert_eq!(markdown.matches("\n… and 1 more.\n").count(), 2, "{markdown}");
    assert_eq!(html.matches("… and 1 more.").count(), 2);
    assert!(markdown.contains("| C049 | ") && !markdown.contains("| C050 | "), "{markdown}");
}

#[test]
fn invalid_records_are_left_out_and_counted() {
    let mut export = small();
    export["software"][3]["evidence_status"] = json!("reviewed");
    let folder = folder(&export);
    let output = run(folder.path(), &["report", "data/tools.json", "--format", "markdown"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(text(&output.stderr).contains("leaves out 0 exports and 1 record"), "{}", text(&output.stderr));
    let markdown = text(&output.stdout);
    assert!(markdown.contains("0 exports and 1 record.") && markdown.contains("| Products | 3 |"), "{markdown}");
    assert!(markdown.contains("| `unknown_value` | error | 1 |"), "{markdown}");

    fs::write(folder.path().join("data/tools.json"), "[").expect("a file");
    let output = run(folder.path(), &["report"]);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0));
    assert!(text(&output.stderr).contains("none of the files is a valid export"), "{}", text(&output.stderr));
}

#[test]
fn existing_output_is_not_overwritten_without_force() {
    let folder = folder(&small());
    let page = folder.path().join("report.html");
    let run = |more: &[&str]| run(folder.path(), &[&["report", "-o", "report.html"], more].concat()).status.code();
    assert_eq!(run(&[]), Some(0));
    assert!(fs::read_to_string(&page).expect("a page").starts_with("<!doctype html>"));
    fs::write(&page, "mine").expect("a file");
    assert_eq!(run(&[]), Some(2));
    assert_eq!(fs::read(&page).expect("a file"), b"mine");
    assert_eq!(run(&["--force"]), Some(0));
    assert_ne!(fs::read(&page).expect("a file"), b"mine");
}

#[test]
fn paths_without_exports_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir(folder.path().join("data")).expect("a folder");
    assert_eq!(run(folder.path(), &["report"]).status.code(), Some(2));
    assert_eq!(run(folder.path(), &["report", "absent.json"]).status.code(), Some(1));
}

#[test]
fn output_is_written_through_links_and_into_pipes() {
    let folder = folder(&small());
    let path = |name: &str| folder.path().join(name);
    fs::write(path("target.md"), "old").expect("written");
    std::os::unix::fs::symlink("target.md", path("link.md")).expect("a link");
    fs::write(path(".software-directory-a1B2c3D4.tmp"), "of a killed command").expect("written");
    let report = |arguments: &[&str]| {
        let output = run(folder.path(), &[&["report", "--format", "markdown"], arguments].concat());
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    let (code, _, message) = report(&["-o", "link.md"]);
    assert_eq!(code, Some(2), "{message}");
    assert!(message.contains("link.md already exists"), "{message}");
    assert_eq!(report(&["-o", "link.md", "--force"]).0, Some(0));
    assert!(path("link.md").is_symlink());
    assert!(fs::read_to_string(path("target.md")).expect("a file").starts_with("# Report"));
    assert!(!path(".software-directory-a1B2c3D4.tmp").exists());

    let (code, shown, message) = report(&["-o", "/dev/stdout"]);
    assert_eq!((code, shown.starts_with("# Report")), (Some(0), true), "{message}");

    let made = std::process::Command::new("mkfifo").arg(path("pipe")).status();
    assert!(made.expect("mkfifo").success());
    let reader = std::thread::spawn({
        let pipe = path("pipe");
        move || fs::read_to_string(pipe).expect("read")
    });
    assert_eq!(report(&["-o", "pipe", "--force"]).0, Some(0));
    assert!(reader.join().expect("text").starts_with("# Report"));
}

#[test]
fn the_agenda_lists_what_to_check_most_urgent_first() {
    let reviewed = |id: &str, checked: &str, more: Value| {
        let mut product = json!({"id": id, "name": format!("{id}, Inc."), "url": "https://a.example/",
            "evidence_status": "vendor-sources-reviewed", "evidence_checked_on": checked,
            "sources": [["Site", format!("https://a.example/{id}")]]});
        product.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        product
    };
    let today = jiff::Zoned::now().date();
    let ago = |days: i32| (today - jiff::Span::new().days(days)).to_string();
    let quote = json!({"pricing": "9", "evidence": {"pricing": {"source": "Site", "quote": "for 9 euros"}}});
    let products = [
        reviewed("old", &ago(366), json!({})),
        reviewed(
            "older",
            &ago(10),
            json!({"tagline": "t", "evidence": {"tagline": {"source": "Site", "checked_on": ago(400)}}}),
        ),
        reviewed("fresh", &ago(365), json!({})),
        reviewed("seats", &ago(31), json!({"seats": 3})),
        reviewed(
            "floors",
            &ago(1000),
            json!({"evidence": {"floors": {"source": "Site", "checked_on": ago(999)}}, "floors": 3}),
        ),
        reviewed("quoted", &ago(1), quote),
        json!({"id": "new", "name": "New [x](y)", "url": "https://dead.example/", "evidence_status": "pending-review"}),
    ];
    let attributes = json!([{"property": "seats", "label": "Seats", "type": "number", "max_age_days": 30},
        {"property": "floors", "label": "Floors", "type": "number", "max_age_days": 2000},
        {"property": "wrong", "label": "Wrong", "max_age_days": 1.5}]);
    let export = json!({"name": "N", "license": "https://a.example/", "software": products, "attributes": attributes,
        "id_prefix": "x:"});
    let folder = folder(&export);
    let link = |url: &str, outcome: &str, more: Value| {
        let mut link = json!({"url": url, "checked_at": "2026-01-02T00:00:00Z", "due_at": "2026-03-01T00:00:00Z",
            "outcome": outcome, "status": 404, "to": null, "failing_since": null});
        link["checked_at"] = json!(format!("{}T00:00:00Z", ago(2)));
        link.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        link
    };
    let quote = blake3::hash(b"for9euros").to_hex()[..16].to_owned();
    let content = json!({"content": {"hash": "0", "has_text": true, "changed_at": null, "quotes": {quote: false}}});
    let links =
        [link("https://dead.example/", "not_found", json!({})), link("https://a.example/quoted", "fine", content)];
    let cache = json!({"format": 1, "links": links}).to_string();
    fs::write(folder.path().join(".software-directory-links.json"), cache).expect("a file");

    let agenda = |arguments: &[&str]| {
        let output = run(folder.path(), &[&["report", "--agenda"], arguments].concat());
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    let csv = agenda(&["--format", "csv"]);
    let rows: Vec<_> = csv.lines().map(|line| line.split(',').next().unwrap_or_default()).collect();
    let kinds = ["Task", "Changed sources", "Dead links"].into_iter();
    assert_eq!(rows, kinds.chain(["Claims past their age"; 4]).chain(["Pending records"]).collect::<Vec<_>>(), "{csv}");
    let rows: Vec<_> = csv.lines().collect();
    assert_eq!(
        rows[1],
        format!(
            "Changed sources,\"quoted, Inc.\",x:quoted,tools,pricing,the text doesn't contain the quote,\
             https://a.example/quoted,{}",
            ago(2)
        )
    );
    assert!(rows[2].contains("x:new,tools,,the server responds with 404"), "{}", rows[2]);
    let ids: Vec<_> = rows[3..7].iter().map(|line| line.split(',').nth(3).unwrap_or_default()).collect();
    assert_eq!(ids, ["x:floors", "x:older", "x:old", "x:seats"], "{csv}");
    assert!(rows[6].contains(",seats,the last check was too long ago,"), "{}", rows[6]);

    let markdown = agenda(&["--format", "markdown", "--max-age", "366"]);
    let tasks: Vec<_> = markdown.lines().filter(|line| line.starts_with("- [ ] ")).collect();
    assert_eq!(tasks.len(), 6, "{markdown}");
    assert!(tasks[5].starts_with("- [ ] New &#91;x&#93;(y) · x:new · tools · its review is pending"), "{}", tasks[5]);
    assert!(agenda(&[]).contains(">its review is pending</td>"));

    let stale = run(folder.path(), &["check", "--stale", "365d", "--format", "json"]);
    let report: Value = serde_json::from_slice(&stale.stdout).expect("JSON");
    let findings = report["findings"].as_array().expect("findings");
    let stale: Vec<_> = findings.iter().filter(|of| of["code"] == "stale_evidence").collect();
    let pointers: Vec<_> = stale.iter().map(|of| of["location"]["pointer"].as_str().expect("a pointer")).collect();
    let record = |index: usize| format!("/software/{index}/evidence_checked_on");
    assert_eq!(pointers, [record(0), "/software/1/evidence/tagline/checked_on".to_owned(), record(3), record(4)]);
    assert_eq!((report["stale"]["stale"].as_u64(), report["stale"]["claims"].as_u64()), (Some(4), Some(2)));
    let wrong = findings.iter().find(|of| of["code"] == "entry_left_out").expect("a warning");
    assert!(wrong["message"].as_str().is_some_and(|message| message.contains("`max_age_days`")), "{wrong}");

    let output = run(folder.path(), &["report", "--format", "csv"]);
    assert_eq!(output.status.code(), Some(2));
}
