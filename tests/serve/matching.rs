//! `match`: which products the rows of an inventory refer to.

use serde_json::json;

use crate::common::binary::command;
use crate::common::place::export_of;
use crate::common::process::{folder_with, write};

/// The first match of each name: id, score, and whether it's certain.
fn matched(products: &[serde_json::Value], names: &[&str]) -> Vec<(String, f32, bool)> {
    let folder = folder_with(&[]);
    write(folder.path(), &export_of(products));
    let rows = names.join("\"\n\"");
    std::fs::write(folder.path().join("inventory.csv"), format!("Application\n\"{rows}\"\n")).expect("written");
    let arguments = ["match", "inventory.csv", "--data", "data", "--name-column", "Application", "--limit", "1"];
    let output = command(folder.path()).args(arguments).output().expect("the binary runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut reader = csv::Reader::from_reader(&output.stdout[..]);
    let rows = reader.records().map(|row| row.expect("CSV"));
    let matched = rows.map(|row| (row[3].to_owned(), row[5].parse().unwrap_or(0.0), &row[6] == "yes"));
    matched.collect()
}

fn product(id: &str, name: &str, vendor: &str) -> serde_json::Value {
    json!({"id": id, "name": name, "vendor": vendor, "url": format!("https://{id}.example/"), "evidence_status": "pending-review"})
}

#[test]
fn names_match_despite_versions_editions_vendors_abbreviations_and_typos() {
    let products = [
        product("planner", "Permit Planner", "Harbour Safety GmbH"),
        product("vsc", "Visual Studio Code", "Microsoft"),
        product("risk-radar", "RiskRadar", "Acme"),
    ];
    let names = [
        "permit planner",
        "Harbour Safety Permit Planner 4.2 Professional (64-bit)",
        "PermitPlanner",
        "Permt Planner",
        "VS Code",
        "MS Visual Studio Code 2024",
        "Risk Radar",
    ];
    let ids = ["planner", "planner", "planner", "planner", "vsc", "vsc", "risk-radar"];
    for ((name, id), (found, score, is_certain)) in names.iter().zip(ids).zip(matched(&products, &names)) {
        assert!(found == id && is_certain, "{name}: {found} {score}");
    }
}

#[test]
fn other_products_and_equally_good_ones_are_not_certain() {
    let products = [
        product("planner", "Permit Planner", "Harbour"),
        product("old", "Audit Log", "Acme"),
        product("new", "Audit Log", "Other"),
        product("java8", "Java 8", "Oracle"),
        product("memories", "Cloud Memories", "Acme"),
    ];
    let names = ["Permit Reader", "Cloud", "Audit Log", "Java 11", "Planner Pro", "Unheard Of", "-"];
    for (name, (id, score, is_certain)) in names.iter().zip(matched(&products, &names)) {
        assert!(!is_certain, "{name}: {id} {score}");
    }
}

#[test]
fn no_cell_is_a_formula() {
    let found = matched(&[product("=1", "=1+Planner", "Acme")], &["=1+Planner"]);
    assert_eq!(found, [("'=1".to_owned(), 1.0, true)]);
}

#[test]
fn a_table_without_names_is_an_error() {
    let folder = folder_with(&[]);
    std::fs::write(folder.path().join("inventory.csv"), "Cost,Seats\n1,2\n").expect("written");
    let output = command(folder.path()).args(["match", "inventory.csv", "--data", "data"]).output().expect("it runs");
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(2) && message.contains("--name-column"), "{message}");
}
