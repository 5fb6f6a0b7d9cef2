//! Prints a report as text, like a compiler.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};
use std::io::{self, Write};
use std::path::Path;

use annotate_snippets::renderer::DEFAULT_LINE_NUM_STYLE;
use annotate_snippets::{AnnotationKind, Group, Level, Message, Renderer, Snippet, Title};

use super::window::Window;
use super::{Item, inside, items, summary};
use crate::export::finding::Truncated;
use crate::export::{Code, Finding, LeftOut, LinkReport, Location, Report, Severity, SourceFile, Stale};
use crate::text::count::{Grouped, counted};
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
            | Code::ChangedSource
            | Code::SourceWithoutText
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
        self.part(level(code), title, &Location::whole(file), None)
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

/// How many products in a category are listed; the rest are only counted.
const LISTED_PRODUCTS: usize = 20;
/// How many categories are listed; the rest are only counted.
const LISTED_CATEGORIES: usize = 50;

pub(super) fn stale(stale: &Stale, out: &mut dyn Write) -> io::Result<()> {
    if stale.stale > 0 {
        writeln!(out, "Evidence that was checked before {}, oldest first:", stale.before)?;
    }
    for category in stale.categories.iter().take(LISTED_CATEGORIES) {
        let name = category.category.as_deref().unwrap_or("(no category)");
        writeln!(out, "\n{} ({})", Truncated(name), Grouped(category.products.len()))?;
        for product in category.products.iter().take(LISTED_PRODUCTS) {
            let (id, name, export) = (Truncated(&product.id), Truncated(&product.name), Truncated(&product.export));
            write!(out, "  {}  {id}  {name} ({export})", product.evidence_checked_on)?;
            product.property.as_ref().map_or(Ok(()), |property| write!(out, ": {}", Truncated(property)))?;
            writeln!(out)?;
        }
        more(category.products.len(), LISTED_PRODUCTS, "  ", out)?;
    }
    if stale.categories.len() > LISTED_CATEGORIES {
        writeln!(out)?;
    }
    more(stale.categories.len(), LISTED_CATEGORIES, "", out)?;
    if stale.stale > 0 {
        writeln!(out)?;
    }
    let claims =
        if stale.claims == 0 { String::new() } else { format!(" ({})", counted(stale.claims, "single claim")) };
    writeln!(
        out,
        "Stale: {} of {}{claims}; {} never checked.",
        Grouped(stale.stale),
        counted(stale.products, "product"),
        Grouped(stale.without_date)
    )
}

fn more(count: usize, listed: usize, indent: &str, out: &mut dyn Write) -> io::Result<()> {
    if count > listed {
        let what = if indent.is_empty() { " categories" } else { "" };
        writeln!(out, "{indent}and {} more{what}; use --format json to see all", Grouped(count - listed))?;
    }
    Ok(())
}

/// How many of a group's locations are listed; the rest are only counted.
const LISTED: usize = 20;

pub(super) fn links(report: &LinkReport, out: &mut dyn Write) -> io::Result<()> {
    for group in &report.groups {
        let count = group.links.iter().map(|link| link.places.len()).sum::<usize>();
        let title = group.code.map_or("Not checked", title);
        writeln!(out, "{title}: {} ({})", group.cause, Grouped(count))?;
        let places = group.links.iter().flat_map(|link| link.places.iter().map(move |place| (link, place)));
        for (link, location) in places.take(LISTED) {
            write!(out, "  {}", printable(&location.file.to_string_lossy()))?;
            if let Some(place) = &location.place {
                write!(out, ":{}:{}", place.line, place.column)?;
            }
            write!(out, "  {}", printable(&link.url))?;
            if let Some(to) = &link.to {
                write!(out, " → {}", printable(to))?;
            }
            if let Some(record) = &location.record {
                write!(out, " ({record})")?;
            }
            if let Some(since) = link.failing_since.as_ref().filter(|since| **since != link.checked_on) {
                write!(out, " since {since}")?;
            }
            writeln!(out)?;
        }
        if count > LISTED {
            writeln!(out, "  and {} more; use --format json to see all", Grouped(count - LISTED))?;
        }
        writeln!(out)?;
    }
    let count = |codes: &[Option<Code>]| {
        let groups = report.groups.iter().filter(|group| codes.contains(&group.code));
        groups.flat_map(|group| &group.links).map(|link| &link.url).collect::<BTreeSet<_>>().len()
    };
    let with = |codes: &[Option<Code>]| Grouped(count(codes));
    let changed = count(&[Some(Code::ChangedSource)]);
    let changed = if changed == 0 { String::new() } else { format!("{} changed, ", Grouped(changed)) };
    writeln!(
        out,
        "Links: {} of {} checked now; {changed}{} dead, {} unreachable, {} with TLS problems, {} moved, {} not checked.",
        Grouped(report.asked),
        counted(report.links, "link"),
        with(&[Some(Code::DeadLink)]),
        with(&[Some(Code::UnreachableLink)]),
        with(&[Some(Code::TlsProblem)]),
        with(&[Some(Code::MovedLink), Some(Code::InsecureLink)]),
        with(&[None])
    )
}

const fn title(code: Code) -> &'static str {
    match code {
        Code::ChangedSource => "Changed",
        Code::SourceWithoutText => "Without text",
        Code::DeadLink => "Dead",
        Code::UnreachableLink => "Unreachable",
        Code::TlsProblem => "TLS problem",
        Code::InsecureLink => "Also served over HTTPS",
        _ => "Moved",
    }
}

/// Prints the counts, errors first and then by descending count, followed by the summary.
pub fn statistics(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let mut counts: Vec<_> = report.code_counts().into_iter().collect();
    counts.sort_by_key(|(code, count)| (code.severity(), Reverse(*count), *code));
    for (code, count) in counts {
        writeln!(out, "{:>10} {}[{}]", Grouped(count).to_string(), code.severity().as_str(), code.as_str())?;
    }
    writeln!(out, "{}", summary(report))
}
