//! YAML as JSON. Aliases are copied, up to a limit, and tags are refused.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use yaml_rust2::parser::{Event, Parser};
use yaml_rust2::scanner::{Marker, TScalarStyle};

/// How deeply lists and maps may be nested, as in JSON.
const MAX_DEPTH: usize = 100;

/// Why a text can't be read as YAML.
#[derive(Debug, thiserror::Error)]
#[error("line {line}: {reason}")]
pub struct YamlError {
    line: usize,
    reason: String,
}

/// A list or map that hasn't ended.
struct Open {
    is_map: bool,
    /// The keys so far.
    keys: HashSet<String>,
    /// Whether a map's next scalar is a key.
    wants_key: bool,
    start: usize,
    anchor: usize,
}

struct Writer {
    json: String,
    max_bytes: usize,
    open: Vec<Open>,
    /// The JSON of anchored values.
    anchors: HashMap<usize, Range<usize>>,
    documents: usize,
}

/// Converts YAML to JSON of at most this many bytes, in the same order. Several documents become an
/// array. A plain scalar is a number if JSON would write it the same way; `01234` is text.
pub fn to_json(text: &str, max_bytes: usize) -> Result<String, YamlError> {
    let mut parser = Parser::new_from_str(text);
    let (open, anchors) = (Vec::new(), HashMap::new());
    let mut writer = Writer { json: "[".to_owned(), max_bytes, open, anchors, documents: 0 };
    loop {
        let (event, place) = parser
            .next_token()
            .map_err(|error| YamlError { line: error.marker().line(), reason: error.info().to_owned() })?;
        if event == Event::StreamEnd {
            break;
        }
        writer.event(event).map_err(|reason| YamlError { line: Marker::line(&place), reason })?;
    }
    Ok(if writer.documents == 1 { writer.json.split_off(1) } else { writer.json + "]" })
}

impl Writer {
    fn event(&mut self, event: Event) -> Result<(), String> {
        match event {
            Event::Scalar(.., Some(tag)) | Event::SequenceStart(_, Some(tag)) | Event::MappingStart(_, Some(tag)) => {
                Err(format!("the tag `{}{}` isn't supported; remove it", tag.handle, tag.suffix))
            }
            Event::DocumentStart => {
                self.documents += 1;
                self.write(if self.documents > 1 { "," } else { "" })
            }
            Event::Scalar(text, style, anchor, None) => self.scalar(&text, style == TScalarStyle::Plain, anchor),
            Event::Alias(anchor) => {
                let range = self.anchors.get(&anchor).cloned().ok_or("an alias refers to a value that contains it")?;
                self.separate(None)?;
                let copy = self.json[range].to_owned();
                self.write(&copy)?;
                self.end_value();
                Ok(())
            }
            Event::SequenceStart(anchor, None) => self.open(false, anchor),
            Event::MappingStart(anchor, None) => self.open(true, anchor),
            Event::SequenceEnd | Event::MappingEnd => {
                let Some(ended) = self.open.pop() else { return Ok(()) };
                self.write(if ended.is_map { "}" } else { "]" })?;
                self.anchors.insert(ended.anchor, ended.start..self.json.len());
                self.end_value();
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn scalar(&mut self, text: &str, is_plain: bool, anchor: usize) -> Result<(), String> {
        if self.open.last().is_some_and(|open| open.wants_key) {
            self.separate(Some(text))?;
            return self.write(&format!("{}:", serde_json::Value::from(text)));
        }
        self.separate(None)?;
        let start = self.json.len();
        match text {
            "" | "~" | "null" | "Null" | "NULL" if is_plain => self.write("null")?,
            "true" | "True" | "TRUE" | "false" | "False" | "FALSE" if is_plain => self.write(&text.to_lowercase())?,
            number if is_plain && serde_json::from_str::<serde_json::Number>(number).is_ok() => self.write(number)?,
            text => self.write(&serde_json::Value::from(text).to_string())?,
        }
        self.anchors.insert(anchor, start..self.json.len());
        self.end_value();
        Ok(())
    }

    fn open(&mut self, is_map: bool, anchor: usize) -> Result<(), String> {
        if self.open.len() >= MAX_DEPTH {
            return Err(format!("lists and maps are nested more than {MAX_DEPTH} levels deep"));
        }
        self.separate(None)?;
        let start = self.json.len();
        self.write(if is_map { "{" } else { "[" })?;
        self.open.push(Open { is_map, keys: HashSet::new(), wants_key: is_map, start, anchor });
        Ok(())
    }

    /// Writes the comma before a key or a list's value, and registers the key.
    fn separate(&mut self, key: Option<&str>) -> Result<(), String> {
        let Some(open) = self.open.last_mut() else { return Ok(()) };
        match (open.wants_key, key) {
            (true, None) => return Err("a key must be text".to_owned()),
            (true, Some("<<")) => return Err("merge keys (`<<`) aren't supported; write the properties out".to_owned()),
            (true, Some(key)) => {
                if !open.keys.insert(key.to_owned()) {
                    return Err(format!("the key `{key}` is used twice; remove one of the two"));
                }
                open.wants_key = false;
            }
            (false, _) if open.is_map => return Ok(()),
            _ => {}
        }
        let is_first = self.json.ends_with(['[', '{']) && self.json.len() == open.start + 1;
        self.write(if is_first { "" } else { "," })
    }

    fn end_value(&mut self) {
        if let Some(open) = self.open.last_mut() {
            open.wants_key = open.is_map;
        }
    }

    fn write(&mut self, json: &str) -> Result<(), String> {
        if self.json.len() + json.len() > self.max_bytes {
            return Err(format!(
                "with its aliases, the file has more than {} bytes, which is the limit",
                self.max_bytes
            ));
        }
        self.json.push_str(json);
        Ok(())
    }
}
