//! Names as people write and type them.

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::json;
use software_directory::text::analyse::{name_key, words};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::common::cases::cases;
use crate::search::ask::{Directory, product};

/// A directory of products with these names.
fn called(names: &[&str]) -> Directory {
    Directory::of(&numbered(names))
}

fn numbered(names: &[&str]) -> Vec<serde_json::Value> {
    names.iter().enumerate().map(|(at, name)| product(&format!("p{at}"), name)).collect()
}

/// The numbers of the products found.
fn found(directory: &Directory, query: &str) -> Vec<usize> {
    directory.search(query).iter().map(|id| id[1..].parse().expect("a number")).collect()
}

fn first(directory: &Directory, query: &str) -> Option<usize> {
    found(directory, query).first().copied()
}

#[test]
fn typographic_operators_mean_the_same_as_ascii_ones() {
    let directory = called(&["Work Permit Desk", "Permit Work Planner"]);
    for query in ["\"work permit\"", "“work permit”", "„work permit“", "«work permit»", "「work permit」"] {
        assert_eq!(found(&directory, query), [0], "{query}");
    }
    for query in ["permit -desk", "permit –desk", "permit —desk", "permit −desk", "permit ‑desk"] {
        assert_eq!(found(&directory, query), [1], "{query}");
    }
}

#[test]
fn a_name_is_not_an_operator() {
    let names =
        ["gofmt -s", "Do NOT Disturb", "5 -a- Day", "-Minus", "Plan -Do -Check", "Rock “n” Roll", "Day", "Do it"];
    let directory = called(&names);
    for (at, name) in names.iter().enumerate() {
        assert_eq!(first(&directory, name), Some(at), "{name}");
        assert_eq!(first(&directory, &name.replace('-', "–").to_uppercase()), Some(at), "{name}");
    }
    assert_eq!(found(&directory, "day -a"), [6], "not a name");
    let directory = called(&["Audit Legacy", "Audit Desk"]);
    assert_eq!(found(&directory, "audit -legacy"), [1], "the name `Audit Legacy` has no hyphen");
}

#[test]
fn an_excluded_phrase_excludes_only_consecutive_words() {
    let texts = ["permit to work", "work to permit", "permit of any work", "Permit-to-work forms", "audits"];
    let products: Vec<_> = (0..)
        .zip(texts)
        .map(|(at, text)| json!({"id": format!("p{at}"), "name": "Lantern", "description": text}))
        .collect();
    let directory = Directory::of(&products);
    let sorted = |query: &str| {
        let mut found = found(&directory, query);
        found.sort_unstable();
        found
    };
    assert_eq!(sorted("lantern -\"permit to work\""), [1, 2, 4]);
    assert_eq!(sorted("lantern -“work to”"), [0, 2, 3, 4]);
    assert_eq!(sorted("-\"permit to work\""), [1, 2, 4]);
    assert_eq!(sorted("lantern -\"permit to unknownword\""), [0, 1, 2, 3, 4]);
    assert_eq!(directory.answer("lantern -\"permit to work\"", true).excluded, ["permit to work"]);
}

#[test]
fn a_prefix_followed_by_punctuation_is_completed_if_nothing_else_is_found() {
    let directory = called(&["GitLab", "TeamCity", "Desk"]);
    for query in ["gitl", "gitl*", "gitl ", "gitl.", "gitl…", "gitl, ", "(gitl)", "gitl -desk"] {
        assert_eq!(found(&directory, query), [0], "{query}");
    }
    let directory = called(&["Permit", "Permitted"]);
    assert_eq!(first(&directory, "permit "), Some(0));
    assert_eq!(found(&directory, "permits. "), [0, 1]);
}

#[test]
fn an_ampersand_and_its_words_are_equivalent() {
    let directory =
        called(&["Health&Safety Hub", "R&D Tracker", "AT&T Monitor", "Research and Development", "R", "EH&S Log"]);
    for query in ["safety hub", "health&safety", "health and safety hub", "health + safety hub", "healthsafety"] {
        assert_eq!(first(&directory, query), Some(0), "{query}");
    }
    for query in ["r&d", "r and d", "r & d", "r + d", "r und d", "r et d", "rd", "R and D Tracker"] {
        assert_eq!(first(&directory, query), Some(1), "{query}");
    }
    assert_eq!(first(&directory, "at and t"), Some(2));
    assert_eq!(first(&directory, "Research & Development"), Some(3));
    assert_eq!(first(&directory, "r"), Some(4));
    assert_eq!(found(&directory, "ehs"), [5]);
    let directory = called(&["R and D Lab", "Plug & Play", "Plug Play"]);
    assert_eq!(found(&directory, "r&d"), [0]);
    assert_eq!(first(&directory, "plug and play"), Some(1));
}

#[test]
fn conjunctions_in_a_phrase_are_interchangeable() {
    let texts = [
        "Health & Safety",
        "Health and Safety",
        "health&safety forms",
        "Safety and health",
        "Health, work and safety",
        "R&D desk",
        "For research and development",
        "r und d",
        "A+B testing",
    ];
    let products: Vec<_> = (0..)
        .zip(texts)
        .map(|(at, text)| json!({"id": format!("p{at}"), "name": "Lantern", "description": text}))
        .collect();
    let directory = Directory::of(&products);
    let sorted = |query: &str| {
        let mut found = found(&directory, query);
        found.sort_unstable();
        found
    };
    for phrase in [
        "\"health and safety\"",
        "\"health & safety\"",
        "“Health & Safety”",
        "«health and safety»",
        "\"health + safety\"",
        "\"health&safety\"",
        "\"health und safety\"",
        "\"health et safety\"",
    ] {
        assert_eq!(sorted(phrase), [0, 1, 2], "{phrase}");
        assert_eq!(sorted(&format!("lantern {phrase}")), [0, 1, 2], "{phrase}");
        assert_eq!(sorted(&format!("lantern -{phrase}")), [3, 4, 5, 6, 7, 8], "{phrase}");
    }
    for phrase in ["\"r&d\"", "\"R and D\"", "\"r & d\"", "“r + d”"] {
        assert_eq!(sorted(phrase), [5, 7], "{phrase}");
        assert_eq!(sorted(&format!("lantern -{phrase}")), [0, 1, 2, 3, 4, 6, 8], "{phrase}");
    }
    assert_eq!(sorted("\"research and development\""), [6]);
    assert_eq!(sorted("\"research & development\""), [6]);
    for phrase in ["\"A + B\"", "\"a and b\"", "\"a&b\""] {
        assert_eq!(sorted(phrase), [8], "{phrase}");
    }
    assert_eq!(sorted("\"safety and\""), [3], "a conjunction counts only between words");
    let named = called(&["Health & Safety", "Safety Health", "R and D Lab"]);
    assert_eq!(found(&named, "\"health and safety\""), [0]);
    assert_eq!(found(&named, "\"r&d\""), [2]);
}

#[test]
fn acronyms_are_found_with_and_without_dots() {
    let directory = called(&["E.H.S. Manager", "S.H.I.E.L.D. Desk", "EHS Desk", "0 A.D.", "U.K. Guide"]);
    for query in ["ehs", "e.h.s.", "E.H.S"] {
        let mut both = found(&directory, query);
        both.sort_unstable();
        assert_eq!(both, [0, 2], "{query}");
    }
    for (query, at) in [("shield", 1), ("s.h.i.e.l.d.", 1), ("0ad", 3), ("0 ad", 3), ("0 a.d.", 3), ("uk", 4)] {
        assert_eq!(found(&directory, query), [at], "{query}");
    }
}

#[test]
fn names_with_several_parts_are_found_joined_or_separate() {
    let names =
        ["OpenStreetMap", "phpMyAdmin", "Better Code Hub", "S/4HANA Link", "10,000ft", "iOS15Helper", "LibreOffice"];
    let directory = called(&names);
    for (query, at) in [
        ("open street map", 0),
        ("street map", 0),
        ("openstreet map", 0),
        ("php my admin", 1),
        ("bettercodehub", 2),
        ("better codehub", 2),
        ("codehub", 2),
        ("s4 hana", 3),
        ("s4hana", 3),
        ("hana", 3),
        ("10000ft", 4),
        ("ios 15", 5),
        ("office", 6),
    ] {
        let answer = directory.answer(query, true);
        assert_eq!(answer.ids.first(), Some(&format!("p{at}")), "{query}");
        assert_eq!((answer.corrected, answer.dropped), (vec![], vec![]), "{query}");
    }
}

#[test]
fn matches_inside_a_word_rank_after_words_and_prefixes() {
    let directory = called(&["ArcGIS", "Gisella", "GIS Desk"]);
    assert_eq!(found(&directory, "gis"), [2, 0], "a word isn't completed");
    let directory = Directory::of(&[
        product("inner", "ArcGIS"),
        product("beginning", "Gisella"),
        json!({"id": "word", "name": "Lantern", "description": "A map for gis and more"}),
    ]);
    let hits = directory.search_as("gis", software_directory::service::Prefix::Always);
    assert_eq!(hits.last().map(String::as_str), Some("inner"), "{hits:?}");
}

#[test]
fn characters_missing_from_keyboards_are_optional() {
    let directory =
        called(&["об'єкт контроль", "Oʻzbek Audit", "Hawaiʻi Log", "شـاب", "مستوى", "München", "Muenchen Plan", "Öl"]);
    for query in ["обʼєкт", "об'єкт", "об’єкт", "обєкт"] {
        assert_eq!(found(&directory, query), [0], "{query}");
    }
    for query in ["o'zbek", "oʻzbek", "ozbek", "o’zbek"] {
        assert_eq!(found(&directory, query), [1], "{query}");
    }
    for (query, at) in [("hawai'i", 2), ("hawaii", 2), ("شاب", 3), ("مستوي", 4), ("oel", 7), ("ol", 7)] {
        assert_eq!(first(&directory, query), Some(at), "{query}");
    }
    for query in ["muenchen", "münchen", "MUENCHEN", "muench"] {
        assert_eq!(found(&directory, query), [5, 6], "{query}");
    }
}

#[test]
fn searching_for_an_id_or_website_returns_its_product_first() {
    let directory = Directory::of(&[
        json!({"id": "fr.handbrake.ghb", "name": "Brake Video", "url": "https://www.handbrake.example.org/"}),
        json!({"id": "other", "name": "GHB", "url": "https://example.org/fr"}),
        json!({"id": "slack", "name": "Slack Desktop", "url": "https://example.org/slack"}),
        json!({"id": "real", "name": "Slack", "url": "https://example.org/real"}),
    ]);
    assert_eq!(directory.search("fr.handbrake.ghb")[0], "fr.handbrake.ghb");
    for query in [
        "https://handbrake.example.org/",
        "http://www.handbrake.example.org",
        "handbrake.example.org",
        " https://HANDBRAKE.example.org?utm_source=x ",
    ] {
        assert_eq!(directory.search(query), ["fr.handbrake.ghb"], "{query}");
    }
    assert_eq!(directory.search("slack")[0], "real", "a name takes precedence over an id");
}

#[test]
fn names_made_up_of_symbols_can_be_searched_for() {
    let directory = called(&["🦔", "++", "Calculator ++", "Calculator", "❤️"]);
    assert_eq!(found(&directory, "🦔"), [0]);
    assert_eq!(found(&directory, " ++ "), [1]);
    assert_eq!(found(&directory, "❤"), [4]);
    assert_eq!(found(&directory, "calculator"), [3, 2]);
    for query in ["calculator ++", "calculator++"] {
        assert_eq!(first(&directory, query), Some(2), "{query}");
    }
    assert_eq!(found(&directory, "🐙"), [0_usize; 0]);
}

#[test]
fn later_parts_of_a_korean_compound_rank_after_words() {
    let directory = Directory::of(&[
        product("inner", "안전관리시스템"),
        product("word", "관리 도구"),
        json!({"id": "text", "name": "도구", "description": "관리"}),
        product("none", "품질"),
    ]);
    let hits = directory.search("관리");
    assert_eq!((hits.len(), hits[2].as_str()), (3, "inner"), "{hits:?}");
    assert_eq!(directory.search("시스템"), ["inner"]);
    assert_eq!(directory.search("관리시스템"), ["inner"]);
    assert_eq!(directory.search("리스"), [""; 0]);
}

#[test]
fn british_and_american_spellings_that_no_rule_covers_find_each_other() {
    let directory = called(&["Encyclopaedia", "Manoeuvre Plan", "Foetus Monitor", "Draught Gauge", "Disc Copy"]);
    for (at, query) in ["encyclopedia", "maneuver", "fetus", "draft", "disk"].into_iter().enumerate() {
        assert_eq!(found(&directory, query), [at], "{query}");
    }
}

/// A name the way someone in a hurry might type it.
fn written(name: &str, how: usize) -> String {
    match how {
        0 => name.to_owned(),
        1 => name.to_uppercase(),
        2 => name.nfd().filter(|c| !is_combining_mark(*c)).collect(),
        3 => name.replace(" -", " –").replace('\'', "’").replacen('"', "“", 1).replace('"', "”"),
        _ => format!(" {name} "),
    }
}

proptest! {
    #![proptest_config(cases(60))]

    #[test]
    fn any_name_finds_itself_first(
        names in prop::collection::vec(prop::collection::vec((select(&[
            "Audit", "audits", "the", "and", "&", "+", "NOT", "not", "-a", "-Do", "-", "C++", "#", "++", ".NET", "R&D", "EH&S",
            "E.H.S.", "OpenStreetMap", "iOS15", "4HANA", "alternative", "to", "vs", "Slack", "software", "best", "Zürich", "Öl",
            "Ender's", "\"Quoted\"", "(old)", "2018", "45001:2018", "fr.handbrake.ghb", "🦔", "안전관리", "安全", "like", "s", "und",
        ][..]), select(&[" ", " ", " ", "", ".", "/", ": ", ", "][..])), 1..7), 1..12),
        how in 0..5_usize,
    ) {
        let names: Vec<String> = names.iter().map(|parts| {
            let name: String = parts.iter().flat_map(|(word, gap)| [*word, *gap]).collect();
            name.trim().to_owned()
        }).collect();
        let key = |name: &str| {
            let signs: String = name.chars().filter(|c| !c.is_whitespace()).collect();
            Some(name_key(&words(name))).filter(|key| !key.is_empty()).unwrap_or(signs)
        };
        let directory = called(&names.iter().map(String::as_str).collect::<Vec<_>>());
        for name in &names {
            let query = written(name, how);
            let first = first(&directory, &query).map(|at| key(&names[at]));
            prop_assert_eq!(first, Some(key(name)), "{:?} of {:?}", query, names);
        }
    }
}
