//! Turns `locales/*.toml` into Rust: the struct `Texts`, with a field for each line of `en.toml`, and
//! one static of it for each language.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

use serde::Deserialize;

#[derive(Deserialize)]
#[serde(untagged)]
enum Text {
    Plain(String),
    Counted { one: String, many: String },
    Flag(bool),
    List(Vec<String>),
}

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=locales");
    let mut code = String::new();
    for language in ["en", "de", "fr"] {
        let file = format!("locales/{language}.toml");
        let text = fs::read_to_string(&file)?;
        let texts: BTreeMap<String, Text> = basic_toml::from_str(&text).map_err(|error| format!("{file}: {error}"))?;
        if language == "en" {
            write_struct(&mut code, &texts)?;
        }
        writeln!(code, "static {}: Texts = Texts {{", language.to_uppercase())?;
        for (name, text) in &texts {
            match text {
                Text::Plain(text) => writeln!(code, "{name}: {text:?},")?,
                Text::Counted { one, many } => writeln!(code, "{name}: Counted {{ one: {one:?}, many: {many:?} }},")?,
                Text::Flag(flag) => writeln!(code, "{name}: {flag},")?,
                Text::List(texts) => writeln!(code, "{name}: {texts:?},")?,
            }
        }
        writeln!(code, "}};")?;
    }
    fs::write(Path::new(&env::var("OUT_DIR")?).join("texts.rs"), code)?;
    Ok(())
}

fn write_struct(code: &mut String, texts: &BTreeMap<String, Text>) -> Result<(), Box<dyn Error>> {
    writeln!(code, "#[derive(Debug)]\npub(in crate::http) struct Texts {{")?;
    for (name, text) in texts {
        let kind = match text {
            Text::Plain(_) => "&'static str".to_owned(),
            Text::Counted { .. } => "Counted".to_owned(),
            Text::Flag(_) => "bool".to_owned(),
            Text::List(texts) => format!("[&'static str; {}]", texts.len()),
        };
        writeln!(code, "pub(in crate::http) {name}: {kind},")?;
    }
    writeln!(code, "}}")?;
    Ok(())
}
