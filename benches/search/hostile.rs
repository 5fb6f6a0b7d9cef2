//! Searches and pages in directories whose records were written to be expensive. Each must keep to
//! its budget.

use std::sync::Arc;

use serde_json::{Value, json};
use software_directory::generation::Snapshot;
use software_directory::service::SearchSoftware;
use software_directory::update::Directory;

use crate::ask;
use crate::corpus::{self, Failure};
use crate::cpu_time;
use crate::endpoints::{Ask, Server};
use crate::goals::WORST;

/// How many times each search or page is measured; the median is used.
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
        let snapshot =
            Snapshot::build(read(&json!({"software": texts.iter().enumerate().map(product).collect::<Vec<_>>()}))?)?;
        let search = SearchSoftware { q: Some(q), ..ask::with_highlights("") };
        let mut times: Vec<_> = (0..ROUNDS).map(|_| cpu_time::of(|| ask::answer(&snapshot, &search))).collect();
        times.sort_unstable();
        let (time, page) = (times[ROUNDS / 2], ask::answer(&snapshot, &search));
        let missed = if time <= WORST { "" } else { "  missed" };
        let (total, is_incomplete) = (page.pagination.total, page.query.incomplete);
        println!("{name:56} {:8} {total:8} {is_incomplete:>10}{missed}", time.as_micros());
    }
    report_pages()
}

/// Measures the pages and prints them. The first request also does what's done once per generation.
fn report_pages() -> Result<(), Failure> {
    println!(
        "\n{:56} {:>8} {:>8} {:>10}   (goal: {} ms)",
        "hostile pages",
        "first µs",
        "then µs",
        "status",
        WORST.as_millis()
    );
    for (name, export, path) in pages() {
        let directory = Arc::<Directory>::default();
        directory.publish(Snapshot::build(read(&export)?)?);
        let (server, ask) = (Server::start(directory)?, Ask::Get(path.to_owned()));
        let (first, status) = server.measure(&ask, 0);
        let mut times: Vec<_> = (0..ROUNDS).map(|_| server.measure(&ask, 0).0).collect();
        times.sort_unstable();
        let then = times[ROUNDS / 2];
        let missed = if then <= WORST { "" } else { "  missed" };
        println!("{name:56} {:8} {:8} {status:10}{missed}", first.as_micros(), then.as_micros());
        if status != 200 {
            return Err(format!("{name}: {status}").into());
        }
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
    // In running text, only a hyphenated pair is found as a compound.
    let spellings = (0..200).map(|product| {
        let pairs = (0..50).flat_map(|pair| parts.iter().map(move |pair_of| (product * 50 + pair, pair_of)));
        let pairs =
            pairs.map(|(number, [first, second])| format!("{}-{}", spelled(first, number), spelled(second, number)));
        pairs.collect::<Vec<_>>().join(" ")
    });
    vec![
        ("highlights, 200 combining marks per letter", vec![marks.clone(); 3], "audit".to_owned()),
        ("the same, a beginning", vec![marks; 3], "e".to_owned()),
        ("highlights, 20 hits of 980 KB", vec![long; 20], "audit".to_owned()),
        ("highlights, compounds of words with many spellings", spellings.collect(), compounds.join(" ")),
        ("100,000 words one letter apart, misspelled", near_words(), "saftey".to_owned()),
    ]
}

/// Each case's name, the export, and the page's path.
fn pages() -> Vec<(&'static str, Value, &'static str)> {
    let terms = |count: usize, name: fn(usize) -> String| -> Vec<_> {
        (0..count).map(|number| json!({"term": name(number), "definition": "A definition."})).collect()
    };
    let under_own_letter = |number| {
        let letter = u32::try_from(0x4e00 + number).ok().and_then(char::from_u32).unwrap_or('a');
        format!("{letter} {}", letters(number))
    };
    let mentions: Vec<_> = (0..950_000 / 11).map(|number| format!("audit {}", letters(number % 5000))).collect();
    let text = mentions.join(" ");
    let marked = json!({
        "software": [product((0, &text))],
        "glossary": terms(5000, |number| format!("audit {}", letters(number))),
    });
    let software: Vec<_> = (0..50_000).map(|number| product((number, &"A product.".to_owned()))).collect();
    vec![
        ("5,000 glossary terms in 950 KB", marked, "/software/p0"),
        (
            "an alphabet of 20,000 glossary terms",
            json!({"software": [], "glossary": terms(20_000, under_own_letter)}),
            "/glossary",
        ),
        ("a sitemap of 50,000 addresses", json!({"software": software}), "/sitemap/0.xml"),
    ]
}

/// One of a word's spellings with accents.
fn spelled(word: &str, number: usize) -> String {
    let mut number = number;
    let accented = word.chars().map(|letter| {
        let spellings: Vec<_> = match letter {
            'e' => "eéèêëēĕėęě",
            'i' => "iíìîïĩīĭįǐ",
            'u' => "uúùûüũūŭůű",
            _ => return letter,
        }
        .chars()
        .collect();
        let spelling = spellings[number % spellings.len()];
        number /= spellings.len();
        spelling
    });
    accented.collect()
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

fn product((number, text): (usize, &String)) -> Value {
    json!({
        "id": format!("p{number}"), "name": format!("Product {number}"), "url": "https://example.org/",
        "evidence_status": "pending-review", "description": text
    })
}

/// Reads an export with these records.
fn read(records: &Value) -> Result<Vec<software_directory::export::Export>, Failure> {
    let mut export = records.clone();
    export["name"] = "Hostile".into();
    export["license"] = "https://example.org/licence".into();
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("hostile.json");
    std::fs::write(&path, export.to_string())?;
    corpus::read(&path)
}
