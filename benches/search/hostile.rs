//! Searches in directories whose records were written to be expensive. Each must keep to its budget.

use serde_json::{Value, json};
use software_directory::generation::Snapshot;
use software_directory::service::SearchSoftware;

use crate::ask;
use crate::corpus::{self, Failure};
use crate::cpu_time;
use crate::goals::WORST;

/// How many times each search is measured; the median is used.
const ROUNDS: usize = 15;

/// Measures the searches and prints them.
pub(crate) fn report() -> Result<(), Failure> {
    println!(
        "\n{:56} {:>8} {:>8} {:>10}   (goal: {} ms)",
        "hostile records",
        "µs",
        "found",
        "incomplete",
        WORST.as_millis()
    );
    for (name, texts, q) in cases() {
        let snapshot = Snapshot::build(read(&texts)?)?;
        let search = SearchSoftware { q: Some(q), ..ask::with_highlights("") };
        let mut times: Vec<_> = (0..ROUNDS).map(|_| cpu_time::of(|| ask::answer(&snapshot, &search))).collect();
        times.sort_unstable();
        let (time, page) = (times[ROUNDS / 2], ask::answer(&snapshot, &search));
        let missed = if time <= WORST { "" } else { "  missed" };
        let (total, is_incomplete) = (page.pagination.total, page.query.incomplete);
        println!("{name:56} {:8} {total:8} {is_incomplete:>10}{missed}", time.as_micros());
    }
    Ok(())
}

/// Each case's name, the products' descriptions, and the query.
fn cases() -> Vec<(&'static str, Vec<String>, String)> {
    let repeated = |text: &str, bytes: usize| text.repeat(bytes / text.len());
    // Each word is highlighted where it has been looked up, so the query's word comes last.
    let marks = format!("{} audit", repeated(&format!("e{} ", "\u{301}".repeat(200)), 900_000));
    let long = format!("{} audit", repeated("A plain sentence about something else. ", 980_000));
    let parts: Vec<_> = ('a'..='j').map(|letter| [format!("{letter}rbeits"), format!("{letter}schutz")]).collect();
    let compounds: Vec<_> = parts.iter().map(|[first, second]| format!("{first}{second}")).collect();
    let spellings = (0..200).map(|product| {
        let words = (0..500).map(|word| format!("ü{}", letters(product * 500 + word)));
        let pairs = parts.iter().flatten().cloned();
        words.chain(pairs).collect::<Vec<_>>().join(" ")
    });
    vec![
        ("highlights, 200 combining marks per letter", vec![marks.clone(); 3], "audit".to_owned()),
        ("the same, a beginning", vec![marks; 3], "e".to_owned()),
        ("highlights, 20 hits of 980 KB", vec![long; 20], "audit".to_owned()),
        ("highlights, compounds of words with many spellings", spellings.collect(), compounds.join(" ")),
        ("100,000 words one letter apart, misspelled", near_words(), "saftey".to_owned()),
    ]
}

/// A number written in letters.
fn letters(number: usize) -> String {
    (0..4).map(|place| char::from(b'a' + u8::try_from(number / 26_usize.pow(place) % 26).unwrap_or(0))).collect()
}

/// Texts with all words that are one letter away from `saftey`.
fn near_words() -> Vec<String> {
    // Alphabets whose letters don't decompose and that separate words.
    let alphabets = [
        '\u{a000}'..='\u{a48c}',
        '\u{12000}'..='\u{12399}',
        '\u{13000}'..='\u{1342f}',
        '\u{14400}'..='\u{14646}',
        '\u{17000}'..='\u{187f7}',
        '\u{18b00}'..='\u{18cd5}',
    ];
    let word =
        |letter: char, at: usize, skipped: usize| format!("{}{letter}{}", &"saftey"[..at], &"saftey"[at + skipped..]);
    let near = alphabets
        .into_iter()
        .flatten()
        .flat_map(|letter| (1..6).flat_map(move |at| [word(letter, at, 0), word(letter, at, 1)]));
    near.collect::<Vec<_>>().chunks(1000).map(|words| words.join(" ")).collect()
}

fn read(texts: &[String]) -> Result<Vec<software_directory::export::Export>, Failure> {
    let product = |(number, text): (usize, &String)| -> Value {
        json!({
            "id": format!("p{number}"), "name": format!("Product {number}"), "url": "https://example.org/",
            "evidence_status": "pending-review", "description": text
        })
    };
    let software: Vec<_> = texts.iter().enumerate().map(product).collect();
    let export = json!({"name": "Hostile", "license": "https://example.org/licence", "software": software});
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("hostile.json");
    std::fs::write(&path, export.to_string())?;
    corpus::read(&path)
}
