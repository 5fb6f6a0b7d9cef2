//! Workbooks: dates, formats, links, formulas, sheets, and limits on their archives.

use std::io::Write as _;

use rust_xlsxwriter::{Format, Formula, Workbook};

use crate::import::{import, stderr};

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
    let bytes = workbook.save_to_buffer().expect("a workbook");
    let (output, export) = import("t.xlsx", &bytes, &[]);
    assert!(export.is_some(), "{}", stderr(&output));
    assert!(stderr(&output).contains("note: read the worksheet `Sheet1`, the only one"), "{}", stderr(&output));
    let sheet = workbook.worksheet_from_name("Sheet2").expect("a worksheet");
    sheet
        .write_row(0, 0, ["Name", "Website"])
        .and_then(|sheet| sheet.write_row(1, 0, ["B", "https://b.example/"]))
        .expect("cells");
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
        text.contains("column C `Tagline`: the file doesn't store the formula's value (1)\n  row 2: `=UPPER(A2)`"),
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

#[test]
fn merged_cells_stand_for_each_row_and_hidden_ones_are_left_out() {
    let mut workbook = Workbook::new();
    let sheet = workbook.add_worksheet();
    let rows = [
        ["Category", "Name", "Website", "Secret"],
        ["", "Hedge", "https://hedge.example/", "a"],
        ["", "Moss", "https://moss.example/", "b"],
        ["Permits", "Oak", "https://oak.example/", "c"],
        ["Permits", "Draft", "https://draft.example/", "d"],
    ];
    for (row, cells) in (0..).zip(rows) {
        sheet.write_row(row, 0, cells).expect("a row");
    }
    sheet.merge_range(1, 0, 2, 0, "Audits", &Format::new()).expect("merged cells");
    sheet.set_row_hidden(4).and_then(|sheet| sheet.set_column_hidden(3)).expect("hidden");
    let (output, export) = import("t.xlsx", &workbook.save_to_buffer().expect("a workbook"), &["--additional", "*"]);
    let text = stderr(&output);
    let software = export.expect(&text)["software"].clone();
    assert_eq!(software.as_array().map(Vec::len), Some(3), "{text}");
    assert_eq!(software[1]["categories"], serde_json::json!(["Audits"]));
    assert!(!software.to_string().contains("Secret"), "{software}");
    assert!(text.contains("left out because the worksheet hides or filters them: row 5"), "{text}");
    assert!(text.contains("left out because the worksheet hides them: column D `Secret`"), "{text}");
}

#[test]
fn grouped_headers_sections_totals_and_remarks_are_recognised() {
    let mut workbook = Workbook::new();
    let sheet = workbook.add_worksheet();
    let rows = [
        ["", "", "", ""],
        ["Name", "Website", "Name", "Email"],
        ["AUDITS", "", "", ""],
        ["Hedge", "https://hedge.example/", "Kim", "kim@mail.example"],
        ["PERMITS", "", "", ""],
        ["Oak", "https://oak.example/", "Sam", "sam@mail.example"],
        ["Total: 2 tools", "", "", ""],
        ["Source: own research", "", "", ""],
    ];
    for (row, cells) in (0..).zip(rows) {
        for (column, cell) in (0..).zip(cells).filter(|(_, cell)| !cell.is_empty()) {
            sheet.write(row, column, cell).expect("a cell");
        }
    }
    for (column, group) in [(0, "Product"), (2, "Contact")] {
        sheet.merge_range(0, column, 0, column + 1, group, &Format::new()).expect("merged cells");
    }
    let (output, export) = import("t.xlsx", &workbook.save_to_buffer().expect("a workbook"), &[]);
    let text = stderr(&output);
    let software = export.expect(&text)["software"].clone();
    assert_eq!(software.as_array().map(Vec::len), Some(2), "{text}");
    assert_eq!((&software[1]["name"], &software[1]["categories"]), (&"Oak".into(), &serde_json::json!(["PERMITS"])));
    for note in [
        "rows 1 and 2 together contain the headers",
        "a total or a remark: row 7 `Total: 2 tools`",
        "a total or a remark: row 8 `Source: own research`",
        "read as headings of sections, in the column `Section`: rows 3, 5",
        "column C `Contact Name`: its header isn't known",
        "  Name     →  name ",
    ] {
        assert!(text.contains(note), "{note}: {text}");
    }
    // Without merged cells, a blank cell belongs to the group on its left.
    let csv = "List of 2025,\nProduct,,Vendor,,Price\nName,Website,Name,Country,\nA,https://a.example/,B,DE,5\n";
    let (output, export) = import("t.csv", csv.as_bytes(), &[]);
    let (text, first) = (stderr(&output), export.expect("an export")["software"][0].clone());
    assert_eq!((&first["vendor"], &first["pricing"]), (&"B".into(), &"5".into()), "{text}");
    assert!(text.contains("column D `Vendor Country`: its header isn't known"), "{text}");
    // A product without an address isn't a heading.
    let csv = "Name,Website\nA,https://a.example/\nB,\nC,https://c.example/\n";
    let (output, export) = import("t.csv", csv.as_bytes(), &[]);
    assert!(export.is_none() && stderr(&output).contains("`url` is missing (1)\n  row 3"), "{}", stderr(&output));
    let csv = "Area,Name,Website\nAudits,A,https://a.example/\n,B,https://b.example/\n";
    let (_, export) = import("t.csv", csv.as_bytes(), &["--blank-means-above", "Area", "--attribute", "Area"]);
    assert_eq!(export.expect("an export")["software"][1]["Area"], "Audits");
}

/// A workbook in the `OpenDocument` format with this content.
fn ods(styles: &str, tables: &str) -> Vec<u8> {
    let content = format!(
        r#"<office:document-content xmlns:office="o" xmlns:table="t" xmlns:text="x" xmlns:style="s" xmlns:xlink="l"><office:automatic-styles>{styles}</office:automatic-styles><office:body><office:spreadsheet>{tables}</office:spreadsheet></office:body></office:document-content>"#
    );
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    zip.start_file("content.xml", zip::write::SimpleFileOptions::default()).expect("a part");
    zip.write_all(content.as_bytes()).expect("memory");
    zip.finish().expect("an archive").into_inner()
}

#[test]
fn opendocument_spreadsheets_are_read_with_their_layout() {
    let cell = |attributes: &str, text: &str| {
        format!(
            r#"<table:table-cell office:value-type="string" {attributes}><text:p>{text}</text:p></table:table-cell>"#
        )
    };
    let row = |attributes: &str, cells: &[String]| {
        format!("<table:table-row {attributes}>{}</table:table-row>", cells.concat())
    };
    let number =
        r#"<table:table-cell office:value-type="float" office:value="4.5"><text:p>4,5</text:p></table:table-cell>"#;
    let link = r#"<table:table-cell office:value-type="string"><office:annotation><text:p>a comment</text:p></office:annotation><text:p><text:a xlink:href="https://moss.example/">Moss &amp; Co</text:a></text:p></table:table-cell>"#;
    let covered = "<table:covered-table-cell/>".to_owned();
    let rows = [
        row("", &["Category", "Name", "Website", "Rating", "Secret"].map(|head| cell("", head))),
        row(
            "",
            &[
                cell(r#"table:number-rows-spanned="2""#, "Audits"),
                cell("", "Hedge"),
                cell("", "https://hedge.example/"),
                number.to_owned(),
                cell("", "a"),
            ],
        ),
        row("", &[covered, link.to_owned(), cell("", "https://moss.example/"), number.to_owned()]),
        row(r#"table:visibility="filter""#, &[cell("", "x"), cell("", "Draft"), cell("", "https://draft.example/")]),
        row(
            r#"table:number-rows-repeated="1048000""#,
            &[r#"<table:table-cell table:number-columns-repeated="16384"/>"#.to_owned()],
        ),
    ];
    let columns =
        r#"<table:table-column table:number-columns-repeated="4"/><table:table-column table:visibility="collapse"/>"#;
    let hidden = r#"<style:style style:name="h"><style:table-properties table:display="false"/></style:style>"#;
    let tables = format!(
        r#"<table:table table:name="Tools">{columns}{}</table:table><table:table table:name="Lists" table:style-name="h"/>"#,
        rows.concat()
    );
    let (output, export) = import("t.ods", &ods(hidden, &tables), &["--additional", "*"]);
    let text = stderr(&output);
    let software = export.expect(&text)["software"].clone();
    assert_eq!(software.as_array().map(Vec::len), Some(2), "{text}");
    assert_eq!(
        (&software[1]["name"], &software[1]["categories"], &software[1]["rating"]),
        (&"Moss & Co".into(), &serde_json::json!(["Audits"]), &serde_json::json!(4.5))
    );
    assert!(text.contains("filters them: row 4") && text.contains("hides them: column E `Secret`"), "{text}");
    let wide = r#"<table:table table:name="A"><table:table-row><table:table-cell table:number-columns-repeated="99999" office:value-type="string"><text:p>x</text:p></table:table-cell></table:table-row></table:table>"#;
    let (output, _) = import("t.ods", &ods("", wide), &[]);
    assert!(stderr(&output).contains("row 1 has more than 16384 columns"), "{}", stderr(&output));
    let tall = wide
        .replace("99999", "100")
        .replace("<table:table-row>", r#"<table:table-row table:number-rows-repeated="900000000">"#);
    let (output, _) = import("t.ods", &ods("", &tall), &[]);
    assert!(stderr(&output).contains("spans more than 20000000 cells"), "{}", stderr(&output));
    let cell = |attributes: &str, text: &str| {
        format!(
            r#"<table:table-cell {attributes} office:value-type="string"><text:p>{text}</text:p></table:table-cell>"#
        )
    };
    let group = cell(r#"table:number-columns-spanned="600""#, &"x".repeat(1 << 20));
    let covered = r#"<table:covered-table-cell table:number-columns-repeated="599"/>"#;
    let grouped = format!(
        r#"<table:table table:name="A"><table:table-row>{group}{covered}{}</table:table-row><table:table-row>{}</table:table-row></table:table>"#,
        cell("", "y"),
        cell(r#"table:number-columns-repeated="601""#, "z")
    );
    let (output, _) = import("t.ods", &ods("", &grouped), &[]);
    assert!(stderr(&output).contains("more than 536870912 bytes in total"), "{}", stderr(&output));
}
