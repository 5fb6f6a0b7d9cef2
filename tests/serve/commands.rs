//! The commands other than `serve`.

use serde_json::Value;

use crate::common::binary::command;
use crate::common::process::{Server, folder_with, run, text, write};

#[test]
fn search_prints_the_matches_and_leaves_no_trace() {
    let folder = folder_with(&["alpha", "beta"]);
    let output = run(folder.path(), &["search", "alpha"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(text(&output.stdout).lines().next().map(str::trim), Some("Tool alpha  alpha"));
    assert!(!folder.path().join("index").exists());
}

#[test]
fn search_without_a_match_prints_a_message_and_fails() {
    let folder = folder_with(&["alpha"]);
    let output = run(folder.path(), &["search", "zzzzzz"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(text(&output.stderr).contains("no products found; try different words"), "{output:?}");
    let filtered = run(folder.path(), &["search", "alpha", "--vendor", "nobody"]);
    assert_eq!(filtered.status.code(), Some(1), "{filtered:?}");
    assert!(text(&filtered.stderr).contains("try fewer filters"), "{filtered:?}");
}

#[test]
fn search_refuses_a_query_that_is_too_long() {
    let folder = folder_with(&["alpha"]);
    for arguments in [&["search"][..], &["search", "--explain"]] {
        let output = run(folder.path(), &[arguments, &[&"x".repeat(100_000)]].concat());
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        assert!(text(&output.stderr).contains("100000 characters; the maximum is 256"), "{output:?}");
    }
}

#[test]
fn search_prints_json_and_excludes_words() {
    let folder = folder_with(&["alpha", "beta"]);
    let output = run(folder.path(), &["search", "--format", "json", "--", "tool", "-beta"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let response: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(response["pagination"]["total"], 1);
    assert_eq!(response["data"][0]["id"], "alpha");
    assert!(response["data"][0]["score"].is_number());
    assert_eq!(response["query"]["excluded"], serde_json::json!(["beta"]));
}

#[test]
fn similar_lists_products_that_pass_the_filters() {
    let folder = folder_with(&["alpha"]);
    let product = |id: &str, licence: &str| {
        format!(
            r#"{{"id": "{id}", "name": "Tool {id}", "url": "https://{id}.example/", "evidence_status": "pending-review",
                "category": "Audits", "licence": "{licence}"}}"#
        )
    };
    let software = [product("a", "MIT"), product("b", "mit"), product("c", "GPL-3.0")].join(",");
    let attributes = r#"[{"property": "licence", "label": "Licence"}]"#;
    let export = format!(
        r#"{{"name": "N", "license": "https://example.org/", "software": [{software}], "attributes": {attributes}}}"#
    );
    write(folder.path(), &export);
    let output = run(folder.path(), &["similar", "a"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let shown = text(&output.stdout);
    assert!(shown.contains("Tool b  b  Audits\n    shared: Audits\n") && shown.ends_with("2 of 2\n"), "{shown}");
    let output = run(folder.path(), &["similar", "a", "--attribute", "licence:MIT", "--format", "json"]);
    let response: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((&response["pagination"]["total"], &response["data"][0]["id"]), (&1.into(), &"b".into()));
    let audits = serde_json::json!([{"id": "audits", "name": "Audits"}]);
    assert_eq!(response["data"][0]["shared"]["categories"], audits);
    for (arguments, expected) in [
        (vec!["similar", "x"], "no product with the id \"x\""),
        (vec!["similar", "a", "--attribute", "licence:Apache"], "no products found; try fewer filters"),
        (vec!["similar", "a", "--attribute", "license:MIT"], "Did you mean licence?"),
    ] {
        let output = run(folder.path(), &arguments);
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        assert!(text(&output.stderr).contains(expected), "{output:?}");
    }
}

#[test]
fn search_explains_why_a_hit_ranks_where_it_does_and_why_a_product_is_missing() {
    let folder = folder_with(&["alpha", "beta"]);
    let explained = run(folder.path(), &["search", "--explain", "tool", "alpha"]);
    assert_eq!(explained.status.code(), Some(0), "{explained:?}");
    let shown = text(&explained.stdout);
    for line in ["  tool  optional", "    exact 1.00  alpha", "1. alpha  whole name, score"] {
        assert!(shown.contains(line), "{line}: {shown}");
    }
    let missing = run(folder.path(), &["search", "--why", "beta", "--vendor", "nobody", "--", "alpha", "-beta"]);
    assert_eq!(missing.status.code(), Some(1), "{missing:?}");
    let shown = text(&missing.stdout);
    for line in [
        "beta  not found",
        "it contains something that the query excludes",
        "it doesn't pass the filter: vendor",
        "alpha  missing, required to match all words",
    ] {
        assert!(shown.contains(line), "{line}: {shown}");
    }
    let unknown = run(folder.path(), &["search", "--why", "gamma", "alpha"]);
    assert_eq!(unknown.status.code(), Some(1), "{unknown:?}");
    assert!(text(&unknown.stderr).contains("no product has the id `gamma`"), "{unknown:?}");
}

#[test]
fn json_explanation_includes_the_rank_of_a_product_beyond_the_page() {
    let folder = folder_with(&["alpha", "beta"]);
    // Both products have the same words, so their names break the tie.
    let options = ["--meaning", "off", "--limit", "1", "--why", "beta", "--format", "json"];
    let output = run(folder.path(), &[&["search"], &options[..], &["tool"]].concat());
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let explanation: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(explanation["hits"].as_array().map(Vec::len), Some(1));
    assert_eq!(explanation["hits"][0]["id"], "alpha");
    assert_eq!(explanation["product"]["rank"], 2);
    assert_eq!(explanation["product"]["words"][0]["by"]["kind"], "exact");
}

#[test]
fn search_escapes_terminal_control_characters() {
    let folder = folder_with(&["alpha"]);
    let record = r#"{"id": "a\u001b[2J", "name": "Alpha\u009b1m\n", "tagline": "\u202ex", "url": "https://a.example/", "evidence_status": "pending-review"}"#;
    let export = r#"{"name": "N", "license": "https://example.org/", "software": []}"#;
    write(folder.path(), &export.replace("[]", &format!("[{record}]")));
    let output = run(folder.path(), &["search", "alpha"]);
    let shown = text(&output.stdout);
    assert!(
        shown.contains(r"a\u{1b}[2J") && shown.contains(r"Alpha\u{9b}1m\n") && shown.contains(r"\u{202e}x"),
        "{shown:?}"
    );
    assert!(!shown.contains(|c: char| (c.is_control() && c != '\n') || c == '\u{202e}'), "{shown:?}");
}

#[test]
fn searching_the_last_good_generation_prints_a_warning() {
    let folder = folder_with(&["alpha", "beta"]);
    assert_eq!(run(folder.path(), &["--reindex"]).status.code(), Some(0));
    write(folder.path(), "{");
    let output = run(folder.path(), &["search", "alpha"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(text(&output.stdout).contains("Tool alpha"), "{output:?}");
    assert!(text(&output.stderr).contains("warning: the exports can't be served: "), "{output:?}");
}

#[test]
fn openapi_prints_the_document_that_is_served() {
    let folder = folder_with(&["a"]);
    let printed: Value = serde_json::from_slice(&run(folder.path(), &["openapi"]).stdout).expect("JSON");
    let (_, served) = Server::start(folder.path(), &["--index", "none"]).get("/openapi.json");
    assert_eq!(printed["paths"], served["paths"]);
    assert!(printed["openapi"].as_str().is_some_and(|version| version.starts_with("3.1")));
}

#[test]
fn completions_prints_a_script_for_the_shell() {
    let folder = folder_with(&["a"]);
    let output = run(folder.path(), &["completions", "bash"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(text(&output.stdout).contains("complete -F _software__directory"), "{output:?}");
    assert_eq!(run(folder.path(), &["completions", "dos"]).status.code(), Some(2));
}

#[test]
fn man_pages_are_written_for_the_program_and_each_command() {
    let folder = folder_with(&["a"]);
    assert_eq!(run(folder.path(), &["man", "share/man1"]).status.code(), Some(0));
    let page = |name: &str| {
        std::fs::read_to_string(folder.path().join("share/man1").join(name)).unwrap_or_else(|_| panic!("{name}"))
    };
    assert!(page("software-directory-serve.1").contains(r"\-\-listen"));
    assert!(page("software-directory.1").contains("software\\-directory\\-keys(1)"));
    page("software-directory-keys-create.1");
    page("software-directory-man.1");
}

#[test]
fn results_go_to_standard_output_and_everything_else_to_standard_error() {
    let folder = folder_with(&["a", "b"]);
    std::fs::write(folder.path().join("t.csv"), "name,url\nC,https://c.example/\n").expect("written");
    let import = ["import", "t.csv", "--yes", "--name", "T", "--license", "https://example.org/"];
    for (arguments, result) in [
        (&["--reindex"][..], "Indexed 2 products"),
        (&["check"], "Checked 1 file"),
        (&["diff", "data", "data", "--format", "markdown"], ""),
        (&["report", "--format", "markdown"], "# "),
        (&["export", "data/tools.json", "--csv"], "id,name"),
        (&["search", "tool"], "Tool "),
        (&["openapi"], "{"),
        (&["keys", "create", "--name", "x"], "sd_live_"),
        (&["keys", "list"], "ID "),
        (&["completions", "zsh"], "#compdef"),
    ] {
        let output = run(folder.path(), arguments);
        assert!(text(&output.stdout).starts_with(result), "{arguments:?}: {output:?}");
        // A line about the exports, or about the new key, but without the key itself.
        let notes = usize::from(["--reindex", "--name"].iter().any(|option| arguments.contains(option)));
        assert_eq!(text(&output.stderr).lines().count(), notes, "{arguments:?}: {output:?}");
    }
    for arguments in [
        &["report", "-o", "report.html"][..],
        &["export", "data/tools.json", "--csv", "-o", "x.csv"],
        &["set", "data/tools.json", "a", "tagline=x"],
        &["add", "data/tools.json", "name=D", "url=https://d.example/"],
        &import,
        &["init", "new"],
    ] {
        let output = run(folder.path(), arguments);
        assert!(output.stdout.is_empty() && !output.stderr.is_empty(), "{arguments:?}: {output:?}");
    }
}

#[test]
fn the_configuration_file_sets_whatever_options_and_variables_do_not() {
    let folder = folder_with(&["a"]);
    std::fs::create_dir(folder.path().join("etc")).expect("a folder");
    let file = folder.path().join("etc/sd.toml");
    std::fs::write(&file, "data = \"../data\"\nindex = \"made\"\nmax-file-bytes = 1\n").expect("written");
    let reindex = |variable: Option<&str>, options: &[&str]| {
        let mut command = command(folder.path());
        command.args(["--reindex", "--config", "etc/sd.toml"]).args(options);
        if let Some(bytes) = variable {
            command.env("SOFTWARE_DIRECTORY_MAX_FILE_BYTES", bytes);
        }
        command.output().expect("the binary runs").status.code()
    };
    assert_eq!(reindex(None, &[]), Some(2), "the file is larger than the configuration allows");
    assert_eq!(reindex(Some("2"), &["--max-file-bytes", "100000"]), Some(0), "an option overrides the variable");
    assert!(folder.path().join("etc/made/CURRENT").exists(), "relative to the file");
    assert_eq!(reindex(Some("100000"), &[]), Some(0), "a variable overrides the file");
    std::fs::write(&file, "\nindx = \"made\"\n").expect("written");
    let output = run(folder.path(), &["search", "--config", "etc/sd.toml", "a"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let message = "error: etc/sd.toml:2: there is no setting `indx`. Did you mean `index`?";
    assert!(text(&output.stderr).starts_with(message), "{output:?}");
    let output = run(folder.path(), &["--config", "none.toml"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(text(&output.stderr).starts_with("error: the configuration file none.toml can't be read"), "{output:?}");
}

#[test]
fn a_running_server_passes_its_health_check_and_a_stopped_one_does_not() {
    let folder = folder_with(&["a"]);
    let server = Server::start(folder.path(), &[]);
    let address = server.address.trim_start_matches("http://").to_owned();
    assert_eq!(run(folder.path(), &["healthcheck", "--listen", &address]).status.code(), Some(0));
    assert_eq!(server.terminate().0, Some(0));
    assert_eq!(run(folder.path(), &["healthcheck", "--listen", &address]).status.code(), Some(1));
}
