//! `docs/options.md`: every command and option, generated from the command-line definitions.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use clap::builder::PossibleValue;
use clap::{Arg, ArgAction, Command, CommandFactory as _};
use software_directory::cli::Cli;

const HEAD: &str = r#"# Commands and options

<!-- Written by `UPDATE_SNAPSHOTS=1 cargo test --test server options`. -->

`software-directory` on its own means `software-directory serve`. Every command has `--help`.

Most options have an environment variable, shown after the option. The command line takes precedence, then the variable, then the
[configuration file](#configuration-file), then the default. A flag's variable is `1` or `0`, and a repeatable option's variable
contains comma-separated values.

Results go to standard output; progress, notes and the log go to standard error. Exit codes: 0 success, 1 failure, 2 usage error or
invalid exports. `diff` has [its own](#diff).

## Configuration file

```toml
data = "/srv/software-directory"
index = "/var/lib/software-directory"
keys = "keys.json"                       # relative to this file
listen = "127.0.0.1:8080"
trusted-proxy = ["127.0.0.1", "10.0.0.0/8"]
max-removed = 20
skip-invalid = false
```

`--config FILE`, with or without a command, names a TOML file; no other file is read. Its keys are the long options of
[`serve`](#serve) that have a variable. Other commands read the options they share with `serve`, so `keys list --config FILE` finds
the server's keys. Relative paths are resolved from the file's folder. An unknown key or an invalid value is reported with the
file, line and key, and the exit code is 2.

## Commands

"#;

/// After an intended change, run the tests with `UPDATE_SNAPSHOTS=1` and read the diff.
#[test]
fn the_options_document_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/options.md");
    let text = reference();
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::write(&path, &text).expect("the document is written");
    }
    let committed = std::fs::read_to_string(&path).expect("the committed document");
    assert!(
        committed == text,
        "docs/options.md is out of date; run the tests with UPDATE_SNAPSHOTS=1 and read the diff"
    );
}

fn reference() -> String {
    let mut root = Cli::command();
    root.build();
    let serve: BTreeMap<_, _> = root.get_arguments().map(|option| (option.get_id().as_str(), help(option))).collect();
    let (mut list, mut sections) = (String::new(), String::new());
    for command in shown(&root) {
        let mut subcommands = shown(command).peekable();
        if subcommands.peek().is_none() {
            describe(command, &serve, &mut list, &mut sections);
        }
        subcommands.for_each(|command| describe(command, &serve, &mut list, &mut sections));
    }
    format!("{HEAD}{list}{sections}")
}

fn shown(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|command| !command.is_hide_set() && command.get_name() != "help")
}

/// Adds a line to the list of commands, and a section. Options that are the same as `serve`'s are
/// only mentioned by name.
fn describe(command: &Command, serve: &BTreeMap<&str, String>, list: &mut String, sections: &mut String) {
    let path = command.get_bin_name().unwrap_or_default();
    let name = path.trim_start_matches("software-directory ");
    let about = command.get_about().expect("a description").to_string();
    writeln!(list, "- [`{name}`](#{}): {about}", name.replace(' ', "-")).expect("a string");
    write!(sections, "\n## {name}\n\n").expect("a string");
    let long = command.get_long_about().map_or_else(|| about.clone(), ToString::to_string);
    let long = long.replacen("\n\n", ".\n\n", 1);
    writeln!(sections, "{}.\n", long.trim_end_matches('.')).expect("a string");
    let usage = command.clone().render_usage().to_string();
    writeln!(sections, "```text\n{}\n```", usage.trim_start_matches("Usage: ").trim()).expect("a string");
    let is_shown =
        |option: &&Arg| !option.is_hide_set() && !["help", "version", "config"].contains(&option.get_id().as_str());
    let is_known = |option: &Arg| name != "serve" && serve.get(option.get_id().as_str()) == Some(&help(option));
    let (known, own): (Vec<_>, Vec<_>) = command.get_arguments().filter(is_shown).partition(|option| is_known(option));
    let mut heading = None;
    for (at, option) in own.iter().enumerate() {
        if option.get_help_heading() != heading {
            heading = option.get_help_heading();
            write!(sections, "\n### {}\n", heading.unwrap_or_default()).expect("a string");
        }
        if at == 0 || own[at - 1].get_help_heading() != heading {
            sections.push('\n');
        }
        writeln!(sections, "{}", entry(option)).expect("a string");
    }
    if !known.is_empty() {
        let names: Vec<_> = known.iter().map(|option| format!("`{}`", written(option))).collect();
        writeln!(sections, "\nAlso takes {}, described under [`serve`](#serve).", names.join(", ")).expect("a string");
    }
}

fn help(option: &Arg) -> String {
    option.get_help().map(ToString::to_string).unwrap_or_default()
}

/// An option or argument as written on the command line: `--listen ADDRESS`.
fn written(option: &Arg) -> String {
    let values = option.get_value_names().map(|names| names.join(" ")).unwrap_or_default();
    let value = if option.get_action().takes_values() { values } else { String::new() };
    let short = option.get_short().map(|short| format!("-{short}, ")).unwrap_or_default();
    match option.get_long() {
        Some(long) => format!("{short}--{long} {value}").trim().to_owned(),
        None => value,
    }
}

fn entry(option: &Arg) -> String {
    let help = help(option);
    let (help, default) = match help.strip_suffix(']').and_then(|help| help.rsplit_once(" [default: ")) {
        Some((help, default)) => (help, Some(default.to_owned())),
        None => (help.as_str(), None),
    };
    let takes_value = matches!(option.get_action(), ArgAction::Set | ArgAction::Append);
    let defaults: Vec<_> = option.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
    let is_stated = takes_value && !option.is_hide_default_value_set() && !defaults.is_empty();
    let default = default.or_else(|| is_stated.then(|| format!("`{}`", defaults.join(","))));
    let variable = option.get_env().map(|name| format!(", `{}`", name.to_string_lossy())).unwrap_or_default();
    let values = if takes_value { option.get_possible_values() } else { Vec::new() };
    let values: Vec<_> = values.iter().filter(|value| !value.is_hide_set()).map(value).collect();
    let mut text = format!("- **`{}`**{variable}: {}.", written(option), help);
    if !values.is_empty() {
        write!(text, " Values: {}.", values.join(", ")).expect("a string");
    }
    if let Some(default) = default {
        write!(text, " Default: {default}.").expect("a string");
    }
    text
}

fn value(value: &PossibleValue) -> String {
    let name = value.get_name();
    let Some(help) = value.get_help().map(ToString::to_string) else { return format!("`{name}`") };
    // Lowercases the first letter of a sentence, but not of `JSON`.
    let is_word = help.chars().nth(1).is_none_or(|second| !second.is_uppercase());
    let help = if is_word { help[..1].to_lowercase() + &help[1..] } else { help };
    format!("`{name}` ({help})")
}
