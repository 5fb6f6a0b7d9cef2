//! What an operator sets about the pages in the configuration's `[site]` table, checked, with the
//! content of the files it names.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use bytes::Bytes;
use percent_encoding::percent_decode_str;
use quick_xml::Reader;
use quick_xml::events::Event;
use serde_json::{Map, Value};

use super::pages::language::Language;
use crate::text::nearest::Nearest;
use crate::text::shorten::is_longer;

/// The maximum size of a file in bytes, and of all product logos together.
const MAX_FILE: u64 = 256 * 1024;
const MAX_LOGOS: usize = 64 * 1024 * 1024;

/// The maximum number of own pages.
const MAX_PAGES: usize = 100;

/// The maximum length of a text, in characters.
const MAX_TEXT: usize = 2000;

/// The lowest contrast of text (WCAG 2.2, 1.4.3).
const MIN_CONTRAST: f64 = 4.5;

/// In each theme, the ground that contrasts least with text, and the surface.
const GROUNDS: [[Colour; 2]; 2] = [[[0xf1, 0xf1, 0xed], [255; 3]], [[0x21, 0x25, 0x26], [0x1a, 0x1d, 0x1e]]];

type Colour = [u8; 3];

/// The settings. The default changes nothing.
#[derive(Debug, Clone, Default)]
pub struct Face {
    pub(super) title: Option<Translated>,
    pub(super) introduction: Option<Translated>,
    pub(super) disclaimer: Option<Translated>,
    pub(super) publisher: Option<String>,
    /// The addresses of the imprint, the privacy policy and the contact, if any. A path has no
    /// language.
    pub(super) links: [Option<String>; 3],
    /// The names of the logo and the icon among the files.
    pub(super) logo: Option<String>,
    pub(super) icon: Option<String>,
    /// The operator's styles and colours.
    pub(super) css: String,
    /// Images by name; a product's logo is `logos/` and the product's id.
    pub(super) files: BTreeMap<String, Bytes>,
    /// Own pages by name, as Markdown.
    pub(super) pages: BTreeMap<String, Translated>,
}

/// Text by language tag; an empty tag stands for all other languages.
#[derive(Debug, Clone, Default)]
pub(super) struct Translated(BTreeMap<String, String>);

impl Translated {
    pub(super) fn has(&self, tag: &str) -> bool {
        self.0.contains_key(tag)
    }

    /// The text in a language, or in whichever there is.
    pub(super) fn get(&self, tag: &str) -> &str {
        let find = |tag: &str| self.0.get(tag);
        find(tag)
            .or_else(|| find(""))
            .or_else(|| find("en"))
            .or_else(|| self.0.values().next())
            .map_or("", String::as_str)
    }
}

impl Face {
    pub fn title(&self) -> Option<&str> {
        self.title.as_ref().map(|title| title.get(""))
    }

    /// The same, with a title that's set elsewhere.
    #[must_use]
    pub fn without_title(self) -> Self {
        Self { title: None, ..self }
    }

    /// Reads the settings from a JSON object, and the files they name.
    ///
    /// # Errors
    /// Everything that's wrong, one line each. The member with an empty name says where the settings
    /// are from.
    pub fn read(json: &str) -> Result<Self, Vec<String>> {
        let mut settings: Map<String, Value> =
            serde_json::from_str(json).map_err(|error| vec![format!("site: this isn't a JSON object: {error}")])?;
        let places = settings.remove("").unwrap_or_default();
        let at = |name: &str| match places[name].as_str() {
            Some(place) => format!("{place}: `site.{name}`"),
            None => format!("site.{name}"),
        };
        let (mut face, mut problems) = (Self::default(), Vec::new());
        for (name, value) in &settings {
            if let Err(problem) = face.set(name, value) {
                problems.extend(problem.lines().map(|line| format!("{}: {line}", at(name))));
            }
        }
        for (link, name) in face.links.iter().zip(LINKS) {
            let page = link.as_deref().and_then(|link| link.strip_prefix("/pages/"));
            if let Some(page) = page.filter(|page| !face.pages.contains_key(*page)) {
                problems.push(format!("{}: there is no page `{page}` in the folder `site.pages` names", at(name)));
            }
        }
        if problems.is_empty() { Ok(face) } else { Err(problems) }
    }

    fn set(&mut self, name: &str, value: &Value) -> Result<(), String> {
        match name {
            "title" => self.title = Some(translated(value)?),
            "introduction" => self.introduction = Some(translated(value)?),
            "disclaimer" => self.disclaimer = Some(translated(value)?),
            "publisher" => self.publisher = Some(text(value)?.to_owned()),
            "logo" => self.logo = Some(self.image("logo", text(value)?)?),
            "icon" => self.icon = Some(self.image("icon", text(value)?)?),
            "accent" => self.css.insert_str(0, &accent(value)?),
            "css" => {
                let css = read(Path::new(text(value)?))?;
                self.css.push_str(&String::from_utf8(css).map_err(|_| "the file isn't UTF-8")?);
            }
            "pages" => self.read_pages(Path::new(text(value)?))?,
            "logos" => self.read_logos(Path::new(text(value)?))?,
            other => {
                let Some(at) = LINKS.iter().position(|link| *link == other) else {
                    let hint = Nearest::default().name(other, NAMES.into_iter().chain(LINKS));
                    let hint = hint.map(|near| format!(" Did you mean `{near}`?")).unwrap_or_default();
                    return Err(format!("there is no such setting.{hint}"));
                };
                let link = text(value)?;
                if !is_link(link) || (link.starts_with('/') && !link.starts_with("/pages/")) {
                    return Err(
                        "write an http or https URL, a mailto: address, or a path such as /pages/imprint".into()
                    );
                }
                self.links[at] = Some(link.to_owned());
            }
        }
        Ok(())
    }

    /// Reads an image, and stores it under a name with its extension.
    fn image(&mut self, name: &str, path: &str) -> Result<String, String> {
        let content = read(Path::new(path))?;
        let name = format!("{name}.{}", format(&content).map_err(|reason| format!("{path} {reason}"))?);
        self.files.insert(name.clone(), content.into());
        Ok(name)
    }

    fn read_pages(&mut self, folder: &Path) -> Result<(), String> {
        let mut problems = Vec::new();
        for (file, stem) in entries(folder, &["md"])? {
            let (name, tag) = stem.split_once('.').unwrap_or((&stem, ""));
            let is_known = tag.is_empty() || Language::ALL.iter().any(|language| language.texts().tag == tag);
            let is_name = !name.is_empty()
                && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
            if !is_known || !is_name {
                problems
                    .push(format!("{file}: name it like about.md or about.de.md, in lower-case letters and digits"));
                continue;
            }
            match read(&folder.join(&file)).and_then(|page| String::from_utf8(page).map_err(|_| "isn't UTF-8".into())) {
                Ok(page) => drop(self.pages.entry(name.to_owned()).or_default().0.insert(tag.to_owned(), page)),
                Err(problem) => problems.push(format!("{file}: {problem}")),
            }
        }
        if self.pages.len() > MAX_PAGES {
            problems.push(format!("there are {} pages; the maximum is {MAX_PAGES}", self.pages.len()));
        }
        if problems.is_empty() { Ok(()) } else { Err(problems.join("\n")) }
    }

    fn read_logos(&mut self, folder: &Path) -> Result<(), String> {
        let (mut problems, mut size) = (Vec::new(), 0);
        for (file, stem) in entries(folder, &["svg", "png"])? {
            let id = percent_decode_str(&stem).decode_utf8_lossy().into_owned();
            let content =
                read(&folder.join(&file)).and_then(|content| format(&content).map(|_| content).map_err(Into::into));
            match content {
                Ok(content) => {
                    size += content.len();
                    if size > MAX_LOGOS {
                        problems.push(format!("the logos have more than {} MiB together", MAX_LOGOS >> 20));
                        break;
                    }
                    self.files.insert(format!("logos/{id}"), content.into());
                }
                Err(problem) => problems.push(format!("{file} {problem}")),
            }
        }
        if problems.is_empty() { Ok(()) } else { Err(problems.join("\n")) }
    }
}

const NAMES: [&str; 10] =
    ["title", "introduction", "disclaimer", "publisher", "logo", "icon", "accent", "css", "pages", "logos"];

/// The links in the footer.
const LINKS: [&str; 3] = ["imprint", "privacy", "contact"];

fn text(value: &Value) -> Result<&str, String> {
    let text = value.as_str().map(str::trim).filter(|text| !text.is_empty()).ok_or("write a string in quotes")?;
    if is_longer(text, MAX_TEXT) { Err(format!("it's longer than {MAX_TEXT} characters")) } else { Ok(text) }
}

/// Text for all languages, or a table with a text for each.
fn translated(value: &Value) -> Result<Translated, String> {
    let Value::Object(texts) = value else {
        return Ok(Translated(BTreeMap::from([(String::new(), text(value)?.to_owned())])));
    };
    let mut translated = Translated::default();
    for (tag, value) in texts {
        if !Language::ALL.iter().any(|language| language.texts().tag == tag) {
            return Err(format!("pages aren't available in `{tag}`; write `en`, `de` or `fr`"));
        }
        translated.0.insert(tag.clone(), text(value)?.to_owned());
    }
    if translated.0.is_empty() { Err("it's empty".to_owned()) } else { Ok(translated) }
}

/// Whether a link in text or in the footer is safe and doesn't depend on the page.
pub(super) fn is_link(link: &str) -> bool {
    let is_path = link.starts_with('/') && !link.starts_with("//") && !link.contains('\\');
    is_path || ["https://", "http://", "mailto:"].iter().any(|scheme| link.starts_with(scheme))
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    let mut content = Vec::new();
    let result = File::open(path).and_then(|file| file.take(MAX_FILE + 1).read_to_end(&mut content));
    result.map_err(|error: io::Error| format!("{} can't be read: {error}", path.display()))?;
    if content.len() as u64 > MAX_FILE {
        return Err(format!("{} is larger than {} KiB", path.display(), MAX_FILE >> 10));
    }
    Ok(content)
}

/// A folder's files with one of these extensions, with their stems, by name.
fn entries(folder: &Path, extensions: &[&str]) -> Result<Vec<(String, String)>, String> {
    let fail = |error: io::Error| format!("the folder {} can't be read: {error}", folder.display());
    let names = std::fs::read_dir(folder).map_err(fail)?.map(|entry| Ok(entry?.file_name()));
    let names = names.collect::<Result<Vec<_>, io::Error>>().map_err(fail)?;
    let mut files: Vec<_> = names
        .into_iter()
        .filter_map(|name| {
            let name = name.into_string().ok()?;
            let (stem, _) = name.rsplit_once('.').filter(|(_, extension)| extensions.contains(extension))?;
            let stem = stem.to_owned();
            Some((name, stem))
        })
        .collect();
    files.sort();
    Ok(files)
}

/// An image's format, as a file extension, from its content.
pub(super) fn format(image: &[u8]) -> Result<&'static str, &'static str> {
    if image.starts_with(b"\x89PNG\r\n\x1a\n") && image.get(12..16) == Some(b"IHDR") {
        return Ok("png");
    }
    let mut reader = Reader::from_reader(image);
    let (mut has_root, mut buffer) = (false, Vec::new());
    loop {
        match reader.read_event_into(&mut buffer) {
            Ok(Event::Start(element) | Event::Empty(element)) if !has_root => {
                if element.local_name().as_ref() != "svg" {
                    return Err("is neither SVG nor PNG");
                }
                has_root = true;
            }
            Ok(Event::Eof) if has_root => return Ok("svg"),
            Ok(Event::Eof) => return Err("is neither SVG nor PNG"),
            Ok(_) => {}
            Err(_) => return Err("is neither PNG nor well-formed SVG"),
        }
        buffer.clear();
    }
}

/// The styles for an accent colour, given for both themes or once. If it's given once, the dark
/// theme's is lightened until it's readable.
fn accent(value: &Value) -> Result<String, String> {
    let form = "write a colour such as \"#0b6b61\", or one for each theme: { light = \"#0b6b61\", dark = \"#66c9bb\" }";
    let parse = |value: Option<&Value>| {
        let digits = value.and_then(Value::as_str).and_then(|text| text.strip_prefix('#')).ok_or(form)?;
        let mut colour = Colour::default();
        hex::decode_to_slice(digits, &mut colour).map_err(|_| form)?;
        Ok::<_, String>(colour)
    };
    let colours = match value {
        Value::Object(themes) => [parse(themes.get("light"))?, parse(themes.get("dark"))?],
        single => {
            let colour = parse(Some(single))?;
            let lighter = (0..=20).map(|step| mixed(colour, [255; 3], f64::from(step) / 20.0));
            [colour, lighter.into_iter().find(|colour| is_readable(*colour, 1)).unwrap_or([255; 3])]
        }
    };
    for (theme, name) in ["light", "dark"].into_iter().enumerate() {
        if !is_readable(colours[theme], theme) {
            let css = css(colours[theme]);
            return Err(format!(
                "{css} has a contrast of less than {MIN_CONTRAST} with the {name} theme; choose a {} one",
                if theme == 0 { "darker" } else { "lighter" }
            ));
        }
    }
    let [light, dark] = colours.map(css);
    let [light_soft, dark_soft] = [0, 1].map(|theme| css(soft(colours[theme], theme)));
    Ok(format!(
        ":root {{ --accent: light-dark({light}, {dark}); --accent-ink: light-dark(#ffffff, #000000); \
         --accent-soft: light-dark({light_soft}, {dark_soft}); }}\n"
    ))
}

fn css(colour: Colour) -> String {
    format!("#{}", hex::encode(colour))
}

/// The background of text in the accent colour.
fn soft(colour: Colour, theme: usize) -> Colour {
    mixed(GROUNDS[theme][1], colour, 0.1)
}

fn is_readable(colour: Colour, theme: usize) -> bool {
    let grounds = [GROUNDS[theme][0], soft(colour, theme)];
    grounds.into_iter().all(|ground| contrast(colour, ground) >= MIN_CONTRAST)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between two bytes")]
fn mixed(from: Colour, to: Colour, part: f64) -> Colour {
    let channel = |at: usize| (f64::from(from[at]) * (1.0 - part) + f64::from(to[at]) * part).round();
    [0, 1, 2].map(|at| channel(at) as u8)
}

/// The contrast ratio of two colours (WCAG 2.2), from 1 to 21.
fn contrast(one: Colour, other: Colour) -> f64 {
    let luminance = |colour: Colour| {
        let [r, g, b] = colour.map(|channel| {
            let channel = f64::from(channel) / 255.0;
            if channel <= 0.04045 { channel / 12.92 } else { ((channel + 0.055) / 1.055).powf(2.4) }
        });
        0.2126 * r + 0.7152 * g + 0.0722 * b
    };
    let (a, b) = (luminance(one), luminance(other));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bad_setting_is_reported_with_a_fix() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str, content: &[u8]| {
            std::fs::write(folder.path().join(name), content).expect("written");
            folder.path().join(name).display().to_string()
        };
        std::fs::create_dir(folder.path().join("pages")).expect("a folder");
        path("pages/About us.md", b"# About");
        path("pages/about.es.md", b"# About");
        let json = serde_json::json!({
            "titel": "A", "title": {"es": "A"}, "publisher": 1, "imprint": "/pages/imprint", "privacy": "javascript:1",
            "logo": path("a.svg", b"<html/>"), "icon": path("b.png", "0".repeat(300_000).as_bytes()), "accent": "#ffcc00",
            "": {"css": "etc/sd.toml:9"}, "css": "missing.css", "pages": folder.path().join("pages"), "introduction": "x".repeat(3000)
        });
        let problems = Face::read(&json.to_string()).expect_err("problems").join("\n");
        for part in [
            "site.titel: there is no such setting. Did you mean `title`?",
            "site.title: pages aren't available in `es`",
            "site.publisher: write a string in quotes",
            "site.imprint: there is no page `imprint`",
            "site.privacy: write an http or https URL",
            "a.svg is neither SVG nor PNG",
            "b.png is larger than 256 KiB",
            "site.accent: #ffcc00 has a contrast of less than 4.5 with the light theme; choose a darker one",
            "etc/sd.toml:9: `site.css`: missing.css can't be read",
            "site.pages: About us.md: name it like",
            "site.pages: about.es.md: name it like",
            "site.introduction: it's longer than 2000 characters",
        ] {
            assert!(problems.contains(part), "{part}: {problems}");
        }
    }

    #[test]
    fn an_accent_is_readable_in_both_themes() {
        let css = accent(&Value::from("#0b3d91")).expect("dark enough");
        assert!(css.contains("--accent: light-dark(#0b3d91, #"), "{css}");
        for (colour, is_fine) in [([0x0b, 0x6b, 0x61], [true, false]), ([0x66, 0xc9, 0xbb], [false, true])] {
            assert_eq!([0, 1].map(|theme| is_readable(colour, theme)), is_fine);
        }
        assert!((contrast([0; 3], [255; 3]) - 21.0).abs() < 1e-9);
        assert!(accent(&serde_json::json!({"light": "#0b6b61", "dark": "#333333"})).is_err());
    }

    #[test]
    fn text_falls_back_to_the_untagged_one_and_then_to_english() {
        for (json, shown) in [(r#"{"de": "D", "en": "E"}"#, "E"), (r#"{"de": "D"}"#, "D"), (r#""A""#, "A")] {
            let text = translated(&serde_json::from_str(json).expect("JSON")).expect("text");
            assert_eq!(text.get("fr"), shown, "{json}");
        }
    }

    #[test]
    fn images_are_recognised_by_their_content() {
        assert_eq!(format(b"<?xml version='1.0'?><svg xmlns='http://www.w3.org/2000/svg'><g/></svg>"), Ok("svg"));
        assert_eq!(format(b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR"), Ok("png"));
        for other in [&b""[..], b"GIF89a", b"<svg><g></svg>", b"<p/>", b"\xff\xd8\xff"] {
            assert!(format(other).is_err(), "{other:?}");
        }
    }
}
