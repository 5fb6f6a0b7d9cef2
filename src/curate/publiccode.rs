//! publiccode.yml, the format in which public bodies describe their software: files become rows of a
//! table, and records become files (<https://yml.publiccode.tools>, versions 0.x).

use std::collections::BTreeMap;

use fluent_uri::Uri;
use serde_json::{Map, Value, json};
use yaml_rust2::yaml::Hash;
use yaml_rust2::{Yaml, YamlEmitter};

use crate::record::{AttributeType, Language};

/// The key that every file has.
pub const VERSION: &str = "publiccodeYmlVersion";

/// The version that's written, which stands for the latest 0.x.
const WRITTEN: &str = "0";

/// The label of a file as the source of its record.
const LABEL: &str = "publiccode.yml";

/// The key of the people to ask, who aren't published unless someone asks for it.
pub const CONTACTS: &str = "contacts";

/// A key, with dots between nested ones, and the property that it becomes.
type Key = (&'static str, &'static str, Kind);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A property that the directory knows.
    Known,
    /// The same, with a web address.
    Address,
    Attribute(AttributeType),
    Other,
}

use Kind::{Address, Attribute, Known, Other};

const TEXT: Kind = Attribute(AttributeType::Text);

/// In the order in which files have them.
const KEYS: [Key; 40] = [
    ("name", "name", Known),
    ("applicationSuite", "application_suite", Other),
    ("url", "repository", Address),
    ("landingURL", "url", Address),
    ("isBasedOn", "is_based_on", Other),
    ("softwareVersion", "software_version", Other),
    ("releaseDate", "release_date", Attribute(AttributeType::Date)),
    ("logo", "logo", Other),
    ("monochromeLogo", "monochrome_logo", Other),
    ("inputTypes", "input_types", Other),
    ("outputTypes", "output_types", Other),
    ("platforms", "platforms", TEXT),
    ("categories", "categories", Known),
    ("tags", "tags", Known),
    ("organisation.name", "vendor", Known),
    ("organisation.uri", "vendor_uri", Other),
    ("usedBy", "used_by", TEXT),
    ("fundedBy", "funded_by", Other),
    ("roadmap", "roadmap", Other),
    ("developmentStatus", "development_status", TEXT),
    ("softwareType", "software_type", TEXT),
    ("intendedAudience.scope", "audience_scope", TEXT),
    ("intendedAudience.countries", "audience_countries", Other),
    ("intendedAudience.unsupportedCountries", "audience_unsupported_countries", Other),
    ("intendedAudience.onlyFor", "audience_only_for", Other),
    (DESCRIPTION, "", Other),
    ("legal.license", "license", TEXT),
    ("legal.mainCopyrightOwner", "copyright_owner", Other),
    ("legal.repoOwner", "repository_owner", Other),
    ("legal.authorsFile", "authors_file", Other),
    ("maintenance.type", "maintenance", TEXT),
    ("maintenance.contractors", "contractors", Other),
    ("maintenance.until", "maintenance_until", Other),
    ("maintenance.contacts", CONTACTS, Other),
    ("localisation.localisationReady", "localisation_ready", Attribute(AttributeType::Boolean)),
    ("localisation.availableLanguages", "languages", Known),
    ("supports", "standards", Known),
    ("dependsOn.open", "depends_on_open", Other),
    ("dependsOn.proprietary", "depends_on_proprietary", Other),
    ("dependsOn.hardware", "depends_on_hardware", Other),
];

const DESCRIPTION: &str = "description";

/// The keys of the description in a language. In languages other than the record's own, all but the
/// first three go to [`OTHER_LANGUAGES`].
const TEXTS: [(&str, &str, Kind); 10] = [
    ("localisedName", "localised_name", Other),
    ("shortDescription", "tagline", Known),
    ("longDescription", "description", Known),
    ("genericName", "generic_name", Other),
    ("features", "features", Known),
    ("documentation", "documentation", Other),
    ("apiDocumentation", "api_documentation", Other),
    ("screenshots", "screenshots", Other),
    ("videos", "videos", Other),
    ("awards", "awards", Other),
];

/// The properties that records have in several languages, by their keys.
const TRANSLATED: [(&str, &str); 3] =
    [("localisedName", "name"), ("shortDescription", "tagline"), ("longDescription", "description")];

/// The property with the texts in other languages that records can't have translations of.
const OTHER_LANGUAGES: &str = "other_languages";

/// A record's values by their columns' headers, which [`Target`](super::tabular::Target) spells.
pub type Cells = Vec<(String, Value)>;

/// The language that the most files have a description in; English if equally many do.
pub fn own_language<'f>(files: impl Iterator<Item = &'f Map<String, Value>>) -> String {
    let mut counts: Map<String, Value> = Map::new();
    for tag in files.filter_map(|file| file.get(DESCRIPTION)?.as_object()).flat_map(Map::keys) {
        let count = counts.get(tag).and_then(Value::as_u64).unwrap_or_default();
        counts.insert(tag.clone(), (count + 1).into());
    }
    let most = counts.iter().max_by_key(|(tag, count)| (count.as_u64(), *tag == "en"));
    most.map_or_else(|| "en".to_owned(), |(tag, _)| tag.clone())
}

/// A file's values. Whatever has no place keeps its own key.
pub fn read(mut file: Map<String, Value>, own: &str) -> Cells {
    file.remove(VERSION);
    let mut cells = Cells::new();
    for (path, property, kind) in KEYS {
        match take(&mut file, path) {
            Some(Value::Object(languages)) if path == DESCRIPTION => describe(languages, own, &mut cells),
            Some(value) if fits(&value, kind) => cells.push((head(property, kind), value)),
            Some(value) => cells.push((path.to_owned(), value)),
            None => {}
        }
    }
    let find =
        |cells: &Cells, wanted: &str| cells.iter().find(|(head, _)| head == wanted).map(|(_, value)| value.clone());
    if let Some(address) = find(&cells, "repository") {
        if find(&cells, "url").is_none() {
            cells.push(("url".to_owned(), address.clone()));
        }
        cells.push(("sources".to_owned(), json!([[LABEL, address]])));
    }
    let owner = ["json:repository_owner", "json:copyright_owner"].into_iter().find_map(|head| find(&cells, head));
    if let Some(owner) = owner.filter(|owner| owner.is_string() && find(&cells, "vendor").is_none()) {
        cells.push(("vendor".to_owned(), owner));
    }
    for (key, value) in file {
        match value {
            // What a country adds to the format.
            Value::Object(_) if key.len() == 2 => cells.push((format!("json:{}", key.to_lowercase()), value)),
            value => flatten(key, value, &mut cells),
        }
    }
    cells
}

fn describe(mut languages: Map<String, Value>, own: &str, cells: &mut Cells) {
    let main = [own, "en"]
        .iter()
        .find_map(|tag| languages.get_key_value(*tag))
        .or_else(|| languages.iter().next())
        .map(|(tag, _)| tag.clone());
    let Some((main, Value::Object(mut texts))) = main.and_then(|tag| languages.remove_entry(&tag)) else { return };
    for (key, property, kind) in TEXTS {
        let Some(value) = take(&mut texts, key) else { continue };
        let is_name = key == "localisedName";
        // A text that isn't in the directory's language is also its own translation.
        if let Some((_, translated)) = TRANSLATED.iter().find(|(of, _)| main != own && *of == key) {
            translate(&main, translated, value.clone(), cells);
        }
        if !is_name || cells.iter().all(|(head, name)| head != "name" || *name != value) {
            cells.push((head(property, kind), value));
        }
    }
    for (key, value) in texts {
        flatten(format!("{DESCRIPTION}.{main}.{key}"), value, cells);
    }
    let mut others = Map::new();
    for (tag, texts) in languages {
        let Value::Object(mut texts) = texts else { continue };
        for (key, property) in TRANSLATED {
            if let Some(text) = take(&mut texts, key) {
                translate(&tag, property, text, cells);
            }
        }
        texts.retain(|_, value| !is_empty(value));
        if !texts.is_empty() {
            others.insert(tag, texts.into());
        }
    }
    if !others.is_empty() {
        cells.push((format!("json:{OTHER_LANGUAGES}"), others.into()));
    }
}

fn translate(tag: &str, property: &str, text: Value, cells: &mut Cells) {
    let is_known = Language::parse(tag).is_some_and(|language| language.is_known());
    let head = if is_known { format!("{property}:{tag}") } else { format!("{DESCRIPTION}.{tag}.{property}") };
    cells.push((head, text));
}

fn head(property: &str, kind: Kind) -> String {
    match kind {
        Known | Address => property.to_owned(),
        Attribute(kind) => format!("attribute:{property}:{}", kind.as_str()),
        Other if property == CONTACTS => property.to_owned(),
        Other => format!("json:{property}"),
    }
}

/// Whether a value can have its place.
fn fits(value: &Value, kind: Kind) -> bool {
    match kind {
        Address => value.as_str().is_some_and(is_web),
        Attribute(kind) => AttributeType::fitting(&value.to_string())[kind as usize],
        Known => match value {
            Value::Array(items) => items.iter().all(Value::is_string),
            value => value.is_string(),
        },
        Other => true,
    }
}

fn is_web(address: &str) -> bool {
    ["https://", "http://"].iter().any(|scheme| address.starts_with(scheme)) && Uri::parse(address).is_ok()
}

/// Takes a value out of nested maps; `None` if it's empty. Texts lose the line break at their end.
fn take(map: &mut Map<String, Value>, path: &str) -> Option<Value> {
    let value = match path.split_once('.') {
        Some((first, rest)) => {
            let inner = map.get_mut(first)?.as_object_mut()?;
            let value = take(inner, rest);
            if inner.is_empty() {
                map.remove(first);
            }
            value?
        }
        None => map.remove(path)?,
    };
    let value = match &value {
        // Booleans in YAML 1.1.
        Value::String(text) if matches!(text.as_str(), "yes" | "Yes" | "no" | "No") => {
            text.eq_ignore_ascii_case("yes").into()
        }
        Value::String(text) => text.trim().into(),
        _ => value,
    };
    Some(value).filter(|value| !is_empty(value))
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.values().all(is_empty),
        _ => false,
    }
}

/// Adds what has no place.
fn flatten(path: String, value: Value, cells: &mut Cells) {
    match value {
        Value::Object(members) => {
            members.into_iter().for_each(|(key, value)| flatten(format!("{path}.{key}"), value, cells));
        }
        value if is_empty(&value) => {}
        value => cells.push((path, value)),
    }
}

/// A record, as the API describes it, in publiccode.yml. Keys that the format requires are missing
/// if the record has no value.
pub fn write(record: &Value) -> String {
    let mut file = Hash::new();
    insert(&mut file, VERSION, &WRITTEN.into());
    // The format has no organisation without an address.
    let is_named = property(record, "vendor_uri").is_some();
    for (path, name, _) in KEYS.into_iter().filter(|(_, name, _)| is_named || *name != "vendor") {
        if path == DESCRIPTION {
            insert(&mut file, path, &descriptions(record));
        } else if let Some(value) = property(record, name) {
            insert(&mut file, path, &value);
        }
    }
    let mut text = String::new();
    // Writing to a string can't fail.
    let _ = YamlEmitter::new(&mut text).dump(&Yaml::Hash(file));
    text + "\n"
}

/// A record's property, unless it's empty.
pub fn property(record: &Value, name: &str) -> Option<Value> {
    let value = match name {
        "url" => record["website"].clone(),
        "categories" => record[name].as_array()?.iter().map(|category| category["name"].clone()).collect(),
        name => record.get(name).unwrap_or(&record["additional_properties"][name]).clone(),
    };
    Some(value).filter(|value| !is_empty(value))
}

/// The descriptions by language. A record's own texts may be a copy of a translation, if it has none in
/// the directory's language.
fn descriptions(record: &Value) -> Value {
    let empty = Map::new();
    let translations = record["translations"].as_object().unwrap_or(&empty);
    let is_copied = |texts: &Value| {
        let texts = || texts.as_object().into_iter().flatten().filter(|(name, _)| *name != "name");
        texts().next().is_some() && texts().all(|(name, text)| property(record, name).as_ref() == Some(text))
    };
    let copied = translations.iter().find(|(_, texts)| is_copied(texts)).map(|(tag, _)| tag.as_str());
    let own = TEXTS.iter().filter_map(|(key, name, _)| Some(((*key).to_owned(), property(record, name)?)));
    let tag = copied.or(record["language"].as_str()).unwrap_or("en");
    let mut all = BTreeMap::from([(tag.to_owned(), own.collect::<Map<_, _>>())]);
    for (tag, texts) in translations {
        let texts = TRANSLATED.iter().filter_map(|(key, name)| Some(((*key).to_owned(), texts.get(name)?.clone())));
        all.entry(tag.clone()).or_default().extend(texts);
    }
    for (tag, texts) in property(record, OTHER_LANGUAGES).as_ref().and_then(Value::as_object).into_iter().flatten() {
        let texts = texts.as_object().into_iter().flatten().map(|(key, value)| (key.clone(), value.clone()));
        all.entry(tag.clone()).or_default().extend(texts);
    }
    json!(all)
}

fn insert(map: &mut Hash, path: &str, value: &Value) {
    let Some((first, rest)) = path.split_once('.') else {
        map.insert(Yaml::String(path.to_owned()), yaml(value));
        return;
    };
    let inner = map.entry(Yaml::String(first.to_owned())).or_insert_with(|| Yaml::Hash(Hash::new()));
    if let Yaml::Hash(inner) = inner {
        insert(inner, rest, value);
    }
}

fn yaml(value: &Value) -> Yaml {
    match value {
        Value::Null => Yaml::Null,
        Value::Bool(flag) => Yaml::Boolean(*flag),
        Value::Number(number) => Yaml::Real(number.to_string()),
        Value::String(text) => Yaml::String(text.clone()),
        Value::Array(items) => Yaml::Array(items.iter().map(yaml).collect()),
        Value::Object(members) => {
            Yaml::Hash(members.iter().map(|(key, value)| (Yaml::String(key.clone()), yaml(value))).collect())
        }
    }
}
