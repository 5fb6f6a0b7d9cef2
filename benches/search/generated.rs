//! The slowest of many generated queries, which cover everything that makes a search expensive.

use std::time::Duration;

use fastrand::Rng;
use software_directory::export::Export;
use software_directory::generation::Snapshot;
use software_directory::record::SynonymGroup;
use software_directory::service::{
    Facet, ListGlossary, ListSoftware, ListSort, Order, PageRequest, SearchSoftware, SearchSort, Stop, list_glossary,
    list_software, search_software,
};
use software_directory::text::analyse::words;

use crate::cpu_time;
use crate::worst::{MOST_CHARACTERS, by_frequency};

/// How many queries are generated.
const QUERIES: usize = 50_000;

/// How many of the slowest are measured again and printed.
const SHOWN: usize = 10;

/// How many times the slowest are measured again; the median is used.
const ROUNDS: usize = 15;

/// How many synonym groups of frequent words are added to the directory.
const SYNONYMS: usize = 200;

/// A request that searches.
#[derive(Debug, Clone)]
enum Request {
    Search(SearchSoftware),
    Names(ListSoftware),
    Glossary(ListGlossary),
}

impl Request {
    /// Runs the request and returns the number of hits.
    fn run(&self, snapshot: &Snapshot) -> u64 {
        match self {
            Self::Search(query) => search_software(snapshot, query).map(|page| page.pagination.total),
            Self::Names(query) => list_software(snapshot, query, &Stop::default()).map(|page| page.pagination.total),
            Self::Glossary(query) => {
                list_glossary(&snapshot.catalogue, &snapshot.glossary, query, None, &Stop::default())
                    .map(|page| page.pagination.total)
            }
        }
        .expect("an index in memory can be read")
    }
}

/// Adds synonyms between frequent words, so that queries expand to them.
pub(crate) fn add_synonyms(exports: &mut [Export], snapshot: &Snapshot, seed: u64) {
    let (frequent, mut random) = (by_frequency(snapshot), Rng::with_seed(seed));
    if let Some(export) = exports.first_mut() {
        export.synonyms.extend((0..SYNONYMS).map(|_| {
            let terms = (0..random.usize(2..12))
                .map(|_| frequent[skewed(&mut random, 2000.min(frequent.len()))].as_str().into());
            SynonymGroup::Equivalent(terms.collect())
        }));
    }
}

/// Measures the generated queries and prints the slowest.
pub(crate) fn report(exports: &[Export], snapshot: &Snapshot, seed: u64) {
    let mut generator = Generator::new(exports, snapshot, seed);
    let mut times: Vec<_> = (0..QUERIES)
        .map(|_| {
            let (kind, request) = generator.request();
            let time = cpu_time::of(|| request.run(snapshot));
            (time, kind, request)
        })
        .collect();
    times.sort_by_key(|(time, ..)| std::cmp::Reverse(*time));
    let total: Duration = times.iter().map(|(time, ..)| *time).sum();
    println!(
        "{QUERIES} generated queries with seed {seed}: mean {} µs, p99 {} µs, p99.9 {} µs, maximum {} µs of CPU time",
        total.as_micros() / QUERIES as u128,
        times[QUERIES / 100].0.as_micros(),
        times[QUERIES / 1000].0.as_micros(),
        times[0].0.as_micros(),
    );
    // Interrupts can hit any query, so the slowest ones are measured again and their median is
    // used.
    let mut slowest: Vec<_> = times
        .into_iter()
        .take(SHOWN * 20)
        .map(|(first, kind, request)| {
            let mut again: Vec<_> = (0..ROUNDS).map(|_| cpu_time::of(|| request.run(snapshot))).collect();
            again.sort_unstable();
            (again[ROUNDS / 2], first, kind, request)
        })
        .collect();
    slowest.sort_by_key(|(median, ..)| std::cmp::Reverse(*median));
    println!("\n{:>8} {:>8} {:>7}  query", "median", "first", "found");
    for (median, first, kind, request) in slowest.iter().take(SHOWN) {
        println!("{:8} {:8} {:7}  {kind}: {request:?}", median.as_micros(), first.as_micros(), request.run(snapshot));
    }
}

/// A random word's number; small numbers are far likelier than large ones.
pub(crate) fn skewed(random: &mut Rng, count: usize) -> usize {
    let share = random.f64();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "below the count"
    )]
    let at = (share.powi(3) * count as f64) as usize;
    at.min(count - 1)
}

struct Generator<'c> {
    exports: &'c [Export],
    frequent: Vec<String>,
    long: Vec<String>,
    categories: Vec<String>,
    random: Rng,
}

impl<'c> Generator<'c> {
    fn new(exports: &'c [Export], snapshot: &Snapshot, seed: u64) -> Self {
        let frequent = by_frequency(snapshot);
        let long = frequent.iter().filter(|word| word.is_ascii() && word.len() >= 8).cloned().collect();
        let products = exports.iter().flat_map(|export| &export.software);
        let mut categories: Vec<String> =
            products.flat_map(|of| &of.categories).map(|of| String::from(&**of)).collect();
        categories.sort_unstable();
        categories.dedup();
        Self { exports, frequent, long, categories, random: Rng::with_seed(seed) }
    }

    /// The next request, and the kind of text in it.
    fn request(&mut self) -> (&'static str, Request) {
        let (kind, q) = self.text();
        let q = Some(q.chars().take(MOST_CHARACTERS).collect()).filter(|_| kind != "nothing");
        let page =
            PageRequest { limit: self.pick(&[20, 100, 100]), offset: self.pick(&[0, 0, 0, 100, 1000, 9_900, 10_000]) };
        let mut query = SearchSoftware { q, page, highlight: self.random.bool(), ..SearchSoftware::new("") };
        if self.random.bool() {
            query.facets = Facet::all().collect();
        }
        query.typo = self.random.u8(0..8) > 0;
        if self.random.u8(0..4) == 0 {
            query.sort = self.pick(&[
                SearchSort::Stored(Order::Name),
                SearchSort::Stored(Order::Rating),
                SearchSort::Stored(Order::ReviewCount),
            ]);
        }
        if self.random.u8(0..4) == 0 {
            let count = if self.random.u8(0..8) == 0 { 400 } else { self.random.usize(1..6) };
            let any = |of: &mut Self| of.categories[of.random.usize(0..of.categories.len())].clone();
            query.filter.categories = (0..count).map(|_| any(self)).collect();
        }
        let request = match self.random.u8(0..10) {
            0 => Request::Names(ListSoftware {
                q: query.q,
                filter: query.filter,
                include: Vec::new(),
                sort: (query.sort == SearchSort::Stored(Order::Name)).then_some(ListSort::Stored(Order::Name)),
                page,
                language: None,
            }),
            1 if self.random.u8(0..4) == 0 => Request::Glossary(ListGlossary { q: query.q, page }),
            _ => Request::Search(query),
        };
        (kind, request)
    }

    fn pick<T: Clone>(&mut self, among: &[T]) -> T {
        among[self.random.usize(0..among.len())].clone()
    }

    fn text(&mut self) -> (&'static str, String) {
        let among = self.pick(&[10, 30, 100, 1000, 10_000]);
        let many = self.random.usize(1..=24);
        let few = self.random.usize(0..=6);
        match self.random.u8(0..16) {
            0 | 1 => ("frequent words", self.frequent_words(many, among).join(" ")),
            2 => ("hyphens", self.frequent_words(many, among).join("-")),
            3 | 4 => ("phrases of frequent words", self.phrases(among)),
            5 => ("phrases of a record", self.phrases_of_a_record()),
            6 => (
                "phrases and words",
                format!("{} {}", self.phrases_of_a_record(), self.frequent_words(few, among).join(" ")),
            ),
            7 | 8 => ("misspelled words", self.misspelled(10 + few, few, among)),
            9 => {
                let letters = self.random.usize(1..=5);
                let last = self.frequent_words(1, 10_000).concat().chars().take(letters).collect::<String>();
                ("a beginning", format!("{} {last}", self.frequent_words(few, among).join(" ")))
            }
            10 => {
                let letters = self.random.usize(1..=3);
                let words = (0..many * 5).map(|_| (0..letters).map(|_| self.random.lowercase()).collect::<String>());
                ("few letters", words.collect::<Vec<_>>().join(" "))
            }
            11 => ("words of a record", self.words_of_a_record(many).join(" ")),
            12 => {
                let without = self.frequent_words(many, among).into_iter().map(|word| format!("-{word}"));
                ("exclusions", self.frequent_words(few, among).into_iter().chain(without).collect::<Vec<_>>().join(" "))
            }
            13 => {
                let letters = "安全管理系统软件开发工具网络éßİǅ👩‍🔬 ".chars().collect::<Vec<_>>();
                let text = (0..MOST_CHARACTERS).map(|_| self.pick(&letters));
                ("other scripts", text.collect())
            }
            14 => {
                let names = ["libc++", "c++", "c#", ".net", "g++", "node.js", "R", "ISO-9001", "gtk+3.0", "a.b.c"];
                let text = (0..many).map(|_| self.pick(&names)).collect::<Vec<_>>();
                ("odd names", text.join(" "))
            }
            _ => ("nothing", String::new()),
        }
    }

    fn frequent_words(&mut self, count: usize, among: usize) -> Vec<String> {
        let among = among.min(self.frequent.len());
        (0..count).map(|_| self.frequent[self.random.usize(0..among)].clone()).collect()
    }

    fn phrases(&mut self, among: usize) -> String {
        let count = self.random.usize(1..=12);
        let phrase = |of: &mut Self| {
            let length = of.random.usize(1..=4);
            format!("\"{}\"", of.frequent_words(length, among).join(" "))
        };
        (0..count).map(|_| phrase(self)).collect::<Vec<_>>().join(" ")
    }

    /// Consecutive words from one record.
    fn words_of_a_record(&mut self, count: usize) -> Vec<String> {
        let export = &self.exports[self.random.usize(0..self.exports.len())];
        let record = &export.software[self.random.usize(0..export.software.len())];
        let found = words(record.description.as_deref().unwrap_or(&record.name));
        let start = self.random.usize(0..=found.len().saturating_sub(count));
        found.into_iter().skip(start).take(count).map(|word| word.folded).collect()
    }

    fn phrases_of_a_record(&mut self) -> String {
        let count = self.random.usize(1..=24);
        let (row, length) = (self.words_of_a_record(count), self.random.usize(1..=4));
        row.chunks(length).map(|words| format!("\"{}\"", words.join(" "))).collect::<Vec<_>>().join(" ")
    }

    fn misspelled(&mut self, count: usize, frequent: usize, among: usize) -> String {
        let mut all = self.frequent_words(frequent, among);
        for _ in 0..count {
            let word = &self.long[skewed(&mut self.random, self.long.len())];
            let mut letters: Vec<char> = word.chars().collect();
            for _ in 0..self.random.usize(1..=2) {
                let at = self.random.usize(1..letters.len());
                letters[at] = self.random.lowercase();
            }
            all.push(letters.into_iter().collect());
        }
        self.random.shuffle(&mut all);
        all.join(" ")
    }
}
