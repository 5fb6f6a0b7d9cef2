//! Which property a column's header stands for, in many languages.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use unicode_normalization::UnicodeNormalization as _;

use super::target::known;
use crate::record::slug;
use crate::text::is_listed;

/// The end of the header of a column with the addresses of another column's links.
pub(super) const LINK: &str = " (link)";
/// The header of the column with the headings of sections.
pub(super) const SECTION: &str = "Section";

/// The properties that other column headers stand for. The headers are slugs without hyphens.
static SYNONYMS: LazyLock<HashMap<String, &'static str>> = LazyLock::new(|| {
    let headers: BTreeMap<String, String> = toml::from_str(include_str!("synonyms.toml")).unwrap_or_default();
    let mut properties = HashMap::new();
    for (property, headers) in headers {
        let Some(property) = known(&property) else { continue };
        for header in headers.split_whitespace() {
            properties.entry(header.replace('-', "")).or_insert(property);
        }
    }
    properties
});

/// Words in headers that say only that the column is about the product, and words that join others.
pub(super) const FILLERS: &str = "tool tools product products produkt produkts produktes produit produits producto prodotto \
     produto software softwares app apps application program programm programms programma anwendung applicatie werkzeug outil logiciel \
     herramienta ferramenta narzedzie verktyg item package paket pakket solution the a an of to for your our this its it is are \
     what which how much does do fits please enter der die das des dem den von vom zum zur de la le les du d l el \
     los las del il lo della dello do da dos het een van";
/// Words before a product's name in headers without a space, such as `toolnaam` and `Produktname`.
const PREFIXES: [&str; 6] = ["tool", "product", "produkt", "software", "programm", "app"];
/// Words that begin a unit: "price per month", "Preis pro Nutzer", "cost in EUR".
const PER: [&str; 7] = ["per", "pro", "par", "por", "je", "in", "out"];
/// Units that end a header.
const UNITS: &str = "eur euro euros usd dollar chf gbp month monat monats mois mes maand year jahr an ano monthly yearly annual \
     annually monatlich jahrlich stars sterne max";

/// The property with this name or synonym.
pub(super) fn synonym(head: &str) -> Option<&'static str> {
    named(&slug(head))
}

fn named(folded: &str) -> Option<&'static str> {
    // A slug's Hangul is decomposed.
    let folded: String = folded.nfc().collect();
    let name = known(&folded.replace('-', "_")).filter(|name| *name != "category");
    name.or_else(|| SYNONYMS.get(&folded.replace('-', "")).copied())
}

/// The property that a column header stands for: as it is, or without parentheses, a namespace, units
/// and words that add nothing, such as the `tool_` in `tool_name`.
pub(super) fn property_of(head: &str) -> Option<&'static str> {
    if head.ends_with(LINK) {
        return None;
    }
    synonym(head).or_else(|| {
        let plain = slug(&apart(head));
        let mut words: Vec<&str> = plain.split('-').filter(|word| !word.is_empty()).collect();
        let joined = || {
            let rest = PREFIXES.iter().find_map(|prefix| plain.strip_prefix(prefix));
            rest.filter(|rest| rest.len() > 2).and_then(named)
        };
        named(&plain).or_else(joined).or_else(|| {
            let unit = words.iter().skip(1).position(|word| PER.contains(word)).map(|at| at + 1);
            words.truncate(unit.filter(|at| at + 1 < words.len()).unwrap_or(words.len()));
            while words.len() > 1
                && words
                    .last()
                    .is_some_and(|word| is_listed(UNITS, word) || word.bytes().all(|byte| byte.is_ascii_digit()))
            {
                words.pop();
            }
            let by_unit = named(&words.join("-"));
            words.retain(|word| !is_listed(FILLERS, word));
            // "Vendor name" is the vendor.
            let of_other = || match &words[..] {
                [other @ .., "name" | "naam"] => {
                    named(&other.join("-")).filter(|name| matches!(*name, "vendor" | "categories"))
                }
                _ => None,
            };
            by_unit.or_else(|| named(&words.join("-"))).or_else(of_other)
        })
    })
}

/// A header without parentheses, a namespace (`foaf:homepage`) and a language (`label@en`), and with
/// joined words (`toolURL`) taken apart.
fn apart(head: &str) -> String {
    let head = head.split_once('@').map_or(head, |(head, _)| head);
    let is_namespace = |space: &str| !space.is_empty() && space.bytes().all(|byte| byte.is_ascii_lowercase());
    let head = head.split_once(':').filter(|(space, _)| is_namespace(space)).map_or(head, |(_, name)| name);
    let mut text = String::new();
    let mut depth = 0_usize;
    let mut chars = head.chars().peekable();
    let (mut before, mut is_upper) = (' ', false);
    while let Some(c) = chars.next() {
        match c {
            '(' | '[' | '{' | '<' => depth += 1,
            ')' | ']' | '}' | '>' => depth = depth.saturating_sub(1),
            _ if depth > 0 => {}
            _ => {
                let ends_capitals =
                    is_upper && c.is_uppercase() && chars.peek().is_some_and(|next| next.is_lowercase());
                if (before.is_lowercase() && c.is_uppercase()) || ends_capitals {
                    text.push(' ');
                }
                text.push(c);
                (before, is_upper) = (c, c.is_uppercase());
            }
        }
    }
    text
}

/// The highest rating on the scale that a header states, such as `Rating (1–10)`, `Score /100` or
/// `Rating %`.
pub(super) fn rating_scale(head: &str) -> Option<u32> {
    const SCALES: [u32; 4] = [5, 10, 20, 100];
    let numbers: Vec<u32> =
        head.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse().ok()).collect();
    match numbers[..] {
        [] if head.contains('%') => Some(100),
        [most] | [0 | 1, most] => SCALES.contains(&most).then_some(most),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use unicode_normalization::UnicodeNormalization as _;

    use super::SYNONYMS;
    use crate::record::slug;

    #[test]
    fn synonyms_are_slugs() {
        assert!(SYNONYMS.len() > 500, "the file can be read");
        let wrong: Vec<_> = SYNONYMS.keys().filter(|word| slug(word).nfc().ne(word.chars())).collect();
        assert!(wrong.is_empty(), "{wrong:?}");
    }
}
