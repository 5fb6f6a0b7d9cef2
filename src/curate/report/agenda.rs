//! What to check next, most urgent first: changed sources, dead links, claims past their age, and
//! records whose review is pending.

use super::{Block, Cell, Document, Section, Table};
use crate::export::{Code, LinkGroup, LinkTarget, Location, Report};
use crate::record::{CalendarDate, EvidenceStatus};

/// The tasks by kind, most urgent first.
#[derive(Debug)]
pub struct Agenda([(&'static str, Vec<Task>); 4]);

/// A claim or record to check.
#[derive(Debug, Default)]
struct Task {
    id: String,
    name: String,
    export: String,
    /// The property; empty if it's the whole record.
    property: String,
    reason: String,
    url: String,
    checked_on: String,
}

impl Task {
    const COLUMNS: [&'static str; 7] = ["Product", "Id", "Export", "Property", "Reason", "Address", "Checked on"];

    fn fields(&self) -> [&str; 7] {
        let Self { id, name, export, property, reason, url, checked_on } = self;
        [name, id, export, property, reason, url, checked_on]
    }

    fn cells(&self) -> Vec<Cell> {
        let cell = |(at, text): (usize, &str)| if at == 5 { Cell::Uri(text.to_owned()) } else { Cell::text(text) };
        self.fields().into_iter().enumerate().map(cell).collect()
    }
}

impl Agenda {
    /// Collects the tasks from a report that lists stale evidence and the last results for links.
    pub fn of(report: &Report) -> Self {
        let categories = report.stale.iter().flat_map(|stale| &stale.categories);
        let mut stale: Vec<_> = categories.flat_map(|category| &category.products).collect();
        stale.sort_unstable();
        let stale = stale.into_iter().map(|of| Task {
            id: of.id.to_string(),
            name: of.name.to_string(),
            export: of.export.to_string(),
            property: of.property.as_deref().unwrap_or_default().to_owned(),
            reason: "the last check was too long ago".to_owned(),
            checked_on: of.evidence_checked_on.to_string(),
            ..Task::default()
        });
        let records = report.exports.iter().flat_map(|export| export.software.iter().map(move |of| (export, of)));
        let pending = records.filter(|(_, software)| software.evidence_status == EvidenceStatus::PendingReview);
        let pending = pending.map(|(export, software)| Task {
            id: software.id.to_string(),
            name: software.name.to_string(),
            export: export.id.to_string(),
            reason: "its review is pending".to_owned(),
            url: software.url.to_string(),
            checked_on: software.evidence_checked_on.as_deref().unwrap_or_default().to_owned(),
            ..Task::default()
        });
        Self([
            ("Changed sources", links(report, Code::ChangedSource)),
            ("Dead links", links(report, Code::DeadLink)),
            ("Claims past their age", stale.collect()),
            ("Pending records", pending.collect()),
        ])
    }

    /// A section for each kind of task.
    pub fn document(&self, day: CalendarDate) -> Document {
        let section = |(title, tasks): &(&'static str, Vec<Task>)| {
            let table = Table::new(&Task::COLUMNS, tasks.iter().map(Task::cells));
            let none = || Block::Paragraph("Nothing to do.".to_owned());
            Section { title, blocks: vec![if tasks.is_empty() { none() } else { Block::Table(table) }] }
        };
        Document { title: "What to check next", day, sections: self.0.iter().map(section).collect() }
    }

    /// All tasks as a table.
    pub fn csv(&self) -> Result<String, csv::Error> {
        let mut csv = csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(Vec::new());
        csv.write_record(std::iter::once("Task").chain(Task::COLUMNS))?;
        for (title, tasks) in &self.0 {
            tasks.iter().try_for_each(|task| csv.write_record(std::iter::once(*title).chain(task.fields())))?;
        }
        let bytes = csv.into_inner().map_err(csv::IntoInnerError::into_error)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

/// A task for each record with a link that has this finding.
fn links(report: &Report, code: Code) -> Vec<Task> {
    let groups = report.links.iter().flat_map(|links| &links.groups).filter(|group| group.code == Some(code));
    let links = groups.flat_map(|group| group.links.iter().map(move |link| (group, link)));
    let places = links.flat_map(|(group, link)| link.places.iter().map(move |place| (group, link, place)));
    let task = |(group, link, place): (&LinkGroup, &LinkTarget, &Location)| {
        let export = report.exports.iter().find(|of| place.file.file_stem().is_some_and(|stem| *stem == *of.id));
        let prefix = export.map_or("", |export| &export.id_prefix);
        let id = place.record.as_ref().and_then(|record| record.id.as_deref());
        let since = link.failing_since.as_ref().map(|day| format!(", since {day}")).unwrap_or_default();
        let property = place.pointer.split('/').skip_while(|part| *part != "evidence").nth(1).unwrap_or_default();
        Task {
            id: id.map(|id| format!("{prefix}{id}")).unwrap_or_default(),
            name: place.record.as_ref().and_then(|record| record.name.clone()).unwrap_or_default(),
            export: place.file.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
            property: property.replace("~1", "/").replace("~0", "~"),
            reason: group.cause.clone() + &since,
            url: link.url.to_string(),
            checked_on: link.checked_on.clone(),
        }
    };
    places.map(task).collect()
}
