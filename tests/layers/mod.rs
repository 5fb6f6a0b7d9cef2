//! Enforces ARCHITECTURE.md's dependency rules: the folders in `src/` depend on each other in only
//! one direction, and some crates may only be used in one part of the code.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The folders and files in `src/`, lowest layer first, each with the modules it may use.
const LAYERS: [(&str, &[&str]); 22] = [
    ("error", &[]),
    ("file", &[]),
    ("panics", &[]),
    ("text", &[]),
    ("client", &["text"]),
    ("scratch", &[]),
    ("record", &["text"]),
    ("export", &["record", "scratch", "text"]),
    ("catalogue", &["export", "record", "scratch", "text"]),
    ("search", &["catalogue", "record", "scratch", "text"]),
    ("index", &["catalogue", "record", "scratch", "search", "text"]),
    ("generation", &["catalogue", "error", "export", "file", "index", "panics", "record", "scratch", "search", "text"]),
    ("update", &["error", "export", "file", "generation", "panics", "text"]),
    ("service", &["catalogue", "generation", "index", "record", "search", "text"]),
    (
        "opensearch",
        &["catalogue", "client", "error", "export", "generation", "record", "scratch", "search", "service", "text"],
    ),
    ("curate", &["catalogue", "client", "export", "generation", "record", "service", "text"]),
    ("key", &["error", "file", "record", "text"]),
    ("mcp", &["catalogue", "generation", "record", "service", "text"]),
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
            "opensearch",
            "panics",
            "record",
            "service",
            "text",
            "update",
        ],
    ),
    ("cli", &["export", "key", "opensearch", "text"]),
    (
        "command",
        &[
            "catalogue",
            "cli",
            "client",
            "curate",
            "error",
            "export",
            "file",
            "generation",
            "http",
            "key",
            "mcp",
            "opensearch",
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

/// The modules that interpret a query. The index only gets the plan that they produce.
const UNDERSTANDING: [&str; 7] = ["expand", "identity", "index", "intent", "lexicon", "query", "synonym"];

/// Crates that may only be used in files below this path.
const HOMES: [(&str, &str); 9] = [
    ("axum", "http"),
    ("clap", "cli"),
    ("notify", "update/files/events.rs"),
    ("tantivy", "index"),
    ("tempfile::Builder", "file"),
    ("hyper_rustls", "client"),
    ("hyper_util::client", "client"),
    ("rustls", "client"),
    ("rustls_native_certs", "client"),
];

/// Folders whose files, including `mod.rs`, have no cyclic dependencies. A name that a module
/// re-exports counts as used where it's defined.
const WITHOUT_CYCLES: [&str; 9] = ["cli", "client", "file", "generation", "key", "mcp", "record", "scratch", "update"];

/// Folders in which a file and its parent's `mod.rs` may use each other, but no other files may
/// form a cycle.
const WITHOUT_CYCLES_BELOW: [&str; 10] =
    ["catalogue", "command", "curate", "export", "http", "index", "opensearch", "search", "service", "text"];

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// The Rust files in a file or folder.
fn files(path: &Path) -> Vec<PathBuf> {
    if path.is_file() {
        return vec![path.to_owned()];
    }
    let entries = fs::read_dir(path).expect("a folder").map(|entry| entry.expect("an entry").path());
    entries.flat_map(|path| files(&path)).filter(|path| path.extension().is_some_and(|of| of == "rs")).collect()
}

/// A file's code, without its tests.
fn code(file: &Path) -> String {
    if file.ends_with("tests.rs") || file.components().any(|part| part.as_os_str() == "tests") {
        return String::new();
    }
    let text = fs::read_to_string(file).expect("text");
    text.split("#[cfg(test)]").next().unwrap_or_default().to_owned()
}

/// The paths that follow `crate::` in a module's code, each with its file.
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
fn every_folder_belongs_to_a_layer() {
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
fn the_index_gets_plans_and_does_not_interpret_queries() {
    for (path, file) in uses("index") {
        let module = path.strip_prefix("search::").and_then(|rest| rest.split("::").next()).unwrap_or_default();
        assert!(!UNDERSTANDING.contains(&module), "{} uses {path}", file.display());
    }
}

#[test]
fn crates_are_used_only_where_they_belong() {
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

/// The paths and names in a `use` declaration: `a::{b, c as d}` has the paths `a::b` and `a::c`,
/// and re-exports the names `b` and `d`.
fn tree(text: &str) -> Vec<(String, String)> {
    let Some((path, group)) = text.split_once('{') else {
        let (path, name) = text.split_once(" as ").unwrap_or((text, text.rsplit("::").next().unwrap_or_default()));
        return vec![(path.trim().to_owned(), name.trim().to_owned())];
    };
    let (mut depth, mut start, mut parts) = (0, 0, Vec::new());
    let group = group.trim_end().trim_end_matches('}');
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => parts.push(&group[std::mem::replace(&mut start, at + 1)..at]),
            _ => {}
        }
    }
    parts.push(&group[start..]);
    let parts = parts.into_iter().map(str::trim).filter(|part| !part.is_empty());
    let paths = parts.flat_map(|part| tree(&format!("{path}{part}")));
    paths.map(|(path, name)| (path.trim_end_matches("::self").to_owned(), name)).collect()
}

/// A module's own code: the paths that it uses, and the paths of the names that it re-exports.
#[derive(Default)]
struct Module {
    uses: BTreeSet<String>,
    passed_on: BTreeMap<String, String>,
}

/// The modules in a folder, by path.
fn modules(folder: &str) -> BTreeMap<String, Module> {
    let path = |file: &Path| {
        let file = file.strip_prefix(source()).expect("below").with_extension("");
        let path = file.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("::");
        path.trim_end_matches("::mod").to_owned()
    };
    let files = files(&source().join(folder));
    let paths: BTreeSet<_> = files.iter().map(|file| path(file)).collect();
    let module = |file: &PathBuf| {
        let here = path(file);
        let parent = here.rsplit_once("::").map_or("", |(parent, _)| parent);
        let absolute = |path: &str| match path.split_once("::").unwrap_or((path, "")) {
            ("crate", rest) => Some(rest.to_owned()),
            ("self", rest) => Some(format!("{here}::{rest}")),
            ("super", rest) => Some(format!("{parent}::{rest}")),
            (first, _) => paths.contains(&format!("{here}::{first}")).then(|| format!("{here}::{path}")),
        };
        let mut module = Module::default();
        let code = code(file).replace("pub(in crate::", "pub(in ");
        let lines: Vec<_> = code.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
        for statement in format!("\n{}", lines.join("\n")).split(';') {
            if let Some((_, declaration)) = statement.split_once("\nuse ") {
                module.uses.extend(tree(declaration).iter().filter_map(|(path, _)| absolute(path)));
            } else if let Some((_, declaration)) = statement.split_once("\npub use ") {
                let names = tree(declaration).into_iter();
                module.passed_on.extend(names.filter_map(|(path, name)| Some((name, absolute(&path)?))));
            } else {
                let is_path = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
                let paths = statement.split(|c: char| !is_path(c));
                let paths = paths.filter(|path| ["crate::", "super::"].iter().any(|start| path.starts_with(start)));
                module.uses.extend(paths.filter_map(absolute));
            }
        }
        (here, module)
    };
    files.iter().map(module).collect()
}

/// The module that defines the item at a path.
fn definition<'m>(modules: &'m BTreeMap<String, Module>, path: &str) -> Option<&'m str> {
    let mut end = path.len();
    loop {
        if let Some((name, module)) = modules.get_key_value(&path[..end]) {
            let rest = path[end..].trim_start_matches("::");
            let (first, rest) = rest.split_once("::").unwrap_or((rest, ""));
            return match module.passed_on.get(first) {
                Some(target) => definition(modules, format!("{target}::{rest}").trim_end_matches("::")),
                None => Some(name),
            };
        }
        end = path[..end].rfind("::")?;
    }
}

#[test]
fn files_use_each_other_in_one_direction() {
    let mut found = 0;
    let whole = WITHOUT_CYCLES.map(|folder| (folder, false));
    for (folder, may_use_parents) in whole.into_iter().chain(WITHOUT_CYCLES_BELOW.map(|folder| (folder, true))) {
        let modules = modules(folder);
        let is_exempt = |name: &str, of: &str| {
            name == of || may_use_parents && name.starts_with(of) && name[of.len()..].starts_with("::")
        };
        let mut uses: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (name, module) in &modules {
            let defined = module.uses.iter().filter_map(|path| definition(&modules, path));
            uses.insert(name, defined.filter(|of| !is_exempt(name, of)).collect());
        }
        found += uses.values().map(BTreeSet::len).sum::<usize>();
        // A file that uses no other remaining file isn't part of a cycle.
        while let Some(lowest) = uses.iter().find(|(_, of)| of.is_empty()).map(|(name, _)| *name) {
            uses.remove(lowest);
            for of in uses.values_mut() {
                of.remove(lowest);
            }
        }
        assert!(uses.is_empty(), "there is a cycle in {uses:#?}");
    }
    assert!(found > 100, "only {found} uses were read");
}

#[test]
fn ci_runs_each_step_of_make_test_once() {
    let read = |name: &str| fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).expect("text");
    let (makefile, workflow) = (read("Makefile"), read(".github/workflows/ci.yml"));
    let steps = makefile.lines().filter_map(|line| line.split_once("_STEPS := "));
    let steps: Vec<_> = steps.flat_map(|(_, steps)| steps.split_whitespace()).collect();
    assert!(steps.contains(&"test-rust") && steps.contains(&"test-browser"), "{steps:?}");
    let commands = workflow.lines().map(str::trim).filter_map(|line| {
        line.strip_prefix("- run: make ").or_else(|| line.strip_prefix("- ").filter(|line| line.starts_with("test-")))
    });
    let run: Vec<_> = commands.flat_map(str::split_whitespace).collect();
    for step in steps {
        assert_eq!(run.iter().filter(|of| **of == step).count(), 1, "{step} in {run:?}");
    }
}

/// Anybody can register a name that a registry doesn't have, and run code on the machines of
/// readers who install it.
#[test]
fn documents_install_nothing_from_a_registry() {
    const COMMANDS: [&str; 8] =
        ["cargo install ", "npm install ", "npm i ", "npx ", "pip install ", "pipx install ", "uv add ", "uvx "];
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders =
        ["", "docs", "templates", "templates/docs", "templates/parts", "clients/python", "clients/typescript"];
    let files = folders.iter().flat_map(|folder| fs::read_dir(root.join(folder)).expect("a folder"));
    let files = files.map(|entry| entry.expect("an entry").path());
    let is_document = |path: &PathBuf| path.extension().is_some_and(|of| of == "md" || of == "html" || of == "txt");
    let mut installed = 0;
    for file in files.filter(is_document) {
        let text = fs::read_to_string(&file).expect("text");
        for (command, (at, _)) in COMMANDS.iter().flat_map(|of| text.match_indices(of).map(move |found| (of, found))) {
            let rest = text[at + command.len()..].split(['\n', '`', '<']).next().unwrap_or_default();
            let mut names = rest.split_whitespace().filter(|name| !name.starts_with('-'));
            assert!(names.all(|name| name == "." || name.contains('/')), "{}: {command}{rest}", file.display());
            installed += 1;
        }
    }
    assert!(installed > 5, "the documents say how to install");
}
