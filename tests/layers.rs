//! The modules of `src/` depend on each other in one direction.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The modules that each module may use.
const DEPENDENCIES: [(&str, &[&str]); 16] = [
    ("record", &[]),
    ("resource", &["record"]),
    ("export", &["external", "printable", "record", "search::analyse", "search::stem"]),
    ("tabular", &["export", "record"]),
    ("report", &["export", "html", "markdown", "printable", "record"]),
    ("catalogue", &["export", "external", "record", "resource"]),
    ("search", &["catalogue", "record", "resource"]),
    ("engine::opensearch::cluster", &["error", "printable"]),
    ("engine", &["catalogue", "error", "external", "printable", "resource", "search"]),
    ("diff", &["catalogue", "export", "html", "markdown", "printable", "record"]),
    ("snapshot", &["catalogue", "engine", "error", "export", "external", "lock", "panics", "search"]),
    ("service", &["catalogue", "engine", "record", "resource", "search", "snapshot"]),
    ("queries", &["printable", "service", "snapshot"]),
    ("key", &["lock", "printable", "record"]),
    ("mcp", &["nearest", "printable", "record", "service", "snapshot"]),
    (
        "http",
        &[
            "catalogue",
            "error",
            "export",
            "html",
            "key",
            "mcp",
            "nearest",
            "panics",
            "printable",
            "queries",
            "record",
            "resource",
            "service",
            "snapshot",
        ],
    ),
];

/// The modules that understand a query. An engine gets their result, a plan.
const ANALYSIS: [&str; 9] = ["analyse", "expand", "index", "lexicon", "names", "query", "stem", "synonym", "typo"];

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let files = entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] });
    files.filter(|path| path.extension().is_some_and(|of| of == "rs") && !path.ends_with("tests.rs")).collect()
}

/// The paths behind `crate::` in the code of a module without its tests, each with its file.
fn uses(module: &str) -> BTreeSet<(String, PathBuf)> {
    let mut uses = BTreeSet::new();
    for file in files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(module.replace("::", "/"))) {
        let text = fs::read_to_string(&file).expect("a text");
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        for rest in code.split("crate::").skip(1) {
            let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_' && c != ':').unwrap_or(rest.len());
            let (path, rest) = rest.split_at(end);
            let group = rest.strip_prefix('{').and_then(|rest| rest.split_once('}'));
            for name in group.map_or("", |(group, _)| group).split(',') {
                uses.insert((format!("{path}{}", name.trim()), file.clone()));
            }
        }
    }
    assert!(!uses.is_empty() || module == "record", "{module} uses none");
    uses
}

#[test]
fn modules_use_only_modules_below_them() {
    for (module, allowed) in DEPENDENCIES {
        for (path, file) in uses(module) {
            let is_within = |of: &&str| path == **of || path.starts_with(&format!("{of}::"));
            assert!(is_within(&module) || allowed.iter().any(is_within), "{} uses {path}", file.display());
        }
    }
}

#[test]
fn engines_use_plans_and_no_analysis() {
    for (path, file) in uses("engine") {
        let module = path.strip_prefix("search::").and_then(|rest| rest.split("::").next()).unwrap_or_default();
        assert!(!ANALYSIS.contains(&module), "{} uses {path}", file.display());
    }
}

#[test]
fn only_the_connection_to_a_cluster_uses_its_http_client() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let home = source.join("engine/opensearch/cluster");
    let uses_client = |path: &PathBuf| {
        let text = fs::read_to_string(path).expect("a text");
        text.contains("hyper_rustls::") || text.contains("hyper_util::client")
    };
    let (within, outside): (Vec<_>, Vec<_>) =
        files(&source).into_iter().filter(uses_client).partition(|path| path.starts_with(&home));
    assert!(!within.is_empty() && outside.is_empty(), "{outside:?} use it too");
}
