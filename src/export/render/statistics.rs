//! The number of findings of each code.

use std::cmp::Reverse;
use std::io::{self, Write};

use super::{Grouped, summary};
use crate::export::Report;

/// Prints the number of findings of each code, errors first, the largest number first, then the summary.
pub fn statistics(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let mut counts: Vec<_> = report.code_counts().into_iter().collect();
    counts.sort_by_key(|(code, count)| (code.severity(), Reverse(*count), *code));
    for (code, count) in counts {
        writeln!(out, "{:>10} {}[{}]", Grouped(count).to_string(), code.severity().as_str(), code.as_str())?;
    }
    writeln!(out, "{}", summary(report))
}
