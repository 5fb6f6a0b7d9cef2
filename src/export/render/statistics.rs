//! Prints the number of findings per code.

use std::cmp::Reverse;
use std::io::{self, Write};

use super::summary;
use crate::export::Report;
use crate::text::count::Grouped;

/// Prints the counts, errors first and then by descending count, followed by the summary.
pub fn statistics(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let mut counts: Vec<_> = report.code_counts().into_iter().collect();
    counts.sort_by_key(|(code, count)| (code.severity(), Reverse(*count), *code));
    for (code, count) in counts {
        writeln!(out, "{:>10} {}[{}]", Grouped(count).to_string(), code.severity().as_str(), code.as_str())?;
    }
    writeln!(out, "{}", summary(report))
}
