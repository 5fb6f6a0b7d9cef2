//! Random directories and queries. Their words share stems, prefixes and compounds, and some are
//! misspelled.

use std::collections::BTreeSet;
use std::path::Path;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::Query;
use crate::catalogue::{AttributeCondition, Order, SoftwareFilter, SortedBy};
use crate::export::{self, Export, Limits, SourceFile};
use crate::record::{AttributeNumber, BUILT_IN, OfferingType};
use crate::search::expand::{Options, Prefix};

/// Words that share stems, prefixes and compounds, are misspellings of each other, or are optional.
/// The most frequent come first.
const WORDS: [&str; 28] = [
    "audit",
    "software",
    "the",
    "audits",
    "permit",
    "work",
    "to",
    "management",
    "permits",
    "lock",
    "out",
    "lockout",
    "iso",
    "9001",
    "iso9001",
    "safety",
    "saftey",
    "of",
    "zürich",
    "zurich",
    "c++",
    "auditing",
    "risk",
    "x",
    "tabelle",
    "tabellen",
    "prüfung",
    "évaluation",
];

/// The numbers of these exports' attributes, including the sortable ones.
const ATTRIBUTES: std::ops::Range<AttributeNumber> = 0..BUILT_IN.len() + 5;
const SORTABLE: std::ops::Range<AttributeNumber> = BUILT_IN.len() + 1..BUILT_IN.len() + 4;

/// Attribute conditions, including values that don't occur and an attribute that doesn't exist.
const CONDITIONS: [(&str, &str); 16] = [
    ("tags", "SAFETY"),
    ("tags", "audit"),
    ("tags", "other"),
    ("licence", "lock-out"),
    ("licence", "AUDIT"),
    ("licence", "other"),
    ("price", "10..50"),
    ("price", "..20.5"),
    ("price", "21"),
    ("price", "-1e3..0"),
    ("open_source", "true"),
    ("open_source", "false"),
    ("released_on", "2005-01-01.."),
    ("released_on", "2001-02-03"),
    ("platforms", "linux"),
    ("unknown", "audit"),
];

pub(in crate::index) fn exports(software: &[Value]) -> Vec<Export> {
    let document = json!({
        "name": "test", "license": "https://example.org/licence", "software": software,
        "synonyms": [{"terms": ["permit to work", "lockout"]}],
        "pins": [
            {"queries": ["audit", "safety permit"], "software": ["p3", "p9", "p0"]},
            {"queries": ["rare"], "software": ["p7", "p11", "p300"]},
        ],
        "attributes": [
            {"property": "licence", "label": "Licence"},
            {"property": "price", "label": "Price", "type": "number"},
            {"property": "open_source", "label": "Open source", "type": "boolean"},
            {"property": "released_on", "label": "Released", "type": "date"},
            {"property": "platforms", "label": "Platforms", "searchable": false},
        ],
    });
    let file = SourceFile::from_bytes(Path::new("test.json"), document.to_string().into_bytes().into());
    let today = export::latest_day(jiff::Timestamp::UNIX_EPOCH);
    let report = export::examine(vec![file], &Limits::default(), today, &|_| {}).expect("in memory");
    assert!(report.is_valid(), "{:?}", report.findings);
    report.exports
}

pub(in crate::index) fn query() -> impl Strategy<Value = Query> {
    let word = prop_oneof![8 => prop::sample::select(&WORDS[..]), 3 => prop::sample::select(&["pe", "aud", "sfaety", "rare", "alternative", "vs", "not"][..])];
    let text = prop::collection::vec((word, 0..12_u8), 0..5).prop_map(|words| {
        let written = words.iter().map(|(word, how)| match how {
            0 => format!("\"{word}\""),
            1 => format!("-{word}"),
            2 => format!("\"{word} the\""),
            3 => format!("-\"{word} audit\""),
            4 => format!("-\"{word} permit to\""),
            _ => (*word).to_owned(),
        });
        written.collect::<Vec<_>>().join(" ")
    });
    let set = |max: u32| prop::option::weighted(0.3, prop::collection::btree_set(0..max, 0..3));
    let condition = || prop::sample::select(&CONDITIONS[..]);
    let conditions = prop_oneof![
        3 => Just(Vec::new()),
        2 => condition().prop_map(|condition| vec![condition]),
        1 => prop::collection::vec(condition(), 2..4),
    ];
    let filter = (set(3), any::<bool>(), 0..6_u8, conditions, set(40)).prop_map(
        |(categories, is_software, stars, conditions, ids)| {
            let named = |of: Option<BTreeSet<u32>>, name: fn(u32) -> String| -> Vec<String> {
                of.into_iter().flatten().map(name).collect()
            };
            SoftwareFilter {
                categories: named(categories, |category| ["audit", "Risk", "other"][category as usize].to_owned()),
                attributes: (conditions.into_iter())
                    .map(|(property, value)| AttributeCondition::new(property, value))
                    .collect(),
                except_id: is_software.then(|| format!("p{stars}")),
                ids: named(ids, |id| format!("p{id}")),
                offering_type: is_software.then_some(OfferingType::Software),
                min_rating: (stars > 3).then_some(f64::from(stars) - 1.5),
                ..SoftwareFilter::default()
            }
        },
    );
    let filter = prop_oneof![2 => Just(SoftwareFilter::default()), 1 => filter];
    let order = prop_oneof![
        3 => Just(None),
        1 => prop::sample::select(&Order::ALL[..]).prop_map(|order| Some(SortedBy::Stored(order))),
        1 => (SORTABLE, any::<bool>())
            .prop_map(|(attribute, descending)| Some(SortedBy::Attribute { attribute, descending })),
    ];
    let start = prop_oneof![3 => Just(0), 1 => 0..30_usize, 1 => 150..300_usize];
    let prefix = prop::sample::select(&[Prefix::Auto, Prefix::Always, Prefix::Never][..]);
    let options = (any::<bool>(), prefix).prop_map(|(typo, prefix)| Options { typo, prefix });
    let facets = prop::option::of(prop::sample::subsequence(ATTRIBUTES.collect::<Vec<_>>(), 0..ATTRIBUTES.len()));
    (text, options, filter, order, start, 0..40_usize, facets, any::<bool>()).prop_map(
        |(text, options, filter, order, start, limit, facets, texts)| Query {
            text,
            options,
            filter,
            order,
            start,
            limit,
            facets,
            texts,
        },
    )
}

/// A product with these words.
fn product(id: usize, words: &[&str], kind: u8) -> Value {
    let text = |range: std::ops::Range<usize>| {
        let words = words.iter().cycle().skip(range.start).take(range.len());
        words.copied().collect::<Vec<_>>().join(" ")
    };
    let category = ["Audit", "Permit", "Risk"][usize::from(kind) % 3];
    let mut product = json!({
        "id": format!("p{id}"), "name": text(0..1 + usize::from(kind % 3)), "tagline": text(1..4),
        "description": text(2..2 + words.len() * 2),
        // One in seven products is a demo record.
        "url": if kind.is_multiple_of(7) { "https://acme.example/" } else { "https://example.org/" },
        "evidence_status": "pending-review",
        "categories": [category],
        "tags": &["safety", "Audit"][..usize::from(kind % 3)],
        "languages": if kind.is_multiple_of(2) { json!(["de"]) } else { json!([]) },
        "offering_type": if kind.is_multiple_of(5) { "document-templates" } else { "software" },
    });
    if !kind.is_multiple_of(3) {
        product["price"] = json!(f64::from(kind / 3) / 2.0 - 5.0);
        product["open_source"] = json!(kind.is_multiple_of(2));
        product["licence"] = ["Lock out", "lock-out", "audit"][usize::from(kind) % 3].into();
        product["platforms"] = json!([WORDS[usize::from(kind) % WORDS.len()], "Linux"]);
    }
    if kind.is_multiple_of(3) || kind.is_multiple_of(5) {
        product["released_on"] = format!("{}-02-03", 1990 + u32::from(kind) % 20).into();
        product["price"] = json!("on request");
    }
    if kind % 4 == 1 {
        product["translations"] = json!({
            "de": {"name": text(1..2), "tagline": text(0..3), "description": "Prüfungen von Tabellen und audits"},
            "fr": {"description": format!("évaluations {}", text(0..2))},
            "it": {"tagline": text(2..5)},
        });
    }
    if kind.is_multiple_of(4) {
        product["rating"] = json!(f64::from(kind % 5) + 0.5);
        product["review_count"] = json!(u32::from(kind));
        product["rating_source"] = json!({"label": "Reviews", "url": "https://example.org/reviews"});
    }
    product
}

pub(in crate::index) fn software() -> impl Strategy<Value = Vec<Value>> {
    let product = (prop::collection::vec(prop::sample::select(&WORDS[..]), 1..12), any::<u8>());
    prop::collection::vec(product, 0..40)
        .prop_map(|all| all.iter().enumerate().map(|(id, (words, kind))| self::product(id, words, *kind)).collect())
}

/// More documents than fit in two blocks, so some words count as frequent. Some other words share a
/// prefix, which therefore has many alternatives.
pub(in crate::index) fn large() -> Vec<Value> {
    let mut random = fastrand::Rng::with_seed(7);
    let rare: Vec<_> = ('a'..='z').flat_map(|first| ["ck", "dd"].map(|last| format!("rare{first}{last}"))).collect();
    (0..9_000)
        .map(|id| {
            // Words near the start of `WORDS` are far more frequent.
            let word = |random: &mut fastrand::Rng| WORDS[random.usize(..WORDS.len()).min(random.usize(..WORDS.len()))];
            let mut words: Vec<_> = (0..random.usize(1..9)).map(|_| word(&mut random)).collect();
            if id % 5 == 0 {
                words.insert(random.usize(..words.len()), &rare[random.usize(..rare.len())]);
            }
            product(id, &words, random.u8(..))
        })
        .collect()
}
