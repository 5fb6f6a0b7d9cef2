//! The rules of ARCHITECTURE.md on what uses what: folders of `src/` depend in one direction, and some crates have one home.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The folders and files of `src/`, lowest first, each with the modules it may use.
const LAYERS: [(&str, &[&str]); 20] = [
    ("error", &[]),
    ("lock", &[]),
    ("panics", &[]),
    ("text", &[]),
    ("scratch", &[]),
    ("record", &[]),
    ("export", &["record", "scratch", "text"]),
    ("catalogue", &["export", "record", "scratch"]),
    ("search", &["catalogue", "record", "text"]),
    ("engine", &["catalogue", "error", "record", "scratch", "search", "text"]),
    (
        "generation",
        &["catalogue", "engine", "error", "export", "lock", "panics", "record", "scratch", "search", "text"],
    ),
    ("update", &["engine", "error", "export", "generation", "panics"]),
    ("service", &["catalogue", "engine", "generation", "record", "search", "text"]),
    ("curate", &["catalogue", "export", "generation", "record", "service", "text"]),
    ("key", &["lock", "record", "text"]),
    ("mcp", &["generation", "record", "service", "text"]),
    (
        "http",
        &[
            "catalogue",
            "curate",
            "error",
            "export",
            "generation",
            "key",
            "mcp",
            "panics",
            "record",
            "service",
            "text",
            "update",
        ],
    ),
    ("cli", &["engine", "export", "key", "text"]),
    (
        "command",
        &[
            "catalogue",
            "cli",
            "curate",
            "engine",
            "error",
            "export",
            "generation",
            "http",
            "key",
            "mcp",
            "panics",
            "record",
            "scratch",
            "service",
            "text",
            "update",
        ],
    ),
    ("main", &[]),
];

/// The modules that understand a query. An engine gets their result, a plan.
const UNDERSTANDING: [&str; 6] = ["expand", "index", "lexicon", "names", "query", "synonym"];

/// Crates with one home: only files below that path name them.
const HOMES: [(&str, &str); 6] = [
    ("axum", "http"),
    ("clap", "cli"),
    ("notify", "update/watch.rs"),
    ("tantivy", "engine/tantivy"),
    ("hyper_rustls", "engine/opensearch/cluster"),
    ("hyper_util::client", "engine/opensearch/cluster"),
];

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// The Rust files of a file or folder.
fn files(path: &Path) -> Vec<PathBuf> {
    if path.is_file() {
        return vec![path.to_owned()];
    }
    let entries = fs::read_dir(path).expect("a folder").map(|entry| entry.expect("an entry").path());
    entries.flat_map(|path| files(&path)).filter(|path| path.extension().is_some_and(|of| of == "rs")).collect()
}

/// The code of a file without its tests.
fn code(file: &Path) -> String {
    if file.ends_with("tests.rs") {
        return String::new();
    }
    let text = fs::read_to_string(file).expect("a text");
    text.split("#[cfg(test)]").next().unwrap_or_default().to_owned()
}

/// The paths that follow `crate::` in the code of a module, each with its file.
fn uses(module: &str) -> BTreeSet<(String, PathBuf)> {
    let mut uses = BTreeSet::new();
    let file = source().join(format!("{module}.rs"));
    for file in files(&if file.is_file() { file } else { source().join(module) }) {
        let code = code(&file);
        for rest in code.split("crate::").skip(1) {
            let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_' && c != ':').unwrap_or(rest.len());
            let (path, rest) = rest.split_at(end);
            let group = rest.strip_prefix('{').and_then(|rest| rest.split_once('}'));
            for name in group.map_or("", |(group, _)| group).split(',') {
                uses.insert((format!("{path}{}", name.trim()), file.clone()));
            }
        }
    }
    uses
}

#[test]
fn every_folder_has_its_layer() {
    let entries = fs::read_dir(source()).expect("a folder").map(|entry| entry.expect("an entry").path());
    let named = entries.map(|path| path.file_stem().expect("a name").to_string_lossy().into_owned());
    let named: BTreeSet<_> = named.filter(|name| name != "lib").collect();
    assert_eq!(named, LAYERS.iter().map(|(module, _)| (*module).to_owned()).collect());
}

#[test]
fn layers_use_only_layers_below_them() {
    for (place, (module, allowed)) in LAYERS.iter().enumerate() {
        for below in *allowed {
            assert!(
                LAYERS[..place].iter().any(|(name, _)| name == below),
                "{module} may use {below}, which isn't below"
            );
        }
        for (path, file) in uses(module) {
            let used = path.split("::").next().unwrap_or_default();
            assert!(used == *module || allowed.contains(&used), "{} uses {path}", file.display());
        }
    }
}

#[test]
fn engines_get_plans_and_understand_no_query() {
    for (path, file) in uses("engine") {
        let module = path.strip_prefix("search::").and_then(|rest| rest.split("::").next()).unwrap_or_default();
        assert!(!UNDERSTANDING.contains(&module), "{} uses {path}", file.display());
    }
}

#[test]
fn crates_stay_in_their_homes() {
    for (name, home) in HOMES {
        let home = source().join(home);
        let names = |file: &PathBuf| {
            let (code, path) = (code(file), format!("{name}::"));
            let mut places = code.match_indices(&path).map(|(at, _)| &code[..at]);
            places.any(|before| {
                let before = before.strip_suffix(" ::").unwrap_or(before);
                !before.ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':')
            })
        };
        let (within, outside): (Vec<_>, Vec<_>) =
            files(&source()).into_iter().filter(names).partition(|file| file.starts_with(&home));
        assert!(!within.is_empty() && outside.is_empty(), "{name} is used in {outside:?}");
    }
}
