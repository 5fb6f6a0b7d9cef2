//! Prints a report as text, like a compiler.

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::Path;

use annotate_snippets::renderer::DEFAULT_LINE_NUM_STYLE;
use annotate_snippets::{AnnotationKind, Group, Level, Message, Renderer, Snippet, Title};

use super::window::Window;
use super::{Item, inside, items, links::links, stale::stale, summary};
use crate::export::{Code, Finding, LeftOut, Location, Report, Severity, SourceFile};
use crate::text::count::Grouped;
use crate::text::printable::printable;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    Plain,
    Coloured,
}

/// Prints the first findings of each kind in a file with their lines, counts the rest, and adds a
/// summary.
pub fn text(report: &Report, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let files = report.files.iter().map(|file| (file.path(), file)).collect();
    let renderer = match style {
        Style::Plain => Renderer::plain(),
        Style::Coloured => Renderer::styled(),
    };
    let mut printer = Printer { style, renderer, files, out };
    for item in items(report) {
        match item {
            // Listed below by cause.
            Item::Finding(Finding { code, .. }) if is_listed(*code) => continue,
            Item::More(LeftOut { code, .. }) if is_listed(code) => continue,
            Item::Finding(finding) => printer.finding(finding)?,
            Item::More(more) => printer.more(more)?,
        }
        writeln!(printer.out)?;
    }
    report.stale.as_ref().map_or(Ok(()), |list| stale(list, out))?;
    report.links.as_ref().map_or(Ok(()), |list| links(list, out))?;
    writeln!(out, "{}", summary(report))
}

const fn is_listed(code: Code) -> bool {
    matches!(
        code,
        Code::StaleEvidence
            | Code::DeadLink
            | Code::UnreachableLink
            | Code::TlsProblem
            | Code::MovedLink
            | Code::InsecureLink
    )
}

struct Printer<'r> {
    style: Style,
    renderer: Renderer,
    files: HashMap<&'r Path, &'r SourceFile>,
    out: &'r mut dyn Write,
}

impl Printer<'_> {
    fn finding(&mut self, finding: &Finding) -> io::Result<()> {
        let title = level(finding.code).primary_title(printable(&finding.message)).id(finding.code.as_str());
        let help = Level::HELP.message(printable(&finding.help));
        self.part(level(finding.code), title, &finding.location, Some(help))?;
        for related in &finding.related {
            self.part(Level::NOTE, Level::NOTE.secondary_title(printable(&related.note)), &related.location, None)?;
        }
        Ok(())
    }

    fn more(&mut self, LeftOut { code, file, count }: LeftOut) -> io::Result<()> {
        let message = format!("and {} more of this kind", Grouped(count));
        let title = level(code).primary_title(message).id(code.as_str());
        let location = Location { file, place: None, pointer: String::new(), record: None };
        self.part(level(code), title, &location, None)
    }

    /// Prints a finding's title, its location with the line, and the fix.
    ///
    /// This writes the arrow line itself, because annotate-snippets would count the column within
    /// the excerpt it's given instead of the whole line.
    fn part(
        &mut self,
        level: Level<'_>,
        title: Title<'_>,
        location: &Location,
        help: Option<Message<'_>>,
    ) -> io::Result<()> {
        writeln!(self.out, "{}", self.renderer.render(&[Group::with_title(title)]))?;
        let style = match self.style {
            Style::Plain => anstyle::Style::new(),
            Style::Coloured => DEFAULT_LINE_NUM_STYLE,
        };
        let width = location.place.as_ref().map_or(1, |place| place.line.to_string().len());
        write!(self.out, "{:width$}{style}-->{style:#} {}", "", printable(&location.file.to_string_lossy()))?;
        let mut group = Group::with_level(level);
        if let Some(place) = &location.place {
            write!(self.out, ":{}:{}", place.line, place.column)?;
            if let Some(file) = self.files.get(&*location.file) {
                let Window { text, range } = Window::of(file, &place.range);
                let annotation = AnnotationKind::Primary.span(range);
                group = group.element(Snippet::source(text).line_start(place.line).annotation(annotation));
            }
        }
        writeln!(self.out)?;
        if let Some(inside) = inside(location) {
            group = group.element(Level::NOTE.message(printable(&inside).into_owned()));
        }
        group = group.elements(help);
        if !group.is_empty() {
            writeln!(self.out, "{}", self.renderer.render(&[group]))?;
        }
        Ok(())
    }
}

fn level(code: Code) -> Level<'static> {
    match code.severity() {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    }
}
