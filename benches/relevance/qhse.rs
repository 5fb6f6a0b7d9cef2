//! Composed queries of the QHSE field: does a product of a wanted category come up in the first five?

use std::collections::HashMap;
use std::path::Path;

use serde::Deserialize;
use software_directory::record::slug;
use software_directory::snapshot::Snapshot;

use crate::{Failure, search};

/// How many hits are looked at.
const DEPTH: usize = 5;

#[derive(Deserialize)]
struct Queries {
    queries: Vec<Query>,
}

#[derive(Deserialize)]
struct Query {
    #[serde(rename = "query")]
    text: String,
    wanted: Vec<String>,
    kind: String,
}

#[derive(Deserialize)]
struct Taxonomy {
    categories: Vec<Category>,
}

#[derive(Deserialize)]
struct Category {
    slug: String,
    name: String,
}

#[derive(Deserialize)]
struct Hit {
    categories: Vec<Named>,
}

#[derive(Deserialize)]
struct Named {
    id: String,
}

pub(crate) fn report(snapshot: &Snapshot, folder: &Path) -> Result<(), Failure> {
    let taxonomy: Taxonomy = serde_json::from_slice(&std::fs::read(folder.join("taxonomy.json"))?)?;
    let names: HashMap<_, _> = taxonomy.categories.into_iter().map(|c| (c.slug, slug(&c.name))).collect();
    let inhabited: Vec<_> = snapshot
        .catalogue
        .tables
        .categories
        .iter()
        .filter(|category| category.software_count > 0)
        .map(|category| category.id.clone())
        .collect();
    let queries: Queries = serde_json::from_slice(&std::fs::read(folder.join("queries.json"))?)?;
    let (mut right, mut wrong) = ((0, 0), (0, 0));
    let mut missed = Vec::new();
    for query in queries.queries {
        let wanted: Vec<_> =
            query.wanted.iter().filter_map(|wanted| names.get(wanted)).filter(|id| inhabited.contains(id)).collect();
        if wanted.is_empty() {
            continue;
        }
        let mut found = false;
        for hit in search(snapshot, &query.text, true)?.data.iter().take(DEPTH) {
            let mut json = Vec::new();
            hit.item.write(&mut json);
            let hit: Hit = serde_json::from_slice(&json)?;
            found |= hit.categories.iter().any(|category| wanted.contains(&&category.id));
        }
        let counts = if query.kind == "typo" { &mut wrong } else { &mut right };
        counts.0 += usize::from(found);
        counts.1 += 1;
        if !found {
            missed.push(format!("{} [{}]", query.text, query.kind));
        }
    }
    println!("Composed queries with a product of a wanted category in the first five");
    println!("  spelled right           {} of {} ({:.1} %)", right.0, right.1, per_cent(right));
    println!("  misspelled              {} of {} ({:.1} %)", wrong.0, wrong.1, per_cent(wrong));
    println!("  missed: {}\n", missed.join("; "));
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "a few hundred")]
pub(crate) fn per_cent((part, whole): (usize, usize)) -> f64 {
    part as f64 * 100.0 / whole.max(1) as f64
}
