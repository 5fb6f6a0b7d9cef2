//! Warns about traces of other formats and encodings in text: markup and mojibake. There's one
//! finding per kind and property in a file, because a scraped export has the same blemish in every
//! record.

use std::ops::Range;

use super::{markup, mojibake};
use crate::export::Code;
use crate::export::finding::{Fault, Faults};
use crate::export::pointer::Path;
use crate::export::text::{Kind, Value};

const EXAMPLES: usize = 3;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Blemish {
    Tag,
    Entity,
    Link,
    Garbled,
    Lost,
}

impl Blemish {
    const fn code(self) -> Code {
        match self {
            Self::Tag | Self::Entity | Self::Link => Code::Markup,
            Self::Garbled | Self::Lost => Code::Mojibake,
        }
    }

    const fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Tag => ("an HTML tag", "HTML tags"),
            Self::Entity => ("an HTML entity", "HTML entities"),
            Self::Link => ("a Markdown link", "Markdown links"),
            Self::Garbled => ("garbled characters", "garbled characters"),
            Self::Lost => ("a lost character", "lost characters"),
        }
    }

    /// How to fix the blemish. `meant` is the character that the piece stands for.
    fn help(self, piece: &str, meant: Option<char>) -> String {
        match (self, meant) {
            (Self::Tag, _) => "remove the tags: text is shown as is, so readers would see them".to_owned(),
            (Self::Link, _) => {
                "keep only the link text: text is shown as is, so readers would see the markup".to_owned()
            }
            (Self::Entity, Some(c)) if !c.is_whitespace() => {
                format!("write `{c}` instead of `{piece}`: text is shown as is")
            }
            (Self::Entity, _) => format!("write a space instead of `{piece}`: text is shown as is"),
            (Self::Garbled, Some(c)) if !c.is_whitespace() && c != '\u{feff}' => {
                format!(
                    "write `{c}` instead of `{piece}`: the text is UTF-8, but was read as Windows-1252 or ISO 8859-1"
                )
            }
            (Self::Garbled, _) => {
                format!("remove `{piece}`: the text is UTF-8, but was read as Windows-1252 or ISO 8859-1")
            }
            (Self::Lost, _) => {
                "copy the text from its source again, as UTF-8: U+FFFD marks a character lost in a conversion"
                    .to_owned()
            }
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct Blemishes {
    summaries: Vec<Summary>,
}

#[derive(Debug)]
struct Summary {
    blemish: Blemish,
    /// The envelope's member that contains the property, and the property itself.
    property: (Box<str>, Box<str>),
    /// How many strings contain the blemish.
    texts: usize,
    examples: Vec<Example>,
}

#[derive(Debug)]
struct Example {
    place: Range<usize>,
    pointer: String,
    piece: String,
    meant: Option<char>,
}

impl Blemishes {
    pub(super) fn look(&mut self, value: Value<'_>, path: Path<'_>, text: &str) {
        if markup::is_possible(text) {
            self.look_for_markup(value, path, text);
        }
        if !text.is_ascii() {
            self.look_for_mojibake(value, path, text);
        }
    }

    fn look_for_markup(&mut self, value: Value<'_>, path: Path<'_>, text: &str) {
        if let Some(place) = markup::tag(text) {
            self.add(Blemish::Tag, value, path, text, place, None);
        }
        if let Some((place, meant)) = markup::entity(text) {
            self.add(Blemish::Entity, value, path, text, place, Some(meant));
        }
        if let Some(place) = markup::link(text) {
            self.add(Blemish::Link, value, path, text, place, None);
        }
    }

    fn look_for_mojibake(&mut self, value: Value<'_>, path: Path<'_>, text: &str) {
        if let Some((place, meant)) = mojibake::garbled(text) {
            self.add(Blemish::Garbled, value, path, text, place, Some(meant));
        }
        if let Some(place) = mojibake::lost(text) {
            // An unpaired surrogate also becomes U+FFFD, but it has already been reported.
            let is_written = |raw: &str| raw.contains('\u{fffd}') || raw.to_ascii_lowercase().contains("\\ufffd");
            if value.kind() == Kind::Plain || is_written(value.raw()) {
                self.add(Blemish::Lost, value, path, text, place, None);
            }
        }
    }

    fn add(
        &mut self,
        blemish: Blemish,
        value: Value<'_>,
        path: Path<'_>,
        text: &str,
        piece: Range<usize>,
        meant: Option<char>,
    ) {
        let property = property(path);
        let is_same = |summary: &&mut Summary| {
            summary.blemish == blemish && *summary.property.0 == *property.0 && *summary.property.1 == *property.1
        };
        let Some(summary) = self.summaries.iter_mut().find(is_same) else {
            let property = (property.0.into(), property.1.into());
            let examples = vec![Example::new(value, path, text, piece, meant)];
            return self.summaries.push(Summary { blemish, property, texts: 1, examples });
        };
        summary.texts += 1;
        if summary.examples.len() < EXAMPLES {
            summary.examples.push(Example::new(value, path, text, piece, meant));
        }
    }

    pub(super) fn report(self, faults: &mut Faults) {
        self.summaries.into_iter().filter_map(Summary::fault).for_each(|fault| faults.add(fault));
    }
}

impl Summary {
    fn fault(self) -> Option<Fault> {
        let mut examples = self.examples.into_iter();
        let Example { place, pointer, piece, meant } = examples.next()?;
        let (one, several) = self.blemish.names();
        let property = match (&*self.property.0, &*self.property.1) {
            (section, property) if section == property || section == "software" => format!("`{property}`"),
            (section, property) => format!("`{property}` in `{section}`"),
        };
        let message = match self.texts {
            1 => format!("{property} contains {one}: `{piece}`"),
            texts => format!("{texts} values of {property} contain {several}; the first is `{piece}`"),
        };
        let fault = Fault::new(self.blemish.code(), place, pointer, message, self.blemish.help(&piece, meant));
        Some(examples.fold(fault, |fault, Example { place, pointer, piece, .. }| {
            fault.with_related(place, pointer, format!("and `{piece}` here"))
        }))
    }
}

impl Example {
    fn new(value: Value<'_>, path: Path<'_>, text: &str, piece: Range<usize>, meant: Option<char>) -> Self {
        /// Maximum length of a piece in a message, in bytes.
        const SHOWN: usize = 80;
        let mut shown = text[piece.clone()].to_owned();
        if shown.len() > SHOWN {
            shown.truncate(shown.floor_char_boundary(SHOWN));
            shown.push('…');
        }
        let start = value.span().start + 1;
        // If the text has escapes, its offsets differ from those in the file.
        let place = if value.kind() == Kind::Plain { start + piece.start..start + piece.end } else { value.head() };
        Self { place, pointer: path.to_string(), piece: shown, meant }
    }
}

/// The envelope's member that a path leads into, and the path's last key.
fn property(path: Path<'_>) -> (&str, &str) {
    let (mut at, mut section, mut property) = (path, "", None);
    loop {
        at = match at {
            Path::Root => return (section, property.unwrap_or(section)),
            Path::Member(parent, key) => {
                property.get_or_insert(key);
                section = key;
                *parent
            }
            Path::Element(parent, _) => *parent,
        };
    }
}
