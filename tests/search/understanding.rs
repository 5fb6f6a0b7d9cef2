//! Intent, corrections, prefixes, demo records and highlights in searches.

use serde_json::{Value, json};
use software_directory::service::Prefix;

use crate::search::ask::{Directory, product};

fn chats() -> Vec<Value> {
    vec![
        json!({"id": "slack", "name": "Slack", "category": "Chat", "tagline": "Chat for teams"}),
        json!({"id": "listed", "name": "Mattermost", "category": "Chat", "alternative_to": ["Slack", "Microsoft Teams"]}),
        json!({"id": "told", "name": "Zulip", "category": "Chat", "tagline": "A threaded alternative to Slack."}),
        json!({"id": "same", "name": "Element", "category": "Chat", "tagline": "Messages"}),
        json!({"id": "with", "name": "Zap", "category": "Automation", "tagline": "Sends alerts to Slack"}),
        json!({"id": "other", "name": "Lantern", "category": "Audits", "tagline": "Audit software"}),
    ]
}

#[test]
fn alternatives_exclude_the_product_and_precede_its_category() {
    let directory = Directory::of(&chats());
    for query in
        ["alternative to slack", "slack alternatives", "best free software like Slack", "replace slack", "Slack clone"]
    {
        let answer = directory.answer(query, true);
        assert_eq!(answer.alternatives_to.map(|name| name.to_lowercase()).as_deref(), Some("slack"), "{query}");
        let mut best = answer.ids[..2].to_vec();
        best.sort();
        assert_eq!(best, ["listed", "told"], "{query}: {:?}", answer.ids);
        let mut rest = answer.ids[2..].to_vec();
        rest.sort();
        assert_eq!(rest, ["same", "with"], "{query}");
    }
    assert_eq!(directory.answer("microsoft teams alternative", true).ids[0], "listed");
    let chat = ("categories".to_owned(), "<mark>Chat</mark>".to_owned());
    assert!(directory.highlights("alternative to slack").contains(&chat), "a category may be all that matches");
}

#[test]
fn alternatives_with_additional_words_come_from_the_products_category() {
    let directory = Directory::of(&chats()[..1].iter().chain(&chats()[3..]).cloned().collect::<Vec<_>>());
    for query in ["alternative to slack chat", "slack alternative chat"] {
        let answer = directory.answer(query, true);
        assert_eq!((answer.ids[0].as_str(), answer.alternatives_to.as_deref()), ("same", Some("slack")), "{query}");
        assert!(!answer.ids.contains(&"slack".to_owned()), "{query}");
    }
}

#[test]
fn without_alternatives_the_most_similar_products_are_found_without_the_product_itself() {
    let directory = Directory::of(&chats()[..1].iter().chain(&chats()[3..]).cloned().collect::<Vec<_>>());
    // One product shares the category, and the other is close in meaning.
    assert_eq!(directory.similar("slack"), ["same", "with"]);
    for query in [
        "alternative to slack",
        "slack replacement",
        "apps like Slack",
        "programs like slack",
        "software similar to slack",
        "replace slack",
        "instead of slack",
        "slack clone",
        "switch from slack",
        "migrating from slack",
    ] {
        let answer = directory.answer(query, true);
        assert_eq!(answer.ids[0], "same", "{query}");
        assert!(!answer.ids.contains(&"slack".to_owned()), "{query}");
        assert_eq!(answer.alternatives_to.map(|name| name.to_lowercase()).as_deref(), Some("slack"), "{query}");
        assert_eq!(answer.alternatives_to_id.as_deref(), Some("slack"), "{query}");
    }
    for query in ["slack", "open source slack", "slack for linux", "teams like slack"] {
        let answer = directory.answer(query, true);
        assert_eq!((answer.ids[0].as_str(), answer.alternatives_to), ("slack", None), "{query}");
    }
}

#[test]
fn alternatives_end_where_the_likeness_ends() {
    let in_category = |id: String, category: &str| json!({"id": id, "name": id, "url": "https://a.example.org/", "category": category, "tagline": format!("For {category}")});
    let few: Vec<_> = (0..4).map(|n| in_category(format!("chat{n}"), "Chat")).collect();
    let many: Vec<_> = (0..30).map(|n| in_category(format!("chat{n}"), "Chat")).collect();
    let other = (0..30).map(|n| in_category(format!("other{n}"), "Other"));
    for (products, count) in [(few, 3), (many, 10)] {
        let products: Vec<_> = products.into_iter().chain(other.clone()).collect();
        let answer = Directory::of(&products).answer("chat0 alternatives", true);
        assert_eq!(answer.ids.len(), count, "{:?}", answer.ids);
        assert!(answer.ids.iter().all(|id| id.starts_with("chat") && id != "chat0"), "{:?}", answer.ids);
    }
}

#[test]
fn words_beside_a_replaced_product_are_optional_and_count_less() {
    let mut products = chats();
    products.extend([
        json!({"id": "linux", "name": "Rocket", "category": "Chat", "tagline": "Linux", "alternative_to": "Slack"}),
        json!({"id": "os", "name": "Tux", "category": "Systems", "tagline": "Linux, open source and self-hosted for small teams"}),
    ]);
    let directory = Directory::of(&products);
    for query in [
        "open source alternative to Slack",
        "self-hosted alternative to Slack",
        "alternative to Slack for small teams",
        "something like Slack but self-hosted",
        "what can I use instead of Slack",
        "Slack or similar",
        "kostenlose Alternative zu Slack",
        "Slack ersetzen",
        "alternative à Slack",
        "alternative gratuite à Slack",
        "à la place de Slack",
        "alternativa a Slack gratis",
        "en lugar de Slack",
        "al posto di Slack",
    ] {
        let answer = directory.answer(query, true);
        assert_eq!(answer.alternatives_to.as_deref(), Some("Slack"), "{query}");
        let mut best = answer.ids[..3].to_vec();
        best.sort();
        assert_eq!(best, ["linux", "listed", "told"], "{query}: {:?}", answer.ids);
        assert!(!answer.ids.contains(&"slack".to_owned()), "{query}");
    }
    assert_eq!(directory.answer("Slack alternative for linux", true).ids[0], "linux");
}

#[test]
fn an_or_between_names_compares_them() {
    let directory = Directory::of(&chats());
    for query in ["zulip or element", "Zulip oder Element", "zulip ou element", "zulip o element", "zulip vs element"] {
        let mut ids = directory.answer(query, true).ids;
        ids.truncate(2);
        ids.sort();
        assert_eq!(ids, ["same", "told"], "{query}");
    }
}

#[test]
fn products_with_an_unwanted_word_come_last() {
    let directory = Directory::of(&[
        json!({"id": "cloud", "name": "Cloud Wiki", "tagline": "A wiki in the cloud"}),
        json!({"id": "plain", "name": "Papers", "tagline": "A wiki on paper"}),
        json!({"id": "code", "name": "Blocks", "tagline": "A no-code wiki"}),
    ]);
    for query in [
        "wiki without cloud",
        "wiki not cloud",
        "wiki no cloud",
        "Wiki ohne Cloud",
        "wiki sans cloud",
        "wiki sin cloud",
    ] {
        let answer = directory.answer(query, true);
        assert_eq!(answer.unwanted, ["cloud"].map(|word| query[query.len() - word.len()..].to_owned()), "{query}");
        assert_eq!((answer.ids.len(), answer.ids[2].as_str()), (3, "cloud"), "{query}");
    }
    let answer = directory.answer("no code wiki", true);
    assert_eq!((answer.ids[0].as_str(), answer.unwanted), ("code", Vec::new()));
    assert_eq!(directory.answer("wiki no code", true).ids[0], "code", "the words belong together");
}

#[test]
fn values_of_attributes_are_recognised_and_put_products_first() {
    let attributes = json!({"attributes": [
        {"property": "licence", "label": "Licence"},
        {"property": "open_source", "label": "Open source", "type": "boolean", "translations": {"de": {"label": "quelloffen"}}},
        {"property": "secret", "label": "Secret", "hidden": true},
    ]});
    let wiki = |id: &str, more: Value| {
        let mut product = json!({"id": id, "name": id, "tagline": "A wiki"});
        product.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        product
    };
    let directory = Directory::with(
        &[
            wiki("first", json!({"rating": 5.0, "review_count": 9, "licence": "MIT"})),
            wiki("agpl", json!({"licence": "AGPL-3.0-only", "secret": "Falcon"})),
            wiki("open", json!({"open_source": true, "licence": ["AGPL-3.0", "GPL-2.0"]})),
            wiki("spanish", json!({"languages": ["Spanish", "Go"], "open_source": false})),
        ],
        &attributes,
    );
    let understood = |query: &str| {
        let answer = directory.answer(query, true);
        assert_eq!(answer.ids.len(), 4, "{query}: {:?}", answer.ids);
        (answer.ids[0].clone(), answer.understood)
    };
    let of = |words: &str, attribute: &str, values: &[&str]| {
        vec![(words.to_owned(), attribute.to_owned(), values.iter().map(ToString::to_string).collect::<Vec<_>>())]
    };
    for query in ["wiki under AGPL", "AGPL wiki", "wiki licensed under the AGPL", "wiki with agpl licence"] {
        let (first, values) = understood(query);
        assert!(["agpl", "open"].contains(&first.as_str()), "{query}: {first}");
        assert_eq!(values[0].2, ["AGPL-3.0", "AGPL-3.0-only"], "{query}");
    }
    assert_eq!(understood("wiki under MIT"), ("first".to_owned(), of("MIT", "licence", &["MIT"])));
    for query in ["open source wiki", "opensource wiki", "open-source wiki"] {
        let (first, values) = understood(query);
        assert_eq!(
            (first.as_str(), &*values[0].1, &*values[0].2),
            ("open", "open_source", &["true".to_owned()][..]),
            "{query}"
        );
    }
    assert_eq!(understood("quelloffen wiki").0, "open", "a label in another language");
    assert_eq!(understood("wiki in Spanish"), ("spanish".to_owned(), of("Spanish", "languages", &["Spanish"])));
    assert_eq!(understood("wiki in Go"), ("spanish".to_owned(), of("Go", "languages", &["Go"])));
    assert_eq!(directory.answer("go wiki", true).understood, [], "a short word needs a preposition");
    assert_eq!(directory.answer("wiki Falcon", true).understood, [], "hidden");
    let alone = directory.answer("AGPL", true);
    let mut ids = alone.ids;
    ids.sort();
    assert_eq!(ids, ["agpl", "open"], "without other words, a product must have the value");
}

#[test]
fn either_all_misspelled_words_are_corrected_or_none() {
    let directory = Directory::of(&[product("safe", "Password Manager"), product("food", "Recipes")]);
    let answer = directory.answer("passwrd manger", true);
    assert_eq!((answer.ids[0].as_str(), answer.corrected.len()), ("safe", 2));
    assert!(directory.answer("manger", true).corrected.is_empty(), "a correct word on its own");
}

#[test]
fn the_beginning_of_a_synonym_completes_it() {
    let directory = Directory::with(
        &[product("clock", "Time tracking"), product("other", "Recipes")],
        &json!({"synonyms": [{"terms": ["time tracking", "Zeiterfassung"]}]}),
    );
    assert_eq!(directory.answer("zeiter", true).ids, ["clock"]);
}

#[test]
fn a_name_that_no_product_has_finds_its_listed_alternatives() {
    let directory = Directory::of(&chats());
    for query in ["open source microsoft teams", "self-hosted Microsoft Teams", "Microsoft Teams for Linux"] {
        let answer = directory.answer(query, true);
        assert_eq!((answer.ids[0].as_str(), answer.alternatives_to.is_some()), ("listed", true), "{query}");
    }
}

#[test]
fn a_product_that_contains_only_generic_words_does_not_count_as_having_all_words() {
    let directory = Directory::of(&[
        json!({"id": "free", "name": "Lantern", "tagline": "Free software"}),
        json!({"id": "audit", "name": "Audit", "tagline": "Checklists"}),
    ]);
    let answer = directory.answer("free alternative to xylophones", true);
    assert_eq!((answer.ids, answer.with_all_words), (Vec::<String>::new(), 0));
    assert_eq!(answer.unknown, ["xylophones"]);
    let answer = directory.answer("xylophone audit", true);
    assert_eq!((answer.ids, answer.with_all_words), (vec!["audit".to_owned()], 1));
    assert_eq!((answer.unknown, answer.dropped), (vec!["xylophone".to_owned()], vec!["xylophone".to_owned()]));
    let found = directory.answer("free audit ", true);
    assert!(found.unknown.is_empty() && found.with_all_words == 1, "intent words never count as missing");
}

#[test]
fn synonyms_of_corrected_words_count_and_words_only_in_synonyms_can_be_corrections() {
    let directory = Directory::with(
        &[product("loto", "Isolation Manager"), product("ladder", "Ladder Register")],
        &json!({"synonyms": [{"terms": ["lockout", "isolation"]}, {"terms": ["scaffold", "ladder"]}]}),
    );
    for (query, corrected, id) in
        [("isolaton ", "isolation", "loto"), ("lockoot ", "lockout", "loto"), ("scafold ", "scaffold", "ladder")]
    {
        let answer = directory.answer(query, true);
        assert_eq!(answer.corrected, [(query.trim().to_owned(), corrected.to_owned())]);
        assert_eq!(answer.ids, [id], "{query}");
    }
    assert_eq!(directory.answer("lockoot ", true).synonyms, [("lockoot".to_owned(), "isolation".to_owned())]);
}

#[test]
fn names_are_found_without_a_technical_suffix_and_by_an_acronym_in_brackets() {
    for (query, name) in [
        ("aws", "Amazon Web Services (AWS)"),
        ("vue", "Vue.js"),
        ("postgres", "PostgreSQL"),
        ("mongo", "MongoDB"),
        ("heroku", "heroku-cli"),
        ("csharp", "C#"),
        ("dotnet", ".NET"),
    ] {
        let directory = Directory::of(&[
            json!({"id": "name", "name": name}),
            json!({"id": "word", "name": "Lantern", "tagline": format!("{query} {query} {query}"), "rating": 5.0, "review_count": 99}),
            product("longer", &format!("{query} {query} Studio")),
        ]);
        assert_eq!(directory.search(query)[0], "name", "{query}");
    }
}

#[test]
fn acronyms_are_not_corrected() {
    let directory = Directory::of(&[product("ample", "Ample Same"), product("x", "Lantern")]);
    for query in ["AMPLR", "AMPLR lantern", "SamR lantern"] {
        assert_eq!(directory.answer(query, true).corrected, [], "{query}");
    }
    assert_eq!(directory.answer("AMPLR LANTERN", true).corrected.len(), 1, "the whole query is in capitals");
}

#[test]
fn function_words_of_other_languages_are_optional() {
    let directory = Directory::of(&[product("mail", "Servidor Correo"), product("other", "Servidor")]);
    for query in ["servidor de correo", "el servidor para correo", "servidor con el correo"] {
        assert_eq!(directory.answer(query, true).with_all_words, 1, "{query}");
    }
}

#[test]
fn a_word_is_split_only_if_some_product_has_both_words() {
    let directory = Directory::of(&[product("photo", "Photo Album"), product("shop", "Our Shop")]);
    assert_eq!(directory.search("photoshop"), [""; 0]);
}

#[test]
fn unknown_words_are_split_into_two_words_from_the_directory() {
    let directory = Directory::of(&[
        product("score", "Score Editor for the Writer"),
        product("graphics", "3D Viewer, Graphics Toolkit"),
        product("sheets", "Safety Sheets"),
        product("hot", "Hot Work 500"),
    ]);
    for (query, split, id) in [
        ("scorewriter", "score writer", "score"),
        ("3dgraphics ", "3d graphics", "graphics"),
        ("SafetySheets", "safety sheets", "sheets"),
        ("editor scorewriter", "score writer", "score"),
    ] {
        let answer = directory.answer(query, true);
        let from = query.split_whitespace().last().expect("a word").to_owned();
        let corrected = if id == "sheets" { vec![] } else { vec![(from, split.to_owned())] };
        assert_eq!((answer.ids[0].as_str(), answer.corrected), (id, corrected), "{query}");
        assert_eq!((answer.with_all_words, answer.dropped.len()), (1, 0), "{query}");
    }
    // Names with adjacent words are found anyway. Numbers, common words and sentences aren't split.
    for query in ["500500", "hotwriterx", "hotshot", "which program is a good scorewriter"] {
        let answer = directory.answer(query, true);
        assert!(answer.corrected.iter().all(|(_, to)| !to.contains(' ')), "{query}: {:?}", answer.corrected);
    }
    assert!(directory.answer("scorewriter", false).ids.is_empty(), "not with typo=false");
}

#[test]
fn names_are_not_misspellings() {
    let directory = Directory::of(&[product("parts", "Parts Manager"), product("gnome", "Gnome Keeper")]);
    for name in ["paris ", "Paris ", "what can we do for gnomes in Pxrts"] {
        assert_eq!(directory.answer(name, true).corrected, [], "{name}");
    }
    for (text, wrong, right) in [("pxrts ", "pxrts", "parts"), ("Garden Gnomme ", "Gnomme", "gnome")] {
        assert_eq!(directory.answer(text, true).corrected, [(wrong.to_owned(), right.to_owned())], "{text}");
    }
}

#[test]
fn a_cue_with_another_meaning_is_an_ordinary_word() {
    let directory = Directory::of(&[
        json!({"id": "git", "name": "Git", "category": "Versions"}),
        json!({"id": "clone", "name": "Mirror", "category": "Backup", "tagline": "Runs git clone on a schedule"}),
    ]);
    let answer = directory.answer("git clone", true);
    assert_eq!((answer.alternatives_to, answer.ids.len()), (None, 2));
    let answer = Directory::of(&chats()).answer("alternative to xylophones", true);
    assert_eq!((answer.alternatives_to, answer.dropped), (None, vec!["xylophones".to_owned()]));
}

#[test]
fn intent_words_do_not_count_if_other_words_do() {
    let directory = Directory::of(&[
        json!({"id": "audit", "name": "Lantern", "tagline": "Audits"}),
        json!({"id": "tool", "name": "Best Tool", "tagline": "Free software"}),
        json!({"id": "rogue", "name": "Rogue-like", "tagline": "A game"}),
    ]);
    let answer = directory.answer("best free audit tool ", true);
    assert_eq!(
        (answer.by_words(), &answer.dropped[..], answer.with_all_words),
        (&["audit".to_owned()][..], &[][..], 1)
    );
    assert_eq!(directory.search("best tool "), ["tool"], "they do count on their own");
    assert_eq!(directory.search("rogue-like game "), ["rogue"], "and as part of another word");
    assert_eq!(directory.answer("rogue-like xylophone", true).ids, ["rogue"]);
}

#[test]
fn both_compared_products_are_found() {
    let mut products = chats();
    products.push(
        json!({"id": "many", "name": "Slack Mattermost bridge", "tagline": "Slack and Mattermost, Slack, Mattermost"}),
    );
    let hits = Directory::of(&products).search("slack vs mattermost");
    assert!(hits[..2].contains(&"slack".into()) && hits[..2].contains(&"listed".into()), "{hits:?}");
    assert_eq!(hits[2], "many");
}

#[test]
fn lowercase_not_excludes_products_and_uppercase_not_excludes_any_word() {
    let directory = Directory::of(&chats());
    let answer = directory.answer("chat not slack", true);
    assert!(!answer.ids.contains(&"slack".to_owned()) && answer.ids.contains(&"same".into()), "{:?}", answer.ids);
    assert_eq!(answer.excluded, ["slack"]);
    let answer = directory.answer("chat NOT messages", true);
    assert_eq!((answer.ids.contains(&"same".to_owned()), answer.excluded), (false, vec!["messages".to_owned()]));
    let answer = directory.answer("chat not messages", true);
    assert!(answer.ids.contains(&"same".to_owned()) && answer.excluded.is_empty());
    assert_eq!(directory.answer("chat -slack", true).excluded, ["slack"]);
}

#[test]
fn common_words_are_never_corrected() {
    let directory = Directory::of(&[product("stack", "Stack Gate"), product("desktop", "Desktop")]);
    for word in ["slack", "game", "desk ", "stick"] {
        let answer = directory.answer(word, true);
        assert_eq!((answer.by_words(), answer.corrected.len()), (&[][..], 0), "{word}");
    }
    assert_eq!(directory.answer("stakc", true).corrected, [("stakc".to_owned(), "stack".to_owned())]);
}

#[test]
fn a_complete_word_is_a_prefix_only_if_there_are_too_few_results() {
    let mut products: Vec<_> = (0..10).map(|n| product(&n.to_string(), "Desk")).collect();
    products.push(product("top", "Desktop"));
    let directory = Directory::of(&products);
    let finds = |text: &str| {
        let has = |prefix| directory.search_as(text, prefix).contains(&"top".to_owned());
        [Prefix::Auto, Prefix::Always, Prefix::Never].map(has)
    };
    assert_eq!(finds("desk"), [false, true, false]);
    assert_eq!(finds("deskt"), [true, true, false], "not a word itself");
    let few = Directory::of(&[product("desk", "Desk"), product("top", "Desktop")]);
    assert_eq!(few.search("desk"), ["desk", "top"], "too little is found");
    assert_eq!(few.search_as("desk", Prefix::Never), ["desk"]);
}

#[test]
fn names_are_found_however_they_are_joined() {
    let directory = Directory::of(&[
        product("rocket", "Rocket.Chat"),
        product("wiki", "Wiki.js"),
        json!({"id": "near", "name": "Lantern", "tagline": "Near miss reports", "description": "Runs on node.js."}),
    ]);
    for (query, id) in [
        ("rocketchat", "rocket"),
        ("rocket chat", "rocket"),
        ("wikijs", "wiki"),
        ("nodejs", "near"),
        ("nearmisses", "near"),
    ] {
        assert_eq!(directory.search(query), [id], "{query}");
    }
    assert_eq!(directory.highlights("nearmisses"), [("tagline".into(), "<mark>Near miss</mark> reports".into())]);
}

#[test]
fn one_letter_finds_names_that_begin_with_it() {
    let directory = Directory::of(&[
        product("r", "R"),
        json!({"id": "rocket", "name": "Rocket", "tagline": "Really long reports"}),
        json!({"id": "other", "name": "Lantern", "tagline": "Little reports"}),
    ]);
    assert_eq!(directory.search("r"), ["r", "rocket"]);
    assert_eq!(directory.highlights("l"), [("name".into(), "<mark>Lantern</mark>".into())], "only in names");
}

#[test]
fn demo_records_rank_after_real_ones() {
    let demo = json!({"id": "demo", "name": "Audit permits", "url": "https://demo.example", "rating": 5.0, "review_count": 99});
    let real = [
        demo,
        json!({"id": "all", "name": "Lantern", "description": format!("{}An audit of permits", "Filler. ".repeat(90))}),
        product("some", "Audit"),
        json!({"id": "some-demo", "name": "Audit audit", "url": "https://demo.example"}),
    ];
    let directory = Directory::of(&real);
    let answer = directory.answer("audit permits ", true);
    assert_eq!(
        (answer.ids, answer.with_all_words),
        (["some", "all", "demo", "some-demo"].map(str::to_owned).into(), 2)
    );
    let demos = Directory::of(&[real[0].clone(), real[3].clone()]);
    assert_eq!(demos.search("audit permits "), ["demo", "some-demo"], "on their own, they rank like real ones");
}

#[test]
fn the_response_says_how_many_products_match_all_words() {
    let directory = Directory::of(&[product("a", "Audit permits"), product("b", "Audit"), product("c", "Permits")]);
    let answer = directory.answer("audit permits", true);
    assert_eq!((answer.ids.len(), answer.with_all_words), (3, 1));
    assert_eq!(directory.answer("audit", true).with_all_words, 2);
    assert_eq!(directory.answer("", true).with_all_words, 3);
}

#[test]
fn a_match_says_whether_a_synonym_or_category_description_explains_it() {
    let directory = Directory::with(
        &[json!({"id": "a", "name": "Lantern", "category": "Control of work", "tagline": "PTW for sites"})],
        &json!({
            "categories": [{"name": "Control of work", "description": "Isolations and permits for hazardous jobs"}],
            "synonyms": [{"terms": ["permit to work", "ptw"]}],
        }),
    );
    assert_eq!(directory.marked_by_synonym("permit to work"), ["tagline"]);
    assert_eq!(directory.marked_by_synonym("ptw"), [""; 0]);
    let marked = directory.highlights("lantern isolation");
    let expected = [
        ("name", "<mark>Lantern</mark>"),
        ("category_description", "<mark>Isolations</mark> and permits for hazardous jobs"),
    ];
    assert_eq!(marked, expected.map(|(field, html)| (field.to_owned(), html.to_owned())));
}

#[test]
fn only_synonyms_that_occur_in_records_are_reported() {
    let directory = Directory::with(
        &[product("long", "Permit to Work Suite"), product("short", "PTW Suite")],
        &json!({"synonyms": [{"terms": ["permit to work", "ptw", "permis de travail"]}]}),
    );
    let answer = directory.answer("ptw", true);
    assert_eq!(answer.synonyms, [("ptw".to_owned(), "permit to work".to_owned())]);
    let mut hits = directory.search("permis de travail");
    hits.sort();
    assert_eq!(hits, ["long", "short"]);
}

#[test]
fn a_word_that_occurs_only_in_synonyms_is_still_a_prefix() {
    let directory =
        Directory::with(&[product("vanguard", "Vanguard")], &json!({"synonyms": [{"terms": ["va", "varia"]}]}));
    assert_eq!(directory.search("va"), ["vanguard"]);
}

#[test]
fn among_products_with_the_same_words_the_closest_in_meaning_comes_first() {
    let products = [
        // If meanings were ignored, the name would break the tie.
        json!({"id": "far", "name": "Alpha", "tagline": "Photo of your tax ledger for accountants"}),
        json!({"id": "near", "name": "Beta", "tagline": "Photo album of your camera and pictures"}),
        // This text isn't in the meaning table's language.
        json!({"id": "german", "name": "Gamma", "tagline": "Photo und Bilder deiner Kamera in Alben"}),
        json!({"id": "named", "name": "Photo", "tagline": "Ledger for accountants"}),
    ];
    let directory = Directory::of(&products);
    assert_eq!(directory.search("photo"), ["named", "near", "far", "german"]);
    // Words that no product contains still add to the meaning.
    assert_eq!(directory.search("photo taxation"), ["named", "far", "near", "german"]);
    // Typos are corrected first.
    assert_eq!(directory.search("phtoo"), directory.search("photo"));
}
