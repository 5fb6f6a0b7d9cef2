//! `match`: finds the products that the rows of an inventory refer to.

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;
use std::sync::Arc;

use super::import::unreadable;
use super::progress::step;
use super::write_file::{check_absent, write_file};
use super::{Failure, check_printed, data, print_note};
use crate::catalogue::resource::SoftwareItem;
use crate::cli::MatchArgs;
use crate::curate::tabular::{self, Cell, Mapping, ReadOptions, Row, Table, column_of, guarded};
use crate::service::{self, CERTAIN, NameMatch, Stop, budget};
use crate::text::count::counted;

const HEADS: [&str; 10] =
    ["row", "name", "rank", "id", "product", "score", "certain", "reason", "evidence_status", "evidence_checked_on"];

/// Writes the best products for each row as CSV. Exit codes: 0 written, 1 a file can't be read or
/// written, 2 usage error or invalid table.
pub(super) fn run(args: &MatchArgs) -> Result<ExitCode, Failure> {
    if let Some(output) = &args.output {
        check_absent(output, args.force)?;
    }
    let options = ReadOptions { sheet: args.sheet.as_deref(), ..ReadOptions::default() };
    let table =
        step("Reading the table", |progress| tabular::read(&args.file, options, args.data.max_file_bytes, progress));
    let table = table.map_err(|error| unreadable(&args.file, &error))?;
    let name = column(&table, args.name_column.as_deref(), "name")?.ok_or_else(|| {
        Failure::usage("the table has no column that says which product it is; name one with --name-column COLUMN")
    })?;
    let vendor = column(&table, args.vendor_column.as_deref(), "vendor")?;
    let snapshot = data::load(&args.data, &Arc::default())?;
    let text = |row: &Row, column: usize| row.cells.get(column).and_then(Cell::text).unwrap_or_default().to_owned();
    let matched = step("Matching the names", |progress| {
        let all = (0..).zip(&table.rows).map(|(at, row)| {
            progress(at, table.rows.len() as u64);
            let (name, vendor) = (text(row, name), vendor.map(|column| text(row, column)));
            let vendor = vendor.as_deref().filter(|vendor| !vendor.is_empty());
            let budget = budget(&snapshot, &Stop::default());
            let matches = service::match_name(&snapshot, &name, [vendor, None], args.limit, &budget)?;
            Ok((row.number, name, matches))
        });
        all.collect::<Result<Vec<_>, Failure>>()
    })?;
    match &args.output {
        Some(output) => write_file(output, args.force, |out| write(&matched, out))?,
        None => check_printed(write(&matched, &mut BufWriter::new(io::stdout().lock())))?,
    }
    let count = |is: fn(&NameMatch) -> bool| matched.iter().filter(|(.., of)| of.first().is_some_and(is)).count();
    let (certain, all) = (count(|of| of.score >= CERTAIN), count(|_| true));
    let rows = counted(matched.len(), "row");
    print_note(&format!(
        "{rows}: {certain} with a certain match, {} to check, {} without a match",
        all - certain,
        matched.len() - all
    ));
    Ok(ExitCode::SUCCESS)
}

/// The column with this header or, if it isn't given, the one that `import` would use as a property.
fn column(table: &Table, head: Option<&str>, property: &str) -> Result<Option<usize>, Failure> {
    let Some(head) = head else {
        let mapping = Mapping::propose(table);
        return Ok(mapping.columns.iter().position(|column| column.target.property() == Some(property)));
    };
    column_of(table, head).map(Some).map_err(|error| Failure::usage(error.to_string()))
}

type Matched = (u64, String, Vec<NameMatch>);

fn write(matched: &[Matched], out: &mut dyn Write) -> io::Result<()> {
    let mut writer = csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(out);
    writer.write_record(HEADS)?;
    for (row, name, matches) in matched {
        let (row, name) = (row.to_string(), guarded(name));
        for (rank, NameMatch { item, score, reason }) in (1..).zip(matches) {
            let item: SoftwareItem<'_> = serde_json::from_slice(item)?;
            let (rank, rounded) = (rank.to_string(), format!("{score:.2}"));
            let (id, product) = (guarded(&item.id), guarded(&item.name));
            let certain = if *score >= CERTAIN { "yes" } else { "no" };
            let evidence = (&*item.evidence_status, item.evidence_checked_on.as_deref().unwrap_or_default());
            let cells =
                [&row, &*name, &rank, &id, &product, &rounded, certain, reason.as_str(), evidence.0, evidence.1];
            writer.write_record(cells)?;
        }
        if matches.is_empty() {
            writer.write_record([&row, &*name, "", "", "", "", "no", "", "", ""])?;
        }
    }
    writer.flush()
}
