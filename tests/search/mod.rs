//! The most common complaints about search engines, each with a test and its own records.

mod ask;
mod naming;
mod pins;
mod related;
mod understanding;

use ask::{Directory, product};
use serde_json::json;

#[test]
fn an_exact_name_ranks_before_popular_near_matches() {
    let directory = Directory::of(&[
        json!({"id": "exact", "name": "Beacon", "tagline": "Little known"}),
        json!({"id": "near", "name": "Beacon Audit Beacon", "tagline": "Beacon of beacons", "rating": 5.0, "review_count": 900}),
        json!({"id": "alias", "name": "Lantern", "aliases": ["Beacon"]}),
    ]);
    let hits = directory.search("beacon");
    assert_eq!(hits[2], "near");
    assert!(hits[..2].contains(&"exact".to_owned()) && hits[..2].contains(&"alias".to_owned()), "{hits:?}");
}

#[test]
fn an_exact_name_comes_first_however_many_products_score_higher() {
    let beacon = "Beacon beacon beacon";
    let mut products: Vec<_> = (0..700)
        .map(|n| json!({"id": format!("near-{n}"), "name": format!("{beacon} {n}"), "tagline": beacon, "rating": 5.0, "review_count": 9}))
        .collect();
    // This product has the lowest score, so it's examined last.
    products.push(
        json!({"id": "exact", "name": "Lighthouse", "aliases": ["beacon"], "description": "A tower. ".repeat(90)}),
    );
    let directory = Directory::of(&products);
    let (hits, total) = directory.page("beacon", 10, 0);
    assert_eq!((hits[0].as_str(), total), ("exact", 701));
    assert_eq!(directory.page("beacon", 1, 700).0.len(), 1, "the product is counted once");
}

#[test]
fn the_better_of_two_products_with_an_exact_name_comes_first() {
    let directory = Directory::of(&[
        json!({"id": "dead", "name": "Beacon", "description": "Beacon beacon beacon"}),
        json!({"id": "live", "name": "Beacon", "rating": 4.5, "review_count": 40}),
        // A product without a rating counts as average, so there has to be an average.
        json!({"id": "other", "name": "Lantern", "rating": 3.5, "review_count": 40}),
    ]);
    assert_eq!(directory.search("beacon"), ["live", "dead"]);
}

#[test]
fn a_popular_product_that_is_relevant_is_never_missing() {
    // The product contains the words only deep in its description, inflected and in reverse order.
    let filler = "Plans, forms and reports for teams in the field. ".repeat(40);
    let mut products = vec![json!({
        "id": "popular", "name": "Lantern", "rating": 4.9, "review_count": 5000,
        "description": format!("{filler}Ladders are inspected here. {filler}"),
    })];
    products.extend(
        (0..40)
            .map(|n| json!({"id": format!("small-{n}"), "name": format!("Tool {n}"), "tagline": "Ladder inspection"})),
    );
    let directory = Directory::of(&products);
    assert!(directory.search("ladder inspection").contains(&"popular".to_owned()));
    assert_eq!(directory.page("ladder inspection", 1, 0).1, 41);
}

#[test]
fn choosing_a_facet_value_keeps_the_others_available() {
    let directory = Directory::of(&[
        json!({"id": "a", "name": "Audit One", "category": "Audits"}),
        json!({"id": "b", "name": "Audit Two", "category": "Incidents"}),
        json!({"id": "c", "name": "Lantern", "category": "Incidents"}),
    ]);
    let chosen = directory.categories("audit", Some("audits"));
    assert_eq!(chosen, [("audits".to_owned(), 1), ("incidents".to_owned(), 1)]);
    assert_eq!(chosen, directory.categories("audit", None), "choosing a value shouldn't change any counts");
}

#[test]
fn corrected_and_dropped_words_are_reported() {
    let directory = Directory::of(&[product("permit", "Permit Manager")]);
    let answer = directory.answer("permt xylophone manager", true);
    assert_eq!(answer.ids, ["permit"]);
    assert_eq!(answer.corrected, [("permt".to_owned(), "permit".to_owned())]);
    assert_eq!((answer.dropped, answer.unknown), (vec!["xylophone".to_owned()], vec!["xylophone".to_owned()]));
    let right = directory.answer("permit manager", true);
    assert_eq!((right.corrected, right.dropped), (vec![], vec![]));
}

#[test]
fn a_word_does_not_match_another_word_with_the_same_beginning() {
    let directory = Directory::of(&[product("greener", "Greener Offices"), product("greece", "Greece Compliance")]);
    assert_eq!(directory.search("greece "), ["greece"]);
    let directory = Directory::of(&[product("greener", "Greener Offices")]);
    assert_eq!(directory.search("greece "), [""; 0]);
}

#[test]
fn typos_are_corrected_unless_the_query_says_otherwise() {
    let directory = Directory::of(&[product("permit", "Permit Manager")]);
    let answer = directory.answer("permt", true);
    assert_eq!(answer.ids, ["permit"]);
    assert_eq!(answer.corrected, [("permt".to_owned(), "permit".to_owned())]);
    let strict = directory.answer("permt", false);
    assert_eq!((strict.ids, strict.dropped), (vec![], vec!["permt".to_owned()]));
}

#[test]
fn a_short_acronym_is_not_treated_as_a_prefix() {
    let directory = Directory::of(&[product("vanguard", "Vanguard"), product("va", "VA Forms")]);
    assert_eq!(directory.search("VA"), ["va"]);
    assert_eq!(Directory::of(&[product("vanguard", "Vanguard")]).search("VA"), [""; 0]);
    assert_eq!(directory.search("vang"), ["vanguard"], "a lower-case prefix is completed");
}

#[test]
fn a_synonym_matches_as_a_whole_and_ranks_below_the_word_itself() {
    let directory = Directory::with(
        &[
            product("long", "Permit to Work Suite"),
            product("short", "PTW Suite"),
            json!({"id": "scattered", "name": "Suite", "description": "Work without a permit"}),
        ],
        &json!({"synonyms": [{"terms": ["permit to work", "ptw"]}]}),
    );
    assert_eq!(directory.search("ptw"), ["short", "long"]);
    let both = directory.search("permit to work");
    assert_eq!(both[..2], ["long", "short"].map(str::to_owned)[..], "{both:?}");
}

#[test]
fn codes_match_however_they_are_joined() {
    let directory = Directory::of(&[
        product("a", "Toolkit ISO9001"),
        product("b", "Toolkit ISO 9001"),
        product("c", "Toolkit ISO-9001"),
        product("other", "Toolkit ISO 14001"),
    ]);
    for query in ["iso9001", "ISO 9001", "iso-9001"] {
        let mut hits = directory.search(query);
        hits.retain(|id| id != "other");
        hits.sort();
        assert_eq!(hits, ["a", "b", "c"], "{query}");
    }
    assert_eq!(directory.answer("iso9002", true).corrected, [], "a code is never misspelled");
}

#[test]
fn compounds_match_joined_and_split() {
    let directory = Directory::of(&[product("joined", "Lockout Tagout"), product("split", "Lock-out tag out kit")]);
    for query in ["lockout tagout", "lock out tag out", "lock-out"] {
        let mut hits = directory.search(query);
        hits.sort();
        assert_eq!(hits, ["joined", "split"], "{query}");
    }
}

#[test]
fn accents_are_folded_and_the_exact_spelling_comes_first() {
    let directory = Directory::of(&[product("plain", "Zurich Safety"), product("accented", "Zürich Safety")]);
    assert_eq!(directory.search("zürich"), ["accented", "plain"]);
    assert_eq!(directory.search("zurich"), ["plain", "accented"]);
}

#[test]
fn names_with_symbols_are_found() {
    let names = ["C++", "C#", ".NET", "R", "k6", "C"];
    let directory = Directory::of(&names.map(|name| product(name, name)));
    for name in names {
        assert_eq!(directory.search(name).first().map(String::as_str), Some(name), "{name}");
    }
}

#[test]
fn words_in_any_script_are_found() {
    let directory =
        Directory::of(&[product("zh", "安全管理系统"), product("ru", "Охрана труда"), product("el", "Ασφάλεια")]);
    for (query, id) in [("管理", "zh"), ("安全管理", "zh"), ("охрана", "ru"), ("ασφαλεια", "el")] {
        assert_eq!(directory.search(query), [id], "{query}");
    }
}

#[test]
fn a_whole_sentence_finds_what_it_is_about() {
    let directory = Directory::of(&[product("permit", "Permit Manager"), product("audit", "Audit Manager")]);
    let answer =
        directory.answer("What is the best tool that our contractors could use for permits in a refinery today?", true);
    assert_eq!(answer.ids.first().map(String::as_str), Some("permit"));
    assert!(answer.dropped.contains(&"refinery".to_owned()), "{:?}", answer.dropped);
}

#[test]
fn british_and_american_spellings_find_each_other() {
    let directory = Directory::of(&[product("uk", "Organisation of Labour"), product("us", "Organization of Labor")]);
    assert_eq!(directory.search("organisation labour"), ["uk", "us"]);
    assert_eq!(directory.search("organization labor"), ["us", "uk"]);
}

#[test]
fn phrases_must_appear_and_exclusions_must_not() {
    let directory = Directory::of(&[product("row", "Hot work permits"), product("apart", "Work in hot areas")]);
    assert_eq!(directory.search("\"hot work\""), ["row"]);
    assert_eq!(directory.search("hot -permits"), ["apart"]);
    assert_eq!(directory.search("-permits"), ["apart"], "everything without the excluded word");
}

#[test]
fn a_phrase_that_no_product_contains_falls_back_to_its_words_and_is_reported() {
    let directory =
        Directory::of(&[product("apart", "Audit: work in hot areas"), product("other", "Cold storage audit")]);
    for (query, phrase) in
        [("\"hot work\"", "hot work"), ("audit \"hot work\"", "hot work"), ("\"hot unknown\"", "hot unknown")]
    {
        let answer = directory.answer(query, true);
        assert_eq!(answer.ids.first().map(String::as_str), Some("apart"), "{query}");
        assert!(
            answer.corrected.contains(&(format!("\"{phrase}\""), phrase.to_owned())),
            "{query}: {:?}",
            answer.corrected
        );
    }
    assert!(directory.answer("\"hot areas\"", true).corrected.is_empty(), "a phrase that is found");
    assert!(directory.answer("\"hot work\"", false).ids.is_empty(), "as typed");
}

#[test]
fn a_misspelled_prefix_is_corrected_if_nothing_else_is_found() {
    let directory = Directory::of(&[product("bench", "Calibration bench"), product("desk", "Service desk")]);
    let alone = directory.answer("calbra", true);
    assert_eq!(alone.ids, ["bench"]);
    assert_eq!(alone.corrected, [("calbra".to_owned(), "calibration".to_owned())]);
    let beside = directory.answer("desk calbra", true);
    assert_eq!(beside.ids, ["desk"]);
    assert_eq!((beside.corrected, beside.dropped), (Vec::new(), vec!["calbra".to_owned()]));
}

#[test]
fn function_words_in_a_long_query_do_not_count() {
    let directory =
        Directory::of(&[product("chatty", "Zulu, what is the use of it for you"), product("plain", "Zulu clock")]);
    assert_eq!(directory.search("zulu for you"), ["chatty", "plain"], "a short query");
    let question = directory.answer("what is the zulu for you", true);
    assert_eq!(question.ids, ["plain", "chatty"]);
    assert!(question.dropped.is_empty(), "{:?}", question.dropped);
}

#[test]
fn words_tied_with_the_tenth_in_frequency_are_also_searched_for() {
    let words =
        ["alfa", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel", "india", "juliett", "kilo", "lima"];
    let directory = Directory::of(&words.map(|word| product(word, &format!("{word} station"))));
    let answer = directory.answer(&words.join(" "), true);
    assert_eq!((answer.ids.len(), answer.dropped.len()), (12, 0), "{:?}", answer.dropped);
}

#[test]
fn pages_tile_the_result_whatever_its_tiers() {
    let records: Vec<_> = (0..35)
        .map(|n| {
            let name = if n % 3 == 0 { "Audit tracker" } else { "Audit" };
            product(&format!("p{n:02}"), &format!("{name} {n}"))
        })
        .collect();
    let directory = Directory::of(&records);
    for query in ["audit", "audit tracker", "tracker 7", ""] {
        let whole = directory.page(query, 100, 0);
        let mut walked = Vec::new();
        for offset in (0..).step_by(7).take_while(|offset| *offset < whole.1) {
            let page = directory.page(query, 7, offset);
            assert_eq!(page.1, whole.1, "the total is the same on every page");
            walked.extend(page.0);
        }
        assert_eq!(walked, whole.0, "{query}");
        assert_eq!(walked.len() as u64, whole.1, "{query}");
    }
}

#[test]
fn highlights_mark_typos_and_prefixes_and_escape_markup() {
    let directory = Directory::of(&[json!({
        "id": "a", "name": "Permit <script>alert(1)</script>", "tagline": "Inspections & permits",
    })]);
    let expected = [
        ("name", "<mark>Permit</mark> &lt;script&gt;alert(1)&lt;/script&gt;"),
        ("tagline", "<mark>Inspections</mark> &amp; <mark>permits</mark>"),
    ];
    assert_eq!(directory.highlights("permt insp"), owned(&expected));
}

#[test]
fn highlights_mark_both_halves_of_a_split_compound() {
    let directory = Directory::of(&[json!({
        "id": "a", "name": "Permit Planner", "tagline": "Lock, and outside", "tags": ["lock", "Out", "LOCK out", "A lock out"],
        "description": "Who can lock, locks out.\nA \"lock-out\" is planned \\ once.",
    })]);
    // Words from two different values don't match, and neither do single words.
    let tags = [("tags", "<mark>LOCK out</mark>"), ("tags", "A <mark>lock out</mark>")];
    let description = (
        "description",
        "Who can lock, locks out.\nA &quot;<mark>lock</mark>-<mark>out</mark>&quot; is planned \\ once.",
    );
    assert_eq!(directory.highlights("lockout"), owned(&[tags[0], tags[1], description]));
}

#[test]
fn text_beyond_the_budget_is_searched_only_for_words() {
    let description = |filler: usize| format!("A ptw suite, or a permit to work suite.{}", " again".repeat(filler));
    let directory = |filler| {
        let product = json!({"id": "a", "name": "A", "description": description(filler)});
        Directory::with(&[product], &json!({"synonyms": [{"terms": ["permit to work", "ptw"]}]}))
    };
    let (short, long) = (directory(10), directory(6_000));
    let whole = "A <mark>ptw suite</mark>, or a <mark>permit to work suite</mark>.";
    let words = "A <mark>ptw suite</mark>, or a permit to work <mark>suite</mark>.";
    assert!(!short.is_incomplete("ptw suite") && long.is_incomplete("ptw suite"));
    for (directory, expected) in [(short, whole), (long, words)] {
        let [(field, html)] = &directory.highlights("ptw suite")[..] else { panic!("one highlight") };
        assert!(field == "description" && html.starts_with(expected), "{html:.80}");
    }
}

#[test]
fn a_word_with_too_many_similar_words_is_not_corrected() {
    let directory = |words: usize| {
        let near: Vec<_> = ('\u{17000}'..).take(words).map(|letter| format!("saf{letter}tey")).collect();
        Directory::of(&[json!({"id": "a", "name": "A", "description": near.join(" ")})])
    };
    let (few, many) = (directory(1), directory(6_000));
    assert!(!few.is_incomplete("saftey") && many.is_incomplete("saftey"));
    assert_eq!(few.answer("saftey", true).corrected, [("saftey".to_owned(), "saf\u{17000}tey".to_owned())]);
    assert_eq!(many.answer("saftey", true).corrected, []);
}

#[test]
fn text_that_is_slow_to_read_is_left_unmarked_beyond_the_budget() {
    let slow = |words: usize| format!("e{} ", "\u{301}".repeat(200)).repeat(words);
    let directory = |words: usize| {
        let product = |n: u32| json!({"id": format!("{n}"), "name": "An audit", "description": slow(words) + "audit"});
        Directory::of(&(0..4).map(product).collect::<Vec<_>>())
    };
    let (short, long) = (directory(5), directory(2_000));
    let name = ("name".to_owned(), "An <mark>audit</mark>".to_owned());
    assert!(!short.is_incomplete("audit") && long.is_incomplete("audit"));
    assert_eq!(short.highlights("audit").len(), 2);
    assert_eq!(long.highlights("audit"), [name]);
    // The hits themselves are all there.
    assert_eq!(long.page("audit", 100, 0).1, 4);
}

#[test]
fn highlights_come_in_field_order_each_with_its_own_words() {
    let directory = Directory::of(&[json!({
        "id": "a", "name": "Audit Planner", "aliases": ["Old Planner", "Audit of Old"], "tagline": "Plans every audit",
        "categories": ["Audit management"], "tags": ["plan", "audit"], "vendor": "Audit Works", "standards": ["Audit 9"],
        "features": ["plan", "audit trail"], "deployment": ["audit"], "languages": ["audit"], "description": "An audit.",
    })]);
    let expected = [
        ("name", "<mark>Audit</mark> Planner"),
        ("aliases", "<mark>Audit</mark> of Old"),
        ("tagline", "Plans every <mark>audit</mark>"),
        ("categories", "<mark>Audit</mark> management"),
        ("tags", "<mark>audit</mark>"),
        ("vendor", "<mark>Audit</mark> Works"),
        ("standards", "<mark>Audit</mark> 9"),
        ("features", "<mark>audit</mark> trail"),
        ("description", "An <mark>audit</mark>."),
    ];
    assert_eq!(directory.highlights("audit"), owned(&expected));
    assert_eq!(directory.highlights("trail"), owned(&[("features", "audit <mark>trail</mark>")]));
}

fn owned(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(field, html)| ((*field).to_owned(), (*html).to_owned())).collect()
}
