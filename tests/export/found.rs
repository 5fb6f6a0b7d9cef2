//! Findings in short form.

use software_directory::export::{self, Report};

/// A finding: its code, the text at its location, and its pointer.
pub(crate) fn found(report: &Report) -> Vec<(&'static str, String, String)> {
    let at = |location: &export::Location| {
        let file = report.files.iter().find(|file| file.path() == &*location.file);
        let place = location.place.as_ref();
        let bytes = file.zip(place).map(|(file, place)| file.bytes()[place.range.clone()].to_vec());
        String::from_utf8(bytes.unwrap_or_default()).expect("text")
    };
    let finding = |f: &export::Finding| (f.code.as_str(), at(&f.location), f.location.pointer.clone());
    report.findings.iter().map(finding).collect()
}
