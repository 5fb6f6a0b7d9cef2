//! The form of a directory's indices: mappings, analyzers and the synonyms bundled with the binary.

use std::num::NonZeroU16;
use std::sync::LazyLock;

use serde_json::{Value, json};

use super::prefix::Part;
use crate::record::SynonymGroup;
use crate::search::intent;
use crate::text::english::function_words;

/// The synonyms that every directory's queries get.
const BUNDLED: &str = include_str!("../../data/software-terms.json");

/// Products per shard, if the number of shards isn't given.
const PRODUCTS_PER_SHARD: u64 = 4_000_000;

/// The settings and mappings of each index. Its `_meta` has a hash of them, so an index of another
/// form is recognised.
static FORMS: LazyLock<[(Value, String); 2]> = LazyLock::new(|| {
    let read = |text| serde_json::from_str(text).unwrap_or_default();
    let mut products: Value = read(include_str!("products.json"));
    let filters = &mut products["settings"]["index"]["analysis"]["filter"];
    filters["synonyms"]["synonyms"] = synonym_rules(&bundled_synonyms()).into();
    let stop_words = function_words().chain(intent::WORDS).chain(intent::KIND.iter().copied());
    filters["intent"]["stopwords"] = stop_words.collect();
    [products, read(include_str!("directory.json"))].map(|mut form| {
        let hash = blake3::hash(form.to_string().as_bytes()).to_hex()[..16].to_owned();
        form["mappings"]["_meta"] = json!({"form": hash});
        (form, hash)
    })
});

/// The hash of an index's form.
pub(super) fn hash(part: Part) -> &'static str {
    &FORMS[part as usize].1
}

/// The body of the request that creates an index.
pub(super) fn creation(part: Part, shards: u64) -> String {
    let mut form = FORMS[part as usize].0.clone();
    if part == Part::Products {
        form["settings"]["index"]["number_of_shards"] = shards.into();
    }
    form.to_string()
}

/// The number of shards for this many products.
pub(super) fn shards(given: Option<NonZeroU16>, products: u64) -> u64 {
    given.map_or_else(|| products.div_ceil(PRODUCTS_PER_SHARD).clamp(1, 1024), |given| u64::from(given.get()))
}

/// The synonym groups that are part of the search analyzers.
pub(super) fn bundled_synonyms() -> Vec<SynonymGroup> {
    let file: Value = serde_json::from_str(BUNDLED).unwrap_or_default();
    let texts = |list: &Value| -> Option<Vec<Box<str>>> {
        list.as_array().map(|texts| texts.iter().filter_map(Value::as_str).map(Into::into).collect())
    };
    let group = |group: &Value| match (texts(&group["terms"]), texts(&group["from"]), texts(&group["ambiguous"])) {
        (Some(terms), ..) => Some(SynonymGroup::Equivalent(terms)),
        (_, Some(from), _) => Some(SynonymGroup::OneWay { from, to: group["to"].as_str()?.into() }),
        (.., ambiguous) => ambiguous.map(SynonymGroup::Ambiguous),
    };
    file["synonyms"].as_array().into_iter().flatten().filter_map(group).collect()
}

/// Rules for `synonym_graph`. An ambiguous term is only found by the others, because an analyzer
/// can't tell how it's written.
fn synonym_rules(groups: &[SynonymGroup]) -> Vec<String> {
    let ambiguous = groups.iter().filter_map(|group| match group {
        SynonymGroup::Ambiguous(terms) => Some(terms),
        _ => None,
    });
    let ambiguous: &Vec<String> = &ambiguous.flatten().map(|term| plain(term)).collect();
    let rules = groups.iter().flat_map(|group| {
        let (from, to) = match group {
            SynonymGroup::Equivalent(terms) => (&**terms, &**terms),
            SynonymGroup::OneWay { from, to } => (&**from, std::slice::from_ref(to)),
            SynonymGroup::Ambiguous(_) => (&[][..], &[][..]),
        };
        let from = from.iter().map(|term| plain(term)).filter(move |term| !ambiguous.contains(term));
        let to: Vec<_> = to.iter().map(|term| plain(term)).collect();
        from.map(move |term| {
            let others: Vec<_> = to.iter().filter(|other| **other != term).map(String::as_str).collect();
            format!("{term} => {term}, {}", others.join(", "))
        })
    });
    rules.collect()
}

/// A term without the characters that have a meaning in rules.
fn plain(term: &str) -> String {
    term.to_lowercase().replace([',', '\\', '#'], " ").replace("=>", " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bundled_synonyms_become_rules() {
        let group = |terms: &[&str]| terms.iter().map(|term| (*term).into()).collect::<Vec<Box<str>>>();
        let rules = synonym_rules(&[
            SynonymGroup::Equivalent(group(&["Permit to Work", "PTW"])),
            SynonymGroup::Equivalent(group(&["point of sale", "pos"])),
            SynonymGroup::OneWay { from: group(&["crm"]), to: "sales".into() },
            SynonymGroup::Ambiguous(group(&["POS"])),
        ]);
        let expected = ["permit to work => permit to work, ptw", "ptw => ptw, permit to work"];
        assert_eq!(rules[..2], expected);
        assert_eq!(rules[2..], ["point of sale => point of sale, pos", "crm => crm, sales"]);
        assert!(bundled_synonyms().len() > 10);
    }

    #[test]
    fn both_forms_are_valid_and_have_a_hash() {
        for part in Part::ALL {
            let form: Value = serde_json::from_str(&creation(part, 3)).expect("JSON");
            assert_eq!(form["mappings"]["_meta"]["form"], hash(part));
            assert!(form["settings"]["index"]["max_result_window"].is_number());
        }
        assert_eq!([shards(None, 0), shards(None, 4_000_001), shards(NonZeroU16::new(7), 1)], [1, 2, 7]);
    }
}
