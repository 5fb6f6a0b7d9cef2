//! Composed queries from the QHSE field: is a product in a relevant category among the first five
//! hits?

use std::collections::HashMap;
use std::path::Path;

use serde::Deserialize;
use software_directory::record::slug;
use software_directory::search::Ranking;

use crate::{Built, Failure, search};

/// How many hits are examined.
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
    categories: Vec<CategoryId>,
}

#[derive(Deserialize)]
struct CategoryId {
    id: String,
}

/// The composed queries and their directory.
pub(crate) struct Composed {
    directory: Built,
    queries: Vec<Query>,
    /// Each category's id, keyed by its name in the queries.
    names: HashMap<String, String>,
}

/// The number of queries that find what they should, and the number of queries in total.
#[derive(Default)]
pub(crate) struct Counts {
    pub(crate) right: (usize, usize),
    pub(crate) wrong: (usize, usize),
    missed: Vec<String>,
}

impl Composed {
    pub(crate) fn read(folder: &Path, directory: Built) -> Result<Self, Failure> {
        let taxonomy: Taxonomy = serde_json::from_slice(&std::fs::read(folder.join("taxonomy.json"))?)?;
        let names = taxonomy.categories.into_iter().map(|category| (category.slug, slug(&category.name))).collect();
        let queries: Queries = serde_json::from_slice(&std::fs::read(folder.join("queries.json"))?)?;
        Ok(Self { directory, queries: queries.queries, names })
    }

    pub(crate) fn report(&self) -> Result<(), Failure> {
        let Counts { right, wrong, missed } = self.measure(Ranking::default())?;
        println!("Composed queries with a product in a relevant category among the first five");
        println!("  spelled right           {} of {} ({:.1} %)", right.0, right.1, per_cent(right));
        println!("  misspelled              {} of {} ({:.1} %)", wrong.0, wrong.1, per_cent(wrong));
        println!("  missed: {}\n", missed.join("; "));
        Ok(())
    }

    pub(crate) fn measure(&self, ranking: Ranking) -> Result<Counts, Failure> {
        let snapshot = self.directory.open(ranking)?;
        let categories = snapshot.catalogue.tables.categories.iter();
        let inhabited: Vec<_> = categories.filter(|of| of.software_count > 0).map(|of| of.id.clone()).collect();
        let mut counts = Counts::default();
        for query in &self.queries {
            let wanted = query.wanted.iter().filter_map(|wanted| self.names.get(wanted));
            let wanted: Vec<_> = wanted.filter(|id| inhabited.contains(id)).collect();
            if wanted.is_empty() {
                continue;
            }
            let mut found = false;
            for hit in search(&snapshot, &query.text, true)?.data.iter().take(DEPTH) {
                let hit: Hit = serde_json::from_slice(&hit.item)?;
                found |= hit.categories.iter().any(|category| wanted.contains(&&category.id));
            }
            let count = if query.kind == "typo" { &mut counts.wrong } else { &mut counts.right };
            count.0 += usize::from(found);
            count.1 += 1;
            if !found {
                counts.missed.push(format!("{} [{}]", query.text, query.kind));
            }
        }
        Ok(counts)
    }
}

#[expect(clippy::cast_precision_loss, reason = "a few hundred")]
pub(crate) fn per_cent((part, whole): (usize, usize)) -> f64 {
    part as f64 * 100.0 / whole.max(1) as f64
}
