//! Headers, CSV, JSON, YAML and Markdown: what each form of them becomes.

use software_directory::curate::tabular::{self, Cell, Mapping, ReadOptions, Table};
use software_directory::curate::yaml::to_json;

fn table(text: &str, extension: &str, sheet: Option<&str>) -> Result<Table, String> {
    let options = ReadOptions { sheet, ..ReadOptions::default() };
    tabular::parse(text.as_bytes(), extension, options, &|_, _| {}).map_err(|error| error.to_string())
}

/// The target proposed for a column with this header and value.
fn target(head: &str, value: &str) -> String {
    let table = table(&format!("\"{head}\"\t{value}\n").replace('\t', "\n"), "csv", None).expect("a table");
    Mapping::propose(&table).columns[0].target.to_string()
}

#[test]
fn headers_are_compared_without_what_they_add() {
    for (head, value, expected) in [
        ("tool_name", "x", "name"),
        ("toolnaam", "x", "name"),
        ("Name der Software", "x", "name"),
        ("What is the tool called?", "x", "name"),
        ("ToolURL", "https://a.example/", "url"),
        ("foaf:homepage", "https://a.example/", "url"),
        ("Link to the tool", "https://a.example/", "url"),
        ("dct:description@en", "x", "description"),
        ("Which category fits?", "x", "categories"),
        ("Web-Adresse", "https://a.example/", "url"),
        ("Preis/Monat", "x", "pricing"),
        ("Price (EUR)", "x", "pricing"),
        ("How much does it cost per month?", "x", "pricing"),
        ("Vendor name", "x", "vendor"),
        ("Bewertung (1–10)", "9", "rating"),
        ("Score %", "90", "not used"),
        ("Rating %", "90", "rating"),
        ("Rating", "9", "not used"),
        ("Rating (1-6)", "6", "not used"),
        ("会社名", "x", "vendor"),
        ("제품명", "x", "name"),
        ("Strona internetowa", "https://a.example/", "url"),
        ("Contact name", "x", "not used"),
        ("Your email address", "x", "not used"),
        ("PublisherURL", "https://a.example/", "not used"),
        ("Is it open source?", "x", "not used"),
        ("Price Pro", "x", "not used"),
    ] {
        assert_eq!(target(head, value), expected, "{head}");
    }
}

fn converted(yaml: &str) -> String {
    to_json(yaml, 1_000).unwrap_or_else(|error| error.to_string())
}

#[test]
fn yaml_is_read_as_json_in_the_same_order() {
    let yaml = "- name: A\n  zip: 01234\n  version: 1.10\n  on: 2025-01-02\n  tags: &t [x, \"1\", yes, ~, true]\n- {tags: *t, empty: }\n";
    let json = r#"[{"name":"A","zip":"01234","version":1.10,"on":"2025-01-02","tags":["x","1","yes",null,true]},{"tags":["x","1","yes",null,true],"empty":null}]"#;
    assert_eq!(converted(yaml), json);
    assert_eq!(converted("a: 1\n---\na: |\n  x\n  y\n"), r#"[{"a":1},{"a":"x\ny\n"}]"#);
    assert_eq!((converted(""), converted("[[], {}]")), ("[]".into(), "[[],{}]".into()));
}

#[test]
fn whatever_is_unsafe_or_ambiguous_is_refused_with_its_line() {
    for (yaml, expected) in [
        ("a: 1\nb: !!python/object x\n", "line 2: the tag `tag:yaml.org,2002:python/object` isn't supported"),
        ("a: 1\na: 2\n", "line 2: the key `a` is used twice"),
        ("a: &x [*x]\n", "line 1: an alias refers to a value that contains it"),
        ("a: &x {b: 1}\nc:\n  <<: *x\n", "line 3: merge keys"),
        ("? [a]\n: b\n", "line 1: a key must be text"),
        ("a: [1\n", "line 2: "),
    ] {
        assert!(converted(yaml).starts_with(expected), "{yaml}: {}", converted(yaml));
    }
    let line = |n: usize| format!("- &a{n} [{}]\n", format!("*a{},", n - 1).repeat(9));
    let bomb = (1..9).map(line).collect::<Vec<_>>().concat();
    assert!(converted(&format!("- &a0 [x]\n{bomb}")).contains("more than 1000 bytes, which is the limit"));
    assert!(converted(&"[".repeat(200)).contains("more than 100 levels deep"));
}

#[test]
fn markdown_tables_with_the_same_columns_are_one_with_their_headings() {
    let text = "# List\n\n## Audits\n\n| Name | Website |\n|---|:--|\n| **Moss** | a \\| b |\n\n## Permits\nName|Website\n-|-\nOak|c\n";
    let read = |text: &str, sheet| table(text, "md", sheet);
    let tools = read(text, None).expect("a table");
    assert_eq!(tools.heads, ["Name", "Website", "Section"]);
    let rows: Vec<_> = tools.rows.iter().map(|row| (row.number, row.cells[0].text(), row.cells[1].text())).collect();
    assert_eq!(rows, [(7, Some("Moss"), Some("a | b")), (12, Some("Oak"), Some("c"))]);
    assert_eq!(tools.rows[1].cells[2].text(), Some("Permits"));
    assert_eq!(read(text, Some("Permits")).expect("a table").heads, ["Name", "Website"]);
    assert!(read(text, Some("x")).expect_err("none").contains("choose one with --sheet: Audits, Permits"));
    assert!(read("a | b\n", None).expect_err("no table").contains("no Markdown table"));
    let different = "# A\n|a|b|\n|-|-|\n|1|2|\n# B\n|a|c|\n|-|-|\n|1|2|\n";
    assert!(
        read(different, None)
            .expect_err("two")
            .contains("2 tables with different columns; choose one with --sheet: A, B")
    );
}

#[test]
fn text_that_is_copied_to_many_cells_is_bounded_by_the_limit_for_all_cells() {
    let long = "x".repeat(1 << 20);
    let rows = |row: &str| row.repeat(600);
    let blank = ["Vendor".to_owned()];
    let options = ReadOptions { blank_means_above: &blank, ..ReadOptions::default() };
    for (text, extension, options) in [
        (format!("Name,Vendor\nA,{long}\n{}", rows("B,\n")), "csv", options),
        (format!("Name,Vendor\n{long},\n{}", rows("B,C\n")), "csv", ReadOptions::default()),
        (
            format!("Product,,{long}{}\nName,URL{}\nB,C\n", ",".repeat(600), ",Vendor".repeat(600)),
            "csv",
            ReadOptions::default(),
        ),
        (
            format!("# {long}\n| Name |\n|---|\n{}# y\n| Name |\n|---|\n| C |\n", rows("| B |\n")),
            "md",
            ReadOptions::default(),
        ),
    ] {
        let table = tabular::parse(text.as_bytes(), extension, options, &|_, _| {});
        let error = table.err().map(|error| error.to_string()).unwrap_or_default();
        assert!(error.starts_with("the cells have more than 536870912 bytes in total"), "{extension}: {error}");
    }
}

fn read(csv: &str, header_row: Option<u64>) -> Table {
    let options = ReadOptions { header_row, ..ReadOptions::default() };
    tabular::parse(csv.as_bytes(), "csv", options, &|_, _| {}).expect("a table")
}

#[test]
fn headers_are_found_below_titles() {
    let table = read("# exported 2025,\n\nName,Website\nA,https://a.example/\n", None);
    assert_eq!((table.heads.join(" "), table.rows[0].number), ("Name Website".into(), 4));
    assert!(table.notes[0].starts_with("row 3 contains the headers"), "{:?}", table.notes);
    let table = read("Software\nFoo,Bar\na,b\n", None);
    assert_eq!(table.heads, ["Foo", "Bar"]);
    let table = read("Foo,Bar\nName,Website\na,b\n", Some(1));
    assert_eq!((table.heads.join(" "), table.rows.len()), ("Foo Bar".into(), 2));
    let table = read("Title\nSoftware\n", None);
    assert_eq!((table.heads.join(" "), table.rows.len()), ("Title".into(), 1));
}

#[test]
fn repeated_headers_are_distinguished_by_their_columns() {
    let table = read("Name,Website,Website\na,b,c\n", None);
    assert_eq!(table.heads, ["Name", "Website", "Website (column C)"]);
    assert_eq!(table.repeated, [vec![1, 2]]);
}

#[test]
fn a_row_that_repeats_the_headers_is_left_out_and_reported() {
    let table = read("Name,Website\na,b\nName,Website\nc,d\n", None);
    assert_eq!(table.rows.len(), 2);
    assert!(table.notes[0].ends_with("it repeats the headers: row 3"), "{:?}", table.notes);
}

#[test]
fn columns_without_headers_are_reported_once() {
    let table = read("Name,Website,,,\na,b,,secret,\nc,d,,x,\n", None);
    assert_eq!(
        table.notes,
        ["left out: column D has no header; cells with a value: 2, such as `secret` (give it a header to use it)"]
    );
    assert!(read("Name,Website,,,\na,b,,,\n", None).notes.is_empty());
}

#[test]
fn invisible_characters_are_not_part_of_a_header() {
    let table = read("Name\u{a0},\u{200b}Website,Last\u{a0}checked\nA\u{a0},\u{200b}https://a.example/ ,x\n", None);
    assert_eq!(table.heads, ["Name", "Website", "Last checked"]);
    assert_eq!(table.rows[0].cells[1].text(), Some("https://a.example/"));
}

fn document(json: &str) -> Result<Table, String> {
    table(json, "json", None)
}

#[test]
fn arrays_and_objects_keyed_by_id_are_read_as_tables() {
    let table = document(r#"[{"name": "A"}, {"url": "u", "name": "B"}]"#).expect("a table");
    assert_eq!((table.heads.join(" "), table.row_name(table.rows[1].number)), ("name url".into(), "record 2".into()));
    let table = document(r#"{"a": {"name": "A"}, "b": {"name": "B"}}"#).expect("a table");
    assert_eq!(table.rows[1].cells, [Cell::Json("\"b\"".into()), Cell::Json("\"B\"".into())]);
    assert!(document(r#"{"a": {"id": "a", "name": "A"}}"#).is_ok());
    assert!(document(r#"{"a": {"id": "x", "name": "A"}}"#).is_err());
    assert!(document(r#"{"name": "N", "software": []}"#).expect_err("an export").contains("see check"));
    let table = document(r#"{"version": 1, "tools": [{"name": "A"}]}"#).expect("a table");
    assert_eq!((table.rows.len(), table.notes.len()), (1, 1));
    let several = r#"{"tags": [{"name": "t"}], "tools": [{"name": "A"}]}"#;
    assert!(document(several).expect_err("several").contains("2 lists; choose one with --sheet: tags, tools"));
    let table = self::table(several, "json", Some("tools")).expect("a table");
    assert_eq!(table.rows[0].cells, [Cell::Json("\"A\"".into())]);
    assert!(document(r#"{"a": 1}"#).is_err() && document("{").is_err());
}

#[test]
fn a_key_used_twice_is_an_error_with_its_line() {
    let lines = "{\"name\":\"A\"}\n{\"name\":\"B\",\"v\":1,\"v\":2}\n[1]\n{\n{\"name\":\"C\"}\n";
    let table = self::table(lines, "ndjson", None).expect("a table");
    let faults: Vec<_> = table.faults.iter().map(|fault| (fault.row, fault.message.as_str())).collect();
    assert_eq!(
        faults,
        [(2, "the key `v` is used twice"), (3, "this isn't a JSON object"), (4, "this isn't valid JSON")]
    );
    assert_eq!(table.rows[1].cells[1], Cell::Json(r#""{\"name\":\"B\",\"v\":1,\"v\":2}""#.into()));
    assert_eq!(table.rows.len(), 5);
    let single = "name: A\nurl: https://a.example/\nlegal: {license: MIT}\n";
    assert!(self::table(single, "yaml", None).expect_err("one product").contains("describes a single product"));
}

fn proposed(csv: &str) -> Vec<String> {
    let table = table(csv, "csv", None).expect("a table");
    Mapping::propose(&table).columns.iter().map(|of| of.target.to_string()).collect()
}

#[test]
fn headers_in_three_languages_are_recognised() {
    assert_eq!(proposed("Title,Homepage,Company\na,b.example,c\n"), ["name", "url", "vendor"]);
    assert_eq!(
        proposed("Bezeichnung;Webseite;Geprüft am\na;https://b.example;1.2.2025\n"),
        ["name", "url", "evidence_checked_on"]
    );
    assert_eq!(proposed("Nom;Éditeur;Catégorie\na;b;c\n"), ["name", "vendor", "categories"]);
    assert_eq!(proposed("Nomad,Vendors list\na,b\n"), ["not used", "not used"]);
}

#[test]
fn headers_with_a_language_tag_are_translations() {
    assert_eq!(
        proposed("name,tagline:de,Beschreibung: DE-at,name:xx,vendor:de\na,b,c,d,e\n"),
        ["name", "tagline:de", "description:de-AT", "not used", "not used"]
    );
}

#[test]
fn values_have_to_fit_their_header() {
    assert_eq!(proposed("Name,Link\na,see below\n"), ["name", "not used"]);
    assert_eq!(proposed("Name,Rating\na,4.5\nb,\"3,0\"\n"), ["name", "rating"]);
    assert_eq!(proposed("Name,Rating\na,4.5\nb,1234\n"), ["name", "not used"]);
    assert_eq!(proposed("Name,Stars\na,4.5\n"), ["name", "not used"]);
    assert_eq!(proposed("Name,Reviews\na,very good\n"), ["name", "not used"]);
    assert_eq!(proposed("Name,Checked\na,yes\n"), ["name", "not used"]);
}

#[test]
fn evidence_and_the_direction_of_alternatives_are_never_guessed() {
    assert_eq!(proposed("Name,Source\na,https://git.example/a\n"), ["name", "not used"]);
    assert_eq!(proposed("Name,Alternatives\na,B\n"), ["name", "not used"]);
    assert_eq!(proposed("Name,Replaces\na,B\n"), ["name", "alternative_to"]);
    assert_eq!(proposed("Name,Released\na,31.12.2025\n"), ["name", "not used"]);
}

#[test]
fn contents_identify_addresses_if_headers_do_not() {
    assert_eq!(proposed("A,B,C\nx,https://x.example/,31.12.2025\n"), ["not used", "url", "not used"]);
    assert_eq!(proposed("Name,Screenshot\nx,https://x.example/\n"), ["name", "not used"]);
    assert_eq!(proposed("Name,Repository\nx,https://x.example/\n"), ["name", "repository"]);
    assert_eq!(proposed("A,B,C\nx,tbd,2025\n"), ["not used", "not used", "not used"]);
}

#[test]
fn the_exact_name_takes_precedence_and_a_property_gets_one_column() {
    assert_eq!(proposed("Title,name\na,b\n"), ["not used", "name"]);
    assert_eq!(proposed("Name,NAME\na,b\n"), ["name", "not used"]);
}

fn csv(text: &str) -> Table {
    table(text, "csv", None).expect("a table")
}

#[test]
fn the_delimiter_is_the_one_that_splits_all_rows_evenly() {
    assert_eq!(csv("name;price\nA;1,50\nB;2,50\n").dialect.delimiter, b';');
    assert_eq!(csv("name,tags\nA,a;b\nB,c\n").dialect.delimiter, b',');
    assert_eq!(csv("name\ttext\nA\ta, b; c\n").dialect.delimiter, b'\t');
    assert_eq!(csv("name|text|tags\nA|a, b|x;y\n").dialect.delimiter, b'|');
    assert_eq!(csv("# title, of 2025\n\nname;url;tags\nA;b;c\nD;e;f\n").dialect.delimiter, b';');
    assert_eq!(csv("name\nA\n").dialect.delimiter, b',');
}

#[test]
fn an_explicit_delimiter_is_used_and_its_line_is_not_counted_as_a_row() {
    let table = csv("sep=|\r\nname|url\r\nA;B,C|x\r\n");
    assert_eq!((table.heads.join(" "), table.rows[0].number), ("name url".into(), 2));
    assert_eq!(table.rows[0].cells[0], Cell::Text("A;B,C".into()));
}

#[test]
fn rows_are_numbered_as_in_a_spreadsheet_program() {
    for end in ["\n", "\r\n", "\r"] {
        let text = ["name,url", "A,\"x", "y\"", "", "B,z", ""].join(end);
        let table = csv(&text);
        let numbers: Vec<_> = table.rows.iter().map(|row| row.number).collect();
        assert_eq!(numbers, [2, 4], "{end:?}");
    }
}

#[test]
fn a_misplaced_quote_is_reported_for_its_row_only() {
    let faulty = csv("name,url,text\nA,x,\"open\nB,y,plain\nC,z,plain\n");
    assert_eq!((faulty.rows.len(), faulty.faults.len(), faulty.faults[0].row), (3, 1, 2));
    assert_eq!(faulty.faults[0].message, "a quote that starts a cell is never closed");
    assert_eq!(faulty.rows[0].cells[2], Cell::Text("\"open".into()));
    let faulty = csv("name,url,text\nA,x,\"open\nB,y,\"quoted\"\n");
    assert_eq!(faulty.faults[0].message, "a quoted cell ends before `quoted\"`");
    assert_eq!((faulty.faults.len(), &faulty.rows[1].cells[2]), (1, &Cell::Text("quoted".into())));
    let escaped = csv("name,text\nA,\"a \\\"b\\\" c\"\nB,\"C:\\\\dir\"\n");
    assert_eq!((escaped.faults.len(), &escaped.rows[0].cells[1]), (0, &Cell::Text("a \"b\" c".into())));
    let closed = csv("name,text\nA,\"C:\\dir\\\"\n");
    assert_eq!((closed.faults.len(), &closed.rows[0].cells[1]), (0, &Cell::Text("C:\\dir\\".into())));
    let swallowed = csv("name,url,text\nA,x,\"open\nB,y,plain\nC,z,end\"\n");
    assert!(swallowed.notes[0].contains("starts on line 2"), "{:?}", swallowed.notes);
    let plain = csv("name,url,text\nA,x,24\" screen\nB,y,\"two \"\"words\"\"\"\n");
    assert_eq!(plain.rows[0].cells[2], Cell::Text("24\" screen".into()));
    assert_eq!(plain.rows[1].cells[2], Cell::Text("two \"words\"".into()));
}

#[test]
fn a_row_wider_than_the_header_is_an_error_unless_the_extra_cells_are_empty() {
    let wide = csv("a,b\n1,2,3\n4,5,6\n");
    let faults: Vec<_> = wide.faults.iter().map(|fault| (fault.row, fault.message.as_str())).collect();
    let message = "the row has 3 cells, but there are 2 columns";
    assert_eq!(faults, [(2, message), (3, message)]);
    assert_eq!(wide.rows[0].cells[1], Cell::Text("2,3".into()));
    assert_eq!(csv("a,b\n1,2,,\n").rows[0].cells.len(), 2);
}

#[test]
fn columns_are_lettered_as_in_a_spreadsheet() {
    let letters: Vec<_> = [0, 25, 26, 701, 702, 16_383].map(tabular::column_letters).into();
    assert_eq!(letters, ["A", "Z", "AA", "ZZ", "AAA", "XFD"]);
}
