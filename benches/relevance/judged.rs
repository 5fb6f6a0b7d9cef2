//! nDCG@10 against graded human judgements.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::BufRead as _;
use std::path::Path;

use serde::Deserialize;
use software_directory::generation::Snapshot;
use software_directory::search::Ranking;

use crate::qhse::{Composed, per_cent};
use crate::{Built, Failure, rows, search};

/// How many results are examined per ranking.
const DEPTH: usize = 10;

pub(crate) struct Judged {
    directory: Built,
    judgements: HashMap<String, HashMap<String, f64>>,
    queries: Vec<Vec<String>>,
    right: Vec<Vec<String>>,
    wrong: Vec<Vec<String>>,
}

/// Averages over a set of queries.
#[derive(Clone, Copy, Default)]
struct Figures {
    /// nDCG@10, counting unjudged hits as irrelevant.
    ndcg: f64,
    /// nDCG@10 after removing unjudged hits, because the judgements were pooled from other engines'
    /// results.
    condensed: f64,
    queries: usize,
    /// Queries without a hit.
    empty: usize,
}

#[derive(Deserialize)]
struct Id {
    id: String,
}

impl Judged {
    pub(crate) fn read(folder: &Path) -> Result<Self, Failure> {
        let mut judgements: HashMap<String, HashMap<String, f64>> = HashMap::new();
        for row in rows(&folder.join("qrels.tsv"))? {
            let [query, document, gain] = &row[..] else { return Err("qrels.tsv has three columns".into()) };
            judgements.entry(query.clone()).or_default().insert(document.clone(), gain.parse()?);
        }
        Ok(Self {
            directory: Built::of(&[folder.join("products.json")])?,
            judgements,
            queries: rows(&folder.join("queries.tsv"))?,
            right: rows(&folder.join("typo/queries-correct.tsv"))?,
            wrong: rows(&folder.join("typo/queries.tsv"))?,
        })
    }

    pub(crate) fn report(&self) -> Result<(), Failure> {
        let snapshot = self.directory.open(Ranking::default())?;
        println!("Judged queries, nDCG@10 (condensed), queries without a hit");
        let all = self.measure(&snapshot, &self.queries, true)?;
        print("all", all);
        let strict = self.measure(&snapshot, &self.queries, false)?;
        print("all, typo=false", strict);
        let right = self.measure(&snapshot, &self.right, true)?;
        print("with a misspelling, spelled right", right);
        let wrong = self.measure(&snapshot, &self.wrong, true)?;
        print("the same, misspelled", wrong);
        println!("  misspelled / right      {:.3}", wrong.ndcg / right.ndcg);
        println!("  typo tolerance costs    {:.4}\n", strict.ndcg - all.ndcg);
        Ok(())
    }

    /// Shows what each weight contributes, by turning it off.
    pub(crate) fn ablation(&self, composed: &Composed) -> Result<(), Failure> {
        println!("What each weight is worth: judged queries with it turned off");
        let whole = Ranking::default();
        let off: [(&str, Ranking); 11] = [
            ("as it is now", whole),
            ("name = description", Ranking { name: whole.description, ..whole }),
            ("summary = description", Ranking { summary: whole.description, ..whole }),
            ("all fields alike", Ranking { name: 1.0, summary: 1.0, description: 1.0, ..whole }),
            ("no length norm (b = 0)", Ranking { name_b: 0.0, summary_b: 0.0, description_b: 0.0, ..whole }),
            ("no length norm for names", Ranking { name_b: 0.0, ..whole }),
            ("no saturation (k1 = 20)", Ranking { k1: 20.0, ..whole }),
            ("no exact spelling", Ranking { spelling: 0.0, ..whole }),
            ("no meaning", Ranking { meaning: 0.0, ..whole }),
            ("near matches = the word", Ranking { near: 1.0, ..whole }),
            ("loose matches = near ones", Ranking { loose: whole.near, ..whole }),
        ];
        println!("  {:28} all              right            misspelled       composed", "");
        for (name, ranking) in off {
            println!("  {name:28} {}", self.line(ranking, composed)?);
        }
        Ok(())
    }

    /// Prints the figures for the weights given on standard input, one set per line.
    pub(crate) fn sweep(&self, composed: &Composed) -> Result<(), Failure> {
        for line in std::io::stdin().lock().lines() {
            let line = line?;
            let mut ranking = Ranking::default();
            for pair in line.split_whitespace() {
                let (name, value) = pair.split_once('=').ok_or("write weight=value")?;
                set(&mut ranking, name, value)?;
            }
            println!("{} | {line}", self.line(ranking, composed)?);
        }
        Ok(())
    }

    fn line(&self, ranking: Ranking, composed: &Composed) -> Result<String, Failure> {
        let snapshot = self.directory.open(ranking)?;
        let sets = [&self.queries, &self.right, &self.wrong];
        let figures = sets.map(|set| self.measure(&snapshot, set, true));
        let mut line = String::new();
        for figures in figures {
            let Figures { ndcg, condensed, .. } = figures?;
            write!(line, "{ndcg:.4} ({condensed:.4})  ")?;
        }
        let found = composed.measure(ranking)?;
        write!(line, "{:5.1} % {:5.1} %", per_cent(found.right), per_cent(found.wrong))?;
        Ok(line)
    }

    fn measure(&self, snapshot: &Snapshot, queries: &[Vec<String>], typo: bool) -> Result<Figures, Failure> {
        let mut sum = Figures::default();
        for row in queries {
            let [id, query] = &row[..] else { return Err("queries have two columns".into()) };
            let Some(gains) = self.judgements.get(id).filter(|gains| gains.values().any(|gain| *gain > 0.0)) else {
                continue;
            };
            let mut hits = Vec::new();
            for hit in search(snapshot, query, typo)?.data {
                hits.push(serde_json::from_slice::<Id>(&hit.item)?.id);
            }
            let mut ideal: Vec<f64> = gains.values().copied().collect();
            ideal.sort_by(|a, b| b.total_cmp(a));
            let ideal = discounted(ideal.into_iter());
            sum.ndcg += discounted(hits.iter().map(|hit| gains.get(hit).copied().unwrap_or(0.0))) / ideal;
            sum.condensed += discounted(hits.iter().filter_map(|hit| gains.get(hit).copied())) / ideal;
            sum.queries += 1;
            sum.empty += usize::from(hits.is_empty());
        }
        #[expect(clippy::cast_precision_loss, reason = "a few dozen")]
        let count = sum.queries.max(1) as f64;
        Ok(Figures { ndcg: sum.ndcg / count, condensed: sum.condensed / count, ..sum })
    }
}

/// Discounted cumulative gain of the first ten hits: linear gain over `log2(rank + 1)`.
fn discounted(gains: impl Iterator<Item = f64>) -> f64 {
    (2_u32..).zip(gains.take(DEPTH)).map(|(rank, gain)| gain / f64::from(rank).log2()).sum()
}

fn print(name: &str, figures: Figures) {
    let Figures { ndcg, condensed, queries, empty } = figures;
    println!("  {name:32} {ndcg:.4} ({condensed:.4})  {queries} queries, {empty} without a hit");
}

fn set(ranking: &mut Ranking, name: &str, value: &str) -> Result<(), Failure> {
    let weight = match name {
        "name" => &mut ranking.name,
        "summary" => &mut ranking.summary,
        "description" => &mut ranking.description,
        "category_description" => &mut ranking.category_description,
        "name_b" => &mut ranking.name_b,
        "summary_b" => &mut ranking.summary_b,
        "description_b" => &mut ranking.description_b,
        "k1" => &mut ranking.k1,
        "near" => &mut ranking.near,
        "loose" => &mut ranking.loose,
        "spelling" => &mut ranking.spelling,
        _ => return Err(format!("there is no weight {name}").into()),
    };
    *weight = value.parse()?;
    Ok(())
}
