//! Names the records that findings are in, because line and column are useless in a minified file.

use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use foldhash::HashMap;

use super::budget::shortened;
use super::set::ParsedExport;
use super::{Limits, Location, RecordName, Section, SectionKind, Sections, SourceFile, text};

/// Names the record that each location is in, if any.
pub(super) fn name_records<'l>(
    locations: impl Iterator<Item = &'l mut Location>,
    files: &[SourceFile],
    exports: &[ParsedExport<'_>],
    limits: &Limits,
) {
    let files: HashMap<&Path, &SourceFile> = files.iter().map(|file| (file.path(), file)).collect();
    let mut sections: HashMap<&Path, Cow<'_, Sections>> =
        exports.iter().map(|export| (export.file.path(), Cow::Borrowed(&export.contents.sections))).collect();
    // Each record is parsed only once, so naming them all takes no longer than reading the files.
    let mut names: HashMap<(&Path, usize), Arc<RecordName>> = HashMap::default();
    for location in locations {
        let Some(place) = &location.place else { continue };
        let Some(file) = files.get(&*location.file) else { continue };
        let sections = sections.entry(file.path()).or_insert_with(|| Cow::Owned(sections_of(file.bytes(), limits)));
        let Some((kind, index, span)) = element_at(sections, &place.range) else { continue };
        let name = names
            .entry((file.path(), span.start))
            .or_insert_with(|| Arc::new(name(kind, index, &file.part(span), limits)));
        location.record = Some(Arc::clone(name));
    }
}

/// The arrays in a file, or in as much of it as can be parsed.
fn sections_of(bytes: &[u8], limits: &Limits) -> Sections {
    let document = text::parse_prefix(bytes, limits.max_depth);
    SectionKind::ALL
        .map(|kind| document.as_ref().map(|document| Section::of(document.root(), kind)).unwrap_or_default())
}

/// The record that contains a span of bytes, and the record's own span.
fn element_at(sections: &Sections, place: &Range<usize>) -> Option<(SectionKind, usize, Range<usize>)> {
    SectionKind::ALL.into_iter().zip(sections).find_map(|(kind, section)| {
        let index = section.element_at(place)?;
        Some((kind, index, section.span(index)))
    })
}

/// Reads a record's name from its JSON text.
fn name(kind: SectionKind, index: usize, element: &[u8], limits: &Limits) -> RecordName {
    let (noun, id_key, name_key) = match kind {
        SectionKind::Software => ("product", "id", "name"),
        SectionKind::Categories => ("category", "", "name"),
        SectionKind::Reviews => ("review", "id", ""),
        SectionKind::Glossary => ("glossary term", "", "term"),
        SectionKind::Synonyms => ("synonym group", "", ""),
        SectionKind::Pins => ("pin", "", ""),
        SectionKind::Attributes => ("attribute", "", "property"),
    };
    let document = text::parse_prefix(element, limits.max_depth);
    let text = |key: &str| {
        let value = document.as_ref()?.root().get(key)?;
        let text = value.as_str().filter(|text| !text.trim().is_empty())?;
        Some(shortened(text.into_owned()))
    };
    RecordName { section: kind.key(), index, id: text(id_key), name: text(name_key), noun }
}

#[cfg(test)]
mod tests {
    use super::{Limits, SectionKind, name};

    fn shown(kind: SectionKind, element: &str) -> String {
        name(kind, 12, element.as_bytes(), &Limits::default()).to_string()
    }

    #[test]
    fn a_record_is_named_by_id_and_name_or_else_by_position() {
        let product = |element| shown(SectionKind::Software, element);
        assert_eq!(product(r#"{"name": "A B", "id": "a", "x": {"id": "y"}}"#), r#"product `a` "A B""#);
        assert_eq!(product(r#"{"id": 7, "name": "A"}"#), r#"product "A""#);
        assert_eq!(product(r#"{"id": " ", "name": null}"#), "software[12]");
        assert_eq!(product("3"), "software[12]");
        assert_eq!(product(r#"{"id": "cut", "name": "off, "tags": ["#), "product `cut` \"off, \"");
        assert_eq!(product(r#"{"id": "a", "tags": [{"id""#), "product `a`");
        assert_eq!(shown(SectionKind::Reviews, r#"{"id": "r", "name": "n"}"#), "review `r`");
        assert_eq!(shown(SectionKind::Categories, r#"{"name": "C"}"#), r#"category "C""#);
        assert_eq!(shown(SectionKind::Glossary, r#"{"term": "CAPA"}"#), r#"glossary term "CAPA""#);
        assert_eq!(shown(SectionKind::Synonyms, r#"{"terms": ["a", "b"]}"#), "synonyms[12]");
    }

    #[test]
    fn names_are_short_and_printable() {
        let name = "é".repeat(61);
        let shown = shown(SectionKind::Software, &format!(r#"{{"id": "a\u001b", "name": "{name}"}}"#));
        assert_eq!(shown, format!(r#"product `a\u{{1b}}` "{}…""#, "é".repeat(60)));
    }
}
