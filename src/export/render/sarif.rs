//! Prints a report as SARIF 2.1.0, for editors and code scanning services:
//! <https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html>.

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::Path;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};
use serde_json::{Value, json};

use crate::export::{Code, Finding, LeftOut, Location, Report, Severity, SourceFile, SourceSpan};
use crate::text::count::Grouped;
use crate::text::printable::printable;

const SCHEMA: &str = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// The characters to escape when a path becomes a relative reference.
const PATH: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');

/// Prints a report as a SARIF log with one run. Results are the report's findings, rules are
/// their codes, and notifications count the findings that were left out.
pub fn sarif(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let log = Log {
        rules: report.code_counts().into_keys().collect(),
        files: report.files.iter().map(|file| (file.path(), file)).collect(),
    };
    let document = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": env!("CARGO_PKG_NAME"),
                "version": env!("CARGO_PKG_VERSION"),
                "rules": log.rules.iter().map(|code| rule(*code)).collect::<Vec<_>>(),
            } },
            "columnKind": "unicodeCodePoints",
            "invocations": [{
                "executionSuccessful": true,
                "toolExecutionNotifications": report.left_out.iter().map(|more| log.notification(more)).collect::<Vec<_>>(),
            }],
            "results": report.findings.iter().map(|finding| log.result(finding)).collect::<Vec<_>>(),
            "properties": {
                "files": report.counts.files,
                "records": report.counts.records,
                "skipped_records": report.counts.skipped_records,
                "errors": report.error_count(),
                "warnings": report.warning_count(),
                "notes": report.note_count(),
            },
        }],
    });
    serde_json::to_writer_pretty(&mut *out, &document)?;
    writeln!(out)
}

fn rule(code: Code) -> Value {
    let effect = match code.severity() {
        Severity::Error => "Errors keep the exports from being published. Each result says how to fix it.",
        Severity::Warning => "Warnings don't keep the exports from being published. Each result says how to fix it.",
        Severity::Note => "Notes are suggestions. Nothing is wrong with the exports.",
    };
    json!({
        "id": code.as_str(),
        "shortDescription": { "text": code.description() },
        "help": { "text": format!("{} {effect}", code.description()) },
        "defaultConfiguration": { "level": code.severity().as_str() },
    })
}

struct Log<'r> {
    rules: Vec<Code>,
    files: HashMap<&'r Path, &'r SourceFile>,
}

impl Log<'_> {
    fn rule_index(&self, code: Code) -> Option<usize> {
        self.rules.binary_search(&code).ok()
    }

    fn result(&self, finding: &Finding) -> Value {
        let record = finding.location.record.as_ref().map(|record| format!(" ({record})")).unwrap_or_default();
        let text = format!("{}{record}\n{}", printable(&finding.message), printable(&finding.help));
        let related = finding.related.iter().enumerate().map(|(id, related)| {
            let mut location = self.location(&related.location);
            location["id"] = id.into();
            location["message"] = message(&printable(&related.note));
            location
        });
        json!({
            "ruleId": finding.code.as_str(),
            "ruleIndex": self.rule_index(finding.code),
            "level": finding.severity().as_str(),
            "message": message(&text),
            "locations": [self.location(&finding.location)],
            "relatedLocations": related.collect::<Vec<_>>(),
        })
    }

    fn notification(&self, LeftOut { code, file, count }: &LeftOut) -> Value {
        json!({
            "level": "note",
            "associatedRule": { "id": code.as_str(), "index": self.rule_index(*code) },
            "message": message(&format!("and {} more of this kind: {}", Grouped(*count), code.as_str())),
            "locations": [{ "physicalLocation": { "artifactLocation": { "uri": uri(file) } } }],
        })
    }

    fn location(&self, location: &Location) -> Value {
        let mut physical = json!({ "artifactLocation": { "uri": uri(&location.file) } });
        if let Some(place) = &location.place {
            physical["region"] = region(place, self.files.get(&*location.file).copied());
        }
        let mut value = json!({ "physicalLocation": physical });
        let logical = logical_locations(location);
        if !logical.is_empty() {
            value["logicalLocations"] = logical.into();
        }
        value
    }
}

/// The value's JSON pointer, and the name of the record that contains it.
fn logical_locations(location: &Location) -> Vec<Value> {
    let mut logical = Vec::new();
    if !location.pointer.is_empty() {
        logical.push(json!({ "fullyQualifiedName": location.pointer }));
    }
    if let Some(record) = &location.record {
        let mut value = json!({ "fullyQualifiedName": record.pointer(), "kind": "object" });
        if let Some(name) = record.id.as_ref().or(record.name.as_ref()) {
            value["name"] = printable(name).into();
        }
        logical.push(value);
    }
    logical
}

/// A finding's region. Its end column is given only if it's on a single line.
fn region(place: &SourceSpan, file: Option<&SourceFile>) -> Value {
    let mut region = json!({
        "startLine": place.line,
        "startColumn": place.column,
        "byteOffset": place.range.start,
        "byteLength": place.range.len(),
    });
    let bytes = file.and_then(|file| file.bytes().get(place.range.clone()));
    if let Some(bytes) = bytes.filter(|bytes| !bytes.contains(&b'\n')) {
        region["endColumn"] = (place.column + String::from_utf8_lossy(bytes).chars().count()).into();
    }
    region
}

/// A plain-text message. SARIF would turn `[text](target)` into a link, so this breaks it up.
fn message(text: &str) -> Value {
    json!({ "text": text.replace("](", "] (") })
}

/// A reference to the file, relative to the working directory or absolute.
fn uri(path: &Path) -> String {
    let escaped = percent_encode(path.as_os_str().as_encoded_bytes(), PATH).to_string();
    if escaped.starts_with('/') { format!("file://{escaped}") } else { escaped }
}

#[cfg(test)]
mod tests {
    use super::{message, uri};

    #[test]
    fn paths_are_escaped_as_references() {
        assert_eq!(uri("data/a b:ü#.json".as_ref()), "data/a%20b%3A%C3%BC%23.json");
        assert_eq!(uri("/srv/x.json".as_ref()), "file:///srv/x.json");
        assert_eq!(uri("<stdin>".as_ref()), "%3Cstdin%3E");
    }

    #[test]
    fn text_in_a_record_never_becomes_a_link() {
        assert_eq!(message("[a](https://x.example) [b]")["text"], "[a] (https://x.example) [b]");
    }
}
