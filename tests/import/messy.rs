//! Tables the way people keep them: the import reads whatever a person would understand, refuses
//! ambiguity and loses nothing.

use serde_json::json;

use crate::import::{import, stderr};

const HEADS: &str = "Name;Website";

/// A table with a third column after the name and website, and a row for each value.
fn with_column(head: &str, values: &[&str]) -> Vec<u8> {
    let quoted = |value: &str| format!("\"{}\"", value.replace('"', "\"\""));
    let rows = values.iter().enumerate().map(|(n, value)| format!("P{n};https://p{n}.example/;{}", quoted(value)));
    let lines: Vec<_> = std::iter::once(format!("{HEADS};{head}")).chain(rows).collect();
    lines.join("\n").into_bytes()
}

/// A property's values in the export, and the output.
fn values(head: &str, cells: &[&str], property: &str, more: &[&str]) -> (Vec<serde_json::Value>, String) {
    let (output, export) = import("t.csv", &with_column(head, cells), more);
    let software = export.map_or_else(Vec::new, |export| export["software"].as_array().expect("records").clone());
    (software.iter().map(|record| record[property].clone()).collect(), stderr(&output))
}

#[test]
fn a_column_with_an_unknown_header_is_left_out_and_reported() {
    let (found, text) = values("Internal note", &["never publish"], "Internal note", &[]);
    assert_eq!(found, [json!(null)]);
    assert!(text.contains("column C `Internal note`: its header isn't known"), "{text}");
    let (found, _) = values("Internal note", &["publish"], "Internal note", &["--additional", "Internal note"]);
    assert_eq!(found, [json!("publish")]);
    let (_, text) = values("Note", &["x"], "Note", &["--additional", "Nota"]);
    assert!(text.contains("no column `Nota`; its columns are `Name`, `Website`, `Note`"), "{text}");
}

#[test]
fn evidence_ratings_and_alternatives_are_never_guessed() {
    for (head, value, property, reason) in [
        ("Source", "https://git.example/x", "sources", "evidence is never guessed"),
        ("Alternatives", "Small Chat", "alternative_to", "is what the product replaces"),
        ("Rating", "1234", "rating", "ratings must be between 0 and 5"),
        ("Stars", "4", "rating", "its header isn't known"),
        ("Language", "Python", "languages", "it has programming languages"),
    ] {
        let (found, text) = values(head, &[value], property, &[]);
        assert_eq!(found, [json!(null)], "{head}");
        assert!(text.contains(reason), "{text}");
    }
}

#[test]
fn a_template_fills_in_addresses_that_rows_lack() {
    let csv = b"Name;Website;Repo\nA;;https://git.example/a\nB;https://b.example/;https://git.example/b\n";
    let (output, export) = import("t.csv", csv, &[]);
    let text = stderr(&output);
    assert!(
        export.is_none() && text.contains("--map '{Repo}=url' uses the one in `Repo`, which 1 of these rows have"),
        "{text}"
    );
    let (output, export) = import("t.csv", csv, &["--map", "{Repo}=url"]);
    let export = export.unwrap_or_else(|| panic!("{}", stderr(&output)));
    let urls = export["software"].as_array().expect("records").iter().map(|record| &record["url"]);
    assert_eq!(urls.collect::<Vec<_>>(), [&json!("https://git.example/a"), &json!("https://b.example/")]);
    let (output, _) = import("t.csv", csv, &["--map", "https://a.example/{Code}=url"]);
    assert!(stderr(&output).contains("the table has no column `Code`"), "{}", stderr(&output));
}

#[test]
fn addresses_numbers_and_placeholders_are_understood() {
    let csv = "Name;Website;Rating;Vendor\nA;www.a.example;4,5;k.A.\nB;https://b.example/;3,0;-\n";
    let (output, export) = import("t.csv", csv.as_bytes(), &[]);
    let text = stderr(&output);
    let export = export.expect(&text);
    let first = &export["software"][0];
    assert_eq!(
        (&first["url"], &first["rating"], &first["vendor"]),
        (&json!("https://www.a.example"), &json!(4.5), &json!(null))
    );
    assert!(
        text.contains("https:// was added to addresses that begin with www. (1, such as `www.a.example` in row 2)"),
        "{text}"
    );
    assert!(
        text.contains("note: words for \"no value\" were read as empty cells (2, such as `k.A.` in row 2)"),
        "{text}"
    );
    let (_, text) = values("Rating", &["4,5", "3.500"], "rating", &[]);
    assert!(text.contains("the numbers use both `,` and `.`"), "{text}");
    let (found, text) = values("Rating", &["4,5", "3.5"], "rating", &[]);
    assert_eq!(found, [json!(4.5), json!(3.5)], "{text}");
}

#[test]
fn dates_are_read_in_the_formats_that_the_column_implies() {
    let (found, text) = values(
        "Last checked",
        &["1/2/2025 0:00", "12/31/2025 0:00", "12/31/2025 14:05:00", "07-Jan-18"],
        "evidence_checked_on",
        &[],
    );
    assert_eq!(found, ["2025-01-02", "2025-12-31", "2025-12-31", "2018-01-07"], "{text}");
    assert!(text.contains("times of day were removed from dates (1"), "{text}");
    let (found, text) = values("Last checked", &["10.01.24", "November 2024"], "evidence_checked_on", &[]);
    assert_eq!(found, [json!("2024-01-10"), json!(null)]);
    assert!(text.contains("a date without a day was kept as text"), "{text}");
    for range in ["2025-12-31 bis 2026-01-31", "31.12.2025 (geplant)", "2025-12-31Tomorrow"] {
        let (found, text) = values("Last checked", &[range], "evidence_checked_on", &[]);
        assert!(found.is_empty() && text.contains("the value isn't a date (1)") && text.contains(range), "{text}");
    }
}

#[test]
fn lists_are_split_on_commas_only_if_the_pieces_recur() {
    let (found, text) = values("Tags", &["audit, iso", "audit", "iso, permits", "audit, ledger"], "tags", &[]);
    assert_eq!(
        found,
        [json!(["audit", "iso"]), json!(["audit"]), json!(["iso", "permits"]), json!(["audit", "ledger"])],
        "{text}"
    );
    let (found, text) = values("Tags", &["audit, ledger, iso"], "tags", &[]);
    assert_eq!(found, [json!(["audit, ledger, iso"])]);
    assert!(text.contains("to split it at commas, use --split-commas \"Tags\""), "{text}");
    let (found, _) = values("Tags", &["audit, ledger, iso"], "tags", &["--split-commas", "Tags"]);
    assert_eq!(found, [json!(["audit", "ledger", "iso"])]);
}

#[test]
fn each_cause_is_reported_once_with_its_count_and_examples() {
    let (found, text) = values("Last checked", &["soon 2025"; 5], "x", &[]);
    assert!(found.is_empty());
    let expected = "error: column C `Last checked`: the value isn't a date (5)\n  row 2: `soon 2025`\n  row 3: `soon 2025`\n  row 4: \
                    `soon 2025`\n  and 2 more\n  fix: write it as YYYY-MM-DD, or clear the cell\n";
    assert!(text.contains(expected), "{text}");
    assert!(text.contains("the table has errors (total: 5, causes: 1)"), "{text}");
}

#[test]
fn valid_rows_are_written_and_the_rest_are_set_aside() {
    let folder = tempfile::tempdir().expect("a folder");
    let csv = "Name,Website,Last checked,Note\nA,https://a.example/,soon 2025,x\nB,not an address,,y\nC,https://c.example/,2025-01-02,z\n";
    std::fs::write(folder.path().join("t.csv"), csv).expect("a file");
    let arguments = [
        "import",
        "t.csv",
        "-o",
        "out.json",
        "--name",
        "N",
        "--license",
        "https://l.example/",
        "--yes",
        "--valid-rows",
    ];
    let output = crate::import::run(folder.path(), &arguments);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).expect("a file");
    let export: serde_json::Value = serde_json::from_str(&read("out.json")).expect("JSON");
    assert_eq!(export["software"].as_array().map(Vec::len), Some(1));
    let rejected = read("out.rejected.csv");
    assert!(rejected.starts_with("Name,Website,Last checked,Note,Reason\r\nA,https://a.example/,soon 2025,x,Last checked: the value isn't a date\r\nB,not an address,,y,\"Website: "), "{rejected}");
    assert_eq!(rejected.lines().count(), 3);
    std::fs::write(
        folder.path().join("out.rejected.csv"),
        rejected.replace("soon 2025", "2025-03-04").replace("not an address", "https://b.example/"),
    )
    .expect("a file");
    let output = crate::import::run(folder.path(), &["import", "out.rejected.csv", "--yes"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let export: serde_json::Value = serde_json::from_str(&read("out.json")).expect("JSON");
    assert_eq!(export["software"].as_array().map(Vec::len), Some(3));
}

#[test]
fn thousands_of_errors_are_grouped_into_a_few_causes() {
    let rows: Vec<_> = (0..3_000).map(|n| format!("P{n};no address {n};https://p{n}.example/\n")).collect();
    let csv = format!("Name;Website;Link\nP;https://p.example/;x\n{}", rows.concat());
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("t.csv"), csv).expect("a file");
    std::fs::write(folder.path().join("m.json"), r#"{"columns": {"Name": "name", "Website": "url", "Link": null}}"#)
        .expect("a file");
    let arguments =
        ["import", "t.csv", "-o", "out.json", "--name", "N", "--license", "https://l.example/", "--mapping", "m.json"];
    let output = crate::import::run(folder.path(), &arguments);
    let text = stderr(&output);
    assert!(text.contains("has no scheme, such as https: (3000)\n") && text.contains("and 2997 more\n"), "{text}");
    assert!(text.contains("the table has errors (total: 3000, causes: 1)"), "{text}");
    let output = crate::import::run(folder.path(), &[&arguments[..], &["--valid-rows"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let rejected = std::fs::read_to_string(folder.path().join("out.rejected.csv")).expect("a file");
    assert_eq!((rejected.lines().count(), rejected.matches("has no scheme").count()), (3_001, 3_000));
}

#[test]
fn fixes_that_need_no_judgement_are_applied_on_request() {
    let csv = "Name,Website\nA,a.example\nB,https:/b.example/x\nB,https:/b.example/x\n";
    let (output, export) = import("t.csv", csv.as_bytes(), &[]);
    let text = stderr(&output);
    assert!(export.is_none() && text.contains("(total: 1, causes: 1)"), "{text}");
    let (output, export) = import("t.csv", csv.as_bytes(), &["--fix"]);
    let text = stderr(&output);
    let export = export.expect(&text);
    assert_eq!(export["software"].as_array().map(Vec::len), Some(2));
    assert_eq!(export["software"][1]["url"], "https://b.example/x");
    assert!(text.contains("were repaired (2") && text.contains("it's identical to another row (1"), "{text}");
}

#[test]
fn names_that_collide_get_a_suffix_on_request() {
    let csv = "Name,Website\nMoss,https://a.example/\nMOSS,https://b.example/\n";
    let (output, export) = import("t.csv", csv.as_bytes(), &["--unique-ids"]);
    assert_eq!(export.unwrap_or_else(|| panic!("{}", stderr(&output)))["software"][1]["id"], "moss-2");
}

#[test]
fn values_are_translated_and_empty_cells_fall_back_to_another_column() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("a file");
    write(
        "t.csv",
        "Name,Repo,Home,Prüfstatus\nA,https://git.example/a,,Offen\nB,https://git.example/b,https://b.example/,offen\n",
    );
    write("values.json", r#"{"offen": "pending-review"}"#);
    write(
        "m.json",
        r#"{"columns": {"Name": "name", "Home": "url", "Repo": "fallback:url", "Prüfstatus": "evidence_status"}}"#,
    );
    let arguments =
        ["import", "t.csv", "-o", "out.json", "--name", "N", "--license", "https://l.example/", "--mapping", "m.json"];
    let output = crate::import::run(folder.path(), &arguments);
    let text = stderr(&output);
    assert!(text.contains("the value isn't one of") && text.contains("--map-values"), "{text}");
    let output =
        crate::import::run(folder.path(), &[&arguments[..], &["--map-values", "Prüfstatus=values.json"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let export: serde_json::Value =
        serde_json::from_slice(&std::fs::read(folder.path().join("out.json")).expect("a file")).expect("JSON");
    assert_eq!(export["software"][0]["url"], "https://git.example/a");
    assert_eq!(export["software"][1]["url"], "https://b.example/");
    assert_eq!(export["software"][0]["evidence_status"], "pending-review");
}

#[test]
fn foreign_json_is_read_as_a_table() {
    let ndjson = r#"{"name":"Moss","website_url":"https://moss.example/","vendor":null,"secret":1}"#;
    let (output, export) = import("t.ndjson", ndjson.as_bytes(), &[]);
    let expected =
        json!({"id": "moss", "name": "Moss", "url": "https://moss.example/", "evidence_status": "pending-review"});
    assert_eq!(export.unwrap_or_else(|| panic!("{}", stderr(&output)))["software"][0], expected);
    let json = r#"{"moss": {"title": "Moss", "homepage": "www.moss.example", "tags": "a; b", "category": ["c", "d"]}}"#;
    let (output, export) = import("t.json", json.as_bytes(), &[]);
    let expected = json!({"id": "moss", "name": "Moss", "url": "https://www.moss.example", "tags": ["a", "b"],
        "categories": ["c", "d"], "evidence_status": "pending-review"});
    assert_eq!(export.unwrap_or_else(|| panic!("{}", stderr(&output)))["software"][0], expected);
}

#[test]
fn values_are_never_cut_on_a_guess() {
    for cells in [
        &["Health, Safety and Environment", "Safety and Environment", "x"][..],
        &["Birmingham, UK", "UK", "London, UK"],
        &["ISO 9001, 2015", "ISO 9001", "2015"],
        &["Audits, Permits (hot work, LOTO), x", "Audits", "x"],
        &["Permits, Health, Safety and Environment", "Permits; Health, Safety and Environment", "Health"],
        &["4,50", "9,50", "4", "50", "gratis"],
        &["Windows / macOS", "Windows", "macOS"],
        &["a • b", "a", "b"],
    ] {
        let (found, text) = values("Standort", cells, "Standort", &["--attribute", "Standort"]);
        assert_eq!(found.first(), Some(&json!(cells[0])), "{text}");
    }
    // Whole values protect themselves even if commas certainly separate the others.
    let cells = ["Audits, Health, Safety and Environment", "x; Health, Safety and Environment"];
    let (found, text) = values("Tags", &cells, "tags", &["--split-commas", "Tags"]);
    assert_eq!(found[0], json!(["Audits", "Health, Safety and Environment"]), "{text}");
    let (found, _) = values("Tags", &["#audit #iso", "a • b", "a、b", "['x', 'y']", "R&amp;D; Q&A"], "tags", &[]);
    let expected =
        [json!(["audit", "iso"]), json!(["a", "b"]), json!(["a", "b"]), json!(["x", "y"]), json!(["R&D", "Q&A"])];
    assert_eq!(found, expected);
}

#[test]
fn codes_versions_and_text_formulas_stay_as_written() {
    for (head, cells, expected) in [
        ("Zip", &["01234", "10115"][..], json!("01234")),
        ("Version", &["1.10", "1.9"], json!("1.10")),
        ("Seats", &["10", "20"], json!(10)),
    ] {
        let (found, text) = values(head, cells, head, &["--attribute", head]);
        assert_eq!(found[0], expected, "{text}");
    }
    let csv = "Name;Website;Note\n\"=HYPERLINK(\"\"https://a.example/\"\";\"\"Moss\"\")\";https://a.example/;\"=\"\"00123\"\"\"\n";
    let (output, export) = import("t.csv", csv.as_bytes(), &["--additional", "Note"]);
    let export = export.unwrap_or_else(|| panic!("{}", stderr(&output)));
    assert_eq!((&export["software"][0]["name"], &export["software"][0]["Note"]), (&json!("Moss"), &json!("00123")));
    // Only whole cells are links, and only Notion's addresses are in parentheses.
    for (cell, expected) in [
        ("A (https://www.notion.so/a?x=1), B (https://www.notion.so/b)", "A; B"),
        ("See [Moss](https://m.example/)", "See [Moss](https://m.example/)"),
        ("Acme (https://acme.example/)", "Acme (https://acme.example/)"),
        ("R&amp;D &#38; Q&A; x", "R&D & Q&A; x"),
        ("=n", "=n"),
    ] {
        let (found, text) = values("Note", &[cell], "Note", &["--additional", "Note"]);
        assert_eq!(found, [expected], "{text}");
    }
    let (_, text) = values("Price", &["=12*4"], "pricing", &[]);
    assert!(text.contains("the file doesn't store the formula's value (1)\n  row 2: `=12*4`"), "{text}");
    // The address of a link becomes the product's address if there's no other.
    let csv =
        "Name,Category\n[Hedge](https://hedge.example/),Audits\n\"<a href=\"\"https://m.example/\"\">Moss</a>\",A\n";
    let (output, export) = import("t.csv", csv.as_bytes(), &[]);
    let export = export.unwrap_or_else(|| panic!("{}", stderr(&output)));
    assert_eq!(
        (&export["software"][1]["name"], &export["software"][1]["url"]),
        (&json!("Moss"), &json!("https://m.example/"))
    );
}

#[test]
fn words_for_no_value_are_empty_unless_the_column_shows_that_they_are_values() {
    let (found, text) = values("Vendor", &["nan", "None", "(blank)", "TBD", "?", "Acme"], "vendor", &[]);
    assert_eq!(found, [json!(null), json!(null), json!(null), json!(null), json!(null), json!("Acme")], "{text}");
    assert!(text.contains("words for \"no value\" were read as empty cells (5, such as `nan` in row 2)"), "{text}");
    let (found, _) = values("Country", &["DE", "NA", "FR", "IT"], "Country", &["--attribute", "Country"]);
    assert_eq!(found, ["DE", "NA", "FR", "IT"]);
    let (found, text) = values("Rating", &["4.5", "NaN"], "rating", &[]);
    assert_eq!(found, [json!(4.5), json!(null)], "{text}");
    // R quotes all text, so only a word without quotes means "no value".
    let csv = "\"name\",\"url\",\"vendor\"\n\"A\",\"https://a.example/\",NA\n\"NA\",\"https://b.example/\",\"NA\"\n";
    let (output, export) = import("t.csv", csv.as_bytes(), &[]);
    let export = export.unwrap_or_else(|| panic!("{}", stderr(&output)));
    assert_eq!((&export["software"][0]["vendor"], &export["software"][1]["vendor"]), (&json!(null), &json!("NA")));
    // An update keeps a value rather than replace it with such a word.
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("a file");
    let before = r#"{"name":"N","license":"https://l.example/","software":[{"id":"a","name":"A","url":"https://a.example/","vendor":"V","evidence_status":"pending-review"}]}"#;
    write("e.json", before);
    write("t.csv", "id,name,url,vendor\na,A,https://a.example/,n/a\n");
    let output = crate::import::run(folder.path(), &["import", "t.csv", "--update", "e.json", "--yes"]);
    assert_eq!(std::fs::read_to_string(folder.path().join("e.json")).expect("a file"), before, "{}", stderr(&output));
}

#[test]
fn each_kind_of_bad_address_has_its_own_fix() {
    let csv = "name,url\nA,https://a b.example/\nB,kein Link\nC,https://müller.example/\nD,d.example\nE,e.example\n";
    let (output, _) = import("t.csv", csv.as_bytes(), &[]);
    let text = stderr(&output);
    for expected in [
        "it contains ` ` (1)\n  row 2: `https://a b.example/`\n  fix: write `%20` instead",
        "its host contains `ü` (1)\n  row 4: `https://müller.example/`\n  fix: write the host in Punycode: \"https://xn--mller-kva.example/\"",
        "  row 5: `d.example` (write \"https://d.example\")\n  row 6: `e.example` (write \"https://e.example\")\n",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    let (_, export) = import("t.csv", csv.as_bytes(), &["--fix", "--valid-rows"]);
    let software = export.expect("an export")["software"].clone();
    assert_eq!(software.as_array().map(Vec::len), Some(3));
    assert_eq!(software[0]["url"], "https://xn--mller-kva.example/");
    let csv = "name,package,main file,page\nHedge,org.example.hedge,hedge.py,https://hedge.example/\n";
    let (_, export) = import("t.csv", csv.as_bytes(), &[]);
    assert_eq!(export.expect("an export")["software"][0]["url"], "https://hedge.example/");
}

#[test]
fn ratings_on_another_scale_are_converted_if_the_header_states_it() {
    let (found, text) = values("Rating (1–10)", &["8", "7.5"], "rating", &[]);
    assert_eq!(found, [json!(4), json!(3.75)], "{text}");
    assert!(text.contains("from a scale that ends at 10 to one that ends at 5 (2"), "{text}");
    let (found, _) = values("Rating", &["8"], "rating", &[]);
    assert_eq!(found, [json!(null)]);
}

#[test]
fn faulty_rows_are_all_reported_and_set_aside() {
    let csv = "Name,Website,Note\nA,https://a.example/,x,y\nB,https://b.example/,\"open\nC,https://c.example/,z\nD,https://d.example/,1,2\n";
    let (output, export) = import("t.csv", csv.as_bytes(), &[]);
    let text = stderr(&output);
    assert!(export.is_none() && text.contains("the row has 4 cells, but there are 3 columns (2)"), "{text}");
    assert!(text.contains("a quote that starts a cell is never closed (1)\n  row 3: `B`"), "{text}");
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("t.csv"), csv).expect("a file");
    let arguments =
        ["import", "t.csv", "-o", "o.json", "--name", "N", "--license", "https://l.example/", "--yes", "--valid-rows"];
    let output = crate::import::run(folder.path(), &arguments);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let rejected = std::fs::read_to_string(folder.path().join("o.rejected.csv")).expect("a file");
    assert!(rejected.contains("\r\nA,https://a.example/,\"x,y\",\"the row has 4 cells"), "{rejected}");
    let ndjson = "{\"name\":\"A\",\"url\":\"https://a.example/\"}\n{broken\n[1]\n";
    let (output, export) = import("t.ndjson", ndjson.as_bytes(), &["--valid-rows"]);
    assert_eq!(export.expect("an export")["software"].as_array().map(Vec::len), Some(1), "{}", stderr(&output));
}

#[test]
fn bad_cells_are_left_out_on_request_and_their_products_kept() {
    let csv = "Name,Website,Last checked,Repository\nA,https://a.example/,soon 2025,https://git.example/a\nB,https://b.example/,2025-01-02,x y\nC,no address,2025-01-02,\n";
    let (output, export) = import("t.csv", csv.as_bytes(), &["--drop-bad-cells", "--valid-rows"]);
    let text = stderr(&output);
    let software = export.expect(&text)["software"].clone();
    assert_eq!(software.as_array().map(Vec::len), Some(2), "{text}");
    assert!(text.contains("Left out because of errors: 1 cell; their products are kept."), "{text}");
    assert_eq!((&software[0]["evidence_checked_on"], &software[1]["name"]), (&json!(null), &json!("B")));
}

#[test]
fn json_is_cleaned_up_like_csv() {
    let json = r#"[{"id":7,"name":2048,"url":" https://a.example/ ","tags":[" audit ","iso","audit"],"vendor":"n/a","categories":"Audits "}]"#;
    let (output, export) = import("t.json", json.as_bytes(), &[]);
    let expected = json!({"id": "7", "name": "2048", "url": "https://a.example/", "tags": ["audit", "iso"],
        "categories": ["Audits"], "evidence_status": "pending-review"});
    assert_eq!(export.unwrap_or_else(|| panic!("{}", stderr(&output)))["software"][0], expected);
}

#[test]
fn yaml_and_markdown_are_read_and_other_formats_are_named() {
    let yaml = "tools:\n  - name: Hedge\n    url: https://hedge.example/\n    tags: [audit, iso]\n";
    let (output, export) = import("t.yaml", yaml.as_bytes(), &[]);
    let export = export.unwrap_or_else(|| panic!("{}", stderr(&output)));
    assert_eq!(export["software"][0]["tags"], json!(["audit", "iso"]));
    let markdown = "# Tools\n\n## Audits\n| Name | Website |\n|---|---|\n| [Hedge](https://hedge.example/) | https://hedge.example/ |\n\n## Permits\n| Name | Website |\n|---|---|\n| Moss | https://moss.example/ |\n";
    let (output, export) = import("t.md", markdown.as_bytes(), &[]);
    let export = export.unwrap_or_else(|| panic!("{}", stderr(&output)));
    assert_eq!(
        (&export["software"][0]["name"], &export["software"][1]["categories"]),
        (&json!("Hedge"), &json!(["Permits"]))
    );
    for (file, content, expected) in [
        ("t.toml", "[a]\nb = 1\n", "this is TOML"),
        ("t.opml", "<?xml version=\"1.0\"?><opml/>", "this is OPML"),
        ("t.csv", "<!DOCTYPE html><table></table>", "this is HTML"),
        ("t.yaml", "a: !x 1\n", "line 1: the tag `!x` isn't supported"),
    ] {
        let (output, export) = import(file, content.as_bytes(), &[]);
        assert_eq!((output.status.code(), export), (Some(2), None));
        assert!(stderr(&output).contains(expected), "{}", stderr(&output));
    }
}
