//! The configuration file. Its entries become the defaults of the options with the same names, so
//! environment variables and options on the command line override them.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

use clap::{Arg, ArgAction, Command, ValueHint};
use serde_json::Value;
use toml::de::{DeTable, DeValue};

use super::NONE;
use crate::text::nearest::Nearest;

/// A configuration file that can't be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("the configuration file {} can't be read: {error}", .path.display())]
    Unreadable {
        path: PathBuf,
        #[source]
        error: io::Error,
    },
    /// Everything that's wrong with the file, one line each.
    #[error("{}", .0.join("\n"))]
    Invalid(Vec<String>),
}

/// The values of an option, keyed by its environment variable, which is the same in all commands.
struct Setting {
    variable: OsString,
    values: Vec<OsString>,
}

/// Makes the file's entries the defaults of the command and its subcommands.
pub(super) fn apply(command: Command, path: &Path) -> Result<Command, ConfigError> {
    let text =
        std::fs::read_to_string(path).map_err(|error| ConfigError::Unreadable { path: path.to_owned(), error })?;
    let settings = read(&command, &text, path)?;
    Ok(with_defaults(command, &settings))
}

fn read(command: &Command, text: &str, path: &Path) -> Result<Vec<Setting>, ConfigError> {
    let place = |at: usize| {
        let line = text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1;
        format!("{}:{line}", path.display())
    };
    let table = DeTable::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        ConfigError::Invalid(vec![format!("{}: this isn't TOML: {}", place(at), error.message())])
    })?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let (mut settings, mut problems) = (Vec::new(), Vec::new());
    for (key, value) in table.get_ref() {
        let name: &str = key.get_ref();
        let setting = options(command)
            .find(|option| option.get_long() == Some(name))
            .ok_or_else(|| unknown(command, name))
            .and_then(|option| match value.get_ref() {
                DeValue::Table(table) if name == "site" => Ok(setting_of(option, vec![site(table, folder, place)])),
                value => setting(option, value, folder).map_err(|text| format!("`{name}`: {text}")),
            });
        match setting {
            Ok(setting) => settings.push(setting),
            Err(text) => problems.push((key.span().start, text)),
        }
    }
    if problems.is_empty() {
        return Ok(settings);
    }
    problems.sort();
    Err(ConfigError::Invalid(problems.into_iter().map(|(at, text)| format!("{}: {text}", place(at))).collect()))
}

/// The options that a file can set: those of `serve` that have an environment variable.
fn options(command: &Command) -> impl Iterator<Item = &Arg> {
    command.get_arguments().filter(|option| option.get_env().is_some())
}

fn unknown(command: &Command, name: &str) -> String {
    let nearest = Nearest::default().name(name, options(command).filter_map(Arg::get_long));
    let hint = nearest.map(|nearest| format!(" Did you mean `{nearest}`?")).unwrap_or_default();
    format!("there is no setting `{name}`.{hint} `software-directory serve --help` lists all settings as options")
}

fn setting(option: &Arg, value: &DeValue<'_>, folder: &Path) -> Result<Setting, String> {
    let is_flag = matches!(option.get_action(), ArgAction::SetTrue);
    let texts = match value {
        DeValue::Boolean(value) if is_flag => vec![value.to_string()],
        _ if is_flag => return Err("write true or false".to_owned()),
        DeValue::Array(values) if matches!(option.get_action(), ArgAction::Append) => {
            values.iter().map(|value| text(value.get_ref())).collect::<Result<_, _>>()?
        }
        DeValue::Array(_) => return Err("write a single value, not a list".to_owned()),
        value => vec![text(value)?],
    };
    if !is_flag {
        check(option, &texts)?;
    }
    let is_path = matches!(option.get_value_hint(), ValueHint::AnyPath | ValueHint::FilePath);
    let is_none = |text: &str| text.is_empty() || (text == NONE && matches!(option.get_long(), Some("data" | "index")));
    let value = |text: String| if is_path && !is_none(&text) { folder.join(text).into() } else { text.into() };
    Ok(setting_of(option, texts.into_iter().map(value).collect()))
}

fn setting_of(option: &Arg, values: Vec<OsString>) -> Setting {
    Setting { variable: option.get_env().map(OsStr::to_owned).unwrap_or_default(), values }
}

/// The settings of `[site]` that are paths.
const PATHS: [&str; 5] = ["logo", "icon", "css", "pages", "logos"];

/// `[site]` as JSON, which is checked once it's used. Paths are relative to `folder`. The member with
/// an empty name says where in the file each setting is.
fn site(table: &DeTable<'_>, folder: &Path, place: impl Fn(usize) -> String) -> OsString {
    let Value::Object(mut settings) = json(table) else { return OsString::new() };
    for name in PATHS {
        if let Some(Value::String(path)) = settings.get_mut(name) {
            *path = folder.join(&*path).to_string_lossy().into();
        }
    }
    let places = table.keys().map(|name| (name.get_ref().to_string(), place(name.span().start).into()));
    settings.insert(String::new(), Value::Object(places.collect()));
    Value::Object(settings).to_string().into()
}

/// A table as JSON; null stands for values that aren't text.
fn json(table: &DeTable<'_>) -> Value {
    let value = |value: &DeValue<'_>| match value {
        DeValue::Table(table) => json(table),
        value => text(value).map_or(Value::Null, Value::from),
    };
    table.iter().map(|(name, of)| (name.get_ref().to_string(), value(of.get_ref()))).collect()
}

/// The value as it would be written on the command line.
fn text(value: &DeValue<'_>) -> Result<String, String> {
    match value {
        DeValue::String(text) => Ok(text.to_string()),
        DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix())
            .map(|number| number.to_string())
            .map_err(|error| error.to_string()),
        DeValue::Boolean(value) => Ok(value.to_string()),
        DeValue::Table(_) => {
            Err("this is a table, but settings aren't grouped; write each at the top level".to_owned())
        }
        _ => Err("write a string in quotes, a whole number, true or false, or a list of strings".to_owned()),
    }
}

/// Checks the values with the option's own parser, so that an error says where in the file it is.
fn check(option: &Arg, texts: &[String]) -> Result<(), String> {
    let long = option.get_long().unwrap_or_default();
    let written = texts.iter().map(|text| format!("--{long}={text}"));
    let parsed =
        Command::new("").no_binary_name(true).disable_help_flag(true).arg(option).try_get_matches_from(written);
    parsed.map(drop).map_err(|error| {
        let text = error.render().to_string();
        text.trim_start_matches("error: ").trim_end().to_owned()
    })
}

fn with_defaults(command: Command, settings: &[Setting]) -> Command {
    let set = |option: Arg| match settings.iter().find(|setting| option.get_env() == Some(setting.variable.as_os_str()))
    {
        Some(setting) => option.default_values(setting.values.iter().cloned()),
        None => option,
    };
    command.mut_args(set).mut_subcommands(|command| with_defaults(command, settings))
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory as _, FromArgMatches as _};

    use super::*;
    use crate::cli::{Cli, Command as OtherCommand, OnOff};

    fn parsed(text: &str, arguments: &[&str]) -> Cli {
        let settings = read(&Cli::command(), text, Path::new("etc/sd.toml")).expect("settings");
        let arguments = ["software-directory"].iter().chain(arguments);
        let matches = with_defaults(Cli::command(), &settings).try_get_matches_from(arguments).expect("arguments");
        Cli::from_arg_matches(&matches).expect("options")
    }

    #[test]
    fn entries_become_option_defaults_and_options_override_them() {
        let text = r#"
            data = "exports"
            index = "none"
            keys = "/keys.json"
            listen = 8_300
            max-removed = 0x10
            meaning = "off"
            skip-invalid = true
            log-queries = false
            site-title = ""
            trusted-proxy = ["10.0.0.1", "fd00::/8"]
        "#;
        let serve = parsed(text, &[]).serve;
        assert_eq!(serve.data.data.as_deref(), Some(Path::new("etc/exports")), "from the file's folder");
        assert_eq!((serve.data.index.as_path(), serve.data.meaning), (Path::new("none"), OnOff::Off));
        assert_eq!(serve.keys.as_deref(), Some(Path::new("/keys.json")));
        assert_eq!((serve.listen.port(), serve.max_removed), (8300, 16));
        assert_eq!((serve.data.skip_invalid, serve.log_queries, serve.site.site_title), (true, false, None));
        assert_eq!(serve.trusted_proxy.len(), 2);
        let options = ["serve", "--data", "here", "--listen", ":1", "--trusted-proxy", "10.0.0.9"];
        let Some(OtherCommand::Serve(serve)) = parsed(text, &options).command else { panic!("another command") };
        assert_eq!((serve.data.data.as_deref(), serve.listen.port()), (Some(Path::new("here")), 1));
        assert_eq!((serve.trusted_proxy.len(), serve.max_removed), (1, 16));
        let Some(OtherCommand::Keys(keys)) = parsed(text, &["keys", "list"]).command else { panic!("another command") };
        assert_eq!(keys.keys, Path::new("/keys.json"), "for every command that has the option");
    }

    #[test]
    fn the_sites_settings_are_json_that_says_where_they_are() {
        let site = parsed("[site]\nlogo = \"a.svg\"\ntitle = { en = \"A\" }\nlinks = []", &[]).serve.site.site;
        let json: Value = serde_json::from_str(&site.expect("settings")).expect("JSON");
        let places = serde_json::json!({"logo": "etc/sd.toml:2", "title": "etc/sd.toml:3", "links": "etc/sd.toml:4"});
        let settings = serde_json::json!({"": places, "logo": "etc/a.svg", "title": {"en": "A"}, "links": null});
        assert_eq!(json, settings);
    }

    #[test]
    fn the_systemd_units_configuration_file_is_valid() {
        let serve = parsed(include_str!("../../deploy/systemd/config.toml"), &[]).serve;
        assert_eq!(serve.keys.as_deref(), Some(Path::new("etc/keys.json")));
        assert_eq!(serve.metrics_listen.map(|address| address.port()), Some(9464));
    }

    #[test]
    fn an_invalid_entry_is_reported_with_its_line_key_and_a_fix() {
        for (text, reason) in [
            ("\nlistn = 80", "etc/sd.toml:2: there is no setting `listn`. Did you mean `listen`?"),
            ("reindex = true", ":1: there is no setting `reindex`"),
            ("format = \"json\"", "there is no setting `format`"),
            ("[network]\nlisten = 80", ":1: there is no setting `network`"),
            ("listen.port = 80", "`listen`: this is a table, but settings aren't grouped"),
            ("listen = [\"80\"]", "`listen`: write a single value, not a list"),
            (
                "# x\nlisten = \"x\"",
                ":2: `listen`: invalid value 'x' for '--listen <ADDRESS>': write an address and a port",
            ),
            (
                "meaning = true",
                "`meaning`: invalid value 'true' for '--meaning <on|off>'\n  [possible values: on, off]",
            ),
            ("max-removed = 101", "101 is not in 0..=100"),
            ("skip-invalid = \"yes\"", "`skip-invalid`: write true or false"),
            ("site-title = 1.5", "`site-title`: write a string in quotes"),
            ("listen = ", ":1: this isn't TOML: "),
            ("listen = 80\nlisten = 81", ":2: this isn't TOML: "),
        ] {
            let error = read(&Cli::command(), text, Path::new("etc/sd.toml")).err().expect(text).to_string();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }
}
