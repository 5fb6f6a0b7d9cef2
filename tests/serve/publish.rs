//! `publish`: the bundled directory and a hostile one as files, compared with what a server answers.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts};
use http::Request;
use percent_encoding::percent_decode_str;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::common::process::{Server, folder_with, run, text};
use crate::common::request::send;

/// Where the published pages are said to be.
const PUBLIC: &str = "https://directory.example/tools";
const BASE: &str = "/tools";

/// The markup of a name that must stay text.
const MARKUP: &str = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'&amp;";

/// Ids that could leave the folder, hide, collide or become something else in an address.
fn hostile_ids() -> Vec<String> {
    let ids = [
        "..",
        ".",
        "../../etc/passwd",
        "/",
        "a/b",
        "a%2Fb",
        "a%252Fb",
        "%2e%2e",
        "index.html",
        "Moss",
        "moss",
        "MOSS",
        "page-2",
        "page-",
        "page-2x",
        "con",
        ".git",
        "~",
        "a~b",
        "a b",
        "a?b#c",
        "über",
        "\u{202e}gpj",
        "<script>",
        "\"onload=\"",
        "&amp;",
        "日本語",
        "history",
        "badge.svg",
        "2",
    ];
    let long = |end: &str| format!("{}{end}", "ä".repeat(490));
    ids.into_iter().map(str::to_owned).chain([long("a"), long("b"), "x".repeat(200), "x".repeat(201)]).collect()
}

/// A folder with the bundled exports and a hostile one: its names are markup, it has enough terms,
/// categories and reviews for several pages, and its categories are called like pages.
fn hostile() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    fs::create_dir(&data).expect("a folder");
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for file in ["data/qhse.json", "data/software-terms.json", "demo/demo.json"] {
        let name = Path::new(file).file_name().expect("a name");
        fs::copy(root.join(file), data.join(name)).expect("copied");
    }
    let ids = hostile_ids();
    let software = ids.iter().enumerate().map(|(at, id)| {
        json!({
            "id": id, "name": format!("{at} {MARKUP}"), "url": "https://hostile.example/", "evidence_status": "pending-review",
            "tagline": MARKUP, "description": format!("A lockout. {MARKUP}"), "tags": [MARKUP, "a/b"], "alternative_to": [MARKUP],
            "category": if at % 5 > 0 { "Page 2".to_owned() } else { format!("Category {MARKUP}") }, "javascript:": "javascript:alert(1)",
        })
    });
    let many = (0..45).map(|at| {
        json!({"id": format!("many-{at}"), "name": format!("Many {at}"), "url": "https://many.example/",
               "evidence_status": "pending-review", "category": "Many"})
    });
    let reviews = (0..25)
        .map(|at| json!({"id": format!("r{at}"), "software_id": "..", "rating": 4, "title": MARKUP, "body": MARKUP}));
    let terms = (0..450).map(|at| {
        let first = char::from(b"ABC"[at % 3]);
        json!({"term": format!("{first}term {at} {}", if at < 3 { MARKUP } else { "" }), "definition": MARKUP, "related": ["Aterm 3", "no such term"]})
    });
    let terms = terms.chain((0..250).map(|at| json!({"term": format!("Dterm {at}"), "definition": "One of many."})));
    let categories = (0..230).map(|at| json!({"name": format!("Empty {at}")}));
    let export = json!({
        "name": format!("Hostile {MARKUP}"), "license": "https://example.org/",
        "software": software.chain(many).collect::<Vec<_>>(), "reviews": reviews.collect::<Vec<_>>(),
        "glossary": terms.collect::<Vec<_>>(), "categories": categories.collect::<Vec<_>>(),
    });
    fs::write(data.join("Hostile %2E%2E.json"), export.to_string()).expect("written");
    fs::create_dir_all(folder.path().join("pages")).expect("a folder");
    fs::create_dir_all(folder.path().join("logos")).expect("a folder");
    let page = "# About\n\n[all](/?q=) [product](/software/Moss#evidence) [search](/?q=x) [api](/v1/software) [home](/) [us](/pages/about) [plain](/pages/plain)";
    fs::write(folder.path().join("pages/about.md"), page).expect("written");
    fs::write(folder.path().join("pages/plain.md"), "# Plain\n\n[terms](/glossary)").expect("written");
    fs::write(folder.path().join("logos/Moss.svg"), "<svg xmlns=\"http://www.w3.org/2000/svg\"/>").expect("written");
    let config = "index = \"none\"\n[site]\npages = \"pages\"\nlogos = \"logos\"\nimprint = \"/pages/about\"\n";
    fs::write(folder.path().join("config.toml"), config).expect("written");
    folder
}

fn publish(folder: &Path, options: &[&str]) -> (Option<i32>, String) {
    let arguments = [&["publish", "site", "--config", "config.toml"], options].concat();
    let done = run(folder, &arguments);
    (done.status.code(), text(&done.stderr))
}

/// All files below a folder, by their paths in it.
fn files(folder: &Path) -> BTreeMap<String, PathBuf> {
    let (mut found, mut left) = (BTreeMap::new(), vec![folder.to_owned()]);
    while let Some(below) = left.pop() {
        for entry in fs::read_dir(below).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                left.push(path);
            } else {
                let name = path.strip_prefix(folder).expect("below it").to_str().expect("ASCII").to_owned();
                assert!(name.is_ascii(), "{name}");
                found.insert(name, path);
            }
        }
    }
    found
}

/// What a page's source consists of.
#[derive(Debug, Default)]
struct Source {
    /// The element names and texts in order, without what only a server can do.
    content: Vec<String>,
    links: Vec<String>,
    ids: BTreeSet<String>,
    policy: Option<String>,
    /// What isn't well-formed.
    faults: Vec<String>,
}

#[derive(Default)]
struct Reader {
    source: std::cell::RefCell<Source>,
    open: std::cell::RefCell<Vec<String>>,
    /// How many elements were open when one that only a server can answer began.
    skipped: std::cell::Cell<Option<usize>>,
}

const VOID: [&str; 6] = ["meta", "link", "img", "input", "br", "hr"];

fn attribute(tag: &Tag, name: &str) -> Option<String> {
    tag.attrs.iter().find(|of| &*of.name.local == name).map(|of| of.value.to_string())
}

/// What a published page leaves out, and what it says differently.
fn needs_a_server(tag: &Tag) -> bool {
    let class = attribute(tag, "class").unwrap_or_default();
    let has = |names: &[&str]| class.split(' ').any(|of| names.contains(&of));
    let links_to = |ends: &[&str]| {
        let href = attribute(tag, "href").unwrap_or_default();
        &*tag.name == "a" && ends.iter().any(|end| href.contains(end))
    };
    ["form", "button", "head"].contains(&&*tag.name)
        || has(&["facets", "sort", "select", "compare-bar", "call", "examples", "orders", "printed"])
        || links_to(&["/compare?", "/docs/reference", "/feed.atom", "/docs"])
}

impl TokenSink for Reader {
    type Handle = ();

    fn process_token(&self, token: Token, _: u64) -> TokenSinkResult<()> {
        let (mut source, mut open) = (self.source.borrow_mut(), self.open.borrow_mut());
        match token {
            Token::ParseError(fault) => source.faults.push(fault.into_owned()),
            Token::CharacterTokens(text) if self.skipped.get().is_none() => {
                // Characters come one by one.
                let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
                match source.content.last_mut() {
                    Some(last) if !last.starts_with('<') => last.push_str(&text),
                    _ if text.is_empty() => {}
                    _ => source.content.push(text),
                }
            }
            Token::TagToken(tag) if tag.kind == TagKind::StartTag => {
                for name in ["href", "src", "action", "formaction"] {
                    source.links.extend(attribute(&tag, name));
                }
                if let Some(id) = attribute(&tag, "id")
                    && !source.ids.insert(id.clone())
                {
                    source.faults.push(format!("two elements have the id {id:?}"));
                }
                if attribute(&tag, "http-equiv").is_some() {
                    source.policy = attribute(&tag, "content");
                }
                if tag.attrs.iter().any(|of| of.name.local.starts_with("on"))
                    || (&*tag.name == "script"
                        && attribute(&tag, "src").is_none()
                        && attribute(&tag, "type").as_deref() != Some("application/ld+json"))
                {
                    source.faults.push(format!("{tag:?} runs a script"));
                }
                if self.skipped.get().is_none() {
                    if needs_a_server(&tag) {
                        self.skipped.set(Some(open.len()));
                    } else if !["p", "a"].contains(&&*tag.name) {
                        // A link that needs a server may be text, or missing from its paragraph.
                        source.content.push(format!("<{}>", tag.name));
                    }
                }
                if !VOID.contains(&&*tag.name) {
                    open.push(tag.name.to_string());
                }
                if VOID.contains(&&*tag.name) && self.skipped.get() == Some(open.len()) {
                    self.skipped.set(None);
                }
                if &*tag.name == "script" {
                    return TokenSinkResult::RawData(html5ever::tokenizer::states::RawKind::ScriptData);
                }
                if &*tag.name == "title" {
                    return TokenSinkResult::RawData(html5ever::tokenizer::states::RawKind::Rcdata);
                }
            }
            Token::TagToken(tag) => {
                if open.pop().as_deref() != Some(&*tag.name) {
                    source.faults.push(format!("</{}> closes another element", tag.name));
                }
                if self.skipped.get() == Some(open.len()) {
                    self.skipped.set(None);
                }
            }
            Token::EOFToken => {
                let left: Vec<_> = open.drain(..).map(|name| format!("<{name}> isn't closed")).collect();
                source.faults.extend(left);
            }
            _ => {}
        }
        TokenSinkResult::Continue
    }
}

fn read(html: &str) -> Source {
    let tokenizer = Tokenizer::new(Reader::default(), TokenizerOpts { exact_errors: true, ..TokenizerOpts::default() });
    let input = BufferQueue::default();
    input.push_back(StrTendril::from(html));
    let _ = tokenizer.feed(&input);
    tokenizer.end();
    tokenizer.sink.source.into_inner()
}

/// The file that a web server answers a link with, and the fragment.
fn target(link: &str) -> Option<(String, String)> {
    let link = link.strip_prefix(PUBLIC).or_else(|| link.strip_prefix(BASE))?;
    let (path, fragment) = link.split_once('#').unwrap_or((link, ""));
    assert!(path.starts_with('/') && !path.contains('?'), "{link} isn't a path");
    let path = percent_decode_str(&path[1..]).decode_utf8().expect("UTF-8");
    let path = if path.is_empty() || path.ends_with('/') { format!("{path}index.html") } else { path.into_owned() };
    Some((path, percent_decode_str(fragment).decode_utf8_lossy().into_owned()))
}

#[test]
fn every_published_page_is_well_formed_and_no_link_in_it_is_dead() {
    let folder = hostile();
    let (code, errors) = publish(folder.path(), &["--public-url", PUBLIC, "--language", "de,en"]);
    assert_eq!(code, Some(0), "{errors}");
    let files = files(&folder.path().join("site"));
    let names: Vec<_> =
        fs::read_dir(folder.path()).expect("a folder").map(|entry| entry.expect("an entry").file_name()).collect();
    assert_eq!(names.len(), 5, "nothing is written elsewhere: {names:?}");
    let lower: BTreeSet<_> = files.keys().map(|name| name.to_lowercase()).collect();
    assert_eq!(lower.len(), files.len(), "names that only differ in case");
    for name in files.keys() {
        assert!(name.split('/').all(|part| part.len() <= 255), "{name}");
        assert!(
            name == ".nojekyll"
                || name == ".software-directory-files"
                || !name.split('/').any(|part| part.starts_with('.'))
        );
    }
    let data = fs::read_to_string(&files["exports/index.html"]).expect("a page");
    let downloads: Vec<_> = data.split("\"contentUrl\":\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    assert!(downloads.len() >= 6, "{downloads:?}");
    for download in downloads {
        assert!(target(download).is_some_and(|(file, _)| files.contains_key(&file)), "{download}");
    }
    let is_page = |name: &str| name.rsplit_once('.').is_some_and(|(_, kind)| kind == "html");
    let pages: BTreeMap<_, _> = files
        .iter()
        .filter(|(name, _)| is_page(name))
        .map(|(name, path)| (name.as_str(), read(&fs::read_to_string(path).expect("text"))))
        .collect();
    let mut linked = BTreeSet::new();
    for (name, page) in &pages {
        assert_eq!(page.faults, [""; 0], "{name}");
        let policy = page.policy.as_deref().unwrap_or_default();
        assert!(policy.starts_with("default-src 'none'; script-src 'self' 'wasm-unsafe-eval';"), "{name}: {policy}");
        for link in &page.links {
            assert!(!link.starts_with("javascript:"), "{name}: {link}");
            if let Some(fragment) = link.strip_prefix('#') {
                assert!(page.ids.contains(&*percent_decode_str(fragment).decode_utf8_lossy()), "{name}: {link}");
                continue;
            }
            let Some((file, fragment)) = target(link) else {
                assert!(
                    ["https://", "http://", "mailto:"].iter().any(|scheme| link.starts_with(scheme)),
                    "{name}: {link}"
                );
                continue;
            };
            assert!(files.contains_key(&file), "{name}: {link} is dead: there is no {file}");
            assert!(fragment.is_empty() || pages[&*file].ids.contains(&fragment), "{name}: {link} has no such part");
            linked.insert(file);
        }
    }
    // Every page can be reached, except the one for unknown addresses.
    let unlinked: Vec<_> = pages.keys().filter(|name| !linked.contains(**name)).collect();
    assert_eq!(unlinked, [&"404.html"]);
    let products = 45 + hostile_ids().len() + 126;
    for start in ["software/", "de/software/"] {
        let product = |name: &String| name.strip_prefix(start)?.strip_suffix("/index.html").map(str::to_owned);
        let of_products = files.keys().filter_map(product).filter(|name| !name.contains('/') && !is_page_of_list(name));
        assert_eq!(of_products.count(), products, "{start}");
    }
    for expected in [
        "index.html",
        "de/index.html",
        "404.html",
        "robots.txt",
        "sitemap.xml",
        "feed.atom",
        "feed.json",
        "openapi.json",
        ".nojekyll",
        "pages/about/index.html",
        "software/page-2/index.html",
        "software/%70age-2/index.html",
        "software/%2E%2E/2/index.html",
        "categories/page-2/index.html",
        "categories/%70age-2/2/index.html",
        "de/categories/many/3/index.html",
        "glossary/d/2/index.html",
        "v1/software/page-3.json",
        "v1/software/%70age-2.json",
        "v1/reviews/%2E%2E/page-1.json",
        "v1/exports/%48ostile%20%252%45%252%45.ndjson",
        "v1/categories/%70age-2.json",
        "v1/glossary/page-9.json",
        "software/moss/badge.svg",
    ] {
        assert!(files.contains_key(expected), "{expected}");
    }
    let about = pages["pages/about/index.html"].links.join(" ");
    assert!(about.contains("/tools/software/%254Doss/#evidence") && !about.contains("v1/software"), "{about}");
    check_addresses(&files);
    check_data(&folder, &files, products);
}

fn is_page_of_list(name: &str) -> bool {
    name.strip_prefix("page-").is_some_and(|page| !page.is_empty() && page.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Checks the addresses in the sitemap and the feeds.
fn check_addresses(files: &BTreeMap<String, PathBuf>) {
    for (file, start, end) in
        [("sitemap.xml", "<loc>", "<"), ("feed.atom", "href=\"", "\""), ("feed.json", "url\":\"", "\"")]
    {
        let text = fs::read_to_string(&files[file]).expect("text");
        let addresses = text.split(start).skip(1).map(|rest| rest.split(end).next().expect("an end"));
        let mut count = 0;
        for address in addresses {
            let (file, _) = target(&address.replace("&amp;", "&")).unwrap_or_else(|| panic!("{address}"));
            assert!(files.contains_key(&file), "{address}");
            count += 1;
        }
        assert!(count > 0, "{file}");
    }
}

/// Checks that every JSON file is what the OpenAPI document says, and that together they're complete.
fn check_data(folder: &TempDir, files: &BTreeMap<String, PathBuf>, products: usize) {
    let document: Value = serde_json::from_slice(&run(folder.path(), &["openapi"]).stdout).expect("JSON");
    let mut ids = BTreeMap::from([("listed", BTreeSet::new()), ("records", BTreeSet::new())]);
    let mut validators = BTreeMap::new();
    let is_data = |name: &str| name.strip_prefix("v1/").and_then(|name| name.strip_suffix(".json")).is_some();
    for (name, path) in files.iter().filter(|(name, _)| is_data(name)) {
        let json: Value = serde_json::from_slice(&fs::read(path).expect("a file")).expect("JSON");
        let parts: Vec<_> = name.trim_end_matches(".json").split('/').collect();
        let is_list = is_page_of_list(parts.last().expect("a name"));
        let operation = match parts[1] {
            "reviews" => "/v1/reviews/{id}".to_owned(),
            kind if is_list => format!("/v1/{kind}"),
            kind => format!("/v1/{kind}/{{id}}"),
        };
        let validator = validators.entry(operation.clone()).or_insert_with(|| {
            let response = &document["paths"][&operation]["get"]["responses"]["200"]["content"]["application/json"];
            let mut schema = document.clone();
            schema["$schema"] = "https://json-schema.org/draft/2020-12/schema".into();
            schema["allOf"] = json!([response["schema"]]);
            jsonschema::validator_for(&schema).expect("a schema")
        });
        let findings: Vec<_> = validator.iter_errors(&json).map(|error| error.to_string()).collect();
        assert_eq!(findings, [""; 0], "{name}");
        let id = |record: &Value| record["id"].as_str().expect("an id").to_owned();
        match (parts[1], is_list) {
            ("software", true) => {
                ids.entry("listed").or_default().extend(json["data"].as_array().expect("a list").iter().map(id));
            }
            ("software", false) => _ = ids.entry("records").or_default().insert(id(&json["data"])),
            _ => {}
        }
    }
    assert_eq!(validators.len(), 9, "{:?}", validators.keys());
    assert_eq!(ids["listed"].len(), products);
    assert_eq!(ids["listed"], ids["records"]);
    assert!(hostile_ids().iter().all(|id| ids["records"].contains(id)));
}

#[test]
fn a_published_page_is_the_served_one_without_what_needs_a_server() {
    let folder = hostile();
    let (code, errors) = publish(folder.path(), &["--public-url", PUBLIC, "--language", "de,fr"]);
    assert_eq!(code, Some(0), "{errors}");
    assert!(run(folder.path(), &["keys", "create", "--name", "test"]).status.success());
    let options = ["--config", "config.toml", "--public-page", "100000", "--public-url", PUBLIC, "--data", "data"];
    let running = Server::start(folder.path(), &options);
    for (served, file) in [
        ("/?q=", "software/index.html"),
        ("/?page=2", "software/page-2/index.html"),
        ("/de/?page=3", "de/software/page-3/index.html"),
        ("/categories", "categories/index.html"),
        ("/de/categories?page=2", "de/categories/page-2/index.html"),
        ("/categories/page-2", "categories/%70age-2/index.html"),
        ("/de/categories/many?page=3", "de/categories/many/3/index.html"),
        ("/glossary", "glossary/index.html"),
        ("/glossary?letter=D&page=2", "glossary/d/2/index.html"),
        ("/exports", "exports/index.html"),
        ("/pages/plain", "pages/plain/index.html"),
        ("/software/demo-permit-penguin", "software/demo-permit-penguin/index.html"),
        ("/de/software/demo-permit-penguin", "de/software/demo-permit-penguin/index.html"),
        ("/software/%2E%2E?page=2", "software/%2E%2E/2/index.html"),
        ("/software/Moss", "software/%4Doss/index.html"),
    ] {
        let request = Request::get(format!("{}{served}", running.address)).header("Accept", "text/html");
        let response = send(request, "").expect("a response");
        assert_eq!(response.status(), 200, "{served}");
        let (served, published) =
            (read(response.body()), read(&fs::read_to_string(folder.path().join("site").join(file)).expect("a page")));
        assert!(served.content.len() > 20, "{file}");
        // The text to embed a badge with contains the page's address, which is written differently.
        let decoded = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
        let plain = |text: &String| decoded(&decoded(text)).replace("/\"", "\"");
        let pairs = published.content.iter().zip(&served.content);
        let differs = pairs.enumerate().find(|(_, (published, served))| plain(published) != plain(served));
        assert_eq!(differs, None, "{file}: published and served");
        assert_eq!(published.content.len(), served.content.len(), "{file}");
    }
}

#[test]
fn publishing_again_replaces_the_folder_and_keeps_the_times_of_unchanged_files() {
    let folder = folder_with(&["a", "b"]);
    fs::write(folder.path().join("config.toml"), "index = \"none\"").expect("written");
    let site = folder.path().join("site");
    assert_eq!(publish(folder.path(), &[]).0, Some(0));
    let past = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    let before = files(&site);
    for path in before.values() {
        File::open(path).and_then(|file| file.set_modified(past)).expect("a time");
    }
    assert_eq!(publish(folder.path(), &[]).0, Some(0));
    let changed = || {
        let is_changed = |path: &PathBuf| path.metadata().and_then(|of| of.modified()).expect("a time") != past;
        files(&site).into_iter().filter(|(_, path)| is_changed(path)).map(|(name, _)| name).collect::<Vec<_>>()
    };
    assert_eq!(changed(), [""; 0], "the same exports make the same files");
    crate::common::process::write(folder.path(), &crate::common::process::export(&["a"]));
    assert_eq!(publish(folder.path(), &[]).0, Some(0));
    assert!(!site.join("software/b").exists() && changed().contains(&"index.html".to_owned()));
    assert!(!changed().contains(&"v1/software/a.json".to_owned()));

    fs::write(site.join("notes.txt"), "mine").expect("written");
    let (code, errors) = publish(folder.path(), &[]);
    assert!(code == Some(2) && errors.contains("site/notes.txt wasn't written by this command"), "{errors}");
    assert!(site.join("software/a/index.html").is_file());
    fs::remove_file(site.join("notes.txt")).expect("removed");

    crate::common::process::write(folder.path(), "{}");
    assert_eq!(publish(folder.path(), &[]).0, Some(2));
    assert!(site.join("software/a/index.html").is_file(), "an invalid export changes nothing");
    let left: Vec<_> = fs::read_dir(folder.path()).expect("a folder").collect();
    assert_eq!(left.len(), 3, "{left:?}");
}

#[test]
fn what_cannot_be_published_is_refused_with_a_reason() {
    let folder = folder_with(&["a"]);
    fs::write(folder.path().join("config.toml"), "index = \"none\"").expect("written");
    for (options, reason) in [
        (&["--language", "ja"][..], "pages aren't available in \"ja\"; their languages are en, de, fr"),
        (&["--base-path", "directory"], "write a path such as /directory"),
        (&["--base-path", "/../x"], "write a path such as /directory"),
        (&["--base-path", "/a\"b"], "write a path such as /directory"),
        (&["--public-url", "example.org"], "can't be the public URL"),
        (&["--public-url", PUBLIC, "--base-path", "/x"], "leave out --base-path"),
        (&["--data", "nowhere"], "the data folder nowhere doesn't exist"),
    ] {
        let (code, errors) = publish(folder.path(), options);
        assert!(code == Some(2) && errors.contains(reason), "{options:?}: {errors}");
    }
    fs::remove_dir_all(folder.path().join("data")).expect("removed");
    let (code, errors) = publish(folder.path(), &[]);
    assert!(code == Some(2) && errors.contains("there is no ./data folder here"), "{errors}");
    assert!(!folder.path().join("site").exists());
}

#[test]
fn an_index_that_remembers_changes_gives_histories_and_feeds() {
    let folder = folder_with(&["a", "b"]);
    fs::write(folder.path().join("config.toml"), "").expect("written");
    assert!(run(folder.path(), &["--reindex"]).status.success());
    let changed = crate::common::process::export(&["a", "b", "c"]).replace("Tool a", "Renamed");
    crate::common::process::write(folder.path(), &changed);
    assert!(run(folder.path(), &["--reindex"]).status.success());
    let (code, errors) = publish(folder.path(), &["--public-url", PUBLIC]);
    assert_eq!(code, Some(0), "{errors}");
    let read = |name: &str| fs::read_to_string(folder.path().join("site").join(name)).expect("a file");
    assert!(read("software/a/index.html").contains("href=\"/tools/software/a/history/\""));
    assert!(read("software/a/history/index.html").contains("Tool a"));
    assert!(!folder.path().join("site/software/b/history").exists());
    let feed: Value = serde_json::from_str(&read("feed.json")).expect("JSON");
    let urls: Vec<_> = feed["items"].as_array().expect("a list").iter().map(|item| item["url"].clone()).collect();
    assert!(urls.contains(&format!("{PUBLIC}/software/c/").into()), "{urls:?}");
}
