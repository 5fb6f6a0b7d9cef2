//! `export`: writes an export's products as CSV or NDJSON.

use std::io::{self, Write};
use std::process::ExitCode;

use super::write_file::{check_absent, read_export, write_file};
use super::{Failure, check_printed, print_note, wrote_products};
use crate::cli::ExportArgs;
use crate::curate::tabular;
use crate::export::Export;
use crate::text::count::counted;

/// Writes the products. Exit codes: 0 written, 1 couldn't be written, 2 invalid export.
pub(super) fn run(args: &ExportArgs) -> Result<ExitCode, Failure> {
    if let Some(output) = &args.output {
        check_absent(output, args.force)?;
    }
    let export = read_export(&args.file, args.max_file_bytes, "")?;
    let left_out = left_out(&export);
    if !left_out.is_empty() {
        print_note(&format!("note: left out of the table, which contains only products: {}", left_out.join(", ")));
    }
    match &args.output {
        Some(output) => {
            write_file(output, args.force, |out| write(args, &export, out))?;
            print_note(&wrote_products(export.software.len(), output));
        }
        None => check_printed(write(args, &export, &mut io::BufWriter::new(io::stdout().lock())))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Lists what an export contains that a table can't hold.
pub(super) fn left_out(export: &Export) -> Vec<String> {
    let sections = [
        (export.reviews.len(), "review"),
        (export.categories.len(), "category description"),
        (export.glossary.len(), "glossary term"),
        (export.synonyms.len(), "synonym group"),
        (export.attributes.len(), "attribute declaration"),
        (export.pins.len(), "pin"),
    ];
    sections.iter().filter(|(count, _)| *count > 0).map(|(count, noun)| counted(*count, noun)).collect()
}

fn write(args: &ExportArgs, export: &Export, out: &mut dyn Write) -> io::Result<()> {
    if args.csv {
        if args.bom {
            out.write_all(b"\xef\xbb\xbf")?;
        }
        tabular::write_csv(export, out)?;
    } else {
        tabular::write_ndjson(export, out)?;
    }
    out.flush()
}
