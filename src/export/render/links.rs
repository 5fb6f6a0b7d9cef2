//! Prints links that need attention as text.

use std::io::{self, Write};

use crate::export::{Code, LinkReport};
use crate::text::count::{Grouped, counted};
use crate::text::printable::printable;

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
    let with = |codes: &[Option<Code>]| {
        let groups = report.groups.iter().filter(|group| codes.contains(&group.code));
        Grouped(groups.map(|group| group.links.len()).sum::<usize>())
    };
    writeln!(
        out,
        "Links: {} of {} checked now; {} dead, {} unreachable, {} with TLS problems, {} moved, {} not checked.",
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
        Code::DeadLink => "Dead",
        Code::UnreachableLink => "Unreachable",
        Code::TlsProblem => "TLS problem",
        Code::InsecureLink => "Also served over HTTPS",
        _ => "Moved",
    }
}
