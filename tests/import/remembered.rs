//! What an import remembers: the next import of the same table is an update with the same mapping.

use std::fs;

use serde_json::{Value, json};

use crate::import::{run, stderr};

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.0.path().join(name), content).expect("a file");
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.0.path().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    fn import(&self, arguments: &[&str]) -> (Option<i32>, String) {
        let output = run(self.0.path(), &[&["import"], arguments].concat());
        (output.status.code(), stderr(&output))
    }

    /// Imports the table for the first time.
    fn first(&self, arguments: &[&str]) -> String {
        let (code, text) =
            self.import(&[arguments, &["--yes", "--name", "N", "--license", "https://l.example/"]].concat());
        assert_eq!(code, Some(0), "{text}");
        text
    }

    fn software(&self, name: &str) -> Vec<Value> {
        let export: Value = serde_json::from_str(&self.read(name)).expect("JSON");
        export["software"].as_array().expect("records").clone()
    }
}

const TABLE: &str = "Titel der Seite;Link;Tags;Stand;Notiz\n\
                     Moss;https://moss.example/;a|b;3/4/2025;x\n\
                     Moss;https://other.example/;a;5/6/2025;\n\
                     Fern;https://fern.example/;Offen;1/2/2025;y\n";
const OPTIONS: [&str; 9] = [
    "--map",
    "Titel der Seite=name",
    "--map",
    "Stand=evidence_checked_on",
    "--date-order",
    "mdy",
    "--unique-ids",
    "--null",
    "offen",
];

#[test]
fn the_next_import_of_a_table_is_an_update_with_the_same_mapping() {
    let folder = Folder::new();
    folder.write("tools.csv", TABLE);
    let text = folder.first(&[&["tools.csv"], &OPTIONS[..]].concat());
    assert!(text.contains("Wrote the mapping to data/tools.mapping.toml"), "{text}");
    let mapping = folder.read("data/tools.mapping.toml");
    let expected = "[options]\ndate-order = \"mdy\"\nnull = [\"offen\"]\nunique-ids = true\n\n\
                    [columns]\n# Moss · Fern\n\"Titel der Seite\" = \"name\"\n\
                    # https://moss.example/ · https://other.example/ · https://fern.example/\nLink = \"url\"\n\
                    # a|b → [\"a\",\"b\"] · a → [\"a\"] · Offen\nTags = \"tags\"\n\
                    # 3/4/2025 → 2025-03-04 · 5/6/2025 → 2025-05-06 · 1/2/2025 → 2025-01-02\n\
                    Stand = \"evidence_checked_on\"\n# x · y\nNotiz = \"not used\"\n";
    assert!(mapping.ends_with(expected), "{mapping}");
    let export = folder.read("data/tools.json");
    // Neither the options nor a confirmation is needed.
    let (code, text) = folder.import(&["tools.csv"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("The table doesn't change anything") && !text.contains("Notiz"), "{text}");
    assert!(
        text.contains("notes about unchanged rows, as in earlier imports") && !text.contains("were converted"),
        "{text}"
    );
    assert_eq!(
        (folder.read("data/tools.json"), folder.read("data/tools.mapping.toml")),
        (export.clone(), mapping.clone())
    );
    // A new row's notes are printed.
    folder.write("tools.csv", format!("{TABLE}Oak;https://oak.example/;;7/8/2025;\n"));
    let (code, text) = folder.import(&["tools.csv", "--yes"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("dates were converted to YYYY-MM-DD"), "{text}");
    assert_eq!(folder.software("data/tools.json").len(), 4);
    assert_eq!(folder.read("data/tools.mapping.toml"), mapping);
}

#[test]
fn columns_that_are_new_or_renamed_since_the_last_import_are_reported_first() {
    let folder = Folder::new();
    folder.write("tools.csv", TABLE);
    folder.first(&[&["tools.csv"], &OPTIONS[..]].concat());
    let export = folder.read("data/tools.json");
    folder.write("tools.csv", TABLE.replace(";Notiz", ";Notiz;Geheim").replace(";x\n", ";x;secret\n"));
    let (code, text) = folder.import(&["tools.csv"]);
    assert_eq!(code, Some(0), "{text}");
    let left_out = "Columns left out and not published: 1.\n  column F `Geheim`: its header isn't known";
    assert!(text.contains(left_out), "{text}");
    folder.write("tools.csv", TABLE.replace("Titel der Seite", "Titel"));
    let (code, text) = folder.import(&["tools.csv", "--yes"]);
    assert_eq!((code, folder.read("data/tools.json")), (Some(2), export));
    let renamed = "the mapping lists columns that the table doesn't have: `Titel der Seite`; the table has `Titel`.";
    assert!(text.contains("data/tools.mapping.toml: ") && text.contains(renamed), "{text}");
    // An option changes what's remembered.
    folder.write("tools.csv", TABLE);
    let (code, text) = folder.import(&["tools.csv", "--yes", "--map", "Notiz=additional:Notiz"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(folder.read("data/tools.mapping.toml").contains("Notiz = \"additional:Notiz\""), "{text}");
    assert_eq!(folder.software("data/tools.json")[0]["Notiz"], "x");
}

#[test]
fn a_mapping_holds_constants_templates_separators_values_and_words_for_empty_cells() {
    let folder = Folder::new();
    folder.write(
        "t.csv",
        "Name,Wikidata,Path,Tags,Place,Vendor\nMoss,Q1,a b/c?,rot/blau,\"Bonn, DE\",unbekannt\nFern,,x,Grün,,V\nOak,Q3,-,,,\n",
    );
    folder.write(
        "m.toml",
        r#"
            [columns]
            Name = "name"
            Wikidata = "not used"
            Path = "not used"
            Tags = { to = "tags", separator = "/", values = { rot = "red", "grün" = "green" } }
            Place = { to = "attribute:Place", separator = "none" }
            Vendor = { to = "vendor", null = ["Unbekannt"] }

            [properties]
            evidence_status = "pending-review"
            url = { template = "https://w.example/{Wikidata}/{Path}" }
            pricing = { template = "see {Name}" }
            languages = ["de", "en"]
        "#,
    );
    let arguments = ["t.csv", "-o", "new/folder/x.json", "--mapping", "m.toml", "--valid-rows"];
    let text = folder.first(&arguments);
    let place = "https://w.example/Q1/a%20b/c%3F";
    let expected = json!({"id": "moss", "name": "Moss", "tags": ["red", "blau"], "Place": "Bonn, DE",
        "evidence_status": "pending-review", "url": place, "pricing": "see Moss", "languages": ["de", "en"]});
    assert_eq!(folder.software("new/folder/x.json"), [expected], "{text}");
    // The other rows lack a part of the template, and only the table's own columns are set aside.
    let rejected = folder.read("new/folder/x.rejected.csv");
    assert!(rejected.starts_with("Name,Wikidata,Path,Tags,Place,Vendor,Reason\r\nFern,,x,Grün,,V,"), "{rejected}");
    // What people add to the mapping is kept.
    let remembered = folder.read("new/folder/x.mapping.toml") + "# Ask Kim.\n";
    folder.write("new/folder/x.mapping.toml", &remembered);
    let (code, text) = folder.import(&[&arguments[..3], &["--valid-rows"]].concat());
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("The table doesn't change anything"), "{text}");
    assert_eq!(folder.read("new/folder/x.mapping.toml"), remembered);
    for (mapping, expected) in [
        ("[columns]\nName = \"name\n", "line 2 of the mapping is wrong"),
        ("[columns]\nName = \"nam\"\n", "isn't a valid target"),
        ("[columns]\nName = \"name\"\n[properties]\nurl = { template = \"{Nam}\" }\n", "no column `Nam`"),
        ("[columns]\nName = \"name\"\n[properties]\nurl = { template = \"{Name\" }\n", "has a `{` without a `}`"),
        ("[columns]\nName = \"name\"\nTags = { to = \"tags\", separator = \"\" }\n", "write `none`"),
        ("[columns]\nName = \"name\"\n[properties]\nevidence_checked_on = 2025-01-01\n", "must be a string, a number"),
        ("[options]\nshet = \"x\"\n[columns]\nName = \"name\"\n", "the options are wrong: unknown field `shet`"),
    ] {
        folder.write("wrong.toml", mapping);
        let (code, text) = folder.import(&["t.csv", "-o", "y.json", "--mapping", "wrong.toml"]);
        assert_eq!(code, Some(2), "{text}");
        assert!(text.contains(expected), "{text}");
    }
}

#[test]
fn rejected_rows_are_written_in_the_tables_dialect_and_imported_with_its_mapping() {
    let folder = Folder::new();
    folder.write("tools.csv", format!("\u{feff}{}", TABLE.replace("https://other.example/", "folgt")));
    let text = folder.first(&[&["tools.csv", "--valid-rows"], &OPTIONS[..]].concat());
    let rejected = folder.read("data/tools.rejected.csv");
    let start = "\u{feff}Titel der Seite;Link;Tags;Stand;Notiz;Reason\r\nMoss;folgt;a;2025-05-06;;Link: ";
    assert!(rejected.starts_with(start), "{text}\n{rejected}");
    // Next month, the same rows are set aside again, but other rows don't replace them.
    let (code, text) = folder.import(&["tools.csv"]);
    assert_eq!(code, Some(0), "{text}");
    folder.write("tools.csv", TABLE.replace("https://fern.example/", "folgt"));
    let (code, text) = folder.import(&["tools.csv", "--remove-missing", "--yes"]);
    assert_eq!(code, Some(2), "{text}");
    let (code, text) = folder.import(&["tools.csv", "--yes"]);
    assert_eq!((code, folder.read("data/tools.rejected.csv")), (Some(0), rejected.clone()), "{text}");
    assert!(folder.read("data/tools.rejected-2.csv").contains("\nFern;folgt;Offen;"), "{text}");
    let (code, text) = folder.import(&["data/tools.rejected-2.csv", "--yes"]);
    assert!(code == Some(2) && text.contains("every row has errors"), "{text}");
    folder.write("data/tools.rejected.csv", rejected.replace("folgt", "https://other.example/"));
    let (code, text) = folder.import(&["data/tools.rejected.csv", "--yes"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(!text.contains("`Reason`"), "{text}");
    let ids: Vec<_> = folder.software("data/tools.json").iter().map(|record| record["id"].clone()).collect();
    assert_eq!(ids, ["moss", "fern", "moss-2"]);
}

#[test]
fn a_mapping_decides_how_cells_are_read() {
    let folder = Folder::new();
    folder.write(
        "t.csv",
        "Name,Website,Tags,Features,Standards,Score,Vendor\n\
         Moss,https://moss.example/,\"a (x/y)/rot; b\",\"fast, small\nopen\",\"ISO, 9001, 4,50\",8,Acme\n\
         Fern,https://fern.example/,rot,fast,ISO,5,\n\
         Oak,https://oak.example/,,small,,k. A.,Offen\n",
    );
    folder.write(
        "m.toml",
        r#"
            [options]
            blank-means-above = ["Vendor"]
            [columns]
            Name = "name"
            Website = "url"
            Tags = { to = "tags", separator = "/", values = { ROT = "red" } }
            Features = { to = "features", split_commas = false }
            Standards = { to = "standards", split_commas = true }
            Score = { to = "rating", out_of = 10 }
            Vendor = { to = "vendor", null = ["offen"] }
        "#,
    );
    let text = folder.first(&["t.csv", "--mapping", "m.toml"]);
    let software = folder.software("data/t.json");
    let found = ["tags", "features", "standards", "rating"].map(|property| software[0][property].clone());
    let expected =
        [json!(["a (x/y)", "rot; b"]), json!(["fast, small", "open"]), json!(["ISO", "9001", "4,50"]), json!(4)];
    assert_eq!(found, expected, "{text}");
    assert_eq!(software[1]["tags"], json!(["red"]), "{text}");
    let vendors: Vec<_> = software.iter().map(|record| &record["vendor"]).collect();
    assert_eq!(vendors, [&json!("Acme"), &json!("Acme"), &json!(null)], "{text}");
    let remembered = folder.read("data/t.mapping.toml");
    for line in ["blank-means-above = [\"Vendor\"]", "split_commas = false", "split_commas = true", "out_of = 10"] {
        assert!(remembered.contains(line), "{line}: {remembered}");
    }
    // A word for no value doesn't replace what the export has.
    let table = folder.read("t.csv").replace("rot,fast,ISO,5,", "offen,TBD,ISO,offen,Acme");
    folder.write("t.csv", table.replace("8,Acme", "8,Offen"));
    let (code, text) = folder.import(&["t.csv", "--yes", "--null", "offen"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("The table doesn't change anything"), "{text}");
    assert_eq!(folder.software("data/t.json"), software);
}

#[test]
fn rejected_records_of_yaml_are_written_as_json() {
    let folder = Folder::new();
    folder.write("t.yaml", "- name: Moss\n  url: https://moss.example/\n- name: Fern\n  url: folgt\n");
    let text = folder.first(&["t.yaml", "--valid-rows"]);
    let rejected = folder.read("data/t.rejected.ndjson");
    assert!(rejected.starts_with(r#"{"name":"Fern","url":"folgt","Reason":"#), "{text}\n{rejected}");
    folder.write("data/t.rejected.ndjson", rejected.replace("folgt", "https://fern.example/"));
    let (code, text) = folder.import(&["data/t.rejected.ndjson", "--yes"]);
    assert_eq!((code, folder.software("data/t.json").len()), (Some(0), 2), "{text}");
}

#[test]
fn columns_made_from_links_and_sections_may_be_missing_next_time() {
    let folder = Folder::new();
    folder.write("t.csv", "Name,Website,Notes\nMoss,https://moss.example/,[Docs](https://docs.example/)\n");
    let text = folder.first(&["t.csv"]);
    assert!(folder.read("data/t.mapping.toml").contains("\"Notes (link)\""), "{text}");
    folder.write("t.csv", "Name,Website,Notes\nMoss,https://moss.example/,Docs\n");
    let (code, text) = folder.import(&["t.csv"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("The table doesn't change anything"), "{text}");
}

#[test]
fn rows_about_the_same_product_are_merged_on_request() {
    let folder = Folder::new();
    folder.write(
        "t.csv",
        "Product;Website;Category;Country;Price;Checked on\n\
         Access Desk;https://access.example/;Audits;DE;24;\n\
         Moss;https://moss.example/;Audits;DE;10;\n\
         Access Desk;https://access.example/;Permits;DE;24;31.12.2024\n\
         access desk;https://access.example;Audits;CH;26;\n",
    );
    let options = ["--merge-rows", "--attribute", "Country", "--attribute", "Price"];
    let text = folder.first(&[&["t.csv"], &options[..]].concat());
    let software = folder.software("data/t.json");
    assert_eq!(software.len(), 2, "{text}");
    let first = &software[0];
    assert_eq!((&first["categories"], &first["Country"]), (&json!(["Audits", "Permits"]), &json!(["DE", "CH"])));
    assert_eq!(
        (&first["Price"], &first["name"], &first["evidence_checked_on"]),
        (&json!(24), &json!("Access Desk"), &json!("2024-12-31"))
    );
    assert_eq!((&software[1]["categories"], &software[1]["Country"]), (&json!(["Audits"]), &json!("DE")));
    let differs = "column E `Price`: rows of one product have different values, so only the first one is used (1)\n  row 5: `26`; kept: `24`";
    assert!(text.contains(differs), "{text}");
    let (code, text) = folder.import(&["t.csv"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("The table doesn't change anything"), "{text}");
}

#[test]
fn rows_that_differ_only_in_lists_are_merged() {
    let folder = Folder::new();
    let table = "Product,Website,Category,Vendor\n\
        Moss,https://moss.example/,Audits,Moss Ltd\n\
        Fern,https://fern.example/,Audits,\n\
        moss,https://moss.example,Permits,\n";
    folder.write("t.csv", format!("{table},,Permits,\n,,Audits,\n"));
    let (code, text) = folder.import(&["t.csv", "--name", "N", "--license", "https://l.example/", "--yes"]);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("row 6: the required property `name` is missing"), "rows without a name: {text}");

    folder.write("t.csv", table);
    let text = folder.first(&["t.csv"]);
    let software = folder.software("data/t.json");
    assert_eq!(software.len(), 2, "{text}");
    assert_eq!(
        (&software[0]["name"], &software[0]["categories"], &software[0]["vendor"]),
        (&json!("Moss"), &json!(["Audits", "Permits"]), &json!("Moss Ltd"))
    );
    assert!(text.contains("rows about the same product were merged (1, such as `2 rows` in row 2)"), "{text}");
    let (_, text) = folder.import(&["t.csv"]);
    assert!(text.contains("The table doesn't change anything"), "{text}");

    let separate = Folder::new();
    separate.write("t.csv", folder.read("t.csv"));
    separate.first(&["t.csv", "--unique-ids"]);
    assert_eq!(separate.software("data/t.json").len(), 3);
}

#[test]
fn rows_about_one_product_that_disagree_are_errors() {
    let folder = Folder::new();
    folder.write(
        "t.csv",
        "Product,Website,Category,Vendor\nMoss,https://moss.example/,Audits,A\nMoss,https://moss.example/,Permits,B\n",
    );
    let (code, text) = folder.import(&["t.csv", "--name", "N", "--license", "https://l.example/", "--yes"]);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("row 3: `Moss` would get the id `moss`, which row 2 already has"), "{text}");
}

#[test]
fn a_product_with_an_error_in_one_of_its_rows_is_set_aside_with_all_of_them() {
    let folder = Folder::new();
    folder.write(
        "t.csv",
        "Name,Website,Category,Checked on\nMoss,https://moss.example/,A,soon 2025\nFern,https://fern.example/,A,\nMoss,https://moss.example/,B,\n",
    );
    folder.first(&["t.csv", "--merge-rows", "--valid-rows"]);
    assert_eq!(folder.software("data/t.json").len(), 1);
    let rejected = folder.read("data/t.rejected.csv");
    assert_eq!((rejected.lines().count(), rejected.contains("another row about the product has errors")), (3, true));
}
