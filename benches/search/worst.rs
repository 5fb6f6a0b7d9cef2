//! The worst queries that a caller can send, one for each way of making a search work hard.

use fst::Streamer as _;
use software_directory::generation::Snapshot;
use software_directory::service::{Order, SearchSoftware, SearchSort};

use crate::ask;
use crate::corpus::Queries;

/// A query's maximum length, in characters.
pub(crate) const MOST_CHARACTERS: usize = 256;
/// A search's largest offset.
const FURTHEST: u64 = 10_000;
/// The largest page.
const LARGEST: u32 = 100;

/// The worst queries and their labels.
pub(crate) fn queries(snapshot: &Snapshot, draw: &mut Queries<'_>) -> Vec<(String, SearchSoftware)> {
    let frequent = by_frequency(snapshot);
    let words = |from: usize, count: usize| frequent[from..from + count].join(" ");
    let misspelled = misspelled(snapshot, draw, 10, MOST_CHARACTERS - 2);
    let everything = |q: &str| ask::with_all(q, 20, FURTHEST);
    let first_page = |q: &str| ask::with_all(q, LARGEST, 0);
    let all = vec![
        ("ten long misspelled words and a letter", everything(&format!("{misspelled} s"))),
        ("the same, first page of 100", first_page(&format!("{misspelled} s"))),
        ("one frequent word", first_page(&words(0, 1))),
        ("one frequent word, offset 10,000", everything(&words(0, 1))),
        (
            "one frequent word, sorted by name",
            SearchSoftware { sort: SearchSort::Stored(Order::Name), ..first_page(&words(0, 1)) },
        ),
        ("two frequent words", first_page(&words(0, 2))),
        ("five frequent words", first_page(&words(0, 5))),
        ("ten frequent words", first_page(&words(0, 10))),
        ("ten frequent words, offset 10,000", everything(&words(0, 10))),
        ("ten less frequent words", first_page(&words(40, 10))),
        ("the same, offset 10,000", everything(&words(40, 10))),
        ("as many frequent words as fit", first_page(&fill(frequent.iter().map(String::as_str)))),
        ("a phrase of frequent words", first_page(&format!("\"{}\"", words(0, 3)))),
        ("phrases of frequent words", first_page(&phrases(&frequent))),
        ("a frequent word, excluding many others", first_page(&fill(exclusions(&frequent).iter().map(String::as_str)))),
        ("everything, excluding many others", first_page(&fill(exclusions(&frequent[1..]).iter().map(String::as_str)))),
        (
            "Chinese",
            first_page(&"安全管理系统软件开发工具网络".chars().cycle().take(MOST_CHARACTERS).collect::<String>()),
        ),
        ("one letter 256 times", first_page(&"a".repeat(MOST_CHARACTERS))),
        ("letters", first_page(&fill(["a", "s", "c", "e", "t", "p"].into_iter().cycle()))),
        ("one letter", first_page("s")),
        ("three letters", first_page("pro")),
        ("four letters that many words start with", first_page("inte")),
        ("misspelled short words, as many as fit", first_page(&many_misspelled(&frequent, draw, 4..=7))),
        ("misspelled long words, as many as fit", first_page(&many_misspelled(&frequent, draw, 8..=9))),
        ("misspelled words and frequent ones", first_page(&mixed(&frequent, &misspelled))),
        ("package names", first_page(&fill(["libc++", "c++", "c#", ".net", "g++", "node.js"].into_iter().cycle()))),
        ("hyphens", first_page(&fill_with(frequent.iter().map(String::as_str), "-"))),
        ("no query, every facet", SearchSoftware { q: None, ..first_page("") }),
        ("no query, by name", SearchSoftware { q: None, sort: SearchSort::Stored(Order::Name), ..first_page("") }),
    ];
    all.into_iter().map(|(name, query)| (name.to_owned(), query)).collect()
}

/// The words in the corpus, most frequent first, including function words.
pub(crate) fn by_frequency(snapshot: &Snapshot) -> Vec<String> {
    let lexicon = &snapshot.search.lexicon;
    let mut words = Vec::new();
    let mut stream = lexicon.words().stream();
    while let Some((word, number)) = stream.next() {
        if let (Ok(word), Ok(number)) = (std::str::from_utf8(word), u32::try_from(number))
            && word.chars().all(char::is_alphabetic)
        {
            words.push((number, word.to_owned()));
        }
    }
    // Frequent words have small numbers.
    words.sort_unstable();
    words.into_iter().map(|(_, word)| word).collect()
}

/// This many words, as long as the character limit allows, each with two edits.
fn misspelled(snapshot: &Snapshot, draw: &mut Queries<'_>, count: usize, characters: usize) -> String {
    let mut words = by_frequency(snapshot);
    let length = characters / count - 1;
    words.retain(|word| word.is_ascii() && (length - 8..length).contains(&word.len()));
    words.sort_by_key(|word| std::cmp::Reverse(word.len()));
    let wrong = |word: &String| loop {
        let once = draw.edited(word);
        let twice = draw.edited(&once);
        if snapshot.search.lexicon.word(&twice).is_none() {
            break twice;
        }
    };
    words.iter().take(count).map(wrong).collect::<Vec<_>>().join(" ")
}

fn many_misspelled(frequent: &[String], draw: &mut Queries<'_>, letters: std::ops::RangeInclusive<usize>) -> String {
    let words: Vec<_> =
        frequent.iter().filter(|word| letters.contains(&word.len())).take(80).map(|word| draw.edited(word)).collect();
    fill(words.iter().map(String::as_str))
}

fn mixed(frequent: &[String], misspelled: &str) -> String {
    fill(misspelled.split(' ').take(5).chain(frequent.iter().take(5).map(String::as_str)))
}

fn exclusions(frequent: &[String]) -> Vec<String> {
    let rest = frequent[1..].iter().map(|word| format!("-{word}"));
    std::iter::once(frequent[0].clone()).chain(rest.take(100)).collect()
}

fn phrases(frequent: &[String]) -> String {
    let pairs: Vec<_> = frequent[..40].chunks(2).map(|pair| format!("\"{}\"", pair.join(" "))).collect();
    fill(pairs.iter().map(String::as_str))
}

/// As many words as fit in a query.
fn fill<'w>(words: impl Iterator<Item = &'w str>) -> String {
    fill_with(words, " ")
}

fn fill_with<'w>(words: impl Iterator<Item = &'w str>, between: &str) -> String {
    let mut text = String::new();
    for word in words {
        if text.chars().count() + between.len() + word.chars().count() > MOST_CHARACTERS {
            break;
        }
        if !text.is_empty() {
            text.push_str(between);
        }
        text.push_str(word);
    }
    text
}
