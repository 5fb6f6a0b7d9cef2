//! Advice on values that are probably two spellings of the same value, or several values in one.
//! Each case gets its own finding.

use std::collections::BTreeMap;

use foldhash::HashSet;

use super::ParsedExport;
use super::category::MANY_TIMES;
use super::values::{Property, Uses, ValueUses, location};
use crate::export::finding::Findings;
use crate::export::{Code, Finding};
use crate::record::{identity, slug};
use crate::text::count::{agreeing, counted};

/// Minimum length of the values to compare, in characters. In shorter ones, an extra `s` makes a
/// different word.
const SHORTEST: usize = 5;
/// Maximum length of the values to compare, in bytes.
const LONGEST: usize = 100;
/// How many single words it takes to count as a list if none of them is a value elsewhere. Two
/// words may be a name.
const PIECES: usize = 3;

/// A value, how many products have it, and the first one's document and index.
#[derive(Clone, Copy)]
struct Value<'d> {
    name: &'d str,
    products: usize,
    first: (usize, usize),
}

pub(super) fn advise(exports: &[ParsedExport<'_>], uses: &ValueUses, findings: &mut Findings) {
    let declared: HashSet<String> = exports
        .iter()
        .flat_map(|export| &export.contents.categories)
        .map(|entry| identity(&entry.value.name))
        .collect();
    for (property, uses) in uses.by_property() {
        let values = values(uses);
        for variants in variants(&values).into_values().filter(|variants| variants.len() > 1) {
            let [common, rarer @ ..] = &variants[..] else { continue };
            // These values have already been reported as misspellings of a declared category or a
            // much more frequent one.
            let is_reported = |value: &Value<'_>| {
                property.noun == "category"
                    && (declared.contains(&identity(common.name)) || common.products >= value.products * MANY_TIMES)
            };
            for value in rarer.iter().filter(|value| !is_reported(value)) {
                report_variant(exports, property, value, common, findings);
            }
        }
        let names: HashSet<&str> = values.iter().map(|value| value.name).collect();
        for value in values.iter().filter(|value| is_list(value.name, &names)) {
            report_list(exports, property, value, findings);
        }
    }
}

/// A property's values as written, most frequent first.
fn values(uses: &Uses) -> Vec<Value<'_>> {
    let mut values: Vec<_> =
        uses.iter().map(|(name, of)| Value { name, products: of.products, first: of.first }).collect();
    values.sort_unstable_by(|a, b| (b.products, a.first, a.name).cmp(&(a.products, b.first, b.name)));
    values
}

/// Groups values that are the same without spaces, hyphens and a final `s`, most frequent first and
/// with one value per identity.
fn variants<'d>(values: &[Value<'d>]) -> BTreeMap<String, Vec<Value<'d>>> {
    let mut variants: BTreeMap<String, Vec<Value<'_>>> = BTreeMap::new();
    for value in values.iter().filter(|value| value.name.len() <= LONGEST) {
        let folded = slug(value.name).replace('-', "");
        if folded.chars().count() < SHORTEST {
            continue;
        }
        let is_plural = folded.ends_with('s') && !folded.ends_with("ss") && folded.chars().count() > SHORTEST;
        let key = if is_plural { folded[..folded.len() - 1].to_owned() } else { folded };
        let of = variants.entry(key).or_default();
        if of.iter().all(|other| identity(other.name) != identity(value.name)) {
            of.push(*value);
        }
    }
    variants
}

/// Whether a value is a comma-separated list: half of its pieces are values elsewhere, or there are
/// several and all are single words.
fn is_list(name: &str, values: &HashSet<&str>) -> bool {
    if !name.contains(',') || name.len() > LONGEST {
        return false;
    }
    let pieces: Vec<&str> = name.split(',').map(str::trim).filter(|piece| !piece.is_empty()).collect();
    let known = pieces.iter().filter(|piece| values.contains(**piece)).count();
    pieces.len() > 1
        && (known * 2 >= pieces.len()
            || (pieces.len() >= PIECES && pieces.iter().all(|piece| !piece.contains(char::is_whitespace))))
}

fn report_variant(
    exports: &[ParsedExport<'_>],
    property: &Property,
    value: &Value<'_>,
    common: &Value<'_>,
    findings: &mut Findings,
) {
    let place = |value: &Value<'_>| location(exports, value.first, property.keys, value.name);
    findings.add(Code::SpellingVariant, exports[value.first.0].file.shared_path(), |code| {
        let message = format!(
            "the {} `{}` ({}) is almost the same as `{}`, which {} {}",
            property.noun,
            value.name,
            counted(value.products, "product"),
            common.name,
            counted(common.products, "product"),
            agreeing(common.products, "has", "have")
        );
        Finding::new(code, place(value), message, "if they mean the same thing, use one of them everywhere")
            .with_related(place(common), format!("`{}` is first used here", common.name))
    });
}

fn report_list(exports: &[ParsedExport<'_>], property: &Property, value: &Value<'_>, findings: &mut Findings) {
    findings.add(Code::CommaList, exports[value.first.0].file.shared_path(), |code| {
        let message = format!("`{}` is a single {}, but looks like a list of several", value.name, property.noun);
        let location = location(exports, value.first, property.keys, value.name);
        Finding::new(code, location, message, "if it is a list, write each value as a separate element")
    });
}
