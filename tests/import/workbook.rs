//! Workbooks: dates, formats, links, formulas, sheets, and limits on their archives.

use std::io::Write as _;

use rust_xlsxwriter::{Format, Formula, Workbook};

use crate::{import, stderr};

#[test]
fn a_workbook_becomes_an_export_with_its_dates() {
    let mut workbook = rust_xlsxwriter::Workbook::new();
    let sheet = workbook.add_worksheet();
    for (column, head) in ["Produkt", "Webseite", "Geprüft am"].into_iter().enumerate() {
        sheet.write(0, u16::try_from(column).expect("a column"), head).expect("a cell");
    }
    sheet.write(2, 0, "A").and_then(|sheet| sheet.write(2, 1, "https://a.example/")).expect("a cell");
    let day = rust_xlsxwriter::Format::new().set_num_format("yyyy-mm-dd");
    sheet.write_with_format(2, 2, 45_658.0, &day).expect("a cell");
    let bytes = workbook.save_to_buffer().expect("a workbook");
    let (output, export) = import("t.xlsx", &bytes, &[]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(export.expect("an export")["software"][0]["evidence_checked_on"], "2025-01-01");
    workbook.add_worksheet();
    let (output, _) = import("t.xlsx", &workbook.save_to_buffer().expect("a workbook"), &[]);
    assert!(
        stderr(&output).contains("has 2 visible worksheets; choose one with --sheet: Sheet1, Sheet2"),
        "{}",
        stderr(&output)
    );
}

/// A workbook with these parts, as a spreadsheet program stores it.
fn workbook(sheet: &str, workbook_attributes: &str, strings: &str) -> Vec<u8> {
    const MAIN: &str = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
    const OFFICE: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    const PACKAGE: &str = "http://schemas.openxmlformats.org/package/2006/relationships";
    let parts = [
        (
            "_rels/.rels",
            format!(
                r#"<Relationships xmlns="{PACKAGE}"><Relationship Id="r" Type="{OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>"#
            ),
        ),
        (
            "xl/_rels/workbook.xml.rels",
            format!(
                r#"<Relationships xmlns="{PACKAGE}"><Relationship Id="r1" Type="{OFFICE}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>"#
            ),
        ),
        (
            "xl/workbook.xml",
            format!(
                r#"<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><workbookPr {workbook_attributes}/><sheets><sheet name="S" sheetId="1" r:id="r1"/></sheets></workbook>"#
            ),
        ),
        ("xl/sharedStrings.xml", format!(r#"<sst xmlns="{MAIN}" {strings}</sst>"#)),
        (
            "xl/worksheets/sheet1.xml",
            format!(r#"<worksheet xmlns="{MAIN}"><sheetData>{sheet}</sheetData></worksheet>"#),
        ),
    ];
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, content) in parts {
        zip.start_file(name, zip::write::SimpleFileOptions::default()).expect("a part");
        zip.write_all(content.as_bytes()).expect("memory");
    }
    zip.finish().expect("an archive").into_inner()
}

fn row(number: usize, cells: &[&str]) -> String {
    format!(r#"<row r="{number}">{}</row>"#, cells.concat())
}

fn text(place: &str, text: &str) -> String {
    format!(r#"<c r="{place}" t="inlineStr"><is><t>{text}</t></is></c>"#)
}

fn heads(third: &str) -> String {
    row(1, &[&text("A1", "Name"), &text("B1", "Website"), &text("C1", third)])
}

#[test]
fn days_are_counted_from_1904_if_the_workbook_requests_it() {
    let product = row(2, &[&text("A2", "A"), &text("B2", "https://a.example/"), r#"<c r="C2"><v>44268</v></c>"#]);
    let sheet = heads("Last checked") + &product;
    let (output, export) = import("t.xlsx", &workbook(&sheet, r#"date1904="1""#, ">"), &[]);
    assert_eq!(export.expect("an export")["software"][0]["evidence_checked_on"], "2025-03-14", "{}", stderr(&output));
    let (_, export) = import("t.xlsx", &workbook(&sheet, "", ">"), &[]);
    assert_eq!(export.expect("an export")["software"][0]["evidence_checked_on"], "2021-03-13");
}

#[test]
fn a_formula_without_a_stored_value_is_an_error() {
    let product =
        row(2, &[&text("A2", "A"), &text("B2", "https://a.example/"), r#"<c r="C2"><f>UPPER(A2)</f><v/></c>"#]);
    let (output, export) = import("t.xlsx", &workbook(&(heads("Tagline") + &product), "", ">"), &[]);
    assert_eq!((output.status.code(), export), (Some(2), None));
    let text = stderr(&output);
    assert!(
        text.contains("column C `Tagline`: the workbook doesn't store the formula's value (1)\n  row 2: `=UPPER(A2)`"),
        "{text}"
    );
}

#[test]
fn links_formats_and_times_are_kept() {
    let mut workbook = Workbook::new();
    let sheet = workbook.add_worksheet();
    let heads = ["Name", "Website", "Last checked", "Code", "Price", "Share", "Seen at"];
    for (column, head) in (0..).zip(heads) {
        sheet.write(0, column, head).expect("a cell");
    }
    let format = |code: &str| Format::new().set_num_format(code);
    sheet.write(1, 0, "A").expect("a cell");
    sheet.write_url_with_text(1, 1, "https://a.example/", "Visit").expect("a cell");
    sheet.write_with_format(1, 2, 45_730.7, &format("yyyy-mm-dd hh:mm")).expect("a cell");
    sheet.write_with_format(1, 3, 42, &format("00000")).expect("a cell");
    sheet.write_with_format(1, 4, 1234.5, &format("#,##0.00 \"EUR\"")).expect("a cell");
    sheet.write_with_format(1, 5, 0.25, &format("0%")).expect("a cell");
    sheet.write_with_format(1, 6, 45_730.5, &format("yyyy-mm-dd hh:mm")).expect("a cell");
    let (output, export) = import("t.xlsx", &workbook.save_to_buffer().expect("a workbook"), &["--additional", "*"]);
    let expected = serde_json::json!({"id": "a", "name": "A", "url": "https://a.example/", "evidence_status": "pending-review",
        "evidence_checked_on": "2025-03-14", "Code": "00042", "pricing": "1234.5 EUR", "Share": "25%", "Seen at": "2025-03-14 12:00:00"});
    let text = stderr(&output);
    assert_eq!(export.expect(&text)["software"][0], expected);
    assert!(
        text.contains("times of day were removed from dates (1") && text.contains("taken from the cells' links (1"),
        "{text}"
    );
}

#[test]
fn hidden_worksheets_do_not_count() {
    let mut workbook = Workbook::new();
    let sheet = workbook.add_worksheet();
    for (row, cells) in (0..).zip([["Name", "Website"], ["A", "https://a.example/"]]) {
        sheet.write_row(row, 0, cells).expect("a row");
    }
    sheet.write_formula(1, 2, Formula::new("1+1").set_result("2")).expect("a cell");
    workbook.add_worksheet().set_hidden(true);
    let (output, export) = import("t.xlsx", &workbook.save_to_buffer().expect("a workbook"), &[]);
    assert!(export.is_some(), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("left out: column C has no header; cells with a value: 1, such as `2`"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn everything_inflated_from_an_archive_is_bounded() {
    let long = text("A2", &"x".repeat(2_000_000));
    for (sheet, strings, expected) in [
        (heads("x") + &row(2, &[&long]), ">", "row 2, column A: the cell has more than 1048576 bytes"),
        (heads("x") + &row(2, &[&text("XFE2", "x")]), ">", "row 2 has more than 16384 columns"),
        (heads("x"), r#"uniqueCount="4000000000">"#, "claims to have more shared strings than it does"),
    ] {
        let bytes = workbook(&sheet, "", strings);
        assert!(bytes.len() < 2_000_000);
        let (output, export) = import("t.xlsx", &bytes, &[]);
        assert_eq!((output.status.code(), export), (Some(2), None));
        assert!(stderr(&output).contains(expected), "{expected}: {}", stderr(&output));
    }
}
