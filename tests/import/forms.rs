//! Headers, YAML and Markdown: what each form of them becomes.

use software_directory::curate::tabular::{self, Mapping, ReadOptions, Table};
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
